"""``skliftpriv apply``: release a file by a mechanism that was saved, in one pass."""

from __future__ import annotations

import argparse
import os
from contextlib import ExitStack

from ..files import LoadedSanitizer, load
from ..html import report_page
from ._console import Console
from ._errors import CommandError
from ._inputs import add_format, check_columns, open_rows, source_format
from ._numbers import NumberColumns
from ._outputs import OutputFiles
from ._releasing import (
    add_out,
    add_release,
    check_release,
    files_read,
    generators,
    tell_release,
    write_release,
)
from ._sources import Source
from ._writers import open_writer

__all__ = ["add_apply", "run_apply"]


def add_apply(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument(
        "mechanism",
        metavar="FILE",
        help="mechanism that sanitize --save, or skliftpriv.save, wrote",
    )
    parser.add_argument(
        "input",
        metavar="IN",
        help="CSV (also .gz) or Parquet file, or a folder of Parquet files; - for CSV on standard "
        "input",
    )
    add_out(parser)
    add_format(parser)
    group = parser.add_argument_group("release")
    group.add_argument(
        "--output-kind",
        choices=["label", "code", "posterior", "typical", "bits"],
        help="form of the released values; default as when the mechanism was saved",
    )
    group.add_argument(
        "--signing-key",
        metavar="FILE",
        help="file, or env:NAME for an environment variable, with the secret key that the "
        "mechanism was signed with; a mechanism that was not is refused",
    )
    group.add_argument(
        "--key-file",
        metavar="FILE",
        help="for a mechanism with --record-id: file, or env:NAME for an environment variable, "
        "with the secret key that gives each record the same value in every release",
    )
    add_release(group)


def run_apply(args: argparse.Namespace, console: Console) -> int:
    """Load and release; write the data and the report both or neither."""
    check_release(args)
    noise, order = generators(args.seed)
    sanitizer = load(args.mechanism, key=args.signing_key)
    records = sanitizer.release_.records
    if args.key_file is not None and records is None:
        raise CommandError(
            f"--key-file: {args.mechanism} was saved without --record-id, so its releases have no "
            "key; remove the option."
        )
    sanitizer.set_params(
        index="drop", random_state=noise if records is None else args.seed, secret=args.key_file
    )
    if args.output_kind is not None:
        sanitizer.set_params(output=args.output_kind)
    with ExitStack() as stack:
        source = stack.enter_context(open_rows(args))
        _check(sanitizer, source, os.path.basename(args.mechanism))
        files = stack.enter_context(OutputFiles(*files_read(args, args.mechanism)))
        writer = stack.enter_context(open_writer(args.out, files, source_format(args)))
        report = files.place(args.report) if args.report else None
        numbers = _numbers(sanitizer)
        n_rows = write_release(sanitizer, source, numbers, writer, args, console, order)
        if report is not None:
            report.write_text(report_page(sanitizer, shuffled=args.shuffle), encoding="utf-8")
    tell_release(sanitizer, source, n_rows, args, console, applied=args.mechanism)
    return 0


def _check(sanitizer: LoadedSanitizer, source: Source, file: str) -> None:
    """Refuse a file that lacks columns that the mechanism needs."""
    layout, records = sanitizer.layout_, sanitizer.release_.records
    if not layout.named:
        raise CommandError(
            f"{file} was fitted to an array without names: use skliftpriv.load in Python."
        )
    if sanitizer.needs_sensitive and not layout.sensitive:
        raise CommandError(
            f"{file} looks at sensitive values that were no column of the table: use "
            "skliftpriv.load in Python."
        )
    needed = [*layout.useful_names]
    needed += layout.sensitive_names if sanitizer.needs_sensitive else []
    needed += layout.rest_names if sanitizer.remainder == "passthrough" else []
    needed += [] if records is None else [records.name]
    check_columns(source, [(f"{file} needs", name) for name in dict.fromkeys(needed)])


def _numbers(sanitizer: LoadedSanitizer) -> NumberColumns:
    """Return which columns of a CSV file are numbers: those that cells were learnt from as such."""
    cells = getattr(sanitizer, "cells_", None)
    return NumberColumns({} if cells is None else {name: {} for name in cells.numbers})
