"""Certification: integer weights, exact lifts, and mixing with a constant channel."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skliftpriv import (
    ALIP,
    LDP,
    LIP,
    AlphaLift,
    Channel,
    Chi2Lift,
    JointDistribution,
    L1Lift,
    measures,
    mechanisms,
)
from skliftpriv.certificate import (
    TOTAL,
    certified_by,
    certified_for,
    certify,
    exact_lifts,
    first_mixture_that_meets,
    quantize,
)
from skliftpriv.datasets import make_joint
from skliftpriv.notions._relaxed import RelaxedLift

NOTIONS = [
    LIP(0.3),
    ALIP(0.4, 0.2),
    LDP(0.5),
    L1Lift(0.3, 0.2),
    Chi2Lift(0.3, 0.2),
    AlphaLift(0.3, 0.2, 2.5),
    AlphaLift(0.3, 0.2, 3.0),
]


def random_channel(rng, n_inputs, n_outputs):
    matrix = rng.dirichlet(np.full(n_outputs, 0.3), n_inputs)
    matrix[matrix < 0.05] = 0
    matrix[:, 0] += 1e-3
    return Channel(matrix / matrix.sum(axis=1, keepdims=True))


@given(st.integers(0, 10_000), st.integers(1, 12), st.integers(1, 12))
def test_quantized_rows_sum_exactly_and_stay_close(seed, n_inputs, n_outputs):
    channel = random_channel(np.random.default_rng(seed), n_inputs, n_outputs)
    weights = quantize(channel).toarray()
    assert [int(sum(map(int, row))) for row in weights] == [TOTAL] * n_inputs
    assert (weights >= 0).all()
    np.testing.assert_allclose(weights / TOTAL, channel.matrix, atol=1e-15 * n_outputs)
    assert (weights[channel.matrix == 0] == 0).all()


def test_equal_rows_stay_equal():
    weights = quantize(Channel(np.full((5, 7), 1 / 7))).toarray()
    assert (weights == weights[0]).all()


def test_exact_lifts_equal_a_direct_computation_in_fractions():
    rng = np.random.default_rng(1)
    joint = JointDistribution.from_counts(rng.integers(0, 50, (3, 6)))
    weights = quantize(random_channel(rng, joint.shape[1], 4))
    weights = weights[:, np.unique(weights.indices)]
    lifts, p_s, p_y = exact_lifts(joint.masses, weights)
    masses = [[Fraction(float(m)) for m in row] for row in joint.masses]
    total = sum(map(sum, masses))
    dense = weights.toarray()
    for y in range(dense.shape[1]):
        column = [
            sum(m * int(w) for m, w in zip(row, dense[:, y], strict=True)) / TOTAL / total
            for row in masses
        ]
        assert p_y[y] == sum(column)
        for s, row in enumerate(masses):
            assert p_s[s] == sum(row) / total
            assert lifts[s, y] == column[s] / (p_s[s] * p_y[y])


def test_certificate_decides_equality_that_doubles_cannot():
    # Lift of (0, 0) is exactly 3/2; log(3/2) rounded up or down to a double decides.
    joint = JointDistribution.from_counts([[3, 1], [1, 3]])
    weights = quantize(Channel.identity((0, 1)))
    above = np.log(1.5)
    while Fraction(3, 2) > Fraction(np.exp(np.longdouble(above)).astype(float)):
        above = np.nextafter(above, 2)
    assert certify(joint.masses, weights, ALIP(1.0, float(above) + 1e-15)).all()
    assert not certify(joint.masses, weights, ALIP(1.0, float(np.log(1.5)) - 1e-15)).any()


@pytest.mark.parametrize("notion", NOTIONS, ids=str)
def test_certification_makes_any_channel_meet_its_notion(notion):
    rng = np.random.default_rng(0)
    for _ in range(20):
        counts = rng.integers(0, 30, (3, 6))
        counts[:, 0] += 1
        counts[0] += 1
        joint = JointDistribution.from_counts(counts)
        certified = certified_for(joint.masses, random_channel(rng, joint.shape[1], 5), notion)
        assert certified.satisfied
        assert not certified.violations
        assert certify(joint.masses, certified.weights, notion).all()


def test_certification_mixes_in_little_if_only_rounding_exceeds_the_budget():
    joint = make_joint(3, 8, random_state=0)
    worst = np.log(joint.lift).max(), -np.log(joint.lift).min()
    tight = ALIP(worst[1] * (1 - 1e-13), worst[0] * (1 - 1e-13))
    certified = certified_for(joint.masses, Channel.identity(joint.useful_labels), tight)
    assert certified.satisfied
    assert 0 < certified.mixed < 1e-10


def test_certification_can_check_without_changing_anything():
    joint = make_joint(3, 8, random_state=0)
    certified = certified_for(
        joint.masses, Channel.identity(joint.useful_labels), LIP(0.1), enforce=False
    )
    assert not certified.satisfied
    assert set(certified.violations) <= set(joint.useful_labels)
    assert certified.mixed == 0
    assert certified.channel == Channel.identity(joint.useful_labels)


def test_unused_outputs_are_dropped():
    channel = Channel([[1.0, 0.0, 0.0], [0.5, 0.0, 0.5]], ["a", "b"], ["p", "q", "r"])
    certified = certified_for(
        make_joint(2, 2, random_state=0).masses, Channel(channel.matrix), LIP(9.0)
    )
    assert certified.channel.outputs == (0, 2)


def test_constant_channel_has_lift_exactly_one():
    joint = make_joint(4, 9, random_state=3)
    lifts, _, _ = exact_lifts(joint.masses, quantize(Channel(np.full((9, 3), 1 / 3))))
    assert (lifts == 1).all()


def test_relaxed_notion_is_certified_as_a_whole():
    joint = JointDistribution.from_counts([[99, 1], [50, 50]])
    weights = quantize(Channel.identity((0, 1)))
    # Only (0, 1) with lift 1/25.5 and (1, 1) with 2 * 50/51 lie outside; P = 51/200.
    band = LIP(0.6)
    assert certify(joint.masses, weights, RelaxedLift(band, 0.256)).all()
    assert certify(joint.masses, weights, RelaxedLift(band, 0.254)).tolist() == [True, False]
    assert not certify(joint.masses, weights, RelaxedLift(band, 0.256, LIP(3.0)))[1]
    assert certify(joint.masses, weights, RelaxedLift(band, 0.256, LIP(4.0))).all()


# S rules out the first symbol; with delta that costs nothing, until it is merged or mixed.
RULED_OUT = JointDistribution([[0.0, 0.05, 0.45], [0.1, 0.15, 0.25]])


def relaxed_breach(share):
    mixed = (1 - share) * RULED_OUT.matrix + share * np.outer(RULED_OUT.p_s, RULED_OUT.p_x)
    return measures.breach_probability(mixed, 0.7).sum()


def test_more_mixing_can_raise_the_breach_of_a_relaxed_notion():
    breaches = [relaxed_breach(share) for share in (0, 0.1, 0.3, 0.6)]
    assert breaches == pytest.approx([0, 0.005, 0.015, 0])


def test_mixing_of_a_relaxed_notion_finds_a_small_share_before_a_gap():
    """Here shares from 1 % to 3 % pass, and then none does below 80 %."""
    seen = []

    def check(weights):
        seen.append(1 - weights.toarray()[0, 0] / TOTAL)
        return np.full(weights.shape[1], 0.01 < seen[-1] < 0.03 or seen[-1] > 0.8)

    # The first symbol hardly occurs, so what its row gives away is the share.
    certified = certified_by(
        Channel(np.eye(3)), np.array([1e-9, 0.5, 0.5]), check, mend=first_mixture_that_meets
    )
    assert certified.mixed == 1 / 64
    assert seen[-1] == pytest.approx(1 / 64)


@pytest.mark.parametrize("delta", [0.001, 0.004, 0.01, 0.02])
def test_certification_of_a_relaxed_notion_takes_the_smallest_share_of_the_grid(delta):
    notion = RelaxedLift(LIP(0.7), delta)
    merged = Channel.merging([(0, 1), (2,)], (0, 1, 2))
    assert certified_for(RULED_OUT.masses, Channel.identity((0, 1, 2)), notion).mixed == 0
    certified = certified_for(RULED_OUT.masses, merged, notion)
    assert certified.satisfied
    assert certify(RULED_OUT.masses, certified.weights, notion).all()
    p_sy = RULED_OUT.released(merged.matrix)
    grid = [k / 64 for k in range(65)]
    passing = [
        share
        for share in grid
        if measures.breach_probability(
            (1 - share) * p_sy + share * np.outer(RULED_OUT.p_s, p_sy.sum(axis=0)), 0.7
        ).sum()
        <= delta
    ]
    assert certified.mixed == passing[0]


def test_all_other_notions_are_monotone_in_the_share():
    rng = np.random.default_rng(0)
    for notion in NOTIONS:
        assert notion.mixing_helps
        for _ in range(30):
            p = rng.dirichlet(np.ones(4))
            lift = rng.dirichlet(np.ones(4)) / p
            path = 1 + (lift - 1)[:, None] * np.linspace(1, 0, 50)
            for levels in notion.levels(path, p).values():
                assert (np.diff(levels) <= 1e-12).all()
    assert not RelaxedLift(LIP(1.0), 0.1).mixing_helps


def test_an_output_that_passed_before_mixing_is_checked_again():
    """Mixing rounds each row, which took an output out of the budget that had met it exactly."""
    masses = np.random.default_rng(21).dirichlet(np.ones(200)).reshape(2, 100)
    result = mechanisms.optimal_random_response(JointDistribution(masses), LIP(0.5))
    assert 0 < result.certified.mixed < 1e-12
    assert result.report.satisfied
    assert certify(result.joint.masses, result.certified.weights, LIP(0.5)).all()
