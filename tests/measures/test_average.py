import math

import numpy as np
import pytest
from dit import Distribution
from dit.divergences import variational_distance
from dit.other import sibson_mutual_information
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import mutual_info_score

from skliftpriv import measures
from skliftpriv.exceptions import InvalidParameterError

from ..strategies import any_joints, count_tables, joints, skewed_joints

ORDERS = [1.5, 2, 3, 10]

AVERAGES = {
    "mutual_information": measures.mutual_information,
    "nmi": measures.nmi,
    "nmil": measures.nmil,
    "total_variation": measures.total_variation,
    "chi2_divergence": measures.chi2_divergence,
    "sibson_1": lambda joint: measures.sibson_mutual_information(joint, 1),
    "sibson_3": lambda joint: measures.sibson_mutual_information(joint, 3),
    "arimoto_3": lambda joint: measures.arimoto_mutual_information(joint, 3),
    "maximal_leakage": measures.maximal_leakage,
    "min_entropy_leakage": measures.min_entropy_leakage,
}


def naive_sibson(joint, alpha):
    p_s = joint.sum(axis=1)
    total = 0.0
    for column in joint.T:
        inner = math.fsum(q * (p / q) ** alpha for p, q in zip(column, p_s, strict=True))
        total += inner ** (1 / alpha)
    return alpha / (alpha - 1) * math.log(total)


def naive_arimoto(joint, alpha):
    after = math.fsum(math.fsum(p**alpha for p in column) ** (1 / alpha) for column in joint.T)
    before = math.fsum(p**alpha for p in joint.sum(axis=1)) ** (1 / alpha)
    return alpha / (alpha - 1) * math.log(after / before)


def as_dit(joint):
    outcomes = [(s, x) for s in range(joint.shape[0]) for x in range(joint.shape[1])]
    return Distribution(outcomes, np.ravel(joint))


def test_noiseless_bit_by_hand():
    joint = np.diag([0.5, 0.5])
    for name in ("mutual_information", "maximal_leakage", "min_entropy_leakage"):
        assert AVERAGES[name](joint) == pytest.approx(math.log(2), rel=1e-15)
    assert measures.nmi(joint) == 1
    assert measures.nmil(joint) == 0
    assert measures.total_variation(joint) == 0.5
    assert measures.chi2_divergence(joint) == 1
    assert measures.sibson_mutual_information(joint, 2) == pytest.approx(math.log(2))
    assert measures.arimoto_mutual_information(joint, 2) == pytest.approx(math.log(2))


def test_binary_symmetric_channel_by_hand():
    joint = np.array([[3, 1], [1, 3]]) / 8
    expected = math.log(2) + 0.75 * math.log(0.75) + 0.25 * math.log(0.25)
    assert measures.mutual_information(joint) == pytest.approx(expected, rel=1e-14)
    assert measures.nmi(joint) == pytest.approx(expected / math.log(2), rel=1e-14)
    assert measures.total_variation(joint) == pytest.approx(0.25, rel=1e-14)
    assert measures.chi2_divergence(joint) == pytest.approx(0.25, rel=1e-14)
    assert measures.maximal_leakage(joint) == pytest.approx(math.log(1.5), rel=1e-14)
    assert measures.min_entropy_leakage(joint) == pytest.approx(math.log(1.5), rel=1e-14)
    assert measures.sibson_mutual_information(joint, 2) == pytest.approx(math.log(1.25), rel=1e-14)


@given(count_tables())
def test_mutual_information_agrees_with_scikit_learn_on_rows(table):
    s, x = np.nonzero(table)
    repeats = table[s, x]
    expected = mutual_info_score(np.repeat(s, repeats), np.repeat(x, repeats))
    assert measures.mutual_information(table) == pytest.approx(expected, rel=1e-10, abs=1e-12)


@given(any_joints())
def test_entropy_and_information_agree_with_scipy(joint):
    h_s, h_x = stats.entropy(joint.p_s), stats.entropy(joint.p_x)
    assert measures.entropy(joint.p_x) == pytest.approx(h_x, rel=1e-10, abs=1e-13)
    mutual = h_s + h_x - stats.entropy(joint.matrix.ravel())
    assert measures.mutual_information(joint.matrix) == pytest.approx(mutual, rel=1e-10, abs=1e-10)
    if joint.shape[1] > 1:
        assert measures.nmi(joint.matrix.T) == pytest.approx(mutual / h_x, rel=1e-8, abs=1e-8)


