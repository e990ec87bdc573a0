"""Columns as numbers that a tree can split: numbers as they are, categories in an order."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from .._arrays import FloatArray, Label
from ..exceptions import InvalidParameterError
from ..frames import SymbolEncoder, as_numbers, category_order, encode_rows, sort_symbols
from ..labels import short_text
from ._grid import Grid, grid_of, kind_of

__all__ = [
    "CategoryFeature",
    "Feature",
    "NumberFeature",
    "Outcomes",
    "feature_of",
    "features_matrix",
]

#: Trees compute with 32-bit numbers and refuse infinite ones.
_LARGEST = float(np.finfo(np.float32).max)
#: Rows of the average that the mean of a category is mixed with, so that chance orders few rows.
_PRIOR_ROWS = 10.0
#: What cells are to predict, a column for each outcome.
Outcomes: TypeAlias = FloatArray | csr_array
#: Share of the largest component of a direction that counts as equal to it.
_LEADING = 1 - 1e-6
#: Categories that a condition names before it counts the others.
_NAMED = 4
#: Significant digits of the numbers in a condition, and most of them.
_DIGITS = 6
_MOST_DIGITS = 17


class Feature(ABC):
    """A column as a tree sees it."""

    name: str
    #: Whether rows that the cells were learnt from had no value, or a rare one, in this column.
    gaps: bool

    @abstractmethod
    def encode(self, column: Any) -> FloatArray:
        """Write a column as numbers; NaN for missing values, or rare and new categories."""


@dataclass(frozen=True)
class NumberFeature(Feature):
    """A column of numbers or dates.

    Attributes
    ----------
    name : str
        Name of the column.
    gaps : bool
        Whether values were missing.
    grid : Grid or None
        Steps of whole numbers and dates; None for other numbers, which the tree sees as they are.
    """

    name: str
    gaps: bool
    grid: Grid | None

    @property
    def of_numbers(self) -> bool:
        """Whether the column holds numbers rather than dates or spans of time."""
        return self._kind == "numbers"

    @property
    def _kind(self) -> str:
        return "numbers" if self.grid is None else self.grid.kind.removesuffix(" in UTC")

    def encode(self, column: Any) -> FloatArray:
        """Write a column as numbers, NaN where a value is missing."""
        numbers = as_numbers(column)
        if numbers is None or self._kind != kind_of(column).removesuffix(" in UTC"):
            values = [value for value in encode_rows([column])[1] if value is not None]
            if values:
                raise InvalidParameterError(
                    f"The column {self.name} held {self._kind} at fit, and now holds "
                    f"{values[0]!r}: convert it."
                )
            numbers = np.full(len(column), np.nan)
        if self.grid is not None:
            numbers = self.grid.encode(numbers)
        return np.clip(numbers, -_LARGEST, _LARGEST)

    def digits(self, edges: Sequence[float]) -> int:
        """Return how many significant digits tell the edges of cells apart."""
        n = len(set(edges))
        enough = (
            d for d in range(_DIGITS, _MOST_DIGITS) if len({f"{e:.{d}g}" for e in edges}) == n
        )
        return next(enough, _MOST_DIGITS)

    def condition(self, low: float, high: float, gaps: bool, digits: int) -> str:
        """Say which values are above ``low`` and up to ``high``; missing ones, too, if ``gaps``."""

        def text(edge: float) -> str:
            return f"{edge:.{digits}g}" if self.grid is None else self.grid.above(edge)

        if low >= _LARGEST or low >= high:
            return f"{self.name} missing"
        # Whole numbers above 36.5 are at least 37, and those up to 36.5 below 37.
        above, below = (">", "<=") if self.grid is None else (">=", "<")
        if low == -np.inf and high >= _LARGEST:
            rule = f"{self.name} known"
        elif high >= _LARGEST:
            rule = f"{self.name} {above} {text(low)}"
        elif low == -np.inf:
            rule = f"{self.name} {below} {text(high)}"
        else:
            first = "<" if self.grid is None else "<="
            rule = f"{text(low)} {first} {self.name} {below} {text(high)}"
        return f"{rule} or missing" if gaps else rule


@dataclass(frozen=True)
class CategoryFeature(Feature):
    """A column of categories, numbered in an order in which neighbours predict alike.

    Attributes
    ----------
    name : str
        Name of the column.
    gaps : bool
        Whether there were rare values.
    order : tuple of labels
        The categories with enough rows.
    fixed : bool
        Whether this is their own order, as of an ordered categorical.
    """

    name: str
    gaps: bool
    order: tuple[Label, ...]
    fixed: bool = False

    def encode(self, column: Any) -> FloatArray:
        """Write a column as positions in the order, NaN for rare and new values."""
        codes, _ = SymbolEncoder(self.order).codes([column])
        return np.where(codes < 0, np.nan, codes)

    def ordered_by(
        self, codes: NDArray[np.float32], outcomes: Outcomes, without: slice | None = None
    ) -> CategoryFeature:
        """Order the categories by their mean outcomes, along the direction of most difference.

        For one outcome no other order gives a tree better splits (Breiman and others 1984).

        Parameters
        ----------
        codes : ndarray of shape (n_rows,)
            What :meth:`encode` returns.
        outcomes : ndarray or csr_array of shape (n_rows, n_outcomes)
            What the cells are to predict.
        without : slice, optional
            Outcomes that do not count.
        """
        known = ~np.isnan(codes)
        if self.fixed or len(self.order) < 3:
            return self
        group = csr_array(
            (np.ones(int(known.sum())), (codes[known].astype(np.intp), np.flatnonzero(known))),
            shape=(len(self.order), codes.size),
        )
        rows = np.asarray(group.sum(axis=1))
        average = np.asarray(outcomes.mean(axis=0))
        totals = group @ outcomes
        totals = np.asarray(totals.toarray() if isinstance(totals, csr_array) else totals)
        # Rows of the average are mixed in, so that chance does not place rare categories far out.
        means = (totals - rows[:, None] * average) / (rows + _PRIOR_ROWS)[:, None]
        if without is not None:
            means = np.delete(means, without, axis=1)
        if not means.shape[1]:
            return self
        direction = _main_direction(means * np.sqrt(rows)[:, None])
        # Both signs are possible: the largest component is made positive, or the first of several
        # that differ by rounding errors.
        sizes = np.abs(direction)
        direction *= np.sign(direction[np.argmax(sizes >= _LEADING * sizes.max())]) or 1.0
        order = np.argsort(means @ direction, kind="stable")
        return replace(self, order=tuple(self.order[i] for i in order))

    def inside(self, low: float, high: float) -> set[Label]:
        """Return the categories with a number above ``low`` and up to ``high``."""
        return {label for i, label in enumerate(self.order) if low < i <= high}

    def condition(self, found: set[Label], gaps: bool) -> str:
        """Name some of the categories, or the others; with ``gaps`` also rare and new values."""
        inside = [label for label in self.order if label in found]
        outside = [label for label in self.order if label not in found]
        if not inside:
            return f"{self.name} is another value"
        if gaps and outside and len(outside) < len(inside):
            return f"{self.name} {'not in' if len(outside) > 1 else '!='} {_listed(outside)}"
        if not outside:
            return f"{self.name} in {_listed(inside)}"
        text = f"{self.name} {'in' if len(inside) > 1 else '='} {_listed(inside)}"
        return f"{text} or another value" if gaps else text


def _main_direction(points: FloatArray) -> FloatArray:
    """Return the direction in which points are farthest from 0: the first singular vector."""
    n_points, n_dimensions = points.shape
    # Of a matrix with few rows or few columns, the smaller product has the same vector.
    if n_points < n_dimensions:
        return np.asarray(points.T @ np.linalg.eigh(points @ points.T)[1][:, -1])
    return np.asarray(np.linalg.eigh(points.T @ points)[1][:, -1])


def _listed(labels: list[Label]) -> str:
    texts = sorted(short_text(label) for label in labels)
    if len(texts) == 1:
        return texts[0]
    more = [f"{len(texts) - _NAMED} more"] if len(texts) > _NAMED + 1 else []
    return "{" + ", ".join(texts[: _NAMED if more else None] + more) + "}"


def feature_of(name: str, column: Any, least: int) -> Feature:
    """Learn how a column is written as numbers.

    Parameters
    ----------
    name : str
        Name of the column.
    column : narwhals Series or one-dimensional array
        The rows to learn from.
    least : int
        Categories with fewer rows count as other values: a tree would learn them by heart.
    """
    numbers = as_numbers(column)
    if numbers is not None:
        return NumberFeature(name, bool(np.isnan(numbers).any()), grid_of(column, numbers))
    codes, symbols = encode_rows([column])
    rows = np.bincount(codes, minlength=len(symbols))
    common = [symbols[i] for i in np.argsort(-rows, kind="stable") if rows[i] >= least]
    order = category_order([column])
    if order is not None:
        common = sort_symbols(common, order)
    return CategoryFeature(name, len(common) < len(symbols), tuple(common), order is not None)


def features_matrix(features: Sequence[Feature], columns: Sequence[Any]) -> NDArray[np.float32]:
    """Write columns as a matrix of numbers with one column each."""
    matrix = np.empty((len(columns[0]), len(features)), dtype=np.float32)
    for place, (feature, column) in enumerate(zip(features, columns, strict=True)):
        matrix[:, place] = feature.encode(column)
    return matrix
