"""Lists and numbers as parts of a sentence."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

__all__ = ["listed", "plural", "what_is_released", "what_tells"]


def listed(names: Sequence[str]) -> str:
    """Join names by commas and "and".

    Examples
    --------
    >>> from skliftpriv.cli._words import listed
    >>> listed(["age", "race", "sex"])
    'age, race and sex'
    """
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last


def plural(n: int, noun: str) -> str:
    """Write a number with its noun.

    Examples
    --------
    >>> from skliftpriv.cli._words import plural
    >>> plural(1, "row"), plural(2000, "row")
    ('1 row', '2,000 rows')
    """
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"


def what_is_released(args: argparse.Namespace) -> str:
    """Write what a release is made of: the useful columns, or cells of them.

    Examples
    --------
    >>> from argparse import Namespace
    >>> from skliftpriv.cli._words import what_is_released
    >>> what_is_released(Namespace(useful=["age", "job"], cells=None))
    'age and job'
    >>> what_is_released(Namespace(useful=["age", "job"], cells=8))
    'cells of 2 columns'
    """
    if args.cells is None:
        return listed(args.useful)
    n = len(args.useful)
    return f"cells of {args.useful[0] if n == 1 else f'{n} columns'}"


def what_tells(args: argparse.Namespace, *, seen: bool) -> str:
    """Write what is known about the target: from the useful columns, and from S where it is seen.

    Examples
    --------
    >>> from argparse import Namespace
    >>> from skliftpriv.cli._words import what_tells
    >>> args = Namespace(useful=["job"], sensitive=["sex"], target="income", cells=None)
    >>> what_tells(args, seen=False)
    'job tells about income'
    """
    useful = args.useful if args.cells is None else [what_is_released(args)]
    columns = [*useful, *args.sensitive] if seen else useful
    verb = "tells" if len(columns) == 1 and args.cells is None else "tell"
    return f"{listed(columns)} {verb} about {args.target}"
