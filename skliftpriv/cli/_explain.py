"""``skliftpriv explain``: which mechanism suits a file, from its counts and a quick try of each."""

from __future__ import annotations

import argparse
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from math import nan
from time import perf_counter
from typing import Any

from .._format import number, printable, share, text_table
from ..channel import symbol_text
from ..estimators import CountedRows, LiftSanitizer
from ..exceptions import SkliftprivError
from ..measures import log_lift
from ..metrics import target_kept
from ._advice import Trial, advise, recommended
from ._console import Console
from ._counting import add_input, count_rows, opened
from ._errors import CommandError, one_line
from ._in_time import InTime, OutOfTime
from ._mechanisms import (
    add_epsilon,
    add_mechanism_options,
    has_option,
    make_sanitizer,
    one_or_two,
)
from ._words import listed, plural, what_tells

__all__ = ["add_explain", "run_explain"]

#: Values with fewer rows than this say little about their lift.
_RARE = 20
_RARE_SHOWN = 5
#: Seconds for all mechanisms together, and how they are shared; those not named count once.
_TOTAL = 10.0
_WEIGHTS = {"orr": 3.0, "srr": 2.0}
#: Quick ones come first: what they leave is shared by the others.
_ORDER = ("subset-merging", "watchdog", "grr", "oue", "srr", "orr", "conditional", "srlip")
_CAREFUL = 0.95
#: A search that has no time at all cannot even begin.
_LEAST = 1e-3


