"""The state of a running solver: the clock, the best bounds, and the progress line."""

from __future__ import annotations

import time

from .._progress import Progress
from ._problem import Scale, Status

_ROUNDING = 1e-9
"""Gaps in nats below this are rounding errors."""
_SMALL_GAP = 1e-6
"""As a share a gap is small up to this, even if a smaller one was asked for."""
_UNLIMITED = 60.0
"""Seconds that are shared out if there is no time limit."""


class SolverState:
    """The time limit and the best bounds of one run.

    Parameters
    ----------
    scale : Scale
        Turns conditional entropies into shares that are kept.
    gap : float
        Stop when the certified gap, as a share, is at most this.
    time_limit : float or None
        Seconds from the creation of this object.
    verbose : bool or None
        Show a progress line on standard error; None as in :class:`Progress`.
    """

    def __init__(
        self, scale: Scale, gap: float, time_limit: float | None, verbose: bool | None
    ) -> None:
        self.scale = scale
        self.gap_nats = max(gap * scale.information, _ROUNDING)
        self._most_gap = max(gap, _SMALL_GAP) * (1 + 1e-6)
        self.value = scale.constant  # that of a constant output
        self.bound = scale.everything  # no output says more than the input
        self.n_columns = 0
        self.n_nodes = 0
        self.interrupted = False
        self.full = False  # the memory of branch and bound
        self._start = time.perf_counter()
        self._limit = float("inf") if time_limit is None else time_limit
        self._progress = Progress(verbose)

    @property
    def seconds(self) -> float:
        """Wall time so far."""
        return time.perf_counter() - self._start

    @property
    def out_of_time(self) -> bool:
        """Whether the time limit is reached."""
        return self.seconds >= self._limit

    @property
    def left(self) -> float:
        """Seconds until the time limit, to share out; a minute at any time without a limit."""
        return _UNLIMITED if self._limit == float("inf") else max(self._limit - self.seconds, 0.0)

    @property
    def fraction_used(self) -> float:
        """Share of the time limit that is used up; 0 without a limit."""
        return self.seconds / self._limit if self._limit > 0 else 1.0

    @property
    def closed(self) -> bool:
        """Whether the requested gap is reached."""
        return self.value - self.bound <= self.gap_nats

    @property
    def finished(self) -> bool:
        """Whether to stop, for either reason."""
        return self.closed or self.out_of_time

    @property
    def most_kept(self) -> float:
        """Upper bound on the share that can be kept.

        Of so little information that rounding errors are more than a small gap, it allows for them.
        """
        rounding = max(0.0, _ROUNDING - _SMALL_GAP * self.scale.information)
        return self.scale.kept(self.bound - rounding)

    def improve_bound(self, bound: float) -> None:
        """Keep the larger of the known and a new valid lower bound on the conditional entropy."""
        self.bound = max(self.bound, bound)

    def status(self, gap: float) -> Status:
        """Name the reason for stopping, given the final gap as a share."""
        # Of little information, rounding errors are a larger share.
        if gap * self.scale.information <= _ROUNDING and gap <= _SMALL_GAP * (1 + 1e-6):
            return "optimal"
        if gap <= self._most_gap and gap * self.scale.information <= self.gap_nats * (1 + 1e-6):
            return "gap_reached"
        if self.interrupted:
            return "interrupted"
        if self.out_of_time:
            return "time_limit"
        return "memory_limit" if self.full else "no_progress"

    def report(self, last: bool = False) -> None:
        """Update the progress line."""
        kept, most = self.scale.kept(self.value), self.most_kept
        self._progress.line(
            f"{self.seconds:8.1f} s  kept {kept:.6f}  upper bound {most:.6f}  gap {most - kept:.2e}"
            f"  columns {self.n_columns}  nodes {self.n_nodes}",
            last=last,
        )
