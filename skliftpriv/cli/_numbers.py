"""Numbers in CSV files, which hold text: read for cells, and written as they stood there."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from ..frames import Table
from ._errors import CommandError

__all__ = ["NumberColumns", "is_number"]

#: Neither "nan" nor "inf" nor "1_000", which Python would read as well.
_NUMBER = re.compile(r"\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?\s*", re.ASCII)
#: Whole numbers up to this are written without an exponent.
_EXACT = 2.0**53


class NumberColumns:
    """The columns whose values are numbers.

    Parameters
    ----------
    texts : mapping from column to mapping from number to text
        How the numbers were written; nothing for numbers that were not text.
    """

    def __init__(self, texts: Mapping[str, Mapping[float, str]]) -> None:
        self._texts = texts

    @classmethod
    def found_in(cls, frame: Any, names: Sequence[str]) -> NumberColumns:
        """Find the columns of numbers: in a CSV file, text that is always a number or missing.

        Parameters
        ----------
        frame : pandas data frame of text, or pyarrow table
            The rows that decide.
        names : sequence of str
            The columns to look at.
        """
        if not isinstance(frame, pd.DataFrame):
            table = Table(frame)
            return cls({name: {} for name in names if table.column(name).dtype.is_numeric()})
        found = {name: list(pd.factorize(frame[name])[1]) for name in names}
        return cls(
            {
                # If a number is written in several ways, the first one stays.
                name: {float(text): text for text in reversed(texts)}
                for name, texts in found.items()
                if texts and all(map(is_number, texts))
            }
        )

    def read(self, frame: Any, file: str) -> Any:
        """Return a frame in which text that stands for numbers is numbers.

        Parameters
        ----------
        frame : pandas data frame or pyarrow table
            Rows of any file; a pyarrow table has its own types, and stays as it is.
        file : str
            What messages call it.
        """
        if not isinstance(frame, pd.DataFrame):
            return frame
        columns = {
            name: _as_numbers(frame[name], file) for name in self._texts if name in frame.columns
        }
        return frame.assign(**columns)

    def write(self, frame: Any) -> Any:
        """Return a frame of typical rows in which numbers that were text are text again."""
        if not isinstance(frame, pd.DataFrame):
            return frame
        columns = {
            name: self._as_text(frame[name], texts)
            for name, texts in self._texts.items()
            if name in frame.columns
        }
        return frame.assign(**columns)

    def _as_text(self, column: pd.Series, texts: Mapping[float, str]) -> np.ndarray:
        codes, numbers = pd.factorize(column)
        written = [texts.get(number) or _plain(float(number)) for number in numbers]
        return np.array([*written, None], dtype=object)[codes]  # -1 is missing


def is_number(text: str) -> bool:
    """Tell whether a text is read as a number."""
    return _NUMBER.fullmatch(text) is not None


def _as_numbers(column: pd.Series, file: str) -> np.ndarray:
    codes, texts = pd.factorize(column)
    strange = next((text for text in texts if not is_number(text)), None)
    if strange is not None:
        raise CommandError(
            f"{file}: {column.name} is {strange!r} in a row, but the rows that cells were learnt "
            "from have numbers only; write a number there, or use --na-value if the text means "
            "that the value is missing."
        )
    return np.array([*map(float, texts), np.nan])[codes]


def _plain(number: float) -> str:
    return str(int(number)) if number.is_integer() and abs(number) <= _EXACT else repr(number)
