"""--categories and --min-count."""

import json

import pandas as pd
import pytest

from skliftpriv.cli import main


@pytest.fixture
def people(tmp_path):
    path = tmp_path / "people.csv"
    rows = [("f", "a"), ("m", "b"), ("f", "b"), ("m", "a")] * 20 + [("f", "c"), ("m", "d")] * 3
    pd.DataFrame(rows, columns=["s", "x"]).to_csv(path, index=False)
    return path


def run(people, *options):
    out = people.with_name("out.csv")
    columns = ["--sensitive", "s", "--useful", "x"]
    code = main(["sanitize", str(people), *columns, "--mechanism", "grr", "-o", str(out), *options])
    return code, out


def test_rare_values_are_pooled(people, capsys):
    code, out = run(people, "--min-count", "5")
    assert code == 0
    assert set(pd.read_csv(out)["x"]) <= {"a", "b", "other values"}
    assert "The 2 rarest values are treated as one" in capsys.readouterr().out


@pytest.mark.parametrize("as_file", [False, True])
def test_lists_are_read_from_options_or_a_file(people, as_file, capsys):
    lists = {"x": ["a", "b", "c", "d", "e, or f", None], "s": ["f", "m"]}
    options = ["--categories", 'x=a,b,c,d,"e, or f",', "--categories", "s=f,m"]
    if as_file:
        path = people.with_name("lists.json")
        path.write_text(json.dumps(lists), encoding="utf-8")
        options = ["--categories", str(path)]
    code, _ = run(people, *options)
    assert code == 0
    assert "Listed values of x without rows at fit (2)" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--categories", "x=a,b,c"], "x: the rows hold 'd'"),
        (["--categories", "nowhere.json"], "neither COL=a,b,c nor a file"),
        (["--categories", "x=a,b,c,d", "--categories", "x=a"], "twice"),
        (["--categories", "y=a"], "neither a useful nor a sensitive column"),
        (["--min-count", "100"], "--min-count 100 pools all 4 values"),
        (["--min-count", "0"], "--min-count 0 must be"),
    ],
)
def test_errors_are_one_line(people, options, message, capsys):
    code, _ = run(people, *options)
    error = capsys.readouterr().err
    assert code != 0
    assert message in error
    assert error.count("\n") == 1


@pytest.mark.parametrize("text", ["[1, 2]", '{"x": "ab"}', '{"x": [[1]]}', "{", "\\udc80"])
def test_files_that_hold_no_lists_are_refused(people, text, capsys):
    path = people.with_name("lists.json")
    path.write_text(text, encoding="utf-8")
    code, _ = run(people, "--categories", str(path))
    assert code != 0
    assert "JSON" in capsys.readouterr().err
