"""How many rows a promise for the true distribution needs before it lets anything through."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, floor, log10

from ..confidence import ConfidenceSet
from ._result import MechanismResult

__all__ = ["is_constant", "rows_needed"]

_NOTHING = 1e-6
"""A release that keeps a smaller share of X is called constant."""
_MOST_DOUBLINGS = 24
_MOST_STEPS = 20


def is_constant(result: MechanismResult) -> bool:
    """Tell whether a release says nothing about X."""
    return result.nmi < _NOTHING


def rows_needed(
    build: Callable[[ConfidenceSet | None], MechanismResult], over: ConfidenceSet
) -> int | None:
    """Estimate how many rows let a mechanism release more than a constant.

    The table of counts is taken as it would be with more rows of the same kind.

    Parameters
    ----------
    build : callable
        Runs the mechanism for a confidence set, or for the estimated distribution (None).
    over : ConfidenceSet
        A set for which the mechanism releases a constant.

    Returns
    -------
    int or None
        Number of rows, rounded up to two digits. None if no number of rows helps, because the
        budget allows no more even where the distribution is known.
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
    # Counts are whole numbers: near the edge a few more rows may fall short again.
    for _ in range(_MOST_STEPS):
        if not is_constant(build(over.scaled(rounded / over.n_rows))):
            break
        rounded += unit
    return rounded
