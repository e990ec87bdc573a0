"""Perfect privacy: with a budget of 0 what is sampled is exactly independent of S."""

from fractions import Fraction
from math import lcm

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.linalg import block_diag
from scipy.sparse import csr_array

from skliftpriv import (
    ALIP,
    LDP,
    LIP,
    Channel,
    Chi2Lift,
    JointDistribution,
    L1Lift,
    ORRSanitizer,
    SubsetMergingSanitizer,
    _independence,
    mechanisms,
)
from skliftpriv._independence import independent_weights
from skliftpriv.certificate import TOTAL, exact_lifts, quantize
from skliftpriv.datasets import load_adult
from skliftpriv.model_selection import tradeoff_curve
from skliftpriv.notions import AlphaLift

PERFECT = [LIP(0), ALIP(0, 1), ALIP(1, 0), LDP(0)]
AVERAGED = [L1Lift(0, 1), Chi2Lift(1, 0), AlphaLift(0, 0, 2.0)]
ADULT = load_adult()
COUNTS = arrays(np.int64, (3, 6), elements=st.integers(0, 40)).filter(
    lambda counts: (counts.sum(axis=1) > 0).all() and (counts.sum(axis=0) > 0).all()
)


def exactly_independent(result):
    lifts, _, _ = exact_lifts(result.joint.masses, result.certified.weights)
    return all(lift == 1 for lift in lifts.ravel())


@pytest.mark.parametrize("notion", PERFECT, ids=str)
@given(counts=COUNTS)
def test_optimal_response_is_exactly_independent(notion, counts):
    joint = JointDistribution.from_counts(counts)
    result = mechanisms.optimal_random_response(joint, notion, time_limit=5)
    assert result.report.satisfied
    assert exactly_independent(result)


@pytest.mark.parametrize("notion", PERFECT + AVERAGED, ids=str)
@pytest.mark.parametrize("mechanism", [mechanisms.watchdog, mechanisms.subset_merging])
def test_merging_merges_everything_that_tells_about_s(notion, mechanism):
    joint = JointDistribution.from_counts([[10, 20, 5, 5], [20, 40, 1, 19]])
    result = mechanism(joint, notion)
    assert result.report.satisfied
    assert exactly_independent(result)


@pytest.mark.parametrize("notion", PERFECT, ids=str)
@pytest.mark.parametrize(
    "mechanism",
    [mechanisms.generalized_randomized_response, mechanisms.conditional_reporting],
)
def test_protocols_are_legal_without_a_budget(notion, mechanism):
    joint = JointDistribution.from_counts([[10, 20, 5, 5], [20, 41, 1, 19], [3, 1, 4, 1]])
    result = mechanism(joint, notion)
    assert result.report.satisfied
    assert result.report.max_log_lift == pytest.approx(0, abs=1e-12)


def test_the_optimum_without_a_budget_is_the_limit_of_small_ones():
    # A third of X can be told without telling S; LIP(1e-12) keeps .4804.
    joint = JointDistribution([[0.25, 0.0, 0.25], [0.125, 0.25, 0.125]])
    result = mechanisms.optimal_random_response(joint, LIP(0))
    assert exactly_independent(result)
    assert result.nmi == pytest.approx(0.480376, abs=1e-5)
    assert result.gap < 1e-4
    small = mechanisms.optimal_random_response(joint, LIP(1e-9))
    assert result.nmi == pytest.approx(small.nmi, abs=1e-5)


@pytest.mark.parametrize("pair", [("sex", "occupation"), ("race", "occupation")])
def test_most_of_the_optimum_survives_on_real_counts(pair):
    sanitizer = ORRSanitizer(*pair, epsilon=0, gap=1e-3, time_limit=20).fit(ADULT[list(pair)])
    assert sanitizer.guarantee_.holds
    assert sanitizer.report_.nmi > 0.4
    assert sanitizer.upper_bound_ - sanitizer.report_.nmi < 1e-7


def test_a_budget_of_zero_is_part_of_a_curve():
    curve = tradeoff_curve([SubsetMergingSanitizer("sex", "race")], ADULT, [0, 0.5])
    assert curve["nmi"].iloc[0] == pytest.approx(0, abs=1e-12)
    assert curve["budget_used"].iloc[0] == 0


