"""The key of a keyed release: read from bytes, a file or the environment, and never shown."""

from __future__ import annotations

import os
import stat
from hashlib import blake2b
from hmac import compare_digest
from pathlib import Path
from typing import TypeAlias

from .exceptions import InvalidParameterError

__all__ = ["Secret", "SecretLike", "check_secret", "elsewhere", "hidden"]

_FEWEST_BYTES = 16
#: A larger file is no key file.
_MOST_BYTES = 4096
#: A key with fewer different bytes was not drawn at random, as one of zeros.
_FEWEST_DIFFERENT = 4
_ENVIRONMENT = "env:"
_GENERATE = 'python -c "import secrets; print(secrets.token_hex(32))" writes one'


class _Key(bytes):
    """Bytes that are not shown where variables are, such as in a traceback with their values."""

    def __repr__(self) -> str:
        return "hidden"

    __str__ = __repr__


class Secret:
    """A key that no print-out shows.

    Sanitisers make one of bytes that are passed as ``secret=``. It keeps a digest of the key, so
    that a pickle does not hold the key itself; but the digest serves the same purpose here, and
    whoever has it can undo the randomisation of the releases.

    .. versionadded:: 0.2

    Parameters
    ----------
    key : bytes
        At least 16 random bytes. A line feed at the end does not count, so that the content of a
        key file is the same key as the file.

    Examples
    --------
    >>> from skliftpriv import Secret
    >>> Secret(b"32 bytes that nobody else knows.")
    Secret(hidden)
    """

    __slots__ = ("_digest", "_problem")

    _digest: bytes
    _problem: str | None

    def __init__(self, key: bytes) -> None:
        if not isinstance(key, bytes | bytearray | memoryview):
            raise InvalidParameterError(
                f"The key of a Secret must be bytes, not {type(key).__name__}: Secret.read takes "
                "the path of a key file or 'env:NAME' for an environment variable."
            )
        made = _wrapped(bytes(key), "The secret")
        self._digest, self._problem = made._digest, made._problem
        self.check()

    def check(self) -> None:
        """Raise an error if this is not a key that can be used."""
        if self._problem is not None:
            raise InvalidParameterError(self._problem)

    @classmethod
    def fresh(cls) -> Secret:
        """Draw a key from the operating system's cryptographic generator."""
        return cls(os.urandom(32))

    @classmethod
    def read(cls, source: SecretLike) -> Secret:
        """Read a key from where the parameter ``secret`` of a sanitiser says it is.

        Parameters
        ----------
        source : Secret, bytes, str or path
            The key itself, the path of a key file, or "env:NAME" for an environment variable. A
            line feed at the end does not count.
        """
        source = hidden(source)
        check_secret(source)
        if isinstance(source, Secret):
            return source
        key, what = _read(source)
        found = _wrapped(key, what)
        found.check()
        return found

    def derive(self, *context: bytes, size: int = 16) -> bytes:
        """Return a key for one purpose; other purposes have unrelated keys.

        Parameters
        ----------
        *context : bytes
            What the key is for.
        size : int, default=16
            Number of bytes, at most 64.
        """
        made = blake2b(key=self._digest, digest_size=size, person=b"skliftpriv")
        for part in context:
            # The length comes first, so that different contexts never give the same bytes.
            made.update(len(part).to_bytes(8, "big"))
            made.update(part)
        return _Key(made.digest())

    def __repr__(self) -> str:
        return "Secret(hidden)"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and compare_digest(self._digest, other._digest)

    def __hash__(self) -> int:
        return hash(self._digest)


#: What the parameter ``secret`` of a sanitiser takes.
SecretLike: TypeAlias = Secret | bytes | str | os.PathLike[str]


