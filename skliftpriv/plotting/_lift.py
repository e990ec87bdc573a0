"""Log-lift of every cell, before and after."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from .._arrays import FloatArray
from ._base import ReleaseDisplay
from ._heatmap import Picked, draw_heatmap, lines_for, mark_cells, pick
from ._labels import number, short_labels, shorten, signed
from ._matplotlib import Axes, load
from ._panels import below, label_width, panels, text_inches
from ._release import ReleaseData
from ._style import FONT

__all__ = ["LiftDisplay"]

_NEVER = {"facecolor": "0.9", "edgecolor": "0.6", "hatch": "////", "linewidth": 0.0, "zorder": 1}
_OUTSIDE = {"facecolor": "none", "edgecolor": "black", "linewidth": 1.3}


@dataclass(frozen=True)
class _Side:
    """What one of the two heat maps shows."""

    picked: Picked
    rows: list[str]
    logs: FloatArray
    outside: np.ndarray
    what: str

    def note(self) -> list[str]:
        """Say what is not shown, and how extreme it is."""
        hidden = self.logs[:, self.picked.hidden]
        span = f" Their {_range(hidden.min(), hidden.max())}." if hidden.size else ""
        return [note + span for note in self.picked.note(self.what)]


class LiftDisplay(ReleaseDisplay):
    """Heat maps of the log-lift log P(s|y) / P(s): of X itself, and of what is released.

    Both have the same colours, centred at 0. Cells outside the budget are outlined; cells that
    never occur have a log-lift of minus infinity, and are hatched rather than coloured. A notion
    that bounds no single cell, such as LDP, outlines nothing, and its level is in the title.
    For unary encoding the rows are single bits; the title speaks of all bits together.

    Parameters
    ----------
    release : ReleaseData
        What is released.

    Attributes
    ----------
    log_lift_before, log_lift_after : ndarray of shape (n_sensitive, n_symbols)
        The values, in the order of the labels of ``release``.
    outside_before, outside_after : ndarray of bool
        Which of them lie outside the budget.
    figure_ : Figure
        Where it is drawn.
    ax_ : tuple of Axes
        The two panels.
    im_ : tuple of QuadMesh
        The two heat maps.
    colorbar_ : Colorbar
        Their common colour bar.

    See Also
    --------
    PosteriorDisplay : The same as probabilities of S.

    Examples
    --------
    >>> from skliftpriv import SubsetMergingSanitizer
    >>> from skliftpriv.datasets import load_adult
    >>> from skliftpriv.plotting import LiftDisplay
    >>> sanitizer = SubsetMergingSanitizer("relationship", "occupation", epsilon=0.5)
    >>> display = LiftDisplay.from_estimator(sanitizer.fit(load_adult()))
    >>> int(display.outside_before.sum()), int(display.outside_after.sum())
    (32, 0)
    >>> display.figure_.savefig("lift.png")
    """

    def __init__(self, release: ReleaseData) -> None:
        super().__init__(release)
        self.log_lift_before = release.log_lift_before
        self.log_lift_after = release.log_lift
        self.outside_before = release.outside(self.log_lift_before)
        self.outside_after = release.outside(self.log_lift_after)

    def plot(self, ax: Any = None, *, max_symbols: int = 30, cmap: str = "PuOr_r") -> Self:
        """Draw the two heat maps side by side.

        Parameters
        ----------
        ax : Axes or pair of Axes, optional
            A single one must be part of a grid, whose place is then divided in two. Figures made
            with ``layout="constrained"`` leave room for the labels; both panels together take
            about ten inches.
        max_symbols : int, default=30
            Most rows, and most columns, of each. The most probable are shown, and a note says
            how many others there are and how extreme they are.
        cmap : str, default="PuOr_r"
            A diverging colour map.

        Returns
        -------
        self
        """
        sensitive = pick(self.release.joint.p_s, max_symbols)
        sides = self._sides(max_symbols, ax)
        n_columns = sensitive.shown.size
        n_rows = max(side.picked.shown.size for side in sides)
        wide = n_columns * (0.47 if n_columns <= 12 else 0.27)
        cells = [max(wide, 4.2 - text_inches(side.rows)) for side in sides]
        width = sum(cells) + sum(text_inches(side.rows) for side in sides) + 1.5
        height = max(n_rows * (0.21 if n_rows > 20 else 0.3), 1.5) + 2.1
        self.ax_ = tuple(panels(ax, 2, figsize=(width, height)))
        self.figure_ = self.ax_[0].figure
        options = {
            "n_rows": n_rows,
            "cmap": cmap,
            "norm": load("colors").Normalize(*self._colour_limits()),
        }
        meshes = []
        for panel, side, room in zip(self.ax_, sides, cells, strict=True):
            cell = None if ax is not None else room / n_columns
            meshes.append(self._panel(panel, side, sensitive, cell=cell, **options))
            notes = [*side.note(), *sensitive.note("sensitive values")]
            handles = self._handles() if panel is self.ax_[1] else []
            below(panel, notes, handles, room + 0.9)
        self.im_ = tuple(meshes)
        self._titles()
        self._colour_bar(meshes[0])
        return self

    def _sides(self, max_symbols: int, ax: Any) -> list[_Side]:
        release, width = self.release, label_width(ax, 2, 30)
        x, y = pick(release.joint.p_x, max_symbols), pick(release.p_y, max_symbols)
        before = self._input_labels(x.shown, width=width, lines=lines_for(x, ax))
        after = self._output_labels(y.shown, width=width, lines=lines_for(y, ax))
        what = "bits" if release.bits else "outputs"
        return [
            _Side(x, before, self.log_lift_before, self.outside_before, "values"),
            _Side(y, after, self.log_lift_after, self.outside_after, what),
        ]

    def _panel(self, ax: Axes, side: _Side, sensitive: Picked, **options: Any) -> Any:
        """Draw one heat map and mark its cells."""
        cut = np.ix_(sensitive.shown, side.picked.shown)
        names = [self.release.joint.sensitive_labels[s] for s in sensitive.shown]
        logs = side.logs[cut].T
        mesh = draw_heatmap(
            ax, logs, side.rows, short_labels(names, lines=1), text=signed, **options
        )
        mark_cells(ax, np.isneginf(logs), **_NEVER)
        mark_cells(ax, side.outside[cut].T, **_OUTSIDE)
        return mesh

    def _colour_limits(self) -> tuple[float, float]:
        """Symmetric limits that hold every finite value and the budget."""
        logs = np.concatenate([self.log_lift_before.ravel(), self.log_lift_after.ravel()])
        finite = np.abs(logs[np.isfinite(logs)])
        largest = max(finite.max(initial=0.0), *np.abs(self.release.limits or (0.0,)), 0.01)
        return -largest, largest

    def _titles(self) -> None:
        release, logs = self.release, self.log_lift_before
        useful, sensitive = (
            shorten(name, 24, 1) for name in (release.useful_name, release.sensitive_name)
        )
        verdict = release.verdict()
        first = [f"Before: {useful} about {sensitive}", _range(logs.min(), logs.max())]
        second = [f"After: released {useful}", _range(*release.log_lifts)]
        if release.bits:
            second = [f"After: single bits of {useful}", "all bits: " + second[1]]
        second += [verdict] if verdict else []
        first += [""] * (len(second) - len(first))
        for panel, lines in zip(self.ax_, (first, second), strict=True):
            panel.set_title("\n".join(lines), fontsize=FONT + 1, loc="left")

    def _handles(self) -> list[Any]:
        patch = load("patches").Patch
        handles = []
        if self.outside_before.any() or self.outside_after.any():
            label = (
                f"outside {self.release.band}: {int(self.outside_before.sum())} cells before, "
                f"{int(self.outside_after.sum())} after"
            )
            handles.append(patch(label=label, **_OUTSIDE))
        if np.isneginf(self.log_lift_before).any() or np.isneginf(self.log_lift_after).any():
            handles.append(patch(label="−∞: never occurs", **_NEVER))
        return handles

    def _colour_bar(self, mesh: Any) -> None:
        bar = self.figure_.colorbar(mesh, ax=list(self.ax_), aspect=30, shrink=0.9, pad=0.02)
        bar.outline.set_visible(False)
        low, high = mesh.norm.vmin, mesh.norm.vmax
        ticks = {0.0: "0"}
        if self.release.limits is not None:
            for limit in self.release.limits:
                ticks[limit] = f"{signed(limit)} budget"
                bar.ax.axhline(limit, color="black", linewidth=1.3)
        for end in (low, high):
            if min(abs(end - tick) for tick in ticks) > 0.06 * (high - low):
                ticks[end] = signed(end)
        bar.set_ticks(list(ticks), labels=list(ticks.values()), fontsize=FONT)
        bar.ax.set_ylabel("log-lift, nats", fontsize=FONT, labelpad=6)
        self.colorbar_ = bar


def _range(low: float, high: float) -> str:
    return f"log-lift {number(low)} to {number(high)}"
