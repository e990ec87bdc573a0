"""demo, curve, audit and explain, and how they are started."""

import json
import subprocess
import sys
from argparse import Namespace

import numpy as np
import pandas as pd
import pytest

import skliftpriv
from skliftpriv import LIP, SubsetMergingSanitizer
from skliftpriv.cli._console import Console, as_json
from skliftpriv.cli._counting import count_rows, opened
from skliftpriv.metrics import audit_columns
from skliftpriv.model_selection import tradeoff_curve

WHICH = ["--sensitive", "relationship", "--useful", "occupation"]


# ---- how it is started


@pytest.mark.parametrize("argv", [[], ["demo"]])
def test_the_demo_runs_and_litters_nothing(run, folder, argv):
    done = run(*argv)
    assert done.status == 0
    assert "Adm-clerical       -> {Adm-clerical, Craft-repair}" in done.out
    assert "NMI, share of X kept   1.0000    0.7223" in done.out
    assert list(folder.iterdir()) == []


def test_the_demo_writes_into_a_folder(run_json, folder):
    status, facts = run_json("demo", "--output", "new/folder")
    assert status == 0
    assert facts["written"] == ["new/folder/report.html", "new/folder/adult_sanitised.csv"]
    assert sorted(path.name for path in (folder / "new/folder").iterdir()) == [
        "adult_sanitised.csv",
        "report.html",
    ]
    assert len(pd.read_csv("new/folder/adult_sanitised.csv")) == 32_561


