"""Optimal random response for l1-, chi2- and alpha-lift privacy."""

from dataclasses import dataclass
from fractions import Fraction
from math import log

import numpy as np
import pytest
from scipy.special import xlogy

from skliftpriv import (
    ALIP,
    LIP,
    AlphaLift,
    Chi2Lift,
    JointDistribution,
    L1Lift,
    ORRSanitizer,
    SRRSanitizer,
    measures,
    mechanisms,
)
from skliftpriv.certificate import certify
from skliftpriv.confidence import ConfidenceSet
from skliftpriv.datasets import load_adult, make_joint
from skliftpriv.exceptions import InvalidParameterError, UnsupportedNotionError
from skliftpriv.notions import Average, Notion

from .tiny import least_entropy

KINDS = {
    "l1": L1Lift,
    "chi2": Chi2Lift,
    "alpha 2": AlphaLift,
    "alpha 10": lambda lower, upper: AlphaLift(lower, upper, 10.0),
}
each_kind = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)


def best(joint, notion, **options):
    return mechanisms.optimal_random_response(joint, notion, **options)


def certified(result):
    return certify(result.joint.masses, result.certified.weights, result.notion).all()


def some_joint(seed, n_s=None, n_x=None):
    """A uniform joint; every other one has zero cells."""
    rng = np.random.default_rng(seed)
    cells = rng.random((n_s or rng.integers(2, 6), n_x or rng.integers(2, 9)))
    if seed % 2:
        cells[rng.random(cells.shape) < 0.2] = 0.0
        cells[:, 0] += cells.sum(axis=1) == 0
    return JointDistribution(cells / cells.sum())


@pytest.mark.parametrize(
    ("kind", "seed", "targets"),
    [
        ("alpha 2", 2, 0),
        *(
            pytest.param(*case, marks=pytest.mark.slow)
            for case in [("l1", 0, 0), ("chi2", 0, 0), ("alpha 10", 2, 0), ("chi2", 1, 3)]
        ),
    ],
)
def test_brute_force_on_4_x_3_agrees(kind, seed, targets):
    joint, notion = some_joint(seed, 3, 4), KINDS[kind](0.3, 0.3)
    rng = np.random.default_rng(seed)
    target = rng.dirichlet(np.ones(targets), joint.shape[1]).T if targets else None
    result = best(joint, notion, target=target, gap=1e-5)
    image = np.eye(joint.shape[1]) if target is None else target
    kept = least_entropy(joint.p_x, joint.lift, joint.p_s, notion, image)
    assert result.utility_kept >= kept - 2e-5
    assert result.upper_bound >= kept - 1e-9
    assert result.gap <= 1e-5
    assert certified(result)


@pytest.mark.slow
@each_kind
@pytest.mark.parametrize("seed", range(6))
def test_brute_force_on_more_joints(kind, seed):
    joint = some_joint(seed, 3, 4)
    for notion in (kind(0.3, 0.4), kind(0.8, 1.2)):
        result = best(joint, notion, time_limit=None)
        kept = least_entropy(joint.p_x, joint.lift, joint.p_s, notion, np.eye(joint.shape[1]))
        assert result.nmi >= kept - 2e-6
        assert result.upper_bound >= kept - 1e-9
        assert result.gap <= 1e-6 + 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["l1", "alpha 2"])
def test_brute_force_of_mechanisms_that_see_s_agrees(kind):
    joint, notion = (
        JointDistribution([[0.2, 0.05], [0.05, 0.25], [0.15, 0.3]]),
        KINDS[kind](0.2, 0.2),
    )
    result = best(joint, notion, use_sensitive=True, gap=1e-4)
    s, x = np.nonzero(joint.matrix)
    lift = (np.eye(3) / joint.p_s[:, None])[:, s]
    kept = least_entropy(
        joint.matrix[s, x], lift, joint.p_s, notion, np.eye(2)[:, x], parts=5, everything=0.0
    )
    assert result.nmi >= kept - 1e-3
    assert result.upper_bound >= kept - 1e-9
    assert result.nmi >= best(joint, notion, gap=1e-4).nmi - 1e-4
    assert result.report.satisfied


