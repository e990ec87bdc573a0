"""What the papers prove, on random joints and channels, and what they claim but does not hold.

Lift-2023: Zarrabian, Ding and Sadeghi 2023. Watchdog-2020: Sadeghi, Ding and Rakotoarivelo 2020.
ALIP-2022: Zarrabian, Ding and Sadeghi 2022. Funnel-2020: Lopuhaa-Zwakenberg, Tong and Skoric 2020.
"""

import math

import numpy as np
import pytest
from hypothesis import assume, given
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
)
from skliftpriv.mechanisms import conditional_reporting, watchdog
from skliftpriv.notions import implied_bounds, implied_lift_bounds

from .strategies import binary_partitions, budgets, channels, joints, releases

ORDERS = st.sampled_from([1.0, 1.01, 1.5, 2.0, 5.0, 40.0, math.inf])
# A bound may be missed by rounding only.
ROUNDING = 1e-10


def alpha_lift(p, **options):
    return measures.alpha_lift(p, 2.5, **options)


def alpha_lift_inverse(p, **options):
    return measures.alpha_lift_inverse(p, 2.5, **options)


# Quasi-convex in the lift: an average of lifts never has more than the worst of them.
CONVEX = [
    measures.max_lift,
    measures.ldp_ratio,
    measures.l1_lift,
    measures.chi2_lift,
    alpha_lift,
    alpha_lift_inverse,
]


def band(p_sy):
    """Smallest and largest lift over all outputs."""
    return float(measures.min_lift(p_sy).min()), float(measures.max_lift(p_sy).max())


def tight_alip(p_sy):
    """The smallest ALIP budget that a release meets, not quite 0 for one that leaks nothing."""
    smallest, largest = band(p_sy)
    return ALIP(max(-math.log(smallest), 1e-4), max(math.log(largest), 1e-4))


# ---- Lift-2023, Propositions 1 and 3 (corrected), and ALIP-2022, Proposition 1


@given(releases(positive=True))
def test_information_is_at_most_the_upper_budget(release):
    """Lift-2023 Proposition 1-1, ALIP-2022 Proposition 1-2, Funnel-2020 Lemma 1-2."""
    bounds = implied_bounds(tight_alip(release[2]))
    assert measures.mutual_information(release[2]) <= bounds.mutual_information + ROUNDING
    assert measures.maximal_leakage(release[2]) <= bounds.maximal_leakage + ROUNDING
    assert measures.min_entropy_leakage(release[2]) <= bounds.min_entropy_leakage + ROUNDING


@given(releases(positive=True))
def test_total_variation_and_chi2_divergence_meet_the_corrected_bounds(release):
    """Lift-2023 Proposition 1-2, corrected."""
    bounds = implied_bounds(tight_alip(release[2]))
    assert measures.total_variation(release[2]) <= bounds.total_variation + ROUNDING
    assert measures.chi2_divergence(release[2]) <= bounds.chi2_divergence * (1 + ROUNDING)


@given(releases())
def test_corrected_bounds_hold_for_zero_lifts_too(release):
    smallest, largest = band(release[2])
    assume(smallest < largest)
    l1 = 2 * (largest - 1) * (1 - smallest) / (largest - smallest)
    chi2 = (largest - 1) * (1 - smallest)
    assert measures.l1_lift(release[2]).max() <= l1 + ROUNDING
    assert measures.chi2_lift(release[2]).max() <= chi2 * (1 + ROUNDING) + ROUNDING


@given(releases(positive=True), ORDERS)
def test_sibson_and_arimoto_information_are_at_most_the_upper_budget(release, alpha):
    """Lift-2023 Proposition 1-3, ALIP-2022 Proposition 1-3, without their alpha/(alpha - 1)."""
    bounds = implied_bounds(tight_alip(release[2]))
    sibson = measures.sibson_mutual_information(release[2], alpha)
    arimoto = measures.arimoto_mutual_information(release[2], alpha)
    assert sibson <= bounds.sibson_mutual_information + ROUNDING
    assert arimoto <= bounds.arimoto_mutual_information + ROUNDING


@given(releases(positive=True))
def test_lift_bounds_imply_local_differential_privacy(release):
    """Lift-2023 Proposition 1-4 and ALIP-2022 Proposition 1-1."""
    bounds = implied_bounds(tight_alip(release[2]))
    assert np.log(measures.ldp_ratio(release[2])).max() <= bounds.ldp + ROUNDING


