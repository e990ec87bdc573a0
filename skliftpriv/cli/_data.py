"""What ``skliftpriv explain`` says of the data: sizes, leakage, what is rare or never occurs."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from typing import Any

from .._format import number, printable
from ..estimators import CountedRows
from ..labels import symbol_text
from ..measures import log_lift
from ._words import listed, plural

__all__ = ["describe", "in_words"]

#: Values with fewer rows than this say little about their lift.
_RARE = 20
_RARE_SHOWN = 5


def describe(counted: CountedRows) -> dict[str, Any]:
    """Return facts about counted rows as plain data."""
    joint, target = counted.counts.joint(), counted.target
    rows = joint.masses.sum(axis=0)
    rare = [label for label, n in zip(joint.useful_labels, rows, strict=True) if n < _RARE]
    logs = log_lift(joint.matrix)
    return {
        "rows": int(joint.n_rows or 0),
        "sensitive_values": joint.shape[0],
        "useful_values": joint.shape[1],
        "useful_cells": None if counted.cells is None else asdict(counted.cells.summary),
        "target_values": None if target is None else len(target.table.sensitive),
        "zero_cells": int((joint.masses == 0).sum()),
        "cells": joint.masses.size,
        "rare_values": [symbol_text(label) for label in rare],
        "max_log_lift": float(logs.max()),
        "min_log_lift": float(logs.min()),
    }


def in_words(facts: dict[str, Any], args: argparse.Namespace) -> list[str]:
    """Return the facts as lines of text."""
    cells = facts["useful_cells"]
    pairs, rules_out = "pairs of values", "one value of such a pair rules out the other"
    if cells is not None:
        pairs, rules_out = "pairs of a value and a cell", "such a cell rules out the value"
    return [
        f"{plural(facts['rows'], 'row')}.",
        _values(args.sensitive, facts["sensitive_values"]),
        _values(args.useful, facts["useful_values"]) if cells is None else _cells(cells, args),
        *([] if args.target is None else [_values([args.target], facts["target_values"])]),
        f"Budget: epsilon = {', '.join(f'{value:g}' for value in args.epsilon)}.",
        f"Without sanitising: min log-lift {number(facts['min_log_lift'])}, "
        f"max log-lift {number(facts['max_log_lift'])}.",
        f"{facts['zero_cells']:,} of {facts['cells']:,} {pairs} never occur"
        + (f": {rules_out}." if facts["zero_cells"] else "."),
        *_rare(facts["rare_values"], "value" if cells is None else "cell"),
    ]


def _values(columns: list[str], n: int) -> str:
    if len(columns) == 1:
        return f"{columns[0]} has {plural(n, 'value')}."
    return f"{listed(columns)} together have {plural(n, 'value')}."


def _cells(cells: dict[str, Any], args: argparse.Namespace) -> str:
    """Say what the rows are reduced to, and by what."""
    make = "makes" if len(args.useful) == 1 else "make"
    made_by = cells["made_by"].replace("the target", args.target or "the target")
    those = "other rows than those counted" if cells["apart"] else "rows"
    return (
        f"{listed(args.useful)} {make} {plural(cells['n_cells'], 'cell')}, the leaves of "
        f"{made_by}, learnt from {cells['n_rows']:,} {those}."
    )


def _rare(labels: list[str], noun: str) -> list[str]:
    if not labels:
        return []
    shown = [printable(label) for label in labels[:_RARE_SHOWN]]
    shown += [f"{len(labels) - _RARE_SHOWN:,} more"] if len(labels) > _RARE_SHOWN else []
    have = "has" if len(labels) == 1 else "have"
    return [f"{plural(len(labels), noun)} {have} fewer than {_RARE} rows: {listed(shown)}."]
