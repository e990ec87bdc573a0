"""--target and --see-sensitive: what is kept, what is read and what is never released."""

import json

import pandas as pd
import pytest

from skliftpriv import CountedRows, ORRSanitizer
from skliftpriv.cli._console import as_json
from skliftpriv.datasets import load_adult

WHICH = ["--sensitive", "sex", "--useful", "relationship"]
ORR = [*WHICH, "--mechanism", "orr", "--epsilon", "0.4"]
TARGET = ["--target", "income"]


@pytest.fixture
def rows(folder):
    """A file of 2,000 rows with a target."""
    adult = load_adult()[["age", "sex", "relationship", "income"]].head(2000)
    adult.to_csv("in.csv", index=False)
    return adult.astype(str)


@pytest.mark.parametrize("seen", [False, True])
@pytest.mark.parametrize("target", [False, True])
def test_the_report_is_that_of_python(rows, run_json, seen, target):
    options = TARGET * target + ["--see-sensitive"] * seen
    # Parts of several rows, which are added up.
    status, facts = run_json("sanitize", "in.csv", "-o", "o.csv", *ORR, *options, "--chunk-rows", 7)
    assert status == 0
    sanitizer = ORRSanitizer(
        "sex",
        "relationship",
        epsilon=0.4,
        utility="target" if target else "useful",
        use_sensitive=seen,
    )
    counted = CountedRows.of(rows[["sex", "relationship"]], "sex", target=rows["income"])
    sanitizer.fit(counted)
    expected = json.loads(as_json(sanitizer.report_.to_dict()))
    assert facts["report"]["utility_kept"] == pytest.approx(expected["utility_kept"], abs=1e-6)
    assert facts["report"]["before"] == pytest.approx(expected["before"])
    assert (facts["report"]["target"] is None) == (not target)
    assert facts["target"] == ("income" if target else None)
    assert facts["parameters"]["use_sensitive"] == seen
    assert facts["released_columns"] == ["relationship"]
    released = pd.read_csv("o.csv")
    assert list(released.columns) == ["relationship"]
    assert len(released) == len(rows)


@pytest.mark.parametrize("seen", [[], ["--see-sensitive"]])
def test_the_target_is_passed_on_only_on_request(rows, run, seen):
    done = run("sanitize", "in.csv", "-o", "o.csv", *ORR, *TARGET, *seen, "--keep-other-columns")
    assert done.status == 0
    assert "releases age, income unchanged" in done.err
    released = pd.read_csv("o.csv", dtype=str)
    assert list(released.columns) == ["relationship", "age", "income"]
    assert (released["income"] == rows["income"]).all()


def test_another_file_may_be_counted_and_has_the_target(rows, run, refused):
    rows.drop(columns="income").head(500).to_csv("new.csv", index=False)
    command = ["sanitize", "new.csv", "-o", "o.csv", *ORR, *TARGET, "--see-sensitive"]
    done = run(*command, "--fit-on", "in.csv")
    assert done.status == 0
    assert "500 rows: new.csv -> o.csv" in done.out
    assert "of what is known about the target" in done.out
    assert "--target income: new.csv has no such column" in refused(*command)
    assert "has no such column" in refused(*command, "--fit-on", "new.csv")


def test_the_page_names_the_target(rows, run):
    end = ["--see-sensitive", "--report", "r.html"]
    assert run("sanitize", "in.csv", "-o", "o.csv", *ORR, *TARGET, *end).status == 0
    with open("r.html", encoding="utf-8") as file:
        page = file.read()
    assert "what is known about income from sex and relationship" in page
    assert "The mechanism sees sex" in page


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--target", "price"], "--target price: in.csv has no such column; it has 'age'"),
        (["--target", "sex"], "--target sex is also a --sensitive column: choose another column"),
        (["--target", "relationship"], "--target relationship is also a --useful column"),
        (
            [*TARGET, "--mechanism", "grr"],
            "--target is not an option of grr: remove it, or use --mechanism orr.",
        ),
        (["--see-sensitive", "--mechanism", "srlip"], "--see-sensitive is not an option of srlip"),
    ],
)
def test_what_cannot_be_is_refused(rows, refused, options, message):
    assert message in refused("sanitize", "in.csv", "-o", "o.csv", *ORR, *options)


