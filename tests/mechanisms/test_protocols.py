from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skliftpriv import ALIP, LDP, LIP, JointDistribution, L1Lift, mechanisms
from skliftpriv._arrays import exact_integers
from skliftpriv.certificate import TOTAL, certify
from skliftpriv.datasets import load_adult, make_joint
from skliftpriv.exceptions import InvalidDistributionError, UnsupportedNotionError
from skliftpriv.measures import lift, mutual_information
from skliftpriv.mechanisms import _unary_encoding, _unary_sets
from skliftpriv.mechanisms._unary_sets import (
    WorstSets,
    _leakage,
    all_sets,
    exact_order,
    mean_log_mass,
)
from skliftpriv.report import worst_levels

from ..strategies import SEEDS, joints

GRR = mechanisms.generalized_randomized_response
CR = mechanisms.conditional_reporting
OUE = mechanisms.optimized_unary_encoding
PROTOCOLS = [GRR, CR, OUE]
BUDGETS = st.floats(0.05, 5.0)
NOTIONS = st.one_of(
    st.builds(LIP, BUDGETS), st.builds(ALIP, BUDGETS, BUDGETS), st.builds(LDP, BUDGETS)
)

each_protocol = pytest.mark.parametrize("protocol", PROTOCOLS, ids=lambda f: f.__name__)


def dirichlet(n_s, n_x, seed, holes=0.0):
    """A Jeffreys joint, as the paper draws them, with a share of its cells emptied."""
    rng = np.random.default_rng(seed)
    cells = make_joint(n_s, n_x, kind="dirichlet", random_state=rng).matrix.copy()
    cells[rng.random(cells.shape) < holes] = 0.0
    # No row and no column may be empty.
    cells[0] += 1e-3
    cells[:, 0] += 1e-3
    return JointDistribution(cells / cells.sum())


def slack(notion, levels):
    """Smallest distance of a level to its budget."""
    return min(bound - levels[side] for side, bound in notion.budget.items())


def mutual_information_of(channel, p_x):
    return float(mutual_information(channel.joint(p_x)))


def p_sy(result):
    """Joint distribution of S and Y of what is sampled, from the channel itself."""
    if isinstance(result, mechanisms.ConditionalResult):
        rows = result.conditional.matrix.reshape(*result.joint.shape, -1)
        return np.einsum("sx,sxy->sy", result.joint.matrix, rows)
    return result.joint.matrix @ result.channel.matrix


@each_protocol
@given(
    joint=st.builds(
        dirichlet, st.integers(2, 8), st.integers(2, 9), SEEDS, st.sampled_from([0.0, 0.3])
    ),
    notion=NOTIONS,
)
def test_level_equals_the_budget_from_below_and_is_that_of_the_channel(protocol, joint, notion):
    result = protocol(joint, notion)
    assert result.report.satisfied
    left = slack(notion, result.report.levels_after)
    if np.isinf(result.alpha):
        assert left >= 0
        assert result.status == "no noise needed"
    else:
        assert 0 <= left <= 1e-9
        assert result.status == "tuned"
    released = p_sy(result)
    measured = worst_levels(notion, lift(released[:, released.sum(axis=0) > 0]), joint.p_s)
    assert result.report.levels_after == pytest.approx(measured, abs=1e-9)


@each_protocol
def test_utility_of_the_report_is_that_of_the_channel(protocol):
    for seed in range(4):
        result = protocol(dirichlet(3, 6, seed), LIP(0.5))
        kept = mutual_information_of(result.channel, result.joint.p_x)
        assert result.report.mutual_information == pytest.approx(kept, abs=1e-10)
        leaked = float(mutual_information(p_sy(result)))
        assert result.report.leakage_mutual_information == pytest.approx(leaked, abs=1e-10)


@each_protocol
@pytest.mark.parametrize("notion", [LIP(0.5), LDP(1.0)], ids=str)
def test_a_larger_budget_needs_no_more_noise(protocol, notion):
    joint = dirichlet(4, 5, 0)
    alphas = [protocol(joint, type(notion)(eps)).alpha for eps in (0.01, 0.1, 0.5, 1.0, 3.0, 9.0)]
    assert alphas == sorted(alphas)


