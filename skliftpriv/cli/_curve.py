"""``skliftpriv curve``: what mechanisms keep at several budgets, as a table and a picture."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import pandas as pd

from .._format import number, text_table
from ..model_selection import tradeoff_curve
from ..plotting import TradeoffDisplay
from ._console import Console
from ._counting import add_input, count_rows, opened
from ._errors import CommandError
from ._mechanisms import MECHANISMS, add_mechanism_options, has_option, make_sanitizer
from ._outputs import OutputFiles
from ._signals import end_if_asked
from ._sources import STREAM
from ._words import listed, plural

__all__ = ["add_curve", "run_curve"]

_DEFAULT = ("watchdog", "subset-merging", "srr", "orr")
_PICTURES = (".png", ".svg", ".pdf")
#: Seconds for a point of the optimal mechanisms, if nothing else is said.
_TIME_LIMIT = 30.0


def add_curve(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    add_input(parser)
    parser.add_argument(
        "--epsilons",
        type=float,
        nargs="+",
        required=True,
        metavar="E",
        help="budgets to compare, in nats",
    )
    parser.add_argument(
        "--mechanism",
        nargs="+",
        choices=list(MECHANISMS),
        default=list(_DEFAULT),
        help=f"mechanisms to compare; default {' '.join(_DEFAULT)}",
    )
    add_mechanism_options(parser, release=False)
    parser.add_argument("-o", "--out", metavar="CSV", help="write the table to this file")
    parser.add_argument(
        "--picture", metavar="FILE", help="plot the curves to a .png, .svg or .pdf file"
    )


def run_curve(args: argparse.Namespace, console: Console) -> int:
    """Count once, build all mechanisms, and report what they keep."""
    _check_outputs(args)
    if args.time_limit is None:
        args.time_limit = _TIME_LIMIT
    else:
        _some_take(args, "time_limit")
    for parameter in ("confidence", "alpha", "strategy", "delta"):
        _some_take(args, parameter)
    read = [] if args.input == STREAM else [args.input]
    with opened(args) as source, OutputFiles(*read) as files:
        table = files.place(args.out) if args.out else None
        picture = files.place(args.picture) if args.picture else None
        counted = count_rows(source, args, console)
        sanitizers = {name: make_sanitizer(name, args, strict=False) for name in args.mechanism}
        curve = tradeoff_curve(sanitizers, counted, args.epsilons, verbose=console.progress.shown)
        if table is not None:
            curve.to_csv(table, index=False, lineterminator="\n")
        if picture is not None:
            figure = TradeoffDisplay.from_curve(curve).figure_
            figure.savefig(picture, format=Path(args.picture).suffix[1:].lower(), dpi=150)
    end_if_asked()
    console.tell(_text(curve, counted.counts.n_rows, args), _facts(curve, counted.counts.n_rows))
    return 0


def _check_outputs(args: argparse.Namespace) -> None:
    if args.picture and Path(args.picture).suffix.lower() not in _PICTURES:
        raise CommandError(
            f"--picture {args.picture}: the name must end with {', '.join(_PICTURES)}."
        )
    if args.out and Path(args.out).suffix.lower() != ".csv":
        raise CommandError(f"-o {args.out}: the table is CSV, so the name must end with .csv.")


def _some_take(args: argparse.Namespace, parameter: str) -> None:
    given = getattr(args, parameter) is not None
    if given and not any(has_option(name, parameter) for name in args.mechanism):
        flag = f"--{parameter.replace('_', '-')}"
        raise CommandError(f"{flag} is not an option of {', '.join(args.mechanism)}: remove it.")


def _text(curve: pd.DataFrame, n_rows: int, args: argparse.Namespace) -> list[str]:
    names = list(dict.fromkeys(curve["mechanism"]))
    kept = curve.pivot_table(index="epsilon", columns="mechanism", values="nmi", sort=True)[names]
    cells = [["epsilon", *names]]
    cells += [
        [f"{epsilon:g}", *map(number, row)]
        for epsilon, row in zip(kept.index, kept.to_numpy(), strict=True)
    ]
    lines = [
        f"Share of {listed(args.useful)} kept (NMI) while protecting {listed(args.sensitive)}; "
        f"{plural(n_rows, 'row')}.",
        *text_table(cells),
    ]
    missed = curve[~curve["satisfied"]]
    if len(missed):
        lines.append(f"{len(missed)} of {plural(len(curve), 'point')} exceed their budget.")
    return lines


def _facts(curve: pd.DataFrame, n_rows: int) -> dict[str, Any]:
    return {"rows": n_rows, "curve": curve.to_dict(orient="records")}
