"""Sentences of the report page: what changes, what is not covered and how it was made."""

from __future__ import annotations

import sys
from math import inf
from typing import Any

from .. import estimators
from .._format import factor, share
from ..estimators import Guarantee, ReleasingShell
from ..views import ChannelView

__all__ = ["change_in_words", "how_made", "known_about", "limits", "package_version"]


def package_version() -> str:
    """Return the version of skliftpriv, which this room cannot import from above."""
    return str(getattr(sys.modules[__name__.partition(".")[0]], "__version__", "unknown"))


def change_in_words(sanitizer: ReleasingShell, sensitive: str, useful: str) -> str:
    """Say what seeing the release does to a belief, before and after."""
    before, after = sanitizer.report_.before, sanitizer.report_.after

    def span(low: float, high: float) -> str:
        ruled_out = "0 (ruled out)" if low == -inf else factor(low)
        return f"{ruled_out} to {factor(high)} times"

    return (
        f"For the estimated distribution: seeing the original {useful} makes a value of "
        f"{sensitive} {span(before.min_log_lift, before.max_log_lift)} as probable as it is "
        f"overall; seeing what is released, {span(after.min_log_lift, after.max_log_lift)}."
    )


def known_about(target_name: str, release: ChannelView) -> str:
    """Say what is known about the target from all that the mechanism sees."""
    if release.sees_sensitive:
        columns = f"{release.sensitive_name} and {release.useful_name}"
        return f"what is known about {target_name} from {columns}"
    return f"what is known about {target_name} from {release.useful_name}"


def limits(sanitizer: ReleasingShell, shuffled: bool) -> list[tuple[str, str]]:
    """List what the guarantee does not cover: a title and a sentence or two each."""
    guarantee = sanitizer.guarantee_
    found = [
        ("Estimation", _basis(sanitizer)),
        ("Releasing again", _again(guarantee)),
        ("Other columns", _others(guarantee)),
        ("Order and index", _order(sanitizer, shuffled)),
        ("Related rows", _related(guarantee)),
        ("Side information", sanitizer.notion_.side_information),
        (
            "Membership and small groups",
            "The guarantee is about the sensitive value, not about whether somebody is in the "
            "table. How common each sensitive value is overall is assumed to be known.",
        ),
        ("New values", _new_values(guarantee)),
        ("Randomness", _randomness(guarantee)),
        (
            "This page",
            "It shows statistics of the original rows. Share it with those who decide on the "
            "release, not with those who receive the data.",
        ),
    ]
    if guarantee.about_values:
        found.insert(-2, ("Listed and rare values", " ".join(guarantee.about_values)))
    if sanitizer.needs_sensitive:
        found.insert(-1, ("Unequal treatment", _unequal(guarantee)))
    if not guarantee.holds:
        found.insert(0, ("The budget itself", "It is NOT met: do not release this."))
    return found


def _unequal(guarantee: Guarantee) -> str:
    return (
        f"The mechanism reads {guarantee.sensitive} of every row that it releases, and the same "
        "value may be released differently for different sensitive values. Some laws restrict "
        "that, whatever the release reveals."
    )


def _basis(sanitizer: ReleasingShell) -> str:
    guarantee = sanitizer.guarantee_
    rows = guarantee.counted
    if guarantee.confidence is not None:
        return (
            f"Covered with probability {guarantee.confidence:g}: then the budget holds for the "
            f"distribution that the {rows} came from, if {guarantee.assumption}. With the "
            "remaining probability it may not."
        )
    verb = "holds exactly" if guarantee.holds else "is missed"
    changes = []
    if guarantee.weighted:
        changes.append("counted by their weights")
    if guarantee.smoothing:
        changes.append(f"with {guarantee.smoothing:g} more counted in every cell")
    if changes:
        text = (
            f"The budget {verb} for the distribution of the {rows} {' and '.join(changes)}. For "
            "the shares of the rows themselves the levels may be higher."
        )
    else:
        text = f"The budget {verb} for the distribution of the {rows} that were counted."
    return f"{text} {_population(sanitizer)}"


def _population(sanitizer: ReleasingShell) -> str:
    text = "Other rows, and the population that they come from, differ from it, most in rare values"
    if not sanitizer.notion_.supports_confidence:
        return f"{text}."
    if "confidence" in sanitizer.fitted_parameters():
        return f"{text}; <code>confidence=0.95</code> would cover that."
    return f"{text}; <code>skliftpriv.audit</code> measures that on other rows."


def _again(guarantee: Guarantee) -> str:
    if guarantee.keyed:
        return (
            "One release is covered, and so is repeating it with the same secret: the same rows "
            "have the same outputs then. Releasing them with another secret, at another budget, by "
            "another mechanism or after their values have changed reveals more about them."
        )
    if guarantee.randomized:
        return (
            "One release is covered. If the same rows are drawn again, at this or another budget, "
            "the noise can be averaged away, and more is leaked."
        )
    return (
        "One release is covered. Nothing is drawn, so that the same rows give the same outputs; "
        "releasing them at another budget, or by another mechanism, reveals more about them."
    )


