"""Curves pass through their points, and what is missed, bounded or infinite can be seen."""

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt
from matplotlib.colors import to_rgb

from skliftpriv import ORRSanitizer, SubsetMergingSanitizer, WatchdogSanitizer
from skliftpriv.exceptions import InvalidParameterError
from skliftpriv.model_selection import tradeoff_curve
from skliftpriv.plotting import TradeoffDisplay

from ..estimators.samples import make_frame


def make_curve(**columns):
    curve = pd.DataFrame(
        {
            "mechanism": ["ORR"] * 3 + ["SRR(lam=0.65)"] * 3,
            "epsilon": [1.0, 0.5, 2.0] * 2,
            "nmi": [0.8, 0.6, 0.9, 0.7, 0.4, 0.8],
            "ldp": [1.5, 1.0, np.inf, 1.4, 0.9, 3.0],
            "min_log_lift": [-1.0, -0.5, -np.inf, -0.9, -0.4, -1.8],
            "satisfied": True,
            "gap": [0.05, 0.1, np.inf, np.nan, np.nan, np.nan],
        }
    )
    return curve.assign(**columns)


def legend(display):
    return [text.get_text() for text in display.ax_.get_legend().get_texts()]


def markers(display, marker):
    """Points of lines that are markers only."""
    found = [
        line.get_xydata()
        for line in display.ax_.lines
        if line.get_marker() == marker and line not in display.lines_.values()
    ]
    return np.vstack([np.zeros((0, 2)), *found])


def test_lines_are_the_columns_by_ascending_epsilon():
    display = TradeoffDisplay.from_curve(make_curve())
    line = display.lines_["ORR"]
    np.testing.assert_array_equal(line.get_xydata(), [[0.5, 0.6], [1, 0.8], [2, 0.9]])
    assert legend(display)[:2] == ["ORR", "SRR(lam=0.65)"]
    first, second = display.lines_.values()
    assert first.get_color() != second.get_color()
    assert first.get_marker() != second.get_marker()
    assert display.ax_.get_xlabel() == "budget epsilon, nats"
    assert display.ax_.get_ylabel() == "NMI, share of X kept"


def test_estimators_are_computed_and_drawn():
    frame = make_frame()
    sanitizers = [SubsetMergingSanitizer("s", "x"), WatchdogSanitizer("s", "x")]
    display = TradeoffDisplay.from_estimators(sanitizers, frame, [0.5, 1.0], x="max_log_lift")
    curve = tradeoff_curve(sanitizers, frame, [0.5, 1.0])
    for name, rows in curve.groupby("mechanism"):
        drawn = display.lines_[name].get_xydata()
        np.testing.assert_allclose(drawn, rows[["max_log_lift", "nmi"]])


def test_the_band_reaches_to_the_certified_bound_where_it_is_finite():
    display = TradeoffDisplay.from_curve(make_curve())
    band = display.ax_.collections[0].get_paths()[0].vertices
    at = {x: band[band[:, 0] == x, 1] for x in (0.5, 1.0)}
    assert (at[0.5].min(), at[0.5].max()) == pytest.approx((0.6, 0.7))
    assert (at[1.0].min(), at[1.0].max()) == pytest.approx((0.8, 0.85))
    assert band[:, 0].max() == 1.0
    assert any("certified upper bound" in text for text in legend(display))
    # The certificate is about NMI only.
    other = TradeoffDisplay.from_curve(make_curve(), y="ldp")
    assert not other.ax_.collections
    assert not any("certified" in text for text in legend(other))


def aimed_curve():
    """One mechanism for a target and one for X."""
    return make_curve(
        utility=["target"] * 3 + ["useful"] * 3,
        utility_kept=[0.5, 0.3, 0.9, 0.7, 0.4, 0.8],
        target_kept=[0.4, 0.2, 0.8, 0.1, 0.1, 0.2],
        gap=0.01,
    )


def test_a_curve_for_a_target_shows_what_is_kept_of_it():
    display = TradeoffDisplay.from_curve(aimed_curve())
    np.testing.assert_array_equal(display.lines_["ORR"].get_ydata(), [0.2, 0.4, 0.8])
    assert display.ax_.get_ylabel() == "share kept of what is known about the target"
    assert TradeoffDisplay(aimed_curve().assign(utility="useful")).y == "nmi"
    assert TradeoffDisplay(aimed_curve(), y="nmi").y == "nmi"


@pytest.mark.parametrize(
    ("y", "known"), [("target_kept", "ORR"), ("nmi", "SRR(lam=0.65)"), ("utility_kept", None)]
)
def test_a_certificate_is_drawn_only_where_it_is_about_what_is_shown(y, known):
    display = TradeoffDisplay.from_curve(aimed_curve(), y=y)
    drawn = {tuple(band.get_facecolor()[0][:3]) for band in display.ax_.collections[::2]}
    lines = [line for name, line in display.lines_.items() if known in (None, name)]
    assert drawn == {to_rgb(line.get_color()) for line in lines}


