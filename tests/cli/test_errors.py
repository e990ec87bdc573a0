"""Bad input gets one line and exit status 2, and nothing is written."""

import os
import sys
from pathlib import Path

import pytest

from skliftpriv.cli import _main, _sanitize, main

WHICH = ["--sensitive", "s", "--useful", "x"]
SANITIZE = ["sanitize", "in.csv", "-o", "o.csv", *WHICH]
GOOD = "s,x,z\n" + "a,1,q\nb,2,q\na,2,q\nb,1,q\n" * 20


def contents(folder):
    return {
        path.name: path.is_symlink() or path.is_dir() or path.read_bytes()
        for path in folder.iterdir()
    }


@pytest.fixture
def good(folder):
    (folder / "in.csv").write_text(GOOD)
    return folder


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["sanitize", "none.csv", "-o", "o.csv", *WHICH], "none.csv: No such file"),
        (["sanitize", "in.csv", "-o", "o.csv", "--sensitive", "q", "--useful", "x"], "has no such"),
        (
            ["sanitize", "in.csv", "-o", "o.csv", "--sensitive", "s", "--useful", "q"],
            "'s', 'x', 'z'",
        ),
        (
            ["sanitize", "in.csv", "-o", "o.csv", "--sensitive", "s", "--useful", "s"],
            "also a --sensitive",
        ),
        ([*SANITIZE, "--useful", "x"], "twice"),
        ([*SANITIZE, "--sensitive", "s"], "--sensitive names a column twice"),
        ([*SANITIZE, "--delimiter", ";"], "Is --delimiter correct?"),
        ([*SANITIZE, "--report", "-"], "needs the name of a file"),
        ([*SANITIZE, "--epsilon", "-1"], "--epsilon -1.0 must be a float in the range [0.0, inf)."),
        ([*SANITIZE, "--confidence", "1"], "--confidence 1.0 must be a float in the range (0.0, 1"),
        (["sanitize", "in.csv", "-o", "in.csv", *WHICH], "in.csv is read here"),
        (["sanitize", "in.csv", "-o", "./in.csv", *WHICH], "is read here"),
        (["sanitize", "in.csv", "-o", "link.csv", *WHICH], "is read here"),
        (["sanitize", "in.csv", "-o", "o.csv", "--report", "o.csv", *WHICH], "two outputs"),
        (
            ["sanitize", "in.csv", "-o", "o.csv", "--report", "in.csv", *WHICH],
            "is read here",
        ),
        (["sanitize", "in.csv", "-o", "none/o.csv", *WHICH], "does not exist; create it"),
        (["sanitize", "in.csv", "-o", "o.xlsx", *WHICH], "end with one of .csv"),
        (["sanitize", "in.xlsx", "-o", "o.csv", *WHICH], "end with one of .csv"),
        (["sanitize", "in.csv", "-o", "folder.csv", *WHICH], "is not a regular file"),
        (["sanitize", "folder.csv", "-o", "o.csv", *WHICH], "Is a directory"),
        (["sanitize", "in.csv", "-o", "-", "--json", *WHICH], "both need standard output"),
        ([*SANITIZE, "--epsilon", "-1"], "epsilon"),
        ([*SANITIZE, "--epsilon", "nan"], "epsilon"),
        ([*SANITIZE, "--epsilon", "much"], "invalid float"),
        ([*SANITIZE, "--epsilon", "1", "2", "3"], "a lower and an upper"),
        ([*SANITIZE, "--epsilon", "1", "2"], "--notion alip"),
        ([*SANITIZE, "--seed", "-1"], "--seed"),
        ([*SANITIZE, "--chunk-rows", "0"], "--chunk-rows"),
        ([*SANITIZE, "--delimiter", "::"], "--delimiter"),
        ([*SANITIZE, "--encoding", "utf-16"], "--encoding"),
        ([*SANITIZE, "--encoding", "what"], "--encoding"),
        ([*SANITIZE, "--mechanism", "magic"], "invalid choice"),
        (
            [
                "sanitize",
                "in.csv",
                "-o",
                "o.csv",
                *WHICH,
                "--mechanism",
                "oue",
                "--delta",
                ".9",
            ],
            "--delta is not an option of oue",
        ),
        (
            [
                "sanitize",
                "in.csv",
                "-o",
                "o.csv",
                *WHICH,
                "--mechanism",
                "srlip",
                "--notion",
                "lip",
            ],
            "--notion is not an option of srlip",
        ),
        (
            [*SANITIZE, "--mechanism", "grr", "--notion", "l1"],
            "not supported",
        ),
        ([*SANITIZE, "--output", "bits"], "output"),
        (["sanitize", "in.csv", "-o", "o.csv", "--sensitive", "s", "--useful", "z"], None),
        (["sanitize", "in.csv", "-o", "o.csv", "--sensitive", "z", "--useful", "x"], "one value"),
        (["sanitize", "in.csv", *WHICH], "required: -o"),
        (["audit", "in.csv", *WHICH], "--epsilon"),
        (["audit", "in.csv", "--sensitive", "z", "--useful", "x", "--epsilon", "1"], "one value"),
        (["explain", "in.csv", "--sensitive", "z", "--useful", "x"], "one value"),
        (["audit", "in.csv", *WHICH, "--epsilon", "1", "--confidence", "95"], "--confidence"),
        (
            ["audit", "in.csv", *WHICH, "--epsilon", "1", "--notion", "l1", "--fail-on", "doubt"],
            "--fail-on level",
        ),
        (["curve", "in.csv", *WHICH, "--epsilons"], "expected at least one"),
        (["curve", "in.csv", *WHICH, "--epsilons", "-1"], "epsilon"),
        (["curve", "in.csv", *WHICH, "--epsilons", "1", "--picture", "c.gif"], "must end with"),
        (["curve", "in.csv", *WHICH, "--epsilons", "1", "-o", "t.txt"], "end with .csv"),
        (
            ["curve", "in.csv", *WHICH, "--epsilons", "1", "--mechanism", "oue", "--delta", "0.1"],
            "--delta is not an option of oue",
        ),
        (["explain", "none.csv", *WHICH], "No such file"),
        (["demo", "--output", "in.csv"], "in.csv"),
        (["wonders"], "invalid choice"),
        (["--what"], "unrecognized"),
    ],
)
def test_bad_usage_is_one_line(good, run, refused, argv, words):
    (good / "folder.csv").mkdir()
    (good / "link.csv").symlink_to(good / "in.csv")
    before = contents(good)
    if words is None:  # A constant useful column is fine.
        assert run(*argv).status == 0
        return
    assert words in refused(*argv)
    assert contents(good) == before


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty"),
        (b"\n\n", "is empty"),
        (b"s,x\n", "no rows below its header"),
        (b"s,x,s\na,1,b\n", "two columns called 's'"),
        (b"s,x\na,1\nb,\0002\n", "line 3 contains a NUL byte"),
        (b"s,x\na,1\nb\n", "line 3 has 1 field, but the header has 2"),
        (b"s,x\na,1,9\nb,2,9\n", "line 2 has 3 fields,"),
        (b"s,x\na,1\nb,2,9\n", "line 3 has 3 fields,"),
        (b"s,x\na,1\nb,2\na,1", None),
        (b's,x\na,"1\nb,2\n', "line 2 is never closed"),
        (b's,x\na,"1"2\nb,2\n', "line 2 is malformed"),
        (b's,x\na,"1",2\nb,2\n', "line 2 has 3 fields,"),
        (b's,x\na,"two\nlines"\nb,2\n\nb\n', "line 6 has 1 field,"),
        (b"s,x\na,1\rb,2\n", "carriage return"),
        (b"s,x\ra,1\rb,2\r", "s, x"),
        (b"s,x\na,\xe9\nb,2\n", "--encoding latin-1"),
        (b"\xe9,x\na,\xe9\nb,2\n", "--encoding latin-1"),
        (b"s;x\na;1\nb;2\n", "has no such column"),
        (b"\x00\x01\x02\xff\xfe" * 100, "in.csv"),
    ],
)
def test_malformed_files_are_named(folder, run, refused, content, words):
    (folder / "in.csv").write_bytes(content)
    command = SANITIZE
    if words is None:  # The last line need not end.
        assert run(*command).status == 0
        return
    line = refused(*command)
    assert "in.csv" in line
    assert words in line or content.startswith(b"s,x\r")
    assert [path.name for path in folder.iterdir()] == ["in.csv"]