@given(counts=COUNTS, seed=st.integers(0, 1000))
def test_arbitrary_weights_become_independent(counts, seed):
    # They are nowhere near independent of S, so that little of them can be left.
    rng = np.random.default_rng(seed)
    weights = rng.integers(0, 3, (6, 4)) * (TOTAL // 16)
    weights[:, 0] += TOTAL - weights.sum(axis=1)
    check_independent(counts, independent_weights(counts.astype(float), csr_array(weights), TOTAL))


def check_independent(masses, weights):
    """Check integer weights without rounding."""
    assert (weights.data > 0).all()
    assert (weights.sum(axis=1) == TOTAL).all()
    exact = [[Fraction(mass) for mass in row] for row in masses.tolist()]
    scale = lcm(*(mass.denominator for row in exact for mass in row))
    integers = np.array([[int(mass * scale) for mass in row] for row in exact], dtype=object)
    of_sy = integers @ weights[:, np.unique(weights.indices)].toarray().astype(object)
    of_s = integers.sum(axis=1, keepdims=True)
    assert (of_sy > 0).all()
    assert (of_sy * of_s[0] == of_sy[0] * of_s).all()


def coupled(masses, seed):
    """Channel of the pair (S, X) whose outputs are independent of S up to rounding.

    Every output stands for one x for each s, drawn from what is left of P(X|s), and takes as much
    as all of them have left: the structure of the optimum for mechanisms that see S. Pairs that
    never occur have an arbitrary output.
    """
    rng = np.random.default_rng(seed)
    given_s = masses / masses.sum(axis=1, keepdims=True)
    left, columns = given_s.copy(), []
    while (left.sum(axis=1) > 1e-12).all():
        chosen = [rng.choice(row.size, p=row / row.sum()) for row in left]
        pairs = np.arange(len(chosen)), chosen
        column = np.zeros_like(left)
        column[pairs] = left[pairs].min()
        left = (left - column).clip(min=0)
        columns.append(column.ravel())
    matrix = np.array(columns).T
    matrix[np.arange(matrix.shape[0]), rng.integers(matrix.shape[1], size=matrix.shape[0])] += (
        matrix.sum(axis=1) == 0
    )
    return Channel(matrix / matrix.sum(axis=1, keepdims=True))


def solved_for_pairs(masses, seed, noise=0.0):
    """Return exactly independent weights for a coupling, and how much mass was moved."""
    pairs = block_diag(*masses)
    matrix = coupled(masses, seed).matrix
    matrix = matrix * (1 + noise * np.random.default_rng(seed).uniform(-1, 1, matrix.shape))
    weights = quantize(Channel(matrix / matrix.sum(axis=1, keepdims=True)))
    found = independent_weights(pairs, weights, TOTAL)
    check_independent(pairs, found)
    p_x = pairs.sum(axis=0) / pairs.sum()
    return found, float((p_x @ abs(found / TOTAL - weights / TOTAL)).sum() / 2)


@st.composite
def large_counts(draw, max_s=6, max_x=10):
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    shape = draw(st.integers(2, max_s)), draw(st.integers(1, max_x))
    counts = rng.integers(1, draw(st.sampled_from([5, 1000, 10**5])), shape)
    counts *= draw(st.sampled_from([1, 1, 12]))
    counts[rng.random(shape) < draw(st.sampled_from([0.0, 0.3, 0.7]))] = 0
    counts[:, 0] += counts.sum(axis=1) == 0
    return counts.astype(float)


@given(counts=large_counts(), seed=st.integers(0, 1000))
def test_mechanisms_that_see_s_lose_nothing_on_counts(counts, seed):
    _, moved = solved_for_pairs(counts, seed)
    assert moved < 1e-8


@given(seed=st.integers(0, 1000), n_x=st.integers(5, 9), spread=st.sampled_from([0, 8, 40, 300]))
def test_mechanisms_that_see_s_lose_nothing_on_probabilities(seed, n_x, spread):
    # Some cells need hundreds of bits next to the others.
    rng = np.random.default_rng(seed)
    masses = rng.random((4, n_x))
    masses[:, 0] *= 10.0 ** -rng.uniform(0, spread, 4)
    _, moved = solved_for_pairs(masses / masses.sum(), seed)
    assert moved < 1e-8


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize(("n_x", "most"), [(2, 0.02), (3, 1e-7)])
def test_few_probabilities_lose_little(seed, n_x, most):
    # Two numbers of 53 bits have one relation, with numbers of 53 bits; three have shorter ones.
    found, moved = solved_for_pairs(np.random.default_rng(seed).random((3, n_x)), seed)
    assert moved < most
    assert np.unique(found.indices).size == found.shape[1]


@pytest.mark.parametrize(("noise", "most"), [(1e-12, 1e-8), (1e-9, 1e-6), (1e-7, 1e-4)])
def test_the_error_of_a_solver_is_absorbed(noise, most):
    counts = np.random.default_rng(0).integers(1, 10**5, (5, 40)).astype(float)
    found, moved = solved_for_pairs(counts, 0, noise)
    assert moved < most
    assert np.unique(found.indices).size == coupled(counts, 0).matrix.shape[1]


def test_few_weights_are_added():
    counts = np.random.default_rng(0).integers(1, 10**5, (6, 60)).astype(float)
    found, _ = solved_for_pairs(counts, 0)
    n_outputs = found.shape[1]
    # One x for each s, at most five helpers, and the output that takes what is left.
    assert found.nnz <= 6 * n_outputs * (1 + 5) + 6 * 60


def test_pairs_that_never_occur_keep_their_output():
    counts = np.array([[900.0, 0, 77, 1234], [55, 800, 0, 3111], [7, 1, 919, 0]])
    weights = quantize(coupled(counts, 0))
    found = independent_weights(block_diag(*counts), weights, TOTAL)
    idle = np.flatnonzero(counts.ravel() == 0)
    assert abs(found / TOTAL - weights / TOTAL)[idle].max() < 1e-8


@given(seed=st.integers(0, 1000), n_s=st.integers(2, 6))
def test_mechanisms_that_see_x_only_lose_nothing_on_large_counts(seed, n_s):
    # Rational solutions of such outputs would have denominators far beyond 2^62.
    rng = np.random.default_rng(seed)
    counts = rng.integers(1, 10**5, (n_s, 15)).astype(float)
    given_s = counts / counts.sum(axis=1, keepdims=True)
    directions = np.linalg.svd(given_s)[2][n_s:]  # means given s do not change along these
    change = directions.T @ rng.standard_normal((15 - n_s, 8))
    change -= change.mean(axis=1, keepdims=True)
    weights = quantize(Channel((1 + change / abs(change).max()) / 8))
    found = independent_weights(counts, weights, TOTAL)
    check_independent(counts, found)
    assert abs(found / TOTAL - weights / TOTAL).max() < 1e-8


def test_what_would_take_too_long_becomes_constant(monkeypatch):
    counts = np.random.default_rng(0).integers(1, 1000, (6, 20)).astype(float)
    weights = quantize(coupled(counts, 0))
    for most_steps in (0, 10, 100):
        monkeypatch.setattr(_independence, "_MOST_STEPS", most_steps)
        found = independent_weights(block_diag(*counts), weights, TOTAL)
        check_independent(block_diag(*counts), found)
        assert np.unique(found.indices).size == 1


def test_the_most_frequent_outputs_come_first_when_time_is_short(monkeypatch):
    counts = np.random.default_rng(0).integers(1, 1000, (6, 20)).astype(float)
    pairs = block_diag(*counts)
    weights = quantize(coupled(counts, 0))
    monkeypatch.setattr(_independence, "_MOST_STEPS", 3000)
    found = independent_weights(pairs, weights, TOTAL)
    check_independent(pairs, found)
    kept = np.unique(found.indices)
    assert 5 < kept.size < weights.shape[1] / 2
    p_y = pairs.sum(axis=0) @ (weights / TOTAL)
    assert p_y[kept].min() > np.delete(p_y, kept).max()


def test_a_large_table_of_pairs_keeps_all_outputs():
    counts = np.random.default_rng(0).integers(0, 10**4, (6, 200)).astype(float)
    weights = quantize(coupled(counts, 0))
    assert weights.shape[1] > 900
    found = independent_weights(block_diag(*counts), weights, TOTAL)
    assert np.unique(found.indices).size == weights.shape[1]
    lifts, _, _ = exact_lifts(block_diag(*counts), found)
    assert (lifts == 1).all()
