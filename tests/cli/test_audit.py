"""audit: what the rows say, with their uncertainty, for a file or for two."""

import re

import numpy as np
import pandas as pd
import pytest

from skliftpriv import LIP, ORRSanitizer, SubsetMergingSanitizer
from skliftpriv.metrics import audit_columns

WHICH = ["--sensitive", "relationship", "--useful", "occupation"]
PLAIN = ["--sensitive", "s", "--useful", "x", "--epsilon", "0.3"]


def write(path, header, rows):
    path.write_text("\n".join([header, *rows]) + "\n")


def test_the_audit_says_what_audit_columns_says(run_json, small, adult):
    status, facts = run_json("audit", small, *WHICH, "--epsilon", "0.1")
    rows = adult.head(2000)
    expected = audit_columns(rows["relationship"], rows["occupation"], LIP(0.1))
    assert expected.verdict == "violated"
    assert status == 1
    assert facts["above_budget"] is facts["failed"] is True
    assert facts["verdict"] == "above the budget"
    assert facts["fail_on"] == "violation"
    assert facts["rows"] == 2000
    bound = facts["bounds"]["max_lift"]
    assert bound["level"] == pytest.approx(expected.bounds["max_lift"].level)
    assert bound["low"] == pytest.approx(expected.bounds["max_lift"].low)
    assert bound["verdict"] == expected.bounds["max_lift"].verdict
    assert facts["bounds"]["min_lift"]["level"] == "inf"
    assert facts["worst"][0]["rows"] == 0
    assert facts["worst"][0]["log_lift"] == "-inf"


def test_what_was_merged_passes_its_audit_by_its_level(run, small, adult):
    # Merging draws nothing: rows show exactly the level that was certified.
    sanitizer = SubsetMergingSanitizer("relationship", "occupation", epsilon=0.5)
    released = sanitizer.fit_transform(adult.head(2000)[["relationship", "occupation"]])
    released.assign(relationship=adult["relationship"].head(2000)).to_csv("r.csv", index=False)
    for fail_on in ("level", "violation"):
        assert run("audit", "r.csv", *WHICH, "--epsilon", "0.5", "--fail-on", fail_on).status == 0


def test_a_sound_release_is_not_failed_for_the_scatter_of_its_draws(run, small, adult):
    rows = adult.head(2000)[["relationship", "occupation"]]
    found = set()
    for seed in range(8):
        sanitizer = ORRSanitizer("relationship", "occupation", epsilon=0.5, random_state=seed)
        sanitizer.fit_transform(rows).to_csv("r.csv", index=False)
        command = ["audit", "r.csv", *WHICH, "--epsilon", "0.5", "--sensitive-from", small]
        done = run(*command)
        assert done.status == 0
        assert "Leakage about relationship from occupation: not enough rows to tell." in done.out
        assert "ABOVE" not in done.out
        assert "Undecided, which is not a failure: --fail-on violation" in done.out
        found.add(run(*command, "--fail-on", "level").status)
    assert 1 in found  # the sampled level lies above the certified one in some draws


@pytest.mark.parametrize(
    ("fail_on", "statuses"),
    [("level", (0, 1, 1)), ("violation", (0, 0, 1)), ("doubt", (1, 1, 1)), (None, (0, 0, 1))],
)
def test_when_an_audit_fails(run, folder, fail_on, statuses):
    # Few rows within the budget, few rows above it, and many above it.
    files = {
        "within": ["a,1", "a,2", "b,1", "b,2"] * 5,
        "above": ["a,1", "a,1", "b,1", "b,2"] * 2,
        "certain": ["a,1", "a,1", "b,1", "b,2"] * 5_000,
    }
    verdicts = ["not enough rows to tell", "not enough rows to tell", "above the budget"]
    for (name, rows), status, verdict in zip(files.items(), statuses, verdicts, strict=True):
        write(folder / f"{name}.csv", "s,x", rows)
        asked = [] if fail_on is None else ["--fail-on", fail_on]
        done = run("audit", f"{name}.csv", *PLAIN, *asked)
        assert done.status == status
        assert f"Leakage about s from x: {verdict}." in done.out
        # Without enough rows an audit that does not fail has not passed either.
        assert done.out.splitlines()[-1].startswith("Failed: " if status else "Undecided")


def test_many_rows_show_that_a_budget_is_kept(run, folder):
    write(folder / "in.csv", "s,x", ["a,1", "a,2", "b,1", "b,2"] * 2_000)
    done = run("audit", "in.csv", *PLAIN, "--fail-on", "doubt")
    assert done.status == 0
    assert done.out.count("within the budget") == 3 + 1  # the verdict, two bounds, --fail-on
    assert done.out.splitlines()[-1].startswith("Passed: ")


@pytest.mark.parametrize("notion", ["l1", "chi2", "alpha"])
def test_notions_without_intervals_are_audited_by_their_level(run_json, run, small, notion):
    command = ["audit", small, *WHICH, "--notion", notion, "--epsilon"]
    status, facts = run_json(*command, "0.1", "0.1")
    assert status == 1
    assert facts["fail_on"] == "level"
    assert facts["confidence"] is None
    assert set(facts["bounds"]) == {f"{notion}_lift", f"{notion}_lift_inverse"}
    assert run_json(*command, "300", "300")[0] == 1  # the inverse is infinite
    done = run(*command, "300", "300")
    assert "measured on these rows, without a margin of error" in done.out
    assert "above the budget on these rows." in done.out
    refused = run(*command, "1", "1", "--fail-on", "doubt")
    assert refused.status == 2
    assert "needs intervals" in refused.err


