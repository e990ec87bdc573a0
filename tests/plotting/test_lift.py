"""The heat maps show the log-lifts that were computed, and no infinity as a number."""

import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.patches import Rectangle

from skliftpriv import ALIP, LDP, LIP, Channel, L1Lift, mechanisms
from skliftpriv.exceptions import InvalidParameterError
from skliftpriv.measures import log_lift
from skliftpriv.plotting import LiftDisplay

from .pictures import as_it_is, joint_with_zeros, wide_joint

# Useful and sensitive values by descending probability.
BY_P_X, BY_P_S = [1, 0, 2, 3], [1, 2, 0]


def rectangles(ax, hatched):
    """Cells (row, column) with a rectangle that is hatched, or that is not."""
    return {
        (int(patch.get_y()), int(patch.get_x()))
        for patch in ax.patches
        if isinstance(patch, Rectangle) and bool(patch.get_hatch()) is hatched
    }


def title(ax):
    return ax.get_title(loc="left")


def test_what_is_drawn_is_what_was_computed():
    joint = joint_with_zeros()
    result = mechanisms.generalized_randomized_response(joint, LIP(0.5))
    display = LiftDisplay.from_result(result)
    p_sy = joint.matrix @ result.channel.matrix
    np.testing.assert_allclose(display.log_lift_after, log_lift(p_sy))
    with np.errstate(divide="ignore"):
        before = np.log(joint.lift)
    np.testing.assert_array_equal(display.log_lift_before, before)
    order = np.argsort(-joint.p_s, kind="stable")
    drawn = display.im_[0].get_array()
    wanted = before[np.ix_(order, np.argsort(-joint.p_x, kind="stable"))].T
    finite = np.isfinite(wanted)
    np.testing.assert_array_equal(drawn.mask, ~finite)
    np.testing.assert_allclose(drawn[finite], wanted[finite])


def test_both_panels_have_the_same_colours_centred_at_zero():
    display = LiftDisplay.from_channel(*as_it_is(joint_with_zeros()))
    first, second = display.im_
    assert first.norm is second.norm
    assert first.norm.vmin == -first.norm.vmax
    finite = display.log_lift_before[np.isfinite(display.log_lift_before)]
    assert first.norm.vmax >= np.abs(finite).max()


def test_what_never_occurs_is_hatched_and_has_no_colour():
    display = LiftDisplay.from_channel(*as_it_is(joint_with_zeros()))
    never = np.isneginf(display.log_lift_before[np.ix_(BY_P_S, BY_P_X)]).T
    assert never.sum() == 2
    assert rectangles(display.ax_[0], hatched=True) == set(map(tuple, np.argwhere(never).tolist()))
    assert display.im_[0].get_array().mask[never].all()
    legend = [text.get_text() for text in display.ax_[1].get_legend().get_texts()]
    assert "−∞: never occurs" in legend
    assert "log-lift −∞ to" in title(display.ax_[0])


@pytest.mark.parametrize("notion", [LIP(0.5), ALIP(0.2, 0.9)])
def test_cells_outside_the_budget_are_outlined(notion):
    joint = joint_with_zeros()
    display = LiftDisplay.from_channel(joint, Channel.identity(joint.useful_labels), notion)
    logs = display.log_lift_before[np.ix_(BY_P_S, BY_P_X)].T
    outside = (logs > notion.budget["max_lift"]) | (logs < -notion.budget["min_lift"])
    assert 0 < outside.sum() < outside.size
    outlined = rectangles(display.ax_[1], hatched=False)
    assert outlined == set(map(tuple, np.argwhere(outside).tolist()))
    assert "MISSED" in title(display.ax_[1])
    labels = [text.get_text() for text in display.colorbar_.ax.get_yticklabels()]
    assert f"+{notion.budget['max_lift']:.2f} budget" in labels
    assert f"−{notion.budget['min_lift']:.2f} budget" in labels


def test_a_mechanism_at_its_budget_is_not_outside_of_it():
    result = mechanisms.optimal_random_response(joint_with_zeros(), LIP(0.5))
    display = LiftDisplay.from_result(result)
    assert np.abs(display.log_lift_after).max() == pytest.approx(0.5)
    assert not display.outside_after.any()
    assert "0.5-LIP met" in title(display.ax_[1])


@pytest.mark.parametrize("notion", [LDP(0.5), L1Lift(0.5, 0.5)])
def test_a_notion_without_a_bound_on_cells_outlines_none_and_names_its_level(notion):
    joint = joint_with_zeros()
    display = LiftDisplay.from_channel(joint, Channel.identity(joint.useful_labels), notion)
    assert rectangles(display.ax_[1], hatched=False) == set()
    assert f"{notion} MISSED" in title(display.ax_[1])
    assert "∞" in title(display.ax_[1]).split("MISSED")[1]
    labels = [text.get_text() for text in display.colorbar_.ax.get_yticklabels()]
    assert not any("budget" in label for label in labels)


def test_without_a_notion_there_is_no_verdict():
    joint = joint_with_zeros()
    display = LiftDisplay.from_channel(joint, Channel.identity(joint.useful_labels))
    assert "met" not in title(display.ax_[1])
    assert not display.outside_before.any()


def test_of_many_values_the_most_probable_are_shown_and_the_others_are_described():
    joint = wide_joint()
    display = LiftDisplay.from_channel(*as_it_is(joint), max_symbols=10)
    assert display.im_[0].get_array().shape == (10, 5)
    note = display.ax_[0].texts[-2].get_text().replace("\n", " ")
    rest = np.sort(joint.p_x)[:-10].sum()
    assert f"10 most probable of 60 values are shown; the other 50 have {rest:.0%}" in note
    hidden = display.log_lift_before[:, np.argsort(-joint.p_x)[10:]]
    assert f"to {hidden.max():.2f}" in note
    assert ("−∞" in note) == bool(np.isneginf(hidden).any())


def test_given_axes_are_drawn_into():
    release = as_it_is(joint_with_zeros())
    figure, pair = plt.subplots(1, 2)
    display = LiftDisplay.from_channel(*release, ax=pair)
    assert display.ax_ == tuple(pair)
    assert display.figure_ is figure
    figure, (left, right) = plt.subplots(1, 2)
    display = LiftDisplay.from_channel(*release, ax=right)
    assert all(ax.figure is figure for ax in display.ax_)
    assert not right.axison
    middle = figure.bbox.width / 2
    assert all(ax.get_window_extent().x0 > 0.9 * middle for ax in display.ax_)
    assert not left.has_data()


def test_axes_that_do_not_fit_are_refused():
    release = as_it_is(joint_with_zeros())
    figure, axes = plt.subplots(1, 3)
    with pytest.raises(InvalidParameterError, match="holds 3 axes, but 2 are drawn"):
        LiftDisplay.from_channel(*release, ax=axes)
    with pytest.raises(InvalidParameterError, match="not part of a grid"):
        LiftDisplay.from_channel(*release, ax=figure.add_axes([0, 0, 1, 1]))


def test_no_figure_is_made_when_axes_are_given():
    plt.close("all")
    _, axes = plt.subplots(1, 2)
    LiftDisplay.from_channel(*as_it_is(joint_with_zeros()), ax=axes)
    assert len(plt.get_fignums()) == 1
