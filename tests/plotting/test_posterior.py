"""Posteriors stand where they are, and what is not allowed looks different."""

import numpy as np
import pytest
from matplotlib import pyplot as plt

from skliftpriv import LDP, LIP, Channel
from skliftpriv.plotting import PosteriorDisplay

from .pictures import as_it_is, joint_with_zeros, wide_joint

WITHIN, OUTSIDE, NEVER = range(3)


def points(ax, kind):
    """Points of a panel that lie within, outside, or at a posterior of 0."""
    scatters = [c for c in ax.collections if type(c).__name__ == "PathCollection"]
    return scatters[kind].get_offsets()


@pytest.fixture
def display():
    return PosteriorDisplay.from_channel(*as_it_is(joint_with_zeros()))


def test_every_posterior_is_drawn_once_and_marked_for_what_it_is(display):
    joint = joint_with_zeros()
    order = np.argsort(-joint.p_s, kind="stable")
    by_p_x = np.argsort(-joint.p_x, kind="stable")
    posterior = (joint.matrix / joint.p_x)[:, by_p_x]
    np.testing.assert_allclose(display.posterior[:, by_p_x], posterior)
    for ax, s in zip(display.ax_, order, strict=True):
        lift = posterior[s] / joint.p_s[s]
        outside = ((lift > np.exp(0.5)) | (lift < np.exp(-0.5))) & (lift > 0)
        for kind, cells in (
            (WITHIN, ~outside & (lift > 0)),
            (OUTSIDE, outside),
            (NEVER, lift == 0),
        ):
            found = points(ax, kind)
            rows = np.flatnonzero(cells)
            np.testing.assert_allclose(found, np.column_stack([posterior[s, rows], rows]))


def test_prior_and_allowed_interval_are_drawn(display):
    joint = joint_with_zeros()
    s = int(np.argmax(joint.p_s))
    span = display.ax_[0].patches[0].get_extents()
    low, high = display.ax_[0].transData.inverted().transform([span.p0, span.p1])[:, 0]
    assert (low, high) == pytest.approx((joint.p_s[s] * np.exp(-0.5), joint.p_s[s] * np.exp(0.5)))
    assert display.ax_[0].lines[0].get_xdata()[0] == pytest.approx(joint.p_s[s])
    np.testing.assert_allclose(display.allowed[:, 0], joint.p_s * np.exp(-0.5))


def test_the_allowed_interval_ends_at_one():
    joint = joint_with_zeros()
    display = PosteriorDisplay.from_channel(joint, Channel.identity(joint.useful_labels), LIP(3.0))
    assert display.allowed.max() == 1


def test_the_legend_names_what_is_there(display):
    texts = [text.get_text() for text in display.ax_[0].get_legend().get_texts()]
    assert "allowed by 0.5-LIP" in texts
    assert "outside the budget" in texts
    assert "ruled out: posterior 0, log-lift −∞" in texts
    joint = joint_with_zeros()
    constant = Channel(np.ones((4, 1)), joint.useful_labels, ["any"])
    plain = PosteriorDisplay.from_channel(joint, constant, LIP(0.5))
    texts = [text.get_text() for text in plain.ax_[0].get_legend().get_texts()]
    assert texts == ["prior", "allowed by 0.5-LIP", "posterior"]


def test_ldp_shades_nothing_and_names_its_level():
    joint = joint_with_zeros()
    constant = Channel(np.ones((4, 1)), joint.useful_labels, ["any"])
    display = PosteriorDisplay.from_channel(joint, constant, LDP(1.0))
    assert display.allowed is None
    assert not display.ax_[0].patches
    assert "1-LDP met: level 0.00" in display.ax_[0].texts[0].get_text().replace("\n", " ")


def test_what_is_not_shown_is_named():
    display = PosteriorDisplay.from_channel(
        *as_it_is(wide_joint()), max_symbols=10, max_sensitive=3
    )
    assert len(display.ax_) == 3
    note = display.ax_[0].texts[0].get_text().replace("\n", " ")
    assert "10 most probable of 60 outputs" in note
    assert "3 most probable of 5 sensitive values" in note


def test_given_axes_are_drawn_into():
    _, axes = plt.subplots(1, 3)
    display = PosteriorDisplay.from_channel(*as_it_is(joint_with_zeros()), ax=axes)
    assert display.ax_ == tuple(axes)
    figure, ax = plt.subplots()
    display = PosteriorDisplay.from_channel(*as_it_is(joint_with_zeros()), ax=ax)
    assert len(display.ax_) == 3
    assert display.figure_ is figure