@settings(max_examples=50)
@given(joints(), st.sampled_from([*ORDERS, np.inf]))
def test_sibson_and_maximal_leakage_agree_with_dit(joint, order):
    expected = sibson_mutual_information(as_dit(joint.matrix), [0], [1], order) * math.log(2)
    value = measures.sibson_mutual_information(joint.matrix, order)
    assert value == pytest.approx(expected, rel=1e-10, abs=1e-12)


@settings(max_examples=40)
@given(joints())
def test_total_variation_agrees_with_dit(joint):
    product = np.outer(joint.p_s, joint.p_x)
    expected = variational_distance(as_dit(joint.matrix), as_dit(product))
    assert measures.total_variation(joint.matrix) == pytest.approx(expected, rel=1e-10, abs=1e-13)


@given(joints())
def test_chi2_divergence_agrees_with_scipy_on_the_contingency_table(joint):
    product = np.outer(joint.p_s, joint.p_x).ravel()
    expected = stats.power_divergence(joint.matrix.ravel(), product).statistic
    assert measures.chi2_divergence(joint.matrix) == pytest.approx(expected, rel=1e-10, abs=1e-14)


@given(joints(), st.sampled_from(ORDERS))
def test_definitions_of_order_alpha_evaluated_naively_agree(joint, alpha):
    sibson = measures.sibson_mutual_information(joint.matrix, alpha)
    arimoto = measures.arimoto_mutual_information(joint.matrix, alpha)
    assert sibson == pytest.approx(naive_sibson(joint.matrix, alpha), rel=1e-10, abs=1e-12)
    assert arimoto == pytest.approx(naive_arimoto(joint.matrix, alpha), rel=1e-10, abs=1e-12)


@given(skewed_joints(), st.sampled_from([1.5, 3.0]))
def test_very_rare_symbols_cost_no_digits(joint, alpha):
    sibson = measures.sibson_mutual_information(joint.matrix, alpha)
    arimoto = measures.arimoto_mutual_information(joint.matrix, alpha)
    assert sibson == pytest.approx(naive_sibson(joint.matrix, alpha), rel=1e-9, abs=1e-12)
    assert arimoto == pytest.approx(naive_arimoto(joint.matrix, alpha), rel=1e-9, abs=1e-12)


def test_mass_on_a_very_rare_large_lift_costs_no_digits():
    # One posterior of 1e-14 carries the whole moment: 1 + (moment - 1) would lose it.
    joint = np.array([[1e-26, 0.0], [1e-12, 1 - 1e-12]])
    joint[0, 0] = 1e-26
    for alpha in (4.0, 10.0):
        expected = naive_sibson(joint, alpha)
        value = measures.sibson_mutual_information(joint, alpha)
        assert value == pytest.approx(expected, rel=1e-9, abs=1e-14)


def test_min_entropy_leakage_and_maximal_leakage_from_guessing():
    joint = np.array([[0.30, 0.10, 0.05], [0.05, 0.20, 0.02], [0.03, 0.05, 0.20]])
    guesses = 0.30 + 0.20 + 0.20
    assert measures.min_entropy_leakage(joint) == pytest.approx(math.log(guesses / 0.45))
    likelihoods = joint / joint.sum(axis=1, keepdims=True)
    expected = math.log(likelihoods.max(axis=0).sum())
    assert measures.maximal_leakage(joint) == pytest.approx(expected, rel=1e-14)


@given(joints())
def test_sibson_is_continuous_and_grows_from_information_to_maximal_leakage(joint):
    p = joint.matrix
    orders = [1, 1 + 1e-9, 1 + 1e-6, 1.1, 2, 8, 64, 1e4, 1e7, np.inf]
    values = [float(measures.sibson_mutual_information(p, alpha)) for alpha in orders]
    assert (np.diff(values) >= -1e-12).all()
    assert values[0] == pytest.approx(float(measures.mutual_information(p)), rel=1e-13, abs=1e-15)
    assert values[1] == pytest.approx(values[0], abs=1e-7)
    assert values[-2] == pytest.approx(values[-1], abs=1e-5)
    assert values[-1] == pytest.approx(float(measures.maximal_leakage(p)), rel=1e-13, abs=1e-15)


