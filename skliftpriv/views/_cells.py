"""The cells of a table: their rules, what they say about S, and what becomes of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._format import factor, share
from ..labels import symbol_text
from ._mixtures import mixture_name
from ._picked import Picked, pick
from ._release import ChannelView, ReleaseView

__all__ = ["CellRow", "cell_rows"]


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
        The sensitive value that it changes most, and by which factor; nothing if that is not known.
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


def cell_rows(release: ChannelView, most: int) -> tuple[list[CellRow], Picked]:
    """Describe the most common cells of a release.

    Parameters
    ----------
    release : ChannelView
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
    picked = pick(release.p_x, most)
    rows = []
    for x in picked.shown:
        says, outside = _says(release, int(x)) if isinstance(release, ReleaseView) else ("", False)
        rows.append(
            CellRow(
                rule=symbol_text(release.inputs[x]),
                rows=share(float(release.p_x[x]), fine=True),
                says=says,
                outside=outside,
                becomes=_becomes(release, int(x)),
            )
        )
    return rows, picked


def _says(release: ReleaseView, x: int) -> tuple[str, bool]:
    """Say what a cell tells about S, and whether any of it is outside the budget."""
    logs = release.log_lift_before[:, x]
    s = int(np.argmax(np.abs(logs)))
    name = symbol_text(release.joint.sensitive_labels[s])
    return f"{name} × {factor(float(logs[s]))}", bool(release.outside(logs).any())


def _becomes(release: ChannelView, x: int) -> str:
    """Say which cells the most probable output of a cell may stand for, and how often it is it."""
    y = int(np.argmax(release.matrix[x]))
    said = mixture_name(release.inputs, release.flows[:, y])
    return f"{said}, {share(float(release.matrix[x, y]))} of its rows"