@each_protocol
def test_no_noise_is_added_when_the_identity_meets_the_budget(protocol):
    joint = make_joint(3, 6, random_state=0)
    identity = float(np.abs(np.log(joint.lift)).max())
    free = protocol(joint, LIP(identity + 1e-9))
    assert free.alpha == np.inf
    assert free.report.satisfied
    assert free.nmi == pytest.approx(0.5 if protocol is OUE else 1.0, abs=1e-12)
    tight = protocol(joint, LIP(identity - 1e-3))
    assert np.isfinite(tight.alpha)


@each_protocol
@pytest.mark.parametrize("notion", [LIP(1e-9), LIP(50.0), LDP(1e-9), LDP(50.0)], ids=str)
@pytest.mark.parametrize("holes", [0.0, 0.3])
def test_extreme_budgets(protocol, notion, holes):
    result = protocol(dirichlet(3, 6, 1, holes), notion)
    assert result.report.satisfied
    assert slack(notion, result.report.levels_after) >= 0
    if notion in (LIP(1e-9), LDP(1e-9)):
        assert slack(notion, result.report.levels_after) <= 1e-9
        assert 0 < result.alpha < 1e-7
        # Conditional Reporting with a mask drawn at random still tells the truth 1 time in |S|.
        assert result.nmi > 0.01 if protocol is CR else result.nmi < 1e-9
    else:
        assert result.nmi == pytest.approx(0.5 if protocol is OUE else 1.0, abs=1e-6)


@each_protocol
def test_budgets_beyond_the_62_bits_that_are_sampled_keep_the_promise(protocol):
    # Zero cells need e^-50, but no probability below 2^-62 can be drawn.
    result = protocol(JointDistribution.from_counts([[3, 0, 2], [1, 4, 0]]), LIP(50.0))
    assert result.alpha == 36.0
    assert result.report.satisfied
    assert 30 < -result.report.min_log_lift < 50


@each_protocol
@pytest.mark.parametrize("budget", [1e-15, 1e-17, 1e-18, 1e-300])
def test_budgets_below_rounding_end_in_pure_noise_and_not_in_a_loop(protocol, budget):
    nearly_independent = np.outer([0.3, 0.7], [0.1, 0.2, 0.7]) + 1e-17
    joint = JointDistribution(nearly_independent / nearly_independent.sum())
    assert protocol(joint, LIP(budget)).report.satisfied


@each_protocol
def test_one_useful_symbol_needs_no_noise(protocol):
    result = protocol(JointDistribution.from_counts([[3], [5]]), LIP(0.1))
    assert result.alpha == np.inf
    assert result.report.satisfied
    assert result.nmi == 1.0


@each_protocol
def test_one_sensitive_symbol_needs_no_noise(protocol):
    result = protocol(JointDistribution.from_counts([[3, 5, 1]]), LDP(0.1))
    assert result.alpha == np.inf
    assert result.report.satisfied


@each_protocol
def test_s_that_x_tells_is_masked(protocol):
    joint = JointDistribution.from_counts([[3, 0, 2, 0], [0, 4, 0, 1]])
    result = protocol(joint, LDP(1.0))
    assert 0 <= 1.0 - result.report.ldp <= 1e-9
    assert 0 < result.nmi < 1


@each_protocol
def test_notions_without_a_closed_form_are_refused(protocol):
    with pytest.raises(UnsupportedNotionError, match=r"LIP, ALIP (or|and) LDP, not"):
        protocol(make_joint(2, 3, random_state=0), L1Lift(1.0, 1.0))


@each_protocol
@settings(max_examples=30)
@given(joint=joints())
def test_any_table_of_counts_is_protected(protocol, joint):
    for notion in (LIP(0.4), ALIP(0.2, 1.5), LDP(0.7)):
        result = protocol(joint, notion)
        assert result.report.satisfied
        assert slack(notion, result.report.levels_after) >= 0
        assert 0 <= result.nmi <= 1


