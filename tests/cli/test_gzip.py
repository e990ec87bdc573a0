"""Files that are packed by gzip, and files that are traps."""

import csv
import gzip
import subprocess
import sys

import pandas as pd
import pytest

from skliftpriv.cli import _csv_lines, _files

WHICH = ["--sensitive", "s", "--useful", "x"]
ROWS = "a,1\nb,2\na,2\nb,1\n" * 500


@pytest.mark.parametrize(
    ("suffix", "sign"), [("csv.gz", ","), ("tsv.gz", "\t"), ("txt.gz", ","), ("CSV.GZ", ",")]
)
def test_packed_files_are_read_and_written(run, folder, adult, suffix, sign):
    rows = adult.head(2000)
    rows.to_csv("in.csv", index=False)
    rows.to_csv(f"in.{suffix}", index=False, sep=sign, compression="gzip")
    which = ["--sensitive", "relationship", "--useful", "occupation", "--keep-other-columns"]
    assert run("sanitize", "in.csv", "-o", "plain.csv", *which).status == 0
    done = run("sanitize", f"in.{suffix}", "-o", f"out.{suffix}", *which, "--progress")
    assert done.status == 0
    assert "100%" in done.err
    with gzip.open(f"out.{suffix}", "rt", encoding="utf-8", newline="") as file:
        packed = list(csv.reader(file, delimiter=sign))
    # Merging draws nothing, so both releases are the same.
    with open("plain.csv", encoding="utf-8", newline="") as file:
        assert packed == list(csv.reader(file))
    assert run("sanitize", f"in.{suffix}", "-o", f"again.{suffix}", *which).status == 0
    assert (folder / f"again.{suffix}").read_bytes() == (folder / f"out.{suffix}").read_bytes()


def test_rows_of_several_members_are_all_read(run_json, folder):
    # As from: cat one.csv.gz two.csv.gz
    packed = gzip.compress(b"s,x\n" + ROWS.encode()) + gzip.compress(ROWS.encode())
    (folder / "in.csv.gz").write_bytes(packed)
    status, facts = run_json("sanitize", "in.csv.gz", "-o", "o.csv", *WHICH)
    assert (status, facts["rows"]) == (0, 4000)


@pytest.mark.parametrize("damage", ["truncated", "flipped", "no gzip", "garbage behind", "empty"])
def test_damaged_files_are_refused(folder, refused, damage):
    packed = bytearray(gzip.compress(b"s,x\n" + ROWS.encode(), mtime=0))
    if damage == "truncated":
        del packed[-20:]
    elif damage == "flipped":
        packed[-6] ^= 1
    elif damage == "no gzip":
        packed = bytearray(b"s,x\n" + ROWS.encode())
    elif damage == "garbage behind":
        packed += b"and more"
    else:
        packed.clear()
    (folder / "in.csv.gz").write_bytes(packed)
    line = refused("sanitize", "in.csv.gz", "-o", "o.csv.gz", *WHICH)
    assert "in.csv.gz is" in line
    assert "not a complete gzip file" in line or damage == "empty"
    assert [path.name for path in folder.iterdir()] == ["in.csv.gz"]


def test_wrong_rows_of_packed_files_are_named(folder, refused):
    with gzip.open("in.csv.gz", "wt") as file:
        file.write("s,x\n" + ROWS + "a\n")
    assert "in.csv.gz: line 2002 has 1 field," in refused(
        "sanitize", "in.csv.gz", "-o", "o.csv", *WHICH
    )


# ---- traps


@pytest.mark.parametrize(
    ("content", "number"),
    [
        (b"s,x\na,1\n" + b"b," + b"2" * 3000, 3),
        (b"s,x\na,1\n" + b'b,"' + b"2\n" * 1500, 3),
        (b"s,x" + b"x" * 3000, 1),
        (b's,"x' + b"\n" * 3000, 1),
    ],
)
def test_endless_rows_are_refused(folder, refused, monkeypatch, content, number):
    monkeypatch.setattr(_csv_lines, "_LONGEST", 1024)
    monkeypatch.setattr(_csv_lines, "_BLOCK", 16)
    (folder / "in.csv").write_bytes(content)
    line = refused("sanitize", "in.csv", "-o", "o.csv", *WHICH)
    assert "longer than" in line
    found = int(line.split(" at line ")[1].split()[0])
    assert found >= number


def test_long_rows_need_smaller_parts(folder, run, refused, monkeypatch):
    monkeypatch.setattr(_files, "_MOST_BYTES", 1 << 22)
    text = "y" * 1000
    (folder / "in.csv").write_text("s,x,z\n" + f"a,1,{text}\nb,2,{text}\n" * 4000)
    command = ["sanitize", "in.csv", "-o", "o.csv", *WHICH]
    assert "use a smaller --chunk-rows" in refused(*command)
    assert run(*command, "--chunk-rows", "1000").status == 0


def test_a_bomb_takes_bounded_memory(folder):
    # 1 GB of one line in 1 MB, read by a process that may have 200 MB more than it starts with.
    member = gzip.compress(b"y" * (1 << 26))
    (folder / "in.csv.gz").write_bytes(gzip.compress(b"s,x\na,") + member * 16)
    code = (
        "import resource, sys\n"
        "from skliftpriv.cli import main\n"
        "used = int(open('/proc/self/statm').read().split()[0]) * resource.getpagesize()\n"
        "resource.setrlimit(resource.RLIMIT_AS, (used + (200 << 20),) * 2)\n"
        "sys.exit(main(sys.argv[1:]))"
    )
    command = [sys.executable, "-c", code, "audit", "in.csv.gz", *WHICH, "--epsilon", "1"]
    done = subprocess.run(command, capture_output=True, check=False, text=True)
    assert done.returncode == 2
    assert "longer than 16 MB" in done.stderr


@pytest.mark.parametrize("block", [1, 7, 64, 1 << 20])
def test_blocks_do_not_cut_rows(folder, run, monkeypatch, block):
    # Quotations over many lines, with doubled marks and empty lines, are found in any block.
    monkeypatch.setattr(_csv_lines, "_BLOCK", block)
    values = ['"one\n""two""\n\nthree"', '"a,b"', "plain", '"\r\n"']
    rows = [f"{'ab'[i % 2]},{values[i % 4]}" for i in range(60)]
    (folder / "in.csv").write_bytes(("s,x\r\n" + "\r\n".join(rows)).encode())
    end = ["--epsilon", "9", "--smoothing", "1"]
    assert run("sanitize", "in.csv", "-o", "o.csv", *WHICH, *end).status == 0
    frames = [pd.read_csv(name, dtype=str)["x"] for name in ("in.csv", "o.csv")]
    assert list(frames[0]) == list(frames[1])


def test_fields_longer_than_the_module_csv_likes(folder, run):
    text = '"' + "y" * 200_000 + '"'
    (folder / "in.csv").write_text("s,x,z\n" + f"a,1,{text}\nb,2,q\n" * 5)
    assert run("sanitize", "in.csv", "-o", "o.csv", *WHICH).status == 0