@given(joints())
def test_arimoto_is_continuous_at_one_and_at_infinity(joint):
    p = joint.matrix

    def arimoto(alpha):
        return float(measures.arimoto_mutual_information(p, alpha))

    assert arimoto(1) == pytest.approx(float(measures.mutual_information(p)), rel=1e-13, abs=1e-15)
    assert arimoto(1 + 1e-9) == pytest.approx(arimoto(1), abs=1e-7)
    assert arimoto(1e7) == pytest.approx(arimoto(np.inf), abs=1e-5)
    assert arimoto(np.inf) == pytest.approx(float(measures.min_entropy_leakage(p)), rel=1e-13)


@given(joints())
def test_sibson_and_arimoto_agree_for_uniform_s(joint):
    p = joint.matrix / joint.p_s[:, None] / joint.shape[0]
    for alpha in ORDERS:
        sibson = measures.sibson_mutual_information(p, alpha)
        arimoto = measures.arimoto_mutual_information(p, alpha)
        assert sibson == pytest.approx(float(arimoto), rel=1e-10, abs=1e-12)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", AVERAGES)
@given(joint=any_joints())
def test_averages_are_finite_and_nonnegative(name, joint):
    value = AVERAGES[name](joint.matrix)
    assert value.shape == ()
    assert np.isfinite(value)
    assert value >= -1e-12


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", AVERAGES)
def test_averages_ignore_symbols_without_mass(name):
    joint = np.array([[3, 1], [1, 2], [0, 3]]) / 10
    padded = np.zeros((5, 4))
    padded[np.ix_([0, 2, 4], [1, 3])] = joint
    assert AVERAGES[name](padded) == pytest.approx(float(AVERAGES[name](joint)), rel=1e-14)


@pytest.mark.parametrize("name", AVERAGES)
def test_batch_of_a_thousand_joints_equals_the_loop(name):
    batch = np.random.default_rng(1).random((1000, 5, 17))
    batch[batch < 0.1] = 0
    together = AVERAGES[name](batch)
    assert together.shape == (1000,)
    np.testing.assert_allclose(together, [AVERAGES[name](joint) for joint in batch], rtol=1e-12)


@pytest.mark.parametrize("name", AVERAGES)
def test_counts_and_probabilities_give_the_same(name):
    counts = np.array([[30, 1, 4], [2, 0, 9], [7, 7, 7]])
    expected = float(AVERAGES[name](counts / counts.sum()))
    assert AVERAGES[name](counts) == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize("name", AVERAGES)
def test_independence_leaks_nothing(name):
    joint = np.outer([0.2, 0.3, 0.5], [0.6, 0.4])
    assert AVERAGES[name](joint) == pytest.approx(1 if name == "nmil" else 0, abs=1e-15)


@given(st.integers(1, 40), st.integers(0, 10**6))
def test_constant_x_has_nothing_to_lose(n_outputs, seed):
    joint = np.random.default_rng(seed).random((1, n_outputs))
    assert measures.nmi(joint / joint.sum()) == 1


def test_probabilities_near_the_smallest_double_give_no_infinity():
    tiny = 1e-200
    value = measures.mutual_information([[tiny, 0.0], [0.0, 1.0]])
    assert value == pytest.approx(-tiny * math.log(tiny), rel=1e-2)


def test_entropy_runs_over_the_last_axis():
    np.testing.assert_allclose(
        measures.entropy([[0.5, 0.5], [1.0, 0.0]]), [math.log(2), 0], rtol=1e-15
    )


@pytest.mark.parametrize("alpha", [0.5, 0, -1, np.nan])
def test_orders_below_one_are_refused(alpha):
    for measure in (measures.sibson_mutual_information, measures.arimoto_mutual_information):
        with pytest.raises(InvalidParameterError, match="alpha must be at least 1"):
            measure(np.eye(2) / 2, alpha)
