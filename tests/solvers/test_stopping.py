"""Stopping early: by gap, by time, by keyboard; and what is shown meanwhile."""

from __future__ import annotations

import numpy as np
import pytest

from skliftpriv.solvers import PosteriorProblem, _bound, _pricing, _vertices, solve
from skliftpriv.solvers._lp import MasterLP
from skliftpriv.solvers._state import SolverState

from ..clock import WorkClock
from .problems import alip_problem, assert_sound, random_joint


def test_requested_gap_is_met_and_not_overstated() -> None:
    problem = alip_problem(random_joint(5, 12), 1.0)
    rough = solve(problem, method="column-generation", gap=0.02)
    exact = solve(problem, method="column-generation")
    assert rough.gap <= 0.02
    assert rough.n_nodes < exact.n_nodes
    assert rough.upper_bound >= exact.kept - 1e-9
    assert_sound(problem, rough)


@pytest.mark.parametrize("limit", [1e-6, 0.05, 0.5])  # 1, 52 and 512 steps
def test_time_limit_gives_sound_solution_and_valid_bound(limit: float) -> None:
    problem = alip_problem(random_joint(10, 60), 2.0)
    solution = solve(problem, method="column-generation", time_limit=limit)
    assert_sound(problem, solution)
    assert solution.seconds < limit + 10 * WorkClock.TICK
    assert solution.upper_bound >= 0.930434
    assert solution.status == "time_limit"


def test_a_search_that_ends_within_its_limits_does_not_blame_the_clock() -> None:
    scale = alip_problem(random_joint(3, 6), 1.0).scale
    unlimited = SolverState(scale, 1e-6, None, verbose=False)
    assert unlimited.status(0.1) == "no_progress"
    assert unlimited.status(1e-6) == "gap_reached"
    assert unlimited.status(1e-12) == "optimal"
    unlimited.full = True
    assert unlimited.status(0.1) == "memory_limit"
    assert SolverState(scale, 1e-6, 1e-9, verbose=False).status(0.1) == "time_limit"


def test_upper_bound_bounds_what_more_time_finds() -> None:
    problem = alip_problem(random_joint(8, 25), 1.0)
    late = solve(problem, method="column-generation", time_limit=3.0)
    for limit in (0.1, 0.3, 0.6, 1.0):
        early = solve(problem, method="column-generation", time_limit=limit)
        assert early.n_nodes < late.n_nodes
        assert early.kept <= late.upper_bound
        assert late.kept <= early.upper_bound


def test_pair_pricing_without_time_still_releases_something() -> None:
    problem = alip_problem(random_joint(2, 400), 1.0)
    solution = solve(problem, time_limit=1e-6)
    assert_sound(problem, solution)
    assert solution.kept > 0.9


def test_no_time_for_a_bound_means_upper_bound_one() -> None:
    problem = alip_problem(random_joint(10, 60), 2.0)
    assert solve(problem, method="column-generation", time_limit=1e-6).upper_bound == 1.0


@pytest.mark.parametrize(
    ("where", "after"), [("pricing", 1), ("pricing", 100), ("bound", 1), ("bound", 3)]
)
def test_keyboard_interrupt_returns_the_best_so_far(monkeypatch, after: int, where: str) -> None:
    calls = {"left": after}
    module = _pricing if where == "pricing" else _bound
    original = module.descend

    def interrupting(*args):
        calls["left"] -= 1
        if calls["left"] == 0:
            raise KeyboardInterrupt
        return original(*args)

    monkeypatch.setattr(module, "descend", interrupting)
    problem = alip_problem(random_joint(10, 40), 1.0)
    solution = solve(problem, method="column-generation")
    assert_sound(problem, solution)
    assert solution.status == "interrupted"
    assert solution.upper_bound >= solve(problem, method="column-generation", gap=1e-3).kept


@pytest.mark.parametrize("after", [2, 5, 9])
def test_interrupt_while_weights_are_solved(monkeypatch, after: int) -> None:
    original, calls = MasterLP.solve, {"left": after}

    def interrupting(self):
        calls["left"] -= 1
        if calls["left"] == 0:
            raise KeyboardInterrupt
        return original(self)

    monkeypatch.setattr(MasterLP, "solve", interrupting)
    problem = alip_problem(random_joint(10, 40), 1.0)
    solution = solve(problem, method="column-generation")
    assert_sound(problem, solution)
    assert solution.status == "interrupted"


def test_interrupt_of_enumeration_is_raised(monkeypatch) -> None:
    def interrupting(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr(_vertices, "enumerate_vertices", interrupting)
    with pytest.raises(KeyboardInterrupt):
        solve(alip_problem(random_joint(3, 6), 1.0), method="vertices")


def test_interrupt_of_pair_pricing(monkeypatch) -> None:
    from skliftpriv.solvers._pairs import PairPricer

    def interrupting(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr(PairPricer, "price", interrupting)
    problem = alip_problem(random_joint(2, 40), 1.0)
    solution = solve(problem)
    assert_sound(problem, solution)
    assert solution.status == "interrupted"
    assert solution.upper_bound == 1.0


def test_progress_line_is_shown_only_on_request(capsys) -> None:
    problem = alip_problem(random_joint(3, 6), 1.0)
    solve(problem, method="column-generation")
    assert capsys.readouterr().err == ""
    solve(problem, method="column-generation", verbose=True)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "upper bound" in shown.err


@pytest.mark.parametrize("method", ["auto", "column-generation", "vertices"])
def test_progress_line_of_a_single_symbol(capsys, method: str) -> None:
    solve(PosteriorProblem([1.0], [[-1.0]]), method=method, verbose=True)
    assert "kept 1.000000  upper bound 1.000000" in capsys.readouterr().err


def test_same_seed_same_solution() -> None:
    problem = alip_problem(random_joint(4, 10), 1.0)
    first, second = (solve(problem, method="column-generation", random_state=3) for _ in range(2))
    np.testing.assert_array_equal(first.posteriors, second.posteriors)


def test_of_little_information_rounding_errors_are_a_large_share() -> None:
    """The search ends at 1e-9 nats, whatever share they are, and says so."""
    scale = alip_problem(random_joint(3, 6), 1.0).scale
    little = scale._replace(everything=scale.constant - 1e-6)
    state = SolverState(little, 1e-6, None, verbose=False)
    state.improve_bound(little.everything + 2e-7)
    assert state.status(5e-4) == "no_progress"
    assert state.most_kept == pytest.approx(0.801, abs=1e-5)
    assert SolverState(little, 1e-3, None, verbose=False).status(5e-4) == "gap_reached"