def test_a_wrong_row_far_behind_is_found(folder, refused):
    # Beyond the first block, and among lines that are checked all at once.
    (folder / "in.csv").write_text("s,x\n" + "a,1\nb,2\n" * 400_000 + "a\n" + "b,2\n" * 10)
    line = refused("audit", "in.csv", *WHICH, "--epsilon", "1")
    assert "line 800002 has 1 field," in line


def test_a_file_that_is_no_parquet(folder, refused):
    pytest.importorskip("pyarrow")
    (folder / "in.parquet").write_text("s,x\na,b\n")
    assert "cannot be read as a Parquet file" in refused(
        "audit", "in.parquet", *WHICH, "--epsilon", "1"
    )
    assert "No such file" in refused("audit", "no.parquet", *WHICH, "--epsilon", "1")


def test_parquet_without_pyarrow(folder, refused, monkeypatch):
    (folder / "in.parquet").write_bytes(b"PAR1")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert "pip install" in refused("audit", "in.parquet", *WHICH, "--epsilon", "1")


def test_pictures_without_matplotlib(good, refused, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    line = refused(
        "curve", "in.csv", *WHICH, "--epsilons", "1", "--picture", "c.png", "-o", "t.csv"
    )
    assert 'pip install "skliftpriv[plot]"' in line
    assert [path.name for path in good.iterdir()] == ["in.csv"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_no_permission(good, refused):
    (good / "closed").mkdir(mode=0o500)
    assert "Permission denied" in refused("sanitize", "in.csv", "-o", "closed/o.csv", *WHICH)
    (good / "in.csv").chmod(0)
    assert "Permission denied" in refused("sanitize", "in.csv", "-o", "o.csv", *WHICH)


def test_a_folder_that_cannot_be_written(good, refused, monkeypatch):
    def deny(*args, **options):
        raise PermissionError(13, "Permission denied", "somewhere")

    monkeypatch.setattr("tempfile.mkstemp", deny)
    assert "o.csv cannot be written: Permission denied" in refused(
        "sanitize", "in.csv", "-o", "o.csv", *WHICH
    )


# ---- all files or none


@pytest.mark.parametrize(
    "error", [OSError(28, "No space left"), KeyboardInterrupt(), MemoryError()]
)
@pytest.mark.parametrize("when", ["releasing", "reporting", "moving"])
def test_a_failure_leaves_everything_as_it_was(good, run, monkeypatch, when, error):
    (good / "o.csv").write_text("what was there before")
    before = contents(good)
    calls = []

    def fail(*args, **options):
        raise error

    replace = os.replace

    def fail_second(*args):
        calls.append(args)
        if len(calls) == 2:
            raise error
        replace(*args)

    if when == "releasing":
        monkeypatch.setattr("skliftpriv.cli._writers.CsvWriter.write", fail)
    elif when == "reporting":
        monkeypatch.setattr(_sanitize, "report_page", fail)
    else:
        monkeypatch.setattr(os, "replace", fail_second)
    done = run("sanitize", "in.csv", "-o", "o.csv", *WHICH, "--report", "r.html")
    assert done.status == (130 if isinstance(error, KeyboardInterrupt) else 2)
    assert done.err.count("\n") == 1
    assert contents(good) == before


def test_links_stay_and_modes_stay(good, run):
    target = good / "elsewhere.csv"
    target.write_text("old")
    target.chmod(0o640)
    (good / "o.csv").symlink_to(target)
    assert run("sanitize", "in.csv", "-o", "o.csv", *WHICH).status == 0
    assert (good / "o.csv").is_symlink()
    assert target.read_text().startswith("x\n")
    assert target.stat().st_mode & 0o777 == 0o640
    assert sorted(contents(good)) == ["elsewhere.csv", "in.csv", "o.csv"]


def test_devices_are_not_replaced(good, refused):
    command = [*SANITIZE, "--report", "/dev/null"]
    assert "/dev/null is not a regular file" in refused(*command)
    assert Path("/dev/null").is_char_device()


# ---- bugs


def test_a_bug_is_called_one(good, capsys, monkeypatch):
    def fail(*args):
        raise ZeroDivisionError("oh")

    what = _main._COMMANDS["audit"]
    monkeypatch.setitem(_main._COMMANDS, "audit", (*what[:2], fail))
    command = ["audit", "in.csv", *WHICH, "--epsilon", "1"]
    assert main(command) == 3
    assert "ZeroDivisionError: oh This is a bug" in capsys.readouterr().err
    monkeypatch.setenv("SKLIFTPRIV_DEBUG", "1")
    with pytest.raises(ZeroDivisionError):
        main(command)
