"""Log-lift of every cell, before and after."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from .._format import rounded, signed
from ..views import LiftTable, Picked, ReleaseView, lift_tables, pick
from ._base import ReleaseDisplay
from ._heatmap import draw_heatmap, lines_for, mark_cells
from ._matplotlib import Axes, load
from ._panels import below, label_width, panels, text_inches
from ._style import FONT
from ._text import short_labels, shorten

__all__ = ["LiftDisplay"]

_NEVER = {"facecolor": "0.9", "edgecolor": "0.6", "hatch": "////", "linewidth": 0.0, "zorder": 1}
_OUTSIDE = {"facecolor": "none", "edgecolor": "black", "linewidth": 1.3}


class LiftDisplay(ReleaseDisplay):
    """Heat maps of the log-lift log P(s|y) / P(s): of X itself, and of what is released.

    Both have the same colours, centred at 0. Cells outside the budget are outlined; cells that
    never occur have a log-lift of minus infinity, and are hatched rather than coloured. If the
    notion does not bound single cells, as LDP does not, nothing is outlined and the title gives
    the level. For unary encoding the rows are single bits; the title is about all bits together.

    Parameters
    ----------
    release : ReleaseView
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

    def __init__(self, release: ReleaseView) -> None:
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
        tables = lift_tables(self.release, max_symbols)
        rows = self._rows(tables[0].picked, tables[1].picked, ax)
        n_columns = sensitive.shown.size
        n_rows = max(map(len, rows))
        wide = n_columns * (0.47 if n_columns <= 12 else 0.27)
        cells = [max(wide, 4.2 - text_inches(names)) for names in rows]
        width = sum(cells) + sum(map(text_inches, rows)) + 1.5
        height = max(n_rows * (0.21 if n_rows > 20 else 0.3), 1.5) + 2.1
        self.ax_ = tuple(panels(ax, 2, figsize=(width, height)))
        self.figure_ = self.ax_[0].figure
        options = {
            "n_rows": n_rows,
            "cmap": cmap,
            "norm": load("colors").Normalize(*self._colour_limits()),
        }
        meshes = []
        for panel, table, names, room in zip(self.ax_, tables, rows, cells, strict=True):
            cell = None if ax is not None else room / n_columns
            meshes.append(self._panel(panel, table, names, sensitive, cell=cell, **options))
            notes = [*_note(table), *sensitive.note("sensitive values")]
            handles = self._handles() if panel is self.ax_[1] else []
            below(panel, notes, handles, room + 0.9)
        self.im_ = tuple(meshes)
        self._titles()
        self._colour_bar(meshes[0])
        return self

    def _rows(self, before: Picked, after: Picked, ax: Any) -> list[list[str]]:
        """Labels of the rows of both heat maps."""
        width = label_width(ax, 2, 30)
        return [
            self._input_labels(before.shown, width=width, lines=lines_for(before, ax)),
            self._output_labels(after.shown, width=width, lines=lines_for(after, ax)),
        ]

    def _panel(
        self, ax: Axes, table: LiftTable, rows: list[str], sensitive: Picked, **options: Any
    ) -> Any:
        """Draw one heat map and mark its cells."""
        cut = np.ix_(sensitive.shown, table.picked.shown)
        names = [self.release.joint.sensitive_labels[s] for s in sensitive.shown]
        logs = table.logs[cut].T
        mesh = draw_heatmap(ax, logs, rows, short_labels(names, lines=1), text=signed, **options)
        mark_cells(ax, np.isneginf(logs), **_NEVER)
        mark_cells(ax, table.outside[cut].T, **_OUTSIDE)
        return mesh

    def _budget_limits(self) -> list[float]:
        """Return the finite ends of the band."""
        return [limit for limit in self.release.limits or () if np.isfinite(limit)]

    def _colour_limits(self) -> tuple[float, float]:
        """Symmetric limits that hold every finite value and the budget."""
        largest = max(self.release.largest_log_lift, *map(abs, self._budget_limits()), 0.0)
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
                f"outside {self.release.band_name}: {int(self.outside_before.sum())} lifts before, "
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
        for limit in self._budget_limits():
            ticks[limit] = f"{signed(limit)} budget"
            bar.ax.axhline(limit, color="black", linewidth=1.3)
        for end in (low, high):
            if min(abs(end - tick) for tick in ticks) > 0.06 * (high - low):
                ticks[end] = signed(end)
        bar.set_ticks(list(ticks), labels=list(ticks.values()), fontsize=FONT)
        bar.ax.set_ylabel("log-lift, nats", fontsize=FONT, labelpad=6)
        self.colorbar_ = bar


def _range(low: float, high: float) -> str:
    return f"log-lift {rounded(low)} to {rounded(high)}"


def _note(table: LiftTable) -> list[str]:
    """Say what is not shown, and how extreme it is."""
    hidden = table.logs[:, table.picked.hidden]
    span = f" Their {_range(hidden.min(), hidden.max())}." if hidden.size else ""
    return [note + span for note in table.picked.note(table.what)]
