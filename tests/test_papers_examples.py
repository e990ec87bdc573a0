"""The scripts that regenerate the papers' figures run, draw, and find what they have to find."""

import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

PAPERS = Path(__file__).parents[1] / "examples" / "papers"
FIGURES = {
    "lift": ("lift", range(1, 16)),
    "watchdog": ("watchdog", range(1, 4)),
    "asymmetric": ("asymmetric", range(1, 5)),
    "privacy_funnel": ("funnel", range(3, 9)),
}
#: A discrepancy that each script has to find, even in a small run.
RECORDED = {
    "lift": "differs: all privacy constraints are satisfied",
    "watchdog": "differs: that setting loses at most half on more than 97 %",
    "asymmetric": "differs: λ = 0.65 increases the utility of all joints",
    "privacy_funnel": "differs: (b) ε/2-LDP keeps more than ε-LIP",
}

needs_scripts = pytest.mark.skipif(not PAPERS.is_dir(), reason="examples/ is not here")


def run(script, *arguments):
    pytest.importorskip("matplotlib", reason="the pictures need matplotlib")
    command = [sys.executable, PAPERS / f"{script}.py", *arguments]
    root = str(PAPERS.parents[1])
    path = os.pathsep.join([root, *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {**os.environ, "PYTHONPATH": path, "PYTHONIOENCODING": "utf-8"}
    return subprocess.run(
        command, capture_output=True, encoding="utf-8", env=environment, check=False
    )


@pytest.fixture(scope="module")
def common():
    """The names of the helper that the scripts share."""
    if not PAPERS.is_dir():
        pytest.skip("examples/ is not here")
    pytest.importorskip("matplotlib", reason="the pictures need matplotlib")
    return runpy.run_path(str(PAPERS / "_common.py"))


@pytest.mark.parametrize(
    ("holds", "instead", "verdict"),
    [
        (True, None, "holds"),
        (False, None, "FAILS"),
        (False, True, "differs"),
        (False, False, "FAILS"),  # what was recorded has changed
        (True, True, "FAILS"),  # the discrepancy has disappeared
        (True, False, "FAILS"),
    ],
)
def test_every_claim_can_fail(common, capsys, holds, instead, verdict):
    checks = common["Checks"]()
    found = None if instead is None else common["Instead"]("what we find", instead)
    checks.claim("what the paper says", holds, "our number", instead=found)
    assert capsys.readouterr().out.startswith(f"- {verdict}: what the paper says")
    assert checks.exit_code() == (verdict == "FAILS")


def test_value_holds_within_three_standard_errors_only(common, capsys):
    checks = common["Checks"]()
    sample = [0.4, 0.6] * 50  # mean 0.5, standard error 0.01005
    checks.value("near", 0.534, sample)
    assert not checks.failures
    checks.value("far", 0.536, sample)
    assert checks.failures == ["far 0.536"]


@needs_scripts
@pytest.mark.slow
@pytest.mark.parametrize("script", FIGURES)
def test_script_draws_all_figures_and_its_claims_hold(script, tmp_path):
    done = run(script, "--quick", "--output", tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    name, numbers = FIGURES[script]
    assert {path.name for path in tmp_path.iterdir()} == {
        f"{name}_figure_{number:02d}.png" for number in numbers
    }
    for picture in tmp_path.iterdir():
        content = picture.read_bytes()
        assert content.startswith(b"\x89PNG")
        assert len(content) > 20_000, f"{picture.name} is nearly empty"
    assert "- holds: " in done.stdout
    assert f"- {RECORDED[script]}" in done.stdout
    assert "FAILS" not in done.stdout
    assert "100%" in done.stderr  # the progress bar


@needs_scripts
@pytest.mark.slow
def test_only_draws_the_chosen_figure(tmp_path):
    done = run("watchdog", "--quick", "--only", "1", "--output", tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["watchdog_figure_01.png"]


@needs_scripts
@pytest.mark.slow
@pytest.mark.parametrize("wrong", ["4", "one"])
def test_only_refuses_what_is_no_figure(wrong, tmp_path):
    done = run("watchdog", "--only", wrong, "--output", tmp_path)
    assert done.returncode == 2
    assert "figures 1, 2" in done.stderr or "there are 1, 2" in done.stderr
