import itertools
import math

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from skliftpriv import measures
from skliftpriv.exceptions import InvalidParameterError

from ..strategies import joints

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


@given(joints(), st.floats(1e-6, 2))
def test_breach_probability_falls_with_the_bound_and_vanishes_with_the_violation(joint, bound):
    near = measures.breach_probability(joint.matrix, bound).sum()
    far = measures.breach_probability(joint.matrix, bound + 0.3).sum()
    assert 0 <= far <= near <= 1 + 1e-12
    logs = measures.log_lift(joint.matrix)[joint.matrix > 0]
    # Doubles cannot decide a log-lift that equals the bound.
    assume((np.abs(np.abs(logs) - bound) > 1e-9).all())
    assert (near > 0) == (np.abs(logs) > bound).any()


@pytest.mark.parametrize(("lower", "upper"), [(-1, 1), (1, -1), (np.nan, 1), (1, np.nan)])
def test_impossible_bounds_are_refused(lower, upper):
    with pytest.raises(InvalidParameterError, match="must be at least 0"):
        measures.breach_probability(JOINT, lower, upper)


def naive_largest_posterior(joint, prior_at_most):
    n_s = joint.shape[0]
    p_s, p_y = joint.sum(axis=1), joint.sum(axis=0)
    best = np.zeros(joint.shape[1])
    for size in range(n_s + 1):
        for members in itertools.combinations(range(n_s), size):
            if p_s[list(members)].sum() <= prior_at_most + 1e-12:
                best = np.maximum(best, joint[list(members)].sum(axis=0) / p_y)
    return best


@given(joints(), st.floats(0, 1))
def test_largest_posterior_agrees_with_a_search_over_all_properties(joint, prior_at_most):
    value = measures.largest_posterior(joint.matrix, prior_at_most)
    expected = naive_largest_posterior(joint.matrix, prior_at_most)
    np.testing.assert_allclose(value, expected, atol=1e-12)


def test_largest_posterior_admits_a_prior_equal_to_the_bound():
    # The first and the last symbol have prior 22/30, though their doubles sum to a bit more.
    counts = np.array([[6, 7], [1, 7], [4, 5]])
    np.testing.assert_allclose(measures.largest_posterior(counts, 22 / 30), [10 / 11, 14 / 19])


@settings(max_examples=5)
@example(27)  # here the solver's own tolerance is 3e-7 short of the optimum
@given(st.integers(0, 1000))
def test_knapsack_for_many_symbols_agrees_with_the_search(seed):
    rng = np.random.default_rng(seed)
    joint = rng.random((13, 2)) ** 3
    joint /= joint.sum()
    value = measures.largest_posterior(joint, 0.31)
    np.testing.assert_allclose(value, naive_largest_posterior(joint, 0.31), atol=1e-12)


def test_upward_and_downward_breach_by_hand():
    # P_S = (0.2, 0.8); P(S|y) is (0.5, 0.5) and (0, 1).
    joint = np.array([[0.2, 0.0], [0.2, 0.6]])
    np.testing.assert_array_equal(measures.upward_breach(joint, 0.2, 0.4), [True, False])
    np.testing.assert_array_equal(measures.upward_breach(joint, 0.2, 0.5), [False, False])
    np.testing.assert_array_equal(measures.upward_breach(joint, 0.1, 0.4), [False, False])
    np.testing.assert_array_equal(measures.downward_breach(joint, 0.6, 0.7), [True, False])
    np.testing.assert_array_equal(measures.downward_breach(joint, 0.4, 0.7), [False, False])


@given(joints(), st.floats(0.05, 0.9), st.floats(0.01, 0.5))
def test_downward_breach_is_the_upward_breach_of_the_complement(joint, rho1, gap):
    rho2 = min(rho1 + gap, 0.99)
    down = measures.downward_breach(joint.matrix, rho1, rho2)
    up = measures.upward_breach(joint.matrix, 1 - rho2, 1 - rho1)
    np.testing.assert_array_equal(down, up)


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
