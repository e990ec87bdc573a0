"""skliftpriv sanitize: what is written, and what is said about it."""

import csv
import io
import subprocess
import sys

import pandas as pd
import pytest

from skliftpriv import SubsetMergingSanitizer
from skliftpriv.cli._mechanisms import MECHANISMS
from skliftpriv.datasets import load_adult

WHICH = ["--sensitive", "relationship", "--useful", "occupation"]
TEXT = {"dtype": str, "keep_default_na": False}


def test_what_is_released_is_what_the_estimator_releases(run, small, adult):
    done = run("sanitize", small, "-o", "out.csv", *WHICH, "--epsilon", "0.5", "--seed", "3")
    assert done.status == 0
    assert "2,000 rows" in done.out
    assert "0.5-LIP of relationship holds" in done.out
    sanitizer = SubsetMergingSanitizer("relationship", "occupation", epsilon=0.5, random_state=3)
    expected = sanitizer.fit_transform(adult.head(2000)[["relationship", "occupation"]])
    released = pd.read_csv("out.csv", **TEXT)
    pd.testing.assert_frame_equal(released, expected, check_dtype=False)


@pytest.mark.parametrize("mechanism", list(MECHANISMS))
def test_every_mechanism_releases_as_many_rows(run_json, small, mechanism):
    which = ["--sensitive", "sex", "--useful", "race"]
    which += ["--useful", "relationship", "--time-limit", "1"] if mechanism == "srlip" else []
    status, facts = run_json("sanitize", small, "-o", "out.csv", *which, "--mechanism", mechanism)
    assert status == 0
    assert facts["rows"] == 2000
    assert facts["mechanism"] == MECHANISMS[mechanism].__name__
    assert facts["guarantee"]["holds"] is True
    released = pd.read_csv("out.csv", **TEXT)
    assert list(released.columns) == facts["released_columns"]
    assert len(released) == 2000
    assert "sex" not in released


@pytest.mark.parametrize(
    ("mechanism", "options"),
    [("orr", []), ("oue", []), ("conditional", []), ("grr", ["--output-kind", "posterior"])],
)
@pytest.mark.parametrize("suffix", ["csv", "csv.gz", "parquet"])
def test_a_seed_repeats_a_release_and_is_warned_about(run, folder, mechanism, options, suffix):
    pytest.importorskip("pyarrow")
    adult = load_adult().loc[:9999, ["sex", "occupation"]]
    if suffix == "parquet":
        adult.to_parquet("in.parquet", row_group_size=1_700)
    else:
        adult.to_csv(f"in.{suffix}", index=False)
    which = ["--sensitive", "sex", "--useful", "occupation", "--mechanism", mechanism]
    for name in ("one", "two"):
        end = ["--seed", "5", "--chunk-rows", 2_400, "--shuffle", *options]
        done = run("sanitize", f"in.{suffix}", "-o", f"{name}.{suffix}", *which, *end)
        assert done.status == 0
        assert "warning: --seed 5 is for tests" in done.err
        assert "not private" in done.err
        assert done.err.count("warning:") == 1
        assert "random_state" not in done.out
    one, two = (folder / f"{name}.{suffix}" for name in ("one", "two"))
    assert one.read_bytes() == two.read_bytes()


