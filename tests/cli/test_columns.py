"""Which columns are read, what a missing value is, and what never leaves as an index."""

import io
import json
import os
import subprocess
import sys
from decimal import Decimal

import pandas as pd
import pytest

from skliftpriv import SubsetMergingSanitizer
from skliftpriv.cli import main
from skliftpriv.cli._console import as_json

WHICH = ["--sensitive", "s", "--useful", "x"]
MISSING = {"dtype": object, "keep_default_na": False, "na_values": [""]}


@pytest.fixture
def gaps(folder):
    """A file in which empty fields, quoted ones and texts for nothing occur."""
    rows = ["a,1,", 'b,"",q', "a,,NA", "b,NA,", ",2,z", "a,null,z", "b,1,z", ",1,NA"] * 25
    (folder / "in.csv").write_text("\n".join(["s,x,z", *rows]) + "\n")
    return folder / "in.csv"


# ---- missing values


def test_an_empty_field_is_missing_as_in_python(gaps, run_json):
    end = ["--epsilon", "0.5"]
    status, facts = run_json("sanitize", "in.csv", "-o", "o.csv", *WHICH, *end)
    assert status == 0
    rows = pd.read_csv("in.csv", **MISSING)
    sanitizer = SubsetMergingSanitizer("s", "x", epsilon=0.5)
    released = sanitizer.fit_transform(rows[["s", "x"]])
    assert None in sanitizer.joint_.useful_labels
    assert None in sanitizer.joint_.sensitive_labels
    assert facts["report"] == json.loads(as_json(sanitizer.report_.to_dict()))
    written = pd.read_csv("o.csv", **MISSING)
    pd.testing.assert_frame_equal(written, released, check_dtype=False)
    _, audited = run_json("audit", "in.csv", *WHICH, *end)
    assert "missing" in {pair["useful"] for pair in audited["worst"]} | {
        pair["sensitive"] for pair in audited["worst"]
    }


def test_a_missing_value_is_written_as_an_empty_field(gaps, run):
    command = ["sanitize", "in.csv", *WHICH, "--epsilon", "9", "--smoothing", "1"]
    assert run(*command, "-o", "o.csv", "--keep-other-columns").status == 0
    released, rows = pd.read_csv("o.csv", **MISSING), pd.read_csv("in.csv", **MISSING)
    pd.testing.assert_frame_equal(released, rows[["x", "z"]], check_dtype=False)
    assert "\n,q\n" in (gaps.parent / "o.csv").read_text()
    pytest.importorskip("pyarrow")
    assert run(*command, "-o", "o.parquet").status == 0
    assert pd.read_parquet("o.parquet")["x"].isna().sum() == 50


def test_other_texts_are_missing_on_request(gaps, run, run_json):
    def values(*end):
        _, facts = run_json("explain", "in.csv", *WHICH, "--time-limit", "0.1", *end)
        return facts["data"]["useful_values"]

    assert values() == 5  # 1, 2, NA, null, missing
    assert values("--na-value", "NA") == 4
    assert values("--na-value", "NA", "--na-value", "null") == 3
    # Columns that are kept as they are stay as they are.
    end = ["--na-value", "NA", "--keep-other-columns", "--epsilon", "9", "--smoothing", "1"]
    assert run("sanitize", "in.csv", "-o", "o.csv", *WHICH, *end).status == 0
    released, rows = pd.read_csv("o.csv", **MISSING), pd.read_csv("in.csv", **MISSING)
    assert list(released["z"].fillna("")) == list(rows["z"].fillna(""))
    assert "NA" not in set(released["x"])


def test_nulls_of_parquet_and_empty_fields_count_the_same(gaps, run_json):
    pytest.importorskip("pyarrow")
    pd.read_csv("in.csv", **MISSING).to_parquet("in.parquet", index=False)
    facts = [
        run_json("sanitize", f"in.{kind}", "-o", "o.csv", *WHICH)[1] for kind in ("csv", "parquet")
    ]
    assert facts[0] == facts[1]


# ---- names


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_names_that_nobody_asked_for_may_occur_twice(folder, run, refused, kind):
    names, rows = ["q", "s", "q", "", "x", ""], [["1", "a", "2", "3", "y", "4"]] * 30
    rows += [["1", "b", "2", "3", "z", "4"], ["1", "b", "2", "3", "y", "4"]] * 30
    if kind == "csv":
        text = "\n".join(",".join(row) for row in [names, *rows]) + "\n"
        (folder / "in.csv").write_text(text)
    else:
        pyarrow = pytest.importorskip("pyarrow")
        parquet = pytest.importorskip("pyarrow.parquet")
        table = pyarrow.Table.from_arrays(
            [pyarrow.array(c) for c in zip(*rows, strict=True)], names=names
        )
        parquet.write_table(table, "in.parquet")
    command = ["sanitize", f"in.{kind}", "-o", "o.csv", "--epsilon", "9", "--smoothing", "1"]
    assert run(*command, *WHICH).status == 0
    with open("o.csv", encoding="utf-8") as file:
        assert file.read().split() == ["x", *(row[4] for row in rows)]
    assert "two columns called 'q'" in refused(*command, "--sensitive", "s", "--useful", "q")
    line = refused(*command, *WHICH, "--keep-other-columns")
    assert "two columns called 'q'" in line
    assert "remove --keep-other-columns" in line


