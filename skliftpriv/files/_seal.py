"""The first lines and the last line of a file: format, version, and a digest of all between."""

from __future__ import annotations

import hashlib
import hmac
import re

from ..exceptions import SavedFileError
from ..secret import Secret, SecretLike

__all__ = ["FORMAT", "VERSION", "sealed", "signing_key", "unsealed"]

FORMAT = "skliftpriv-mechanism"
VERSION = 1

_HEAD = re.compile(rb'\{"format": "%s",\n"version": ([0-9]{1,9}),\n' % FORMAT.encode())
_TAIL = re.compile(rb',\n"seal": \{"kind": "(sha256|hmac-sha256)", "value": "([0-9a-f]{64})"\}\}\n')
_LONGEST_TAIL = 128


def signing_key(key: SecretLike | None) -> bytes | None:
    """Return the key of the signature, or None for none.

    It is derived from the secret, so that a key file may serve for releases and for files.
    """
    return None if key is None else Secret.read(key).derive(b"saved file", size=32)


def sealed(sections: dict[str, str], key: bytes | None) -> bytes:
    """Put sections of JSON between the first lines and the seal.

    Parameters
    ----------
    sections : dict of str
        JSON text of each section.
    key : bytes or None
        Signs the file; None for a digest, which anybody can compute.
    """
    lines = [f'{{"format": "{FORMAT}",\n"version": {VERSION}']
    lines += [f'"{name}": {text}' for name, text in sections.items()]
    body = ",\n".join(lines).encode()
    kind = "sha256" if key is None else "hmac-sha256"
    return body + f',\n"seal": {{"kind": "{kind}", "value": "{_digest(body, key)}"}}}}\n'.encode()


def unsealed(data: bytes, key: bytes | None) -> bytes:
    """Check the format, the version and the seal of a file before anything else is read.

    Returns
    -------
    bytes
        The same file without its seal, as a JSON object.
    """
    head = _HEAD.match(data)
    if head is None:
        raise SavedFileError("it does not begin like a file that skliftpriv.save wrote")
    if int(head[1]) != VERSION:
        raise SavedFileError(
            f"its format has version {int(head[1])}, and this release of skliftpriv reads version "
            f"{VERSION}: update skliftpriv, or save the sanitiser again"
        )
    start = max(len(data) - _LONGEST_TAIL, 0)
    place = data.rfind(b',\n"seal": ', start)
    tail = _TAIL.fullmatch(data, place) if place >= 0 else None
    if tail is None:
        raise SavedFileError("its end is missing or was altered: get a complete copy")
    body = data[:place]
    if tail[1] == b"hmac-sha256" and key is None:
        raise SavedFileError("it is signed: pass its key, as key= or --signing-key")
    if tail[1] == b"sha256" and key is not None:
        raise SavedFileError(
            "it is not signed, so that no key can show who wrote it: load it without a key only if "
            "you trust where it comes from"
        )
    if not hmac.compare_digest(_digest(body, key).encode(), tail[2]):
        wrong = "" if key is None else "the key is not that of the file, or "
        raise SavedFileError(f"{wrong}it was altered after it was saved: get another copy")
    return body + b"}"


def _digest(body: bytes, key: bytes | None) -> str:
    if key is None:
        return hashlib.sha256(body).hexdigest()
    return hmac.new(key, body, hashlib.sha256).hexdigest()