def test_text_survives_as_it_is_written(run, folder):
    values = ["007", "NA", "1.0", "", " x ", 'a "b"', "c,d", "two\nlines", "null", "é", "-"]
    rows = [
        [str(i), values[i % len(values)], "ab"[i % 2], values[-(i % len(values))]]
        for i in range(500)
    ]
    with open("in.csv", "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([["id", "x", "s", "other"], *rows])
    done = run(
        "sanitize", "in.csv", "-o", "out.csv", "--sensitive", "s", "--useful", "x",
        "--epsilon", "9", "--keep-other-columns",
    )  # fmt: skip
    assert done.status == 0
    assert "--keep-other-columns releases id, other unchanged" in done.err
    assert "the order of the rows" in done.err  # S alternates
    assert done.err.count("\n") == 2
    with open("out.csv", newline="", encoding="utf-8") as file:
        header, *released = csv.reader(file)
    assert header == ["x", "id", "other"]
    assert [row[1:] for row in released] == [[row[0], row[3]] for row in rows]
    # With a budget this large nothing needs to change.
    assert [row[0] for row in released] == [row[1] for row in rows]


def test_standard_input_and_output(small):
    command = [sys.executable, "-m", "skliftpriv", "sanitize", "-", "-o", "-", *WHICH]
    with open(small, "rb") as file:
        done = subprocess.run(command, stdin=file, capture_output=True, check=True)
    released = pd.read_csv(io.BytesIO(done.stdout), **TEXT)
    assert list(released.columns) == ["occupation"]
    assert len(released) == 2000
    assert b"1-LIP of relationship holds" in done.stderr


def test_whoever_reads_the_output_may_leave(small):
    command = [sys.executable, "-m", "skliftpriv", "sanitize", str(small), "-o", "-", *WHICH]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        said = process.stderr.read()
    assert process.returncode == 141
    assert said == b""


def test_parquet_keeps_its_types(run, folder):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    table = pyarrow.table(
        {
            "s": pyarrow.array(["a", "b"] * 300).dictionary_encode(),
            "x": pyarrow.array([1, 2, None] * 200, type=pyarrow.int16()),
            "weight": pyarrow.array([0.5] * 600, type=pyarrow.float32()),
        }
    )
    parquet.write_table(table, "in.parquet", row_group_size=100)
    which = ["--sensitive", "s", "--useful", "x", "--epsilon", "5"]
    assert run("sanitize", "in.parquet", "-o", "out.parquet", *which).status == 0
    assert parquet.read_table("out.parquet")["x"].to_pylist() == [1, 2, None] * 200
    kept = run("sanitize", "in.parquet", "-o", "out.csv", *which, "--keep-other-columns")
    assert kept.status == 0
    with open("out.csv", encoding="utf-8") as file:
        assert file.read().splitlines()[:4] == ["x,weight", "1,0.5", "2,0.5", ",0.5"]
    assert run("sanitize", "out.csv", "-o", "back.parquet", "--sensitive", "x", "--useful",
               "weight").status == 0  # fmt: skip
    assert parquet.read_table("back.parquet").num_rows == 600


def test_other_delimiters_and_encodings(run, folder):
    lines = ["s;x", *["a;é", "b;ü"] * 100]
    (folder / "in.csv").write_bytes("\r\n".join(lines).encode("latin-1"))
    style = ["--delimiter", ";", "--encoding", "latin-1"]
    which = ["--sensitive", "s", "--useful", "x", "--epsilon", "0.1"]
    assert run("sanitize", "in.csv", "-o", "out.csv", *which, *style).status == 0
    assert set((folder / "out.csv").read_bytes().decode("latin-1").split("\n")[1:-1]) == {"{é, ü}"}


def test_a_mark_of_the_byte_order_is_no_part_of_a_name(run, folder):
    (folder / "in.csv").write_bytes(b"\xef\xbb\xbfs,x\n" + b"a,1\nb,2\n" * 50)
    assert run("sanitize", "in.csv", "-o", "o.csv", "--sensitive", "s", "--useful", "x").status == 0


def test_the_mechanism_may_be_fitted_to_another_file(run, refused, small, folder):
    (folder / "new.csv").write_text("note,relationship,occupation\nhm,Wife,Sales\nhm,Wife,Pilot\n")
    command = ["sanitize", "new.csv", "-o", "out.csv", *WHICH, "--fit-on", small]
    assert "--handle-unknown resample" in refused(*command)
    assert not (folder / "out.csv").exists()
    done = run(*command, "--handle-unknown", "resample", "--keep-other-columns")
    assert done.status == 0
    assert list(pd.read_csv("out.csv").columns) == ["occupation", "note"]
    assert "2 rows" in done.out


def test_progress_is_shown_on_request_only(run, small):
    assert run("sanitize", small, "-o", "out.csv", *WHICH).err == ""
    shown = run("sanitize", small, "-o", "out.csv", *WHICH, "--progress").err
    assert shown.count("\n") == 2
    assert "counting" in shown
    assert "releasing" in shown
    assert "100%" in shown


def test_two_budgets(run_json, small):
    end = ["--notion", "alip", "--epsilon", "0.3", "0.6"]
    status, facts = run_json("sanitize", small, "-o", "out.csv", *WHICH, *end)
    assert status == 0
    assert facts["report"]["budget"] == {"min_lift": 0.3, "max_lift": 0.6}
    # An infinity is a string in JSON.
    assert facts["report"]["before"]["min_log_lift"] == "-inf"
