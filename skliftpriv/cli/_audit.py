"""``skliftpriv audit``: check existing columns against a budget, with an exit status for CI."""

from __future__ import annotations

import argparse

import numpy as np
import pandas as pd

from .._format import number, printable, text_table
from ..estimators import CountedRows
from ..exceptions import UnsupportedNotionError
from ..labels import symbol_text
from ..measures import log_lift
from ..metrics import audit_counts
from ..notions import NOTIONS, Notion, make_notion
from ..report import worst_levels
from ._console import Console
from ._counting import count_rows
from ._errors import CommandError
from ._inputs import add_input, opened
from ._mechanisms import one_or_two
from ._two_files import add_two_files, count_two_files
from ._words import listed, plural

__all__ = ["ABOVE_BUDGET", "add_audit", "run_audit"]

ABOVE_BUDGET = 1

#: A level that was certified in whole numbers may lie this far above its budget as a double.
_ROUNDING = 1e-9
_FAIL_ON = {
    "violation": "the true level is above the budget, at the given confidence",
    "level": "the level of these rows is above the budget",
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
        "--epsilon",
        type=float,
        nargs="+",
        required=True,
        metavar="E",
        help="budget in nats: one number, or a lower and an upper one",
    )
    parser.add_argument(
        "--notion", choices=NOTIONS, default="lip", help="privacy notion; default %(default)s"
    )
    parser.add_argument(
        "--lam",
        type=float,
        default=0.5,
        metavar="X",
        help="how a single epsilon is split: share of the lower bound; default %(default)s",
    )
    parser.add_argument(
        "--alpha", type=float, default=2.0, metavar="X", help="order for --notion alpha; default 2"
    )
    parser.add_argument(
        "--confidence",
        type=float,
        default=0.95,
        metavar="X",
        help="confidence of the intervals; default 0.95",
    )
    parser.add_argument(
        "--fail-on",
        choices=list(_FAIL_ON),
        help="when to exit with status 1: "
        + "; ".join(f"{name}, if {meaning}" for name, meaning in _FAIL_ON.items())
        + ". Default violation; level for --notion l1, chi2 and alpha, which have no intervals.",
    )


def run_audit(args: argparse.Namespace, console: Console) -> int:
    """Compare what a file leaks with a budget."""
    _check(args)
    notion = make_notion(
        args.notion, one_or_two(args.epsilon), lam=args.lam, alpha=args.alpha, supported=NOTIONS
    )
    rows = _count(args, console)
    bounds, verdict = _judged(rows, notion, args.confidence)
    sure = "verdict" in bounds.columns
    fail_on = args.fail_on or ("violation" if sure else "level")
    if fail_on != "level" and not sure:
        raise CommandError(
            f"--fail-on {fail_on} needs intervals, which only --notion lip, alip and ldp have; "
            "use --fail-on level."
        )
    failed = _failed(bounds, fail_on)
    worst = _worst(rows)
    how = f"confidence {args.confidence:g}" if sure else _NO_MARGIN
    lines = [
        f"Leakage about {listed(args.sensitive)} from {listed(args.useful)}: {verdict}.",
        f"{notion}, {plural(rows.n_rows, 'row')}, {how}; levels in nats.",
        *text_table(_cells(bounds, notion)),
        "Largest deviations:",
        *(f"  {line}" for line in worst["text"]),
        _outcome(failed, verdict, fail_on),
    ]
    facts = {
        "notion": str(notion),
        "rows": rows.n_rows,
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


def _count(args: argparse.Namespace, console: Console) -> CountedRows:
    if args.sensitive_from is not None:
        return count_two_files(args, console)
    if args.key is not None:
        raise CommandError("--key matches the rows of two files: use it with --sensitive-from.")
    with opened(args) as source:
        return count_rows(source, args, console)


def _check(args: argparse.Namespace) -> None:
    if not 0 < args.confidence < 1:
        raise CommandError(f"--confidence must be between 0 and 1, got {args.confidence:g}.")
    if not 0 < args.lam < 1:
        raise CommandError(f"--lam must be between 0 and 1, got {args.lam:g}.")


def _judged(rows: CountedRows, notion: Notion, confidence: float) -> tuple[pd.DataFrame, str]:
    """Return a row per bound of the notion, with an interval where there is one, and a verdict."""
    try:
        report = audit_counts(rows, notion, confidence=confidence)
    except UnsupportedNotionError:
        joint = rows.counts.joint()
        levels = worst_levels(notion, joint.lift, joint.p_s)
        frame = pd.DataFrame({"budget": notion.budget, "level": levels}).rename_axis("bound")
        found = _ABOVE if _failed(frame, "level") else _WITHIN
        return frame, f"{found} on these rows"
    return report.to_frame(), _WORDS[report.verdict]


def _outcome(failed: bool, verdict: str, fail_on: str) -> str:
    """Say whether the audit failed, and why; without enough rows nothing has passed."""
    if failed:
        return f"Failed: {_FAIL_ON[fail_on]} (--fail-on {fail_on})."
    outcome = "Passed" if verdict.startswith(_WITHIN) else "Undecided, which is not a failure"
    return f"{outcome}: --fail-on {fail_on} fails only if {_FAIL_ON[fail_on]}."


def _failed(bounds: pd.DataFrame, fail_on: str) -> bool:
    if fail_on == "level":
        return bool((bounds["level"] > bounds["budget"] + _ROUNDING).any())
    if fail_on == "violation":
        return bool((bounds["verdict"] == "violated").any())
    return bool((bounds["verdict"] != "holds").any())


def _worst(rows: CountedRows) -> pd.DataFrame:
    """Return the pairs of values that leak most, each with a sentence."""
    joint = rows.counts.joint()
    logs = log_lift(joint.matrix)
    expected = rows.n_rows * np.outer(joint.p_s, joint.p_x)
    # Of pairs that never occur, those come first that should have occurred most often.
    order = np.lexsort((-expected.ravel(), -np.abs(logs).ravel()))[:_WORST_SHOWN]
    found = []
    for i, j in zip(*np.unravel_index(order, logs.shape), strict=True):
        s, x = symbol_text(joint.sensitive_labels[i]), symbol_text(joint.useful_labels[j])
        n_rows, lift = int(joint.masses[i, j]), float(joint.lift[i, j])
        text = (
            f"given {printable(x)}, {printable(s)} is {lift:.3g} times as probable "
            f"({plural(n_rows, 'row')}, {expected[i, j]:,.1f} expected)"
        )
        found.append((s, x, n_rows, lift, float(logs[i, j]), text))
    return pd.DataFrame(found, columns=["sensitive", "useful", "rows", "lift", "log_lift", "text"])


def _cells(bounds: pd.DataFrame, notion: Notion) -> list[list[str]]:
    titles = {"low": "at least", "high": "at most"}
    header = ["", *(titles.get(name, name) for name in bounds.columns)]
    rows: list[list[str]] = [header]
    for side, row in bounds.to_dict(orient="index").items():
        shown = notion.side(side)
        title = shown.title
        if shown.sign < 0:  # with its sign, as in reports
            title = title.removeprefix("minus ")
            row = {name: cell if name == "verdict" else -cell for name, cell in row.items()}
            row |= {"low": row["high"], "high": row["low"]} if "low" in row else {}
        rows.append([title, *(_WORDS.get(cell) or number(cell) for cell in row.values())])
    return rows
