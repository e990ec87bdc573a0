"""Bands are as wide as their probability, and cells hold theirs."""

import numpy as np
import pytest
from matplotlib import pyplot as plt

from skliftpriv import LIP, Channel, JointDistribution, mechanisms
from skliftpriv.exceptions import InvalidParameterError
from skliftpriv.plotting import ChannelDisplay
from skliftpriv.views import ReleaseView, lift_tables

from .pictures import as_it_is, joint_with_zeros, wide_joint


def ends(bands):
    """Height of every band at its left and its right end."""
    heights = []
    for path in bands.get_paths():
        x, y = path.vertices[:, 0], path.vertices[:, 1]
        heights.append([np.ptp(y[x == x.min()]), np.ptp(y[x == x.max()])])
    return np.array(heights)


def test_bands_are_as_wide_as_their_probability():
    joint = joint_with_zeros()
    result = mechanisms.generalized_randomized_response(joint, LIP(0.5))
    display = ChannelDisplay.from_result(result, kind="flow")
    flows = joint.p_x[:, None] * result.channel.matrix
    np.testing.assert_allclose(np.sort(display.flows_.ravel()), np.sort(flows.ravel()))
    np.testing.assert_allclose(
        ends(display.bands_), np.repeat(display.flows_.reshape(-1, 1), 2, axis=1)
    )


def test_colours_tell_what_is_kept_merged_and_changed():
    joint = joint_with_zeros()
    matrix = [[1, 0, 0], [0.5, 0.5, 0], [0, 0, 1], [0, 0, 1]]
    channel = Channel(matrix, joint.useful_labels, ["a", "b", "{c, d}"])
    display = ChannelDisplay.from_channel(joint, channel, kind="flow")
    texts = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    p = joint.p_x
    shares = [p[0] + p[1] / 2, p[2] + p[3], p[1] / 2]
    assert [text.split(":")[0] for text in texts] == [
        "released as it is",
        "released as a set of values",
        "released as another value",
    ]
    assert [text.split(": ")[1] for text in texts] == [f"{share:.0%}" for share in shares]


def test_values_that_are_not_shown_flow_together():
    joint = wide_joint()
    display = ChannelDisplay.from_channel(*as_it_is(joint), kind="flow", max_symbols=10)
    assert display.flows_.shape == (11, 11)
    assert display.flows_.sum() == pytest.approx(1)
    assert any("50 others" in text.get_text() for text in display.ax_.texts)


def test_cells_are_the_channel_and_empty_where_nothing_happens():
    joint = joint_with_zeros()
    channel = Channel.merging([["b"], ["a", "c"], ["d"]], joint.useful_labels)
    display = ChannelDisplay.from_channel(joint, channel)
    drawn = display.im_.get_array()
    assert drawn.shape == (4, 3)
    np.testing.assert_array_equal(np.sort(drawn.compressed()), [1, 1, 1, 1])
    rows = [
        label.get_text().split("\N{NO-BREAK SPACE}")[0] for label in display.ax_.get_yticklabels()
    ]
    columns = [
        label.get_text().split("\N{NO-BREAK SPACE}")[0] for label in display.ax_.get_xticklabels()
    ]
    for i, j in np.argwhere(~drawn.mask):
        assert rows[i] in columns[j]


def test_unary_encoding_shows_bits_and_has_no_flow():
    joint = joint_with_zeros()
    result = mechanisms.optimized_unary_encoding(joint, LIP(0.5))
    display = ChannelDisplay.from_result(result)
    noise = 1 / (np.exp(result.alpha) + 1)
    np.testing.assert_allclose(display.im_.get_array(), np.where(np.eye(4), 0.5, noise))
    with pytest.raises(InvalidParameterError, match="no flow to draw"):
        ChannelDisplay.from_result(result, kind="flow")


def test_an_unknown_kind_is_refused():
    with pytest.raises(InvalidParameterError, match="'sankey'"):
        ChannelDisplay.from_channel(*as_it_is(joint_with_zeros()), kind="sankey")


@pytest.mark.parametrize("kind", ["heatmap", "flow"])
def test_given_axes_are_drawn_into(kind):
    figure, ax = plt.subplots()
    display = ChannelDisplay.from_channel(*as_it_is(joint_with_zeros()), ax=ax, kind=kind)
    assert display.ax_ is ax
    assert display.figure_ is figure
    assert len(plt.get_fignums()) == 1


def test_a_channel_for_other_values_is_refused():
    joint = joint_with_zeros()
    with pytest.raises(InvalidParameterError, match="inputs of the channel"):
        ChannelDisplay.from_channel(joint, Channel.identity(["a", "c", "b", "d"]))


def test_heat_maps_and_lifts_of_ranges_are_in_their_order():
    counts = np.random.default_rng(2).integers(20, 90, (2, 15))
    joint = JointDistribution.from_counts(counts, useful_labels=range(30, 45))
    result = mechanisms.subset_merging(joint, LIP(0.2), order="preserve")
    display = ChannelDisplay.from_result(result, kind="heatmap")
    rows, columns = (
        [int(tick.get_text().split()[0].split("\N{NO-BREAK SPACE}")[0]) for tick in ticks]
        for ticks in (display.ax_.get_yticklabels(), display.ax_.get_xticklabels())
    )
    assert rows == list(range(30, 45))
    assert columns == sorted(columns)
    assert len(columns) == len(result.channel.outputs)
    for table in lift_tables(ReleaseView.of_result(result), 5):
        assert table.picked.shown.size == 5
        assert (np.diff(table.picked.shown) > 0).all()
