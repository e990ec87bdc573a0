"""Files that appear in their places whole, or not at all."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from ..exceptions import InvalidParameterError

__all__ = ["PendingFile", "PendingFolder", "resolved", "write_whole"]


@dataclass
class PendingFile:
    """A file that is written beside its place.

    Attributes
    ----------
    target, written : Path
        Where it belongs, and where it is until then.
    before : Path or None
        What stood there earlier, until it is forgotten.
    moved : bool
        Whether it is in its place.
    """

    target: Path
    written: Path
    before: Path | None = None
    moved: bool = False

    @classmethod
    def beside(cls, path: str | os.PathLike[str]) -> Self:
        """Make an empty file in the folder of the file that it will replace."""
        target = resolved(path)
        if not target.parent.is_dir():
            raise InvalidParameterError(
                f"{os.fspath(path)}: the folder {target.parent} does not exist; create it first."
            )
        try:
            handle, name = tempfile.mkstemp(".tmp", f".{target.name}.", target.parent)
        except OSError as error:
            reason = os.strerror(error.errno or 0)
            raise InvalidParameterError(
                f"{os.fspath(path)} cannot be written: {reason}."
            ) from error
        os.close(handle)
        return cls(target, Path(name))

    def move(self, *, keep: bool = True) -> None:
        """Put the file in its place, in one step.

        Parameters
        ----------
        keep : bool, default=True
            Whether to keep what stood there until :meth:`forget`, for :meth:`undo`.
        """
        _flush(self.written)
        with suppress(OSError):  # a file system without modes
            os.chmod(self.written, _mode(self.target))
        if keep and self.target.exists():
            before = self.written.with_suffix(".old")
            try:
                os.link(self.target, before)
            except OSError:  # a file system without links
                shutil.copy2(self.target, before)
            self.before = before
        os.replace(self.written, self.target)
        self.moved = True
        _flush(self.target.parent)

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


@dataclass
class PendingFolder:
    """A folder that is filled beside its place, which must be free.

    Attributes
    ----------
    target, written : Path
        Where it belongs, and where it is until then.
    moved : bool
        Whether it is in its place.
    """

    target: Path
    written: Path
    moved: bool = False

    @classmethod
    def beside(cls, path: str | os.PathLike[str]) -> Self:
        """Make an empty folder beside the place where it belongs."""
        target = Path(path).resolve()
        if target.exists() and (not target.is_dir() or any(target.iterdir())):
            raise InvalidParameterError(
                f"{os.fspath(path)} exists and is not an empty folder: choose another name, or "
                "remove it."
            )
        # Names that begin with a dot are not part of a table in the folder around it.
        try:
            name = tempfile.mkdtemp(".tmp", f".{target.name}.", target.parent)
        except OSError as error:
            reason = os.strerror(error.errno or 0)
            raise InvalidParameterError(
                f"{os.fspath(path)} cannot be written: {reason}."
            ) from error
        return cls(target, Path(name))

    def move(self) -> None:
        """Put the folder in its place, in one step."""
        for file in self.written.iterdir():
            _flush(file)
        with suppress(OSError):  # a file system without modes
            os.chmod(self.written, 0o777 & ~_mask())
        if self.target.exists():
            self.target.rmdir()
        os.rename(self.written, self.target)
        self.moved = True
        _flush(self.target.parent)

    def undo(self) -> None:
        """Remove what was written."""
        shutil.rmtree(self.target if self.moved else self.written, ignore_errors=True)

    def forget(self) -> None:
        """Do nothing, since nothing stood there earlier."""


def resolved(path: str | os.PathLike[str]) -> Path:
    """Return where a file belongs, through links: the link stays, and its target is replaced."""
    if not isinstance(path, str | os.PathLike) or not os.fspath(path):
        raise InvalidParameterError(f"path must be the name of a file, not {path!r}.")
    try:
        target = Path(path).resolve()
        mode = target.stat().st_mode if target.exists() else stat.S_IFREG
    except (OSError, RuntimeError, ValueError) as error:  # loops of links, names that cannot be
        reason = getattr(error, "strerror", None) or str(error).partition(" from ")[0]
        raise InvalidParameterError(f"{path!r} cannot be written: {reason}.") from error
    if not stat.S_ISREG(mode):
        raise InvalidParameterError(
            f"{os.fspath(path)} is not a regular file: choose another name."
        )
    return target


def write_whole(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a file that is whole or, after a failure, what it was before.

    Parameters
    ----------
    path : str or path
        The file; one that exists is replaced and keeps its mode.
    data : bytes
        What it shall hold.
    """
    file = PendingFile.beside(path)
    try:
        file.written.write_bytes(data)
        file.move(keep=False)
    except BaseException:
        file.written.unlink(missing_ok=True)
        raise


def _flush(path: Path) -> None:
    """Wait until a file, or the list of files of a folder, is on the disk."""
    if path.is_file():
        with path.open("r+b") as file:
            os.fsync(file.fileno())
        return
    with suppress(OSError):  # Windows opens no folders
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _mode(target: Path) -> int:
    """Return the mode of the file that is replaced, or of one that is made in the usual way."""
    if target.exists():
        return stat.S_IMODE(target.stat().st_mode)
    return 0o666 & ~_mask()


def _mask() -> int:
    # It can be read only by setting it, for all threads: their files are private meanwhile.
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
