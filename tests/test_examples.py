"""The examples run, say what they found, and draw it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"
SCRIPTS = sorted(path.stem for path in EXAMPLES.glob("*.py") if not path.name.startswith("_"))


def run(script, *arguments):
    root = str(EXAMPLES.parent)
    path = os.pathsep.join([root, *filter(None, [os.environ.get("PYTHONPATH")])])
    settings = {"PYTHONPATH": path, "PYTHONIOENCODING": "utf-8", "MPLBACKEND": "Agg"}
    return subprocess.run(
        [sys.executable, EXAMPLES / f"{script}.py", *arguments],
        capture_output=True,
        encoding="utf-8",
        env={**os.environ, **settings},
        check=False,
    )


@pytest.mark.slow
@pytest.mark.skipif(not EXAMPLES.is_dir(), reason="examples/ is not here")
@pytest.mark.parametrize("script", SCRIPTS)
def test_example_runs_prints_and_draws(script, tmp_path):
    pytest.importorskip("matplotlib", reason="the pictures need matplotlib")
    from matplotlib.image import imread

    done = run(script, "--output", tmp_path / "new" / "folder")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Warning" not in done.stderr
    pictures = list((tmp_path / "new" / "folder").iterdir())
    assert [picture.name for picture in pictures] == [f"{script}.png"]
    said = [line for line in done.stdout.splitlines() if str(tmp_path) not in line]
    assert any(line.strip() for line in said)
    pixels = imread(pictures[0])[..., :3]
    assert min(pixels.shape[:2]) > 300
    assert pixels.var() > 1e-3, "the picture is blank"
    # Lines, not only a frame: some colour, and dark text.
    assert (pixels.max(axis=-1) - pixels.min(axis=-1)).max() > 0.3
    assert pixels.min() < 0.2


@pytest.mark.slow
@pytest.mark.skipif(not EXAMPLES.is_dir(), reason="examples/ is not here")
def test_whole_tables_are_compared_and_promises_checked(tmp_path):
    results = tmp_path / "results.csv"
    done = run("benchmarks/whole_table", "--quick", "--out", results)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "## adult/sex" in done.stdout
    assert "the certificate holds in 100% of" in done.stdout
    assert "Our frontier, all methods" in done.stdout
    again = run("benchmarks/whole_table", "--quick", "--out", results)
    assert again.stdout == done.stdout  # nothing was measured again
