"""Checks of arrays and labels, and the base class of immutable matrices with labels."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csc_array

from .exceptions import InvalidDistributionError

FloatArray = NDArray[np.float64]
Label = Hashable

# Largest distance from 1 of a sum of probabilities that is put down to rounding.
SUM_TOLERANCE = 1e-9
# Products of integers that are held at once: about 100 MB.
_PRODUCTS_AT_ONCE = 1_000_000


def as_nonnegative(values: ArrayLike, what: str, *, ndim: int | None = None) -> FloatArray:
    """Return ``values`` as floats, or raise an error that names the first invalid cell."""
    if isinstance(values, np.ndarray) and np.iscomplexobj(values):
        raise InvalidDistributionError(f"{what} must contain real numbers, not complex ones.")
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidDistributionError(f"{what} must contain only numbers: {error}.") from error
    if ndim is not None and array.ndim != ndim:
        raise InvalidDistributionError(
            f"{what} must have {ndim} dimensions, but its shape is {array.shape}."
        )
    if array.size == 0:
        raise InvalidDistributionError(f"{what} is empty (shape {array.shape}).")
    # A comparison with NaN is False, so one test finds NaN, infinities and negatives.
    bad = ~((array >= 0) & (array < np.inf))
    if bad.any():
        cell = tuple(int(i) for i in np.argwhere(bad)[0])
        place = cell[0] if len(cell) == 1 else cell
        raise InvalidDistributionError(
            f"{what} must be finite and non-negative, but cell {place} is {array[cell]}."
        )
    # Adding 0.0 turns -0.0 into 0.0, whose inverse is +inf, not -inf.
    return np.asarray(array + 0.0)


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """Return a read-only copy of ``array``."""
    frozen = np.array(array, copy=True)
    frozen.setflags(write=False)
    return frozen


def as_labels(labels: Iterable[Label] | None, size: int, what: str) -> tuple[Label, ...]:
    """Return ``labels`` as a tuple of ``size`` distinct hashable values; default 0, 1, ..."""
    if labels is None:
        return tuple(range(size))
    values = tuple(_iterate(labels))
    # Looking at the few types first avoids a test of every label.
    types = set(map(type, values))
    if any(issubclass(kind, np.generic) for kind in types):
        values = tuple(v.item() if isinstance(v, np.generic) else v for v in values)
        types = set(map(type, values))
    if len(values) != size:
        raise InvalidDistributionError(f"{what}: {len(values)} labels given for {size} symbols.")
    if any(issubclass(kind, float) for kind in types) and any(
        isinstance(v, float) and v != v for v in values
    ):
        raise InvalidDistributionError(
            f"{what}: NaN cannot be a label; use None for missing values."
        )
    seen: set[Label] = set()
    for label in values:
        try:
            known = label in seen
        except TypeError as error:
            raise InvalidDistributionError(f"{what}: {label!r} is not hashable.") from error
        if known:
            raise InvalidDistributionError(f"{what}: the label {label!r} occurs twice.")
        seen.add(label)
    return values


def _iterate(labels: Iterable[Label]) -> Sequence[Label]:
    if isinstance(labels, str | bytes):
        raise InvalidDistributionError(f"Labels must be a sequence of labels, not {labels!r}.")
    return list(labels)


class MatrixNoun:
    """An immutable matrix with labels; its attributes are set once, through ``__dict__``."""

    matrix: FloatArray

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self.matrix, dtype=dtype, copy=copy if copy is not None else True)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} is immutable; {name!r} cannot be set.")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} is immutable; {name!r} cannot be deleted.")

    def __setstate__(self, state: dict[str, Any]) -> None:
        # Pickle does not keep the read-only flag of arrays.
        for value in state.values():
            if isinstance(value, np.ndarray):
                value.setflags(write=False)
        self.__dict__.update(state)


def exact_integers(values: FloatArray) -> np.ndarray:
    """Write doubles as integers over a common power of two."""
    if values.max(initial=0.0) < 2**53 and (values == np.rint(values)).all():
        return values.astype(np.int64).astype(object)  # counts are integers already
    ratios = [float(value).as_integer_ratio() for value in values.ravel()]
    scale = max(denominator for _, denominator in ratios)
    integers = np.empty(len(ratios), dtype=object)
    integers[:] = [numerator * (scale // denominator) for numerator, denominator in ratios]
    return integers.reshape(values.shape)


def exact_product(matrix: np.ndarray, columns: csc_array) -> np.ndarray:
    """Product of a dense matrix and a sparse one in integers of any size."""
    result = np.zeros((matrix.shape[0], columns.shape[1]), dtype=object)
    filled = np.flatnonzero(np.diff(columns.indptr))
    # Take as many columns at a time as _PRODUCTS_AT_ONCE allows.
    batches = columns.indptr[filled + 1] * matrix.shape[0] // _PRODUCTS_AT_ONCE
    for batch in np.split(filled, np.flatnonzero(np.diff(batches)) + 1) if filled.size else []:
        start, stop = columns.indptr[batch[0]], columns.indptr[batch[-1] + 1]
        entries = columns.data[start:stop].astype(object)
        products = matrix[:, columns.indices[start:stop]] * entries
        result[:, batch] = np.add.reduceat(products, columns.indptr[batch] - start, axis=1)
    return result
