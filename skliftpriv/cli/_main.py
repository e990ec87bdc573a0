"""Parse the command line, run a command, and report its errors."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from typing import NoReturn

from ..exceptions import SkliftprivError
from ..html import package_version
from ._apply import add_apply, run_apply
from ._audit import add_audit, run_audit
from ._console import Console, one_line_warnings, say
from ._curve import add_curve, run_curve
from ._demo import add_demo, run_demo
from ._errors import one_line, safe_text
from ._explain import add_explain, run_explain
from ._outputs import in_place
from ._sanitize import add_sanitize, run_sanitize
from ._signals import interruptible
from ._sources import STREAM

__all__ = ["main"]

PROGRAM = "skliftpriv"
USAGE_ERROR, INTERNAL_ERROR, INTERRUPTED, BROKEN_PIPE = 2, 3, 130, 141

_COMMANDS: dict[str, tuple[str, Callable[..., None], Callable[..., int]]] = {
    "demo": ("sanitise the built-in Adult table and show the result", add_demo, run_demo),
    "sanitize": (
        "sanitise a file so that a sensitive column is protected",
        add_sanitize,
        run_sanitize,
    ),
    "apply": ("release a file by a mechanism that was saved", add_apply, run_apply),
    "curve": ("compare what mechanisms keep at several budgets", add_curve, run_curve),
    "audit": ("check whether what a file leaks is within a budget", add_audit, run_audit),
    "explain": ("try every mechanism on a file and recommend one", add_explain, run_explain),
}


class _Parser(argparse.ArgumentParser):
    """Reports errors in one line."""

    def error(self, message: str) -> NoReturn:
        text = safe_text(" ".join(message.split()))
        say(f"{self.prog}: error: {text} (see {self.prog} --help)", sys.stderr)
        raise SystemExit(USAGE_ERROR)


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = _Parser(
        prog=PROGRAM,
        description="Sanitise a useful column so that a sensitive one cannot be inferred from it "
        "beyond a lift budget. Without a command, the demo is run.",
        epilog="Exit status: 0 success; 1 failed audit; 2 wrong usage or input; 3 a bug "
        "in skliftpriv; 130 interrupted.",
    )
    parser.add_argument("--version", action="version", version=f"{PROGRAM} {package_version()}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=_Parser)
    for name, (what, add, _) in _COMMANDS.items():
        # Without abbreviations: --keep must not mean --keep-other-columns.
        command = commands.add_parser(
            name, help=what, description=f"{what[0].upper()}{what[1:]}.", allow_abbrev=False
        )
        add(command)
        group = command.add_argument_group("output")
        group.add_argument("--json", action="store_true", help="print the result as JSON")
        group.add_argument(
            "--progress",
            action="store_true",
            help="show progress even if standard error is not a terminal",
        )
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command.

    Parameters
    ----------
    argv : sequence of str, optional
        Arguments, by default those of the process. Without any the demo is run.

    Returns
    -------
    int
        Exit status: 0 success, 1 failed audit, 2 wrong usage or input, 3 a bug, 130
        interrupted.

    Examples
    --------
    >>> from skliftpriv.cli import main
    >>> main(["demo", "--output", "demo"])  # doctest: +ELLIPSIS
    Adult census table: 32,561 rows.
    ...
    0
    """
    given = list(sys.argv[1:] if argv is None else argv)
    try:
        args = make_parser().parse_args(given or ["demo"])
        if args.command is None:
            args = make_parser().parse_args(["demo"])
    except SystemExit as end:
        return int(end.code or 0)
    try:
        in_place.clear()
        with one_line_warnings(PROGRAM), interruptible():
            return _run(args)
    except KeyboardInterrupt:
        written = f"already written: {', '.join(in_place)}" if in_place else "no file was written"
        _fail(f"interrupted; {safe_text(written)}.")
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of the output is gone; make sure that nothing is flushed at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except (SkliftprivError, ValueError, OSError, MemoryError) as error:
        _fail(one_line(error))
        return USAGE_ERROR
    except Exception as error:
        if os.environ.get("SKLIFTPRIV_DEBUG"):
            raise
        _fail(
            f"{type(error).__name__}: {one_line(error)} This is a bug: set SKLIFTPRIV_DEBUG=1 to "
            "see the traceback, and report it."
        )
        return INTERNAL_ERROR


def _run(args: argparse.Namespace) -> int:
    on_stdout = getattr(args, "out", None) == STREAM
    console = Console(json=args.json, progress=args.progress, data_on_stdout=on_stdout)
    try:
        return _COMMANDS[args.command][2](args, console)
    finally:
        console.progress.end()


def _fail(message: str) -> None:
    say(f"{PROGRAM}: error: {message}", sys.stderr)
