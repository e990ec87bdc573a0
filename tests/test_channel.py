import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skliftpriv import Channel
from skliftpriv.exceptions import InvalidDistributionError

from .strategies import channels, joints


def make():
    return Channel([[1.0, 0.0], [0.25, 0.75]], ["a", "b"], ["u", "v"])


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ([[0.5, 0.5], [0.5, 0.4]], "row of input 'b' sums to 0.9"),
        ([[0.5, 0.5], [1.1, -0.1]], r"cell \(1, 1\) is -0.1"),
        ([[0.5, np.nan], [0.5, 0.5]], r"cell \(0, 1\) is nan"),
        ([1.0, 0.0], "2 dimensions"),
    ],
)
def test_malformed_matrix_is_refused_and_the_row_or_cell_named(matrix, message):
    with pytest.raises(InvalidDistributionError, match=message):
        Channel(matrix, ["a", "b"])


def test_bad_labels_are_refused_and_named():
    with pytest.raises(InvalidDistributionError, match="inputs: 1 labels given for 2 symbols"):
        Channel(np.eye(2), ["a"])
    with pytest.raises(InvalidDistributionError, match="outputs: the label 'u' occurs twice"):
        Channel(np.eye(2), ["a", "b"], ["u", "u"])


def test_p_y_joint_and_posterior_by_hand():
    channel = make()
    np.testing.assert_allclose(channel.p_y([0.5, 0.5]), [0.625, 0.375])
    np.testing.assert_allclose(channel.joint([0.5, 0.5]), [[0.5, 0.0], [0.125, 0.375]])
    np.testing.assert_allclose(channel.posterior([0.5, 0.5]), [[0.8, 0.2], [0.0, 1.0]])


def test_posterior_of_an_output_that_never_occurs_is_the_prior():
    channel = Channel([[1.0, 0.0], [1.0, 0.0]])
    np.testing.assert_array_equal(channel.posterior([0.3, 0.7]), [[0.3, 0.7], [0.3, 0.7]])


@given(st.data())
def test_posteriors_average_to_the_prior(data):
    joint = data.draw(joints())
    channel = data.draw(channels(joint.shape[1]))
    posterior = channel.posterior(joint.p_x)
    np.testing.assert_allclose(posterior.sum(axis=1), 1, atol=1e-12)
    np.testing.assert_allclose(channel.p_y(joint.p_x) @ posterior, joint.p_x, atol=1e-12)
    np.testing.assert_allclose(channel.joint(joint.p_x).sum(axis=0), channel.p_y(joint.p_x))


def test_prior_of_another_length_or_sign_is_refused():
    with pytest.raises(InvalidDistributionError, match=r"p_x has 3 entries.* 2 inputs"):
        make().p_y([0.2, 0.3, 0.5])
    with pytest.raises(InvalidDistributionError, match=r"cell 1 is -0\.5"):
        make().p_y([1.5, -0.5])


def test_identity_releases_every_symbol():
    channel = Channel.identity(["a", "b", "c"])
    assert channel.inputs == channel.outputs == ("a", "b", "c")
    np.testing.assert_array_equal(channel.matrix, np.eye(3))


def test_merging_follows_the_given_order_of_inputs():
    channel = Channel.merging([["c", "a"], ["b"]], ["a", "b", "c"])
    assert channel.outputs == ("{c, a}", "b")
    np.testing.assert_array_equal(channel.matrix, [[1, 0], [0, 1], [1, 0]])


@pytest.mark.parametrize(
    ("groups", "inputs", "message"),
    [
        ([["a"], ["b"]], ["a", "c"], "No group holds the input 'c'"),
        ([["a"], ["a", "b"]], None, "the label 'a' occurs twice"),
        ([["a"], ["b"]], ["a"], "1 labels given for 2 symbols"),
        ([["a", "a"], ["b"]], ["a", "b"], "2 labels given for 3 symbols"),
    ],
)
def test_merging_refuses_what_is_no_partition(groups, inputs, message):
    with pytest.raises(InvalidDistributionError, match=message):
        Channel.merging(groups, inputs)


@pytest.mark.parametrize(
    ("groups", "outputs"),
    [
        ([["a", "b"], ["{a, b}"]], ("{a, b} (2)", "{a, b}")),
        ([["{a, b}"], ["a", "b"]], ("{a, b}", "{a, b} (2)")),
        (
            [["a", "b"], ["{a, b}"], ["{a, b} (2)"]],
            ("{a, b} (3)", "{a, b}", "{a, b} (2)"),
        ),
        ([[1, 2], ["1", "2"]], ("{1, 2}", "{1, 2} (2)")),
        ([[1], ["1"]], (1, "1")),
        ([[("a", "b"), "c"], ["a & b", "d"]], ("{a & b, c}", "{a & b, d}")),
        ([[("a", "b"), "c"], ["a & b, c", "d"]], ("{a & b, c}", "{a & b, c, d}")),
        ([[None, "a"], ["missing"]], ("{missing, a}", "missing")),
        ([[None], ["missing"]], (None, "missing")),
        ([[("a", 1)], [("a", "1")]], (("a", 1), ("a", "1"))),
    ],
)
def test_outputs_stay_distinct_and_symbols_keep_their_own_names(groups, outputs):
    channel = Channel.merging(groups)
    assert channel.outputs == outputs
    np.testing.assert_array_equal(channel.matrix.sum(axis=0), [len(group) for group in groups])


@pytest.mark.parametrize("how", [lambda c: c, copy.copy, copy.deepcopy, lambda c: pickled(c)])
def test_nothing_can_be_changed(how):
    channel = how(make())
    assert channel == make()
    with pytest.raises(ValueError, match="read-only"):
        channel.matrix[0, 0] = 0.5
    with pytest.raises(AttributeError, match="immutable"):
        channel.matrix = np.eye(2)
    with pytest.raises(AttributeError, match="immutable"):
        del channel.inputs


def pickled(channel):
    return pickle.loads(pickle.dumps(channel))


def test_equality_and_hash_see_labels_and_numbers():
    assert make() == make()
    assert hash(make()) == hash(make())
    assert make() != Channel(make().matrix, ["a", "c"], ["u", "v"])
    assert make() != Channel(make().matrix, ["a", "b"], ["u", "w"])
    assert make() != Channel([[1.0, 0.0], [0.5, 0.5]], ["a", "b"], ["u", "v"])
    assert make() != make().matrix.tolist()
    assert hash(Channel([[1.0, -0.0]])) == hash(Channel([[1.0, 0.0]]))


def test_conversion_to_an_array_gives_a_writable_copy():
    channel = make()
    array = np.asarray(channel)
    array[0, 0] = 0.0
    assert channel.matrix[0, 0] == 1.0


def test_repr_tells_sizes():
    assert repr(Channel(np.full((3, 2), 0.5))) == "Channel(3 inputs -> 2 outputs)"
