"""demo and curve, and how commands are started."""

import json
import subprocess
import sys
from argparse import Namespace

import numpy as np
import pandas as pd
import pytest

import skliftpriv
from skliftpriv import SubsetMergingSanitizer
from skliftpriv.cli._console import Console, as_json
from skliftpriv.cli._counting import count_rows
from skliftpriv.cli._inputs import opened
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
    for n_rows in (1_000, 50_000, 1 << 20):
        args = Namespace(
            input="in.csv", sensitive=["relationship"], useful=["occupation", "sex"],
            delimiter=None, encoding="utf-8", na_value=[], chunk_rows=n_rows,
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
