"""``skliftpriv explain``: which mechanism suits a file, from its counts and a quick try of each."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from math import nan
from time import perf_counter
from typing import Any

from .._format import number, share, text_table
from ..channel import symbol_text
from ..distribution import JointDistribution
from ..estimators import CountedRows
from ..exceptions import SkliftprivError
from ..measures import log_lift
from ._advice import Trial, advise, recommended
from ._console import Console
from ._counting import add_input, count_rows, opened
from ._errors import one_line
from ._mechanisms import (
    MECHANISMS,
    add_epsilon,
    add_mechanism_options,
    has_option,
    make_sanitizer,
    one_or_two,
)

__all__ = ["add_explain", "run_explain"]

#: Values with fewer rows than this say little about their lift.
_RARE = 20
_TIME_LIMIT = 5.0


def add_explain(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    add_input(parser)
    add_epsilon(parser)
    add_mechanism_options(parser, release=False)


def run_explain(args: argparse.Namespace, console: Console) -> int:
    """Describe the data, try each mechanism, and recommend one."""
    if args.time_limit is None:
        args.time_limit = _TIME_LIMIT
    with opened(args) as source:
        counted = count_rows(source, args, console)
    facts = _describe(counted.counts.joint())
    names = [name for name in MECHANISMS if name != "srlip" or len(args.useful) > 1]
    trials = []
    for done, name in enumerate(names):
        console.progress.show("trying", done / len(names))
        trials.append(_try(name, args, counted))
    console.progress.show("trying", 1.0)
    choice = recommended(trials)
    careful = None
    if choice is not None and args.confidence is None:
        careful = _try(choice, args, counted, confidence=0.95)
    advice = advise(trials, facts, len(args.useful) > 1, careful)
    text = [*_describe_in_words(facts, args), "", *_table(trials), "", *advice]
    data = {
        "data": facts,
        "epsilon": args.epsilon,
        "mechanisms": [asdict(trial) for trial in trials],
        "recommended": choice,
        "advice": advice,
    }
    console.tell(text, data)
    return 0


def _describe(joint: JointDistribution) -> dict[str, Any]:
    rows = joint.masses.sum(axis=0)
    rare = [label for label, n in zip(joint.useful_labels, rows, strict=True) if n < _RARE]
    logs = log_lift(joint.matrix)
    return {
        "rows": int(joint.n_rows or 0),
        "sensitive_values": joint.shape[0],
        "useful_values": joint.shape[1],
        "zero_cells": int((joint.masses == 0).sum()),
        "cells": joint.masses.size,
        "rare_values": [symbol_text(label) for label in rare],
        "max_log_lift": float(logs.max()),
        "min_log_lift": float(logs.min()),
    }


def _describe_in_words(facts: dict[str, Any], args: argparse.Namespace) -> list[str]:
    rare = facts["rare_values"]
    shown = ", ".join(rare[:5]) + (", ..." if len(rare) > 5 else "")
    lines = [
        f"{facts['rows']:,} rows. {', '.join(args.sensitive)} has {facts['sensitive_values']} "
        f"values, {', '.join(args.useful)} {facts['useful_values']}.",
        f"Released as it is: log-lift {facts['min_log_lift']:.2f} to {facts['max_log_lift']:.2f}.",
        f"{facts['zero_cells']} of {facts['cells']} pairs of values never occur"
        + (": seeing one value rules another out." if facts["zero_cells"] else "."),
    ]
    if rare:
        lines.append(f"{len(rare)} value(s) have fewer than {_RARE} rows: {shown}.")
    return lines


def _try(
    name: str, args: argparse.Namespace, counted: CountedRows, confidence: float | None = None
) -> Trial:
    fixed = {"epsilon": one_or_two(args.epsilon)}
    start = perf_counter()
    try:
        if args.notion is not None and not has_option(name, "notion"):
            return Trial(name, nan, nan, 0.0, f"has its own notion, not {args.notion}")
        sanitizer = make_sanitizer(name, args, strict=False, **fixed)
        if confidence is not None:
            sanitizer.set_params(confidence=confidence)
        result = sanitizer._result_for(counted.counts, counted.layout)
    except (SkliftprivError, ValueError) as error:
        return Trial(name, nan, nan, perf_counter() - start, one_line(error))
    gap = getattr(result, "gap", None)
    seconds = perf_counter() - start
    return Trial(name, result.report.nmi, nan if gap is None else float(gap), seconds)


def _table(trials: list[Trial]) -> list[str]:
    cells = [["mechanism", "share kept", "seconds", ""]]
    for trial in sorted(trials, key=lambda t: -t.nmi if t.nmi == t.nmi else 1.0):
        kept = share(trial.nmi) if trial.nmi == trial.nmi else "-"
        note = trial.problem
        if trial.gap == trial.gap and trial.gap > 1e-3:
            note = f"at most {number(trial.gap)} below its optimum"
        cells.append([trial.mechanism, kept, f"{trial.seconds:.2f}", note])
    width = max(len(row[3]) for row in cells)
    return text_table([[*row[:3], row[3].ljust(width)] for row in cells])
