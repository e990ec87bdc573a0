"""What an observer of an output believes about S, against the prior."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from .._format import rounded, share
from ..views import ReleaseView, pick
from ._base import ReleaseDisplay
from ._heatmap import lines_for
from ._matplotlib import Axes, load
from ._panels import below, label_width, panels, text_inches
from ._style import BLUE, FONT, GREY, SMALL, VERMILLION
from ._text import shorten

__all__ = ["PosteriorDisplay"]

_WITHIN = {"marker": "o", "s": 26, "color": BLUE, "zorder": 4}
_OUTSIDE = {"marker": "X", "s": 40, "color": VERMILLION, "zorder": 4}
_NEVER = {"marker": "D", "s": 30, "facecolor": "white", "edgecolor": VERMILLION, "zorder": 5}


class PosteriorDisplay(ReleaseDisplay):
    """Posterior probability of every sensitive value for every output, against the prior.

    One panel per sensitive value, one row per output. A line marks the prior, a shaded interval
    what the budget allows. Posteriors outside of it are crosses; a posterior of 0, which rules
    the sensitive value out, is a diamond. If the notion does not bound single posteriors, as LDP
    does not, nothing is shaded. For unary encoding the rows are single bits.

    Parameters
    ----------
    release : ReleaseView
        What is released.

    Attributes
    ----------
    posterior : ndarray of shape (n_sensitive, n_outputs)
        P(s|y), in the order of the labels of ``release``.
    allowed : ndarray of shape (n_sensitive, 2) or None
        Smallest and largest posterior within the budget.
    figure_ : Figure
        Where it is drawn.
    ax_ : tuple of Axes
        A panel per sensitive value.

    See Also
    --------
    LiftDisplay : The same as ratios to the prior.

    Examples
    --------
    >>> from skliftpriv import SubsetMergingSanitizer
    >>> from skliftpriv.datasets import load_adult
    >>> from skliftpriv.plotting import PosteriorDisplay
    >>> sanitizer = SubsetMergingSanitizer("relationship", "occupation", epsilon=0.5)
    >>> display = PosteriorDisplay.from_estimator(sanitizer.fit(load_adult()))
    >>> display.allowed[0].round(2)
    array([0.25, 0.67])
    """

    def __init__(self, release: ReleaseView) -> None:
        super().__init__(release)
        self.posterior = release.posterior
        self.allowed = release.allowed

    def plot(self, ax: Any = None, *, max_symbols: int = 30, max_sensitive: int = 12) -> Self:
        """Draw the panels.

        Parameters
        ----------
        ax : Axes or sequence of Axes, optional
            A single one must be part of a grid, whose place is then divided; else as many as
            sensitive values are shown.
        max_symbols, max_sensitive : int, default=30 and 12
            Most rows and panels. The most probable are shown, and a note says what is not.

        Returns
        -------
        self
        """
        release = self.release
        s = pick(release.joint.p_s, max_sensitive)
        y = pick(release.p_y, max_symbols, ordered=release.ordered)
        width = label_width(ax, 1, 30)
        rows = self._output_labels(y.shown, width=width, lines=lines_for(y, ax))
        per_row = 6
        n_columns = min(s.shown.size, per_row)
        grid_rows = -(-s.shown.size // per_row)
        tall = 0.21 if len(rows) > 20 else 0.3
        figsize = (
            max(text_inches(rows) + n_columns * 1.45 + 0.4, 5.0),
            grid_rows * (max(len(rows) * tall, 1.2) + 0.9) + 0.7,
        )
        self.ax_ = tuple(panels(ax, s.shown.size, figsize=figsize, per_row=per_row))
        self.figure_ = self.ax_[0].figure
        for i, (panel, value) in enumerate(zip(self.ax_, s.shown, strict=True)):
            self._panel(panel, value, y.shown)
            labels = rows if i % per_row == 0 else [""] * len(rows)
            panel.set_yticks(np.arange(len(rows)), labels, fontsize=FONT)
        notes = [*self._notes(), *y.note(release.what), *s.note("sensitive values")]
        self._legend(self.ax_[(grid_rows - 1) * per_row], notes, n_columns * 1.4)
        return self

    def _panel(self, ax: Axes, s: int, shown: np.ndarray) -> None:
        """Draw one sensitive value."""
        release = self.release
        prior, values = release.joint.p_s[s], self.posterior[s, shown]
        logs = release.log_lift[s, shown]
        rows = np.arange(shown.size)
        if self.allowed is not None:
            ax.axvspan(*self.allowed[s], color=BLUE, alpha=0.13, linewidth=0)
        ax.axvline(prior, color="black", linewidth=1.1, zorder=2)
        ax.hlines(rows, prior, values, color=GREY, linewidth=0.8, zorder=3)
        never = np.isneginf(logs)
        outside = release.outside(logs) & ~never
        for cells, style in (
            (~never & ~outside, _WITHIN),
            (outside, _OUTSIDE),
            (never, _NEVER),
        ):
            ax.scatter(values[cells], rows[cells], clip_on=False, **style)
        largest = max(values.max(), prior, 0.0 if self.allowed is None else self.allowed[s, 1])
        ax.set_xlim(-0.05 * largest, 1.06 * largest)
        ax.set_ylim(shown.size - 0.4, -0.6)
        ax.xaxis.set_major_locator(load("ticker").MaxNLocator(2, steps=[1, 2, 2.5, 5, 10]))
        ax.xaxis.set_major_formatter(lambda p, _: f"{100 * p:g}%")
        ax.spines["bottom"].set_bounds(0, min(1.06 * largest, 1.0))
        ax.tick_params(axis="x", labelsize=SMALL)
        ax.tick_params(axis="y", length=0)
        ax.spines[["top", "right", "left"]].set_visible(False)
        label = shorten(release.joint.sensitive_labels[s], 17, 2)
        ax.set_title(f"{label}\nprior {share(prior, fine=True)}", fontsize=FONT)

    def _notes(self) -> list[str]:
        release = self.release
        s, x = release.sensitive_name, release.useful_name
        text = f"Posterior probability of {s} given the released {x}."
        if release.bits:
            text = f"Posterior probability of {s} given that a single bit of {x} is 1."
            low, high = map(rounded, release.log_lifts)
            text += f" All bits together: log-lift {low} to {high}."
        verdict = release.verdict()
        return [text + (f" {verdict}." if verdict else "")]

    def _legend(self, ax: Axes, notes: list[str], width: float) -> None:
        line, patch = load("lines").Line2D, load("patches").Patch
        logs = self.release.log_lift
        handles = [line([], [], color="black", linewidth=1.1, label="prior")]
        if self.allowed is not None:
            label = f"allowed by {self.release.band_name}"
            handles.append(patch(facecolor=BLUE, alpha=0.13, label=label))
        never = np.isneginf(logs)
        for cells, style, label in (
            (~never, _WITHIN, "posterior"),
            (self.release.outside(logs) & ~never, _OUTSIDE, "outside the budget"),
            (never, _NEVER, "ruled out: posterior 0, log-lift −∞"),
        ):
            if cells.any():
                handles.append(self.ax_[0].scatter([], [], label=label, **style))
        below(ax, notes, handles, width, offset=24.0, n_columns=2)
