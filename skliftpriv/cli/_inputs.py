"""Which file a command reads, and which part each of its columns plays."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import combinations
from typing import Any

from .._limits import MOST_CELLS
from ..estimators import Layout
from ..frames import Table
from ._errors import CommandError
from ._sources import CsvFormat, Source, open_source

__all__ = [
    "add_format",
    "add_input",
    "check_columns",
    "layout_of",
    "one_or_several",
    "open_rows",
    "opened",
    "record_id_of",
    "source_format",
    "target_of",
]

_CHUNK_ROWS = 1 << 16
#: More rows would hardly fit into memory.
_MOST_CHUNK_ROWS = 10_000_000


def add_input(parser: argparse.ArgumentParser, *, whole: bool = False) -> None:
    """Add the options that say which columns of which file are meant.

    Parameters
    ----------
    parser : ArgumentParser
        Of a command.
    whole : bool, default=False
        Whether the command has --cells, so that all other columns may be useful.
    """
    parser.add_argument(
        "input",
        metavar="IN",
        help="CSV (also .gz) or Parquet file, or a folder of Parquet files; - for CSV on standard "
        "input",
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
        required=not whole,
        action="append",
        metavar="COL",
        help="the column to release; repeat the option to release several columns jointly"
        + (". With --cells, by default all columns but the sensitive ones and the target" * whole),
    )
    add_format(parser)


def add_format(parser: argparse.ArgumentParser) -> None:
    """Add the options that say how files are written."""
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

    Without --useful, ``args.useful`` becomes the other columns of the input.
    """
    _check_cells(args)
    with open_rows(args, path) as source:
        if args.useful is None:
            args.useful = _other_columns(source, args)
        if columns is None:
            columns = [("--sensitive", name) for name in args.sensitive]
            columns += [("--useful", name) for name in args.useful]
            columns += [("--target", name) for name in target_of(args) if counted]
            columns += [("--record-id", name) for name in record_id_of(args) if path is None]
        check_columns(source, columns)
        _check_parts(args)
        yield source


@contextmanager
def open_rows(args: argparse.Namespace, path: str | None = None) -> Iterator[Source]:
    """Open the input, or another file, whatever its columns are."""
    if not 1 <= args.chunk_rows <= _MOST_CHUNK_ROWS:
        raise CommandError(
            f"--chunk-rows must be between 1 and {_MOST_CHUNK_ROWS:,}, got {args.chunk_rows}."
        )
    with open_source(path or args.input, source_format(args), args.chunk_rows) as source:
        yield source


def _check_cells(args: argparse.Namespace) -> None:
    cells = getattr(args, "cells", None)
    if cells is None and args.useful is None:
        raise CommandError(
            "--useful COL is missing: name the columns to release, or use --cells N, for example "
            "--cells 32, to release all other columns as cells of rows that are alike."
        )
    if cells is not None and not 2 <= cells <= MOST_CELLS:
        raise CommandError(f"--cells must be between 2 and {MOST_CELLS:,}, got {cells}.")
    if cells is not None and getattr(args, "order", None) == "preserve":
        raise CommandError("--order preserve is for values, but cells have no order: remove it.")


def _other_columns(source: Source, args: argparse.Namespace) -> list[str]:
    """Return the columns that are useful where none is named; an index of pandas is none."""
    apart = (*args.sensitive, *target_of(args), *record_id_of(args), *source.index)
    others = [name for name in source.columns if name not in apart]
    if not others:
        raise CommandError(f"{source.name} has no other columns to release.")
    return others


def check_columns(source: Source, columns: Sequence[tuple[str, str]]) -> None:
    """Refuse a file that lacks a column; each comes with the option that asks for it."""
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
    parts = {
        "--sensitive": args.sensitive,
        "--useful": args.useful,
        "--target": target_of(args),
        "--record-id": record_id_of(args),
    }
    for flag, names in parts.items():
        if len(set(names)) < len(names):
            raise CommandError(f"{flag} names a column twice: remove one of them.")
    for (one, names), (other, more) in combinations(parts.items(), 2):
        both = next((name for name in more if name in names), None)
        if both is not None:
            raise CommandError(f"{other} {both} is also a {one} column: choose another column.")


def target_of(args: argparse.Namespace) -> list[str]:
    """Return the target as a list of at most one column; not all commands have one."""
    target = getattr(args, "target", None)
    return [] if target is None else [target]


def record_id_of(args: argparse.Namespace) -> list[str]:
    """Return the column of ids as a list of at most one column; not all commands have one."""
    record_id = getattr(args, "record_id", None)
    return [] if record_id is None else [record_id]


def _check_unique(source: Source, names: list[str], hint: str) -> None:
    """Refuse names that two columns share, among the columns that are needed."""
    twice = next((name for name in names if source.columns.count(name) > 1), None)
    if twice is not None:
        raise CommandError(
            f"{source.name} has two columns called {twice!r}: rename one of them{hint}."
        )


def layout_of(source: Source, args: argparse.Namespace, *, keep_others: bool = False) -> Layout:
    """Say which column plays which part, of all columns or of those that are needed."""
    columns = source.columns
    if not keep_others:
        columns = [name for name in columns if name in _parts(args)]
    _check_unique(source, columns, ", or remove --keep-other-columns")
    table = Table(source.empty(columns), allow_empty=True)
    return Layout.of(table, one_or_several(args.sensitive), args.useful, sensitive_given=False)


def one_or_several(names: list[str] | None) -> Any:
    """Return the only name, or all of them: the values of several columns are one symbol."""
    return names[0] if names is not None and len(names) == 1 else names


def _parts(args: argparse.Namespace) -> tuple[str, ...]:
    return (*args.sensitive, *args.useful)
