"""Keeping what predicts a target: never worse for it than the optimum for X, on one scale."""

import numpy as np
import pytest
from scipy.special import entr

from skliftpriv import ALIP, LDP, LIP, ConfidenceSet, JointDistribution, mechanisms
from skliftpriv.certificate import certify, exact_lifts
from skliftpriv.datasets import make_joint
from skliftpriv.exceptions import InvalidParameterError

from .test_sees_sensitive import exact_independence, inside, joint_with_zeros, sides_of

optimal = mechanisms.optimal_random_response
NOTIONS = [LIP(0.3), ALIP(0.5, 0.2), LDP(0.8)]
each_notion = pytest.mark.parametrize("notion", NOTIONS, ids=str)


def random_target(joint, n_targets, seed=0, concentration=0.5):
    """P(T|X)."""
    rng = np.random.default_rng([seed, n_targets])
    return rng.dirichlet(np.full(n_targets, concentration), joint.shape[1]).T


def information(p_ty):
    """I(T;Y) in nats."""
    return entr(p_ty.sum(axis=0)).sum() + entr(p_ty.sum(axis=1)).sum() - entr(p_ty).sum()


def kept_of(target, result):
    """I(T;Y) of a mechanism that sees X."""
    return information(target * result.joint.p_x @ result.channel.matrix)


@each_notion
@pytest.mark.parametrize("n_targets", [2, 3, 5])
def test_more_of_the_target_than_the_optimum_for_x_keeps(notion, n_targets):
    for seed in range(4):
        joint = make_joint(3, 8, random_state=seed)
        target = random_target(joint, n_targets, seed)
        result = optimal(joint, notion, target=target, time_limit=3)
        plain = optimal(joint, notion)
        assert kept_of(target, result) >= kept_of(target, plain) - 1e-6
        assert result.nmi <= plain.upper_bound + 1e-9
        assert result.report.target.after == pytest.approx(kept_of(target, result), abs=1e-12)
        assert certify(joint.masses, result.certified.weights, notion).all()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(50))
def test_more_of_the_target_on_joints_with_zeros(seed):
    joint = joint_with_zeros(seed)
    for notion in (LIP(0.2), LDP(0.7)):
        target = random_target(joint, 2 + seed % 3, seed)
        result = optimal(joint, notion, target=target, time_limit=5)
        seeing = optimal(joint, notion, target=target, use_sensitive=True, time_limit=5)
        assert kept_of(target, result) >= kept_of(target, optimal(joint, notion)) - 1e-6
        assert seeing.report.target.after >= result.report.target.after - 1e-5


@each_notion
@pytest.mark.parametrize("seed", range(3))
def test_x_itself_as_target_is_optimal_random_response(notion, seed):
    joint = joint_with_zeros(seed)
    plain = optimal(joint, notion, gap=1e-8)
    order = np.random.default_rng(seed).permutation(joint.shape[1])
    for target in (np.eye(joint.shape[1]), np.eye(joint.shape[1])[order]):
        result = optimal(joint, notion, target=target, gap=1e-8)
        assert result.utility_kept == pytest.approx(plain.utility_kept, abs=1e-7)
        assert result.nmi == pytest.approx(result.utility_kept, abs=1e-9)
        assert result.upper_bound == pytest.approx(plain.upper_bound, abs=1e-7)
        seeing = optimal(joint, notion, target=target, use_sensitive=True, gap=1e-8)
        blind = optimal(joint, notion, use_sensitive=True, gap=1e-8)
        assert seeing.utility_kept == pytest.approx(blind.utility_kept, abs=1e-7)


@each_notion
def test_a_target_that_depends_on_x_only_may_be_given_either_way(notion):
    joint = joint_with_zeros(1, 3, 4)
    target = random_target(joint, 2)
    everywhere = np.repeat(target[:, None, :], 3, axis=1)
    one = optimal(joint, notion, target=target, use_sensitive=True)
    two = optimal(joint, notion, target=everywhere, use_sensitive=True)
    assert one.utility_kept == pytest.approx(two.utility_kept, abs=1e-9)
    assert one.upper_bound == pytest.approx(two.upper_bound, abs=1e-9)
    assert one.utility_kept >= optimal(joint, notion, target=target).utility_kept - 1e-6
    # The columns of pairs that do not occur do not matter.
    everywhere[:, joint.matrix == 0] = np.nan
    assert (joint.matrix == 0).any()
    three = optimal(joint, notion, target=everywhere, use_sensitive=True)
    assert three.utility_kept == two.utility_kept


@each_notion
@pytest.mark.parametrize("use_sensitive", [False, True])
def test_what_is_kept_its_bound_and_its_gap_have_one_scale(notion, use_sensitive):
    joint = joint_with_zeros(2, 3, 4)
    target = random_target(joint, 2)
    result = optimal(joint, notion, target=target, use_sensitive=use_sensitive)
    reachable = information(target * joint.p_x)
    share = kept_of(target, result) / reachable
    assert result.utility_kept == pytest.approx(share, abs=1e-9)
    assert result.report.target.kept == result.report.utility_kept == result.utility_kept
    assert result.report.target.before == pytest.approx(reachable, abs=1e-12)
    assert 0 <= result.upper_bound - result.utility_kept <= result.gap + 1e-15
    assert result.gap <= 1e-6
    assert result.upper_bound <= 1


