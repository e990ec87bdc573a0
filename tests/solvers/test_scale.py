"""Problems far beyond vertex enumeration are certified, or bounded from both sides."""

from __future__ import annotations

import pytest

from skliftpriv.solvers import solve

from .problems import alip_problem, assert_sound, random_joint


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n_x", "n_s", "eps", "expected"),
    [
        (50, 5, 2.0, 0.957746),
        (20, 15, 2.0, 0.870258),
        (30, 15, 2.0, 0.886167),
        (100, 5, 2.0, 0.966009),
        (60, 10, 2.0, 0.930435),
        (200, 15, 4.0, 0.982171),
    ],
)
def test_large_problems_are_certified(n_x: int, n_s: int, eps: float, expected: float) -> None:
    problem = alip_problem(random_joint(n_s, n_x), eps)
    solution = solve(problem)
    assert_sound(problem, solution)
    assert solution.gap <= 1e-6
    assert solution.kept == pytest.approx(expected, abs=2e-6)


@pytest.mark.slow
@pytest.mark.parametrize(("eps", "optimum"), [(1.0, None), (2.0, 0.932306)])
def test_200x15_is_bounded_from_both_sides(eps: float, optimum: float | None) -> None:
    problem = alip_problem(random_joint(15, 200), eps)
    solution = solve(problem, time_limit=8.0)
    assert_sound(problem, solution)
    assert 0.86 < solution.kept < solution.upper_bound < 0.99
    if optimum is not None:
        assert solution.kept <= optimum + 2e-6 <= solution.upper_bound + 4e-6


@pytest.mark.slow
@pytest.mark.parametrize("eps", [0.5, 1.0, 2.0])
def test_binary_sensitive_with_2000_symbols(eps: float) -> None:
    problem = alip_problem(random_joint(2, 2000), eps)
    solution = solve(problem)
    assert_sound(problem, solution)
    assert solution.gap <= 1e-6
