"""Columns of a CSV file that are text, but look like numbers or dates: what to do about them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from shlex import quote
from typing import Any

import numpy as np
import pandas as pd

from ._numbers import is_number
from ._words import listed

__all__ = ["hints"]

#: Share of rows with a number that makes a column one of numbers, and other texts in it at most.
_MOSTLY = 0.5
_MOST_OTHERS = 3
#: Fewer dates than this may as well be categories.
_FEWEST_DATES = 20


def hints(frame: Any, names: Sequence[str]) -> Iterator[str]:
    """Yield a sentence for each column that is put into cells as text, perhaps by mistake.

    Parameters
    ----------
    frame : pandas data frame of text, or pyarrow table
        The rows that cells are learnt from; a Parquet file has types of its own.
    names : sequence of str
        The columns.
    """
    if not isinstance(frame, pd.DataFrame):
        return
    for name in names:
        codes, found = pd.factorize(frame[name])
        texts = list(found)
        rows = np.bincount(codes[codes >= 0], minlength=len(texts))
        numbers = np.array([is_number(text) for text in texts], dtype=bool)
        others = [text for text, number in zip(texts, numbers, strict=True) if not number]
        if 0 < len(others) <= _MOST_OTHERS and rows[numbers].sum() >= _MOSTLY * rows.sum():
            options = " ".join(f"--na-value {quote(text)}" for text in others)
            yield (
                f"{name} holds numbers, but also {listed([repr(text) for text in others])}, so "
                "that all of its values are categories. If that means that the value is missing, "
                f"use {options}; otherwise write numbers there."
            )
        elif len(texts) >= _FEWEST_DATES and all(map(_is_date, others)) and others:
            yield (
                f"{name} holds dates such as {others[0]}, which are categories in a CSV file: use "
                "a Parquet file in which they are dates, or write them as numbers, such as years."
            )


def _is_date(text: str) -> bool:
    try:
        datetime.fromisoformat(text.strip())
    except ValueError:
        return False
    return True
