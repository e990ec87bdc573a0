"""Files that appear together when all of them are written, or not at all."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from ._errors import CommandError
from ._signals import uninterrupted

__all__ = ["OutputFiles", "in_place"]

#: Files that this command has put in their places, for whoever has to say so after an interrupt.
in_place: list[str] = []


@dataclass
class _Pending:
    """A file that is written beside its place.

    Attributes
    ----------
    target, written : Path
        Where it belongs, and where it is until then.
    before : Path or None
        What stood there earlier, until all files are in their places.
    moved : bool
        Whether it is in its place.
    """

    target: Path
    written: Path
    before: Path | None = None
    moved: bool = False

    def move(self) -> None:
        """Put the file in its place, in one step, and keep what stood there."""
        if self.target.exists():
            before = self.written.with_suffix(".old")
            try:
                os.link(self.target, before)
            except OSError:  # a file system without links
                shutil.copy2(self.target, before)
            self.before = before
        os.replace(self.written, self.target)
        self.moved = True

    def undo(self) -> None:
        """Restore what stood there, or nothing."""
        self.written.unlink(missing_ok=True)
        if self.moved and self.before is not None:
            os.replace(self.before, self.target)
        elif self.moved:
            self.target.unlink(missing_ok=True)
        self.forget()

    def forget(self) -> None:
        """Remove what stood there earlier."""
        if self.before is not None:
            self.before.unlink(missing_ok=True)


class OutputFiles:
    """Writes files beside their places and moves all of them there at the end.

    An error on the way removes what was written and leaves what stood there before.

    Parameters
    ----------
    *inputs : str
        Files that are read, and must not be written.

    Examples
    --------
    >>> from skliftpriv.cli._outputs import OutputFiles
    >>> with OutputFiles() as files:
    ...     _ = files.place("table.csv").write_text("a,b")
    >>> open("table.csv").read()
    'a,b'
    """

    def __init__(self, *inputs: str) -> None:
        self._inputs = [Path(path).resolve() for path in inputs]
        self._files: list[_Pending] = []

    def place(self, path: str | Path) -> Path:
        """Return where to write a file that shall appear at ``path``."""
        # Through links: the file that a link leads to is replaced, and the link stays.
        target = Path(path).resolve()
        if target.exists() and not stat.S_ISREG(target.stat().st_mode):
            raise CommandError(
                f"{path} is not a regular file: choose another name, or - for standard output."
            )
        if any(target == read or _same(target, read) for read in self._inputs):
            raise CommandError(
                f"{path} is the input, which is never overwritten: choose another name."
            )
        if any(target == file.target for file in self._files):
            raise CommandError(
                f"{path} is given for two outputs: choose another name for one of them."
            )
        if not target.parent.is_dir():
            raise CommandError(
                f"{path}: the folder {target.parent} does not exist; create it first."
            )
        # A signal between would leave a file that nobody knows of.
        with uninterrupted():
            try:
                handle, name = tempfile.mkstemp(".tmp", f".{target.name}.", target.parent)
            except OSError as error:
                reason = os.strerror(error.errno or 0)
                raise CommandError(f"{path} cannot be written: {reason}.") from error
            self._files.append(_Pending(target, Path(name)))
            os.close(handle)
            os.chmod(name, _mode(target))
        return Path(name)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        # A signal waits until all files are in their places, or all as they were before.
        with uninterrupted():
            try:
                if error is None:
                    for file in self._files:
                        file.move()
                    in_place.extend(str(file.target) for file in self._files)
            except BaseException:
                self._undo()
                raise
            if error is not None:
                self._undo()
            for file in self._files:
                file.forget()

    def _undo(self) -> None:
        for file in reversed(self._files):
            file.undo()


def _same(target: Path, read: Path) -> bool:
    return target.exists() and read.exists() and target.samefile(read)


def _mode(target: Path) -> int:
    """Return the mode of the file that is replaced, or of one that is made in the usual way."""
    if target.exists():
        return stat.S_IMODE(target.stat().st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
