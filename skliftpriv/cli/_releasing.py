"""What every command that releases rows does: read, draw and write them, and say what holds."""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..estimators import ReleasingShell
from ..sampling import word_source
from ..secret import Secret
from ._console import Console
from ._counting import checked_again
from ._errors import CommandError, safe_text
from ._numbers import NumberColumns
from ._shuffle import ShuffledWriter
from ._sources import STREAM, Source
from ._words import plural
from ._writers import Writer

__all__ = [
    "add_out",
    "add_release",
    "check_release",
    "files_read",
    "fitted_facts",
    "generators",
    "promise",
    "tell_release",
    "write_release",
]


def add_out(parser: argparse.ArgumentParser) -> None:
    """Add the option that names the file to write."""
    parser.add_argument(
        "-o",
        "--out",
        required=True,
        metavar="OUT",
        help="CSV (also .gz) or Parquet file to write, or with / at the end a folder of Parquet "
        "files; - for CSV on standard output",
    )


def add_release(group: Any) -> None:
    """Add the options of a release to a group of options."""
    group.add_argument(
        "--shuffle",
        action="store_true",
        help="release the rows in random order: the order of the rows may reveal the sensitive "
        "column",
    )
    group.add_argument(
        "--seed",
        type=int,
        metavar="N",
        help="for tests only: makes the release repeatable and NOT private",
    )
    group.add_argument("--report", metavar="HTML", help="write an HTML report on the release")


def files_read(args: argparse.Namespace, *others: str) -> list[str]:
    """List the files that a command reads, with keys and lists of values, and some others."""
    given = vars(args)
    names = ("input", "fit_on", "key_file", "signing_key")
    found = [*map(given.get, names), *(given.get("categories") or ()), *others]
    return [path for path in found if path not in (None, STREAM)]


def check_release(args: argparse.Namespace) -> None:
    """Refuse options of a release that contradict each other."""
    if args.json and args.out == STREAM:
        raise CommandError(
            "--json and -o - both need standard output: write one of them to a file."
        )
    if args.report == STREAM:
        raise CommandError("--report needs the name of a file, for example report.html.")
    if args.key_file is not None and args.seed is not None:
        raise CommandError("--key-file and --seed both decide the noise: remove --seed.")
    if args.key_file is not None:
        Secret.read(args.key_file)  # refuse a wrong file before all rows are counted


def generators(
    seed: int | None,
) -> tuple[np.random.Generator | None, np.random.Generator | None]:
    """Return what draws the noise of all parts and the order of rows; None is private."""
    if seed is None:
        return None, None
    if seed < 0:
        raise CommandError(f"--seed must be a non-negative integer, got {seed}.")
    warnings.warn(
        f"--seed {seed} is for tests only: the release is not private, since anybody who knows or "
        "guesses the seed can undo it.",
        UserWarning,
        stacklevel=2,
    )
    noise = np.random.default_rng(seed)
    return noise, noise.spawn(1)[0]


def write_release(
    sanitizer: ReleasingShell,
    source: Source,
    numbers: NumberColumns,
    writer: Writer,
    args: argparse.Namespace,
    console: Console,
    order: np.random.Generator | None,
) -> int:
    """Release the rows of a file part by part, in random order if asked for; return how many.

    Parameters
    ----------
    sanitizer : ReleasingShell
        Fitted or loaded.
    source : Source
        The rows.
    numbers : NumberColumns
        Which columns of text are numbers.
    writer : Writer
        Where they are written.
    args, console
        The options, and what shows progress.
    order : Generator or None
        Draws the order of the rows.
    """
    released = _released(sanitizer, source, numbers, console)
    if not args.shuffle:
        return _written(released, source, writer)
    with ShuffledWriter(word_source(order), args.chunk_rows) as shuffled:
        n_rows = _written(released, source, shuffled)
        shuffled.finish(writer)
    return n_rows


def _released(
    sanitizer: ReleasingShell, source: Source, numbers: NumberColumns, console: Console
) -> Iterator[Any]:
    """Yield the release, part by part."""
    layout, records = sanitizer.layout_, sanitizer.release_.records
    # S is read only by mechanisms that need it.
    unused = () if sanitizer.needs_sensitive else layout.sensitive_names
    ids = [] if records is None else [records.name]
    needed = {*layout.names, *ids}.difference(unused)
    parts = source.batches(
        [name for name in source.columns if name in needed],
        lambda done: console.progress.bar("releasing", done),
        verbatim=[name for name in layout.rest_names if name not in ids],
    )
    read = (numbers.read(frame, source.name) for frame in parts)
    for released in sanitizer.transform_batches(read):
        yield numbers.write(released) if sanitizer.output == "typical" else released


def _written(released: Iterator[Any], source: Source, writer: Writer) -> int:
    """Write the release, and return its number of rows."""
    n_rows = 0
    # Values that were not counted: what is wrong may be that the file has changed.
    with checked_again(source):
        for frame in released:
            writer.write(frame)
            n_rows += len(frame)
    return n_rows


def tell_release(
    sanitizer: ReleasingShell,
    source: Source,
    n_rows: int,
    args: argparse.Namespace,
    console: Console,
    **facts: Any,
) -> None:
    """Print what was released, and what holds for it."""
    console.tell(
        [
            f"{plural(n_rows, 'row')}: {source.name} -> {args.out}",
            *promise(sanitizer, source.columns),
        ],
        {
            "rows": n_rows,
            "output": args.out,
            "report_page": args.report,
            **facts,
            **fitted_facts(sanitizer),
        },
    )


def promise(sanitizer: ReleasingShell, columns: Sequence[str]) -> list[str]:
    """Return report and guarantee as lines; a line feed in a column name adds none."""
    guarantee = str(sanitizer.guarantee_).replace("a seed (random_state)", "--seed")
    guarantee = guarantee.replace("With random_state=None", "Without --seed")
    text = f"\n{sanitizer.report_}\n\n{guarantee}"
    for name in columns:
        text = text.replace(name, safe_text(name)) if "\n" in name else text
    return text.split("\n")


def fitted_facts(sanitizer: ReleasingShell) -> dict[str, Any]:
    """Return what a fitted sanitiser promises and measured, as plain data."""
    parameters = {
        name: value
        for name, value in sanitizer.fitted_parameters().items()
        if name not in ("random_state", "secret")
    }
    return {
        "mechanism": sanitizer.release_.who,
        "parameters": parameters,
        "released_columns": list(sanitizer.get_feature_names_out()),
        "report": sanitizer.report_.to_dict(),
        "guarantee": sanitizer.guarantee_.to_dict(),
    }