@given(releases(positive=True), ORDERS)
def test_lift_based_measures_meet_the_corrected_bounds(release, alpha):
    """Lift-2023 Propositions 3 and 5, corrected; ALIP-2022 Proposition 1-2 for the alpha-lift."""
    bounds, p = implied_bounds(tight_alip(release[2])), release[2]
    relative = 1 + ROUNDING
    assert measures.l1_lift(p).max() <= bounds.l1_lift * relative
    assert measures.chi2_lift(p).max() <= bounds.chi2_lift * relative
    assert measures.alpha_lift(p, alpha).max() <= bounds.alpha_lift * relative
    assert measures.l1_lift_inverse(p).max() <= bounds.l1_lift_inverse * relative
    assert measures.chi2_lift_inverse(p).max() <= bounds.chi2_lift_inverse * relative
    assert measures.alpha_lift_inverse(p, alpha).max() <= bounds.alpha_lift_inverse * relative


# ---- the corrected bounds are attained


def cyclic(n, smallest):
    """Joint of uniform S and Y: each output has lift ``smallest`` at one s, the same elsewhere."""
    larger = (n - smallest) / (n - 1)
    return np.where(np.eye(n, dtype=bool), smallest, larger) / n**2


@pytest.mark.parametrize("n", [2, 3, 10])
@pytest.mark.parametrize("smallest", [0.01, 0.2, 0.9])
def test_corrected_bounds_are_attained(n, smallest):
    p = cyclic(n, smallest)
    bounds = implied_bounds(tight_alip(p))
    attained = {
        "l1_lift": measures.l1_lift(p).max(),
        "chi2_lift": measures.chi2_lift(p).max(),
        "alpha_lift": measures.alpha_lift(p, np.inf).max(),
        "alpha_lift_inverse": measures.alpha_lift_inverse(p, np.inf).max(),
        "total_variation": measures.total_variation(p),
        "chi2_divergence": measures.chi2_divergence(p),
        "maximal_leakage": measures.maximal_leakage(p),
        "min_entropy_leakage": measures.min_entropy_leakage(p),
        "ldp": np.log(measures.ldp_ratio(p)).max(),
    }
    for name, value in attained.items():
        assert value == pytest.approx(getattr(bounds, name), rel=1e-10), name


def two_valued(smallest, largest):
    """One output with lifts ``largest`` and ``smallest``, and the prior that makes it one."""
    rare = (1 - smallest) / (largest - smallest)
    prior = np.array([rare, 1 - rare])
    return (prior * [largest, smallest])[:, None], prior


@pytest.mark.parametrize(("smallest", "largest"), [(0.3, 5.0), (10 / 11, 4.0), (0.7, 1.1)])
def test_bounds_of_the_inverses_are_attained_by_a_two_valued_lift(smallest, largest):
    bounds = implied_bounds(ALIP(-math.log(smallest), math.log(largest)))
    tops = [two_valued(smallest, top) for top in np.linspace(1.0001, largest, 2001)]
    for measure, bound in (
        (measures.l1_lift_inverse, bounds.l1_lift_inverse),
        (measures.chi2_lift_inverse, bounds.chi2_lift_inverse),
    ):
        attained = max(float(measure(column, p_s=prior)[0]) for column, prior in tops)
        assert attained <= bound
        assert attained == pytest.approx(bound, rel=1e-5)


# ---- statements of Lift-2023 that are false as printed

# Uniform S and Y; every output has the lifts 0.2, 1.4, 1.4: exp(eps_u) - 1 = 0.4.
FARTHER_BELOW = np.array([[2, 14, 14], [14, 2, 14], [14, 14, 2]]) / 90
# P_S = (0.1, 0.9); the first output has the lifts 4 and 2/3: exp(eps_l) - 1 = 0.5.
FARTHER_ABOVE = np.array([[4, 6], [6, 84]]) / 100


def test_printed_bound_on_total_variation_is_false():
    """Lift-2023 Proposition 1-2, first half."""
    printed = (band(FARTHER_BELOW)[1] - 1) / 2
    assert printed == pytest.approx(0.2)
    assert measures.total_variation(FARTHER_BELOW) == pytest.approx(4 / 15)


