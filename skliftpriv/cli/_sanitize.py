"""``skliftpriv sanitize``: release a file, in two or three passes and bounded memory."""

from __future__ import annotations

import argparse
from contextlib import ExitStack
from dataclasses import replace

from ..estimators import CountedRows, LiftSanitizer
from ..files import saved_bytes
from ..frames import RowOrder
from ..html import report_page
from ..secret import Secret
from ._console import Console
from ._counting import count_rows
from ._errors import CommandError
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
from ._releasing import (
    add_out,
    add_release,
    check_release,
    files_read,
    generators,
    tell_release,
    write_release,
)
from ._signals import end_if_asked
from ._sources import STREAM, Source
from ._writers import open_writer

__all__ = ["add_sanitize", "run_sanitize"]


def add_sanitize(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    add_input(parser, whole=True)
    add_out(parser)
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
    add_release(group)
    group.add_argument(
        "--save",
        metavar="FILE",
        help="save the mechanism, without counts, as JSON for the command apply",
    )
    group.add_argument(
        "--save-joint",
        action="store_true",
        help="with --save: add the counts of sensitive and useful values, from which apply checks "
        "the mechanism again; needed for mechanisms that look at the sensitive column",
    )
    group.add_argument(
        "--signing-key",
        metavar="FILE",
        help="with --save: sign it with the secret key in this file, or in the environment "
        "variable env:NAME",
    )


def run_sanitize(args: argparse.Namespace, console: Console) -> int:
    """Count, build, release; write the data and the report both or neither."""
    check_release(args)
    if STREAM == args.input == args.fit_on:
        raise CommandError("IN and --fit-on are both standard input: read one of them from a file.")
    _check_files(args)
    noise, order = generators(args.seed)
    sanitizer = make_sanitizer(
        args.mechanism,
        args,
        epsilon=one_or_two(args.epsilon),
        remainder="passthrough" if args.keep_other_columns else "drop",
        index="drop",
        # A record's noise is derived from the number itself, in all parts of the file.
        random_state=noise if args.record_id is None else args.seed,
    )
    with ExitStack() as stack:
        source = stack.enter_context(opened(args, counted=args.fit_on is None))
        files = stack.enter_context(OutputFiles(*files_read(args)))
        writer = stack.enter_context(open_writer(args.out, files, source_format(args)))
        report = files.place(args.report) if args.report else None
        saved = files.place(args.save) if args.save else None
        sanitizer.set_params(useful=one_or_several(args.useful))
        counted, numbers = _count(sanitizer, source, args, console)
        with console.progress.lent():
            sanitizer.fit(counted)
        end_if_asked()
        n_rows = write_release(sanitizer, source, numbers, writer, args, console, order)
        if report is not None:
            named = {} if args.target is None else {"target_name": args.target}
            page = report_page(sanitizer, shuffled=args.shuffle, **named)
            report.write_text(page, encoding="utf-8")
        if saved is not None:
            saved.write_bytes(
                saved_bytes(sanitizer, key=args.signing_key, include_joint=args.save_joint)
            )
    tell_release(sanitizer, source, n_rows, args, console, target=args.target, saved=args.save)
    return 0


def _check_files(args: argparse.Namespace) -> None:
    """Refuse options of keys and of the saved file that contradict each other."""
    if args.key_file is not None and args.record_id is None:
        raise CommandError("--key-file needs --record-id COL, the column that tells records apart.")
    if args.save == STREAM:
        raise CommandError("--save needs the name of a file, for example mechanism.json.")
    if args.save is None and (args.signing_key is not None or args.save_joint):
        flag = "--save-joint" if args.signing_key is None else "--signing-key"
        raise CommandError(f"{flag} needs --save FILE, the file that is written.")
    if args.signing_key is not None:
        Secret.read(args.signing_key)  # refuse a wrong file before all rows are counted


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
        order = RowOrder()
        counted = count_rows(
            counted_file,
            args,
            console,
            learnt=learnt,
            with_target=sanitizer.needs_target,
            order=order,
        )
    numbers = NumberColumns({}) if learnt is None else learnt.numbers
    kept_order = args.fit_on is None and not args.shuffle
    beside = tuple(order.concerns()) if kept_order else ()
    return replace(counted, layout=layout, beside=beside), numbers
