"""The order of values in a file: those of a CSV file are text, also if they are numbers."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from math import isfinite
from typing import Any

from ..estimators import CountedRows
from ._errors import CommandError
from ._sources import Source

__all__ = ["in_order"]


def in_order(rows: CountedRows, source: Source, args: argparse.Namespace) -> CountedRows:
    """Sort texts that are numbers or dates as such, if --order preserve asks for an order.

    Parameters
    ----------
    rows : CountedRows
        The counted rows.
    source : Source
        The file.
    args : Namespace
        With the options; not all commands have --order.
    """
    values = [value for value in rows.counts.useful if value is not None]
    wanted = getattr(args, "order", None) == "preserve" and len(args.useful) == 1
    if not wanted or rows.counts.ordered:
        return rows
    readers: tuple[Callable[[str], Any], ...] = (_number, datetime.fromisoformat)
    for read in readers:
        order = _sorted_as(values, read)
        if order is not None:
            return replace(rows, counts=rows.counts.in_order(order))
    raise CommandError(
        f"--order preserve: {args.useful[0]} has no order in {source.name}, because not all of its "
        f"values are numbers or dates such as 2024-12-31: {_unreadable(values)!r}. Use numbers, or "
        "a Parquet file in which the column is an ordered dictionary."
    )


def _number(text: str) -> float:
    number = float(text)
    if not isfinite(number):
        raise ValueError
    return number


def _sorted_as(values: Sequence[Any], read: Callable[[str], Any]) -> list[Any] | None:
    """Sort values by what they mean; None if some cannot be read, or not compared."""
    try:
        return sorted(values, key=read)
    except (TypeError, ValueError):
        return None


def _unreadable(values: Sequence[Any]) -> Any:
    """Return the first value that is not a number."""
    return next(value for value in values if _sorted_as([value], _number) is None)