def test_printed_bound_on_chi2_divergence_is_false():
    """Lift-2023 Proposition 1-2, second half."""
    printed = (band(FARTHER_BELOW)[1] - 1) ** 2
    assert printed == pytest.approx(0.16)
    assert measures.chi2_divergence(FARTHER_BELOW) == pytest.approx(0.32)


def test_printed_bound_on_l1_lift_is_false():
    """Lift-2023 Proposition 3-1."""
    column, prior = np.array([[0.99], [0.01]]), [0.9, 0.1]
    np.testing.assert_allclose(measures.lift(column, p_s=prior), [[1.1], [0.1]])
    assert measures.l1_lift(column, p_s=prior) == pytest.approx([0.18])
    assert measures.max_lift(column, p_s=prior) - 1 == pytest.approx([0.1])
    assert measures.l1_lift(FARTHER_BELOW).max() > band(FARTHER_BELOW)[1] - 1 + 0.1


def test_printed_bound_on_chi2_lift_is_false():
    """Lift-2023 Proposition 3-2."""
    printed = (band(FARTHER_BELOW)[1] - 1) ** 2
    assert printed == pytest.approx(0.16)
    assert measures.chi2_lift(FARTHER_BELOW).max() == pytest.approx(0.32)


def test_printed_bound_on_l1_lift_inverse_is_false():
    """Lift-2023 Proposition 5-1."""
    printed = 1 / band(FARTHER_ABOVE)[0] - 1
    assert printed == pytest.approx(0.5)
    assert measures.l1_lift_inverse(FARTHER_ABOVE).max() == pytest.approx(0.525)


def test_printed_bound_on_chi2_lift_inverse_is_false():
    """Lift-2023 Proposition 5-2."""
    printed = (1 / band(FARTHER_ABOVE)[0] - 1) ** 2
    assert printed == pytest.approx(0.25)
    assert measures.chi2_lift_inverse(FARTHER_ABOVE).max() == pytest.approx(0.28125)


# ---- Lift-2023, Propositions 4 and 6: averages bound the lift, given the prior


def measured(p, kind, alpha):
    """Smallest averaged budget that a release meets, not quite 0 for one that leaks nothing."""
    if kind is AlphaLift:
        lower = measures.alpha_lift_inverse(p, alpha).max()
        upper = measures.alpha_lift(p, alpha).max()
        return AlphaLift(max(math.log(lower), 1e-6), max(math.log(upper), 1e-6), alpha)
    if kind is L1Lift:
        lower, upper = measures.l1_lift_inverse(p).max(), measures.l1_lift(p).max()
    else:
        lower = math.sqrt(measures.chi2_lift_inverse(p).max())
        upper = math.sqrt(measures.chi2_lift(p).max())
    return kind(max(math.log1p(lower), 1e-6), max(math.log1p(upper), 1e-6))


@given(
    releases(positive=True),
    st.sampled_from([L1Lift, Chi2Lift, AlphaLift]),
    st.sampled_from([1.5, 2.0, 6.0]),
)
def test_averaged_budgets_bound_the_lift(release, kind, alpha):
    """Lift-2023 Propositions 4 and 6."""
    joint, _, p = release
    smallest, largest = band(p)
    least, most = implied_lift_bounds(measured(p, kind, alpha), joint.p_s)
    assert largest <= most * (1 + ROUNDING)
    assert smallest >= least * (1 - ROUNDING)


@given(releases(positive=True), st.sampled_from([1.5, 2.0, 6.0]))
def test_averages_bound_the_lift_by_the_prior_of_the_worst_symbol(release, alpha):
    """Lift-2023 Propositions 4 and 6 as printed, with P_S of the symbol in question."""
    joint, _, p = release
    lifts = measures.lift(p)
    at_max = joint.p_s[np.unravel_index(lifts.argmax(), lifts.shape)[0]]
    at_min = joint.p_s[np.unravel_index(lifts.argmin(), lifts.shape)[0]]
    smallest, largest = band(p)
    up, down = 1 + ROUNDING, 1 - ROUNDING
    assert largest <= (measures.l1_lift(p).max() / at_max + 1) * up
    assert largest <= (math.sqrt(measures.chi2_lift(p).max() / at_max) + 1) * up
    assert largest <= measures.alpha_lift(p, alpha).max() / at_max ** (1 / alpha) * up
    l1, chi2 = measures.l1_lift_inverse(p).max(), measures.chi2_lift_inverse(p).max()
    assert smallest >= at_min / (l1 + at_min) * down
    assert smallest >= math.sqrt(at_min) / (math.sqrt(chi2) + math.sqrt(at_min)) * down
    inverse = measures.alpha_lift_inverse(p, alpha).max()
    assert smallest >= at_min ** (1 / alpha) / inverse * down