def test_a_column_without_a_name_is_kept_on_request(folder, run):
    (folder / "in.csv").write_text(",s,x\n" + "0,a,1\n1,b,2\n2,b,1\n" * 20)
    end = ["--keep-other-columns", "--epsilon", "9", "--smoothing", "1"]
    assert run("sanitize", "in.csv", "-o", "o.csv", *WHICH, *end).status == 0
    assert (folder / "o.csv").read_text().startswith("x,\n1,0\n2,1\n")


def test_types_of_parquet_that_are_not_categories(folder, refused):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    broken = pyarrow.Array.from_buffers(
        pyarrow.string(), 2, pyarrow.array([b"\xff", b"a"]).buffers()
    )
    columns = {
        "list": [[1], [2]] * 30,
        "struct": [{"a": 1}, {"a": 2}] * 30,
        "map": pyarrow.array([[("a", 1)], []] * 30, pyarrow.map_(pyarrow.string(), pyarrow.int8())),
        "text": broken.take(pyarrow.array([0, 1] * 30)),
    }
    for name, values in columns.items():
        parquet.write_table(pyarrow.table({"s": ["a", "b"] * 30, name: values}), "in.parquet")
        line = refused(
            "sanitize", "in.parquet", "-o", "o.csv", "--sensitive", "s", "--useful", name
        )
        assert f"the column {name!r}" in line
        assert [path.name for path in folder.iterdir()] == ["in.parquet"]


def test_wide_integers_of_polars(folder, refused):
    polars = pytest.importorskip("polars")
    pytest.importorskip("pyarrow")
    wide = polars.Series([1, 2] * 30).cast(polars.Int128)
    polars.DataFrame({"s": ["a", "b"] * 30, "x": wide}).write_parquet("in.parquet")
    line = refused("sanitize", "in.parquet", "-o", "o.csv", *WHICH)
    assert "at most 64 bits" in line


def test_decimals_are_categories(folder, run):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    values = [Decimal("1.50"), Decimal("2.25"), Decimal("1.50")] * 20
    parquet.write_table(pyarrow.table({"s": ["a", "b", "b"] * 20, "x": values}), "in.parquet")
    end = ["--epsilon", "9", "--smoothing", "1"]
    assert run("sanitize", "in.parquet", "-o", "o.csv", *WHICH, *end).status == 0
    assert (folder / "o.csv").read_text().split()[1:4] == ["1.50", "2.25", "1.50"]


# ---- an index


@pytest.mark.parametrize("out", ["o.csv", "o.tsv", "o.csv.gz", "o.parquet", "-"])
@pytest.mark.parametrize("kept", [False, True])
def test_an_index_never_comes_out(folder, run, out, kept):
    pytest.importorskip("pyarrow")
    rows = pd.DataFrame({"s": ["a", "b", "b"] * 30, "x": ["1", "2", "1"] * 30})
    rows.set_index("s", drop=False).rename_axis("id").to_parquet("in.parquet")
    end = ["--keep-other-columns"] if kept else []
    done = run("sanitize", "in.parquet", "-o", out, *WHICH, *end)
    assert done.status == 0
    if out == "o.parquet":
        released = pd.read_parquet(out)
    else:
        text = io.StringIO(done.out) if out == "-" else out
        released = pd.read_csv(text, sep="\t" if out.endswith("tsv") else ",", dtype=str)
    # What was an index in pandas is a column in the file: kept only on request, and named then.
    assert list(released.columns) == (["x", "id"] if kept else ["x"])
    assert isinstance(released.index, pd.RangeIndex)
    assert ("releases id unchanged" in done.err) == kept


def test_the_other_commands_write_no_index(folder, run):
    (folder / "in.csv").write_text("s,x\n" + "a,1\nb,2\nb,1\n" * 30)
    end = ["--epsilons", "1", "--mechanism", "grr", "-o", "c.csv"]
    assert run("curve", "in.csv", *WHICH, *end).status == 0
    assert next(iter(pd.read_csv("c.csv").columns)) == "mechanism"
    assert run("demo", "-o", "d").status == 0
    assert list(pd.read_csv("d/adult_sanitised.csv").columns) == ["occupation"]


