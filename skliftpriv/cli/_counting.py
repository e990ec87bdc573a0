"""Counting a file part by part: what every command starts with."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ..estimators import CountedRows, Layout
from ..frames import ContingencyTable, Table
from ._console import Console
from ._errors import CommandError
from ._sources import CsvFormat, Source, open_source

__all__ = ["add_input", "checked_counts", "count_rows", "layout_of", "opened", "source_format"]

#: Draws of a seed are the same for every part of this size, so all parts are multiples of it.
_STEP = 1 << 15


class _Once(argparse.Action):
    """An option that may be given once: of two the first would silently go unprotected."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        if getattr(namespace, self.dest) is not None:
            parser.error(f"{option_string} is given twice: join the columns into one before.")
        setattr(namespace, self.dest, values)


def add_input(parser: argparse.ArgumentParser) -> None:
    """Add the options that say which columns of which file are meant."""
    parser.add_argument("input", metavar="IN", help="CSV or Parquet file; - reads CSV from a pipe")
    parser.add_argument(
        "--sensitive", required=True, action=_Once, metavar="COL", help="the column to protect"
    )
    parser.add_argument(
        "--useful",
        required=True,
        action="append",
        metavar="COL",
        help="the column to release; several are one joint symbol",
    )
    group = parser.add_argument_group("files")
    group.add_argument("--delimiter", metavar="SIGN", help="of CSV files; by default a comma")
    group.add_argument("--encoding", default="utf-8", metavar="NAME", help="of CSV files")
    group.add_argument(
        "--chunk-rows",
        type=int,
        default=2 * _STEP,
        metavar="N",
        help=f"rows held at a time, rounded up to a multiple of {_STEP}; default %(default)s",
    )


def source_format(args: argparse.Namespace) -> CsvFormat:
    """Return how CSV files are written."""
    return CsvFormat(args.delimiter, args.encoding)


@contextmanager
def opened(
    args: argparse.Namespace,
    path: str | None = None,
    *,
    columns: Sequence[tuple[str, str]] | None = None,
) -> Iterator[Source]:
    """Open the input, or another file, and check that it has the columns.

    Parameters
    ----------
    args : Namespace
        With the options of :func:`add_input`.
    path : str, optional
        Another file than the input.
    columns : sequence of (flag, column), optional
        What the file must have, by default the sensitive and the useful columns.
    """
    if args.chunk_rows < 1:
        raise CommandError(f"--chunk-rows must be at least 1, not {args.chunk_rows}.")
    n_rows = -(-args.chunk_rows // _STEP) * _STEP
    with open_source(path or args.input, source_format(args), n_rows) as source:
        if columns is None:
            columns = [("--sensitive", args.sensitive)]
            columns += [("--useful", name) for name in args.useful]
        _check_columns(source, columns)
        _check_parts(args.sensitive, args.useful)
        yield source


def _check_columns(source: Source, columns: Sequence[tuple[str, str]]) -> None:
    for flag, column in columns:
        if column not in source.columns:
            shown = ", ".join(map(repr, source.columns[:12]))
            shown += ", ..." if len(source.columns) > 12 else ""
            hint = " Is --delimiter right?" if len(source.columns) == 1 else ""
            raise CommandError(
                f"{flag} {column}: {source.name} has no such column, but {shown}.{hint}"
            )


def _check_parts(sensitive: str, useful: list[str]) -> None:
    if sensitive in useful:
        raise CommandError(f"--useful {sensitive} is the sensitive column itself: name another.")
    if len(set(useful)) < len(useful):
        raise CommandError("--useful names a column twice: leave one out.")


def count_rows(
    source: Source,
    args: argparse.Namespace,
    console: Console,
    *,
    keep_others: bool = False,
) -> CountedRows:
    """Count the pairs of S and X in a file, without holding its rows.

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
    needed = _needed(source, args)
    counts: ContingencyTable | None = None
    for frame in source.batches(needed, lambda done: console.progress.show("counting", done)):
        part = Table(frame, allow_empty=True)
        s, x = part.column(args.sensitive), [part.column(name) for name in args.useful]
        counted = ContingencyTable.count([s], x)
        counts = counted if counts is None else counts + counted
    counts = checked_counts(counts, source, args)
    return CountedRows(counts, layout_of(source, args, keep_others=keep_others))


def checked_counts(
    counts: ContingencyTable | None, source: Source, args: argparse.Namespace
) -> ContingencyTable:
    """Return counts that a command can work with, or say what is missing."""
    if counts is None or not counts.n_rows:
        raise CommandError(f"{source.name} has no rows below its header.")
    if len(counts.sensitive) < 2:
        raise CommandError(
            f"The sensitive column {args.sensitive} holds one value only: there is nothing to leak."
        )
    return counts


def layout_of(source: Source, args: argparse.Namespace, *, keep_others: bool) -> Layout:
    """Say which column plays which part, of all columns or of those that are needed."""
    columns = source.columns if keep_others else _needed(source, args)
    table = Table(source.empty(columns), allow_empty=True)
    return Layout.of(table, args.sensitive, args.useful, sensitive_given=False)


def _needed(source: Source, args: argparse.Namespace) -> list[str]:
    return [name for name in source.columns if name in (args.sensitive, *args.useful)]
