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
        Indices of the symbols, the most probable first.
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


def pick(p: FloatArray, most: int) -> Picked:
    """Order symbols by probability, without those that never occur, and keep the first ones."""
    order = np.argsort(-p, kind="stable")
    order = order[p[order] > 0]
    return Picked(order[:most], order[most:], float(p[order[most:]].sum()))
