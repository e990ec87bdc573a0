import copy
import pickle

import numpy as np
import pytest
from hypothesis import given

from skliftpriv import JointDistribution, measures
from skliftpriv.exceptions import InvalidDistributionError, InvalidParameterError

from .strategies import any_joints, count_tables

TABLE = [[3, 1, 0], [1, 2, 5]]


def make():
    return JointDistribution.from_counts(TABLE, ["ill", "well"], ["a", "b", "c"])


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ([[0.5, -0.1], [0.3, 0.3]], r"cell \(0, 1\) is -0.1"),
        ([[0.5, 0.5], [np.nan, 0.0]], r"cell \(1, 0\) is nan"),
        ([[0.5, 0.5], [0.0, np.inf]], r"cell \(1, 1\) is inf"),
        ([0.5, 0.5], r"2 dimensions.*\(2,\)"),
        ([[[1.0]]], r"2 dimensions.*\(1, 1, 1\)"),
        (np.zeros((0, 3)), r"empty.*\(0, 3\)"),
        ([[0.5, "x"]], "only numbers"),
        ([[0.5, 0.5], [1.0]], "only numbers"),
        (np.array([[1 + 0j]]), "real numbers"),
        ([[3, 1], [1, 2]], r"sums to 7, not to 1.*from_counts"),
        ([[0.5, 0.4999]], "sums to 0.9999"),
        ([[0.0, 0.0]], "sums to 0"),
    ],
)
def test_malformed_matrix_is_refused_and_the_place_named(matrix, message):
    with pytest.raises(InvalidDistributionError, match=message):
        JointDistribution(matrix)


def test_counts_without_any_row_are_refused():
    with pytest.raises(InvalidDistributionError, match="no rows"):
        JointDistribution.from_counts(np.zeros((2, 3)))


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (["a", "b"], "useful_labels: 2 labels given for 3 symbols"),
        (["a", "b", "a"], "useful_labels: the label 'a' occurs twice"),
        ([1, 2, 1.0], "useful_labels: the label 1.0 occurs twice"),
        (["a", ["b"], "c"], r"useful_labels: \['b'\] is not hashable"),
        (["a", float("nan"), "c"], "useful_labels: NaN"),
        (np.array([1.0, np.nan, 2.0]), "useful_labels: NaN"),
        ("abc", "not 'abc'"),
    ],
)
def test_bad_labels_are_refused_and_named(labels, message):
    with pytest.raises(InvalidDistributionError, match=message):
        JointDistribution.from_counts(TABLE, useful_labels=labels)


def test_bad_sensitive_labels_are_named_as_such():
    with pytest.raises(InvalidDistributionError, match="sensitive_labels: the label 0 occurs"):
        JointDistribution.from_counts(TABLE, sensitive_labels=[0, 0])


def test_labels_default_to_positions_and_numpy_scalars_become_python_objects():
    joint = JointDistribution.from_counts(TABLE, useful_labels=np.array(["a", "b", "c"]))
    assert joint.sensitive_labels == (0, 1)
    assert joint.useful_labels == ("a", "b", "c")
    assert all(type(label) is str for label in joint.useful_labels)
    assert type(JointDistribution([[1.0]], np.array([7])).sensitive_labels[0]) is int


def test_ints_strings_tuples_and_none_are_different_labels():
    labels = (1, "1", (1,), None)
    assert JointDistribution(np.full((1, 4), 0.25), None, labels).useful_labels == labels


def test_probabilities_marginals_and_lift_by_hand():
    joint = make()
    assert joint.shape == (2, 3)
    assert joint.n_rows == 12
    np.testing.assert_array_equal(joint.masses, TABLE)
    np.testing.assert_allclose(joint.matrix, np.array(TABLE) / 12, rtol=1e-15)
    np.testing.assert_allclose(joint.p_s, [4 / 12, 8 / 12], rtol=1e-15)
    np.testing.assert_allclose(joint.p_x, [4 / 12, 3 / 12, 5 / 12], rtol=1e-15)
    expected = [[9 / 4, 1, 0], [3 / 8, 1, 3 / 2]]
    np.testing.assert_allclose(joint.lift, expected, rtol=1e-14)


@given(any_joints())
def test_marginals_and_lift_agree_with_the_measures(joint):
    assert joint.matrix.sum() == pytest.approx(1, abs=1e-12)
    assert (joint.p_s > 0).all()
    assert (joint.p_x > 0).all()
    np.testing.assert_allclose(joint.lift, measures.lift(joint.matrix), rtol=1e-12)
    np.testing.assert_allclose(joint.p_s @ joint.lift, 1, rtol=1e-9)
    np.testing.assert_allclose(joint.lift @ joint.p_x, 1, rtol=1e-9)


def test_symbols_without_mass_are_dropped_and_remembered():
    table = [[0, 0, 0], [2, 0, 3], [1, 0, 0]]
    joint = JointDistribution.from_counts(table, ["p", "q", "r"], ["a", "b", "c"])
    assert joint.sensitive_labels == ("q", "r")
    assert joint.useful_labels == ("a", "c")
    assert joint.dropped_sensitive == ("p",)
    assert joint.dropped_useful == ("b",)
    np.testing.assert_array_equal(joint.masses, [[2, 3], [1, 0]])


