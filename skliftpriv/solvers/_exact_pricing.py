"""Column generation where the best posterior for given prices can be computed."""

from __future__ import annotations

from typing import Protocol

from ._column_pool import ColumnPool
from ._image import FloatArray
from ._state import SolverState


class Pricer(Protocol):
    """Finds the posteriors that improve a solution most, and proves that no other does."""

    @property
    def first(self) -> FloatArray:
        """Posteriors to start with."""

    def price(self, prices: FloatArray) -> tuple[FloatArray, float]:
        """Return improving posteriors, and a lower bound on the conditional entropy."""


def price_exactly(
    pool: ColumnPool, pricer: Pricer, state: SolverState, prices: FloatArray | None = None
) -> None:
    """Add the posteriors that a pricer finds until there are none.

    Parameters
    ----------
    pool : ColumnPool
        Receives the posteriors.
    pricer : Pricer
        For the same problem.
    state : SolverState
        Clock; receives value and bound.
    prices : ndarray of shape (n,), optional
        Prices to begin with, if better ones are known than those of the first posteriors.
    """
    pool.add(pricer.first, always=True)
    if prices is not None and not state.finished:
        found, bound = pricer.price(prices)
        state.improve_bound(bound)
        pool.add(found, always=True)
    while not state.finished:
        found, bound = pricer.price(pool.prices)
        state.improve_bound(bound)
        state.report()
        if len(found):
            pool.add(found, always=True)
        elif pool.uses_artificial:
            pool.raise_cap()
        else:
            break
