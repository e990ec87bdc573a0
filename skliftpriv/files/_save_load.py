"""Save a fitted sanitiser as a file of data, and load it again."""

from __future__ import annotations

import os
import stat
from typing import Any

from .._limits import MOST_SAVED_BYTES
from ..estimators import ReleasingShell
from ..exceptions import InvalidParameterError, SavedFileError, SkliftprivError
from ..secret import SecretLike
from ._document import written
from ._loaded import LoadedSanitizer
from ._places import write_whole
from ._reader import parsed
from ._reading import read_document
from ._seal import signing_key, unsealed

__all__ = ["load", "save", "saved_bytes"]


def save(
    sanitizer: ReleasingShell,
    path: str | os.PathLike[str],
    *,
    key: SecretLike | None = None,
    include_joint: bool = False,
) -> None:
    """Save what a fitted sanitiser needs to release rows, as a file of JSON.

    The file holds labels, integer weights, columns, cells, the notion, the guarantee and the
    report, so that whoever gets it can release rows, audit the release and read the report without
    the table. It holds no seed, no secret and, unless asked for, no counts of S.
    :doc:`/saved-files` describes the format.

    The file appears whole or not at all: it is written beside its place and then moved there.

    .. versionadded:: 0.2

    Parameters
    ----------
    sanitizer : fitted sanitiser
        Any of skliftpriv, also one that was loaded. Its labels must be of the types that the
        format knows, its notion one of skliftpriv, and its cells those of a tree. Rare values that
        ``min_count`` pools are not written: such a sanitiser is refused.
    path : str or path
        The file; one that exists is replaced.
    key : bytes, str or path, optional
        Signs the file by HMAC-SHA256, so that :func:`load` with the same key refuses a file that
        somebody without the key wrote or altered. At least 16 random bytes, the path of a key file,
        or "env:NAME" for an environment variable. The file is not encrypted. Without a key it has
        a SHA-256 digest, which detects accidents but no attacker, who can compute it as well.
    include_joint : bool, default=False
        Whether to add the counts of S and X, from which :func:`load` certifies the mechanism again.
        Needed for mechanisms that look at S, whose probabilities give these counts away.

    Examples
    --------
    >>> import skliftpriv
    >>> from skliftpriv.datasets import load_adult
    >>> sanitizer = skliftpriv.ORRSanitizer("sex", "race", epsilon=0.1).fit(load_adult())
    >>> skliftpriv.save(sanitizer, "race.json")
    >>> skliftpriv.load("race.json").channel_ == sanitizer.channel_
    True
    """
    write_whole(path, saved_bytes(sanitizer, key=key, include_joint=include_joint))


def saved_bytes(
    sanitizer: ReleasingShell, *, key: SecretLike | None = None, include_joint: bool = False
) -> bytes:
    """Return the bytes of the file that :func:`save` writes.

    .. versionadded:: 0.2

    Parameters
    ----------
    sanitizer, key, include_joint
        As in :func:`save`.
    """
    return written(sanitizer, signing_key(key), include_joint=include_joint)


def load(path: str | os.PathLike[str], *, key: SecretLike | None = None) -> LoadedSanitizer:
    """Load a sanitiser that :func:`save` wrote; nothing in the file is executed.

    Everything is checked before it is used: the seal first, then every value against its type and
    bounds. With the joint distribution in the file, the mechanism is certified again in exact
    arithmetic.

    .. versionadded:: 0.2

    Parameters
    ----------
    path : str or path
        The file.
    key : bytes, str or path, optional
        The key that the file was signed with. A signed file is not loaded without its key, and a
        file that is not signed is not loaded with one.

    Returns
    -------
    LoadedSanitizer
        Releases rows like the sanitiser that was saved.

    Raises
    ------
    SavedFileError
        If the file is damaged, altered, signed with another key, written by a later version of the
        format, or not a file of :func:`save` at all.

    Examples
    --------
    >>> import skliftpriv
    >>> from skliftpriv.datasets import load_adult
    >>> sanitizer = skliftpriv.WatchdogSanitizer("sex", "race", epsilon=0.1).fit(load_adult())
    >>> skliftpriv.save(sanitizer, "race.json", key=b"0123456789abcdef")
    >>> print(skliftpriv.load("race.json", key=b"0123456789abcdef").guarantee_.claim)
    0.1-LIP of sex holds for one release of race.
    """
    secret = signing_key(key)
    data = _contents(path)
    try:
        return read_document(parsed(unsealed(data, secret)), signed=secret is not None)
    except (
        SkliftprivError,
        ArithmeticError,
        LookupError,
        MemoryError,
        RecursionError,
        TypeError,
        ValueError,
    ) as error:
        reason = str(error).removesuffix(".") or type(error).__name__
        raise SavedFileError(f"{os.fspath(path)} cannot be loaded: {reason}.") from error


def _contents(path: Any) -> bytes:
    """Read a file of a size that is allowed."""
    if not isinstance(path, str | os.PathLike):
        raise InvalidParameterError(f"path must be the name of a file, not {path!r}.")
    if "\0" in os.fsdecode(path):
        raise InvalidParameterError(f"{path!r} is not the name of a file: it has a NUL character.")
    # Without waiting, because a pipe that nobody writes to would wait for ever.
    with open(path, "rb", opener=_open_without_waiting) as file:
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode):
            raise SavedFileError(f"{os.fspath(path)} is not a regular file: choose another.")
        if found.st_size <= MOST_SAVED_BYTES:
            # One byte more than there should be, in case that the file grows meanwhile.
            data = file.read(MOST_SAVED_BYTES + 1)
            if len(data) <= MOST_SAVED_BYTES:
                return data
    raise SavedFileError(
        f"{os.fspath(path)} has more than {MOST_SAVED_BYTES >> 20} MB, which no file of "
        "skliftpriv.save has: choose another."
    )


def _open_without_waiting(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
