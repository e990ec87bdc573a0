"""over=[joint, ...]: the budget holds for each of several distributions, and for joint itself."""

from functools import partial

import numpy as np
import pytest

from skliftpriv import ALIP, LDP, LIP, AlphaLift, JointDistribution, L1Lift, mechanisms
from skliftpriv.certificate import certify
from skliftpriv.confidence import JointList
from skliftpriv.exceptions import InvalidParameterError
from skliftpriv.measures import srlip_level
from skliftpriv.solvers import PosteriorProblem, solve

NOTIONS = [LIP(0.3), ALIP(0.5, 0.25), LDP(0.5)]
MECHANISMS = {
    "ORR": partial(mechanisms.optimal_random_response, gap=1e-5),
    "ORR that sees S": partial(
        mechanisms.optimal_random_response, use_sensitive=True, gap=1e-2, time_limit=0.2
    ),
    "SRR": partial(mechanisms.subset_random_response, gap=1e-5),
    "subset merging": mechanisms.subset_merging,
    "ranges": partial(mechanisms.subset_merging, order="preserve"),
    "watchdog": mechanisms.watchdog,
    "GRR": mechanisms.generalized_randomized_response,
    "conditional reporting": mechanisms.conditional_reporting,
}
each_notion = pytest.mark.parametrize("notion", NOTIONS, ids=str)
each_mechanism = pytest.mark.parametrize("mechanism", MECHANISMS.values(), ids=MECHANISMS)


def joints(n_s=3, n_x=5, n=3, seed=0):
    """Joint distributions that differ from each other; the last one lacks some pairs."""
    rng = np.random.default_rng([seed, n_s, n_x])
    tables = rng.integers(5, 60, (n, n_s, n_x))
    tables[-1, 0, 0] = 0
    return [JointDistribution.from_counts(table) for table in tables]


def p_sy(joint, result):
    """Joint distribution of S and the output if S and X have another distribution."""
    if not result.sees_sensitive:
        return joint.matrix @ result.channel.matrix
    sampled = result.conditional.matrix.reshape(*joint.shape, -1)
    return np.einsum("sx,sxy->sy", joint.matrix, sampled)


def levels_on(joint, result):
    released = p_sy(joint, result)
    lift = released / joint.p_s[:, None] / released.sum(axis=0)
    with np.errstate(divide="ignore"):
        return {
            side: float(level.max())
            for side, level in result.notion.levels(lift, joint.p_s).items()
        }


def excess(joint, result):
    budget = result.notion.budget
    return max(level - budget[side] for side, level in levels_on(joint, result).items())


@each_mechanism
@each_notion
def test_the_budget_holds_for_each_distribution_and_is_broken_without_the_list(mechanism, notion):
    first, *others = joints()
    result = mechanism(first, notion, over=others)
    assert result.report.satisfied
    assert isinstance(result.over, JointList)
    for joint in (first, *others):
        assert excess(joint, result) <= 1e-9
    # The list matters: without it some distribution breaks the budget, in one of these cases.
    assert any(
        excess(joint, mechanism(first, notion)) > 0.01
        for first, *others in map(partial(joints, 3, 5, 3), range(3))
        for joint in others
    )


@each_mechanism
@each_notion
def test_promised_levels_are_the_worst_of_the_list(mechanism, notion):
    first, *others = joints(seed=1)
    result = mechanism(first, notion, over=others)
    each = [levels_on(joint, result) for joint in (first, *others)]
    for side, level in result.report.levels_promised.items():
        assert level == pytest.approx(max(found[side] for found in each), abs=1e-12)


@pytest.mark.parametrize("notion", [*NOTIONS, L1Lift(0.1, 0.1), AlphaLift(0.2, 0.2, 2)], ids=str)
def test_what_is_sampled_is_certified_for_each_distribution(notion):
    first, *others = joints(n=4, seed=2)
    result = mechanisms.subset_merging(first, notion, over=others)
    for joint in (first, *others):
        assert certify(joint.masses, result.certified.weights, notion).all()


@each_notion
def test_the_optimum_equals_that_of_listed_rows_by_brute_force(notion):
    first, second, third = joints(2, 4, seed=3)
    rows = [notion.rows(joint.lift) * (joint.p_x / first.p_x) for joint in (first, second, third)]
    listed = solve(PosteriorProblem(first.p_x, np.vstack(rows)), method="vertices")
    found = mechanisms.optimal_random_response(first, notion, over=[second, third])
    assert found.nmi == pytest.approx(listed.kept, abs=5e-6)
    assert found.nmi < mechanisms.optimal_random_response(first, notion).nmi - 1e-3


def test_a_list_with_joint_alone_changes_nothing():
    joint = joints()[0]
    for mechanism in MECHANISMS.values():
        plain, listed = mechanism(joint, LIP(0.3)), mechanism(joint, LIP(0.3), over=[joint])
        assert listed.nmi == pytest.approx(plain.nmi, abs=1e-2)
        assert not isinstance(plain.over, JointList)


