"""Estimate how many rows a mechanism over a confidence set needs to keep anything of X."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, floor, log10

from ..confidence import ConfidenceSet
from ._result import MechanismResult

__all__ = ["is_constant", "rows_needed"]

_NOTHING = 1e-6
"""A mechanism that keeps a smaller share of X is called constant."""
_MOST_DOUBLINGS = 24
_MOST_STEPS = 20


def is_constant(result: MechanismResult) -> bool:
    """Return whether the output carries no information about X."""
    return result.nmi < _NOTHING


def rows_needed(
    build: Callable[[ConfidenceSet | None], MechanismResult], over: ConfidenceSet
) -> int | None:
    """Estimate how many rows a mechanism needs to output more than a constant.

    The estimate scales the table of counts as if there were more rows of the same distribution.

    Parameters
    ----------
    build : callable
        Runs the mechanism for a confidence set, or for the estimated distribution (None).
    over : ConfidenceSet
        A set for which the output of the mechanism is constant.

    Returns
    -------
    int or None
        Number of rows, rounded up to two digits. None if no number of rows helps because the
        budget allows no more even for a known distribution, or if the number is too large.
    """
    if is_constant(build(None)):
        return None
    too_few, enough = 0, 1
    while is_constant(build(over.scaled(2.0**enough))):
        too_few, enough = enough, enough + 1
        if enough > _MOST_DOUBLINGS:
            return None
    low, high = float(too_few), float(enough)
    for _ in range(3):
        middle = (low + high) / 2
        if is_constant(build(over.scaled(2.0**middle))):
            low = middle
        else:
            high = middle
    rows = over.n_rows * 2.0**high
    unit = 10 ** max(floor(log10(rows)) - 1, 0)
    rounded = ceil(rows / unit) * unit
    # Scaled counts are rounded, so a few more rows may be too few again.
    for _ in range(_MOST_STEPS):
        if not is_constant(build(over.scaled(rounded / over.n_rows))):
            break
        rounded += unit
    return rounded
