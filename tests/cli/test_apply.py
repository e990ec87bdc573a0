"""sanitize --save and apply: what one command learnt, another releases by."""

import json

import numpy as np
import pandas as pd
import pytest

from skliftpriv import GRRSanitizer, load, save

WHICH = ("--sensitive", "sex", "--useful", "occupation")
KEY = "a key of more than sixteen bytes"


@pytest.fixture
def saved(small, run, adult):
    """A mechanism of 2,000 rows, and the same rows as Parquet, with ids."""
    frame = adult.head(2000).assign(id=range(2000))
    frame.to_csv("in.csv", index=False)
    frame.to_parquet("in.parquet")
    (small.parent / "key").write_text(KEY)
    done = run("sanitize", "in.csv", *WHICH, "-o", "o.csv", "--save", "m.json", "--seed", "1")
    assert done.status == 0
    return small.parent


def test_the_same_seed_gives_the_same_release(saved, run_json):
    status, facts = run_json("apply", "m.json", "in.csv", "-o", "again.csv", "--seed", "1")
    assert (status, facts["rows"], facts["applied"]) == (0, 2000, "m.json")
    assert facts["mechanism"] == "SubsetMergingSanitizer"
    assert (saved / "again.csv").read_bytes() == (saved / "o.csv").read_bytes()
    document = json.loads((saved / "m.json").read_text())
    assert document["joint"] is None


def test_s_is_not_needed_and_all_kinds_of_files_are_read(saved, run):
    pd.read_csv("in.csv")[["occupation"]].to_csv("x.tsv", index=False, sep="\t")
    for source, out in (("x.tsv", "o.parquet"), ("in.parquet", "o.csv.gz"), ("in.csv", "-")):
        done = run("apply", "m.json", source, "-o", out, "--chunk-rows", "300", "--shuffle")
        assert done.status == 0
        assert "0 sensitive" not in done.out
    assert len(pd.read_parquet("o.parquet")) == len(pd.read_csv("o.csv.gz")) == 2000
    assert list(pd.read_parquet("o.parquet")) == ["occupation"]


def test_the_page_and_the_form_of_the_output(saved, run):
    command = ("apply", "m.json", "in.csv", "-o", "c.csv", "--output-kind", "code")
    assert run(*command, "--report", "r.html").status == 0
    assert pd.read_csv("c.csv")["occupation"].dtype == np.int64
    assert "without counts of it" in (saved / "r.html").read_text()


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_keyed_and_signed(saved, run, refused, kind):
    options = ("--record-id", "id", "--key-file", "key", "--signing-key", "key")
    command = ("sanitize", f"in.{kind}", *WHICH, "--mechanism", "grr", *options, "--save", "k.json")
    assert run(*command, "-o", f"one.{kind}").status == 0
    assert KEY not in (saved / "k.json").read_text()
    again = ("apply", "k.json", f"in.{kind}", "-o", f"two.{kind}", "--signing-key", "key")
    assert run(*again, "--key-file", "key", "--chunk-rows", "77").status == 0
    read = pd.read_csv if kind == "csv" else pd.read_parquet
    pd.testing.assert_frame_equal(read(f"one.{kind}"), read(f"two.{kind}"))
    assert run(*again).status == 0  # without the secret the noise is fresh
    assert not read(f"one.{kind}").equals(read(f"two.{kind}"))
    assert "it is signed" in refused("apply", "k.json", "in.csv", "-o", "three.csv")
    (saved / "other").write_text(KEY[::-1])
    wrong = ("apply", "k.json", "in.csv", "-o", "three.csv", "--signing-key", "other")
    assert "the key is not that of the file" in refused(*wrong)
    assert not (saved / "three.csv").exists()


def test_cells_and_typical_rows(saved, run, adult):
    columns = ("--sensitive", "sex", "--cells", "6", "--output-kind", "typical", "--seed", "2")
    table = adult.head(2000)
    table.to_csv("all.csv", index=False)
    for kind in ("csv", "parquet"):
        table.to_csv("all.csv", index=False)
        table.to_parquet("all.parquet")
        command = ("sanitize", f"all.{kind}", *columns, "-o", f"one.{kind}", "--save", "c.json")
        assert run(*command).status == 0
        again = ("apply", "c.json", f"all.{kind}", "-o", f"two.{kind}", "--seed", "2")
        assert run(*again).status == 0
        assert (saved / f"one.{kind}").read_bytes() == (saved / f"two.{kind}").read_bytes()


def test_the_joint_is_saved_when_asked_for(saved, run, refused):
    command = ("sanitize", "in.csv", *WHICH, "-o", "s.csv", "--save", "s.json")
    sees = (*command, "--mechanism", "orr", "--see-sensitive", "--time-limit", "5")
    assert "pass include_joint=True" in refused(*sees)
    assert not (saved / "s.csv").exists()
    assert run(*sees, "--save-joint").status == 0
    assert load("s.json").joint_.n_rows == 2000
    assert run("apply", "s.json", "in.csv", "-o", "t.csv").status == 0


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (("apply", "none.json", "in.csv", "-o", "t.csv"), "none.json: No such file"),
        (("apply", "in.csv", "in.csv", "-o", "t.csv"), "does not begin like a file that"),
        (("apply", "m.json", "m.json", "-o", "t.csv"), "the name must end with one of"),
        (("apply", "m.json", "x.csv", "-o", "t.csv"), "m.json needs occupation: x.csv has no such"),
        (("apply", "m.json", "in.csv", "-o", "m.json"), "must end with one of"),
        (("apply", "m.json", "in.csv", "-o", "in.csv"), "is read here, and never overwritten"),
        (("apply", "m.json", "in.csv", "-o", "t.csv", "--key-file", "key"), "without --record-id"),
        (("apply", "m.json", "in.csv", "-o", "t.csv", "--signing-key", "key"), "it is not signed"),
        (
            ("apply", "m.json", "in.csv", "-o", "t.csv", "--output-kind", "bits"),
            "must be a str",
        ),
        (("apply", "m.json", "in.csv", "-o", "t.csv", "--chunk-rows", "0"), "--chunk-rows must be"),
        (("apply", "m.json", "new.csv", "-o", "t.csv"), "1 value(s) not seen at fit"),
        (("apply", "a.json", "in.csv", "-o", "t.csv"), "fitted to an array without names"),
        (("sanitize", "in.csv", *WHICH, "-o", "t.csv", "--save-joint"), "needs --save FILE"),
        (
            ("sanitize", "in.csv", *WHICH, "-o", "t.csv", "--signing-key", "key"),
            "needs --save FILE",
        ),
        (("sanitize", "in.csv", *WHICH, "-o", "t.csv", "--save", "-"), "--save needs the name"),
        (("sanitize", "in.csv", *WHICH, "-o", "t.csv", "--save", "t.csv"), "for two outputs"),
    ],
)
def test_errors_in_one_line(saved, refused, command, message):
    pd.DataFrame({"y": ["a"]}).to_csv("x.csv", index=False)
    pd.DataFrame({"occupation": ["juggler"]}).to_csv("new.csv", index=False)
    array = np.array([["u", "a"], ["v", "b"]] * 50, dtype=object)
    save(GRRSanitizer(0, 1).fit(array), "a.json")
    assert message in refused(*command)
    assert not (saved / "t.csv").exists()
