"""``skliftpriv curve``: what mechanisms keep at several budgets, as a table and a picture."""

from __future__ import annotations

import argparse
from math import isnan
from pathlib import Path
from typing import Any

import pandas as pd

from .._format import number, text_table
from ..model_selection import tradeoff_curve
from ..plotting import TradeoffDisplay
from ..views import kept_column
from ._console import Console
from ._counting import count_rows
from ._errors import CommandError
from ._inputs import add_input, opened
from ._learning import learn
from ._mechanisms import MECHANISMS, add_mechanism_options, make_sanitizer, refuse_unused
from ._outputs import OutputFiles
from ._signals import end_if_asked
from ._sources import STREAM
from ._words import listed, plural, what_is_released, what_tells

__all__ = ["add_curve", "run_curve"]

_DEFAULT = ("watchdog", "subset-merging", "srr", "orr")
_PICTURES = (".png", ".svg", ".pdf")
#: Seconds for a point of the optimal mechanisms, if nothing else is said.
_TIME_LIMIT = 30.0


def add_curve(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    add_input(parser, whole=True)
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
    refuse_unused(args.mechanism, args)
    if args.time_limit is None:
        args.time_limit = _TIME_LIMIT
    read = [] if args.input == STREAM else [args.input]
    with opened(args) as source, OutputFiles(*read) as files:
        table = files.place(args.out) if args.out else None
        picture = files.place(args.picture) if args.picture else None
        learnt = learn(source, args, console)
        counted = count_rows(source, args, console, learnt=learnt)
        sanitizers = {name: make_sanitizer(name, args, strict=False) for name in args.mechanism}
        curve = tradeoff_curve(sanitizers, counted, args.epsilons, verbose=console.progress.shown)
        if table is not None:
            curve.to_csv(table, index=False, lineterminator="\n")
        if picture is not None:
            figure = TradeoffDisplay.from_curve(curve).figure_
            figure.savefig(picture, format=Path(args.picture).suffix[1:].lower(), dpi=150)
    end_if_asked()
    n_rows = counted.counts.n_rows
    seen = any(sanitizer.needs_sensitive for sanitizer in sanitizers.values())
    about = _about_x(args) if args.target is None else _about_target(args, seen)
    console.tell([f"{about}; {plural(n_rows, 'row')}.", *_text(curve)], _facts(curve, n_rows))
    return 0


def _check_outputs(args: argparse.Namespace) -> None:
    if args.picture and Path(args.picture).suffix.lower() not in _PICTURES:
        raise CommandError(
            f"--picture {args.picture}: the name must end with {', '.join(_PICTURES)}."
        )
    if args.out and Path(args.out).suffix.lower() != ".csv":
        raise CommandError(f"-o {args.out}: the table is CSV, so the name must end with .csv.")


def _about_x(args: argparse.Namespace) -> str:
    return f"Share of {what_is_released(args)} kept (NMI) while protecting {listed(args.sensitive)}"


def _about_target(args: argparse.Namespace, seen: bool) -> str:
    known = what_tells(args, seen=seen)
    return f"Share kept of what {known}, while protecting {listed(args.sensitive)}"


def _text(curve: pd.DataFrame) -> list[str]:
    names = list(dict.fromkeys(curve["mechanism"]))
    # A mechanism with too many outputs to tell what they keep of a target is still listed.
    kept = curve.pivot_table(
        index="epsilon", columns="mechanism", values=kept_column(curve), dropna=False
    )[names]
    cells = [["epsilon", *names]]
    cells += [
        [f"{epsilon:g}", *("-" if isnan(value) else number(value) for value in row)]
        for epsilon, row in zip(kept.index, kept.to_numpy(), strict=True)
    ]
    lines = text_table(cells)
    missed = curve[~curve["satisfied"]]
    if len(missed):
        lines.append(f"{len(missed)} of {plural(len(curve), 'point')} exceed their budget.")
    return lines


def _facts(curve: pd.DataFrame, n_rows: int) -> dict[str, Any]:
    return {"rows": n_rows, "curve": curve.to_dict(orient="records")}