@each_kind
def test_merging_subset_response_optimum_and_the_one_that_sees_s_are_a_chain(kind):
    joint, notion = some_joint(3, 4, 5), kind(0.3, 0.3)
    options = {"gap": 1e-2, "time_limit": 0.05}
    merged = mechanisms.subset_merging(joint, notion)
    subset = mechanisms.subset_random_response(joint, notion, **options)
    optimum = best(joint, notion, **options)
    seeing = best(joint, notion, use_sensitive=True, **options)
    assert merged.nmi <= subset.nmi + 1e-9
    assert subset.nmi <= optimum.upper_bound + 1e-9
    assert optimum.nmi <= seeing.upper_bound + 1e-9
    assert merged.nmi <= min(optimum.nmi, seeing.nmi) + 1e-9
    assert certified(subset)
    assert certified(optimum)
    assert seeing.report.satisfied


def check_never_below_merging(seeds, limit):
    for seed in seeds:
        joint = some_joint(seed)
        budgets = np.random.default_rng(seed).choice([0.05, 0.3, 0.6, 1.0, 2.0], 2)
        notion = list(KINDS.values())[seed % 4](*budgets)
        result = best(joint, notion, time_limit=limit)
        assert result.nmi >= mechanisms.subset_merging(joint, notion).nmi - 1e-9
        assert result.nmi <= result.upper_bound
        assert certified(result)


def test_the_optimum_is_never_below_subset_merging_after_any_time():
    check_never_below_merging(range(24), 0.02)


@pytest.mark.slow
def test_the_optimum_is_never_below_subset_merging_on_200_joints():
    check_never_below_merging(range(200), 0.1)


@pytest.mark.parametrize("notion", [L1Lift(0, 0), Chi2Lift(0, 1), AlphaLift(1, 0, 10.0)], ids=str)
def test_without_budget_it_is_perfect_privacy(notion):
    counts = np.random.default_rng(0).integers(1, 50, (3, 8))
    joint = JointDistribution.from_counts(counts)
    result = best(joint, notion)
    perfect = best(joint, LIP(0))
    assert result.nmi == pytest.approx(perfect.nmi, abs=1e-9)
    assert certified(result)


@each_kind
def test_rounding_costs_nothing_noticeable(kind):
    result = best(make_joint(3, 5, random_state=0), kind(0.4, 0.4), gap=1e-4)
    assert result.certified.satisfied
    assert result.certified.mixed < 1e-6


def test_tiny_budgets_are_met_and_close_to_perfect_privacy():
    joint = make_joint(3, 6, random_state=1)
    perfect = best(joint, LIP(0)).upper_bound
    for kind in KINDS.values():
        for budget in (1e-4, 1e-9):
            result = best(joint, kind(budget, budget), time_limit=0.05)
            assert certified(result)
            assert result.upper_bound >= perfect - 1e-6


@pytest.mark.parametrize("notion", [Chi2Lift(1e-6, 1e-6), AlphaLift(1e-12, 1e-12)], ids=str)
def test_tiny_budgets_keep_about_what_perfect_privacy_keeps(notion):
    joint = JointDistribution.from_counts(np.random.default_rng(0).integers(1, 50, (3, 8)))
    result = best(joint, notion, time_limit=0.5)
    assert certified(result)
    assert result.nmi == pytest.approx(best(joint, LIP(0)).nmi, abs=1e-4)


def test_rare_sensitive_values_and_a_tiny_budget_leave_more_than_a_constant():
    counts = [[1, 3, 2], [10**4, 3 * 10**5, 10**6], [10**10, 10**12, 10**11]]
    joint = JointDistribution.from_counts(counts)
    perfect = best(joint, LIP(0), use_sensitive=True).nmi
    result = best(joint, LIP(1e-6), use_sensitive=True)
    assert result.report.satisfied
    assert result.nmi >= perfect - 1e-6 > 0.01


@each_kind
def test_large_budgets_release_x(kind):
    result = best(make_joint(4, 6, random_state=0), kind(30.0, 400.0))
    assert result.nmi == pytest.approx(1.0, abs=1e-9)


def test_the_highest_orders_are_alip():
    joint = make_joint(3, 6, random_state=1)
    high, alip = best(joint, AlphaLift(0.4, 0.3, 1e5)), best(joint, ALIP(0.4, 0.3))
    assert high.nmi == pytest.approx(alip.nmi, abs=1e-9)


