"""Notion, report and guarantee as JSON."""

from __future__ import annotations

import math
from dataclasses import asdict, fields
from typing import Any

import numpy as np

from ..estimators import Guarantee, Layout, RecordColumn, ValuesSummary
from ..exceptions import SavedFileError
from ..mechanisms import SideChannelReport
from ..notions import ALIP, LDP, LIP, SRLIP, AlphaLift, Chi2Lift, L1Lift, Notion, RelaxedLift
from ..report import LeakageSummary, PrivacyReport, TargetSummary
from ._reader import Node, plain_number

__all__ = [
    "Facts",
    "read_notion",
    "read_report",
    "write_facts",
    "write_notion",
    "write_report",
]

_SIMPLE: dict[str, type[Notion]] = {
    kind.key: kind for kind in (LIP, ALIP, LDP, L1Lift, Chi2Lift, AlphaLift, SRLIP)
}
_RELAXED = RelaxedLift.key
_MOST_ROWS = 2**63 - 1
_MOST_SETS = 1 << 12


def write_notion(notion: Notion) -> Any:
    """Write a notion with its budget; one of your own has no form in a file."""
    if type(notion) is RelaxedLift:
        ceiling = None if notion.ceiling is None else write_notion(notion.ceiling)
        inner = write_notion(notion.notion)
        return {"name": _RELAXED, "notion": inner, "delta": notion.delta, "ceiling": ceiling}
    if _SIMPLE.get(notion.key) is not type(notion):
        raise SavedFileError(
            f"{notion} is a notion of your own, {type(notion).__name__}, which is code that a file "
            "of data cannot hold: use one of the notions of skliftpriv, or pickle the sanitiser."
        )
    return {"name": notion.key, **{name: float(value) for name, value in asdict(notion).items()}}  # type: ignore[call-overload]


def read_notion(node: Node, *, simple: bool = False) -> Any:
    """Read a notion with its budget; ``simple`` for one within another."""
    members = node.members()
    name = members.get("name", node).choice([*_SIMPLE, *([] if simple else [_RELAXED])])
    if name == _RELAXED:
        _, inner, delta, ceiling = node.fields("name", "notion", "delta", "ceiling")
        return RelaxedLift(
            read_notion(inner, simple=True),
            delta.number(),
            None if ceiling.is_null() else read_notion(ceiling, simple=True),
        )
    kind = _SIMPLE[name]
    names = [field.name for field in fields(kind)]  # type: ignore[arg-type]
    _, *numbers = node.fields("name", *names)
    return kind(*(number.number() for number in numbers))


def write_report(report: PrivacyReport) -> Any:
    """Write a report; its notion stands elsewhere."""
    target = None if report.target is None else _figures(asdict(report.target))
    written = {
        "satisfied": report.satisfied,
        "before": _figures(asdict(report.before)),
        "after": _figures(asdict(report.after)),
        "levels_before": _figures(report.levels_before),
        "levels_after": _figures(report.levels_after),
        "levels_worst": None if report.levels_worst is None else _figures(report.levels_worst),
        "target": target,
        "side_channels": None,
    }
    if isinstance(report, SideChannelReport):
        written["side_channels"] = {
            "known": [list(known) for known in report.levels_by_knowledge],
            "levels": [plain_number(level) for level in report.levels_by_knowledge.values()],
            "column_levels": [plain_number(level) for level in report.column_levels],
        }
    return written


def _figures(values: dict[str, float]) -> dict[str, Any]:
    return {name: plain_number(value) for name, value in values.items()}


def read_report(node: Node, notion: Notion) -> PrivacyReport:
    """Read a report about a notion."""
    satisfied, before, after, *levels, target, side = node.fields(
        "satisfied",
        "before",
        "after",
        "levels_before",
        "levels_after",
        "levels_worst",
        "target",
        "side_channels",
    )
    sides = list(notion.budget)
    of_before, of_after = (_read_figures(one, sides) for one in levels[:2])
    known: dict[str, Any] = {
        "notion": notion,
        "satisfied": satisfied.flag(),
        "before": _summary(before),
        "after": _summary(after),
        "levels_before": of_before,
        "levels_after": of_after,
        "levels_worst": None if levels[2].is_null() else _read_figures(levels[2], sides),
        "target": None if target.is_null() else _target(target),
    }
    if side.is_null():
        return PrivacyReport(**known)
    sets, values, columns = side.fields("known", "levels", "column_levels")
    found = [tuple(one.integers(0, 100).tolist()) for one in sets.items(most=_MOST_SETS)]
    figures = [one.number(finite=False) for one in values.items(len(found))]
    each = tuple(one.number(finite=False) for one in columns.items(most=100))
    by_knowledge = dict(zip(found, figures, strict=True))
    if not found or len(by_knowledge) < len(found):
        raise sets.wrong("a list of different sets of columns")
    return SideChannelReport(**known, levels_by_knowledge=by_knowledge, column_levels=each)


