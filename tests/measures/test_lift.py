import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skliftpriv import measures
from skliftpriv.exceptions import InvalidDistributionError, InvalidParameterError

from ..strategies import any_joints, joints

# P_S = (1/2, 1/2); lifts are (3/2, 1/2), (1, 1) and (0, 2).
JOINT = np.array([[3, 2, 0], [1, 2, 2]]) / 10

PER_OUTPUT = {
    "min_lift": measures.min_lift,
    "max_lift": measures.max_lift,
    "ldp_ratio": measures.ldp_ratio,
    "l1_lift": measures.l1_lift,
    "chi2_lift": measures.chi2_lift,
    "alpha_lift": lambda joint, **kw: measures.alpha_lift(joint, 2.5, **kw),
    "l1_lift_inverse": measures.l1_lift_inverse,
    "chi2_lift_inverse": measures.chi2_lift_inverse,
    "alpha_lift_inverse": lambda joint, **kw: measures.alpha_lift_inverse(joint, 2.5, **kw),
    "breach_probability": lambda joint, **kw: measures.breach_probability(joint, 0.5, **kw),
}


def naive(name, joint):
    """Evaluate the definitions one output and one symbol at a time."""
    joint = np.asarray(joint) / np.sum(joint)
    p_s = [math.fsum(row) for row in joint]
    result = []
    for column in joint.T:
        p_y = math.fsum(column)
        lifts = [p / (p_y * q) for p, q in zip(column, p_s, strict=True)]
        inverses = [1 / value if value else math.inf for value in lifts]

        def mean(function, values):
            return math.fsum(q * function(v) for q, v in zip(p_s, values, strict=True))

        result.append(
            {
                "min_lift": lambda lifts=lifts: min(lifts),
                "max_lift": lambda lifts=lifts: max(lifts),
                "ldp_ratio": lambda a=lifts, b=inverses: max(a) * max(b),
                "l1_lift": lambda lifts=lifts: mean(lambda v: abs(v - 1), lifts),
                "chi2_lift": lambda lifts=lifts: mean(lambda v: (v - 1) ** 2, lifts),
                "alpha_lift": lambda lifts=lifts: mean(lambda v: v**2.5, lifts) ** (1 / 2.5),
                "l1_lift_inverse": lambda b=inverses: mean(lambda v: abs(v - 1), b),
                "chi2_lift_inverse": lambda b=inverses: mean(lambda v: (v - 1) ** 2, b),
                "alpha_lift_inverse": lambda b=inverses: mean(lambda v: v**2.5, b) ** (1 / 2.5),
                "breach_probability": lambda c=column, a=lifts: math.fsum(
                    p for p, v in zip(c, a, strict=True) if v > math.exp(0.5) or v < math.exp(-0.5)
                ),
            }[name]()
        )
    return result


def test_lift_by_hand():
    np.testing.assert_allclose(measures.lift(JOINT), [[1.5, 1, 0], [0.5, 1, 2]], rtol=1e-15)
    expected = [[math.log(1.5), 0, -np.inf], [math.log(0.5), 0, math.log(2)]]
    np.testing.assert_allclose(measures.log_lift(JOINT), expected, rtol=1e-14)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("min_lift", [0.5, 1, 0]),
        ("max_lift", [1.5, 1, 2]),
        ("ldp_ratio", [3, 1, np.inf]),
        ("l1_lift", [0.5, 0, 1]),
        ("chi2_lift", [0.25, 0, 1]),
        ("l1_lift_inverse", [2 / 3, 0, np.inf]),
        ("chi2_lift_inverse", [(1 / 9 + 1) / 2, 0, np.inf]),
    ],
)
def test_values_by_hand(name, expected):
    np.testing.assert_allclose(PER_OUTPUT[name](JOINT), expected, rtol=1e-14, atol=1e-15)


def test_alpha_lift_by_hand():
    expected = [math.sqrt(1.25), 1, math.sqrt(2)]
    np.testing.assert_allclose(measures.alpha_lift(JOINT, 2), expected, rtol=1e-14)
    expected = [math.sqrt((4 / 9 + 4) / 2), 1, np.inf]
    np.testing.assert_allclose(measures.alpha_lift_inverse(JOINT, 2), expected, rtol=1e-14)


@pytest.mark.parametrize("name", PER_OUTPUT)
@given(joint=joints())
def test_definitions_evaluated_naively_agree(name, joint):
    np.testing.assert_allclose(
        PER_OUTPUT[name](joint.matrix), naive(name, joint.matrix), rtol=1e-10, atol=1e-14
    )


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", [*PER_OUTPUT, "lift", "log_lift"])
@given(joint=any_joints(), alpha=st.sampled_from([1, 1.5, 7, 300, np.inf]))
def test_no_joint_gives_nan(name, joint, alpha):
    if name.startswith("alpha"):
        value = getattr(measures, name)(joint.matrix, alpha)
    else:
        value = PER_OUTPUT.get(name, getattr(measures, name))(joint.matrix)
    if name == "breach_probability":
        value = measures.breach_probability(joint.matrix, 0.5)
    assert not np.isnan(value).any()


@pytest.mark.parametrize("name", PER_OUTPUT)
def test_batch_of_a_thousand_joints_equals_the_loop(name):
    batch = np.random.default_rng(1).random((1000, 5, 17))
    batch[batch < 0.1] = 0
    batch /= batch.sum(axis=(1, 2), keepdims=True)
    together = PER_OUTPUT[name](batch)
    assert together.shape == (1000, 17)
    one_by_one = np.array([PER_OUTPUT[name](joint) for joint in batch])
    np.testing.assert_allclose(together, one_by_one, rtol=1e-12)


