"""Closed forms over boxes of probabilities, against linear programs and brute force."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from skliftpriv.measures._range import (
    Box,
    extreme_distributions,
    lift_range,
    mean_range,
    one_against,
    quotient,
)

from ..strategies import SEEDS


@st.composite
def boxes(draw, n_boxes=1, max_symbols=5, min_symbols=1):
    """Boxes of positive width around random distributions, some bounds at 0 or 1."""
    rng = np.random.default_rng(draw(SEEDS))
    size = draw(st.integers(min_symbols, max_symbols))
    centre = rng.dirichlet(np.full(size, 0.7), n_boxes)
    width = draw(st.sampled_from([0.0, 0.05, 0.3, 1.0]))
    low = np.maximum(centre - width * rng.random(centre.shape), 0.0)
    high = np.minimum(centre + width * rng.random(centre.shape), 1.0)
    return Box(low, high)


@st.composite
def means(draw):
    """A box and values with ties and zeros among them."""
    box = draw(boxes())
    values = st.integers(0, 5) if draw(st.booleans()) else st.floats(0, 1)
    size = box.low.shape[1]
    return box, np.array(draw(st.lists(values, min_size=size, max_size=size)), dtype=float)


def vertices(low, high):
    """All vertices of a box cut by the simplex: at most one entry lies between its bounds."""
    found = set()
    for free in range(low.size):
        for ends in product((0, 1), repeat=low.size - 1):
            others = np.delete(np.arange(low.size), free)
            point = np.empty(low.size)
            point[others] = np.where(ends, high[others], low[others])
            point[free] = 1 - point[others].sum()
            if low[free] - 1e-12 <= point[free] <= high[free] + 1e-12:
                found.add(tuple(point))
    return np.array(sorted(found))


def inside(box, seed, n=20):
    """Random distributions within a box: mixtures of its vertices."""
    corners = vertices(box.low[0], box.high[0])
    return np.random.default_rng(seed).dirichlet(np.full(len(corners), 0.5), n) @ corners


@settings(max_examples=50)
@given(means())
def test_means_equal_those_of_a_linear_program(case):
    box, values = case
    smallest, largest = mean_range(values[:, None], box)
    for sign, found in ((1, smallest), (-1, largest)):
        program = linprog(
            sign * values,
            A_eq=np.ones((1, values.size)),
            b_eq=[1.0],
            bounds=np.column_stack([box.low[0], box.high[0]]),
        )
        assert found[0, 0] == pytest.approx(sign * program.fun, abs=1e-9)


@settings(max_examples=50)
@given(means())
def test_the_extreme_distributions_are_distributions_within_the_box(case):
    box, values = case
    for extreme in extreme_distributions(values[:, None], box):
        found = extreme[0, :, 0]
        assert found.sum() == pytest.approx(1.0, abs=1e-12)
        assert (found >= box.low[0] - 1e-12).all()
        assert (found <= box.high[0] + 1e-12).all()


def test_several_boxes_and_means_are_done_one_by_one():
    rng = np.random.default_rng(0)
    centre = rng.dirichlet(np.ones(6), 4)
    box = Box(0.8 * centre, np.minimum(1.3 * centre, 1.0))
    values = rng.random((6, 3))
    low, high = mean_range(values, box)
    assert low.shape == high.shape == (4, 3)
    for s, y in np.ndindex(4, 3):
        alone = Box(box.low[s : s + 1], box.high[s : s + 1])
        one = mean_range(values[:, y : y + 1], alone)
        assert (low[s, y], high[s, y]) == pytest.approx((one[0][0, 0], one[1][0, 0]), abs=1e-15)


@st.composite
def releases(draw, max_s=3):
    """Bounds of P(x|s), bounds of P(s), and a channel with three outputs."""
    n_s = draw(st.integers(2, max_s))
    conditional = draw(boxes(n_boxes=n_s, max_symbols=4, min_symbols=2))
    prior = draw(boxes(max_symbols=n_s, min_symbols=n_s))
    low = np.maximum(prior.low[0], 1e-3 * prior.high[0])
    rng = np.random.default_rng(draw(SEEDS))
    channel = rng.dirichlet(np.full(3, 0.5), conditional.low.shape[1])
    return conditional, Box(low, prior.high[0]), channel


def all_lifts(conditional, prior, channel):
    """Lifts for every choice of vertices of the rows and of the prior."""
    rows = [
        vertices(low, high) @ channel
        for low, high in zip(conditional.low, conditional.high, strict=True)
    ]
    given_s = np.array([np.array(choice) for choice in product(*rows)])
    priors = vertices(prior.low, prior.high)
    p_y = np.einsum("ps,rsy->pry", priors, given_s)[:, :, None, :]
    return (given_s[None] / p_y).reshape(-1, *given_s.shape[1:])


@settings(max_examples=40)
@given(releases())
def test_lifts_equal_brute_force_over_all_vertices(case):
    conditional, prior, channel = case
    smallest, largest = lift_range(*mean_range(channel, conditional), prior)
    lifts = all_lifts(conditional, prior, channel)
    np.testing.assert_allclose(smallest, lifts.min(axis=0), rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(largest, lifts.max(axis=0), rtol=1e-7, atol=1e-9)


@settings(max_examples=40)
@given(releases(), SEEDS)
def test_no_member_has_a_lift_outside_the_range(case, seed):
    conditional, prior, channel = case
    smallest, largest = lift_range(*mean_range(channel, conditional), prior)
    rows = [
        inside(Box(low[None], high[None]), seed)
        for low, high in zip(conditional.low, conditional.high, strict=True)
    ]
    given_s = np.stack(rows, axis=1) @ channel
    p_y = np.einsum("ns,nsy->ny", inside(prior.alone, seed), given_s)
    lifts = given_s / p_y[:, None, :]
    assert (lifts >= smallest - 1e-9).all()
    assert (lifts <= largest * (1 + 1e-9) + 1e-9).all()


@settings(max_examples=50)
@given(SEEDS)
def test_whole_numbers_give_the_same_range_without_rounding(seed):
    rng = np.random.default_rng(seed)
    one = 1000
    centre = rng.multinomial(one, rng.dirichlet(np.ones(4)), size=3)
    low = np.maximum(centre - rng.integers(0, 200, centre.shape), 0)
    high = np.minimum(centre + rng.integers(0, 200, centre.shape), one)
    p = rng.multinomial(one, [0.2, 0.3, 0.5])
    p_low, p_high = np.maximum(p - 50, 1), p + 50
    values = rng.integers(0, 9, (4, 2))
    exact = lift_range(
        *mean_range(values.astype(object), Box(low.astype(object), high.astype(object), one)),
        Box(p_low.astype(object), p_high.astype(object), one),
    )
    floats = lift_range(
        *mean_range(values.astype(float), Box(low / one, high / one)),
        Box(p_low / one, p_high / one),
    )
    for precise, rounded in zip(exact, floats, strict=True):
        assert {type(value) for value in precise.ravel()} <= {Fraction, int}
        np.testing.assert_allclose(precise.astype(float), rounded, rtol=1e-9, atol=1e-12)


def test_one_against_has_the_own_entry_on_the_diagonal():
    own, others = np.array([[1, 2], [3, 4]]), np.array([[5, 6], [7, 8]])
    # Columns: (s=0, y=0), (s=0, y=1), (s=1, y=0), (s=1, y=1).
    np.testing.assert_array_equal(one_against(own, others), [[1, 2, 5, 6], [7, 8, 3, 4]])


@pytest.mark.parametrize("dtype", [float, object])
def test_an_output_that_never_occurs_has_lift_one(dtype):
    found = quotient(np.array([[0, 3]], dtype=dtype), np.array([[0, 2]], dtype=dtype))
    assert list(found[0]) == [1, Fraction(3, 2)]


@pytest.mark.parametrize("dtype", [float, object])
def test_a_lift_without_bound_is_infinite(dtype):
    # P(s) may be as small as one likes, and s alone releases the output.
    high = np.array([[1], [0]], dtype=dtype)
    low = np.array([[0], [0]], dtype=dtype)
    prior = Box(np.array([0, 0], dtype=dtype), np.array([1, 1], dtype=dtype), 1)
    smallest, largest = lift_range(low, high, prior)
    assert largest[0, 0] == np.inf
    assert smallest[1, 0] == 0