def hidden(secret: SecretLike) -> Secret | str | os.PathLike[str]:
    """Return a secret in a form that can be printed: bytes as a :class:`Secret`.

    Nothing is refused, as scikit-learn expects of a constructor; :func:`check_secret` does that.
    """
    if isinstance(secret, bytes | bytearray | memoryview):
        return _wrapped(bytes(secret), "The secret")
    return secret


def elsewhere(source: SecretLike | None, key: Secret | None) -> SecretLike | None:
    """Return where other processes find a key, or the key itself if they cannot.

    Parameters
    ----------
    source : Secret, bytes, str, path or None
        The parameter ``secret`` of a sanitiser.
    key : Secret or None
        What was read from there, or drawn if it is None.
    """
    if not isinstance(source, str | os.PathLike):
        return key
    if str(source).startswith(_ENVIRONMENT):
        return source
    path = Path(source).absolute()  # they may work in another folder
    return path if path.is_file() else key  # a pipe is read once


def check_secret(secret: SecretLike) -> None:
    """Refuse what cannot be a secret; no message shows it, because it may be the key."""
    if isinstance(secret, Secret):
        secret.check()
    elif not isinstance(secret, str | os.PathLike):
        raise InvalidParameterError(
            "secret must be bytes, the path of a key file or 'env:NAME' for an environment "
            f"variable, not {type(secret).__name__}."
        )


def _wrapped(key: bytes, what: str) -> Secret:
    key = _trimmed(key)
    secret = object.__new__(Secret)
    secret._digest, secret._problem = _digest_of(key), _problem_of(key, what)
    return secret


def _read(source: str | os.PathLike[str]) -> tuple[bytes, str]:
    """Return the key, and what messages call the place where it was found."""
    if isinstance(source, str) and source.startswith(_ENVIRONMENT):
        name = source.removeprefix(_ENVIRONMENT)
        key = os.environb.get(os.fsencode(name)) if os.supports_bytes_environ else None
        if key is None and name in os.environ:
            key = os.environ[name].encode(errors="surrogateescape")
        if key is None:
            raise InvalidParameterError(
                f"secret='env:{name}', but there is no environment variable {name!r}: set it."
            )
        return _Key(key), f"The environment variable {name!r}"
    try:
        with Path(source).open("rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            # A device such as /dev/urandom would be another key at every release.
            if not (stat.S_ISREG(mode) or stat.S_ISFIFO(mode)):
                raise ValueError
            key = _Key(file.read(_MOST_BYTES + 1))
    except (OSError, ValueError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or "it is no file"
        if not isinstance(source, str):
            raise InvalidParameterError(
                f"The key file {os.fspath(source)} cannot be read: {reason}."
            ) from None
        # The text may be the key itself, so neither it nor the error that names it is shown.
        raise InvalidParameterError(
            f"The secret is not the path of a key file that can be read ({reason}), and is not "
            "shown in case it is the key: pass the path of a file, 'env:NAME' for an "
            "environment variable or, in Python, the key itself as bytes."
        ) from None
    return key, "The key file"


def _trimmed(key: bytes) -> bytes:
    """Leave out the end of the line that editors and shells write."""
    return _Key(key.removesuffix(b"\r\n" if key.endswith(b"\r\n") else b"\n"))


def _digest_of(key: bytes) -> bytes:
    return _Key(blake2b(key, digest_size=32, person=b"skliftpriv key").digest())


def _problem_of(key: bytes, what: str) -> str | None:
    """Say why a key is none, without showing it."""
    if len(key) < _FEWEST_BYTES:
        return (
            f"{what} has {len(key)} bytes, but a key needs at least {_FEWEST_BYTES}: {_GENERATE}."
        )
    if len(key) > _MOST_BYTES:
        return f"{what} has more than {_MOST_BYTES:,} bytes, too many for a key: {_GENERATE}."
    if len(set(key)) < _FEWEST_DIFFERENT:
        return (
            f"{what} consists of fewer than {_FEWEST_DIFFERENT} different bytes, and is no random "
            f"key: {_GENERATE}."
        )
    return None
