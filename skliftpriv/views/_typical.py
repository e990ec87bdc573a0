"""Typical rows: what is released for each output, if rows of the original columns are."""

from __future__ import annotations

from dataclasses import dataclass

from .._format import share
from ..estimators import ReleasingShell, SymbolReleaser
from ..labels import symbol_text
from ._picked import Picked, pick
from ._release import ChannelView

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
    sanitizer: ReleasingShell, release: ChannelView, most: int, most_columns: int
) -> TypicalTable | None:
    """Describe the rows that a sanitiser releases.

    Parameters
    ----------
    sanitizer : sanitiser
        Fitted or loaded.
    release : ChannelView
        Its release.
    most, most_columns : int
        How many outputs and columns are shown.

    Returns
    -------
    TypicalTable or None
        None if something else than typical rows is released.
    """
    releaser = sanitizer.release_.releaser
    if sanitizer.output != "typical" or not isinstance(releaser, SymbolReleaser):
        return None
    names = releaser.layout.useful_names
    rows = releaser.typical
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
