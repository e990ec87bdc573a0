"""Folders of Parquet files, in and out."""

import shutil
import tracemalloc

import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from skliftpriv.cli import _writers

COLUMNS = ["--sensitive", "relationship", "--useful", "occupation", "--epsilon", "0.5"]


@pytest.fixture
def people(folder, adult):
    """A folder with three files, and what Spark leaves beside them."""
    (folder / "people").mkdir()
    table = pa.Table.from_pandas(adult.head(2000), preserve_index=False)
    for number, start in enumerate((0, 700, 1500)):
        stop = (700, 1500, 2000)[number]
        pq.write_table(table.slice(start, stop - start), f"people/part-{number}.parquet")
    (folder / "people" / "_SUCCESS").touch()
    return table


def test_a_folder_is_released_like_one_file(people, run, monkeypatch):
    monkeypatch.setattr(_writers, "_ROWS_OF_FILE", 900)
    pq.write_table(people, "people.parquet")
    for name in ("people", "people.parquet"):
        argv = ["sanitize", name, "-o", "out/", *COLUMNS, "--chunk-rows", 300, "--seed", 1]
        assert run(*argv).status == 0
        assert run("sanitize", name, "-o", "out.parquet", *COLUMNS, "--seed", 1).status == 0
        files = ds.dataset("out/").files
        assert [pq.read_metadata(file).num_rows for file in files] == [900, 900, 200]
        assert pq.read_table("out/").equals(pq.read_table("out.parquet"))
        shutil.rmtree("out")


def test_folders_in_a_folder_are_values_of_a_column(folder, adult, run):
    table = pa.Table.from_pandas(adult.head(2000), preserve_index=False)
    parts = ds.partitioning(pa.schema([("sex", pa.string())]), flavor="hive")
    ds.write_dataset(table, "people", format="parquet", partitioning=parts)
    assert (
        run("sanitize", "people", "-o", "by_sex.csv", "--sensitive", "sex", *COLUMNS[2:]).status
        == 0
    )
    assert len(pd.read_csv("by_sex.csv")) == 2000
    found = run("audit", "people", "--sensitive", "sex", *COLUMNS[2:])
    assert "2,000 rows" in found.out


def test_apply_and_records_work_with_folders(people, run, folder):
    (folder / "key").write_bytes(bytes(range(32)))
    for number in range(3):
        path = f"people/part-{number}.parquet"
        part = pq.read_table(path)
        ids = pa.array(range(number * 1000, number * 1000 + part.num_rows))
        pq.write_table(part.append_column("id", ids), path)
    options = ["--mechanism", "grr", "--record-id", "id", "--key-file", "key"]
    first = run("sanitize", "people", "-o", "out/", *COLUMNS, *options, "--save", "grr.json")
    assert first.status == 0
    again = run(
        "apply", "grr.json", "people", "-o", "again/", "--key-file", "key", "--chunk-rows", 99
    )
    assert again.status == 0
    assert pq.read_table("again/").equals(pq.read_table("out/"))


def test_folders_that_cannot_be_read_or_written_are_refused(people, run, folder):
    found = run("sanitize", "people", "-o", "people/out/", *COLUMNS)
    assert found.status == 2
    assert "in the folder that is read" in found.err
    found = run("sanitize", "people", "-o", "people/out.csv", *COLUMNS)
    assert "in the folder that is read" in found.err
    (folder / "full").mkdir()
    (folder / "full" / "file").touch()
    found = run("sanitize", "people", "-o", "full/", *COLUMNS)
    assert "not an empty folder" in found.err
    (folder / "empty").mkdir()
    found = run("sanitize", "empty", "-o", "out/", *COLUMNS)
    assert "has no Parquet files" in found.err
    pq.write_table(people.select(["relationship", "occupation"]), "people/part-3.parquet")
    found = run("sanitize", "people", "-o", "out/", *COLUMNS)
    assert "part-3.parquet has other columns" in found.err
    # Nothing is left of any of them.
    assert sorted(path.name for path in folder.iterdir()) == ["empty", "full", "people"]


def test_a_folder_that_changes_is_refused_and_leaves_nothing(people, run, folder, monkeypatch):
    from skliftpriv.cli import _sanitize

    write = _sanitize.write_release

    def changed(*args):
        pq.write_table(people.slice(0, 10), "people/part-9.parquet")
        return write(*args)

    monkeypatch.setattr(_sanitize, "write_release", changed)
    found = run("sanitize", "people", "-o", "out/", *COLUMNS)
    assert found.status == 2
    assert "people changed while it was read" in found.err
    assert [path.name for path in folder.iterdir()] == ["people"]


def test_memory_does_not_grow_with_the_rows_of_a_folder(folder, adult, run):
    table = pa.Table.from_pandas(adult.head(2000), preserve_index=False)
    peaks = []
    for n_files in (8, 32):
        (folder / f"{n_files}").mkdir()
        for number in range(n_files):
            pq.write_table(table, f"{n_files}/{number:02d}.parquet")
        argv = ["sanitize", n_files, "-o", f"out{n_files}/", *COLUMNS, "--chunk-rows", 2000]
        tracemalloc.start()
        before = pa.default_memory_pool().bytes_allocated()
        assert run(*argv).status == 0
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert pa.default_memory_pool().bytes_allocated() - before < 1 << 20
    assert peaks[1] < 1.3 * peaks[0]
