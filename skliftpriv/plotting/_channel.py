"""The channel itself: what becomes of every value."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from .._format import share
from ..exceptions import InvalidParameterError
from ..views import MEANINGS, Flow, Picked, flow_order, pick
from ._base import ReleaseDisplay
from ._flow import draw_flow
from ._heatmap import draw_heatmap
from ._matplotlib import load
from ._panels import below, inches, label_width, panels, text_inches
from ._style import BLUE, FONT, GREY, ORANGE, VERMILLION
from ._text import shorten

__all__ = ["ChannelDisplay"]

#: Smaller probabilities, which rounding toward privacy leaves everywhere, are only dots.
_TINY = 0.001
_COLOURS = {"kept": BLUE, "merged": ORANGE, "changed": VERMILLION, "rest": GREY}


class ChannelDisplay(ReleaseDisplay):
    """What becomes of every value of X: P(Y=y | X=x) as a heat map or as a flow.

    In the flow a band from x to y is as wide as P(x) P(y|x), and its colour tells whether the
    value stays as it is, is merged with others, or is replaced by another. In the heat map a
    grey cell never happens. For unary encoding, whose outputs are sets of bits, the heat map
    shows the probability of every bit to be 1; for a mechanism that sees S, the average over S.

    Parameters
    ----------
    release : ReleaseView
        What is released.

    Attributes
    ----------
    figure_ : Figure
        Where it is drawn.
    ax_ : Axes
        The axes.
    im_ : QuadMesh
        The heat map, after ``kind="heatmap"``.
    bands_ : PolyCollection
        The bands, after ``kind="flow"``.
    flows_ : ndarray of shape (n_inputs, n_outputs)
        P(x, y) of the bands, in the order from top to bottom.

    Examples
    --------
    >>> from skliftpriv import SubsetMergingSanitizer
    >>> from skliftpriv.datasets import load_adult
    >>> from skliftpriv.plotting import ChannelDisplay
    >>> sanitizer = SubsetMergingSanitizer("relationship", "occupation", epsilon=0.5)
    >>> display = ChannelDisplay.from_estimator(sanitizer.fit(load_adult()), kind="flow")
    >>> display.flows_.shape
    (15, 7)
    """

    def plot(self, ax: Any = None, *, kind: str = "heatmap", max_symbols: int = 30) -> Self:
        """Draw the channel.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw. Labels are placed outside of it; figures made with
            ``layout="constrained"`` leave room for them.
        kind : {"heatmap", "flow"}, default="heatmap"
            What to draw. Unary encoding has no flow.
        max_symbols : int, default=30
            Most inputs, and most outputs. The most probable are shown; the others are named in
            a note, and one band of the flow.

        Returns
        -------
        self
        """
        if kind not in ("heatmap", "flow"):
            raise InvalidParameterError(f'kind must be "heatmap" or "flow", not {kind!r}.')
        if kind == "flow" and self.release.bits:
            raise InvalidParameterError(
                "Unary encoding releases a set of bits, not one of a few outputs, so there is "
                'no flow to draw; use kind="heatmap".'
            )
        release = self.release
        x = pick(release.joint.p_x, max_symbols, ordered=release.ordered)
        y = pick(release.p_y, max_symbols, ordered=release.ordered)
        draw = self._heatmap if kind == "heatmap" else self._flow
        draw(ax, x, y)
        return self

    def _heatmap(self, ax: Any, x: Picked, y: Picked) -> None:
        release = self.release
        shown = x.shown, y.shown
        if not (release.bits or release.ordered):
            # Along the diagonal, as far as there is one.
            i, j = flow_order(release.flows[np.ix_(*shown)])
            shown = x.shown[i], y.shown[j]
        wide = label_width(ax, 1, 34)
        rows = self._input_labels(shown[0], lines=1, width=wide)
        columns = self._output_labels(shown[1], lines=1, width=wide)
        cell = 0.44 if len(columns) <= 20 else 0.3
        cells = len(columns) * cell
        slant = 0.85 * text_inches(columns)
        figsize = (
            max(text_inches(rows) + cells + slant * 0.35 + 1.4, 5.0),
            len(rows) * (0.3 if len(rows) <= 20 else 0.22) + slant + 1.2,
        )
        (self.ax_,) = panels(ax, 1, figsize=figsize)
        self.figure_ = self.ax_.figure
        values = release.matrix[np.ix_(*shown)]
        self.im_ = draw_heatmap(
            self.ax_,
            np.where(values > 0, values, np.nan),
            rows,
            columns,
            cell=cell if ax is None else None,
            text=_cell,
            cmap="Blues",
            norm=load("colors").Normalize(0, 1),
        )
        bar = self.figure_.colorbar(self.im_, ax=self.ax_, aspect=30, shrink=0.9, pad=0.02)
        bar.outline.set_visible(False)
        bar.set_ticks([0, 0.5, 1], labels=["0", "50%", "100%"], fontsize=FONT)
        event = "that the bit is 1" if release.bits else "of the output"
        bar.set_label(f"probability {event}, given the value", fontsize=FONT)
        self.ax_.set_title(self._title(), fontsize=FONT + 1, loc="left")
        notes = [] if (values > 0).all() else ["Grey: never happens."]
        if ((values > 0) & (values < _TINY)).any():
            notes += ["White, or a dot: below 0.1%."]
        if not (values > 0).any(axis=0).all():
            notes += ["An empty column comes from values that are not shown."]
        notes += [*x.note("values"), *y.note(release.what)]
        below(self.ax_, notes, [], max(cells, 3.0))

    def _flow(self, ax: Any, x: Picked, y: Picked) -> None:
        wide, lines = (26, 2) if y.shown.size <= 20 else (36, 1)
        sizes = {"width": label_width(ax, 1, wide), "lines": lines}
        rows = [*self._input_labels(x.shown, **sizes), *_others(x)]
        columns = [*self._output_labels(y.shown, **sizes), *_others(y)]
        flow = Flow.of(self.release, x, y)
        self.flows_ = flow.masses
        n_lines = max(sum(name.count("\n") + 1 for name in side) for side in (rows, columns))
        height = max(0.2 * n_lines, 0.26 * max(len(rows), len(columns)), 2.0)
        figsize = (text_inches(rows) + text_inches(columns) + 4.0, height + 1.5)
        (self.ax_,) = panels(ax, 1, figsize=figsize)
        self.figure_ = self.ax_.figure
        self.bands_ = draw_flow(
            self.ax_,
            flow,
            [rows[k] for k in flow.inputs],
            [columns[k] for k in flow.outputs],
            _COLOURS,
            height if ax is None else 0.85 * inches(self.ax_)[1],
        )
        self.ax_.set_title(self._title(), fontsize=FONT + 1)
        patch = load("patches").Patch
        handles = [
            patch(
                facecolor=_COLOURS[kind],
                alpha=0.55,
                label=f"{MEANINGS[kind]}: {share(total, fine=True)}",
            )
            for kind, total in flow.shares.items()
        ]
        below(self.ax_, [], handles, 4.0)

    def _title(self) -> str:
        release = self.release
        name = shorten(release.useful_name, 30, 1)
        what = "bits" if release.bits else "released"
        if release.sees_sensitive:
            what += f", averaged over {shorten(release.sensitive_name, 30, 1)}"
        verdict = release.verdict()
        return f"{name} → {what}" + (f"\n{verdict}" if verdict else "")


def _cell(p: float) -> str:
    return "·" if p < _TINY else share(p, fine=True)


def _others(picked: Picked) -> list[str]:
    return [f"{name} · {share(picked.probability, fine=True)}" for name in picked.others]
