"""``skliftpriv sanitize``: release a file, in two or three passes and bounded memory."""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import numpy as np

from ..estimators import CountedRows, LiftSanitizer
from ..html import report_page
from ..sampling import word_source
from ._console import Console
from ._counting import checked_again, count_rows
from ._errors import CommandError, safe_text
from ._inputs import add_input, layout_of, one_or_several, opened, source_format
from ._learning import learn
from ._mechanisms import (
    MECHANISMS,
    add_epsilon,
    add_mechanism_options,
    make_sanitizer,
    one_or_two,
)
from ._numbers import NumberColumns
from ._outputs import OutputFiles
from ._shuffle import ShuffledWriter
from ._signals import end_if_asked
from ._sources import STREAM, Source
from ._words import plural
from ._writers import Writer, open_writer

__all__ = ["add_sanitize", "fitted_facts", "run_sanitize"]


def add_sanitize(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    add_input(parser, whole=True)
    parser.add_argument(
        "-o",
        "--out",
        required=True,
        metavar="OUT",
        help="CSV (also .gz) or Parquet file to write; - for CSV on standard output",
    )
    parser.add_argument(
        "--mechanism",
        choices=list(MECHANISMS),
        default="subset-merging",
        help="mechanism to use; default %(default)s",
    )
    add_epsilon(parser)
    add_mechanism_options(parser, release=True)
    group = parser.add_argument_group("release")
    group.add_argument(
        "--keep-other-columns",
        action="store_true",
        help="also release the other columns, unchanged and unprotected; dropped by default",
    )
    group.add_argument(
        "--fit-on", metavar="FILE", help="estimate the distribution from this file instead of IN"
    )
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


def run_sanitize(args: argparse.Namespace, console: Console) -> int:
    """Count, build, release; write the data and the report both or neither."""
    if args.json and args.out == STREAM:
        raise CommandError(
            "--json and -o - both need standard output: write one of them to a file."
        )
    if args.report == STREAM:
        raise CommandError("--report needs the name of a file, for example report.html.")
    if STREAM == args.input == args.fit_on:
        raise CommandError("IN and --fit-on are both standard input: read one of them from a file.")
    noise, order = _generators(args.seed)
    sanitizer = make_sanitizer(
        args.mechanism,
        args,
        epsilon=one_or_two(args.epsilon),
        remainder="passthrough" if args.keep_other_columns else "drop",
        index="drop",
        random_state=noise,
    )
    read = [path for path in (args.input, args.fit_on) if path not in (None, STREAM)]
    with ExitStack() as stack:
        source = stack.enter_context(opened(args, counted=args.fit_on is None))
        files = stack.enter_context(OutputFiles(*read))
        writer = stack.enter_context(open_writer(args.out, files, source_format(args)))
        report = files.place(args.report) if args.report else None
        sanitizer.set_params(useful=one_or_several(args.useful))
        counted, numbers = _count(sanitizer, source, args, console)
        with console.progress.lent():
            sanitizer.fit(counted)
        end_if_asked()
        released = _released(sanitizer, source, numbers, args, console)
        if args.shuffle:
            with ShuffledWriter(word_source(order), args.chunk_rows) as shuffled:
                n_rows = _release(released, source, shuffled)
                shuffled.finish(writer)
        else:
            n_rows = _release(released, source, writer)
        if report is not None:
            named = {} if args.target is None else {"target_name": args.target}
            page = report_page(sanitizer, shuffled=args.shuffle, **named)
            report.write_text(page, encoding="utf-8")
    console.tell(
        [
            f"{plural(n_rows, 'row')}: {source.name} -> {args.out}",
            *_promise(sanitizer, source.columns),
        ],
        {
            "rows": n_rows,
            "output": args.out,
            "report_page": args.report,
            "target": args.target,
            **fitted_facts(sanitizer),
        },
    )
    return 0


def _generators(
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


def _promise(sanitizer: LiftSanitizer, columns: Sequence[str]) -> list[str]:
    """Return report and guarantee as lines; a line feed in a column name adds none."""
    guarantee = str(sanitizer.guarantee_).replace("a seed (random_state)", "--seed")
    guarantee = guarantee.replace("With random_state=None", "Without --seed")
    text = f"\n{sanitizer.report_}\n\n{guarantee}"
    for name in columns:
        text = text.replace(name, safe_text(name)) if "\n" in name else text
    return text.split("\n")


def _count(
    sanitizer: LiftSanitizer, source: Source, args: argparse.Namespace, console: Console
) -> tuple[CountedRows, NumberColumns]:
    """Learn cells, if there are any, and count rows; return which columns are numbers, too."""
    # What is kept of the input is decided by its own columns, whichever file is counted.
    layout = layout_of(source, args, keep_others=args.keep_other_columns)
    with ExitStack() as stack:
        counted_file = source
        if args.fit_on is not None:
            counted_file = stack.enter_context(opened(args, args.fit_on))
        learnt = learn(counted_file, args, console)
        counted = count_rows(
            counted_file, args, console, learnt=learnt, with_target=sanitizer.needs_target
        )
    numbers = NumberColumns({}) if learnt is None else learnt.numbers
    return replace(counted, layout=layout), numbers


def _released(
    sanitizer: LiftSanitizer,
    source: Source,
    numbers: NumberColumns,
    args: argparse.Namespace,
    console: Console,
) -> Iterator[Any]:
    """Yield the release, part by part."""
    layout = sanitizer.layout_
    # S is read a second time only by mechanisms that need it.
    unused = () if sanitizer.needs_sensitive else args.sensitive
    columns = [name for name in layout.names if name not in unused]
    parts = source.batches(
        columns,
        lambda done: console.progress.bar("releasing", done),
        verbatim=layout.rest_names,
    )
    for frame in parts:
        released = sanitizer.transform(numbers.read(frame, source.name))
        yield numbers.write(released) if sanitizer.output == "typical" else released


def _release(released: Iterator[Any], source: Source, writer: Writer) -> int:
    """Write the release, and return its number of rows."""
    n_rows = 0
    # Values that were not counted: what is wrong may be that the file has changed.
    with checked_again(source):
        for frame in released:
            writer.write(frame)
            n_rows += len(frame)
    return n_rows


def fitted_facts(sanitizer: LiftSanitizer) -> dict[str, Any]:
    """Return what a fitted sanitiser promises and measured, as plain data."""
    parameters = {
        name: value for name, value in sanitizer.get_params().items() if name != "random_state"
    }
    return {
        "mechanism": type(sanitizer).__name__,
        "parameters": parameters,
        "released_columns": list(sanitizer.get_feature_names_out()),
        "report": sanitizer.report_.to_dict(),
        "guarantee": sanitizer.guarantee_.to_dict(),
    }