def test_randomised_response_is_equation_28():
    joint = dirichlet(3, 5, 0)
    result = GRR(joint, LIP(0.5))
    e = np.exp(result.alpha)
    expected = np.where(np.eye(5, dtype=bool), e, 1.0) / (e + 4)
    assert np.abs(result.channel.matrix - expected).max() < 1e-12
    assert result.channel.outputs == joint.useful_labels
    assert certify(joint.masses, result.certified.weights, result.notion).all()


def test_level_of_randomised_response_is_equation_29():
    joint = dirichlet(4, 6, 2)
    result = GRR(joint, LIP(0.7))
    k = np.expm1(result.alpha)
    given_s = joint.matrix / joint.p_s[:, None]
    level = np.abs(np.log((1 + k * given_s) / (1 + k * joint.p_x))).max()
    assert level == pytest.approx(0.7, abs=1e-10)


def test_conditional_reporting_is_algorithm_1():
    # Step by step instead of by the formula: mask s, then report x or draw from the mask's row.
    joint = dirichlet(4, 5, 3, 0.2)
    n_s, n_x = joint.shape
    result = CR(joint, LIP(0.6))
    e = np.exp(result.alpha)
    given_s = joint.matrix / joint.p_s[:, None]
    rows = result.conditional.matrix.reshape(n_s, n_x, n_x)
    for s in range(n_s):
        for x in range(n_x):
            expected = np.zeros(n_x)
            for mask in range(n_s):
                p = (e if mask == s else 1.0) / (e + n_s - 1)
                expected += p * (np.eye(n_x)[x] if mask == s else given_s[mask])
            assert np.abs(rows[s, x] - expected).max() < 1e-12


def test_conditional_channel_names_its_pairs():
    joint = JointDistribution.from_counts([[3, 1], [1, 4]], ["u", "v"], ["a", "b"])
    result = CR(joint, LIP(0.2))
    assert result.conditional.inputs == (("u", "a"), ("u", "b"), ("v", "a"), ("v", "b"))
    assert result.channel.inputs == result.channel.outputs == ("a", "b")


def test_marginal_of_conditional_reporting_averages_s_out():
    joint = dirichlet(4, 5, 4, 0.2)
    result = CR(joint, LDP(0.8))
    rows = result.conditional.matrix.reshape(*joint.shape, -1)
    expected = np.einsum("sx,sxy->xy", joint.matrix / joint.p_x, rows)
    assert np.abs(result.channel.matrix - expected).max() < 1e-12
    assert np.abs(result.channel.p_y(joint.p_x) - p_sy(result).sum(axis=0)).max() < 1e-12


def test_level_of_conditional_reporting_is_equation_33_and_at_most_alpha():
    for seed in range(10):
        joint = dirichlet(4, 6, seed)
        result = CR(joint, LIP(0.7))
        if np.isinf(result.alpha):
            continue
        k = np.expm1(result.alpha)
        given_s = joint.matrix / joint.p_s[:, None]
        level = np.log((k * given_s + given_s.sum(0)) / (k * joint.p_x + given_s.sum(0)))
        assert np.abs(level).max() == pytest.approx(0.7, abs=1e-10)
        assert result.alpha >= 0.7


def test_unary_channel_is_equation_31():
    joint = dirichlet(3, 4, 5)
    result = OUE(joint, LIP(0.5))
    e, n = np.exp(result.alpha), 4
    bits = all_sets(n)
    size = bits.sum(axis=1)
    # The paper writes a for the number of symbols, here n.
    inside = e ** (n - size) / (2 * (e + 1) ** (n - 1))
    outside = e ** (n - size - 1) / (2 * (e + 1) ** (n - 1))
    expected = np.where(bits.T, inside, outside)
    assert np.abs(result.channel.matrix - expected).max() < 1e-12
    assert result.channel.outputs[0] == "{}"
    assert result.channel.outputs[5] == "{0, 2}"


