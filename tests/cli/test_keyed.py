"""Keyed releases of files: the same record, the same value, part by part."""

import json

import pandas as pd
import pytest

from skliftpriv import GRRSanitizer

from ..estimators.samples import make_frame

KEY = "c0ffee3b1f9ad2c47e805516f2d1e9aa"
FRAME = make_frame(300).assign(id=range(1000, 1300))
GRR = ["--sensitive", "s", "--useful", "x", "--epsilon", "0.5", "--mechanism", "grr"]
IDS = ["--record-id", "id", "--key-file", "key"]


@pytest.fixture(autouse=True)
def _files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    FRAME.to_csv("in.csv", index=False)
    FRAME.to_parquet("in.parquet")
    (tmp_path / "key").write_text(KEY + "\n")


def test_all_files_and_parts_agree_with_a_data_frame(run):
    sanitizer = GRRSanitizer("s", "x", epsilon=0.5, record_id="id", secret=KEY.encode())
    expected = sanitizer.fit_transform(FRAME)["x"].tolist()
    for given, options in (
        ("in.csv", []),
        ("in.csv", ["--chunk-rows", "7"]),
        ("in.parquet", ["--chunk-rows", "50"]),
    ):
        run("sanitize", given, "-o", "out.csv", *GRR, *IDS, *options)
        released = pd.read_csv("out.csv")
        assert released.columns.tolist() == ["x"]
        assert released["x"].tolist() == expected


@pytest.mark.parametrize("mechanism", ["grr", "oue", "srlip"])
def test_the_key_may_be_in_the_environment(run, monkeypatch, mechanism):
    monkeypatch.setenv("RELEASE_KEY", KEY)
    which = [*GRR[:-1], mechanism]
    run("sanitize", "in.csv", "-o", "one.csv", *which, *IDS)
    saved = ["--save", "m.json", "--signing-key", "env:RELEASE_KEY"]
    run("sanitize", "in.csv", "-o", "two.csv", *which, *IDS[:3], "env:RELEASE_KEY", *saved)
    keys = ["--signing-key", "key", "--key-file", "env:RELEASE_KEY"]
    run("apply", "m.json", "in.csv", "-o", "three.csv", *keys)
    one, two, three = (pd.read_csv(f"{name}.csv") for name in ("one", "two", "three"))
    assert one.equals(two)
    assert one.equals(three)


def test_a_key_in_place_of_its_file_is_not_shown(refused):
    for options in ([*IDS[:3], KEY], [*IDS, "--save", "m.json", "--signing-key", KEY]):
        assert KEY not in refused("sanitize", "in.csv", "-o", "out.csv", *GRR, *options)


def test_without_a_key_file_rows_of_all_parts_share_a_key(run):
    pd.concat([FRAME, FRAME]).to_csv("in.csv", index=False)
    draws = []
    for _ in range(2):
        run("sanitize", "in.csv", "-o", "out.csv", *GRR, *IDS[:2], "--chunk-rows", "45")
        draws.append(pd.read_csv("out.csv")["x"])
        assert draws[-1][:300].tolist() == draws[-1][300:].tolist()
    assert not draws[0].equals(draws[1])
    for _ in range(2):
        run("sanitize", "in.csv", "-o", "out.csv", *GRR, *IDS[:2], "--seed", "4")
        draws.append(pd.read_csv("out.csv")["x"])
    assert draws[2].equals(draws[3])


def test_no_output_shows_the_key(run, tmp_path):
    said = run("sanitize", "in.csv", "-o", "out.csv", *GRR, *IDS, "--report", "page.html", "--json")
    assert json.loads(said.out)["parameters"]["record_id"] == "id"
    page, released = ((tmp_path / name).read_text() for name in ("page.html", "out.csv"))
    for text in (said.out, said.err, page, released):
        assert KEY not in text
    assert json.loads(said.out)["guarantee"]["single_release"] is False
    assert "repeating it with the same secret" in page


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--key-file", "key"], "--key-file needs --record-id COL"),
        ([*IDS, "--seed", "1"], "--key-file and --seed both decide the noise"),
        ([*IDS[:3], "no-key"], "not the path of a key file that can be read (No such file"),
        ([*IDS[:3], "env:NO_KEY"], "there is no environment variable 'NO_KEY'"),
        ([*IDS, "--save", "key"], "key is read here, and never overwritten"),
        ([*IDS, "--report", "key"], "key is read here, and never overwritten"),
        (["--record-id", "no"], "--record-id no: in.csv has no such column"),
        (["--record-id", "x"], "--record-id x is also a --useful column"),
    ],
)
def test_options_that_do_not_go_together(refused, options, message):
    assert message in refused("sanitize", "in.csv", "-o", "out.csv", *GRR, *options)


def test_rows_without_ids_and_ids_with_two_values_are_refused_with_their_rows(refused):
    FRAME.assign(id=FRAME["id"].where(FRAME.index != 120)).to_csv("in.csv", index=False)
    command = ["sanitize", "in.csv", "-o", "out.csv", *GRR, *IDS, "--chunk-rows", "50"]
    assert "--record-id id: row 120 has no id" in refused(*command)
    wrong = FRAME.assign(id=FRAME["id"].where(FRAME.index != 121, 1101))
    wrong.loc[[101, 121], "x"] = ["a", "b"]
    wrong.to_csv("in.csv", index=False)
    assert "the rows of '1101' differ in x (rows 101 and 121)" in refused(*command)


def test_ids_are_released_only_with_the_other_columns(run):
    said = run("sanitize", "in.csv", "-o", "out.csv", *GRR, *IDS, "--keep-other-columns")
    assert "--keep-other-columns releases id unchanged" in said.err
    assert pd.read_csv("out.csv")["id"].tolist() == FRAME["id"].tolist()
    run("sanitize", "in.csv", "-o", "out.csv", "--sensitive", "s", "--cells", "4", *IDS)
    assert pd.read_csv("out.csv").columns.tolist() == ["cell"]