def test_batch_of_lists_of_joints_keeps_both_axes():
    batch = np.random.default_rng(2).random((3, 4, 5, 17))
    assert measures.lift(batch).shape == (3, 4, 5, 17)
    np.testing.assert_array_equal(measures.max_lift(batch)[2, 1], measures.max_lift(batch[2, 1]))


@pytest.mark.parametrize("name", PER_OUTPUT)
def test_counts_and_probabilities_give_the_same(name):
    counts = np.array([[30, 1, 4], [2, 0, 9], [7, 7, 7]])
    np.testing.assert_allclose(
        PER_OUTPUT[name](counts), PER_OUTPUT[name](counts / counts.sum()), rtol=1e-13
    )


@pytest.mark.parametrize("name", [name for name in PER_OUTPUT if name != "breach_probability"])
def test_some_columns_of_any_scale_with_the_prior_equal_the_whole(name):
    whole = np.random.default_rng(3).random((4, 6))
    whole /= whole.sum()
    some = whole[:, [1, 4]] * [3.0, 1e-6]
    expected = PER_OUTPUT[name](whole)[[1, 4]]
    np.testing.assert_allclose(PER_OUTPUT[name](some, p_s=whole.sum(axis=1)), expected, rtol=1e-12)
    # and without the prior they do not: the test above could not pass by accident
    assert not np.allclose(PER_OUTPUT[name](some), expected)


def test_one_prior_serves_a_batch_and_a_batch_of_priors_one_column():
    batch = np.random.default_rng(4).random((6, 3, 2))
    prior = np.array([0.2, 0.3, 0.5])
    together = measures.l1_lift(batch, p_s=prior)
    for k in range(6):
        np.testing.assert_allclose(together[k], measures.l1_lift(batch[k], p_s=prior))
    priors = np.random.default_rng(5).dirichlet([1, 1, 1], 6)
    together = measures.l1_lift(batch[0], p_s=priors)
    for k in range(6):
        np.testing.assert_allclose(together[k], measures.l1_lift(batch[0], p_s=priors[k]))


def test_prior_of_another_length_or_sum_is_refused():
    with pytest.raises(InvalidDistributionError, match=r"p_s has 3 entries.*2 rows"):
        measures.lift(JOINT, p_s=[0.2, 0.3, 0.5])
    with pytest.raises(InvalidDistributionError, match="p_s must sum to 1, but it sums to 7"):
        measures.lift(JOINT, p_s=[3, 4])


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", PER_OUTPUT)
def test_symbols_and_outputs_without_mass_count_as_lift_one(name):
    padded = np.zeros((3, 4))
    padded[np.ix_([0, 2], [0, 1, 3])] = JOINT
    value = PER_OUTPUT[name](padded)
    # An empty sensitive symbol has lift 1, which changes neither the extremes nor the averages.
    np.testing.assert_allclose(value[[0, 1, 3]], PER_OUTPUT[name](JOINT), rtol=1e-14, atol=1e-16)
    silent = {"l1_lift", "chi2_lift", "l1_lift_inverse", "chi2_lift_inverse"}
    assert value[2] == (0 if name in silent | {"breach_probability"} else 1)


def test_negative_zero_does_not_look_safe():
    joint = JOINT.copy()
    joint[0, 2] = -0.0
    assert measures.l1_lift_inverse(joint)[2] == np.inf
    assert measures.alpha_lift_inverse(joint, 3)[2] == np.inf
    assert measures.ldp_ratio(joint)[2] == np.inf


@given(joints())
def test_alpha_lift_grows_with_alpha_from_one_to_max_lift(joint):
    orders = [1, 1.001, 1.5, 2, 5, 50, 1e4, np.inf]
    values = np.array([measures.alpha_lift(joint.matrix, alpha) for alpha in orders])
    assert (np.diff(values, axis=0) >= -1e-12).all()
    np.testing.assert_allclose(values[0], 1, rtol=1e-12)
    np.testing.assert_allclose(values[-1], measures.max_lift(joint.matrix), rtol=1e-14)
    # The power mean of order alpha is at least p_min^(1/alpha) times the largest value.
    np.testing.assert_allclose(values[-2], values[-1], rtol=2 * -math.log(joint.p_s.min()) / 1e4)


@given(joints(positive=True))
def test_alpha_lift_inverse_reaches_the_inverse_of_min_lift(joint):
    at_infinity = measures.alpha_lift_inverse(joint.matrix, np.inf)
    np.testing.assert_allclose(at_infinity, 1 / measures.min_lift(joint.matrix), rtol=1e-14)
    large = measures.alpha_lift_inverse(joint.matrix, 1e5)
    assert (large <= at_infinity * (1 + 1e-12)).all()
    np.testing.assert_allclose(large, at_infinity, rtol=2 * -math.log(joint.p_s.min()) / 1e5)


@pytest.mark.parametrize("alpha", [0.999, 0, -1, np.nan, -np.inf])
def test_orders_below_one_are_refused(alpha):
    with pytest.raises(InvalidParameterError, match="alpha must be at least 1"):
        measures.alpha_lift(JOINT, alpha)
    with pytest.raises(InvalidParameterError, match="alpha must be at least 1"):
        measures.alpha_lift_inverse(JOINT, alpha)


def test_a_vector_is_no_joint_and_the_bad_cell_is_named():
    with pytest.raises(InvalidDistributionError, match="two axes"):
        measures.lift([0.5, 0.5])
    with pytest.raises(InvalidDistributionError, match=r"cell \(1, 0, 1\) is -1"):
        measures.lift([[[1, 1]], [[1, -1]]])