# ---- several sensitive columns (these need estimators that take a list)


def test_several_sensitive_columns_are_one_symbol(folder, run_json, adult):
    adult.head(3000).to_csv("in.csv", index=False)
    which = ["--sensitive", "relationship", "--sensitive", "sex", "--useful", "occupation"]
    status, facts = run_json("sanitize", "in.csv", "-o", "o.csv", *which, "--keep-other-columns")
    assert status == 0
    assert facts["parameters"]["sensitive"] == ["relationship", "sex"]
    assert facts["released_columns"] == ["occupation", "age", "race"]
    sanitizer = SubsetMergingSanitizer(["relationship", "sex"], "occupation")
    columns = ["relationship", "sex", "occupation"]
    sanitizer.fit(adult.head(3000)[columns])
    assert facts["report"] == json.loads(as_json(sanitizer.report_.to_dict()))


@pytest.mark.parametrize(
    "command", [["audit", "--epsilon", "9"], ["explain", "--time-limit", ".1"]]
)
def test_several_sensitive_columns_are_told(folder, run, command):
    (folder / "in.csv").write_text("s,t,x\n" + "a,p,1\nb,p,2\nb,q,1\n" * 30)
    name, *end = command
    done = run(name, "in.csv", *WHICH, "--sensitive", "t", *end)
    assert "s and t" in done.out


# ---- what used to be a traceback


@pytest.mark.parametrize("stream", ["<&-", ">&-"])
def test_closed_streams(folder, stream):
    (folder / "in.csv").write_text("s,x\n" + "a,1\nb,2\nb,1\n" * 30)
    path = "- -o o.csv" if stream == "<&-" else "in.csv -o -"
    command = f"{sys.executable} -m skliftpriv sanitize {path} {' '.join(WHICH)} {stream}"
    done = subprocess.run(
        ["sh", "-c", command], stdin=None, stderr=subprocess.PIPE, text=True, check=False
    )
    assert done.returncode == 2
    assert "is closed" in done.stderr
    assert done.stderr.count("\n") == 1
    assert [path.name for path in folder.iterdir()] == ["in.csv"]


def test_closed_standard_error(folder):
    (folder / "in.csv").write_text("s,x\n" + "a,1\nb,2\nb,1\n" * 30)
    command = f"{sys.executable} -m skliftpriv sanitize in.csv -o o.csv {' '.join(WHICH)} 2>&-"
    done = subprocess.run(["sh", "-c", command], stdout=subprocess.PIPE, check=False)
    assert done.returncode == 0
    assert b"90 rows" in done.stdout


@pytest.mark.parametrize("n", [10**7 + 1, 10**18, 10**30])
def test_parts_are_refused_before_memory_is_asked_for(folder, refused, n):
    (folder / "in.csv").write_text("s,x\na,1\nb,2\n")
    line = refused("sanitize", "in.csv", "-o", "o.csv", *WHICH, "--chunk-rows", n)
    assert "--chunk-rows must be between 1 and 10,000,000" in line


def test_a_pipe_with_a_name_is_not_read(folder, refused):
    os.mkfifo("in.csv")
    assert "use - to read standard input" in refused("audit", "in.csv", *WHICH, "--epsilon", "1")


def test_signs_that_the_encoding_has_not(folder, refused):
    pytest.importorskip("pyarrow")
    pd.DataFrame({"s": ["a", "b"] * 30, "x": ["ł", "é"] * 30}).to_parquet("in.parquet")
    line = refused("sanitize", "in.parquet", "-o", "o.csv", *WHICH, "--encoding", "latin-1")
    assert "--encoding latin-1 cannot encode 'ł'" in line
    assert [path.name for path in folder.iterdir()] == ["in.parquet"]


def test_names_that_are_not_unicode_are_told(folder, capfd):
    (folder / "in.csv").write_text("s,x\n" + "a,1\nb,2\nb,1\n" * 30)
    assert main(["sanitize", "in.csv", "-o", "o\udcff.csv", *WHICH, "--json"]) == 0
    assert r'"output": "o\udcff.csv"' in capfd.readouterr().out


def test_too_little_memory_is_one_line(folder, refused, monkeypatch):
    (folder / "in.csv").write_text("s,x\n" + "a,1\nb,2\nb,1\n" * 30)

    def fail(*args, **options):
        raise MemoryError

    monkeypatch.setattr("skliftpriv.cli._writers.CsvWriter.write", fail)
    line = refused("sanitize", "in.csv", "-o", "o.csv", *WHICH)
    assert "Not enough memory: use a smaller --chunk-rows" in line
