"""Log-lifts before and after: what the rows are, and which of them are shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .._arrays import FloatArray, Label
from ._picked import Picked, pick
from ._release import ReleaseView

__all__ = ["LiftTable", "lift_tables"]


@dataclass(frozen=True)
class LiftTable:
    """Log-lifts of X itself, or of what is released.

    Attributes
    ----------
    labels : sequence of labels
        The values, outputs or bits.
    logs : ndarray of shape (n_sensitive, n_labels)
        Their log-lifts.
    outside : ndarray of bool, of the same shape
        Which of them lie outside the budget.
    picked : Picked
        The labels that are shown.
    what : {"values", "outputs", "bits"}
        What the labels are.
    """

    labels: Sequence[Label]
    logs: FloatArray
    outside: np.ndarray
    picked: Picked
    what: str


def lift_tables(release: ReleaseView, most: int) -> tuple[LiftTable, LiftTable]:
    """Return the log-lifts before and after, with at most so many labels shown."""
    joint, before, after = release.joint, release.log_lift_before, release.log_lift
    x, y = (pick(p, most, ordered=release.ordered) for p in (joint.p_x, release.p_y))
    return (
        LiftTable(joint.useful_labels, before, release.outside(before), x, "values"),
        LiftTable(release.outputs, after, release.outside(after), y, release.what),
    )
