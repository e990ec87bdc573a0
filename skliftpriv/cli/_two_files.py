"""S from one file and what was released from another: the same rows in order, or by a key."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from itertools import zip_longest
from typing import Any

import numpy as np
import pandas as pd

from .._format import printable
from ..estimators import CountedRows, Layout
from ..frames import ContingencyTable, Table, encode_rows
from ._console import Console
from ._counting import checked_counts
from ._errors import CommandError
from ._inputs import opened
from ._sources import STREAM, Source
from ._words import plural

__all__ = ["add_two_files", "count_two_files"]

#: Sensitive and useful columns of a part of the rows.
Pairs = Iterator[tuple[list[Any], list[Any]]]


def add_two_files(parser: argparse.ArgumentParser) -> None:
    """Add the options that name the other file."""
    parser.add_argument(
        "--sensitive-from",
        metavar="FILE",
        help="take the sensitive column from this file, which has the rows of IN in the same order",
    )
    parser.add_argument(
        "--key",
        metavar="COL",
        help="with --sensitive-from: match the rows by this column of both files, in any order",
    )


def count_two_files(args: argparse.Namespace, console: Console) -> CountedRows:
    """Count the pairs of S in one file and X in another.

    Memory does not grow with the files, except for the key and the sensitive column with --key.
    """
    if STREAM == args.input == args.sensitive_from:
        raise CommandError(
            "IN and --sensitive-from are both standard input: read one of them from a file."
        )
    key = [] if args.key is None else [("--key", args.key)]
    if args.key in (*args.sensitive, *args.useful):
        raise CommandError(
            f"--key {args.key} is a sensitive or useful column: choose another column."
        )
    with ExitStack() as stack:
        useful = [("--useful", name) for name in args.useful]
        released = stack.enter_context(opened(args, columns=useful + key))
        sensitive = [("--sensitive", name) for name in args.sensitive] + key
        other = stack.enter_context(opened(args, args.sensitive_from, columns=sensitive))
        pairs = _in_order if args.key is None else _by_key
        counts: ContingencyTable | None = None
        for s, x in pairs(released, other, args, console):
            counted = ContingencyTable.count(s, x)
            counts = counted if counts is None else counts + counted
        layout = Layout.of_names(args.sensitive, args.useful)
        return CountedRows(checked_counts(counts, released, args), layout)


def _in_order(released: Source, other: Source, args: argparse.Namespace, console: Console) -> Pairs:
    n_released = n_other = 0
    parts = zip_longest(
        released.batches(args.useful, lambda done: console.progress.bar("counting", done)),
        other.batches(args.sensitive, lambda done: None),
    )
    for frame, sensitive in parts:
        n_released += 0 if frame is None else len(frame)
        n_other += 0 if sensitive is None else len(sensitive)
        if n_released == n_other:
            yield _columns(sensitive, args.sensitive), _columns(frame, args.useful)
    if n_released != n_other:
        raise CommandError(
            f"{released.name} has {n_released:,} rows, but {other.name} has {n_other:,}: both must "
            "have the same rows in the same order; otherwise match them by a column with --key."
        )


def _by_key(released: Source, other: Source, args: argparse.Namespace, console: Console) -> Pairs:
    index, values = _sensitive_by_key(other, args, console)
    seen = np.zeros(len(index), dtype=bool)
    needed = [args.key, *args.useful]
    for frame in released.batches(needed, lambda done: console.progress.bar("counting", done)):
        keys = _keys(frame, args.key, released)
        places = index.get_indexer(keys)
        _refuse(keys[places < 0], f"of {released.name} not in {other.name}", args.key)
        again = pd.Series(places).duplicated().to_numpy() | seen[places]
        _refuse(keys[again], f"more than once in {released.name}", args.key)
        seen[places] = True
        yield [column[places] for column in values], _columns(frame, args.useful)
    _refuse(index[~seen], f"of {other.name} not in {released.name}", args.key)


def _sensitive_by_key(
    other: Source, args: argparse.Namespace, console: Console
) -> tuple[pd.Index, list[np.ndarray]]:
    """Hold the keys of all rows, and the columns of their sensitive values."""
    keys = [np.empty(0, dtype=object)]
    values = [[np.empty(0, dtype=object)] for _ in args.sensitive]
    columns = [args.key, *args.sensitive]
    for frame in other.batches(columns, lambda done: console.progress.bar("reading keys", done)):
        keys.append(_keys(frame, args.key, other))
        for column, parts in zip(_columns(frame, args.sensitive), values, strict=True):
            codes, symbols = encode_rows([column])
            parts.append(np.array(symbols, dtype=object)[codes])
    index = pd.Index(np.concatenate(keys), dtype=object)
    _refuse(index[index.duplicated()], f"more than once in {other.name}", args.key)
    return index, [np.concatenate(parts) for parts in values]


def _keys(frame: Any, key: str, source: Source) -> np.ndarray:
    """Return keys as text, so that a number of a Parquet file is found in a CSV file."""
    codes, symbols = encode_rows([Table(frame, allow_empty=True).column(key)])
    if any(symbol is None or symbol == "" for symbol in symbols):
        raise CommandError(f"--key {key}: the value is missing in a row of {source.name}.")
    return np.array([str(symbol) for symbol in symbols], dtype=object)[codes]


def _refuse(keys: Any, where: str, key: str) -> None:
    if len(keys):
        raise CommandError(
            f"--key {key}: {plural(len(keys), 'value')} {where}, for example "
            f"{printable(str(keys[0]))!r}; each key must be in both files exactly once."
        )


def _columns(frame: Any, names: Sequence[str]) -> list[Any]:
    table = Table(frame, allow_empty=True)
    return [table.column(name) for name in names]