def test_without_the_inverse_an_average_leaves_the_min_lift_of_a_rare_symbol_free():
    """Lift-2023 section 6: why every averaged notion has two sides."""
    column, prior = np.array([[1.0], [0.0]]), [0.99, 0.01]
    assert measures.l1_lift(column, p_s=prior)[0] < 0.03
    assert measures.min_lift(column, p_s=prior)[0] == 0


@given(releases())
def test_l1_lift_alone_bounds_the_lift_by_half_of_it_over_the_prior(release):
    joint, _, p = release
    reach = measures.l1_lift(p) / (2 * joint.p_s[:, None])
    lifts = measures.lift(p)
    assert (lifts >= 1 - reach - ROUNDING).all()
    assert (lifts <= 1 + reach + ROUNDING).all()


# ---- Lift-2023, Proposition A1: privacy breaches


@given(releases(positive=True), st.floats(0.05, 0.8))
def test_lift_bounds_prevent_breaches(release, rho1):
    smallest, largest = band(release[2])
    rho2 = max(largest * rho1, 1 - smallest * (1 - rho1)) + 1e-9
    assume(rho2 < 1)
    bounds = measures.sufficient_bounds(rho1, rho2)
    assert bounds.min_lift <= smallest
    assert bounds.max_lift >= largest
    assert not measures.upward_breach(release[2], rho1, rho2).any()
    assert not measures.downward_breach(release[2], rho1, rho2).any()


@given(releases(positive=True), st.floats(0.05, 0.8))
def test_local_differential_privacy_prevents_breaches(release, rho1):
    odds = measures.ldp_ratio(release[2]).max() * rho1 / (1 - rho1)
    rho2 = odds / (1 + odds) + 1e-9
    assume(rho1 < rho2 < 1)
    assert (
        measures.sufficient_bounds(rho1, rho2).ldp >= np.log(measures.ldp_ratio(release[2])).max()
    )
    assert not measures.upward_breach(release[2], rho1, rho2).any()
    assert not measures.downward_breach(release[2], rho1, rho2).any()


def test_a_release_just_outside_the_lift_bounds_has_a_breach():
    # P_S = (0.2, 0.8), lifts of the first output are 2.5 and 0.625: rho1 = 0.2 goes to 0.5.
    p = np.array([[0.2, 0.0], [0.2, 0.6]])
    assert measures.upward_breach(p, 0.2, 0.499).any()
    assert not measures.upward_breach(p, 0.2, 0.501).any()
    assert measures.downward_breach(p, 0.501, 0.8).any()
    assert not measures.downward_breach(p, 0.499, 0.8).any()


# ---- the watchdog: X-invariant randomisation is optimal and utility is monotone


@st.composite
def watchdogs(draw):
    """A joint, a set of high-risk symbols, and any randomisation of them."""
    joint = draw(joints(min_x=2))
    high = draw(binary_partitions(joint.shape[1]))
    return joint, high, draw(channels(int(high.sum())))


@given(watchdogs())
def test_no_randomisation_of_the_high_risk_symbols_beats_merging_them(watchdog):
    """Watchdog-2020 Theorem 1 and Corollary 1, ALIP-2022 Proposition 2, Lift-2023 Theorem 1."""
    joint, high, randomisation = watchdog
    part = joint.matrix[:, high]
    merged = part.sum(axis=1, keepdims=True)
    other = part @ randomisation.matrix
    other = other[:, other.sum(axis=0) > 0]
    p_s, up, down = joint.p_s, 1 + ROUNDING, 1 - ROUNDING
    best = measures.max_lift(merged, p_s=p_s)[0], measures.min_lift(merged, p_s=p_s)[0]
    assert measures.max_lift(other, p_s=p_s).max() >= best[0] * down
    assert measures.min_lift(other, p_s=p_s).min() <= best[1] * up
    for measure in CONVEX:
        assert measure(other, p_s=p_s).max() >= measure(merged, p_s=p_s)[0] * down - ROUNDING


