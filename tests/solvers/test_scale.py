"""Problems far beyond vertex enumeration are certified, or bounded, in time."""

from __future__ import annotations

import pytest

from skliftpriv.solvers import solve

from .problems import alip_problem, assert_sound, random_joint


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n_x", "n_s", "expected", "seconds"),
    [
        (50, 5, 0.957746, 10),
        (20, 15, 0.870258, 15),
        (30, 15, 0.886167, 30),
        (100, 5, 0.966009, 30),
        (60, 10, 0.930435, 30),
    ],
)
def test_certified_in_seconds(n_x: int, n_s: int, expected: float, seconds: float) -> None:
    problem = alip_problem(random_joint(n_s, n_x), 2.0)
    solution = solve(problem, time_limit=seconds)
    assert_sound(problem, solution)
    assert solution.gap <= 1e-6
    assert solution.nmi == pytest.approx(expected, abs=2e-6)


@pytest.mark.slow
@pytest.mark.parametrize(("eps", "nmi"), [(1.0, 0.877), (2.0, 0.932), (4.0, 0.97)])
def test_200x15_in_ten_seconds_beats_the_heuristics(eps: float, nmi: float) -> None:
    problem = alip_problem(random_joint(15, 200), eps)
    solution = solve(problem, time_limit=10.0)
    assert_sound(problem, solution)
    assert solution.nmi >= nmi


@pytest.mark.slow
@pytest.mark.parametrize("eps", [1.0, 2.0, 4.0])
def test_200x15_in_two_minutes_has_a_small_gap(eps: float) -> None:
    problem = alip_problem(random_joint(15, 200), eps)
    solution = solve(problem, time_limit=120.0)
    assert_sound(problem, solution)
    assert solution.gap <= 0.015


@pytest.mark.slow
@pytest.mark.parametrize("eps", [0.5, 1.0, 2.0])
def test_binary_sensitive_with_2000_symbols(eps: float) -> None:
    problem = alip_problem(random_joint(2, 2000), eps)
    solution = solve(problem, time_limit=30.0)
    assert_sound(problem, solution)
    assert solution.gap <= 1e-6
