"""Mechanisms by the names that the command line gives them, made as the options say."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
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
from ._errors import CommandError
from ._inputs import one_or_several
from ._options import BUDGET, BUILD, CELLS, RELEASE, Option

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
    for option in BUDGET + BUILD + (RELEASE if release else ()):
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


def _takes(mechanism: str, option: Option, args: argparse.Namespace) -> bool:
    """Tell whether a mechanism has an option, or learns cells for it."""
    if has_option(mechanism, option.parameter):
        return True
    return option.for_cells and args.cells is not None and has_option(mechanism, "cells")


def refuse_unused(mechanisms: Sequence[str], args: argparse.Namespace) -> None:
    """Refuse an option that none of the mechanisms has, and cells unless all have them."""
    without = [name for name in mechanisms if not has_option(name, "cells")]
    if args.cells is not None and without:
        raise CELLS.refused(", ".join(without), "remove it, or compare other mechanisms")
    for option in BUDGET + BUILD:
        used = any(_takes(name, option, args) for name in mechanisms)
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
    for option in BUDGET + BUILD + RELEASE:
        value = option.given(args)
        if value is None:
            continue
        if has_option(mechanism, option.parameter):
            parameters[option.parameter] = option.value(value)
        elif strict and not _takes(mechanism, option, args):
            others = [name for name in MECHANISMS if has_option(name, option.parameter)]
            raise option.refused(mechanism, f"remove it, or use --mechanism {', '.join(others)}")
    sensitive, useful = one_or_several(args.sensitive), one_or_several(args.useful)
    return MECHANISMS[mechanism](sensitive, useful, **parameters, **fixed)
