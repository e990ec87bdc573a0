"""Confidence sets of counted rows, and warnings about too few rows for them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ..confidence import ConfidenceSet
from ..exceptions import SampleSizeWarning
from ..frames import ContingencyTable
from ..mechanisms import MechanismResult, is_constant, rows_needed

__all__ = ["confidence_set", "confidence_warnings"]

# Warn of unseen values if at least so many values occur once, and they are this share of rows.
_SINGLES = 5
_UNSEEN_SHARE = 1e-3


def confidence_set(counts: ContingencyTable, confidence: float | None) -> ConfidenceSet | None:
    """Return the confidence set of counted rows, or None without a confidence."""
    if confidence is None:
        return None
    return ConfidenceSet.from_counts(
        counts.counts, counts.sensitive, counts.useful, confidence=confidence
    )


def confidence_warnings(
    result: MechanismResult, build: Callable[[ConfidenceSet | None], MechanismResult]
) -> Iterator[SampleSizeWarning]:
    """Yield warnings about rows that are too few, or that may not contain all values.

    Parameters
    ----------
    result : MechanismResult
        Result of a mechanism.
    build : callable
        Runs the same mechanism for another confidence set, or for the estimated distribution
        (None).
    """
    over = result.over
    if over is None:
        return
    new = over.unseen_share
    if new > _UNSEEN_SHARE and new * over.n_rows >= _SINGLES:
        yield SampleSizeWarning(
            f"{new * over.n_rows:.0f} values of X occur once, so about {new:.1%} of further rows "
            f"have values that these rows do not contain. confidence={over.confidence:g} holds "
            "only for a closed list of values: merge rare values before fit."
        )
    if is_constant(result):
        rows = rows_needed(build, over)
        reason = (
            "More rows do not help: raise epsilon."
            if rows is None
            else f"Use about {rows:,} rows of the same kind, or try a larger epsilon or a smaller "
            "confidence."
        )
        yield SampleSizeWarning(
            f"With confidence={over.confidence:g} and {over.n_rows:,} rows the output is "
            f"constant and says nothing about X. {reason}"
        )
