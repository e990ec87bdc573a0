"""What mechanisms keep against what they leak."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Self

import numpy as np
import pandas as pd

from .._arrays import FloatArray
from ..model_selection import tradeoff_curve
from ..views import axis_title, checked_curve, curve_points, kept_column
from ._edges import Edge
from ._matplotlib import Axes, load
from ._panels import panels
from ._style import FONT, GREY, line_style
from ._text import shorten

__all__ = ["TradeoffDisplay"]

_FAR: dict[str, Any] = {"markersize": 7, "linestyle": "none"}
_MISSED: dict[str, Any] = {
    "marker": "X",
    "markersize": 9,
    "markerfacecolor": "white",
    "markeredgewidth": 1.3,
    "linestyle": "none",
}


class TradeoffDisplay:
    """Privacy-utility curves of several mechanisms.

    A band reaches from each curve to its certified upper bound, where that is known and finite.
    Points that miss their budget are hollow crosses. Infinite values stand at the edge of the
    axes, at a tick of their own.

    Parameters
    ----------
    curve : DataFrame
        As from :func:`skliftpriv.model_selection.tradeoff_curve`: a row per mechanism and
        budget.
    x : str, default="epsilon"
        Column to draw. An epsilon that is a pair (lower, upper) is drawn at lower + upper.
    y : str, optional
        Column to draw. By default "target_kept" if a mechanism was built to keep what is known
        about a target, else "nmi".

    Attributes
    ----------
    figure_ : Figure
        Where it is drawn.
    ax_ : Axes
        The axes.
    lines_ : dict from str to Line2D
        The line of each mechanism. Its points are in ascending order of epsilon; infinite ones
        and those that miss their budget are drawn as markers of their own.

    Examples
    --------
    >>> from skliftpriv import SubsetMergingSanitizer, WatchdogSanitizer
    >>> from skliftpriv.datasets import load_adult
    >>> from skliftpriv.plotting import TradeoffDisplay
    >>> columns = {"sensitive": "relationship", "useful": "occupation"}
    >>> display = TradeoffDisplay.from_estimators(
    ...     {
    ...         "merge subsets": SubsetMergingSanitizer(**columns),
    ...         "merge all": WatchdogSanitizer(**columns),
    ...     },
    ...     load_adult(),
    ...     epsilons=[0.25, 0.5, 1.0],
    ... )
    >>> display.lines_["merge all"].get_ydata().round(2)
    array([0.15, 0.29, 0.77])
    """

    def __init__(self, curve: pd.DataFrame, *, x: str = "epsilon", y: str | None = None) -> None:
        self.x = x
        self.y = kept_column(curve) if y is None else y
        self.curve = checked_curve(curve, self.x, self.y)

    @classmethod
    def from_curve(
        cls,
        curve: pd.DataFrame,
        *,
        x: str = "epsilon",
        y: str | None = None,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Draw a curve that was computed before.

        Parameters
        ----------
        curve : DataFrame
            As from :func:`skliftpriv.model_selection.tradeoff_curve`.
        x, y : str, optional
            Columns to draw.
        ax : Axes, optional
            Where to draw.
        **options
            Options of :meth:`plot`.

        Returns
        -------
        display
            The display, drawn.
        """
        return cls(curve, x=x, y=y).plot(ax, **options)

    @classmethod
    def from_estimators(
        cls,
        estimators: Any,
        X: Any,
        epsilons: Iterable[Any],
        *,
        target: Any = None,
        sensitive_features: Any = None,
        n_jobs: int | None = None,
        x: str = "epsilon",
        y: str | None = None,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Compute and draw the curves of sanitisers.

        Parameters
        ----------
        estimators, X, epsilons, sensitive_features, n_jobs
            As in :func:`skliftpriv.model_selection.tradeoff_curve`.
        target : array-like of shape (n_rows,), optional
            Its y.

            .. versionadded:: 0.2
        x, y : str, optional
            Columns to draw.
        ax : Axes, optional
            Where to draw.
        **options
            Options of :meth:`plot`.

        Returns
        -------
        display
            The display, drawn.
        """
        load("pyplot")  # Before anything that takes time.
        curve = tradeoff_curve(
            estimators,
            X,
            epsilons,
            y=target,
            sensitive_features=sensitive_features,
            n_jobs=n_jobs,
        )
        return cls.from_curve(curve, x=x, y=y, ax=ax, **options)

    def plot(self, ax: Any = None, *, line_kw: dict[str, Any] | None = None) -> Self:
        """Draw the curves.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw, one display per axes. The legend is then inside of it; in a new
            figure it is on the right.
        line_kw : dict, optional
            Properties of all lines, such as ``{"linewidth": 3}``.

        Returns
        -------
        self
        """
        frame = curve_points(self.curve, self.x, self.y)
        names = list(dict.fromkeys(frame["mechanism"]))
        wide = 1.0 + 0.075 * max(len(shorten(name, 40, 1)) for name in names)
        (self.ax_,) = panels(ax, 1, figsize=(5.6 + wide, 4.2))
        self.figure_ = self.ax_.figure
        top = frame["y"] + frame["gap"].where(np.isfinite(frame["gap"]), 0.0)
        edges = Edge.of(frame["x"]), Edge.of(pd.concat([frame["y"], top]))
        self.lines_: dict[str, Any] = {}
        for i, name in enumerate(names):
            points = frame[frame["mechanism"] == name]
            self._draw(name, points, edges, {**line_style(i), **(line_kw or {})})
        for axis, edge, column in zip("xy", edges, (self.x, self.y), strict=True):
            edge.mark(self.ax_, axis)
            self.ax_.set(**{f"{axis}label": axis_title(self.curve, column)})
        self.ax_.grid(alpha=0.25, linewidth=0.6)
        self.ax_.set_axisbelow(True)
        self.ax_.spines[["top", "right"]].set_visible(False)
        place = {"loc": "best"} if ax is not None else _RIGHT
        self.ax_.legend(handles=self._handles(frame), fontsize=FONT, **place)
        return self

    def _draw(
        self, name: str, points: pd.DataFrame, edges: Sequence[Edge], style: dict[str, Any]
    ) -> None:
        """Draw the line of one mechanism, and the markers on it."""
        ax, met = self.ax_, points["satisfied"].to_numpy()
        x, y = (points[key].to_numpy(dtype=float) for key in ("x", "y"))
        finite = np.isfinite(x) & np.isfinite(y)
        # Several points above one budget, such as pairs with the same sum, are not connected.
        if points["budget"].duplicated().any():
            style = {**style, "linestyle": "none"}
        line_x, line_y = np.where(finite, x, np.nan), np.where(finite, y, np.nan)
        (self.lines_[name],) = ax.plot(
            line_x,
            line_y,
            label=self._label(name, x, y),
            markevery=list(np.flatnonzero(finite & met)),
            **{"markersize": 5.5, "linewidth": 1.6, **style},
        )
        colour = style["color"]
        _band(ax, line_x, line_y, points["gap"].to_numpy(dtype=float), colour)
        at = edges[0].place(x), edges[1].place(y)
        known = ~(np.isnan(x) | np.isnan(y))
        far = ~finite & met & known
        special = ((far, {**_FAR, "marker": style["marker"]}), (~met & known, _MISSED))
        for which, marker in special:
            if which.any():  # a line without points would count in the layout of the figure
                at_x, at_y = (place[which] for place in at)
                ax.plot(at_x, at_y, **{**marker, "color": colour, "clip_on": False, "zorder": 5})

    def _label(self, name: str, x: FloatArray, y: FloatArray) -> str:
        unknown = int((np.isnan(x) | np.isnan(y)).sum())
        return shorten(name, 40, 1) + (f" ({unknown} of {x.size} not known)" if unknown else "")

    def _handles(self, frame: pd.DataFrame) -> list[Any]:
        line, patch = load("lines").Line2D, load("patches").Patch
        handles = list(self.lines_.values())
        if not frame["satisfied"].all():
            handles.append(line([], [], color=GREY, label="misses its budget", **_MISSED))
        gap = frame["gap"].to_numpy(dtype=float)
        known = gap[np.isfinite(gap)]
        if known.size:
            label = f"to the certified upper bound\n(at most {known.max():.2g} above)"
            handles.append(patch(facecolor=GREY, alpha=0.3, label=label))
        return handles


_RIGHT: dict[str, Any] = {
    "loc": "upper left",
    "bbox_to_anchor": (1.02, 1.0),
    "frameon": False,
    "borderaxespad": 0.0,
}


def _band(ax: Axes, x: FloatArray, y: FloatArray, gap: FloatArray, colour: str) -> None:
    known = np.isfinite(gap) & np.isfinite(x)
    if not known.any():
        return
    # A share cannot exceed 1.
    top = np.minimum(y[known] + gap[known], 1.0)
    ax.fill_between(x[known], y[known], top, color=colour, alpha=0.2, linewidth=0)
    ax.vlines(x[known], y[known], top, color=colour, alpha=0.5, linewidth=1.0)
