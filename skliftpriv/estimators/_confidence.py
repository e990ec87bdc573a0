"""Warnings about rows that are too few for a confidence set."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ..confidence import ConfidenceSet
from ..exceptions import SampleSizeWarning
from ..mechanisms import MechanismResult, is_constant, rows_needed

__all__ = ["confidence_warnings"]

# Warn of unseen values if at least so many values occur once, and they are this share of rows.
_SINGLES = 5
_UNSEEN_SHARE = 1e-3


def confidence_warnings(
    result: MechanismResult,
    build: Callable[[ConfidenceSet | None], MechanismResult],
    *,
    closed: bool = False,
) -> Iterator[SampleSizeWarning]:
    """Yield warnings about rows that are too few, or that may not contain all values.

    Parameters
    ----------
    result : MechanismResult
        Result of a mechanism.
    build : callable
        Runs the same mechanism for another confidence set, or for the estimated distribution
        (None).
    closed : bool, default=False
        Whether the list of values of X is closed, so that no others can occur.
    """
    over = result.over
    if not isinstance(over, ConfidenceSet):
        return
    new = 0.0 if closed else over.unseen_share
    if new > _UNSEEN_SHARE and new * over.n_rows >= _SINGLES:
        yield SampleSizeWarning(
            f"{new * over.n_rows:.0f} values of X occur once, so about {new:.1%} of further rows "
            f"have values that these rows do not contain. confidence={over.confidence:g} holds "
            "only for a closed list of values: pass it as categories=, or merge rare values "
            "before fit."
        )
    if is_constant(result):
        reason = "or try a larger epsilon or a smaller confidence."
        if result.status in ("time_limit", "no_progress") or not result.notion.per_output:
            # To try many numbers of rows would take many times as long.
            reason = f"Use more rows of the same kind, {reason}"
        elif (rows := rows_needed(build, over)) is None:
            reason = "More rows do not help: raise epsilon."
        else:
            reason = f"Use about {rows:,} rows of the same kind, {reason}"
        yield SampleSizeWarning(
            f"With confidence={over.confidence:g} and {over.n_rows:,} rows the output is "
            f"constant and says nothing about X. {reason}"
        )