def _related(guarantee: Guarantee) -> str:
    if guarantee.groups is None:
        return (
            "Each row is protected on its own. Rows about the same person, household or event can "
            "be combined."
        )
    return (
        f"Rows with the same {guarantee.groups} are protected together, but not their number. "
        "Other rows that belong together, such as those of a household, can be combined."
    )


def _others(guarantee: Guarantee) -> str:
    several = len(guarantee.columns) > 1
    text = f"Only {', '.join(guarantee.columns)} {'together are' if several else 'is'} covered"
    if guarantee.unprotected:
        listed = ", ".join(guarantee.unprotected)
        return f"{text}. Released with it, and not protected: {listed}."
    return f"{text}; other columns, released now or later, may give the sensitive value away."


def _order(sanitizer: ReleasingShell, shuffled: bool) -> str:
    if shuffled:
        return "Rows are released in random order and without an index."
    kept = sanitizer.fitted_parameters()["index"] == "keep"
    index = ", and the index of a pandas frame, are" if kept else " is"
    return (
        f"The order of the rows{index} released with the rows. Where the rows are sorted by the "
        "sensitive value, that gives it away: shuffle them."
    )


def _new_values(guarantee: Guarantee) -> str:
    said = []
    if guarantee.all_have_cells:
        said.append(
            "A row with values that were not counted falls into one of the cells, and is released "
            "like the other rows of its cell."
        )
    if guarantee.places_new_values:
        said.append(
            "A value between or beyond those that were counted is released like the next lower one "
            "that was, or the lowest."
        )
    new = guarantee.may_be_new
    known = guarantee.values
    listed = known is not None and (known.useful_closed or known.sensitive_closed)
    not_known = "neither counted nor listed" if listed else "not counted"
    if new is not None and guarantee.handle_unknown == "error":
        said.append(f"Rows with {new} that were {not_known} are refused.")
    elif new is not None:
        still = guarantee.with_new_values
        said.append(f"Rows with {new} that were {not_known} get a draw: {still}.")
    return " ".join(said)


def _randomness(guarantee: Guarantee) -> str:
    if not guarantee.randomized:
        return "Nothing is drawn: equal values are always released as the same output."
    if guarantee.keyed:
        return (
            f"Draws are decided by the secret, {guarantee.record_id} and the value. Whoever knows "
            "the secret can undo the randomisation: keep it from those who receive the data."
        )
    if guarantee.secret_randomness and guarantee.record_id is not None:
        return (
            "Draws are decided by a key that the operating system's generator makes for every "
            f"release, {guarantee.record_id} and the value, and cannot be repeated."
        )
    if guarantee.secret_randomness:
        return "Draws come from the operating system's generator, and cannot be repeated."
    return (
        "Draws come from a seed (random_state). Whoever knows or guesses it, and much of the "
        "table, can undo the randomisation: this is for experiments, and not private."
    )


def how_made(sanitizer: ReleasingShell, target_name: str) -> list[tuple[str, str]]:
    """List the mechanism, its parameters and what it found."""
    parameters = sanitizer.fitted_parameters()
    randomness = parameters.pop("random_state")
    if parameters.get("secret") is not None:
        parameters["secret"] = "given"
    listed = ", ".join(
        f"{name}={getattr(value, '__name__', repr(value))}"
        for name, value in parameters.items()
        if name not in ("sensitive", "useful")
    )
    rows: list[tuple[str, str]] = [
        ("Mechanism", ": ".join([sanitizer.release_.who, *_summary(sanitizer)])),
        ("Notion", str(sanitizer.notion_)),
        ("Parameters", f"{listed}, random_state={'None' if randomness is None else 'a seed'}"),
        (
            "Data",
            f"{sanitizer.guarantee_.counted} counted, {sanitizer.n_sensitive_} sensitive and "
            f"{len(sanitizer.release_.encoder.useful)} useful values",
        ),
    ]
    if (gap := getattr(sanitizer, "gap_", None)) is not None:
        best = getattr(sanitizer, "optimum", "the optimum")
        whole = "X" if sanitizer.report_.target is None else f"what is known about {target_name}"
        rows.append(("Optimality", f"at most {share(max(gap, 0.0))} of {whole} below {best}"))
    rows.append(("Levels", sanitizer.guarantee_.check))
    rows.append(("Made with", f"skliftpriv {package_version()}"))
    return rows


def _summary(sanitizer: ReleasingShell) -> list[str]:
    """Say what the mechanism does, if it is one of the package or was not loaded from a file."""
    kind: Any = type(sanitizer)
    if kind.__name__ != sanitizer.release_.who:
        kind = getattr(estimators, sanitizer.release_.who, None)
    text = (getattr(kind, "__doc__", None) or "").strip().partition("\n")[0].rstrip(".")
    return [text[:1].lower() + text[1:]] if text else []
