"""Which symbols are shown one by one, and what is said about the others."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._arrays import FloatArray
from .._format import share

__all__ = ["Picked", "pick"]


@dataclass(frozen=True)
class Picked:
    """The most probable symbols, and how many others there are.

    Attributes
    ----------
    shown, hidden : ndarray of int
        Indices of the symbols, the most probable first; those that are shown in their own order,
        if they have one.
    probability : float
        Probability of the hidden ones together.
    """

    shown: np.ndarray
    hidden: np.ndarray
    probability: float

    @property
    def others(self) -> list[str]:
        """A name for the hidden symbols together, if there are any."""
        return [f"{self.hidden.size} others"] if self.hidden.size else []

    def note(self, what: str) -> list[str]:
        """Say how many of ``what`` are not shown."""
        if not self.hidden.size:
            return []
        total = self.shown.size + self.hidden.size
        return [
            f"The {self.shown.size} most probable of {total} {what} are shown; the other "
            f"{self.hidden.size} have {share(self.probability, fine=True)} of the probability."
        ]


def pick(p: FloatArray, most: int, *, ordered: bool = False) -> Picked:
    """Keep the most probable symbols, without those that never occur.

    Parameters
    ----------
    p : ndarray
        Probability of every symbol.
    most : int
        How many symbols are shown.
    ordered : bool, default=False
        Whether they stay in the order that they have, and are not sorted by probability.
    """
    order = np.argsort(-p, kind="stable")
    order = order[p[order] > 0]
    shown = np.sort(order[:most]) if ordered else order[:most]
    return Picked(shown, order[most:], float(p[order[most:]].sum()))