def test_labels_cannot_forge_lines_or_colours(run, folder):
    evil = '"a\nLeakage about s from x: within the budget.\x1b[32m"'
    write(folder / "in.csv", "s,x", [f"ill,{evil}", "well,b"] * 500)
    done = run("audit", "in.csv", *PLAIN)
    assert done.status == 1
    assert "\x1b" not in done.out
    assert not re.search("^Leakage about s from x: within", done.out, flags=re.MULTILINE)
    assert r"given a\nLeakage about s from x: within the budget.\x1b[32m, " in done.out


# ---- S from another file


def test_a_release_is_audited_against_the_file_it_was_made_from(run, run_json, small, adult):
    wanted = ["--mechanism", "subset-merging", "--epsilon", "0.5"]
    assert run("sanitize", small, "-o", "r.csv", *WHICH, *wanted).status == 0
    assert list(pd.read_csv("r.csv").columns) == ["occupation"]
    command = ["audit", "r.csv", *WHICH, "--epsilon", "0.5", "--sensitive-from", small]
    status, facts = run_json(*command)
    expected = audit_columns(
        adult["relationship"].head(2000), pd.read_csv("r.csv")["occupation"], LIP(0.5)
    )
    assert status == 0
    for side, bound in expected.bounds.items():
        assert facts["bounds"][side]["level"] == pytest.approx(bound.level)
        assert facts["bounds"][side]["high"] == pytest.approx(bound.high)


@pytest.mark.parametrize("ends", [("csv", "parquet"), ("parquet", "csv")])
def test_two_files_in_parts_and_of_different_kinds(run_json, folder, adult, ends):
    rows = pd.concat([adult[["relationship", "occupation"]]] * 3, ignore_index=True)
    rows["id"] = np.random.default_rng(0).permutation(len(rows))
    names = [f"released.{ends[0]}", f"source.{ends[1]}"]
    for name, columns in zip(names, (["occupation", "id"], ["relationship", "id"]), strict=True):
        # Whole numbers of a Parquet file are the text of a CSV file.
        part = rows[columns] if "released" in name else rows[columns].sort_values("id")
        part.to_csv(name, index=False) if name.endswith("csv") else part.to_parquet(name)
    expected = audit_columns(rows["relationship"], rows["occupation"], LIP(0.5))
    command = ["audit", names[0], *WHICH, "--epsilon", "0.5", "--sensitive-from", names[1]]
    _, by_key = run_json(*command, "--key", "id", "--chunk-rows", "10000")
    _, in_order = run_json(*command, "--chunk-rows", "10000")
    level = expected.bounds["max_lift"].level
    assert by_key["bounds"]["max_lift"]["level"] == pytest.approx(level)
    assert in_order["bounds"]["max_lift"]["level"] < level  # another order is another table
    assert by_key["rows"] == in_order["rows"] == len(rows)


@pytest.mark.parametrize(
    ("released", "source", "key", "message"),
    [
        (["a,1", "b,2"], ["u,1"], [], "released.csv has 2 rows, but source.csv has 1: both must"),
        (["a,1"], ["u,1", "v,2"], [], "released.csv has 1 rows, but source.csv has 2: both must"),
        (
            ["a,1", "b,3"],
            ["u,1", "v,2"],
            ["id"],
            "of released.csv not in source.csv, for example '3'",
        ),
        (["a,1"], ["u,1", "v,2"], ["id"], "of source.csv not in released.csv, for example '2'"),
        (["a,1", "b,1"], ["u,1", "v,2"], ["id"], "more than once in released.csv, for example '1'"),
        (["a,1", "b,2"], ["u,2", "v,2"], ["id"], "more than once in source.csv, for example '2'"),
        (["a,", "b,2"], ["u,1", "v,2"], ["id"], "the value is missing in a row of released.csv"),
        (["a,1"], ["u,1"], ["x"], "--key x is a sensitive or useful column"),
        (["a,1"], ["u,1"], ["no"], "--key no: released.csv has no such column"),
        (["a,1", "b,2"], ["u,1", "u,2"], ["id"], "s has only one value"),
    ],
)
def test_files_that_do_not_match_are_refused(refused, folder, released, source, key, message):
    write(folder / "released.csv", "x,id", released)
    write(folder / "source.csv", "s,id", source)
    keys = ["--key", *key] if key else []
    assert message in refused(
        "audit", "released.csv", *PLAIN, "--sensitive-from", "source.csv", *keys
    )


def test_wrong_ways_to_name_two_files(refused, folder):
    write(folder / "in.csv", "s,x", ["a,1", "b,2"])
    assert "use it with --sensitive-from" in refused("audit", "in.csv", *PLAIN, "--key", "id")
    both = ["audit", "-", *PLAIN, "--sensitive-from", "-"]
    assert "both standard input" in refused(*both)
    missing = ["audit", "in.csv", *PLAIN[:-4], "--useful", "x", "--epsilon", "1"]
    write(folder / "other.csv", "t", ["a", "b"])
    assert "--sensitive s: other.csv has no such column" in refused(
        *missing, "--sensitive-from", "other.csv"
    )


def test_levels_have_the_sign_that_they_have_in_reports(run, folder):
    write(folder / "in.csv", "s,x", ["a,1", "a,1", "b,1", "b,2"] * 5_000)
    done = run("audit", "in.csv", *PLAIN)
    cells = {line.split("  ")[0]: line.split()[2:6] for line in done.out.splitlines()}
    for name, sign in (("min log-lift", -1), ("max log-lift", 1)):
        budget, level, low, high = map(float, cells[name])
        assert budget == sign * 0.3
        assert low <= level <= high
    assert float(cells["max log-lift"][1]) == pytest.approx(np.log(2), abs=1e-4)