def test_distributions_may_lack_symbols_and_are_matched_by_label():
    first = JointDistribution.from_counts(
        [[30, 10, 20], [10, 30, 20], [5, 20, 9]], list("abc"), list("xyz")
    )
    fewer = JointDistribution.from_counts([[9, 40], [30, 11]], list("ca"), list("zx"))
    for name, mechanism in MECHANISMS.items():
        result = mechanism(first, LIP(0.3), over=[fewer])
        part = np.ix_([2, 0], [2, 0])
        if result.sees_sensitive:
            n_s, n_x = first.shape
            channel = result.conditional.matrix.reshape(n_s, n_x, -1)[part]
            released = np.einsum("sx,sxy->sy", fewer.matrix, channel)
        else:
            released = fewer.matrix @ result.channel.matrix[[2, 0]]
        with np.errstate(invalid="ignore"):
            lift = released / fewer.p_s[:, None] / released.sum(axis=0)
        assert np.nanmax(np.abs(np.log(lift))) <= 0.3 + 1e-9, name
    unary = mechanisms.optimized_unary_encoding(first, LIP(0.3), over=[fewer])
    assert unary.report.satisfied


def test_pairs_that_joint_lacks_get_a_draw_that_is_covered():
    table = np.array([[0, 30, 25], [20, 35, 15]])
    first = JointDistribution.from_counts(table)
    second = JointDistribution.from_counts([[20, 5, 60], [20, 60, 5]])
    result = MECHANISMS["ORR that sees S"](first, LIP(0.4), over=[second])
    assert excess(first, result) <= 1e-9
    assert excess(second, result) <= 1e-9
    plain = MECHANISMS["ORR that sees S"](first, LIP(0.4))
    assert excess(second, plain) > 0.01


def test_a_budget_of_0_is_met_by_all():
    first, second = joints(2, 3, 2)
    result = mechanisms.optimal_random_response(first, LIP(0.0), over=[second])
    assert result.report.levels_promised == {"min_lift": 0.0, "max_lift": 0.0}


@each_notion
def test_unary_encoding_holds_for_each_distribution(notion):
    first, *others = joints(n_x=4, seed=4)
    result = mechanisms.optimized_unary_encoding(first, notion, over=others)
    plain = mechanisms.optimized_unary_encoding(first, notion)
    worst = result.report.levels_promised

    def levels(joint, channel):
        released = joint.matrix @ channel.matrix
        lift = released / joint.p_s[:, None] / released.sum(axis=0)
        return {k: float(v.max()) for k, v in notion.levels(lift, joint.p_s).items()}

    each = [levels(joint, result.channel) for joint in (first, *others)]
    for side, level in worst.items():
        assert level == pytest.approx(max(found[side] for found in each), abs=1e-9)
        assert level <= notion.budget[side]
    before = [levels(joint, plain.channel) for joint in others]
    assert any(found[s] > notion.budget[s] + 0.01 for found in before for s in found)


@pytest.mark.parametrize("strategy", ["optimal", "product"])
def test_side_channel_resistance_holds_for_each_distribution(strategy):
    rng = np.random.default_rng(5)
    labels = [(a, b) for a in range(2) for b in range(3)]
    first, *others = (
        JointDistribution.from_counts(rng.integers(5, 60, (2, 6)), useful_labels=labels)
        for _ in range(3)
    )
    result = mechanisms.side_channel_resistant(first, 0.4, strategy=strategy, over=others)
    plain = mechanisms.side_channel_resistant(first, 0.4, strategy=strategy)
    assert result.nmi > 0.01

    def level(joint, channel):
        return srlip_level(joint.matrix, channel.matrix, (2, 3)).level

    each = [level(joint, result.channel) for joint in (first, *others)]
    assert max(each) <= 0.4 + 1e-9
    assert result.report.levels_worst["srlip"] == pytest.approx(max(each), abs=1e-9)
    assert max(level(joint, plain.channel) for joint in others) > 0.41


def test_foreign_symbols_and_wrong_types_are_refused():
    joint = JointDistribution.from_counts([[3, 4], [5, 6]], list("ab"), list("xy"))
    for other, symbol in (
        (
            JointDistribution.from_counts([[3, 4], [5, 6]], list("ab"), list("xz")),
            "useful symbol 'z'",
        ),
        (
            JointDistribution.from_counts([[3, 4], [5, 6]], list("ac"), list("xy")),
            "sensitive symbol 'c'",
        ),
    ):
        with pytest.raises(InvalidParameterError, match=symbol):
            mechanisms.watchdog(joint, LIP(1.0), over=[other])
    for wrong in (joint, 3, [joint, "y"], "ab"):
        with pytest.raises(InvalidParameterError, match="ConfidenceSet or a list"):
            mechanisms.watchdog(joint, LIP(1.0), over=wrong)
    with pytest.raises(InvalidParameterError, match="several distributions"):
        mechanisms.watchdog(joint, LIP(1.0), over=[joint], delta=0.1)


def test_any_iterable_is_accepted_and_a_list_can_be_used_again():
    first, second, third = joints()
    result = mechanisms.watchdog(first, LIP(0.3), over=(joint for joint in (second, third)))
    assert len(result.over.joints) == 3
    again = mechanisms.watchdog(first, LIP(0.3), over=result.over)
    assert again.over is result.over
    assert repr(again.over) == "JointList(3 joints of 3 sensitive x 5 useful symbols)"
    # What was made for another joint covers this one besides.
    assert len(mechanisms.watchdog(third, LIP(0.3), over=result.over).over.joints) == 4
