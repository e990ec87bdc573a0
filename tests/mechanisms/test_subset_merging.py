from functools import cache
from itertools import permutations

import numpy as np
import pytest

from skliftpriv import (
    ALIP,
    LDP,
    LIP,
    AlphaLift,
    Chi2Lift,
    JointDistribution,
    L1Lift,
    measures,
    mechanisms,
)
from skliftpriv.certificate import certify
from skliftpriv.datasets import make_joint
from skliftpriv.exceptions import SizeLimitError
from skliftpriv.mechanisms import _subset_merging
from skliftpriv.mechanisms._merging import MergedColumns

NOTIONS = [
    LIP(0.5),
    ALIP(0.65, 0.35),
    LDP(1.0),
    L1Lift(0.5, 0.5),
    Chi2Lift(0.5, 0.4),
    AlphaLift(0.5, 0.5, 2.0),
    AlphaLift(0.5, 0.5, 1.5),
]


def algorithm_one(joint, notion):
    """Algorithm 1 of Zarrabian et al. (2023) with plain sets, errata 1 to 3 applied.

    The columns of the joint come with the rarest symbol first. Symbols with infinite risk have
    no riskiest among them, so all orders of three of these are tried, and six orders of more.
    """

    def alone(x):
        return frozenset([x])

    def lift(group):
        column = joint.matrix[:, sorted(group)].sum(axis=1)
        return (column / column.sum() / joint.p_s)[:, None]

    @cache
    def meets(group):
        return notion.meets(lift(group), joint.p_s)[0]

    @cache
    def risk(group):
        """Risk, number of zeros, and risk if the zeros were ones."""
        value = lift(group)
        filled = np.where(value == 0, 1, value)
        plain = notion.risk(value, joint.p_s)[0]
        return plain, (value == 0).sum(), notion.risk(filled, joint.p_s)[0]

    def partition(riskier):
        free = {x for x in range(joint.shape[1]) if not meets(alone(x))}
        groups = []
        while free:
            group = alone(max(sorted(free), key=riskier))
            free -= group
            while not meets(group) and free:
                best = min(sorted(free), key=lambda x: risk(group | {x}))
                group |= {best}
                free.remove(best)
            groups.append(group)
        while len(groups) > 1 and not meets(groups[-1]):
            last = groups.pop()
            partner = min(range(len(groups)), key=lambda i: risk(last | groups[i]))
            groups.append(last | groups.pop(partner))
        return groups

    def cost(groups):
        shares = [joint.p_x[sorted(group)] for group in groups]
        lost = sum(p.sum() * float(measures.entropy(p / p.sum())) for p in shares)
        return bool(groups) and not meets(groups[-1]), lost

    tried = [
        partition(lambda x: (risk(alone(x))[0], -risk(alone(x))[1], risk(alone(x))[2])),
        partition(lambda x: (risk(alone(x))[0], risk(alone(x))[1], risk(alone(x))[2])),
        partition(lambda x: (risk(alone(x))[0], risk(alone(x))[2])),
        partition(lambda x: (risk(alone(x))[0], -risk(alone(x))[2])),
        partition(lambda x: (risk(alone(x))[0], -x)),
        partition(lambda x: (risk(alone(x))[0], x)),
    ]
    infinite = [x for x in range(joint.shape[1]) if risk(alone(x))[0] == np.inf]
    if len(infinite) <= 3:
        tried = [
            partition(lambda x, order=order: (risk(alone(x))[0], x in order and -order.index(x)))
            for order in permutations(infinite)
        ]
    return set(min(tried, key=cost))


@pytest.mark.filterwarnings("ignore::skliftpriv.exceptions.BudgetWarning")
@pytest.mark.parametrize("share_of_zeros", [0.0, 0.05, 0.4])
@pytest.mark.parametrize("notion", NOTIONS, ids=str)
def test_partition_is_that_of_the_plain_algorithm(notion, share_of_zeros):
    for seed in range(8):
        cells = make_joint(5, 14, random_state=seed).matrix.copy()
        holes = np.random.default_rng(seed).random(cells.shape) < share_of_zeros
        holes[0] = holes[:, 0] = False
        cells[holes] = 0
        cells = cells[:, np.argsort(cells.sum(axis=0))]
        joint = JointDistribution(cells / cells.sum())
        result = mechanisms.subset_merging(joint, notion, repair=False)
        assert {frozenset(group) for group in result.partition} == algorithm_one(joint, notion)


def contents(counts, partition):
    """The groups by the columns that they hold, since equal columns may change places."""
    return sorted(sorted(tuple(counts[:, x]) for x in group) for group in partition)


