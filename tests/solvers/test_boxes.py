"""The linear bounds on boxes are valid: the certificate rests on them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from skliftpriv.solvers._boxes import box_minimum, chord, linear_bound, tighten
from skliftpriv.solvers._partition import Partition
from skliftpriv.solvers._presolve import reduce_problem
from skliftpriv.solvers._problem import entropy, plogp

from .problems import alip_problem, random_joint


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
    cost, constant = linear_bound(lower, upper, tail, rng.dirichlet(np.ones(n), 20))
    assert np.all((cost * points).sum(axis=1) + constant <= entropy(points) + 1e-12)


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
    partition = Partition(reduced, lp, np.ones(8))
    vertices = np.array([lp.minimise(rng.standard_normal(8)).v for _ in range(100)])
    points = np.vstack([vertices, rng.dirichlet(np.ones(100), 200) @ vertices])
    for _ in range(20):
        alive = np.flatnonzero(partition.alive[: partition.size])
        boxes = rng.choice(alive, size=min(3, alive.size), replace=False)
        partition.split(boxes, points[rng.integers(len(points), size=boxes.size)])
    prices = rng.random(8)
    for box in partition.refresh(prices, 10.0):
        partition.evaluate(box)
    boxes = range(partition.size)
    lowest = np.min([partition.values(box, points) for box in boxes], axis=0)
    assert np.all(lowest <= entropy(points) + 1e-9)  # infinite if a point were uncovered
    assert partition.lowest() <= (entropy(points) - points @ prices).min() + 1e-9
    # Stale multipliers still bound at other prices.
    other = prices + 0.3 * rng.standard_normal(8)
    partition.refresh(other, 10.0)
    assert partition.lowest() <= (entropy(points) - points @ other).min() + 1e-9