def test_unary_weights_are_those_of_the_channel_and_rounded_toward_noise():
    result = OUE(dirichlet(3, 4, 5), LIP(0.5))
    assert result.noise_weight >= TOTAL / (np.exp(result.alpha) + 1)
    assert result.bit_weights.sum(axis=1).tolist() == [TOTAL, TOTAL]
    assert result.bit_weights.toarray()[1].tolist() == [TOTAL // 2, TOTAL // 2]


@pytest.mark.parametrize("n", range(1, 11))
@pytest.mark.parametrize("alpha", [0.01, 1.0, 4.0, 12.0])
def test_worst_sets_are_prefixes(n, alpha):
    joint = dirichlet(3, n, 100 + n, 0.2)
    k = np.expm1(alpha)
    bits = all_sets(n).T.astype(float)
    given_s = joint.matrix / joint.p_s[:, None]
    brute = (1 + k * given_s @ bits) / (1 + k * joint.p_x @ bits)
    for notion in (LIP(1.0), ALIP(1.0, 1.0), LDP(1.0)):
        sets = WorstSets(joint.masses, pairs=isinstance(notion, LDP))
        found = worst_levels(notion, sets.lift(alpha), joint.p_s)
        wanted = worst_levels(notion, brute, joint.p_s)
        for side, level in wanted.items():
            assert found[side] == pytest.approx(level, rel=1e-10, abs=1e-12)


@pytest.mark.parametrize("n", [1, 2, 5, 10])
@pytest.mark.parametrize("alpha", [1e-6, 0.1, 1.0, 5.0, 20.0])
def test_integrals_equal_sums_over_all_sets(n, alpha):
    joint = dirichlet(3, n, n, 0.2)
    k = np.expm1(alpha)
    noise = 1 / (k + 2)
    bits = all_sets(n)
    given_x = np.array(
        [np.where(bits, np.where(np.arange(n) == x, 0.5, noise), 0.0) for x in range(n)]
    ) + np.where(bits, 0.0, np.where(np.eye(n, dtype=bool)[:, None, :], 0.5, 1 - noise))
    channel = given_x.prod(axis=2)
    p_y = joint.p_x @ channel
    brute = (joint.p_x[:, None] * channel * np.log(channel / p_y)).sum()
    mean, error = mean_log_mass(joint.p_x, joint.p_x, k)
    assert alpha / 2 - mean == pytest.approx(brute, abs=1e-10)
    assert error < 1e-10
    leak, leak_error = _leakage(joint, k)
    assert leak == pytest.approx(float(mutual_information(joint.matrix @ channel)), abs=1e-10)
    assert leak_error < 1e-10


@pytest.mark.parametrize("n", [20, 40, 200])
@pytest.mark.parametrize("notion", [LIP(0.5), LDP(1.0)], ids=str)
def test_large_alphabets_need_few_sets(n, notion, monkeypatch):
    for module in (_unary_encoding, _unary_sets):
        monkeypatch.setattr(module, "all_sets", lambda n: pytest.fail(f"2^{n} sets"))
    joint = make_joint(5, n, random_state=0)
    assert WorstSets(joint.masses, pairs=False).lift(1.0).shape == (5, 2 * 5 * n)
    assert WorstSets(joint.masses, pairs=True).lift(1.0).shape == (5, 4 * 5 * n)
    result = OUE(joint, notion)
    assert result.channel is None
    assert 0 <= slack(notion, result.report.levels_after) <= 1e-9
    assert 0 < result.nmi < 0.5
    assert result.information_error < 1e-10
    assert result.report.leakage_mutual_information <= result.report.maximal_leakage + 1e-12


def test_reports_agree_where_enumeration_ends():
    # 16 symbols are enumerated, 17 are not: a symbol that hardly occurs must change nothing.
    small = make_joint(3, 16, random_state=1)
    cells = np.hstack([small.matrix, small.p_s[:, None] * 1e-13])
    large = OUE(JointDistribution(cells / cells.sum()), LIP(0.5))
    exact = OUE(small, LIP(0.5))
    for name in ("max_log_lift", "min_log_lift", "ldp", "nmi", "leakage_mutual_information"):
        assert getattr(large.report, name) == pytest.approx(getattr(exact.report, name), abs=1e-6)
    for name in ("maximal_leakage", "min_entropy_leakage", "total_variation", "chi2_divergence"):
        assert getattr(large.report, name) >= getattr(exact.report, name) - 1e-9


def test_unary_encoding_without_noise_releases_the_symbol_or_nothing():
    joint = make_joint(3, 5, random_state=0)
    result = OUE(joint, LIP(20.0))
    assert result.alpha == np.inf
    assert result.noise_weight == 0
    assert result.nmi == 0.5
    probable = {
        label
        for label, p in zip(result.channel.outputs, result.channel.p_y(joint.p_x), strict=True)
        if p > 0
    }
    assert probable == {"{}", "{0}", "{1}", "{2}", "{3}", "{4}"}
    assert result.report.mutual_information == pytest.approx(
        mutual_information_of(result.channel, joint.p_x), abs=1e-12
    )


@pytest.mark.parametrize(
    "labels", [["a", "b", "a, b"], [1, "1", 2], [None, "missing", "z"]], ids=str
)
def test_sets_that_read_alike_get_distinct_names(labels):
    joint = JointDistribution.from_counts([[3, 1, 2], [1, 4, 2]], None, labels)
    assert len(set(OUE(joint, LIP(0.2)).channel.outputs)) == 8


def test_unary_encoding_of_education_which_the_paper_calls_infeasible():
    joint = JointDistribution.from_frame(load_adult(), "marital-status", "education")
    result = OUE(joint, LIP(1.0))
    assert joint.shape == (7, 16)
    assert 0 <= 1.0 - max(result.report.levels_after.values()) <= 1e-9
    assert 0 < result.nmi < 0.5


@pytest.mark.slow
@pytest.mark.parametrize("eps", [1.0, 1.5, 2.0])
def test_difference_in_alpha_explains_difference_in_utility(eps):
    # Lopuhaa-Zwakenberg et al. (2020), figure 7: 0.97 to 0.99 for 100 joints with a = c = 5.
    pairs = []
    for seed in range(100):
        joint = make_joint(5, 5, kind="dirichlet", random_state=seed)
        mine, other = CR(joint, LIP(eps)), GRR(joint, LIP(eps))
        if np.isinf(mine.alpha) or np.isinf(other.alpha):
            continue
        pairs.append(
            (
                mine.alpha - other.alpha,
                mine.report.mutual_information - other.report.mutual_information,
            )
        )
    assert len(pairs) > 95
    assert np.corrcoef(np.array(pairs).T)[0, 1] > 0.95


@each_protocol
def test_results_describe_themselves_in_one_line(protocol):
    text = repr(protocol(make_joint(3, 50, random_state=0), LIP(0.5)))
    assert "0.5-LIP met, 50 symbols" in text
    assert len(text) < 120
    assert "\n" not in text


def test_worst_sets_are_found_where_lifts_differ_by_less_than_a_double_shows():
    # Quotients of whole numbers that are equal as doubles.
    big = 2**60
    order = exact_order(
        np.array([big + 2, big + 1, 0, big + 3], dtype=object),
        np.array([big, big, 0, big], dtype=object),
    )
    assert order.tolist() == [2, 1, 0, 3]


@pytest.mark.parametrize("notion", [LIP(0.3), LDP(0.3)])
def test_unary_encoding_keeps_its_budget_with_masses_of_any_size(notion):
    # As doubles, the probabilities of the second row are so small that they have two bits.
    rng = np.random.default_rng(0)
    for _ in range(60):
        masses = np.array([[1e150], [1e-172]]) * 10.0 ** rng.uniform(-1, 1, size=(2, 4))
        try:
            joint = JointDistribution.from_counts(masses)
        except InvalidDistributionError:
            continue  # not even that
        assert_unary_budget_holds(OUE(joint, notion), notion)


def assert_unary_budget_holds(result, notion):
    """Recompute the lifts of all 2^n outputs in fractions."""
    masses = exact_integers(result.joint.masses)
    total, of_s = masses.sum(), masses.sum(axis=1)
    factor, weight = TOTAL - 2 * result.noise_weight, result.noise_weight
    p_s = [Fraction(value, total) for value in of_s]
    for bits in all_sets(masses.shape[1]):
        inside = masses[:, bits].sum(axis=1)
        if weight == 0 and inside.sum() == 0:
            continue
        whole = Fraction(weight * total + factor * inside.sum(), total)
        lift = [
            Fraction(weight * whole_s + factor * part, whole_s) / whole
            for part, whole_s in zip(inside, of_s, strict=True)
        ]
        assert notion.exactly_met(lift, p_s)
