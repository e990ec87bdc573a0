"""A file that changes between counting and releasing is refused, and nothing is written."""

import os

import pytest

from skliftpriv.cli import _releasing
from skliftpriv.cli._writers import CsvWriter

WHICH = ["--sensitive", "s", "--useful", "x"]
# Seven rows again and again: their order says nothing about S.
ROWS = "a,1\nb,2\na,2\nb,1\nb,1\na,2\nb,2\n" * 115


@pytest.fixture
def between(monkeypatch):
    """Do something after counting, before anything is released."""

    def arrange(action):
        release = _releasing._written

        def changed(*args):
            action()
            return release(*args)

        monkeypatch.setattr(_releasing, "_written", changed)

    return arrange


def rewrite_unnoticed(path, content):
    """Change bytes in place, with the size and the time that the file had."""
    before = path.stat()
    assert len(content) == before.st_size
    with open(path, "r+b") as file:
        file.write(content)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert path.stat().st_mtime_ns == before.st_mtime_ns


@pytest.fixture
def csv(folder):
    path = folder / "in.csv"
    path.write_text("s,x\n" + ROWS)
    return path


@pytest.mark.parametrize("out", ["o.csv", "o.csv.gz", "-"])
@pytest.mark.parametrize("change", ["append", "replace", "swap", "unknown", "broken", "gone"])
def test_rows_that_were_not_counted_are_not_released(folder, csv, between, refused, change, out):
    def act():
        if change == "append":
            with open(csv, "a") as file:
                file.write("a,1\nb,2\n" * 5000)
        elif change == "replace":
            (folder / "new").write_text("s,x\n" + ROWS * 2)
            os.replace(folder / "new", csv)
        elif change == "swap":
            swapped = csv.read_bytes().replace(b"a,1\n", b"a,_\n").replace(b"b,1\n", b"a,1\n")
            rewrite_unnoticed(csv, swapped.replace(b"a,_\n", b"b,1\n"))
        elif change == "unknown":
            csv.write_text("s,x\n" + ROWS + "a,9\n")
        elif change == "broken":
            csv.write_bytes(b"s,x\n" + b"\xff" * 1000)
        else:
            csv.unlink()

    between(act)
    line = refused("sanitize", "in.csv", "-o", out, *WHICH, "--report", "r.html")
    assert "in.csv changed while it was read" in line or change == "gone"
    assert "in.csv" in line
    assert {path.name for path in folder.iterdir()} <= {"in.csv"}


@pytest.mark.slow
def test_a_change_during_the_second_pass_is_noticed(folder, csv, refused, monkeypatch):
    write, done = CsvWriter.write, []

    def change(self, frame):
        if not done:
            rewrite_unnoticed(csv, csv.read_bytes()[:-4] + b"a,2\n")
        done.append(frame)
        write(self, frame)

    monkeypatch.setattr(CsvWriter, "write", change)
    # Longer than what is read ahead, so that the end is read after the change.
    csv.write_text("s,x\n" + ROWS * 800)
    line = refused("sanitize", "in.csv", "-o", "o.csv", *WHICH, "--chunk-rows", "1000")
    assert len(done) > 100
    assert "changed while it was read" in line
    assert [path.name for path in folder.iterdir()] == ["in.csv"]


@pytest.mark.parametrize(
    ("column", "mechanism", "noticed"),
    [("x", "subset-merging", True), ("s", "conditional", True), ("z", "grr", False)],
)
def test_columns_of_parquet_that_are_read_again(folder, between, run, column, mechanism, noticed):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    columns = {"s": ["a", "b", "b"] * 200, "x": ["1", "2", "3"] * 200, "z": ["p", "q"] * 300}

    def write(path, values):
        parquet.write_table(pyarrow.table(values), path, compression="none")

    path = folder / "in.parquet"
    write(path, columns)
    write(folder / "new", {**columns, column: columns[column][1:] + columns[column][:1]})
    content = (folder / "new").read_bytes()
    (folder / "new").unlink()
    between(lambda: rewrite_unnoticed(path, content))
    done = run("sanitize", path, "-o", "o.parquet", *WHICH, "--mechanism", mechanism)
    # A column that plays no part may change.
    assert done.status == (2 if noticed else 0)
    assert ("changed while it was read" in done.err) == noticed
    assert (folder / "o.parquet").exists() != noticed


def test_parquet_with_more_rows_than_were_counted(folder, between, refused):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    rows = pyarrow.table({"s": list("abbabab") * 30, "x": list("1212211") * 30})
    parquet.write_table(rows, "in.parquet")
    more = pyarrow.concat_tables([rows, rows])
    between(lambda: parquet.write_table(more, "in.parquet"))
    line = refused("sanitize", "in.parquet", "-o", "o.csv", *WHICH)
    assert "in.parquet changed while it was read" in line
    assert [path.name for path in folder.iterdir()] == ["in.parquet"]


def test_another_file_may_be_fitted_to_and_the_input_is_read_once(folder, csv, between, run):
    (folder / "fit.csv").write_text("s,x\n" + ROWS)
    between(lambda: csv.write_text("s,x\na,1\n"))
    done = run("sanitize", "in.csv", "-o", "o.csv", *WHICH, "--fit-on", "fit.csv")
    assert done.status == 0
    assert (folder / "o.csv").read_text().count("\n") == 2
