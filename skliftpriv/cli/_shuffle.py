"""Rows in random order, in bounded memory: the order of a file may give S away."""

from __future__ import annotations

import pickle
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from ._frames import joined, taken
from ._writers import Writer

__all__ = ["ShuffledWriter", "random_order"]

#: A power of two, so that bits of a random word choose one without rounding.
_N_HEAPS = 64
#: Bytes of a heap that is shuffled at once; a larger one is scattered again.
_MOST_BYTES = 1 << 26
#: A heap that is still too large after this has rows that cannot be parted.
_MOST_DEPTH = 3

Words = Callable[[int], NDArray[np.uint32]]


def random_order(n: int, words: Words) -> NDArray[np.intp]:
    """Return one of all orders of n rows, each with the same probability.

    Parameters
    ----------
    n : int
        Number of rows.
    words : callable
        Draws that many random words of 32 bits, see :func:`skliftpriv.sampling.word_source`.
    """
    while True:
        keys = words(2 * n).view(np.uint64)
        order = np.argsort(keys)
        # Distinct keys are in any order equally likely; equal ones are drawn again.
        if n < 2 or np.diff(keys[order]).all():
            return order


class ShuffledWriter:
    """Takes rows in parts, and writes all of them in random order at the end.

    Every row goes to a heap on disk that is drawn at random. Then heap after heap is put in
    random order and written, which makes all orders of all rows equally likely. The heaps have no
    names, so they vanish with the process.

    Parameters
    ----------
    words : callable
        Draws random words, see :func:`skliftpriv.sampling.word_source`.
    n_rows : int
        Rows of a part to write.
    depth : int, default=0
        How often these rows were scattered before.
    """

    def __init__(self, words: Words, n_rows: int, depth: int = 0) -> None:
        self._words = words
        self._n_rows = n_rows
        self._depth = depth
        self._stack = ExitStack()
        self._heaps: list[IO[bytes]] = []

    def __enter__(self) -> ShuffledWriter:
        self._heaps = [self._new_heap() for _ in range(_N_HEAPS)]
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def _new_heap(self) -> IO[bytes]:
        return self._stack.enter_context(tempfile.TemporaryFile(prefix="skliftpriv-"))

    def write(self, frame: Any) -> None:
        """Take some rows, a pandas data frame or a pyarrow table."""
        drawn = self._words(len(frame)) % np.uint32(_N_HEAPS)
        order = np.argsort(drawn, kind="stable")
        ends = np.cumsum(np.bincount(drawn, minlength=_N_HEAPS))
        for heap, rows in zip(self._heaps, np.split(order, ends[:-1]), strict=True):
            if rows.size:
                pickle.dump(taken(frame, rows), heap, protocol=5)

    def finish(self, writer: Writer) -> None:
        """Write all rows.

        Parameters
        ----------
        writer : Writer
            Where to write them.
        """
        for heap in self._heaps:
            if heap.tell() > _MOST_BYTES and self._depth < _MOST_DEPTH:
                with ShuffledWriter(self._words, self._n_rows, self._depth + 1) as smaller:
                    for frame in _parts(heap):
                        smaller.write(frame)
                    smaller.finish(writer)
            else:
                self._write_heap(list(_parts(heap)), writer)
            heap.close()

    def _write_heap(self, frames: list[Any], writer: Writer) -> None:
        if not frames:
            return
        rows = joined(frames)
        order = random_order(len(rows), self._words)
        for start in range(0, len(rows), self._n_rows):
            writer.write(taken(rows, order[start : start + self._n_rows]))


def _parts(heap: IO[bytes]) -> Iterator[Any]:
    end = heap.tell()
    heap.seek(0)
    while heap.tell() < end:
        yield pickle.load(heap)