def test_smoothing_adds_to_seen_symbols_only_and_keeps_the_number_of_rows():
    table = [[0, 0, 0], [2, 0, 3], [1, 0, 0]]
    joint = JointDistribution.from_counts(table, smoothing=0.5)
    np.testing.assert_array_equal(joint.masses, [[2.5, 3.5], [1.5, 0.5]])
    assert joint.n_rows == 6
    assert joint.dropped_useful == (1,)
    assert joint.lift.min() > 0


@given(count_tables())
def test_smoothing_pulls_the_lift_towards_the_product_of_uniform_margins(table):
    joint = JointDistribution.from_counts(table, smoothing=1e9)
    np.testing.assert_allclose(joint.lift, 1, atol=1e-6)


@pytest.mark.parametrize("smoothing", [-1, np.nan, np.inf, "1", None])
def test_impossible_smoothing_is_refused(smoothing):
    with pytest.raises(InvalidParameterError, match="smoothing"):
        JointDistribution.from_counts(TABLE, smoothing=smoothing)


def variants():
    joint = make()
    joint.p_s, joint.p_x, joint.lift  # noqa: B018 - fill the caches before copying
    return {
        "itself": joint,
        "pickled": pickle.loads(pickle.dumps(joint)),
        "deepcopied": copy.deepcopy(joint),
        "copied": copy.copy(joint),
        "uncached": pickle.loads(pickle.dumps(make())),
    }


@pytest.mark.parametrize("how", ["itself", "pickled", "deepcopied", "copied", "uncached"])
def test_nothing_can_be_changed(how):
    joint = variants()[how]
    assert joint == make()
    for name in ("matrix", "masses", "p_s", "p_x", "lift"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(joint, name)[...] = 1.0
        with pytest.raises(AttributeError, match="immutable"):
            setattr(joint, name, None)
    with pytest.raises(AttributeError, match=r"immutable.*'colour'"):
        joint.colour = "red"
    with pytest.raises(AttributeError, match="immutable"):
        del joint.matrix


def test_callers_array_is_neither_frozen_nor_followed():
    values = np.array([[0.25, 0.25], [0.25, 0.25]])
    joint = JointDistribution(values)
    values[0, 0] = 9.0
    assert joint.matrix[0, 0] == 0.25
    assert joint.masses[0, 0] == 0.25


def test_conversion_to_an_array_gives_a_writable_copy():
    joint = make()
    array = np.asarray(joint)
    array[0, 0] = 9.0
    assert joint.matrix[0, 0] == 0.25


def test_equality_and_hash_see_labels_and_numbers():
    joint = make()
    assert joint == make()
    assert hash(joint) == hash(make())
    assert joint != JointDistribution.from_counts(TABLE, ["ill", "well"], ["a", "b", "d"])
    assert joint != JointDistribution.from_counts(TABLE, ["sick", "well"], ["a", "b", "c"])
    other = [[3, 1, 0], [1, 2, 6]]
    assert joint != JointDistribution.from_counts(other, ["ill", "well"], ["a", "b", "c"])
    assert joint != "joint"
    assert (joint == 1) is False


def test_negative_zero_is_zero():
    plus = JointDistribution([[0.5, 0.0], [0.25, 0.25]])
    minus = JointDistribution([[0.5, -0.0], [0.25, 0.25]])
    assert plus == minus
    assert hash(plus) == hash(minus)
    assert not np.signbit(minus.matrix).any()


def test_released_is_the_joint_of_s_and_y():
    joint = make()
    merged = joint.released([[1, 0], [1, 0], [0, 1]])
    np.testing.assert_allclose(merged, np.array([[4, 0], [3, 5]]) / 12, rtol=1e-15)


def test_repr_tells_sizes_and_rows():
    assert repr(make()) == "JointDistribution(2 sensitive x 3 useful symbols, 12 rows)"
    assert repr(JointDistribution([[1.0]])) == "JointDistribution(1 sensitive x 1 useful symbols)"


def test_counts_and_smoothing_that_overflow_are_refused():
    with pytest.raises(InvalidDistributionError, match="The table of counts is too large"):
        JointDistribution.from_counts(np.full((5, 5), 1e307))
    with pytest.raises(InvalidDistributionError, match="smoothing=1e\\+308 is too large"):
        JointDistribution.from_counts(np.ones((5, 5)), smoothing=1e308)
    with pytest.raises(InvalidParameterError, match="smoothing must be a finite number"):
        JointDistribution.from_counts(np.ones((5, 5)), smoothing=10**400)


def test_a_symbol_whose_probability_vanishes_in_doubles_is_named():
    with pytest.raises(InvalidDistributionError, match="'rare' has so little mass"):
        JointDistribution.from_counts([[1e160, 1e160], [1e-180, 1e-180]], ["often", "rare"])
