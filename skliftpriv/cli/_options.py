"""Options of the command line that are parameters of some estimators."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..notions import NOTIONS
from ._categories import read_categories
from ._errors import CommandError

__all__ = ["BUDGET", "BUILD", "CELLS", "RELEASE", "Option"]


@dataclass(frozen=True)
class Option:
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
    for_cells : bool
        Whether cells are learnt for it, so that every mechanism with cells takes it.
    read : callable or None
        Turns what was given into the value of the parameter.
    """

    flags: tuple[str, ...]
    parameter: str
    how: dict[str, Any]
    means: str | None = None
    for_cells: bool = False
    read: Callable[[Any], Any] | None = None

    def given(self, args: argparse.Namespace) -> Any:
        """Return what was given, None if nothing was."""
        return getattr(args, self.flags[0].lstrip("-").replace("-", "_"), None)

    def value(self, given: Any) -> Any:
        """Return the value of the parameter for what was given."""
        if self.read is not None:
            return self.read(given)
        return self.means or given

    def refused(self, whose: str, advice: str) -> CommandError:
        """Make the error of an option that a mechanism does not have."""
        return CommandError(f"{self.flags[0]} is not an option of {whose}: {advice}.")


#: No option has a default here: a parameter that is not given is that of the estimator.
BUDGET = (
    Option(
        ("--notion",),
        "notion",
        {"choices": NOTIONS, "help": "privacy notion that epsilon is the budget of; default lip"},
    ),
    Option(
        ("--lam",),
        "lam",
        {"type": float, "help": "how a single epsilon is split: share of the lower bound"},
    ),
    Option(("--alpha",), "alpha", {"type": float, "help": "order for --notion alpha, above 1"}),
)
CELLS = Option(
    ("--cells",),
    "cells",
    {
        "type": int,
        "metavar": "N",
        "help": "put the rows into at most N cells by all useful columns, numbers too, and release "
        "cells; not for oue and srlip",
    },
)
BUILD = (
    CELLS,
    Option(
        ("--target",),
        "utility",
        {
            "metavar": "COL",
            "help": "for orr: keep what the useful column tells about this column, which is only "
            "counted; at most 100 values. With --cells, for all: learn cells that predict it",
        },
        means="target",
        for_cells=True,
    ),
    Option(
        ("--see-sensitive",),
        "use_sensitive",
        {
            "action": "store_const",
            "const": True,
            "help": "for orr: let the mechanism look at the sensitive column, too; it keeps more, "
            "and treats rows differently by their sensitive value",
        },
    ),
    Option(
        ("--categories",),
        "categories",
        {
            "action": "append",
            "metavar": "LIST",
            "help": "all values that a column may hold, as COL=a,b,c, or a JSON file of columns "
            "and lists; may be repeated. Rows with other values are refused",
        },
        read=read_categories,
    ),
    Option(
        ("--min-count",),
        "min_count",
        {
            "type": int,
            "metavar": "N",
            "help": "pool values of the useful column with fewer than N rows",
        },
    ),
    Option(
        ("--smoothing",),
        "smoothing",
        {"type": float, "help": "pseudo-count added to every pair of values"},
    ),
    Option(
        ("--confidence",),
        "confidence",
        {
            "type": float,
            "help": "for example 0.95: keep the budget for the true distribution with this "
            "probability",
        },
    ),
    Option(
        ("--time-limit",),
        "time_limit",
        {"type": float, "help": "seconds for the search of orr, srr and srlip"},
    ),
    Option(
        ("--strategy",),
        "strategy",
        {"choices": ["optimal", "product"], "help": "strategy of srlip"},
    ),
    Option(
        ("--order",),
        "order",
        {
            "choices": ["ignore", "preserve"],
            "help": "for subset-merging: merge any values, or only neighbours, so that groups are "
            "ranges of numbers or dates; default ignore",
        },
    ),
    Option(
        ("--delta",),
        "delta",
        {"type": float, "help": "for watchdog: probability with which the budget may be exceeded"},
    ),
)
RELEASE = (
    Option(
        ("--output-kind", "--output"),
        "output",
        {
            "choices": ["label", "code", "posterior", "typical", "bits"],
            "help": "form of the released values; typical: rows of the useful columns, with the "
            "median number or the most common value",
        },
    ),
    Option(
        ("--handle-unknown",),
        "handle_unknown",
        {
            "choices": ["error", "resample"],
            "help": "what to do with values that are not in --fit-on",
        },
    ),
    Option(
        ("--record-id",),
        "record_id",
        {
            "metavar": "COL",
            "help": "column of ids, which is not released: rows with the same id get the same "
            "value",
        },
    ),
    Option(
        ("--key-file",),
        "secret",
        {
            "metavar": "FILE",
            "help": "for --record-id: file, or env:NAME for an environment variable, with a secret "
            "key of at least 16 random bytes, with which a record gets the same value in every "
            "release by this mechanism",
        },
    ),
)
