"""Perfect privacy: with a budget of 0 what is sampled is exactly independent of S."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.sparse import csr_array

from skliftpriv import (
    ALIP,
    LDP,
    LIP,
    Chi2Lift,
    JointDistribution,
    L1Lift,
    ORRSanitizer,
    SubsetMergingSanitizer,
    _independence,
    mechanisms,
)
from skliftpriv._independence import independent_weights
from skliftpriv.certificate import TOTAL, exact_lifts
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
    assert sanitizer.upper_bound_ - sanitizer.report_.nmi < 0.05


def test_a_budget_of_zero_is_part_of_a_curve():
    curve = tradeoff_curve([SubsetMergingSanitizer("sex", "race")], ADULT, [0, 0.5])
    assert curve["nmi"].iloc[0] == pytest.approx(0, abs=1e-12)
    assert curve["budget_used"].iloc[0] == 0


@given(counts=COUNTS, seed=st.integers(0, 1000))
def test_weights_that_cannot_be_solved_become_one_constant_output(counts, seed):
    # Arbitrary weights are nowhere near independent of S: what comes back must be all the same.
    rng = np.random.default_rng(seed)
    weights = rng.integers(0, 3, (6, 4)) * (TOTAL // 16)
    weights[:, 0] += TOTAL - weights.sum(axis=1)
    found = independent_weights(counts.astype(float), csr_array(weights), TOTAL)
    assert (found.toarray() >= 0).all()
    assert (found.sum(axis=1) == TOTAL).all()
    dense = found.toarray().astype(object)
    for y in range(4):
        means = {
            Fraction(int((row.astype(object) * dense[:, y]).sum()), int(row.sum()))
            for row in counts
        }
        assert len(means) == 1


def test_work_in_fractions_is_bounded(monkeypatch):
    steps = []
    solved = _independence._solved

    def counted(rows, values):
        steps.append(len(rows) ** 2 * values.size)
        return solved(rows, values)

    monkeypatch.setattr(_independence, "_MOST_STEPS", 400_000)
    monkeypatch.setattr(_independence, "_solved", counted)
    rng = np.random.default_rng(0)
    joint = JointDistribution.from_counts(rng.integers(1, 50, (15, 60)))
    result = mechanisms.conditional_reporting(joint, LIP(0))
    assert result.report.satisfied
    assert 0 < sum(steps) <= 400_000 < sum(steps) / len(steps) * 60
