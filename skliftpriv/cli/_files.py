"""The bytes of an input: from a file or a pipe, packed or not, and the same every time."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import IO, Any, BinaryIO

from ._errors import CommandError

__all__ = ["PACKED", "STREAM", "InputFile", "Meter", "Shown", "is_packed", "open_input"]

STREAM = "-"
PACKED = ".gz"

#: Called with the share of a file that is read.
Shown = Callable[[float], None]

#: Bytes of a part: more would hardly fit into memory once they are values.
_MOST_BYTES = 1 << 30


class InputFile:
    """A file that is read more than once, and must not change between.

    Parameters
    ----------
    path : str
        The file, or a folder of files; its name in messages, too.
    spool : binary file, optional
        Where its bytes are instead, if it can be read only once.
    """

    def __init__(self, path: str, spool: IO[bytes] | None = None) -> None:
        self.path = path
        self.name = "standard input" if path == STREAM else path
        self._spool = spool
        self._stamp = self._now()

    def _now(self) -> tuple[Any, ...]:
        if self._spool is None and os.path.isdir(self.path):
            held = sorted(
                os.path.join(top, name) for top, _, names in os.walk(self.path) for name in names
            )
            return self.path, *((name, *_stamp(name)) for name in held)
        return _stamp(self.path if self._spool is None else self._spool.fileno())

    @property
    def size(self) -> int:
        """Its bytes, packed as they are."""
        return self._stamp[2]

    def check(self) -> None:
        """Refuse the file if it is not the one that was opened any more."""
        try:
            same = self._now() == self._stamp
        except FileNotFoundError:
            same = False
        if not same:
            raise self.changed()

    def changed(self) -> CommandError:
        """Return the error to raise for a file that changed."""
        return CommandError(
            f"{self.name} changed while it was read: run the command again when nothing writes to "
            "it."
        )

    @contextmanager
    def from_start(self) -> Iterator[BinaryIO]:
        """Open the file at its first byte, packed as it is."""
        if self._spool is not None:
            self._spool.seek(0)
        with nullcontext(self._spool) if self._spool else open(self.path, "rb") as raw:
            yield raw  # type: ignore[misc]

    @contextmanager
    def unpacked(self) -> Iterator[tuple[BinaryIO, BinaryIO]]:
        """Open the file at its first byte, and return it unpacked and as it is."""
        with self.from_start() as raw:
            if not is_packed(self.path):
                yield raw, raw
                return
            with gzip.open(raw, "rb") as file:
                yield file, raw  # type: ignore[misc]


class Meter(io.RawIOBase):
    """Bytes on their way: what they amount to, and a digest of all of them.

    Parameters
    ----------
    file : binary file
        What is read.
    name : str
        What messages call it.
    """

    def __init__(self, file: BinaryIO, name: str) -> None:
        self._file = file
        self._name = name
        self._hash = hashlib.sha256()
        self._in_part = 0

    def readable(self) -> bool:
        """Return True: this is for reading only."""
        return True

    # The stubs ask for any writable buffer; io.BufferedReader, the only caller, has memoryviews.
    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """Fill a buffer with what comes next."""
        n: int = self._file.readinto(buffer)  # type: ignore[attr-defined]
        self._hash.update(buffer[:n])
        self._in_part += n
        if self._in_part > _MOST_BYTES:
            raise CommandError(
                f"{self._name}: the rows of one chunk take more than {_MOST_BYTES >> 20} MB; use a "
                "smaller --chunk-rows."
            )
        return n

    def next_part(self) -> None:
        """Start a new part."""
        self._in_part = 0

    def digest(self) -> bytes:
        """Read what is left, and return the digest of all bytes."""
        while self.readinto(memoryview(bytearray(1 << 16))):
            pass
        return self._hash.digest()


def _stamp(file: str | int) -> tuple[int, ...]:
    found = os.stat(file)
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def is_packed(path: str) -> bool:
    """Tell whether a file is packed by gzip."""
    return path.lower().endswith(PACKED)


@contextmanager
def open_input(path: str) -> Iterator[InputFile]:
    """Find a file, or keep standard input in a file that has no name.

    Parameters
    ----------
    path : str
        The file; ``"-"`` is standard input. It is read twice and may hold S, so it is kept where
        nobody else can open it, and where it vanishes with the process, however that ends.
    """
    if path != STREAM:
        mode = os.stat(path).st_mode
        if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
            raise CommandError(
                f"{path} is not a regular file: choose another, or use - to read standard input."
            )
        yield InputFile(path)
        return
    with tempfile.TemporaryFile(prefix="skliftpriv-") as spool:
        shutil.copyfileobj(_standard_input(), spool)
        spool.flush()
        yield InputFile(path, spool)


def _standard_input() -> Any:
    if sys.stdin is None:
        raise CommandError("Standard input is closed: pipe CSV into it, or read from a file.")
    return sys.stdin.buffer
