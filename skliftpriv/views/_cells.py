"""The cells of a table: their rules, what they say about S, and what becomes of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._format import factor, share
from ..channel import symbol_text
from ._picked import Picked, pick
from ._release import ReleaseView

__all__ = ["CellRow", "cell_rows"]

#: Smaller shares of an output are due to the certificate, and not named.
_NAMED = 1e-6
_MEMBERS = 3


@dataclass(frozen=True)
class CellRow:
    """One cell as it is shown.

    Attributes
    ----------
    rule : str
        What its rows have in common.
    rows : str
        Its share of the rows.
    says : str
        The sensitive value that it changes most, and by which factor.
    outside : bool
        Whether this is outside the budget.
    becomes : str
        The cells that its most probable output may stand for, and how often it has this output.
    """

    rule: str
    rows: str
    says: str
    outside: bool
    becomes: str


def cell_rows(release: ReleaseView, most: int) -> tuple[list[CellRow], Picked]:
    """Describe the most common cells of a release.

    Parameters
    ----------
    release : ReleaseView
        A release of cells.
    most : int
        How many cells are shown.

    Returns
    -------
    rows : list of CellRow
        The most common first.
    picked : Picked
        Which cells they are.
    """
    joint, logs = release.joint, release.log_lift_before
    outside = release.outside(logs)
    picked = pick(joint.p_x, most)
    rows = []
    for x in picked.shown:
        s = int(np.argmax(np.abs(logs[:, x])))
        rows.append(
            CellRow(
                rule=symbol_text(joint.useful_labels[x]),
                rows=share(float(joint.p_x[x]), fine=True),
                says=f"{symbol_text(joint.sensitive_labels[s])} × {factor(float(logs[s, x]))}",
                outside=bool(outside[:, x].any()),
                becomes=_becomes(release, int(x)),
            )
        )
    return rows, picked


def _becomes(release: ReleaseView, x: int) -> str:
    """Say which cells the most probable output of a cell may stand for, and how often it is it."""
    y = int(np.argmax(release.matrix[x]))
    masses = release.flows[:, y] / release.flows[:, y].sum()
    members = np.flatnonzero(masses > _NAMED)
    members = members[np.argsort(-masses[members], kind="stable")]
    names = [_short(symbol_text(release.joint.useful_labels[i])) for i in members]
    shown = [
        f"{name} {share(float(masses[i]), whole=True)}"
        for i, name in zip(members[:_MEMBERS], names, strict=False)
    ]
    more = [f"{members.size - _MEMBERS} more"] if members.size > _MEMBERS else []
    said = names[0] if members.size == 1 else "{" + ", ".join(shown + more) + "}"
    return f"{said}, {share(float(release.matrix[x, y]))} of its rows"


def _short(rule: str) -> str:
    """Return the number of a rule; other names of cells are short."""
    return rule.partition(" ")[0] if rule.startswith("#") else rule
