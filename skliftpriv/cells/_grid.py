"""Numbers, dates and spans of time as whole steps, which 32-bit numbers hold exactly."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from typing import Any, ClassVar

import narwhals as nw
import numpy as np

from .._arrays import FloatArray

__all__ = ["Grid", "grid_of", "kind_of"]

#: Steps that a grid may have. Trees compute with 32-bit numbers, which are exact up to 2^24; the
#: middle of two steps has to be exact, too.
_MOST_STEPS = 2**23
#: Other numbers are steps if their range is smaller than this share of the largest, or if 32-bit
#: numbers do not reach down to it.
_NARROW = 2.0**-9
_TINY = 1e-30
#: Significant digits of 64-bit numbers, down to which there may be steps, and those that are shown.
_DIGITS, _SHOWN = 14, 15
#: Relative error of a number and of its distance from the origin.
_INEXACT = 2.0**-52
#: Units in which dates are written, in microseconds.
_UNITS = {"s": 1e6, "ms": 1e3, "us": 1.0}
#: Smaller powers of ten lose digits.
_SMALLEST_POWER = -300
#: Steps of dates and spans of time, in microseconds.
_TIMES = {
    "microseconds": 1.0,
    "milliseconds": 1e3,
    "seconds": 1e6,
    "minutes": 6e7,
    "hours": 3.6e9,
    "days": 8.64e10,
}


@dataclass(frozen=True)
class Grid:
    """Numbers as steps from an origin; a number between two of them counts as the lower one.

    Attributes
    ----------
    origin : float
        The number of step 0.
    step : float
        The difference of two steps.
    kind : {"numbers", "dates", "dates in UTC", "spans"}
        What the numbers are; dates and spans of time are in microseconds.
    """

    #: What numbers may stand for: themselves, dates, dates with a time zone, or spans of time.
    KINDS: ClassVar = ("numbers", "dates", "dates in UTC", "spans")

    origin: float
    step: float
    kind: str

    def encode(self, numbers: FloatArray) -> FloatArray:
        """Return the step of each number."""
        steps = (numbers - self.origin) / self.step
        if self.step >= 1:
            return np.floor(steps)
        # Multiples of a tenth, hundredth, ... are not exact, and may seem to be just below.
        nearest = np.round(steps)
        near = abs(steps - nearest) <= _INEXACT * (abs(numbers) + abs(self.origin)) / self.step
        return np.where(near, nearest, np.floor(steps))

    def above(self, edge: float) -> str:
        """Write the first number whose step is above an edge."""
        number = self.origin + (np.floor(edge) + 1) * self.step
        if self.kind in ("dates", "dates in UTC"):
            unit = next(u for u, size in _UNITS.items() if not self.step % size)
            date = str(np.datetime64(int(number), "us").astype(f"M8[{unit}]")).replace("T", " ")
            return date + self.kind.removeprefix("dates in").removeprefix("dates")
        if self.kind == "spans":
            unit = next(name for name, size in _TIMES.items() if size == self.step)
            return f"{number / self.step:.0f} {unit}"
        return f"{int(number)}" if self.step >= 1 else f"{number:.{_SHOWN}g}"


def grid_of(column: Any, numbers: FloatArray) -> Grid | None:
    """Find steps for whole numbers, dates or spans of time; None for most other numbers.

    Other numbers get steps only if they are tiny, or differ by little from a large number, so that
    32-bit numbers could not tell them apart. Steps are as coarse as the numbers are, such as days
    for dates without a time. They are coarser if 32-bit numbers cannot tell so many apart: minutes
    for the seconds of ten years.

    Parameters
    ----------
    column : narwhals Series or one-dimensional array
        The column, for its type.
    numbers : ndarray of float
        Its values as numbers, NaN for missing ones.
    """
    known = numbers[np.isfinite(numbers)]
    kind = kind_of(column)
    if not known.size:
        return None
    low, high = float(known.min()), float(known.max())
    if high - low == np.inf:
        return None
    largest = max(-low, high)
    if kind == "numbers":
        whole = bool((known == np.floor(known)).all())
        if whole and largest <= _MOST_STEPS:
            return Grid(0.0, 1.0, kind)
        if not whole and high - low >= _NARROW * largest and largest >= _TINY:
            return None
        first = 0 if whole else int(np.ceil(np.log10(largest))) - _DIGITS
        powers = (float(f"1e{i}") for i in count(max(first, _SMALLEST_POWER)))
        step = next(step for step in powers if high - low <= _MOST_STEPS * step)
    else:
        coarse = next(s for s in reversed(_TIMES.values()) if not (known % s).any() or s == 1)
        wide = [s for s in _TIMES.values() if s >= coarse and high - low <= _MOST_STEPS * s]
        step = wide[0] if wide else _TIMES["days"]
    return Grid(float(np.floor(low / step)) * step, step, kind)


def kind_of(column: Any) -> str:
    """Return what the numbers of a column are, one of :attr:`Grid.KINDS`."""
    dtype = column.dtype
    if isinstance(dtype, np.dtype):
        return {"M": "dates", "m": "spans"}.get(dtype.kind, "numbers")
    if isinstance(dtype, nw.Date | nw.Datetime):
        return "dates" if getattr(dtype, "time_zone", None) is None else "dates in UTC"
    return "spans" if isinstance(dtype, nw.Duration) else "numbers"
