import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from skliftpriv import measures
from skliftpriv.exceptions import InvalidParameterError

from ..strategies import count_tables

# P_S = (1/2, 1/2); lifts are (3/2, 1/2), (1, 1) and (0, 2).
JOINT = np.array([[3, 2, 0], [1, 2, 2]]) / 10


def test_breach_probability_by_hand():
    def total(lower, upper=None):
        return measures.breach_probability(JOINT, lower, upper)

    np.testing.assert_allclose(total(0), [0.4, 0.0, 0.2])
    np.testing.assert_allclose(total(math.log(1.6)), [0.1, 0.0, 0.2])
    np.testing.assert_allclose(total(10, math.log(1.6)), [0.0, 0.0, 0.2])
    np.testing.assert_allclose(total(math.log(1.6), 10), [0.1, 0.0, 0.0])
    # The pair (0, 2) has lift 0, but it never occurs.
    np.testing.assert_allclose(total(0.7), [0.0, 0.0, 0.0])


def test_breach_probability_of_some_columns_needs_the_prior():
    value = measures.breach_probability(JOINT[:, 2:], 0.5, p_s=[0.5, 0.5])
    np.testing.assert_allclose(value, [0.2])


@given(count_tables(), st.integers(0, 30), st.integers(0, 30))
def test_breach_probability_is_the_mass_of_the_pairs_outside_the_band(counts, below, above):
    """With whole numbers only: the lift of a cell is c n / (row column)."""
    table, n = counts.tolist(), int(counts.sum())
    rows, columns = counts.sum(axis=1).tolist(), counts.sum(axis=0).tolist()
    # Bounds between two lifts of such tables, so that rounding decides nothing.
    low = Fraction(1, 1 + below) - Fraction(1, 10**7)
    high = 1 + above + Fraction(1, 10**7)
    expected = []
    for x, column in enumerate(columns):
        outside = [
            table[s][x]
            for s, row in enumerate(rows)
            if not low <= Fraction(table[s][x] * n, row * column) <= high
        ]
        expected.append(sum(outside) / n)
    value = measures.breach_probability(counts, -math.log(low), math.log(high))
    np.testing.assert_allclose(value, expected, atol=1e-12)


@pytest.mark.parametrize(("lower", "upper"), [(-1, 1), (1, -1), (np.nan, 1), (1, np.nan)])
def test_impossible_bounds_are_refused(lower, upper):
    with pytest.raises(InvalidParameterError, match="must be at least 0"):
        measures.breach_probability(JOINT, lower, upper)


def properties(counts):
    """Prior and posteriors of every property of S, as fractions."""
    n_s = len(counts)
    total, columns = Fraction(int(counts.sum())), counts.sum(axis=0)
    for bits in itertools.product([0, 1], repeat=n_s):
        chosen = counts[np.array(bits, dtype=bool)]
        posterior = [
            Fraction(int(a), int(b)) for a, b in zip(chosen.sum(axis=0), columns, strict=True)
        ]
        yield int(chosen.sum()) / total, posterior


RHOS = st.fractions(Fraction(1, 50), Fraction(49, 50), max_denominator=50)


@given(count_tables(max_s=5), st.fractions(0, 1, max_denominator=60))
def test_largest_posterior_agrees_with_a_search_over_all_properties(counts, prior_at_most):
    allowed = [posterior for prior, posterior in properties(counts) if prior <= prior_at_most]
    expected = [max(column) for column in zip(*allowed, strict=True)]
    value = measures.largest_posterior(counts, float(prior_at_most))
    np.testing.assert_allclose(value, np.array(expected, dtype=float), atol=1e-12)


@given(count_tables(max_s=5), RHOS, RHOS)
def test_breaches_are_those_of_some_property(counts, rho1, rho2):
    """Evfimievski, Gehrke and Srikant 2003, Definition 1, for every property of S."""
    assume(rho1 < rho2)
    every = list(properties(counts))
    # Doubles cannot decide a posterior that equals its bound.
    assume(not any(p in (rho1, rho2) for _, posterior in every for p in posterior))
    up = [any(prior <= rho1 and q[y] > rho2 for prior, q in every) for y in range(counts.shape[1])]
    down = [
        any(prior >= rho2 and q[y] < rho1 for prior, q in every) for y in range(counts.shape[1])
    ]
    rhos = float(rho1), float(rho2)
    np.testing.assert_array_equal(measures.upward_breach(counts, *rhos), up)
    np.testing.assert_array_equal(measures.downward_breach(counts, *rhos), down)


def test_largest_posterior_admits_a_prior_equal_to_the_bound():
    # The first and the last symbol have prior 22/30, though their doubles sum to a bit more.
    counts = np.array([[6, 7], [1, 7], [4, 5]])
    np.testing.assert_allclose(measures.largest_posterior(counts, 22 / 30), [10 / 11, 14 / 19])


@settings(max_examples=5)
@example(27)  # here the solver's own tolerance is 3e-7 short of the optimum
@given(st.integers(0, 1000))
def test_knapsack_for_many_symbols_agrees_with_the_search(seed):
    # 13 symbols are too many for the table of all properties that fewer are looked up in.
    counts = np.ceil(1e6 * np.random.default_rng(seed).random((13, 2)) ** 3).astype(np.int64)
    allowed = [posterior for prior, posterior in properties(counts) if prior <= Fraction(31, 100)]
    expected = [float(max(column)) for column in zip(*allowed, strict=True)]
    np.testing.assert_allclose(measures.largest_posterior(counts, 0.31), expected, atol=1e-12)


def test_upward_and_downward_breach_by_hand():
    # P_S = (0.2, 0.8); P(S|y) is (0.5, 0.5) and (0, 1).
    joint = np.array([[0.2, 0.0], [0.2, 0.6]])
    np.testing.assert_array_equal(measures.upward_breach(joint, 0.2, 0.4), [True, False])
    np.testing.assert_array_equal(measures.upward_breach(joint, 0.2, 0.5), [False, False])
    np.testing.assert_array_equal(measures.upward_breach(joint, 0.1, 0.4), [False, False])
    np.testing.assert_array_equal(measures.downward_breach(joint, 0.6, 0.7), [True, False])
    np.testing.assert_array_equal(measures.downward_breach(joint, 0.4, 0.7), [False, False])


def test_sufficient_bounds_by_hand():
    bounds = measures.sufficient_bounds(0.2, 0.6)
    assert bounds.min_lift == pytest.approx(0.5)
    assert bounds.max_lift == pytest.approx(3)
    assert bounds.ldp == pytest.approx(math.log(6))


@pytest.mark.parametrize("rhos", [(0, 0.5), (0.5, 1), (0.5, 0.5), (0.6, 0.5), (np.nan, 0.5)])
def test_impossible_rhos_are_refused(rhos):
    for function in (
        lambda: measures.sufficient_bounds(*rhos),
        lambda: measures.upward_breach(JOINT, *rhos),
        lambda: measures.downward_breach(JOINT, *rhos),
    ):
        with pytest.raises(InvalidParameterError, match="rho1"):
            function()
