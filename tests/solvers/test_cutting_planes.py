"""Rows on demand: the same optimum as with all rows listed, and an honest bound before it."""

import numpy as np
import pytest

from skliftpriv.solvers import PosteriorProblem, _cutting_planes, solve

from .problems import alip_problem, assert_sound, ldp_problem, random_joint


def on_demand(problem, most=None):
    """Hide the rows of a problem: a posterior is told the ``most`` sharpest ones only."""
    rows = problem.rows

    def separate(v):
        order = np.argsort(-(rows @ v))
        return rows[order[:most]]

    return PosteriorProblem(problem.p_x, np.zeros((0, problem.n_symbols)), separate)


PROBLEMS = {
    "alip 2x5": alip_problem(random_joint(2, 5, 1), 1.0),
    "alip 3x6": alip_problem(random_joint(3, 6, 2), 0.6, 0.65),
    "alip 4x7": alip_problem(random_joint(4, 7, 3), 1.0),
    "ldp 3x6": ldp_problem(random_joint(3, 6, 4), 0.5),
}
each_problem = pytest.mark.parametrize("problem", PROBLEMS.values(), ids=PROBLEMS)


@each_problem
@pytest.mark.parametrize("most", [1, None], ids=["one row at a time", "all rows"])
def test_the_optimum_is_that_of_the_listed_rows(problem, most):
    listed = solve(problem, method="vertices")
    found = solve(on_demand(problem, most), gap=1e-6)
    assert_sound(problem, found)
    assert found.kept == pytest.approx(listed.kept, abs=2e-6)
    assert found.upper_bound >= listed.kept - 1e-9
    assert found.status in ("optimal", "gap_reached")


@each_problem
def test_forgetting_rows_changes_nothing_but_the_time(problem, monkeypatch):
    monkeypatch.setattr(_cutting_planes, "_MOST_ROWS", 6)
    found = solve(on_demand(problem, 1), gap=1e-4)
    listed = solve(problem, method="vertices")
    assert_sound(problem, found)
    assert found.kept <= listed.kept + 1e-9
    assert found.kept >= listed.kept - 1e-3
    assert found.upper_bound >= listed.kept - 1e-9


@each_problem
def test_the_bound_is_valid_when_time_is_short(problem):
    listed = solve(problem, method="vertices")
    found = solve(on_demand(problem, 1), time_limit=1e-3)
    assert_sound(problem, found)
    assert found.upper_bound >= listed.kept - 1e-9
    assert 0 < found.kept <= listed.kept + 1e-9  # there is a mechanism from the start
    assert found.status == "time_limit"


@each_problem
def test_the_bound_reaches_the_optimum_from_above_without_the_search(problem, monkeypatch):
    # With nothing found but the prior, the rows alone have to say what is possible.
    monkeypatch.setattr(_cutting_planes, "price_heuristically", lambda *_: None)
    monkeypatch.setattr(_cutting_planes, "_rays", lambda problem: problem.p[None])
    monkeypatch.setattr(_cutting_planes, "_favourites", lambda lp, p, state: p[None])
    monkeypatch.setattr(_cutting_planes, "descend", lambda *_: (problem.p_x, 0.0))
    found = solve(on_demand(problem, 1), gap=1e-6)
    optimum = solve(problem, method="vertices").kept
    assert found.kept < 1e-6
    assert optimum - 1e-9 <= found.upper_bound <= optimum + 1e-4


def test_only_broken_rows_are_taken_in():
    rows = np.array([[1.0, -1.0, 0.0], [0.0, 4.0, -4.0]])
    problem = _cutting_planes.CutProblem(
        PosteriorProblem([0.2, 0.3, 0.5], rows[:0], lambda v: rows)
    )
    np.testing.assert_array_equal(problem.broken_rows(np.array([0.2, 0.3, 0.5])), rows[:0])
    # Rows are scaled to entries of at most 1.
    np.testing.assert_array_equal(problem.broken_rows(np.array([0.0, 0.9, 0.1])), rows[1:] / 4)
    violations = problem.violation(np.array([[0.2, 0.3, 0.5], [0.9, 0.1, 0.0]]))
    np.testing.assert_allclose(violations, [0.0, 0.8])


def test_no_row_that_bites_releases_everything():
    rows = np.array([[-1.0, -1.0, -1.0]])
    problem = PosteriorProblem([0.2, 0.3, 0.5], rows[:0], lambda v: rows)
    found = solve(problem)
    assert (found.kept, found.upper_bound) == (pytest.approx(1.0), pytest.approx(1.0))


def test_an_interrupt_returns_the_best_so_far(monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(_cutting_planes, "_bound", interrupted)
    problem = PROBLEMS["alip 3x6"]
    found = solve(on_demand(problem), gap=1e-9)
    assert_sound(problem, found)
    assert found.status == "interrupted"
    assert found.kept > 0.1
