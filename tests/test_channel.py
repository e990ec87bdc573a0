import copy
import pickle
import re
from datetime import date

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skliftpriv import Channel
from skliftpriv.exceptions import InvalidDistributionError, InvalidParameterError
from skliftpriv.labels import distinct, distinct_texts, set_label, set_labels, symbol_text

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
def test_merging_refuses_groups_that_are_not_a_partition(groups, inputs, message):
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


def test_merged_names_are_bounded_and_the_same_in_every_order():
    group = [f"value {i}" for i in range(3000)]
    name = Channel.merging([group]).outputs[0]
    assert len(name) <= 200
    assert name.startswith("{value 0, value 1, ")
    assert re.search(r", \.\.\. \+2,9\d\d #[0-9a-f]{8}}$", name)
    shuffled = np.random.default_rng(0).permutation(group).tolist()
    assert Channel.merging([shuffled]).outputs[0] == name
    assert Channel.merging([[*group[:-1], "other"]]).outputs[0] != name


def test_merged_names_of_long_members_are_bounded():
    long = ["a" * 5000 + "1", "a" * 5000 + "2", "a" * 5000 + "3"]
    first, second = set_label(long[:2]), set_label(long[1:])
    assert max(len(first), len(second)) <= 200
    assert first != second


def test_short_merged_names_list_their_members_in_their_order():
    assert Channel.merging([["c", "a", "b"], [None, ("x", 1)]]).outputs == (
        "{c, a, b}",
        "{missing, x & 1}",
    )
    fits = ["m" * 96, "n" * 96]
    assert set_label(fits) == "{" + ", ".join(fits) + "}"


@given(st.lists(st.lists(st.one_of(st.text(max_size=90), st.integers(), st.none()), max_size=9)))
def test_names_of_groups_are_bounded_and_read_differently(groups):
    seen = set()
    partition = []
    for group in groups:
        fresh = [label for label in dict.fromkeys(group) if label not in seen]
        seen.update(fresh)
        if fresh:
            partition.append(fresh)
    if not partition:
        return
    outputs = Channel.merging(partition).outputs
    made_up = [len(group) > 1 for group in partition]
    texts = [symbol_text(output) for output in outputs]
    for text, new in zip(texts, made_up, strict=True):
        assert not new or (len(text) < 220 and texts.count(text) == 1)


def test_members_of_a_group_are_listed_however_long_its_name_is_cut():
    group = [f"value {i}" for i in range(3000)]
    channel = Channel.merging([["kept"], group])
    assert channel.members("kept") == ("kept",)
    assert channel.members(channel.outputs[1]) == tuple(group)
    with pytest.raises(InvalidParameterError, match="'other' is not an output"):
        channel.members("other")


def test_members_come_by_probability_and_without_traces():
    channel = Channel([[0.2, 0.8], [0.7, 0.3], [1e-13, 1 - 1e-13]], ["a", "b", "c"], ["u", "v"])
    assert channel.members("u") == ("b", "a")
    assert channel.members("u", p_x=[0.9, 0.05, 0.05]) == ("a", "b")


def test_texts_of_labels_are_distinct_and_text_keeps_itself():
    labels = [None, "missing", ("a", None), ("a", "missing"), ("a & b", "c"), ("a", "b & c")]
    labels += [1, "1", "missing (2)"]
    texts = distinct_texts(labels)
    assert len(set(texts)) == len(labels)
    assert [texts[1], texts[7], texts[8]] == ["missing", "1", "missing (2)"]
    assert texts[0] == "missing (3)"


def test_a_made_up_name_never_reads_like_a_symbol():
    channel = Channel.merging([["a", "b"], ["{a, b}"], [None], ["c", "d"], ["{c, d}"]])
    assert channel.outputs == ("{a, b} (2)", "{a, b}", None, "{c, d} (2)", "{c, d}")
    assert distinct(["missing", None], [True, False]) == ["missing (2)", None]


def test_sets_have_one_name_each_whatever_the_symbols():
    bits = (np.arange(16)[:, None] >> np.arange(4) & 1).astype(bool)
    for symbols in (["a", "b", "a, b", ""], [None, "missing", 1, "1"], ["a", "b", "c", "d"]):
        names = set_labels(symbols, bits)
        assert len(set(names)) == 16
        # One set at a time has the same name: released batches agree.
        assert [set_labels(symbols, row[None])[0] for row in bits] == names
    assert names[3] == "{a, b}"


@pytest.mark.parametrize(
    ("group", "name"),
    [
        ([37, 38, 45], "37 to 45"),
        ([-2.5, 0.0], "-2.5 to 0.0"),
        ([45], 45),
        ([45, None], "45 or missing"),
        ([44, 45, None], "44 to 45 or missing"),
        ([date(2020, 1, 31), date(2020, 3, 1)], "2020-01-31 to 2020-03-01"),
        (["9", "10"], "9 to 10"),
        (["2020-01", "2020-02"], "{2020-01 to 2020-02}"),
        (["2020-01-31", "2020-02-01"], "2020-01-31 to 2020-02-01"),
        (["HS-grad", "Some-college", "Bachelors"], "{HS-grad to Bachelors}"),
        (["high", None], "{high or missing}"),
    ],
)
def test_ranges_are_named_by_their_ends(group, name):
    channel = Channel.merging([group], ordered=True)
    assert channel.outputs == (name,)
    assert channel.members(name) == tuple(group)


def test_names_of_ranges_are_distinct_and_short():
    channel = Channel.merging([["1 to 2"], ["1", "2"], [1, 1.5, 2]], ordered=True)
    assert channel.outputs == ("1 to 2", "1 to 2 (2)", "1 to 2 (3)")
    long = [f"{'x' * 300}{i}" for i in range(6)]
    names = Channel.merging([long[:2], long[2:4], long[4:]], ordered=True).outputs
    assert len(set(names)) == 3
    assert max(map(len, names)) <= 130
