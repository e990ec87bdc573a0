"""The sides of a notion: what their levels are called, and which measures they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["MAX_LIFT", "MIN_LIFT", "RATIO", "SIDES", "Side"]

MIN_LIFT, MAX_LIFT, RATIO = "min_lift", "max_lift", "ldp"


@dataclass(frozen=True)
class Side:
    """How one side of a notion is shown.

    .. versionadded:: 0.2

    Attributes
    ----------
    title : str
        What its level is called in a table.
    short : str
        The same in the title of a picture, behind the name of the notion.
    measure : str or None
        The measure of a report that the level is, such as "ldp"; None if it is another number.
    sign : {1, -1}
        -1 if the level is minus that measure.
    """

    title: str
    short: str
    measure: str | None = None
    sign: Literal[1, -1] = 1


#: Sides that any notion may have, because reports measure them.
SIDES = {
    MIN_LIFT: Side("minus min log-lift", MIN_LIFT, "min_log_lift", -1),
    MAX_LIFT: Side("max log-lift", MAX_LIFT, "max_log_lift"),
    RATIO: Side("LDP level of S", "level", "ldp"),
}
