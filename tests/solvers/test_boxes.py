"""The linear bounds on boxes are valid: the certificate rests on them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from skliftpriv.solvers._boxes import box_minimum, chord, linear_bound, tighten
from skliftpriv.solvers._image import Scale, entropy, plogp
from skliftpriv.solvers._partition import Partition
from skliftpriv.solvers._presolve import reduce_problem
from skliftpriv.solvers._pricing import first_columns
from skliftpriv.solvers._state import SolverState

from .problems import alip_problem, random_joint


def values(partition: Partition, box: int, points: np.ndarray) -> np.ndarray:
    """Return the linear bound of a box at posteriors, infinite outside of the box."""
    inside = (points >= partition.lower[box] - 1e-9) & (points <= partition.upper[box] + 1e-9)
    return np.where(
        inside.all(axis=1) & partition.alive[box],
        points @ partition.costs(np.array([box]))[0],
        np.inf,
    )


def evaluate(partition: Partition, box: int) -> np.ndarray | None:
    """Solve the LP of a box."""
    points, solved = partition.evaluate(np.array([box]))
    return points[0] if solved[0] else None


def random_boxes(rng: np.random.Generator, count: int, n: int):
    """Return boxes with a posterior inside each of them."""
    points = rng.dirichlet(np.full(n, 0.5), count)
    lower = points * np.where(rng.random((count, n)) < 0.5, 0.0, rng.random((count, n)))
    upper = points + (1 - points) * rng.random((count, n)) ** 2
    return lower, upper, rng.random((count, n)) < 0.6, points


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1))
def test_chord_lies_below_the_function(a: float, b: float, share: float) -> None:
    lower, upper = np.array([min(a, b)]), np.array([max(a, b)])
    slope, intercept = chord(lower, upper)
    t = lower + share * (upper - lower)
    assert slope * t + intercept <= plogp(t) + 1e-12


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 9))
def test_linear_bound_lies_below_the_entropy(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    lower, upper, tail, points = random_boxes(rng, 20, n)
    lower, upper = tighten(lower, upper)
    assert np.all(points >= lower - 1e-12)
    assert np.all(points <= upper + 1e-12)
    tail &= lower == 0
    cost = linear_bound(lower, upper, tail, rng.random(20) < 0.5)
    assert np.all((cost * points).sum(axis=1) <= entropy(points) + 1e-12)


@pytest.mark.parametrize("seed", range(10))
def test_box_minimum_equals_linear_program(seed: int) -> None:
    rng = np.random.default_rng(seed)
    lower, upper, _, _ = random_boxes(rng, 1, 7)
    cost = rng.standard_normal((1, 7))
    expected = linprog(
        cost[0], A_eq=np.ones((1, 7)), b_eq=[1.0], bounds=np.column_stack([lower[0], upper[0]])
    ).fun
    assert box_minimum(cost, lower, upper)[0] == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_partition_covers_and_bounds_every_posterior(seed: int) -> None:
    rng = np.random.default_rng(seed)
    problem = alip_problem(random_joint(4, 8, seed), 1.0)
    reduced = reduce_problem(problem)
    lp = reduced.polytope()
    partition = Partition(reduced, np.ones(8))
    vertices = np.array([lp.minimise(rng.standard_normal(8)).v for _ in range(100)])
    points = np.vstack([vertices, rng.dirichlet(np.ones(100), 200) @ vertices])
    for _ in range(20):
        alive = np.flatnonzero(partition.alive[: partition.size])
        boxes = rng.choice(alive, size=min(3, alive.size), replace=False)
        partition.split(boxes, points[rng.integers(len(points), size=boxes.size)])
    prices = rng.random(8)
    for box in partition.refresh(prices, 10.0):
        evaluate(partition, box)
    boxes = range(partition.size)
    lowest = np.min([values(partition, box, points) for box in boxes], axis=0)
    assert np.all(lowest <= entropy(points) + 1e-9)  # infinite if a point were uncovered
    assert partition.lowest() <= (entropy(points) - points @ prices).min() + 1e-9
    # Stale multipliers still bound at other prices.
    other = prices + 0.3 * rng.standard_normal(8)
    partition.refresh(other, 10.0)
    assert partition.lowest() <= (entropy(points) - points @ other).min() + 1e-9


def small_partition(seed: int) -> Partition:
    """Return a partition with some boxes that miss the polytope."""
    reduced = reduce_problem(alip_problem(random_joint(4, 8, seed), 0.6))
    partition = Partition(reduced, np.ones(8))
    points = np.random.default_rng(seed).dirichlet(np.full(8, 0.3), 30)
    for point in points:
        inside = [
            b for b in range(partition.size) if np.isfinite(values(partition, b, point[None]))
        ]
        partition.split(np.array(inside[:1]), point[None])
    partition.refresh(np.zeros(8), np.inf)
    return partition


def misses_polytope(partition: Partition, box: int) -> bool:
    """Ask another solver."""
    reduced = partition._reduced
    rows = np.vstack([reduced.directions, -reduced.directions])
    ends = np.concatenate([reduced.hi, -reduced.lo])
    return (
        linprog(
            np.zeros(8),
            A_ub=rows[np.isfinite(ends)],
            b_ub=ends[np.isfinite(ends)],
            A_eq=np.ones((1, 8)),
            b_eq=[1.0],
            bounds=np.column_stack([partition.lower[box], partition.upper[box]]),
        ).status
        == 2
    )


@pytest.mark.parametrize("seed", range(3))
def test_exactly_the_boxes_that_miss_the_polytope_are_dropped(seed: int) -> None:
    partition = small_partition(seed)
    alive = np.flatnonzero(partition.alive[: partition.size])
    expected = [misses_polytope(partition, box) for box in alive]
    dropped = [evaluate(partition, box) is None for box in alive]
    assert dropped == expected
    assert any(expected)
    assert (~partition.alive[alive] == expected).all()


def test_a_box_wrongly_called_empty_keeps_its_bound(monkeypatch) -> None:
    partition = small_partition(0)
    alive = np.flatnonzero(partition.alive[: partition.size])
    before = partition.bound[alive].copy()
    monkeypatch.setattr(partition._lp, "minimise", lambda *args: None)
    for box in alive:
        assert evaluate(partition, box) is None
    assert partition.alive[alive].all()
    np.testing.assert_array_equal(partition.bound[alive], before)


@pytest.mark.parametrize("eps", [1e-8, 0.5, 2.0])
def test_largest_entries_bound_the_polytope(eps: float) -> None:
    reduced = reduce_problem(alip_problem(random_joint(4, 9), eps))
    lp = reduced.polytope()
    _, largest = first_columns(reduced, lp, SolverState(Scale(1.0, 0.0), 1e-6, None, False))
    reached = np.array([lp.minimise(-np.eye(9)[x]).v[x] for x in range(9)])
    assert np.all(largest >= np.minimum(reached, 1.0))
    np.testing.assert_allclose(largest, reached, atol=1e-6)