def test_estimators_that_keep_a_target_are_drawn():
    frame = make_frame().assign(t=lambda rows: rows["x"] < "c")
    sanitizers = [ORRSanitizer("s", "x", utility="target"), WatchdogSanitizer("s", "x")]
    display = TradeoffDisplay.from_estimators(
        sanitizers, frame[["s", "x"]], [0.5, 1.0], target=frame["t"]
    )
    curve = tradeoff_curve(sanitizers, frame[["s", "x"]], [0.5, 1.0], y=frame["t"])
    assert display.y == "target_kept"
    drawn = display.lines_["ORRSanitizer"].get_ydata()
    np.testing.assert_allclose(drawn, curve["target_kept"][:2])


def test_points_that_miss_their_budget_are_hollow_crosses():
    missed = [False, True, True, True, True, False]
    display = TradeoffDisplay.from_curve(make_curve(satisfied=missed))
    found = markers(display, "X")
    np.testing.assert_array_equal(found[np.argsort(found[:, 1])], [[1, 0.8], [2, 0.8]])
    assert all(
        line.get_markerfacecolor() == "white"
        for line in display.ax_.lines
        if line.get_marker() == "X"
    )
    assert "misses its budget" in legend(display)
    line = display.lines_["ORR"]
    assert line.get_markevery() == [0, 2]
    assert "misses its budget" not in legend(TradeoffDisplay.from_curve(make_curve()))


def test_infinities_stand_at_the_edge_at_a_tick_that_says_so():
    display = TradeoffDisplay.from_curve(make_curve(), x="ldp", y="min_log_lift")
    (point,) = markers(display, "o")
    assert np.isfinite(point).all()
    for axis, place, sign in (("x", point[0], "∞"), ("y", point[1], "−∞")):
        ticks = getattr(display.ax_, f"get_{axis}ticks")()
        labels = [t.get_text() for t in getattr(display.ax_, f"get_{axis}ticklabels")()]
        assert ticks[labels.index(sign)] == pytest.approx(place)
        low, high = sorted(getattr(display.ax_, f"get_{axis}lim")())
        assert low < place < high
    assert point[0] > 3.0
    assert point[1] < -1.8
    # No line leads there as if it were a number.
    assert np.isnan(display.lines_["ORR"].get_xydata()[-1]).all()


def test_an_infinite_point_that_misses_its_budget_is_a_cross_at_the_edge():
    display = TradeoffDisplay.from_curve(make_curve(satisfied=False), x="ldp")
    crosses = markers(display, "X")
    assert len(crosses) == 6
    assert crosses[:, 0].max() > 3.0
    assert not len(markers(display, "o"))


def test_only_infinite_values_are_drawn_too():
    display = TradeoffDisplay.from_curve(make_curve(ldp=np.inf), x="ldp")
    assert len(markers(display, "o")) == 3
    assert "∞" in [t.get_text() for t in display.ax_.get_xticklabels()]


def test_pairs_are_drawn_at_their_sum_and_the_axis_says_so():
    pairs = pd.Series([(0.3, 0.7), (0.2, 0.2), (1.0, 1.0)] * 2)
    display = TradeoffDisplay.from_curve(make_curve(epsilon=pairs))
    np.testing.assert_allclose(display.lines_["ORR"].get_xdata(), [0.4, 1.0, 2.0])
    assert display.ax_.get_xlabel() == "budget epsilon, lower + upper of pairs, nats"


def test_pairs_with_the_same_sum_are_points_and_no_line():
    pairs = pd.Series([(0.3, 0.7), (0.7, 0.3), (1.0, 1.0)] * 2)
    display = TradeoffDisplay.from_curve(make_curve(epsilon=pairs))
    assert display.lines_["ORR"].get_linestyle() == "None"


def test_what_is_not_known_is_counted_in_the_legend():
    display = TradeoffDisplay.from_curve(make_curve(), y="gap")
    assert legend(display)[:2] == ["ORR", "SRR(lam=0.65) (3 of 3 not known)"]


def test_given_axes_are_drawn_into():
    figure, ax = plt.subplots()
    display = TradeoffDisplay.from_curve(make_curve(), ax=ax)
    assert display.ax_ is ax
    assert display.figure_ is figure
    assert len(plt.get_fignums()) == 1


def test_line_properties_go_to_all_lines():
    display = TradeoffDisplay.from_curve(make_curve(), line_kw={"linewidth": 3})
    assert {line.get_linewidth() for line in display.lines_.values()} == {3}


@pytest.mark.parametrize(
    ("curve", "options", "message"),
    [
        (make_curve(), {"x": "price"}, "no column price; it has mechanism"),
        (make_curve().iloc[:0], {}, "no rows"),
        (make_curve(epsilon="(0.3, 0.7)"), {}, "column epsilon must hold numbers"),
    ],
)
def test_what_cannot_be_drawn_is_refused(curve, options, message):
    with pytest.raises(InvalidParameterError, match=message):
        TradeoffDisplay.from_curve(curve, **options)


def test_several_panels_share_a_figure():
    curve = make_curve()
    figure, axes = plt.subplots(1, 2, figsize=(12, 5), layout="constrained")
    for ax in axes:
        TradeoffDisplay.from_curve(curve, ax=ax)
    figure.canvas.draw()
    assert all(ax.get_position().width > 0.3 for ax in axes)
