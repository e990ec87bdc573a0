"""Counting a file part by part: what every command starts with."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import combinations
from typing import Any

import numpy as np

from ..estimators import CountedRows, Layout, counted_columns
from ..frames import ContingencyTable, Table, encode_rows
from ._console import Console
from ._errors import CommandError
from ._sources import CsvFormat, Source, open_source
from ._words import listed

__all__ = [
    "add_input",
    "checked_counts",
    "count_rows",
    "layout_of",
    "one_or_several",
    "opened",
    "source_format",
]

_CHUNK_ROWS = 1 << 16
#: More rows would hardly fit into memory.
_MOST_CHUNK_ROWS = 10_000_000
#: Values of a target; more would hardly have enough rows each.
_MOST_TARGETS = 100


def add_input(parser: argparse.ArgumentParser) -> None:
    """Add the options that say which columns of which file are meant."""
    parser.add_argument(
        "input", metavar="IN", help="CSV (also .gz) or Parquet file; - for CSV on standard input"
    )
    parser.add_argument(
        "--sensitive",
        required=True,
        action="append",
        metavar="COL",
        help="the column to protect; repeat the option to protect several columns jointly",
    )
    parser.add_argument(
        "--useful",
        required=True,
        action="append",
        metavar="COL",
        help="the column to release; repeat the option to release several columns jointly",
    )
    group = parser.add_argument_group("file format")
    group.add_argument(
        "--delimiter",
        metavar="CHAR",
        help="separates CSV fields; default a comma, in .tsv files a tab",
    )
    group.add_argument(
        "--encoding",
        default="utf-8",
        metavar="NAME",
        help="encoding of CSV files; default %(default)s",
    )
    group.add_argument(
        "--na-value",
        action="append",
        default=[],
        metavar="TEXT",
        help="text that means a missing value in CSV files, besides the empty field; may be "
        "repeated",
    )
    group.add_argument(
        "--chunk-rows",
        type=int,
        default=_CHUNK_ROWS,
        metavar="N",
        help="rows in memory at a time; default %(default)s",
    )


def source_format(args: argparse.Namespace) -> CsvFormat:
    """Return how CSV files are written."""
    return CsvFormat(args.delimiter, args.encoding, args.na_value)


@contextmanager
def opened(
    args: argparse.Namespace,
    path: str | None = None,
    *,
    columns: Sequence[tuple[str, str]] | None = None,
    counted: bool = True,
) -> Iterator[Source]:
    """Open the input, or another file, and check that it has the columns.

    Parameters
    ----------
    args : Namespace
        With the options of :func:`add_input`.
    path : str, optional
        Another file than the input.
    columns : sequence of (flag, column), optional
        What the file must have, by default the sensitive and the useful columns and the target.
    counted : bool, default=True
        Whether the file is counted; otherwise it need not have the target.
    """
    if not 1 <= args.chunk_rows <= _MOST_CHUNK_ROWS:
        raise CommandError(
            f"--chunk-rows must be between 1 and {_MOST_CHUNK_ROWS:,}, got {args.chunk_rows}."
        )
    with open_source(path or args.input, source_format(args), args.chunk_rows) as source:
        if columns is None:
            columns = [("--sensitive", name) for name in args.sensitive]
            columns += [("--useful", name) for name in args.useful]
            columns += [("--target", name) for name in _target(args) if counted]
        _check_columns(source, columns)
        _check_parts(args)
        yield source


def _check_columns(source: Source, columns: Sequence[tuple[str, str]]) -> None:
    for flag, column in columns:
        if column not in source.columns:
            shown = ", ".join(map(repr, source.columns[:12]))
            shown += ", ..." if len(source.columns) > 12 else ""
            hint = " Is --delimiter correct?" if len(source.columns) == 1 else ""
            raise CommandError(
                f"{flag} {column}: {source.name} has no such column; it has {shown}.{hint}"
            )
    _check_unique(source, [column for _, column in columns], "")


def _check_parts(args: argparse.Namespace) -> None:
    parts = {"--sensitive": args.sensitive, "--useful": args.useful, "--target": _target(args)}
    for flag, names in parts.items():
        if len(set(names)) < len(names):
            raise CommandError(f"{flag} names a column twice: remove one of them.")
    for (one, names), (other, more) in combinations(parts.items(), 2):
        both = next((name for name in more if name in names), None)
        if both is not None:
            raise CommandError(f"{other} {both} is also a {one} column: choose another column.")


def _target(args: argparse.Namespace) -> list[str]:
    """Return the target as a list of at most one column; not all commands have one."""
    target = getattr(args, "target", None)
    return [] if target is None else [target]


def _check_unique(source: Source, names: list[str], hint: str) -> None:
    """Refuse names that two columns share, among the columns that are needed."""
    twice = next((name for name in names if source.columns.count(name) > 1), None)
    if twice is not None:
        raise CommandError(
            f"{source.name} has two columns called {twice!r}: rename one of them{hint}."
        )


def count_rows(
    source: Source,
    args: argparse.Namespace,
    console: Console,
    *,
    keep_others: bool = False,
) -> CountedRows:
    """Count the pairs of S and X in a file, with the target if there is one, but hold no rows.

    Parameters
    ----------
    source : Source
        The file.
    args : Namespace
        Which columns.
    console : Console
        Shows progress.
    keep_others : bool, default=False
        Whether the other columns are part of the layout.
    """
    needed = [name for name in source.columns if name in (*_parts(args), *_target(args))]
    layout = layout_of(source, args, keep_others=keep_others)
    rows: CountedRows | None = None
    for frame in source.batches(needed, lambda done: console.progress.bar("counting", done)):
        part = Table(frame, allow_empty=True)
        s, x = ([part.column(name) for name in names] for names in (args.sensitive, args.useful))
        target = _target_values(part, source, args)
        counted = counted_columns((s, x), layout, y=target)
        rows = counted if rows is None else rows + counted
        _check_target(rows, source, args)
    checked_counts(None if rows is None else rows.counts, source, args)
    assert rows is not None
    return rows


def _target_values(part: Table, source: Source, args: argparse.Namespace) -> np.ndarray | None:
    """Return the target as text: numbers of a Parquet file are values like any other."""
    for name in _target(args):
        codes, symbols = encode_rows([part.column(name)])
        if None in symbols:
            raise CommandError(
                f"--target {name}: the value is missing in a row of {source.name}; leave such rows "
                "out, or write a value there."
            )
        return np.array([str(symbol) for symbol in symbols], dtype=object)[codes]
    return None


def _check_target(rows: CountedRows, source: Source, args: argparse.Namespace) -> None:
    if rows.target is not None and len(rows.target.table.sensitive) > _MOST_TARGETS:
        raise CommandError(
            f"--target {args.target} has more than {_MOST_TARGETS} values in {source.name}: put "
            "them into bins first."
        )


def checked_counts(
    counts: ContingencyTable | None, source: Source, args: argparse.Namespace
) -> ContingencyTable:
    """Return counts that a command can work with, or raise an error that says what is missing."""
    if counts is None or not counts.n_rows:
        raise CommandError(f"{source.name} has no rows below its header.")
    if len(counts.sensitive) < 2:
        raise CommandError(
            f"{listed(args.sensitive)} has only one value in {source.name}: there is nothing to "
            "protect."
        )
    return counts


def layout_of(source: Source, args: argparse.Namespace, *, keep_others: bool) -> Layout:
    """Say which column plays which part, of all columns or of those that are needed."""
    columns = source.columns
    if not keep_others:
        columns = [name for name in columns if name in _parts(args)]
    _check_unique(source, columns, ", or remove --keep-other-columns")
    table = Table(source.empty(columns), allow_empty=True)
    return Layout.of(table, one_or_several(args.sensitive), args.useful, sensitive_given=False)


def one_or_several(names: list[str]) -> Any:
    """Return the only name, or all of them: the values of several columns are one symbol."""
    return names[0] if len(names) == 1 else names


def _parts(args: argparse.Namespace) -> tuple[str, ...]:
    return (*args.sensitive, *args.useful)
