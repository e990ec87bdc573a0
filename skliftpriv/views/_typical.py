"""Typical rows: what is released for each output, if rows of the original columns are."""

from __future__ import annotations

from dataclasses import dataclass

from .._format import share
from ..channel import symbol_text
from ..estimators import LiftSanitizer, typical_rows
from ._picked import Picked, pick
from ._release import ReleaseView

__all__ = ["TypicalTable", "typical_table"]


@dataclass(frozen=True)
class TypicalTable:
    """The typical rows of the most common outputs.

    Attributes
    ----------
    columns : list of str
        Names of the columns that are shown.
    rows : list of pairs of str and list of str
        How often an output is released, and the values of its row.
    picked : Picked
        Which outputs they are.
    n_columns, n_rows : int
        How many columns and different rows there are in all.
    """

    columns: list[str]
    rows: list[tuple[str, list[str]]]
    picked: Picked
    n_columns: int
    n_rows: int


def typical_table(
    sanitizer: LiftSanitizer, release: ReleaseView, most: int, most_columns: int
) -> TypicalTable | None:
    """Describe the rows that a sanitiser releases.

    Parameters
    ----------
    sanitizer : fitted sanitiser
        Any estimator.
    release : ReleaseView
        Its release.
    most, most_columns : int
        How many outputs and columns are shown.

    Returns
    -------
    TypicalTable or None
        None if something else than typical rows is released.
    """
    if sanitizer.output != "typical" or sanitizer.channel_ is None:
        return None
    names = sanitizer.layout_.useful_names
    cells = sanitizer.counted_.cells
    rows = typical_rows(sanitizer.channel_, sanitizer.joint_.p_x, cells)
    picked = pick(release.p_y, most)
    return TypicalTable(
        columns=names[:most_columns],
        rows=[
            (
                share(float(release.p_y[y]), fine=True),
                [symbol_text(value) for value in rows[y][:most_columns]],
            )
            for y in picked.shown
        ],
        picked=picked,
        n_columns=len(names),
        n_rows=len(set(rows)),
    )
