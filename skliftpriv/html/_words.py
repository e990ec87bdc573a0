"""What is told about a release in sentences: the promise, its price, and where it ends."""

from __future__ import annotations

import sys
from math import exp, inf
from typing import Any

from .._format import share
from ..estimators import LiftSanitizer
from ..notions import Notion

__all__ = ["budget_in_words", "change_in_words", "how_made", "limits", "package_version"]


def package_version() -> str:
    """Return the version of skliftpriv; the package itself lies above this room."""
    return str(getattr(sys.modules[__name__.partition(".")[0]], "__version__", "unknown"))


def factor(level: float) -> str:
    """Write exp(level) as a factor for a reader."""
    if level > 20:
        return "without limit" if level == inf else f"{exp(min(level, 700)):.1g}"
    return f"{exp(level):.2f}" if level > -4 else f"{exp(level):.1g}"


def budget_in_words(notion: Notion, sensitive: str) -> str:
    """Say what the budget allows, without symbols."""
    inner = getattr(notion, "notion", notion)  # the band that a relaxation may leave
    budget = inner.budget
    if "max_lift" in budget:
        low, high = factor(-budget["min_lift"]), factor(budget["max_lift"])
        text = (
            f"Whoever sees a released value may find a value of {sensitive} at most {high} times "
            f"and at least {low} times as probable as before"
        )
        if "srlip" in budget:
            return f"{text}, whichever of the released columns they knew already."
        delta = getattr(notion, "delta", None)
        return f"{text}." if delta is None else f"{text}, but for a probability of {delta:g}."
    if "ldp" in budget:
        return (
            f"A released value may be at most {factor(budget['ldp'])} times as probable for one "
            f"value of {sensitive} as for another."
        )
    return (
        f"For every released value an average, over the values of {sensitive}, of how much more "
        "probable they become is bounded, and one of how much less; single values may change more."
    )


def change_in_words(sanitizer: LiftSanitizer, sensitive: str, useful: str) -> str:
    """Say what seeing the release does to a belief, before and after."""
    before, after = sanitizer.report_.before, sanitizer.report_.after

    def span(low: float, high: float) -> str:
        ruled_out = "0 (ruled out)" if low == -inf else factor(low)
        return f"{ruled_out} to {factor(high)} times"

    return (
        f"Seeing the original {useful} makes a value of {sensitive} "
        f"{span(before.min_log_lift, before.max_log_lift)} as probable as it is for everybody; "
        f"seeing what is released, {span(after.min_log_lift, after.max_log_lift)}."
    )


def limits(sanitizer: LiftSanitizer) -> list[tuple[str, str]]:
    """List what the guarantee does not cover: a title and a sentence each."""
    guarantee = sanitizer.guarantee_
    found = [_basis(guarantee)]
    found += [
        (
            "Releasing again",
            "It covers one release. Drawing the same rows again, at this or another budget, lets "
            "noise be averaged away, and what is leaked grows.",
        ),
        ("Other columns", _others(sanitizer)),
        (
            "Related rows",
            "Each row is protected on its own. Rows about the same person, household or event "
            "can be combined.",
        ),
        ("Side information", _side(sanitizer)),
        (
            "Membership and small groups",
            "It is about the sensitive value, not about whether somebody is in the table. How "
            "common each sensitive value is overall is taken as known.",
        ),
        ("Randomness", _randomness(sanitizer)),
        (
            "This page",
            "It shows statistics of the original rows. Give it to whoever decides on the release, "
            "not to whoever receives it.",
        ),
    ]
    if not guarantee.holds:
        found.insert(0, ("The budget itself", "It is NOT met: do not release this."))
    return found


def _basis(guarantee: Any) -> tuple[str, str]:
    if guarantee.confidence is None:
        return (
            "Estimation",
            f"The budget holds exactly for the distribution of the {guarantee.n_rows:,} rows that "
            "were counted. The population that they come from differs, most for rare values; "
            "<code>confidence=0.95</code> would cover that.",
        )
    return (
        "Estimation",
        f"Covered with probability {guarantee.confidence:g}: then the budget holds for the "
        f"distribution that the {guarantee.n_rows:,} rows came from, if they are independent "
        "draws from one. With the remaining probability it may not.",
    )


def _others(sanitizer: LiftSanitizer) -> str:
    names = ", ".join(sanitizer.guarantee_.columns)
    text = (
        f"Only {names} is covered"
        if len(sanitizer.guarantee_.columns) == 1
        else (f"Only {names} together are covered")
    )
    if sanitizer.remainder == "passthrough":
        return f"{text}; further columns were released as they are, and nothing protects them."
    return f"{text}; what is released besides, now or later, may give the sensitive value away."


def _side(sanitizer: LiftSanitizer) -> str:
    if "srlip" in sanitizer.notion_.budget:
        return (
            "Covered for whoever knows some of the released columns of a row. Other knowledge "
            "about a person, from outside the table, is not."
        )
    return (
        "It bounds what the release adds for somebody who knows the overall distribution. Who "
        "knows more about a person may learn more from it."
    )


def _randomness(sanitizer: LiftSanitizer) -> str:
    if sanitizer.guarantee_.secret_randomness:
        return "Draws came from the operating system's generator, and cannot be repeated."
    return (
        "Draws came from a seed. Whoever knows it can undo the randomisation: for tests, not for "
        "a release."
    )


def how_made(sanitizer: LiftSanitizer) -> list[tuple[str, str]]:
    """List the mechanism, its parameters and what it found."""
    parameters = sanitizer.get_params()
    randomness = parameters.pop("random_state")
    listed = ", ".join(
        f"{name}={value!r}"
        for name, value in parameters.items()
        if name not in ("sensitive", "useful")
    )
    joint = sanitizer.joint_
    rows: list[tuple[str, str]] = [
        ("Mechanism", f"{type(sanitizer).__name__}: {_summary(sanitizer)}"),
        ("Notion", str(sanitizer.notion_)),
        ("Parameters", f"{listed}, random_state={'None' if randomness is None else 'a seed'}"),
        (
            "Data",
            f"{sanitizer.guarantee_.n_rows:,} rows, {joint.shape[0]} sensitive and "
            f"{joint.shape[1]} useful values",
        ),
    ]
    if (gap := getattr(sanitizer, "gap_", None)) is not None:
        rows.append(("Optimality", f"at most {share(max(gap, 0.0))} of X below the optimum"))
    rows.append(("Check", "budget compared in exact arithmetic with the integers that are sampled"))
    rows.append(("Made with", f"skliftpriv {package_version()}"))
    return rows


def _summary(sanitizer: LiftSanitizer) -> str:
    text = (type(sanitizer).__doc__ or "").strip().partition("\n")[0].rstrip(".")
    return text[:1].lower() + text[1:]