def test_as_a_module_and_without_matplotlib(folder):
    code = (
        "import sys\n"
        "sys.modules['matplotlib'] = None\n"
        "sys.argv = ['skliftpriv', 'demo', '--output', 'out']\n"
        "import runpy\n"
        "runpy.run_module('skliftpriv', run_name='__main__')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "report.html" in done.stdout
    assert (folder / "out" / "report.html").stat().st_size > 10_000


def test_help_and_version(run):
    assert run("--version").out == f"skliftpriv {skliftpriv.__version__}\n"
    helped = run("--help")
    assert helped.status == 0
    for command in ("demo", "sanitize", "curve", "audit", "explain"):
        assert command in helped.out
        assert run(command, "--help").status == 0


# ---- counting in parts


def test_counts_do_not_depend_on_the_size_of_the_parts(folder, adult):
    rows = pd.concat([adult] * 3)
    rows.to_csv("in.csv", index=False)
    console = Console(json=False, progress=False)
    counted = []
    for n_rows in (1, 50_000, 1 << 20):
        args = Namespace(
            input="in.csv", sensitive="relationship", useful=["occupation", "sex"],
            delimiter=None, encoding="utf-8", chunk_rows=n_rows,
        )  # fmt: skip
        with opened(args) as source:
            counted.append(count_rows(source, args, console).counts)
    expected = rows.groupby(["relationship", "occupation", "sex"]).size()
    for counts in counted:
        assert counts.n_rows == len(rows)
        assert counts.useful == counted[0].useful
        assert np.array_equal(counts.counts, counted[0].counts)
        s, x = counts.sensitive.index("Wife"), counts.useful.index(("Sales", "Female"))
        assert counts.counts[s, x] == expected["Wife", "Sales", "Female"]


# ---- curve


def test_the_curve_is_that_of_the_estimators(run_json, small, folder, adult):
    end = ["--epsilons", "0.5", "1", "--mechanism", "subset-merging", "grr"]
    status, facts = run_json("curve", small, *WHICH, *end, "-o", "t.csv", "--picture", "c.png")
    assert status == 0
    assert (folder / "c.png").read_bytes()[:4] == b"\x89PNG"
    table = pd.read_csv("t.csv")
    assert list(table["mechanism"]) == ["subset-merging"] * 2 + ["grr"] * 2
    expected = tradeoff_curve(
        SubsetMergingSanitizer("relationship", "occupation"), adult.head(2000), [0.5, 1.0]
    )
    assert np.allclose(table["nmi"][:2], expected["nmi"])
    assert [row["nmi"] for row in facts["curve"]] == pytest.approx(list(table["nmi"]))
    assert facts["curve"][0]["gap"] is None  # NaN is null


def test_the_curve_as_text(run, small):
    done = run("curve", small, *WHICH, "--epsilons", "1", "0.5", "--mechanism", "watchdog")
    assert [line.split()[0] for line in done.out.splitlines()[1:]] == ["epsilon", "0.5", "1"]


# ---- audit


def test_the_audit_says_what_audit_columns_says(run_json, small, adult):
    status, facts = run_json("audit", small, *WHICH, "--epsilon", "0.5")
    rows = adult.head(2000)
    expected = audit_columns(rows["relationship"], rows["occupation"], LIP(0.5))
    assert status == 1
    assert facts["above_budget"] is True
    assert facts["rows"] == 2000
    bound = facts["bounds"]["max_lift"]
    assert bound["level"] == pytest.approx(expected.bounds["max_lift"].level)
    assert bound["verdict"] == expected.bounds["max_lift"].verdict
    assert facts["bounds"]["min_lift"]["level"] == "inf"
    assert facts["worst"][0]["rows"] == 0
    assert facts["worst"][0]["log_lift"] == "-inf"


def test_what_was_merged_passes_its_audit(run, small, adult):
    # Merging is no drawing: rows show exactly the level that was certified.
    sanitizer = SubsetMergingSanitizer("relationship", "occupation", epsilon=0.5)
    released = sanitizer.fit_transform(adult.head(2000)[["relationship", "occupation"]])
    released.assign(relationship=adult["relationship"].head(2000)).to_csv("r.csv", index=False)
    done = run("audit", "r.csv", *WHICH, "--epsilon", "0.5")
    assert done.status == 0
    assert "within the budget" in done.out


@pytest.mark.parametrize(
    ("fail_on", "statuses"), [("level", (0, 1, 1)), ("violation", (0, 0, 1)), ("doubt", (1, 1, 1))]
)
def test_when_an_audit_fails(run, folder, fail_on, statuses):
    # Few rows within the budget, few rows above it, and many above it.
    files = {
        "within": ["a,1", "a,2", "b,1", "b,2"] * 5,
        "above": ["a,1", "a,1", "b,1", "b,2"] * 2,
        "certain": ["a,1", "a,1", "b,1", "b,2"] * 5_000,
    }
    found = []
    for name, rows in files.items():
        (folder / f"{name}.csv").write_text("\n".join(["s,x", *rows]) + "\n")
        command = ["audit", f"{name}.csv", "--sensitive", "s", "--useful", "x", "--epsilon", "0.3"]
        found.append(run(*command, "--fail-on", fail_on).status)
    assert tuple(found) == statuses


@pytest.mark.parametrize("notion", ["l1", "chi2", "alpha"])
def test_notions_without_intervals_are_audited_by_their_level(run_json, small, notion):
    command = ["audit", small, *WHICH, "--notion", notion, "--epsilon"]
    status, facts = run_json(*command, "0.1", "0.1")
    assert status == 1
    assert set(facts["bounds"]) == {f"{notion}_lift", f"{notion}_lift_inverse"}
    assert run_json(*command, "300", "300")[0] == 1  # the inverse is infinite
    smoothed = ["audit", small, "--sensitive", "sex", "--useful", "relationship"]
    assert run_json(*smoothed, "--notion", notion, "--epsilon", "0.1", "0.1")[0] == 1


# ---- explain


def test_explain_tries_every_mechanism(run_json, run, small):
    command = ["explain", small, *WHICH, "--epsilon", "0.5", "--time-limit", "0.3"]
    status, facts = run_json(*command)
    assert status == 0
    assert facts["data"]["rows"] == 2000
    assert facts["data"]["useful_values"] == 15
    tried = {trial["mechanism"]: trial["nmi"] for trial in facts["mechanisms"]}
    assert set(tried) == {
        "watchdog", "subset-merging", "orr", "srr", "grr", "oue", "conditional",
    }  # fmt: skip
    assert tried["srr"] > tried["subset-merging"] > tried["watchdog"]
    assert facts["recommended"] in tried
    done = run(*command)
    assert "Recommended: " in done.out
    assert done.err == ""


def test_explain_says_what_cannot_be_built(run, small):
    done = run("explain", small, *WHICH, "--useful", "sex", "--notion", "l1")
    assert done.status == 0
    assert "not supported" in done.out
    assert "srlip" in done.out


# ---- JSON


def test_json_is_valid_whatever_the_numbers():
    data = {
        "a": [np.inf, -np.inf, np.nan, np.float64(1), np.int64(2), np.bool_(True), None],
        ("x", "y"): np.array([1.5, np.inf]),
        3: {"deep": (np.nan, "é")},
    }

    def refuse(constant):
        raise AssertionError(constant)

    assert json.loads(as_json(data), parse_constant=refuse) == {
        "a": ["inf", "-inf", None, 1.0, 2, True, None],
        "x & y": [1.5, "inf"],
        "3": {"deep": [None, "é"]},
    }