def _read_figures(node: Node, names: list[str]) -> dict[str, float]:
    found = node.fields(*names)
    return {name: one.number(finite=False) for name, one in zip(names, found, strict=True)}


def _summary(node: Node) -> LeakageSummary:
    names = [field.name for field in fields(LeakageSummary)]
    return LeakageSummary(**_read_figures(node, names))


def _target(node: Node) -> TargetSummary:
    return TargetSummary(**_read_figures(node, [field.name for field in fields(TargetSummary)]))


def write_facts(guarantee: Guarantee) -> Any:
    """Write what a guarantee says that does not follow from the rest of the file."""
    return {
        "confidence": guarantee.confidence,
        "smoothing": float(guarantee.smoothing),
        "weighted": guarantee.weighted,
        "n_rows": int(guarantee.n_rows),
        "groups": guarantee.groups,
        "unprotected": list(guarantee.unprotected),
    }


class Facts:
    """The facts of a guarantee that stand in a file.

    Parameters
    ----------
    node : Node
        What :func:`write_facts` wrote.
    records : RecordColumn or None
        Where the ids of the records are.
    """

    def __init__(self, node: Node, records: RecordColumn | None) -> None:
        confidence, smoothing, weighted, n_rows, groups, unprotected = node.fields(
            "confidence", "smoothing", "weighted", "n_rows", "groups", "unprotected"
        )
        self.confidence = None if confidence.is_null() else confidence.number(0, 1)
        if self.confidence in (0, 1):
            raise confidence.wrong("a number between 0 and 1")
        self.smoothing = smoothing.number(0)
        self.weighted = weighted.flag()
        self.n_rows = n_rows.whole(0, _MOST_ROWS)
        self.groups = None if groups.is_null() else groups.text()
        by_person = records if records is not None and records.parameter == "groups" else None
        if self.groups != (None if by_person is None else by_person.name):
            raise groups.wrong("the column of records if these are groups, or else null")
        self.unprotected = tuple(unprotected.texts(most=100_000))

    def guarantee(
        self,
        report: PrivacyReport,
        layout: Layout,
        handle_unknown: str,
        *,
        draws: bool,
        sees_sensitive: bool,
        values: ValuesSummary | None,
        **known: Any,
    ) -> Guarantee:
        """Return the guarantee that these facts and the rest of the file make."""
        if (self.confidence is None) != (report.levels_worst is None):
            raise SavedFileError("report.levels_worst must go with guarantee.confidence")
        for side, level in report.levels_promised.items():
            bound = report.notion.budget[side]
            if math.isnan(level):
                raise SavedFileError("the levels of the report must be numbers")
            # Levels are rounded; what is sampled was checked without rounding.
            if report.satisfied and level > bound and not np.isclose(level, bound):
                raise SavedFileError(
                    f"its report says that {report.notion} is met, and {level:g} for the level "
                    f"{side}, which exceeds the budget: do not use it"
                )
        drawn = values is not None and values.draws(sees_sensitive=sees_sensitive)
        return Guarantee(
            promise=report.notion,
            achieved=dict(report.levels_promised),
            holds=report.satisfied,
            confidence=self.confidence,
            smoothing=self.smoothing,
            weighted=self.weighted,
            n_rows=self.n_rows,
            sensitive=layout.sensitive_name,
            columns=tuple(layout.useful_names),
            unprotected=self.unprotected,
            handle_unknown=handle_unknown,
            randomized=draws or drawn or handle_unknown == "resample",
            secret_randomness=True,
            sees_sensitive=sees_sensitive,
            values=values,
            groups=self.groups,
            **known,
        )