def test_a_target_with_many_values_is_refused_before_all_rows_are_read(rows, refused):
    rows.assign(income=range(len(rows))).to_csv("in.csv", index=False)
    command = ["sanitize", "in.csv", "-o", "o.csv", *ORR, *TARGET, "--chunk-rows", "30"]
    assert "--target income has more than 100 values in in.csv: put them into bins" in refused(
        *command
    )


def test_a_missing_target_is_refused(rows, refused):
    rows.assign(income=rows["income"].where(rows.index != 700)).to_csv("in.csv", index=False)
    line = refused("sanitize", "in.csv", "-o", "o.csv", *ORR, *TARGET, "--chunk-rows", "100")
    assert "--target income: the value is missing in a row of in.csv" in line


def test_numbers_of_parquet_files_are_values_like_any_other(rows, run_json):
    pytest.importorskip("pyarrow")
    load_adult().head(2000).assign(decade=lambda frame: frame["age"] // 2).to_parquet("in.parquet")
    command = ["-o", "o.csv", *ORR, "--target", "decade", "--chunk-rows", "500"]
    status, facts = run_json("sanitize", "in.parquet", *command)
    assert status == 0
    assert 0 < facts["report"]["utility_kept"] <= 1


# ---- comparing


@pytest.mark.slow
def test_mechanisms_are_compared_by_what_they_keep_of_the_target(rows, run, run_json, here):
    here()
    which = ["explain", "in.csv", *WHICH, "--epsilon", "0.4", "--time-limit", "5"]
    status, facts = run_json(*which, *TARGET)
    assert status == 0
    assert facts["data"]["target_values"] == 2
    trials = {trial["mechanism"]: trial for trial in facts["mechanisms"]}
    assert trials["orr"]["kept"] == pytest.approx(trials["orr"]["utility_kept"])
    assert trials["orr"]["kept"] > trials["srr"]["kept"]
    assert trials["srr"]["utility_kept"] == trials["srr"]["nmi"] != trials["srr"]["kept"]
    assert facts["recommended"] == "orr"
    done = run(*which, *TARGET, "--see-sensitive")
    assert "income has 2 values." in done.out
    assert "Shares are of what relationship and sex tell about income." in done.out
    assert "orr looks at sex here (--see-sensitive)" in done.out
    done = run(*which, *TARGET)
    assert "Shares are of what relationship tells about income." in done.out
    assert "orr looks at" not in done.out


def test_a_curve_leaves_the_options_out_where_they_are_unknown(rows, run, run_json, refused):
    which = ["curve", "in.csv", *WHICH, "--epsilons", "0.2", "0.4", "--mechanism"]
    done = run(*which, "grr", "orr", *TARGET, "--picture", "c.png")
    assert done.status == 0
    assert done.out.startswith("Share kept of what relationship tells about income, while prot")
    status, facts = run_json(*which, "grr", "orr", *TARGET, "--see-sensitive")
    assert status == 0
    by = pd.DataFrame(facts["curve"]).set_index(["mechanism", "epsilon"])
    assert set(by.loc["orr", "utility"]) == {"target"}
    assert set(by.loc["grr", "utility"]) == {"useful"}
    assert (by.loc["orr", "target_kept"] > by.loc["grr", "target_kept"]).all()
    for options in (TARGET, ["--see-sensitive"]):
        line = refused(*which, "grr", "watchdog", *options)
        assert f"{options[0]} is not an option of grr, watchdog: remove it." in line


def test_a_mechanism_whose_target_cannot_be_told_stays_in_the_table(folder, run):
    load_adult().head(2000).to_csv("in.csv", index=False)
    which = ["in.csv", "--sensitive", "sex", "--useful", "occupation", *TARGET]
    done = run("curve", *which, "--epsilons", "1", "--mechanism", "oue", "orr")
    assert done.status == 0
    *_, header, numbers = done.out.splitlines()
    assert header.split() == ["epsilon", "oue", "orr"]
    assert numbers.split()[1] == "-"
