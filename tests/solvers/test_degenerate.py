"""Inputs at the edge: solutions stay sound and the known optimum is found."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from skliftpriv.exceptions import (
    InfeasibleError,
    InvalidDistributionError,
    InvalidParameterError,
    SkliftprivError,
)
from skliftpriv.solvers import PosteriorProblem, _vertices, solve

from ..clock import WorkClock
from .problems import alip_problem, assert_sound, ldp_problem, random_joint

METHODS = ["auto", "column-generation", "vertices"]


def solved(problem, method, **options):
    solution = solve(problem, method=method, **options)
    assert_sound(problem, solution)
    return solution


@pytest.mark.parametrize("method", METHODS)
def test_one_symbol_has_nmi_one(method: str) -> None:
    assert solved(PosteriorProblem([1.0], [[-1.0]]), method).kept == 1.0


@pytest.mark.parametrize("method", METHODS)
def test_no_rows_release_everything(method: str) -> None:
    problem = PosteriorProblem([0.2, 0.3, 0.5], np.zeros((0, 3)))
    solution = solved(problem, method)
    assert solution.kept == 1.0
    assert solution.status == "optimal"
    assert len(solution.weights) == 3


@pytest.mark.parametrize("method", METHODS)
def test_independent_sensitive_releases_everything(method: str) -> None:
    joint = np.outer([0.3, 0.3, 0.4], [0.1, 0.2, 0.3, 0.4])
    assert solved(alip_problem(joint, 0.01), method).kept == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_huge_budget_releases_everything(method: str) -> None:
    joint = random_joint(3, 6)
    assert solved(alip_problem(joint, 100.0), method).kept == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("n_s", [2, 3])
def test_sensitive_function_of_useful(method: str, n_s: int) -> None:
    joint = np.zeros((n_s, 6))
    joint[np.arange(6) % n_s, np.arange(6)] = np.arange(1, 7)
    problem = alip_problem(joint / joint.sum(), 1.0)
    assert solved(problem, method).kept == pytest.approx(solved(problem, "vertices").kept, abs=1e-6)


@pytest.mark.parametrize(
    "eps", [1e-6, *(pytest.param(eps, marks=pytest.mark.slow) for eps in (1e-9, 1e-3))]
)
@pytest.mark.parametrize("notion", [alip_problem, ldp_problem])
def test_tiny_budget(eps: float, notion) -> None:
    # At budget zero the posteriors lie in {L v = 1}; the optimum is continuous in eps.
    limit = solve(alip_problem(random_joint(3, 9), 1e-10), method="vertices").kept
    solution = solved(notion(random_joint(3, 9), eps), "column-generation")
    assert solution.kept == pytest.approx(limit, abs=max(5 * eps, 1e-6))
    assert solution.gap <= 1e-6


def test_vertices_lost_by_cddlib_are_noticed(monkeypatch) -> None:
    original = _vertices.enumerate_vertices
    monkeypatch.setattr(_vertices, "enumerate_vertices", lambda reduced: original(reduced)[::3])
    with pytest.raises(SkliftprivError, match="lost vertices"):
        solve(alip_problem(random_joint(4, 9), 1.0), method="vertices")


@pytest.mark.parametrize("method", METHODS)
def test_more_sensitive_than_useful_values(method: str) -> None:
    problem = alip_problem(random_joint(8, 4), 1.0)
    expected = solve(problem, method="vertices").kept
    assert solved(problem, method).kept == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("seed", range(3))
def test_zero_cells(method: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    joint = random_joint(3, 8, seed) * (rng.random((3, 8)) > 0.4) + 1e-3 * np.eye(3, 8)
    joint = joint[:, joint.sum(axis=0) > 0]
    problem = ldp_problem(joint / joint.sum(), 0.7)
    expected = solve(problem, method="vertices").kept
    assert solved(problem, method).kept == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("method", METHODS)
def test_rare_symbols(method: str) -> None:
    joint = random_joint(3, 7) * np.array([1, 1, 1, 1, 1e-4, 1e-6, 1e-9])
    problem = alip_problem(joint / joint.sum(), 1.0)
    expected = solve(problem, method="vertices").kept
    assert solved(problem, method).kept == pytest.approx(expected, abs=2e-6)


@pytest.mark.parametrize("build", [alip_problem, ldp_problem])
@pytest.mark.parametrize("n_s", [2, 3])
def test_symbols_rarer_than_tolerances_do_not_cost_the_others_anything(build, n_s: int) -> None:
    joint = random_joint(n_s, 6)
    expected = solve(build(joint, 0.8)).kept
    for rare in (1e-11, 1e-13, 1e-18):
        with_rare = np.hstack([joint, rare * random_joint(n_s, 2, seed=1)])
        problem = build(with_rare / with_rare.sum(), 0.8)
        assert solved(problem, "auto").kept == pytest.approx(expected, abs=1e-6)


def test_three_hundred_symbols_within_a_thousand_steps() -> None:
    problem = alip_problem(random_joint(6, 300), 1.0)
    solution = solved(problem, "column-generation", time_limit=1000 * WorkClock.TICK)
    assert solution.seconds < 1010 * WorkClock.TICK
    assert solution.kept > 0.9


@pytest.mark.parametrize(
    ("p_x", "rows", "error"),
    [
        ([0.5, 0.6], [[0.0, 0.0]], InvalidDistributionError),
        ([1.0, 0.0], [[0.0, 0.0]], InvalidDistributionError),
        ([], [], InvalidDistributionError),
        ([0.5, 0.5], [[0.0]], InvalidParameterError),
        ([0.5, 0.5], [[np.inf, 0.0]], InvalidParameterError),
        ([0.5, 0.5], [[1.0, 1.0]], InfeasibleError),
    ],
)
def test_malformed_problems_are_refused(p_x, rows, error) -> None:
    with pytest.raises(error):
        PosteriorProblem(p_x, rows)


@pytest.mark.parametrize("options", [{"method": "magic"}, {"gap": -1.0}, {"time_limit": 0.0}])
def test_malformed_options_are_refused(options) -> None:
    with pytest.raises(InvalidParameterError):
        solve(PosteriorProblem([0.5, 0.5], [[1.0, -1.0]]), **options)


def test_missing_cddlib_is_explained(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "cdd", None)
    problem = alip_problem(random_joint(3, 4), 1.0)
    with pytest.raises(SkliftprivError, match="pycddlib"):
        solve(problem, method="vertices")
    assert solve(problem).status in ("optimal", "gap_reached")
