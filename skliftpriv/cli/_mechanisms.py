"""Mechanisms by the names that the command line gives them, and the options that each has."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from inspect import signature
from typing import Any

from ..estimators import (
    ConditionalReporting,
    GRRSanitizer,
    LiftSanitizer,
    ORRSanitizer,
    OUESanitizer,
    SRLIPSanitizer,
    SRRSanitizer,
    SubsetMergingSanitizer,
    WatchdogSanitizer,
)
from ..notions import NOTIONS
from ._counting import one_or_several
from ._errors import CommandError

__all__ = [
    "MECHANISMS",
    "add_epsilon",
    "add_mechanism_options",
    "has_option",
    "make_sanitizer",
    "one_or_two",
    "refuse_unused",
]

MECHANISMS: dict[str, type[LiftSanitizer]] = {
    "watchdog": WatchdogSanitizer,
    "subset-merging": SubsetMergingSanitizer,
    "orr": ORRSanitizer,
    "srr": SRRSanitizer,
    "grr": GRRSanitizer,
    "oue": OUESanitizer,
    "conditional": ConditionalReporting,
    "srlip": SRLIPSanitizer,
}


@dataclass(frozen=True)
class _Option:
    """An option of the command that is a parameter of some estimators.

    Attributes
    ----------
    flags : tuple of str
        How it is given.
    parameter : str
        What it is called by the estimators.
    how : dict
        How it is parsed.
    means : str or None
        Value of the parameter where the option is given, if that is not what was given.
    """

    flags: tuple[str, ...]
    parameter: str
    how: dict[str, Any]
    means: str | None = None

    def given(self, args: argparse.Namespace) -> Any:
        """Return what was given, None if nothing was."""
        return getattr(args, self.flags[0].lstrip("-").replace("-", "_"), None)

    def refused(self, whose: str, advice: str) -> CommandError:
        """Make the error of an option that a mechanism does not have."""
        return CommandError(f"{self.flags[0]} is not an option of {whose}: {advice}.")


#: No option has a default here: a parameter that is not given is that of the estimator.
_BUDGET = (
    _Option(
        ("--notion",),
        "notion",
        {"choices": NOTIONS, "help": "privacy notion that epsilon is the budget of; default lip"},
    ),
    _Option(
        ("--lam",),
        "lam",
        {"type": float, "help": "how a single epsilon is split: share of the lower bound"},
    ),
    _Option(("--alpha",), "alpha", {"type": float, "help": "order for --notion alpha, above 1"}),
)
_BUILD = (
    _Option(
        ("--target",),
        "utility",
        {
            "metavar": "COL",
            "help": "for orr: keep what the useful column tells about this column, which is only "
            "counted; at most 100 values",
        },
        means="target",
    ),
    _Option(
        ("--see-sensitive",),
        "use_sensitive",
        {
            "action": "store_const",
            "const": True,
            "help": "for orr: let the mechanism look at the sensitive column, too; it keeps more, "
            "and treats rows differently by their sensitive value",
        },
    ),
    _Option(
        ("--smoothing",),
        "smoothing",
        {"type": float, "help": "pseudo-count added to every pair of values"},
    ),
    _Option(
        ("--confidence",),
        "confidence",
        {
            "type": float,
            "help": "for example 0.95: keep the budget for the true distribution with this "
            "probability",
        },
    ),
    _Option(
        ("--time-limit",),
        "time_limit",
        {"type": float, "help": "seconds for the search of orr, srr and srlip"},
    ),
    _Option(
        ("--strategy",),
        "strategy",
        {"choices": ["optimal", "product"], "help": "strategy of srlip"},
    ),
    _Option(
        ("--delta",),
        "delta",
        {"type": float, "help": "for watchdog: probability with which the budget may be exceeded"},
    ),
)
_RELEASE = (
    _Option(
        ("--output-kind", "--output"),
        "output",
        {"choices": ["label", "code", "posterior", "bits"], "help": "form of the released values"},
    ),
    _Option(
        ("--handle-unknown",),
        "handle_unknown",
        {
            "choices": ["error", "resample"],
            "help": "what to do with values that are not in --fit-on",
        },
    ),
)


def add_mechanism_options(parser: argparse.ArgumentParser, *, release: bool) -> None:
    """Add the options that are parameters of estimators.

    Parameters
    ----------
    parser : ArgumentParser
        Of a command.
    release : bool
        Whether the command releases rows.
    """
    group = parser.add_argument_group("mechanism options")
    for option in _BUDGET + _BUILD + (_RELEASE if release else ()):
        how = {"metavar": "X", **option.how} if "type" in option.how else option.how
        group.add_argument(*option.flags, **how)


def add_epsilon(parser: argparse.ArgumentParser) -> None:
    """Add the option of the budget, for commands that have a usual one."""
    parser.add_argument(
        "--epsilon",
        type=float,
        nargs="+",
        default=[1.0],
        metavar="E",
        help="budget in nats: one number, or a lower and an upper one; default 1",
    )


def one_or_two(values: list[float]) -> float | tuple[float, float]:
    """Read --epsilon: one number, or a lower and an upper one."""
    if len(values) == 1:
        return values[0]
    if len(values) == 2:
        return values[0], values[1]
    raise CommandError("--epsilon takes one number, or two: a lower and an upper one.")


def has_option(mechanism: str, parameter: str) -> bool:
    """Tell whether a mechanism has a parameter."""
    return parameter in signature(MECHANISMS[mechanism]).parameters


def refuse_unused(mechanisms: Sequence[str], args: argparse.Namespace) -> None:
    """Refuse an option that none of the mechanisms has."""
    for option in _BUDGET + _BUILD:
        used = any(has_option(name, option.parameter) for name in mechanisms)
        if option.given(args) is not None and not used:
            raise option.refused(", ".join(mechanisms), "remove it")


def make_sanitizer(
    mechanism: str, args: argparse.Namespace, *, strict: bool = True, **fixed: Any
) -> LiftSanitizer:
    """Make the estimator that the options describe.

    Parameters
    ----------
    mechanism : str
        A key of :data:`MECHANISMS`.
    args : Namespace
        What was parsed.
    strict : bool, default=True
        Whether an option that the mechanism does not have is an error; else it is left out, for
        commands that compare mechanisms.
    **fixed
        Further parameters.
    """
    parameters: dict[str, Any] = {}
    for option in _BUDGET + _BUILD + _RELEASE:
        value = option.given(args)
        if value is None:
            continue
        if has_option(mechanism, option.parameter):
            parameters[option.parameter] = option.means or value
        elif strict:
            others = [name for name in MECHANISMS if has_option(name, option.parameter)]
            raise option.refused(mechanism, f"remove it, or use --mechanism {', '.join(others)}")
    sensitive, useful = one_or_several(args.sensitive), one_or_several(args.useful)
    return MECHANISMS[mechanism](sensitive, useful, **parameters, **fixed)
