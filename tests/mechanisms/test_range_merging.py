"""Subset merging of neighbours only, ``order="preserve"``."""

from itertools import combinations, pairwise

import numpy as np
import pytest

from skliftpriv import (
    ALIP,
    LDP,
    LIP,
    AlphaLift,
    Chi2Lift,
    ConfidenceSet,
    JointDistribution,
    L1Lift,
    measures,
    mechanisms,
)
from skliftpriv.certificate import certify
from skliftpriv.exceptions import InvalidParameterError, SizeLimitError

NOTIONS = [
    LIP(0.5),
    LIP(0.0),
    ALIP(0.65, 0.35),
    LDP(1.0),
    L1Lift(0.5, 0.5),
    Chi2Lift(0.5, 0.4),
    AlphaLift(0.5, 0.5, 2.0),
    AlphaLift(0.5, 0.5, 1.5),
]


def all_partitions(n):
    """All partitions of 0, ..., n - 1 into consecutive ranges."""
    for size in range(n):
        for cuts in combinations(range(1, n), size):
            yield [range(a, b) for a, b in pairwise((0, *cuts, n))]


def most_kept(joint, meets):
    """Largest I(X;Y) of all partitions whose ranges all meet, found by trying all of them."""
    found = []
    for ranges in all_partitions(joint.shape[1]):
        if len(ranges) == 1 or all(map(meets, ranges)):
            found.append(measures.entropy([joint.p_x[list(each)].sum() for each in ranges]))
    return max(found)


def random_counts(rng, share_of_zeros):
    shape = rng.integers(2, 5), rng.integers(1, 10)
    counts = rng.integers(1, 60, shape) * (rng.random(shape) >= share_of_zeros)
    counts[:, rng.integers(shape[1])] += 1
    counts[rng.integers(shape[0])] += 1
    return counts


@pytest.mark.parametrize("share_of_zeros", [0.0, 0.4])
@pytest.mark.parametrize("notion", NOTIONS, ids=str)
def test_no_partition_into_ranges_keeps_more(notion, share_of_zeros):
    rng = np.random.default_rng(5)
    merged = 0
    for _ in range(25):
        joint = JointDistribution.from_counts(random_counts(rng, share_of_zeros))

        def meets(each, joint=joint):
            column = joint.matrix[:, list(each)].sum(axis=1)
            return notion.meets((column / column.sum() / joint.p_s)[:, None], joint.p_s)[0]

        result = mechanisms.subset_merging(joint, notion, order="preserve")
        kept = result.nmi * float(measures.entropy(joint.p_x))
        assert kept == pytest.approx(most_kept(joint, meets), abs=1e-9)
        assert result.report.satisfied
        assert certify(joint.masses, result.certified.weights, notion).all()
        merged += len(result.partition)
    assert merged > 10


@pytest.mark.parametrize("notion", [LIP(0.6), ALIP(0.9, 0.5), LDP(1.2)], ids=str)
def test_no_partition_keeps_more_over_a_confidence_set(notion):
    rng = np.random.default_rng(3)
    split = 0
    for _ in range(6):
        counts = rng.integers(100, 900, (2, 6))
        joint = JointDistribution.from_counts(counts)
        over = ConfidenceSet.from_counts(counts, confidence=0.9)

        def meets(each, joint=joint, over=over):
            inside = np.isin(np.arange(6), list(each))
            low, high = over.output_range(np.column_stack([inside, ~inside]).astype(float))
            return notion.meets(notion.worst_lift(low, high, over.prior), joint.p_s)[0]

        result = mechanisms.subset_merging(joint, notion, order="preserve", over=over)
        kept = result.nmi * float(measures.entropy(joint.p_x))
        assert kept == pytest.approx(most_kept(joint, meets), abs=1e-9)
        assert result.report.satisfied
        split += len(result.channel.outputs) > 1
    assert split > 2


def test_groups_are_ranges_in_order():
    counts = [[30, 4, 10, 20, 20], [30, 10, 5, 20, 21]]
    joint = JointDistribution.from_counts(counts, ["s", "t"], [17, 18, 19, 25, 30])
    result = mechanisms.subset_merging(joint, LIP(0.2), order="preserve")
    assert result.channel.outputs == (17, "18 to 19", 25, 30)
    assert result.channel.members("18 to 19", joint.p_x) == (19, 18)
    assert result.partition == ((18, 19),)
    assert result.low_risk == (17, 25, 30)
    assert result.high_risk == (18, 19)
    assert result.moved == ()
    assert result.ordered
    assert result.status == "best ranges"


def test_a_private_symbol_between_others_is_merged_with_them():
    counts = [[300, 4, 2, 10, 300], [300, 10, 2, 5, 300]]
    joint = JointDistribution.from_counts(counts, ["s", "t"], list("abcde"))
    result = mechanisms.subset_merging(joint, LIP(0.2), order="preserve")
    assert result.partition == (("b", "c", "d"),)
    assert result.channel.outputs == ("a", "{b to d}", "e")
    assert result.moved == ("c",)
    free = mechanisms.subset_merging(joint, LIP(0.2))
    assert free.partition == (("b", "d"),)
    assert not free.ordered
    assert result.nmi < free.nmi


def test_a_wide_budget_keeps_everything_and_none_at_all_only_what_is_independent():
    counts = np.array([[30, 10, 10, 20], [30, 30, 10, 20]])
    joint = JointDistribution.from_counts(counts)
    kept = mechanisms.subset_merging(joint, LIP(5.0), order="preserve")
    assert kept.channel.outputs == (0, 1, 2, 3)
    assert (kept.partition, kept.high_risk, kept.nmi) == ((), (), 1.0)
    nothing = mechanisms.subset_merging(joint, LIP(0.0), order="preserve")
    assert nothing.channel.outputs == ("0 to 3",)
    assert nothing.report.satisfied
    # Both halves hold the values of S in the same proportion.
    halves = JointDistribution.from_counts([[10, 20, 15, 15], [20, 10, 10, 20]])
    result = mechanisms.subset_merging(halves, LIP(1e-9), order="preserve")
    assert result.channel.outputs == ("0 to 1", "2 to 3")


@pytest.mark.parametrize("notion", NOTIONS, ids=str)
def test_the_reverse_order_keeps_as_much(notion):
    rng = np.random.default_rng(8)
    for _ in range(5):
        counts = rng.poisson(rng.gamma(0.7, 9, (3, 40)))
        counts[:, 0] += 1
        counts[0] += 1
        forward, backward = (
            mechanisms.subset_merging(
                JointDistribution.from_counts(counts[:, ::step]), notion, order="preserve"
            )
            for step in (1, -1)
        )
        assert forward.nmi == pytest.approx(backward.nmi, abs=1e-9)


def test_what_has_no_meaning_is_refused():
    joint = JointDistribution.from_counts([[1, 2], [2, 1]])
    with pytest.raises(InvalidParameterError, match="no ranges"):
        mechanisms.subset_merging(joint, LIP(0.1), order="preserve", repair=False)
    with pytest.raises(InvalidParameterError, match="'ascending'"):
        mechanisms.subset_merging(joint, LIP(0.1), order="ascending")


def test_too_many_values_are_refused_before_the_search():
    joint = JointDistribution.from_counts(np.ones((2, 10_000)))
    with pytest.raises(SizeLimitError, match="ranges of 10,000 values of X have 100,010,000"):
        mechanisms.subset_merging(joint, LIP(0.1), order="preserve")
