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

from .._format import number, share, text_table
from ..estimators import CountedRows, LiftSanitizer
from ..exceptions import InvalidParameterError, SkliftprivError
from ..metrics import target_kept
from ._advice import Trial, advise, recommended
from ._console import Console
from ._counting import count_rows
from ._data import describe, in_words
from ._errors import CommandError, one_line
from ._in_time import InTime, OutOfTime
from ._inputs import add_input, opened
from ._learning import draw_rows
from ._mechanisms import (
    add_epsilon,
    add_mechanism_options,
    has_option,
    make_sanitizer,
    one_or_two,
)
from ._words import listed, what_tells

__all__ = ["add_explain", "run_explain"]

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
    add_input(parser, whole=True)
    add_epsilon(parser)
    add_mechanism_options(parser, release=False)


def run_explain(args: argparse.Namespace, console: Console) -> int:
    """Describe the data, try each mechanism, and recommend one."""
    if args.time_limit is not None and not args.time_limit > 0:
        raise CommandError(f"--time-limit must be positive, got {args.time_limit:g}.")
    counted, for_confidence = _count(args, console)
    facts = describe(counted)
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
        if choice is not None and args.confidence is None and for_confidence is not None:
            seconds = patience.share()
            careful = _try(choice, args, for_confidence, elsewhere, seconds, confidence=_CAREFUL)
    console.progress.bar("trying", 1.0)
    advice = [*advise(trials, facts, several, careful), *_differently(choice, args)]
    text = [*in_words(facts, args), "", *_table(trials), *_of_what(args), "", *advice]
    data = {
        "data": facts,
        "epsilon": args.epsilon,
        "mechanisms": [asdict(trial) for trial in trials],
        "recommended": choice,
        "advice": advice,
    }
    console.tell(text, data)
    return 0


def _count(args: argparse.Namespace, console: Console) -> tuple[CountedRows, CountedRows | None]:
    """Count rows, and once more as --confidence needs it; None if there are too few for that."""
    with opened(args) as source:
        if args.cells is None:
            counted = count_rows(source, args, console)
            return counted, counted
        rows = draw_rows(source, args, console)
        learnt = rows.learn(apart=args.confidence is not None)
        counted = count_rows(source, args, console, learnt=learnt)
        if args.confidence is not None:
            return counted, counted
        try:
            apart = rows.learn(apart=True)
        except InvalidParameterError:
            return counted, None
        return counted, count_rows(source, args, console, learnt=apart)


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


def _try(
    name: str,
    args: argparse.Namespace,
    counted: CountedRows,
    elsewhere: InTime,
    seconds: float,
    confidence: float | None = None,
) -> Trial:
    if args.cells is not None and not has_option(name, "cells"):
        return Trial(name, nan, nan, 0.0, "does not release cells")
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
