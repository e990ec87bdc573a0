"""Whoever looks at a figure can read all of it."""

import pytest
from matplotlib import pyplot as plt

from skliftpriv import ORRSanitizer, WatchdogSanitizer
from skliftpriv.datasets import load_adult
from skliftpriv.plotting import ChannelDisplay, LiftDisplay, PosteriorDisplay, ReleaseView

from .pictures import as_it_is, cut_off, overlaps, wide_joint, words

COLUMNS = ("relationship", "occupation")


@pytest.fixture(scope="module")
def releases():
    adult = load_adult()
    return {
        "15 sets": ReleaseView.of_estimator(ORRSanitizer(*COLUMNS, epsilon=0.5).fit(adult)),
        "long set": ReleaseView.of_estimator(WatchdogSanitizer(*COLUMNS, epsilon=0.5).fit(adult)),
        "60 values": ReleaseView.of_channel(*as_it_is(wide_joint())),
    }


@pytest.mark.parametrize(
    ("name", "display", "options"),
    [
        ("15 sets", LiftDisplay, {}),
        ("15 sets", PosteriorDisplay, {}),
        ("15 sets", ChannelDisplay, {"kind": "heatmap"}),
        ("15 sets", ChannelDisplay, {"kind": "flow"}),
        ("long set", ChannelDisplay, {"kind": "heatmap"}),
        ("60 values", LiftDisplay, {}),
        ("60 values", ChannelDisplay, {"kind": "flow"}),
    ],
)
def test_nothing_overlaps_or_is_cut_off(releases, name, display, options):
    figure = display(releases[name]).plot(**options).figure_
    assert cut_off(figure) == []
    assert overlaps(figure) == []


def test_slanted_labels_keep_their_distance(releases):
    display = ChannelDisplay(releases["15 sets"]).plot()
    angles = [angle for _, _, angle in words(display.figure_) if angle]
    labels = display.ax_.get_xticklabels()
    assert len(labels) == 15
    assert len(angles) >= 15
    places = display.ax_.transData.transform([(i, 0) for i in range(2)])[:, 0]
    height = labels[0].get_fontsize() * display.figure_.dpi / 72
    # A line that leans by 45 degrees or more is wider than high by less than sqrt(2).
    assert places[1] - places[0] > 1.42 * height


def test_the_checks_of_this_file_can_fail():
    figure, ax = plt.subplots(figsize=(2, 2))
    ax.set_axis_off()
    ax.text(0.5, 0.5, "one text")
    assert cut_off(figure) == []
    assert overlaps(figure) == []
    ax.text(0.55, 0.5, "another")
    ax.text(0.9, 0.1, "that goes far beyond the edge")
    assert overlaps(figure) == [("one text", "another")]
    assert cut_off(figure) == ["that goes far beyond the edge"]
