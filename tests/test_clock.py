"""No test depends on how fast or how busy the machine is."""

import ast
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import skliftpriv
from skliftpriv.solvers import solve

from .clock import WorkClock
from .solvers.problems import alip_problem, random_joint

PACKAGE = Path(skliftpriv.__file__).parent
SEARCHES = [path for room in ("solvers", "mechanisms") for path in (PACKAGE / room).glob("*.py")]


def imported(path):
    """Names of the modules that a file imports, at any depth."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield node.module


def test_only_the_set_up_of_the_tests_knows_the_time():
    knowing = {
        path.name for path in Path(__file__).parent.rglob("*.py") if "time" in imported(path)
    }
    assert knowing == {"conftest.py"}


def test_every_time_limit_is_counted_in_steps():
    timed = [path for path in SEARCHES if "time" in imported(path)]
    assert timed
    for path in timed:
        module = import_module(f"skliftpriv.{path.parent.name}.{path.stem}")
        assert isinstance(module.time, WorkClock)


@pytest.mark.parametrize("limit", [0.05, 0.2])
def test_a_time_limit_stops_after_the_same_work_each_time(limit):
    problem = alip_problem(random_joint(8, 25), 1.0)
    first, second = (solve(problem, method="columns", time_limit=limit) for _ in range(2))
    assert first.status == "time_limit"
    assert first.seconds == second.seconds
    np.testing.assert_array_equal(first.posteriors, second.posteriors)
