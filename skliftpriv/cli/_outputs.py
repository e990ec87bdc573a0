"""Files that appear together when all of them are written, or not at all."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import Self

from ..files import PendingFile, PendingFolder, resolved
from ._errors import CommandError
from ._signals import uninterrupted

__all__ = ["OutputFiles", "in_place"]

#: Files that this command has put in their places, for whoever has to say so after an interrupt.
in_place: list[str] = []


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
        self._files: list[PendingFile | PendingFolder] = []

    def place(self, path: str | Path) -> Path:
        """Return where to write a file that shall appear at ``path``."""
        return self._place(path, resolved(path), PendingFile)

    def place_folder(self, path: str | Path) -> Path:
        """Return an empty folder for files that shall appear in a folder at ``path``."""
        return self._place(path, Path(path).resolve(), PendingFolder)

    def _place(
        self, path: str | Path, target: Path, kind: type[PendingFile] | type[PendingFolder]
    ) -> Path:
        if any(read in target.parents for read in self._inputs):
            raise CommandError(
                f"{path} is in the folder that is read, and would become part of it: choose "
                "another place."
            )
        if any(target == read or _same(target, read) for read in self._inputs):
            raise CommandError(f"{path} is read here, and never overwritten: choose another name.")
        if any(target == file.target for file in self._files):
            raise CommandError(
                f"{path} is given for two outputs: choose another name for one of them."
            )
        # A signal between would leave a file that nobody knows of.
        with uninterrupted():
            file = kind.beside(path)
            self._files.append(file)
        return file.written

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
