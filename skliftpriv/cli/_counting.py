"""Counting a file part by part: what every command starts with."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager

from ..estimators import CountedRows, CountingPlan, counted_columns
from ..exceptions import SkliftprivError
from ..frames import ContingencyTable, RowOrder, Table
from ._console import Console
from ._errors import CommandError
from ._inputs import layout_of, target_of
from ._learning import Learnt
from ._order import in_order
from ._sources import Source
from ._target import TargetColumn
from ._words import listed

__all__ = ["checked_again", "checked_counts", "count_rows"]


def count_rows(
    source: Source,
    args: argparse.Namespace,
    console: Console,
    *,
    learnt: Learnt | None = None,
    with_target: bool = True,
    order: RowOrder | None = None,
) -> CountedRows:
    """Count the pairs of S and X in a file, with the target if there is one, but hold no rows.

    Parameters
    ----------
    source : Source
        The file.
    args : Namespace
        Which columns.
    console : Console
        Shows progress.
    learnt : Learnt, optional
        Cells that were learnt from the same file, and are counted instead of values.
    with_target : bool, default=True
        Whether the target is counted; otherwise cells were learnt for it, and no more.
    order : RowOrder, optional
        Gets the sensitive columns, to test whether the order of the rows reveals them.
    """
    targets = target_of(args) if with_target else []
    parts = [*args.sensitive, *args.useful, *targets]
    needed = [name for name in source.columns if name in parts]
    layout = layout_of(source, args)
    target = TargetColumn(targets[0], source) if targets else None
    frames = source.batches(needed, lambda done: console.progress.bar("counting", done))
    plan = CountingPlan(None if learnt is None else learnt.cells)
    rows: CountedRows | None = None
    with checked_again(source):
        for frame in frames if learnt is None else learnt.counted(frames, source):
            part = Table(frame, allow_empty=True)
            columns = (layout.sensitive_columns(part), layout.useful_columns(part))
            if order is not None:
                order.add(columns[0])
            y = None if target is None else target.read(part)
            counted = counted_columns(columns, layout, y=y, plan=plan)
            rows = counted if rows is None else rows + counted
    checked_counts(None if rows is None else rows.counts, source, args)
    assert rows is not None
    return in_order(rows, source, args) if learnt is None else rows.expecting(learnt.sensitive)


@contextmanager
def checked_again(source: Source) -> Iterator[None]:
    """Say that a file changed, rather than what is wrong with it, if it was read before."""
    try:
        yield
    except (SkliftprivError, ValueError):
        source.check()
        raise


def checked_counts(
    counts: ContingencyTable | None, source: Source, args: argparse.Namespace
) -> ContingencyTable:
    """Return counts that a command can work with, or raise an error that says what is missing."""
    if counts is None or not counts.n_rows:
        raise CommandError(f"{source.name} has no rows below its header.")
    if len(counts.sensitive) < 2:
        raise CommandError(
            f"{listed(args.sensitive)} has only one value in {source.name}: there is nothing to "
            "protect."
        )
    return counts
