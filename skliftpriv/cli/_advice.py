"""A recommendation in words, from what each mechanism would keep."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import nan
from typing import Any

from .._format import share

__all__ = ["Trial", "advise", "recommended"]

#: A readable release is worth this share of X.
_WORTH = 0.02
_LITTLE = 0.05


@dataclass(frozen=True)
class Trial:
    """What one mechanism would do.

    Attributes
    ----------
    mechanism : str
        Its name on the command line.
    kept : float
        Share that it keeps of X, or of what is known about a target if there is one; NaN if it
        cannot be built.
    gap : float
        Distance of that share to its optimum at most, NaN if it does not know.
    seconds : float
        Time to build it.
    problem : str
        Why it cannot be built, or nothing.
    out_of_time : bool
        Whether it may be built in a longer time.
    nmi : float
        Share of X that it keeps.
    utility_kept : float
        Share that it keeps of what it was built to keep.
    """

    mechanism: str
    kept: float
    gap: float
    seconds: float
    problem: str = ""
    out_of_time: bool = False
    nmi: float = nan
    utility_kept: float = nan


def recommended(trials: Sequence[Trial]) -> str | None:
    """Return the mechanism to use, None if none can be built.

    The one that keeps most, unless subset merging keeps about as much: what it releases are
    plain groups of values, and equal values stay equal.
    """
    kept = _kept(trials)
    if not kept:
        return None
    best = max(kept, key=lambda name: kept[name])
    simple = kept.get("subset-merging", -1.0)
    return "subset-merging" if kept[best] - simple <= _WORTH else best


def _kept(trials: Sequence[Trial]) -> dict[str, float]:
    """Return what the mechanisms keep that were built and are for any use of any release."""
    special = ("oue", "conditional", "srlip")
    return {t.mechanism: t.kept for t in trials if t.kept == t.kept and t.mechanism not in special}


def advise(
    trials: Sequence[Trial], facts: Mapping[str, Any], several: bool, careful: Trial | None
) -> list[str]:
    """Recommend a mechanism, with the reasons and what else to think of.

    Parameters
    ----------
    trials : sequence of Trial
        All mechanisms.
    facts : mapping
        What is known of the data.
    several : bool
        Whether there are several useful columns.
    careful : Trial or None
        The recommended mechanism with a promise for the true distribution.
    """
    name, kept = recommended(trials), _kept(trials)
    if name is None:
        if any(trial.out_of_time for trial in trials):
            return ["No mechanism was built in time: increase --time-limit."]
        return ["No mechanism can be built for this budget: increase --epsilon."]
    noun = "values" if facts.get("useful_cells") is None else "cells"
    lines = [_choice(kept, name, noun), *_stopped(trials, kept[name])]
    if kept[name] < _LITTLE and not any(trial.out_of_time for trial in trials):
        lines.append(
            "Almost nothing is kept at this budget: increase --epsilon, or release other columns."
        )
    if any(trial.nmi > 1 - 1e-9 for trial in trials if trial.mechanism == name):
        lines.append("The data meet the budget without sanitising: --epsilon can be smaller.")
    srlip = next((trial for trial in trials if trial.mechanism == "srlip"), None)
    if several and srlip is not None and (srlip.kept == srlip.kept or srlip.out_of_time):
        lines.append("Use srlip instead if an attacker may already know some of the columns.")
    if facts["rare_values"]:
        lines.append(_of_rare(facts))
    if careful is not None:
        tried = careful.kept == careful.kept
        how = f"keeps {share(careful.kept)}." if tried else f"gave no result ({careful.problem})."
        lines.append(
            f"With --confidence 0.95, which keeps the budget for the true distribution, "
            f"{name} {how}"
        )
    return lines


def _stopped(trials: Sequence[Trial], kept: float) -> list[str]:
    """Say whether the optimal mechanism was stopped before it kept what it can."""
    for trial in trials:
        if trial.mechanism == "orr" and trial.out_of_time:
            return [
                "orr, which keeps the most given time, was not built in time: try --time-limit 60."
            ]
        if trial.mechanism == "orr" and trial.kept + trial.gap > kept + _WORTH:
            return [
                f"orr was stopped early and may keep up to {share(min(trial.kept + trial.gap, 1))} "
                "with more time: try --time-limit 60."
            ]
    return []


def _of_rare(facts: Mapping[str, Any]) -> str:
    if facts.get("useful_cells") is None:
        return "The lifts of rare values are uncertain: merge rare values beforehand to keep more."
    return "The lifts of rare cells are uncertain: use fewer --cells."


def _choice(kept: Mapping[str, float], name: str, noun: str) -> str:
    best = max(kept, key=lambda other: kept[other])
    if name == "subset-merging":
        more = "" if best == name else f" ({best} keeps the most, {share(kept[best])})"
        return (
            f"Recommended: subset-merging. It keeps {share(kept[name])}{more}. It only merges "
            f"{noun}, so equal {noun} stay equal."
        )
    simple = kept.get("subset-merging")
    only = f" subset-merging, which only merges {noun}, keeps {share(simple or 0.0)}."
    merged = "" if simple is None else only
    return f"Recommended: {name}. It keeps the most, {share(kept[name])};{merged}"