@pytest.mark.filterwarnings("ignore::skliftpriv.exceptions.BudgetWarning")
@pytest.mark.parametrize("repair", [True, False])
@pytest.mark.parametrize("notion", NOTIONS, ids=str)
def test_order_of_columns_does_not_matter(notion, repair):
    rng = np.random.default_rng(0)
    for _ in range(6):
        counts = rng.poisson(rng.gamma(0.5, 3, (4, 15)))
        counts[:, 0] += 1
        counts[0] += 1
        results = set()
        for order in [np.arange(15), *(rng.permutation(15) for _ in range(2))]:
            joint = JointDistribution.from_counts(counts[:, order])
            for mechanism in (mechanisms.subset_merging, mechanisms.watchdog):
                result = mechanism(joint, notion, repair=repair)
                groups = contents(counts[:, order], result.partition)
                moved = contents(counts[:, order], [result.moved])
                results.add((mechanism.__name__, str(groups), str(moved), round(result.nmi, 12)))
        assert len(results) == 2


def test_zeros_of_one_group_are_filled_by_the_symbol_that_looks_ahead():
    counts = np.array([[1, 2, 0, 0, 2], [0, 1, 2, 3, 0]])
    for columns in (counts, counts[:, ::-1]):
        result = mechanisms.subset_merging(JointDistribution.from_counts(columns), LIP(0.5))
        assert result.nmi == pytest.approx(0.690, abs=5e-4)


@pytest.mark.parametrize("notion", NOTIONS, ids=str)
def test_repaired_release_meets_its_budget_in_exact_arithmetic(notion):
    rng = np.random.default_rng(0)
    for _ in range(60):
        shape = rng.integers(2, 7), rng.integers(1, 12)
        counts = rng.integers(0, 40, shape) * (rng.random(shape) < 0.7)
        counts[:, 0] += 1
        joint = JointDistribution.from_counts(counts)
        for mechanism in (mechanisms.subset_merging, mechanisms.watchdog):
            result = mechanism(joint, notion)
            assert result.report.satisfied
            assert result.certified.mixed == 0
            assert certify(joint.masses, result.certified.weights, notion).all()


@pytest.mark.slow
@pytest.mark.parametrize("notion", NOTIONS, ids=str)
def test_no_joint_out_of_thousands_ends_above_its_budget(notion):
    rng = np.random.default_rng(1)
    for _ in range(300):
        shape = rng.integers(2, 9), rng.integers(2, 18)
        counts = np.floor(rng.gamma(0.5, 20, shape))
        counts[:, 0] += 1
        joint = JointDistribution.from_counts(counts)
        for mechanism in (mechanisms.subset_merging, mechanisms.watchdog):
            assert mechanism(joint, notion).report.satisfied


def test_keeps_more_than_the_watchdog():
    for seed in range(30):
        joint = make_joint(5, 17, random_state=seed)
        fine = mechanisms.subset_merging(joint, LIP(0.5))
        coarse = mechanisms.watchdog(joint, LIP(0.5))
        assert fine.nmi >= coarse.nmi - 1e-12


def test_a_release_is_reported_as_it_is_sampled():
    joint = make_joint(4, 10, random_state=4)
    result = mechanisms.subset_merging(joint, LIP(0.4))
    weights = result.certified.weights.toarray() / 2**62
    assert (weights == result.channel.matrix).all()
    released = joint.matrix @ weights
    lift = released / released.sum(axis=0) / joint.p_s[:, None]
    assert result.report.max_log_lift == pytest.approx(np.log(lift.max()), abs=1e-13)
    assert result.report.min_log_lift == pytest.approx(np.log(lift.min()), abs=1e-13)


def test_many_symbols_are_merged_in_seconds_without_dense_matrices():
    joint = make_joint(5, 3000, random_state=0)
    result = mechanisms.subset_merging(joint, ALIP(0.5, 0.5))
    assert result.report.satisfied
    assert "matrix" not in vars(result.channel)


def test_groups_that_are_found_in_parts_meet_the_budget(monkeypatch):
    joint = make_joint(3, 60, random_state=2)
    risky = MergedColumns(joint, LIP(0.3), None).risky
    whole = _subset_merging.merged_groups(joint, LIP(0.3), None)
    monkeypatch.setattr(_subset_merging, "MOST_PAIRS", 3 * risky.sum() ** 2 // 4)
    with pytest.raises(SizeLimitError, match="comparisons"):
        mechanisms.subset_merging(joint, LIP(0.3))
    parts = _subset_merging.merged_groups(joint, LIP(0.3), None)
    assert sorted(np.concatenate(parts)) == sorted(np.concatenate(whole))
    assert {tuple(group) for group in parts} != {tuple(group) for group in whole}
    lifts = [
        joint.matrix[:, group].sum(axis=1) / joint.p_x[group].sum() / joint.p_s for group in parts
    ]
    assert np.abs(np.log(lifts)).max() <= 0.3