@dataclass(frozen=True)
class MeanLogLift(Notion):
    """The divergence of P(S|y) from P(S), sum_s P(s) l log l, is at most epsilon."""

    epsilon: float
    key = "kl"

    @property
    def budget(self):
        return {"kl": self.epsilon}

    def levels(self, lift, p_s):
        return {"kl": (p_s[:, None] * xlogy(lift, lift)).sum(axis=-2)}

    def risk(self, lift, p_s):
        return self.levels(lift, p_s)["kl"]

    def exactly_met(self, lift, p_s):
        # log l <= l / a - 1 + log a for every a: with a rounded lift, close enough from above.
        total = Fraction(0)
        for value, weight in zip(lift, p_s, strict=True):
            if value:
                near = Fraction(float(value))
                above = Fraction(log(near)) + Fraction(1, 10**14) + value / near - 1
                total += weight * value * above
        return total <= Fraction(self.epsilon)

    def rows(self, lift):
        return np.zeros((0, lift.shape[1]))

    def averages(self):
        return (Average(lambda x: x * np.log(x), lambda x: 1 + np.log(x), self.epsilon),)

    def __str__(self):
        return f"{self.epsilon:g}-divergence"


def test_a_notion_of_ones_own_needs_no_more_than_its_function():
    joint, notion = make_joint(3, 6, random_state=2), MeanLogLift(0.05)
    result = best(joint, notion, gap=1e-5)
    assert result.gap <= 1e-5
    assert certified(result)
    levels = notion.levels(measures.lift(joint.matrix @ result.channel.matrix), joint.p_s)
    assert levels["kl"].max() == pytest.approx(0.05, abs=1e-6)
    assert result.nmi > mechanisms.subset_merging(joint, notion).nmi


@pytest.mark.parametrize("notion", ["l1", "chi2", "alpha"])
@pytest.mark.parametrize("sanitizer", [ORRSanitizer, SRRSanitizer])
def test_sanitizers_take_the_averaged_notions(sanitizer, notion):
    adult = load_adult()[["race", "sex"]]
    fitted = sanitizer("race", "sex", notion=notion, epsilon=0.2).fit(adult)
    assert fitted.report_.satisfied
    assert fitted.guarantee_.claim.startswith("(0.1, 0.1)-")
    with pytest.raises(InvalidParameterError, match="supports the notions"):
        sanitizer("race", "sex", notion=notion, confidence=0.95).fit(adult)


def test_a_confidence_set_is_refused_with_the_reason():
    joint = JointDistribution.from_counts([[50, 20], [10, 40]])
    over = ConfidenceSet.from_counts(joint.masses)
    with pytest.raises(UnsupportedNotionError, match="no worst case in closed form"):
        best(joint, L1Lift(0.5, 0.5), over=over)


MEANS = {  # of five uniform 17 x 5 joints, at epsilon 1 and 2 with half of it on either side
    "l1": (0.942, 0.989),
    "chi2": (0.912, 0.977),
    "alpha 2": (0.946, 0.983),
    "alpha 10": (0.886, 0.954),
}


@pytest.mark.slow
@pytest.mark.parametrize("which", [0, 1], ids=["epsilon 1", "epsilon 2"])
@pytest.mark.parametrize("name", MEANS)
def test_17_x_5_is_certified(name, which):
    half = (which + 1) / 2
    found = [
        best(make_joint(5, 17, random_state=seed), KINDS[name](half, half), time_limit=None)
        for seed in range(5)
    ]
    assert max(result.gap for result in found) <= 1e-6 + 1e-9
    assert all(certified(result) for result in found)
    assert np.mean([result.nmi for result in found]) == pytest.approx(MEANS[name][which], abs=6e-4)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "kept"), [("l1", 0.908), ("chi2", 0.865), ("alpha 2", 0.904), ("alpha 10", 0.826)]
)
def test_20_x_15_is_certified(name, kept):
    result = best(make_joint(15, 20, random_state=0), KINDS[name](0.5, 0.5), time_limit=None)
    assert result.nmi == pytest.approx(kept, abs=6e-4)
    assert result.gap <= 1e-6 + 1e-9
    assert certified(result)
