import numpy as np
import pytest

from skliftpriv import ALIP, LDP, LIP, AlphaLift, Chi2Lift, JointDistribution, L1Lift, mechanisms
from skliftpriv.certificate import certify
from skliftpriv.datasets import make_joint

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
    """Algorithm 1 of Zarrabian et al. (2023) with plain sets, errata 1 to 3 applied."""

    def lift(group):
        column = joint.matrix[:, sorted(group)].sum(axis=1)
        return (column / column.sum() / joint.p_s)[:, None]

    def meets(group):
        return notion.meets(lift(group), joint.p_s)[0]

    def risk(group):
        return notion.risk(lift(group), joint.p_s)[0]

    free = {x for x in range(joint.shape[1]) if not meets({x})}
    groups = []
    while free:
        group = {max(sorted(free), key=lambda x: risk({x}))}
        free -= group
        while not meets(group) and free:
            best = min(sorted(free), key=lambda x: risk(group | {x}))
            group.add(best)
            free.remove(best)
        groups.append(group)
    while len(groups) > 1 and not meets(groups[-1]):
        last = groups.pop()
        partner = min(range(len(groups)), key=lambda i: risk(last | groups[i]))
        groups.append(last | groups.pop(partner))
    return {frozenset(group) for group in groups}


@pytest.mark.filterwarnings("ignore::skliftpriv.exceptions.BudgetWarning")
@pytest.mark.parametrize("notion", NOTIONS, ids=str)
def test_partition_is_that_of_the_plain_algorithm(notion):
    for seed in range(25):
        joint = make_joint(5, 14, random_state=seed)
        result = mechanisms.subset_merging(joint, notion, repair=False)
        assert {frozenset(group) for group in result.partition} == algorithm_one(joint, notion)


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
    for _ in range(1000):
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
