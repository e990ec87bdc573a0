"""``skliftpriv audit``: do columns that exist already keep a budget? An exit status for CI."""

from __future__ import annotations

import argparse

import numpy as np
import pandas as pd

from .._format import number, printable, text_table
from ..channel import symbol_text
from ..exceptions import UnsupportedNotionError
from ..frames import ContingencyTable
from ..measures import log_lift
from ..metrics._audit import audit_counts
from ..notions import NOTIONS, Notion, make_notion
from ..report import worst_levels
from ._console import Console
from ._counting import add_input, count_rows, opened
from ._errors import CommandError
from ._mechanisms import one_or_two
from ._two_files import add_two_files, count_two_files

__all__ = ["ABOVE_BUDGET", "add_audit", "run_audit"]

ABOVE_BUDGET = 1

#: A level that was certified in whole numbers may lie this far above its budget as a double.
_ROUNDING = 1e-9
_FAIL_ON = {
    "violation": "the true level is above the budget, with the confidence asked for",
    "level": "the level that the rows show is above the budget",
    "doubt": "the true level is not shown to be within the budget",
}
_WITHIN, _ABOVE = "within the budget", "above the budget"
_WORDS = {"holds": _WITHIN, "violated": _ABOVE, "not enough data": "not enough rows to tell"}
_NO_MARGIN = "measured on these rows, without a margin of error"
_WORST_SHOWN = 3


def add_audit(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    add_input(parser)
    add_two_files(parser)
    parser.add_argument(
        "--epsilon", type=float, nargs="+", required=True, metavar="E", help="budget in nats"
    )
    parser.add_argument("--notion", choices=NOTIONS, default="lip", help="default lip")
    parser.add_argument("--lam", type=float, default=0.5, metavar="X", help="default 0.5")
    parser.add_argument("--alpha", type=float, default=2.0, metavar="X", help="default 2")
    parser.add_argument(
        "--confidence", type=float, default=0.95, metavar="X", help="of the intervals; default 0.95"
    )
    parser.add_argument(
        "--fail-on",
        choices=list(_FAIL_ON),
        help="exit with status 1 if "
        + "; ".join(f"{name}: {meaning}" for name, meaning in _FAIL_ON.items())
        + ". Default violation; for --notion l1, chi2 and alpha, which have no intervals, level.",
    )


def run_audit(args: argparse.Namespace, console: Console) -> int:
    """Hold what a file leaks against a budget."""
    _check(args)
    notion = make_notion(
        args.notion, one_or_two(args.epsilon), lam=args.lam, alpha=args.alpha, supported=NOTIONS
    )
    counts = _count(args, console)
    bounds, verdict = _judged(counts, notion, args.confidence)
    sure = "verdict" in bounds.columns
    fail_on = args.fail_on or ("violation" if sure else "level")
    if fail_on != "level" and not sure:
        raise CommandError(
            f"--fail-on {fail_on} needs intervals, which there are for --notion lip, alip "
            "and ldp only; use --fail-on level."
        )
    failed = _failed(bounds, fail_on)
    worst = _worst(counts)
    how = f"confidence {args.confidence:g}" if sure else _NO_MARGIN
    lines = [
        f"{', '.join(args.useful)} about {', '.join(args.sensitive)}: {verdict}.",
        f"{notion}, {counts.n_rows:,} rows, {how}; levels in nats.",
        *text_table(_cells(bounds, notion)),
        *(f"Largest: {line}" for line in worst["text"]),
        f"{'Failed' if failed else 'Passed'} (--fail-on {fail_on} fails when {_FAIL_ON[fail_on]}).",
    ]
    facts = {
        "notion": str(notion),
        "rows": counts.n_rows,
        "confidence": args.confidence if sure else None,
        "fail_on": fail_on,
        "verdict": verdict,
        "failed": failed,
        "above_budget": verdict.startswith(_ABOVE),
        "bounds": bounds.to_dict(orient="index"),
        "worst": worst.drop(columns="text").to_dict(orient="records"),
    }
    console.tell(lines, facts)
    return ABOVE_BUDGET if failed else 0


def _count(args: argparse.Namespace, console: Console) -> ContingencyTable:
    if args.sensitive_from is not None:
        return count_two_files(args, console)
    if args.key is not None:
        raise CommandError("--key matches the rows of two files: name the other --sensitive-from.")
    with opened(args) as source:
        return count_rows(source, args, console).counts


def _check(args: argparse.Namespace) -> None:
    if not 0 < args.confidence < 1:
        raise CommandError(f"--confidence must lie between 0 and 1, not {args.confidence:g}.")
    if not 0 < args.lam < 1:
        raise CommandError(f"--lam must lie between 0 and 1, not {args.lam:g}.")


def _judged(
    counts: ContingencyTable, notion: Notion, confidence: float
) -> tuple[pd.DataFrame, str]:
    """Return a row per bound of the notion, with an interval where there is one, and a verdict."""
    try:
        report = audit_counts(counts, notion, confidence)
    except UnsupportedNotionError:
        joint = counts.joint()
        levels = worst_levels(notion, joint.lift, joint.p_s)
        frame = pd.DataFrame({"budget": notion.budget, "level": levels}).rename_axis("bound")
        found = _ABOVE if _failed(frame, "level") else _WITHIN
        return frame, f"{found} on these rows"
    return report.to_frame(), _WORDS[report.verdict]


def _failed(bounds: pd.DataFrame, fail_on: str) -> bool:
    if fail_on == "level":
        return bool((bounds["level"] > bounds["budget"] + _ROUNDING).any())
    if fail_on == "violation":
        return bool((bounds["verdict"] == "violated").any())
    return bool((bounds["verdict"] != "holds").any())


def _worst(counts: ContingencyTable) -> pd.DataFrame:
    """Return the pairs of values that leak most, each with a sentence."""
    joint = counts.joint()
    logs = log_lift(joint.matrix)
    expected = counts.n_rows * np.outer(joint.p_s, joint.p_x)
    # Of pairs that never occur, those come first that should have occurred most often.
    order = np.lexsort((-expected.ravel(), -np.abs(logs).ravel()))[:_WORST_SHOWN]
    found = []
    for i, j in zip(*np.unravel_index(order, logs.shape), strict=True):
        s, x = symbol_text(joint.sensitive_labels[i]), symbol_text(joint.useful_labels[j])
        rows, lift = int(joint.masses[i, j]), float(joint.lift[i, j])
        text = (
            f"{printable(x)} makes {printable(s)} {lift:.3g} times as probable: "
            f"{rows:,} rows where {expected[i, j]:,.1f} are to be expected"
        )
        found.append((s, x, rows, lift, float(logs[i, j]), text))
    return pd.DataFrame(found, columns=["sensitive", "useful", "rows", "lift", "log_lift", "text"])


def _cells(bounds: pd.DataFrame, notion: Notion) -> list[list[str]]:
    titles = {"low": "at least", "high": "at most"}
    header = ["", *(titles.get(name, name) for name in bounds.columns)]
    rows: list[list[str]] = [header]
    for side, *cells in bounds.itertuples():
        rows.append([notion.side(side).title, *(_WORDS.get(c) or number(c) for c in cells)])
    return rows
