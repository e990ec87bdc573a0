"""Which rows cells are learnt from: a random choice that depends on numbers of rows only."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .._arrays import FloatArray
from ..exceptions import InvalidParameterError
from ..frames import row_slices

__all__ = ["RowChoice", "learning_rows"]

Places = NDArray[np.intp]

#: Rows that cells are learnt from at most; more hardly change them.
_MOST_ROWS = 100_000
#: Share of the rows that cells are learnt from if these are not counted.
_APART = 1 / 3
#: Whole numbers up to this are exact.
_MOST_RECORDS = 2.0**53


class RowChoice:
    """Chooses rows to learn cells from while a table is read in parts, however these are cut.

    Every row has a random key from a fixed seed, and the rows with the smallest keys are chosen:
    all choices of so many rows are equally likely. Whoever reads the table holds the rows that
    :meth:`add` takes, and drops those that :meth:`thin` does not name.

    .. versionadded:: 0.2

    Attributes
    ----------
    n_rows : int
        Number of rows so far.

    Examples
    --------
    >>> from skliftpriv.cells import RowChoice
    >>> choice = RowChoice()
    >>> for part in ([10, 11, 12], [13, 14, 15]):
    ...     taken = choice.add(len(part))
    >>> choice.rows(apart=False), choice.rows(apart=True).size
    (array([0, 1, 2, 3, 4, 5]), 2)
    """

    def __init__(self) -> None:
        self.n_rows = 0
        self._random = np.random.default_rng(0)
        self._keys = np.empty(0)
        self._held = np.empty(0, dtype=np.intp)

    def add(self, n_rows: int) -> Places:
        """Go on to the next part, and return the places in it of the rows to hold.

        Parameters
        ----------
        n_rows : int
            Number of rows of the part.
        """
        new = self._random.random(n_rows)
        keys = np.concatenate([self._keys, new])
        taken = np.arange(n_rows)
        if keys.size > _MOST_ROWS:
            taken = np.flatnonzero(new <= np.partition(keys, _MOST_ROWS - 1)[_MOST_ROWS - 1])
        self._keys = np.concatenate([self._keys, new[taken]])
        self._held = np.concatenate([self._held, self.n_rows + taken])
        self.n_rows += n_rows
        return taken

    @property
    def crowded(self) -> bool:
        """Whether so many rows are held that it is time to call :meth:`thin`."""
        return self._held.size > 2 * _MOST_ROWS

    def thin(self) -> Places:
        """Return the places, among the rows that are held, of those that have to stay."""
        stay = self._smallest(_MOST_ROWS)
        self._keys, self._held = self._keys[stay], self._held[stay]
        return stay

    def places(self, *, apart: bool) -> Places:
        """Return the places of the chosen rows among those that are held, in ascending order.

        Parameters
        ----------
        apart : bool
            Whether rows that are learnt from shall not be counted: then they are a third at most.
        """
        wanted = int(self.n_rows * _APART) if apart else self.n_rows
        return self._smallest(min(wanted, _MOST_ROWS))

    def rows(self, *, apart: bool) -> Places:
        """Return the numbers of the chosen rows, in ascending order; see :meth:`places`."""
        return self._held[self.places(apart=apart)]

    def _smallest(self, n: int) -> Places:
        return np.sort(np.argsort(self._keys, kind="stable")[:n])


def learning_rows(n_rows: int, *, apart: bool, weight: FloatArray | None = None) -> Places:
    """Choose the rows that cells are learnt from.

    The choice depends on nothing but the number of rows and their weights.

    Parameters
    ----------
    n_rows : int
        Number of rows.
    apart : bool
        Whether rows that are learnt from shall not be counted. Weights are then numbers of records
        that a row stands for, and records are chosen.
    weight : ndarray of shape (n_rows,), optional
        Weights of the rows. Those without weight are not chosen.

    Returns
    -------
    ndarray of int
        Numbers of rows in ascending order, each as often as records of it are chosen.
    """
    if weight is not None and (weight != 1).any():
        if apart:
            return _chosen_records(weight)
        weighty = np.flatnonzero(weight)
        return weighty[learning_rows(weighty.size, apart=False)]
    choice = RowChoice()
    for part in row_slices(n_rows):
        choice.add(part.stop - part.start)
        if choice.crowded:
            choice.thin()
    return choice.rows(apart=apart)


def _chosen_records(weight: FloatArray) -> Places:
    """Choose a third of the records that rows stand for; all choices are equally likely."""
    if (weight != np.floor(weight)).any():
        raise InvalidParameterError(
            "sample_weight must hold whole numbers: with confidence= they count records, of which "
            "a third are learnt from."
        )
    if weight.sum() > _MOST_RECORDS:
        raise InvalidParameterError(
            f"sample_weight stands for {weight.sum():.3g} records, more than can be counted "
            "exactly (2^53)."
        )
    upto = np.cumsum(weight)
    n_records = int(upto[-1])
    n_chosen = min(int(n_records * _APART), _MOST_ROWS)
    chosen = np.random.default_rng(0).choice(n_records, n_chosen, replace=False, shuffle=False)
    return np.sort(np.searchsorted(upto, chosen, side="right"))