@given(watchdogs(), st.integers(0, 1000))
def test_every_x_invariant_randomisation_leaks_what_merging_leaks(watchdog, seed):
    """Watchdog-2020 Corollary 1, second half."""
    joint, high, _ = watchdog
    part = joint.matrix[:, high]
    weights = np.random.default_rng(seed).dirichlet(np.ones(4))
    spread = part @ np.tile(weights, (part.shape[1], 1))
    lifts = measures.lift(spread, p_s=joint.p_s)
    merged = measures.lift(part.sum(axis=1, keepdims=True), p_s=joint.p_s)
    np.testing.assert_allclose(lifts, np.repeat(merged, 4, axis=1), rtol=1e-9, atol=1e-12)


def merging(high):
    groups = [[int(x)] for x in np.flatnonzero(~high)] + [np.flatnonzero(high).tolist()]
    return Channel.merging([group for group in groups if group], list(range(high.size)))


@given(watchdogs())
def test_utility_of_the_watchdog_has_the_printed_form(watchdog):
    """Watchdog-2020 eq. 8, Lift-2023 eq. 11, ALIP-2022 eq. 9."""
    joint, high, _ = watchdog
    p_x = joint.p_x
    kept = measures.mutual_information(merging(high).joint(p_x))
    inside = p_x[high] / p_x[high].sum()
    expected = measures.entropy(p_x) - p_x[high].sum() * measures.entropy(inside)
    assert kept == pytest.approx(float(expected), rel=1e-9, abs=1e-12)


@given(st.data())
def test_loss_grows_with_the_high_risk_set(data):
    """Watchdog-2020 section V: NMIL is monotone in the set that is randomised."""
    joint = data.draw(joints(min_x=3))
    small = data.draw(binary_partitions(joint.shape[1]))
    large = small | data.draw(binary_partitions(joint.shape[1]))
    losses = [measures.nmil(merging(high).joint(joint.p_x)) for high in (small, large)]
    assert losses[0] <= losses[1] + ROUNDING


@given(joints(), budgets(), st.floats(0.05, 0.95))
def test_ldp_keeps_at_least_the_utility_of_alip_with_the_same_total(joint, epsilon, lam):
    """Lift-2023 Proposition 2."""
    ldp_high = ~LDP(epsilon).meets(joint.lift, joint.p_s)
    alip_high = ~ALIP(lam * epsilon, (1 - lam) * epsilon).meets(joint.lift, joint.p_s)
    assert (ldp_high <= alip_high).all()
    kept = [measures.nmi(merging(high).joint(joint.p_x)) for high in (ldp_high, alip_high)]
    assert kept[0] >= kept[1] - ROUNDING


# ---- Funnel-2020


@given(releases())
def test_local_differential_privacy_implies_lift_privacy(release):
    """Funnel-2020 Lemma 1-1; its second half is Lift-2023 Proposition 1 with equal budgets."""
    p = release[2]
    assume(measures.min_lift(p).min() > 0)
    ldp = np.log(measures.ldp_ratio(p)).max()
    assert np.abs(measures.log_lift(p)).max() <= ldp + ROUNDING
    assert ldp <= 2 * np.abs(measures.log_lift(p)).max() + ROUNDING


@given(joints(positive=True, min_s=2, max_s=4, max_x=5), st.floats(0.05, 2))
def test_conditional_reporting_has_the_level_of_its_closed_form(joint, epsilon):
    """Funnel-2020 Propositions 1 and 2, for the alpha that the package finds."""
    result = conditional_reporting(joint, LIP(epsilon))
    assume(np.isfinite(result.alpha) and result.certified.mixed < 1e-9)
    n_s, n_x = joint.shape
    # P(y | x, s): the true x if the mask is right, else a draw that goes with the mask.
    protocol = result.conditional.matrix.reshape(n_s, n_x, -1)
    given_s = joint.matrix / joint.p_s[:, None]
    for s, x in np.ndindex(n_s, n_x):
        draws = sum(given_s[t] for t in range(n_s) if t != s)
        truth = math.exp(result.alpha) * (np.arange(n_x) == x)
        expected = (truth + draws) / (math.exp(result.alpha) + n_s - 1)
        np.testing.assert_allclose(protocol[s, x], expected, atol=1e-8)
    p_sy = np.einsum("sx,sxy->sy", joint.matrix, protocol)
    gain, total = math.expm1(result.alpha), given_s.sum(axis=0)
    level = np.abs(np.log((gain * given_s + total) / (gain * joint.p_x + total))).max()
    assert np.abs(measures.log_lift(p_sy)).max() == pytest.approx(level, rel=1e-6, abs=1e-8)
    assert level <= epsilon + ROUNDING
    assert np.log(measures.ldp_ratio(p_sy)).max() <= result.alpha + 1e-8


