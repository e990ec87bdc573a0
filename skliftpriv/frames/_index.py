"""What the index and the order of rows reveal about S: both are released with the rows."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import chi2_contingency
from scipy.stats.contingency import association

from ..sampling import RandomState, derived_stream
from ._symbols import encode_rows
from ._table import Table

__all__ = ["RowOrder", "concerns", "shuffle_rows"]

Codes = NDArray[np.intp]

#: Largest probability of reporting numbers that are independent of S.
_ERROR = 1e-6
#: Smallest association (Cramer's V) that is reported.
_ASSOCIATION = 0.1
#: Largest number of groups that numbers are divided into.
_PARTS = 32
#: Smallest expected count of a cell in the test.
_EXPECTED = 5.0
#: Most rows tested; larger tables are sampled.
_ROWS = 100_000
#: Most rows of a file tested, which are held while it is read.
_HELD_ROWS = 10_000
#: With fewer rows the test has no power.
_FEWEST_ROWS = 50


def concerns(
    table: Table, sensitive: Sequence[Any] | None = None, *, index: bool = True
) -> list[str]:
    """List what is released with the rows of a table and may reveal S: index and order.

    Parameters
    ----------
    table : Table
        The rows.
    sensitive : sequence of columns, optional
        S of the same rows, if it is known.
    index : bool, default=True
        Whether the index of a pandas frame is released at all.

    Returns
    -------
    list of str
        For example ``["the index 'id'"]``. An unnamed index of integers and the order of the
        rows are listed only if they are associated with S.
    """
    released = table.index if index else None
    found = [] if released is None else _telling_index(released)
    if sensitive is None or table.n_rows < _FEWEST_ROWS:
        return found
    place = _sample(table.n_rows)
    codes, _ = encode_rows([column[place] for column in sensitive])
    # A range index is the order of the rows, which is tested below.
    numbers = None if found or isinstance(released, pd.RangeIndex) else released
    if numbers is not None and _goes_with(numbers.to_numpy()[place], codes):
        found.append("the index, which is associated with the sensitive values")
    return found + _telling_order(place, codes)


class RowOrder:
    """Whether the order of rows that are read in parts reveals S, from a random sample of them."""

    def __init__(self) -> None:
        self._rng = np.random.default_rng(0)
        self._share = 1.0
        self._n_rows = 0
        self._numbers: dict[Any, int] = {}
        self._place = self._codes = np.zeros(0, dtype=np.intp)

    def add(self, sensitive: Sequence[Any]) -> None:
        """Take a share of the next rows, given by their columns of S, into the sample."""
        n_rows = len(sensitive[0])
        place = np.flatnonzero(self._rng.random(n_rows) < self._share)
        codes, values = encode_rows([column[place] for column in sensitive])
        known = [self._numbers.setdefault(value, len(self._numbers)) for value in values]
        self._codes = np.append(self._codes, np.array(known, dtype=np.intp)[codes])
        self._place = np.append(self._place, self._n_rows + place)
        self._n_rows += n_rows
        while self._place.size > _HELD_ROWS:
            kept = self._rng.random(self._place.size) < 0.5
            self._place, self._codes = self._place[kept], self._codes[kept]
            self._share /= 2

    def concerns(self) -> list[str]:
        """List the order of the rows if it is associated with S."""
        return [] if self._place.size < _FEWEST_ROWS else _telling_order(self._place, self._codes)


def _telling_order(place: Codes, sensitive: Codes) -> list[str]:
    if not _goes_with(place, sensitive):
        return []
    return ["the order of the rows, which is associated with the sensitive values"]


def _telling_index(index: pd.Index) -> list[str]:
    """List an index that is more than row numbers."""
    if any(name is not None for name in index.names):
        names = ", ".join(repr(str(name)) for name in index.names if name is not None)
        return [f"the index {names}"]
    if isinstance(index, pd.MultiIndex) or not pd.api.types.is_integer_dtype(index.dtype):
        return [f"the index of type {index.dtype}"]
    return []


def _sample(n_rows: int) -> Codes:
    if n_rows <= _ROWS:
        return np.arange(n_rows)
    return np.sort(np.random.default_rng(0).choice(n_rows, _ROWS, replace=False))


def _goes_with(numbers: NDArray[Any], sensitive: Codes) -> bool:
    """Test whether the size or the last digit of numbers is associated with S."""
    values, codes = np.unique(numbers, return_inverse=True)
    parts = min(_PARTS, max(2, int(numbers.size / (2 * _EXPECTED))))
    groupings = [codes.reshape(-1) * parts // values.size, (numbers % 10).astype(np.intp)]
    return any(_dependent(groups, sensitive, _ERROR / len(groupings)) for groups in groupings)


def _dependent(groups: Codes, sensitive: Codes, error: float) -> bool:
    """Run a chi-square test; sensitive values too rare for it are pooled."""
    sizes = np.bincount(groups)
    smallest = sizes[sizes > 0].min() / groups.size
    common = np.bincount(sensitive) * smallest >= _EXPECTED
    pooled = np.where(common[sensitive], sensitive + 1, 0)
    n_s = int(pooled.max()) + 1
    table = np.bincount(groups * n_s + pooled, minlength=sizes.size * n_s).reshape(-1, n_s)
    table = table[table.any(axis=1)][:, table.any(axis=0)]
    if min(table.shape) < 2 or chi2_contingency(table).pvalue >= error:
        return False
    return bool(association(table, method="cramer") >= _ASSOCIATION)


def shuffle_rows(X: Any, *, random_state: RandomState = None) -> Any:
    """Return the rows of a table in random order, without their index.

    The order of rows is released with them: in a table sorted by S the position of a row reveals
    S, however well the columns are protected. Shuffle released rows unless their order is needed.

    .. versionadded:: 0.2

    Parameters
    ----------
    X : pandas or polars DataFrame, pyarrow Table, or 2-D array-like
        The rows, usually what ``transform`` returned.
    random_state : int, RandomState, Generator or None, default=None
        None draws the order from the operating system's cryptographic generator. With a seed
        the order is reproducible by anyone who knows the seed.

    Returns
    -------
    table of the same kind

    Examples
    --------
    >>> from skliftpriv import SubsetMergingSanitizer, shuffle_rows
    >>> from skliftpriv.datasets import load_adult
    >>> adult = load_adult()[["relationship", "occupation"]]
    >>> sanitizer = SubsetMergingSanitizer("relationship", "occupation", epsilon=0.5)
    >>> released = shuffle_rows(sanitizer.fit_transform(adult))
    >>> len(released), released.index[0]
    (32561, 0)
    """
    table = Table(X, allow_empty=True)
    order = _random_order(table.n_rows, random_state)
    if table.frame is None:
        return table.array[order]
    if isinstance(X, pd.DataFrame):
        return X.iloc[order].reset_index(drop=True)
    return table.frame[order].to_native()


def _random_order(n_rows: int, random_state: RandomState) -> Codes:
    stream = derived_stream(random_state, b"order")
    draw = os.urandom if stream is None else stream.bytes
    while True:
        keys = np.frombuffer(draw(8 * n_rows), dtype=np.uint64)
        order = np.argsort(keys, kind="stable")
        # Ties would favour the old order, so draw again; with 64 bits they hardly ever occur.
        if n_rows < 2 or (np.diff(keys[order]) > 0).all():
            return order