def add_explain(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    add_input(parser)
    add_epsilon(parser)
    add_mechanism_options(parser, release=False)


def run_explain(args: argparse.Namespace, console: Console) -> int:
    """Describe the data, try each mechanism, and recommend one."""
    if args.time_limit is not None and not args.time_limit > 0:
        raise CommandError(f"--time-limit must be positive, got {args.time_limit:g}.")
    with opened(args) as source:
        counted = count_rows(source, args, console)
    facts = _describe(counted)
    several = len(args.useful) > 1
    names = [name for name in _ORDER if name != "srlip" or several]
    careful = None
    with InTime() as elsewhere:
        patience = Patience(_TOTAL, args.time_limit, [*names, "careful"])
        trials = []
        for done, name in enumerate(names):
            console.progress.bar("trying", done / (len(names) + 1))
            trials.append(_try(name, args, counted, elsewhere, patience.share()))
            patience.took(trials[-1].seconds)
        choice = recommended(trials)
        if choice is not None and args.confidence is None:
            seconds = patience.share()
            careful = _try(choice, args, counted, elsewhere, seconds, confidence=_CAREFUL)
    console.progress.bar("trying", 1.0)
    advice = [*advise(trials, facts, several, careful), *_differently(choice, args)]
    text = [*_describe_in_words(facts, args), "", *_table(trials), *_of_what(args), "", *advice]
    data = {
        "data": facts,
        "epsilon": args.epsilon,
        "mechanisms": [asdict(trial) for trial in trials],
        "recommended": choice,
        "advice": advice,
    }
    console.tell(text, data)
    return 0


class Patience:
    """How long each mechanism may take: a share of what is left, or a limit of its own.

    Parameters
    ----------
    total : float
        Seconds for all.
    each : float or None
        Seconds for the search of each mechanism instead; building may take as long again.
    names : sequence of str
        What is tried, in this order.
    """

    def __init__(self, total: float, each: float | None, names: Sequence[str]) -> None:
        self._seconds = total
        self._each = each
        self._names = list(names)

    def share(self) -> float:
        """Return the seconds of the next mechanism; half of them are for its search."""
        if self._each is not None:
            return 2 * self._each
        weights = [_WEIGHTS.get(name, 1.0) for name in self._names]
        return self._seconds * weights[0] / sum(weights)

    def took(self, seconds: float) -> None:
        """Go on to the next mechanism, with what this one has left of the time."""
        self._seconds = max(self._seconds - seconds, 0.0)
        self._names.pop(0)


def _describe(counted: CountedRows) -> dict[str, Any]:
    joint, target = counted.counts.joint(), counted.target
    rows = joint.masses.sum(axis=0)
    rare = [label for label, n in zip(joint.useful_labels, rows, strict=True) if n < _RARE]
    logs = log_lift(joint.matrix)
    return {
        "rows": int(joint.n_rows or 0),
        "sensitive_values": joint.shape[0],
        "useful_values": joint.shape[1],
        "target_values": None if target is None else len(target.table.sensitive),
        "zero_cells": int((joint.masses == 0).sum()),
        "cells": joint.masses.size,
        "rare_values": [symbol_text(label) for label in rare],
        "max_log_lift": float(logs.max()),
        "min_log_lift": float(logs.min()),
    }


def _describe_in_words(facts: dict[str, Any], args: argparse.Namespace) -> list[str]:
    rare = facts["rare_values"]
    shown = [printable(label) for label in rare[:_RARE_SHOWN]]
    shown += [f"{len(rare) - _RARE_SHOWN:,} more"] if len(rare) > _RARE_SHOWN else []
    lines = [
        f"{plural(facts['rows'], 'row')}.",
        _values(args.sensitive, facts["sensitive_values"]),
        _values(args.useful, facts["useful_values"]),
        *([] if args.target is None else [_values([args.target], facts["target_values"])]),
        f"Budget: epsilon = {', '.join(f'{value:g}' for value in args.epsilon)}.",
        f"Without sanitising: min log-lift {number(facts['min_log_lift'])}, "
        f"max log-lift {number(facts['max_log_lift'])}.",
        f"{facts['zero_cells']:,} of {facts['cells']:,} pairs of values never occur"
        + (": one value of such a pair rules out the other." if facts["zero_cells"] else "."),
    ]
    if rare:
        have = "has" if len(rare) == 1 else "have"
        lines.append(
            f"{plural(len(rare), 'value')} {have} fewer than {_RARE} rows: {listed(shown)}."
        )
    return lines


def _values(columns: list[str], n: int) -> str:
    if len(columns) == 1:
        return f"{columns[0]} has {plural(n, 'value')}."
    return f"{listed(columns)} together have {plural(n, 'value')}."


def _try(
    name: str,
    args: argparse.Namespace,
    counted: CountedRows,
    elsewhere: InTime,
    seconds: float,
    confidence: float | None = None,
) -> Trial:
    if args.notion is not None and not has_option(name, "notion"):
        return Trial(name, nan, nan, 0.0, f"has its own notion, not {args.notion}")
    fixed: dict[str, Any] = {"epsilon": one_or_two(args.epsilon)}
    limited = Namespace(**{**vars(args), "time_limit": max(seconds / 2, _LEAST)})
    try:
        sanitizer = make_sanitizer(name, limited, strict=False, **fixed)
        if confidence is not None:
            sanitizer.set_params(confidence=confidence)
        seen = partial(build, use_sensitive=bool(args.see_sensitive))
        return elsewhere.call(seen, name, sanitizer, counted, seconds=seconds)
    except OutOfTime:
        problem = f"not built in {seconds:.1f} s: increase --time-limit"
        return Trial(name, nan, nan, seconds, problem, out_of_time=True)


def build(
    name: str, sanitizer: LiftSanitizer, counted: CountedRows, *, use_sensitive: bool
) -> Trial:
    """Build a mechanism and report how it did, errors included.

    Parameters
    ----------
    name : str
        The mechanism.
    sanitizer : LiftSanitizer
        How it is built.
    counted : CountedRows
        What it is built for.
    use_sensitive : bool
        Whether what is known about a target includes what S tells.
    """
    start = perf_counter()
    try:
        result = sanitizer.result_for(counted)
    except (SkliftprivError, ValueError, MemoryError) as error:
        return Trial(name, nan, nan, perf_counter() - start, one_line(error))
    seconds = perf_counter() - start
    measured = {"nmi": result.nmi, "utility_kept": result.utility_kept}
    if counted.target is None:
        return Trial(name, result.nmi, result.gap_to_optimum, seconds, **measured)
    kept = target_kept(result, counted, use_sensitive=use_sensitive)
    # Other mechanisms know their distance to what can be kept of X, not of the target.
    gap = nan if result.report.target is None else result.gap_to_optimum
    problem = "" if kept == kept else "has too many outputs to tell what they say about the target"
    return Trial(name, kept, gap, seconds, problem, **measured)


def _of_what(args: argparse.Namespace) -> list[str]:
    """Say what the shares in the table are shares of, if not of X."""
    if args.target is None:
        return []
    return [f"Shares are of what {what_tells(args, seen=bool(args.see_sensitive))}."]


def _differently(choice: str | None, args: argparse.Namespace) -> list[str]:
    if choice != "orr" or not args.see_sensitive:
        return []
    return [
        f"orr looks at {listed(args.sensitive)} here (--see-sensitive): it treats rows differently "
        "by their sensitive value, which some laws restrict."
    ]


def _table(trials: list[Trial]) -> list[str]:
    cells = [["mechanism", "share kept", "seconds", ""]]
    for trial in sorted(trials, key=lambda t: -t.kept if t.kept == t.kept else 1.0):
        kept = share(trial.kept) if trial.kept == trial.kept else "-"
        note = trial.problem
        if trial.gap == trial.gap and trial.gap > 1e-3:
            note = f"at most {number(trial.gap)} below the optimum"
        cells.append([trial.mechanism, kept, f"{trial.seconds:.2f}", note])
    width = max(len(row[3]) for row in cells)
    return text_table([[*row[:3], row[3].ljust(width)] for row in cells])
