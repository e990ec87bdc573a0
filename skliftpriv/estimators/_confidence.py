"""Promises for the distribution that rows came from, and warnings where they cost too much."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ..confidence import ConfidenceSet
from ..exceptions import SampleSizeWarning
from ..frames import ContingencyTable
from ..mechanisms import MechanismResult, is_constant, rows_needed

__all__ = ["confidence_set", "confidence_warnings"]

# A list of values is called open when at least so many occur once, and they are such a share.
_SINGLES = 5
_UNSEEN_SHARE = 1e-3


def confidence_set(counts: ContingencyTable, confidence: float | None) -> ConfidenceSet | None:
    """Return the distributions that agree with counted rows, or None if no confidence is asked."""
    if confidence is None:
        return None
    return ConfidenceSet.from_counts(
        counts.counts, counts.sensitive, counts.useful, confidence=confidence
    )


def confidence_warnings(
    result: MechanismResult, build: Callable[[ConfidenceSet | None], MechanismResult]
) -> Iterator[SampleSizeWarning]:
    """Warn of rows that are too few for a promise, or that may not show all values.

    Parameters
    ----------
    result : MechanismResult
        What a mechanism promises.
    build : callable
        Runs the same mechanism for another confidence set, or for the estimate (None).
    """
    over = result.over
    if over is None:
        return
    new = over.unseen_share
    if new > _UNSEEN_SHARE and new * over.n_rows >= _SINGLES:
        yield SampleSizeWarning(
            f"{new * over.n_rows:.0f} values of X occur once, so about {new:.1%} of further rows "
            f"have values that these rows do not show. confidence={over.confidence:g} holds only "
            "for a closed list of values: merge rare values before fit."
        )
    if is_constant(result):
        rows = rows_needed(build, over)
        reason = (
            "The budget allows no more even for the estimated distribution: raise epsilon."
            if rows is None
            else f"About {rows:,} rows of the same kind would let a part of it through, and so may "
            "a larger epsilon or a smaller confidence."
        )
        yield SampleSizeWarning(
            f"With confidence={over.confidence:g} and {over.n_rows:,} rows the release is "
            f"constant and says nothing about X. {reason}"
        )
