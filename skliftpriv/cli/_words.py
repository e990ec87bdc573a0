"""Lists and numbers as parts of a sentence."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

__all__ = ["listed", "plural", "what_tells"]


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


def what_tells(args: argparse.Namespace, *, seen: bool) -> str:
    """Write what is known about the target: from the useful columns, and from S where it is seen.

    Examples
    --------
    >>> from argparse import Namespace
    >>> from skliftpriv.cli._words import what_tells
    >>> what_tells(Namespace(useful=["job"], sensitive=["sex"], target="income"), seen=False)
    'job tells about income'
    """
    columns = [*args.useful, *args.sensitive] if seen else args.useful
    return f"{listed(columns)} {'tells' if len(columns) == 1 else 'tell'} about {args.target}"