def test_a_target_known_from_s_and_x_is_measured_against_both():
    joint = joint_with_zeros(2, 3, 4)
    target = np.random.default_rng(0).dirichlet(np.ones(2), (3, 4)).transpose(2, 0, 1)
    result = optimal(joint, LIP(50.0), target=target, use_sensitive=True)
    known = information((target * joint.matrix).reshape(2, -1))
    assert result.report.target.after == pytest.approx(known, abs=1e-9)
    assert result.utility_kept == pytest.approx(1.0, abs=1e-9)


def test_a_result_shows_what_was_to_be_kept():
    joint = make_joint(3, 6, random_state=0)
    target = np.random.default_rng(0).dirichlet(np.ones(2), 6).T
    aimed, usual = optimal(joint, LIP(0.3), target=target), optimal(joint, LIP(0.3))
    assert f"{aimed.utility_kept:.0%}" != f"{aimed.nmi:.0%}"
    assert f"{aimed.utility_kept:.0%} of what is known about the target kept" in repr(aimed)
    assert f"{usual.nmi:.0%} of X kept" in repr(usual)


def test_a_target_that_x_says_nothing_about_is_kept_whole():
    joint = make_joint(3, 5, random_state=0)
    target = np.tile([[0.3], [0.7]], 5)
    result = optimal(joint, LIP(0.1), target=target)
    assert result.utility_kept == result.upper_bound == 1.0
    assert result.gap == 0
    assert result.report.satisfied
    alone = optimal(joint, LIP(0.1), target=np.ones((1, 5)))
    assert alone.utility_kept == 1.0


@pytest.mark.parametrize("notion", [LIP(0), ALIP(0, 0), ALIP(1, 0), LDP(0)], ids=str)
@pytest.mark.parametrize("n_targets", [2, 3])
def test_without_a_budget_the_output_is_exactly_independent(notion, n_targets):
    for seed in range(3):
        joint = joint_with_zeros(seed, 2, 6)
        target = random_target(joint, n_targets, seed)
        result = optimal(joint, notion, target=target, time_limit=2)
        assert result.report.satisfied
        lifts, _, _ = exact_lifts(joint.masses, result.certified.weights)
        assert all(lift == 1 for lift in lifts.ravel())
        seeing = optimal(joint, notion, target=target, use_sensitive=True, time_limit=2)
        assert exact_independence(joint, seeing.certified.weights)
        assert seeing.utility_kept >= result.utility_kept - 1e-3


@pytest.mark.parametrize("notion", [LIP(0.7), LDP(1.2)], ids=str)
def test_the_budget_is_met_for_all_of_a_confidence_set(notion):
    rng = np.random.default_rng(0)
    counts = rng.integers(200, 3000, (3, 5))
    counts[0, 1] = 0
    joint, over = JointDistribution.from_counts(counts), ConfidenceSet.from_counts(counts)
    target = random_target(joint, 2)
    result = optimal(joint, notion, target=target, over=over, gap=1e-3)
    assert result.report.satisfied
    assert result.utility_kept > 0.3
    for _ in range(400):
        matrix = inside(over, rng)
        p_sy = matrix @ result.channel.matrix
        assert (sides_of(notion, matrix.sum(axis=1)) @ (p_sy / p_sy.sum(axis=0))).max() <= 1e-9
    plain = optimal(joint, notion, over=over, gap=1e-3)
    assert kept_of(target, result) >= kept_of(target, plain) - 2e-3
    assert result.upper_bound <= optimal(joint, notion, target=target).upper_bound + 1e-6


@pytest.mark.parametrize("n_x", [50, pytest.param(200, marks=pytest.mark.slow)])
def test_a_binary_target_of_many_symbols_is_certified(n_x):
    joint = make_joint(5, n_x, random_state=0)
    result = optimal(joint, LIP(0.25), target=random_target(joint, 2), gap=1e-5)
    assert result.gap <= 1e-5
    assert result.report.satisfied


WRONG = [
    (np.ones((2, 3)) / 2, False, r"shape \(n_targets, 4\), got \(2, 3\)"),
    (np.ones(4), False, "shape"),
    (0.5, False, "shape"),
    (np.zeros((0, 4)), False, "shape"),
    (np.full((2, 3, 4), 0.5), False, "average over s given x, or use use_sensitive=True"),
    (np.full((2, 4, 3), 0.5), True, r"\(n_targets, 4\) or \(n_targets, 3, 4\)"),
    (np.full((2, 4), 0.4), False, "must sum to 1"),
    (np.full((2, 3, 4), 0.4), True, "must sum to 1"),
    ([[1.5] * 4, [-0.5] * 4], False, "probabilities"),
    ([[np.nan] * 4, [0.5] * 4], False, "probabilities"),
    ([[np.inf] * 4, [0.5] * 4], True, "probabilities"),
]


@pytest.mark.parametrize(("target", "use_sensitive", "message"), WRONG)
def test_malformed_targets_are_refused(target, use_sensitive, message):
    joint = make_joint(3, 4, random_state=0)
    with pytest.raises(InvalidParameterError, match=message):
        optimal(joint, LIP(0.5), target=target, use_sensitive=use_sensitive)


def test_text_is_no_target():
    with pytest.raises((InvalidParameterError, ValueError)):
        optimal(make_joint(3, 4, random_state=0), LIP(0.5), target=[["a"] * 4])


def test_the_target_of_the_caller_is_not_changed():
    joint = joint_with_zeros(1, 3, 4)
    target = np.repeat(random_target(joint, 2)[:, None, :], 3, axis=1)
    target[:, joint.matrix == 0] = np.nan
    before = target.copy()
    optimal(joint, LIP(0.5), target=target, use_sensitive=True)
    np.testing.assert_array_equal(target, before)