def test_product_of_protocols_can_leak_more_than_the_sum_of_its_levels():
    """Funnel-2020 Theorem 4 is false as printed."""
    counts = np.array([[[1, 1], [1, 10]], [[8, 1], [1, 8]]], dtype=float)
    first = np.array([[0.6, 0.4], [0.9, 0.1]])
    second = np.array([[0.5, 0.5], [0.1, 0.9]])
    levels = [attribute_level(counts, first), attribute_level(counts.swapaxes(1, 2), second)]
    assert levels == pytest.approx([0.345, 0.404], abs=5e-4)
    released = np.einsum("sab,ay,bz->syz", counts, first, second).reshape(2, 4)
    level = np.abs(measures.log_lift(released)).max()
    assert level == pytest.approx(0.843, abs=5e-4)
    assert level > sum(levels) + 0.09


def attribute_level(counts, protocol):
    """LIP level of one protocol given any values of the other attribute, or none."""
    conditionals = [counts.sum(axis=2), *np.moveaxis(counts, 2, 0)]
    return max(np.abs(measures.log_lift(table @ protocol)).max() for table in conditionals)


def test_two_releases_of_the_same_row_are_not_covered_by_the_budget_of_one():
    joint = np.array([[0.5, 0.0, 0.5], [0.25, 0.5, 0.25]]) / 2
    channel = np.array([[0.0, 1.0], [0.5, 0.5], [1.0, 0.0]])
    np.testing.assert_allclose(measures.lift(joint @ channel), 1)
    twice = np.einsum("xy,xz->xyz", channel, channel).reshape(3, 4)
    lifts = measures.lift(joint @ twice)
    assert lifts.max() == pytest.approx(2)
    assert lifts.min() == 0


# ---- what every mechanism relies on


@given(st.data())
def test_processing_the_release_further_never_leaks_more(data):
    """For all sides but the inverses of l1 and chi2, and without delta."""
    _, _, p = data.draw(releases(positive=data.draw(st.booleans())))
    processed = p @ data.draw(channels(p.shape[1])).matrix
    processed = processed[:, processed.sum(axis=0) > 0]
    assert measures.min_lift(processed).min() >= band(p)[0] * (1 - ROUNDING)
    for measure in CONVEX:
        assert measure(processed).max() <= measure(p).max() * (1 + ROUNDING) + ROUNDING
    for measure in (measures.mutual_information, measures.maximal_leakage):
        assert measure(processed) <= measure(p) + ROUNDING


@pytest.mark.parametrize(
    ("measure", "counts", "before", "after"),
    [
        (measures.l1_lift_inverse, [[1, 1, 8], [2, 1, 2], [1, 2, 2]], 0.625, 2 / 3),
        (measures.chi2_lift_inverse, [[1, 1, 59], [7, 1, 1], [1, 7, 1]], 27.4134, 27.4563),
    ],
)
def test_processing_can_raise_the_inverses_of_l1_and_chi2(measure, counts, before, after):
    p = np.array(counts) / np.sum(counts)
    merged = np.column_stack([p[:, 0] + p[:, 1], p[:, 2]])
    assert measure(p).max() == pytest.approx(before, abs=1e-4)
    assert measure(merged).max() == pytest.approx(after, abs=1e-4)


def test_processing_can_raise_the_probability_of_a_breach():
    """With delta a pair that never occurs costs nothing, until merging gives it a mass."""
    joint = JointDistribution([[0.0, 0.05, 0.45], [0.1, 0.15, 0.25]])
    result = watchdog(joint, LIP(0.7), delta=1e-9)
    assert result.nmi == 1
    assert result.report.satisfied
    merged = joint.matrix @ np.array([[1, 0], [1, 0], [0, 1]])
    assert measures.breach_probability(joint.matrix, 0.7).sum() == 0
    assert measures.breach_probability(merged, 0.7).sum() == pytest.approx(0.05)


@given(joints())
def test_merging_everything_reveals_nothing(joint: JointDistribution):
    everything = joint.released(np.ones((joint.shape[1], 1)))
    np.testing.assert_allclose(measures.lift(everything), 1, rtol=1e-12)
