"""Cells of a file: learnt from a random sample of its rows, before these are counted."""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._arrays import Label
from ..cells import Cells, RowChoice, Sample, learn_cells
from ..frames import Table, encode_rows, ranked
from ._console import Console
from ._errors import CommandError
from ._frames import joined, taken
from ._hints import hints
from ._inputs import target_of
from ._numbers import NumberColumns
from ._sources import Source
from ._target import TargetColumn

__all__ = ["Learnt", "LearningRows", "draw_rows", "learn"]


@dataclass(frozen=True)
class Learnt:
    """What rows are reduced to, and which of them are counted.

    Attributes
    ----------
    cells : Cells
        The cells.
    numbers : NumberColumns
        The columns that are numbers.
    left_out : ndarray of int
        Numbers of the rows that are not counted, because the cells were learnt from them.
    sensitive : list of labels
        Sensitive values of the rows that they were learnt from.
    """

    cells: Cells
    numbers: NumberColumns
    left_out: NDArray[np.intp]
    sensitive: list[Label]

    def counted(self, frames: Iterator[Any], source: Source) -> Iterator[Any]:
        """Yield the rows of a file that are counted, ready to be put into cells.

        Parameters
        ----------
        frames : iterator of frames
            All rows of the file that the cells were learnt from.
        source : Source
            The file.
        """
        start = 0
        for frame in frames:
            end = start + len(frame)
            first, last = np.searchsorted(self.left_out, [start, end])
            if first < last:
                gone = self.left_out[first:last] - start
                frame = taken(frame, np.setdiff1d(np.arange(end - start), gone))
            start = end
            if len(frame):
                yield self.numbers.read(frame, source.name)


@dataclass(frozen=True)
class LearningRows:
    """Rows of a file that cells may be learnt from.

    Attributes
    ----------
    frame : pandas data frame or pyarrow table
        The rows.
    choice : RowChoice
        Which rows they are.
    source : Source
        The file.
    args : Namespace
        Which columns play which part.
    """

    frame: Any
    choice: RowChoice
    source: Source
    args: argparse.Namespace

    def learn(self, *, apart: bool) -> Learnt:
        """Learn cells.

        Parameters
        ----------
        apart : bool
            Whether the rows that they are learnt from shall not be counted.
        """
        args = self.args
        frame = taken(self.frame, self.choice.places(apart=apart))
        numbers = NumberColumns.found_in(frame, args.useful)
        for hint in hints(frame, args.useful):
            warnings.warn(hint, UserWarning, stacklevel=2)
        part = Table(numbers.read(frame, self.source.name))
        target = None
        for name in target_of(args):
            target = ranked(encode_rows([TargetColumn(name, self.source).read(part)]))
        sensitive, found = encode_rows([part.column(name) for name in args.sensitive])
        columns = [part.column(name) for name in args.useful]
        sample = Sample(args.useful, columns, sensitive, target)
        cells = learn_cells(args.cells, sample, apart=apart)
        left_out = self.choice.rows(apart=True) if apart else np.empty(0, dtype=np.intp)
        return Learnt(cells, numbers, left_out, found)


def learn(source: Source, args: argparse.Namespace, console: Console) -> Learnt | None:
    """Learn the cells that --cells asks for, if it does; with --confidence from rows apart."""
    if args.cells is None:
        return None
    return draw_rows(source, args, console).learn(apart=args.confidence is not None)


def draw_rows(source: Source, args: argparse.Namespace, console: Console) -> LearningRows:
    """Read a file and hold a random sample of its rows.

    The sample decides nothing but cells, so its seed is fixed.

    Parameters
    ----------
    source : Source
        The file.
    args : Namespace
        Which columns.
    console : Console
        Shows progress.
    """
    choice = RowChoice()
    held: list[Any] = []
    targets = [TargetColumn(name, source) for name in target_of(args)]
    needed = [*args.sensitive, *args.useful, *target_of(args)]
    for frame in source.batches(needed, lambda done: console.progress.bar("sampling", done)):
        for target in targets:
            target.read(Table(frame, allow_empty=True))
        held.append(taken(frame, choice.add(len(frame))))
        if choice.crowded:
            held = [taken(joined(held), choice.thin())]
    if not choice.n_rows:
        raise CommandError(f"{source.name} has no rows below its header.")
    return LearningRows(joined(held), choice, source, args)
