"""Secrets are read from bytes, files and the environment, and shown nowhere."""

import copy
import os
import pickle
import traceback
from pathlib import Path
from threading import Thread

import pandas as pd
import pytest

from skliftpriv import GRRSanitizer, Secret
from skliftpriv.exceptions import InvalidParameterError
from skliftpriv.secret import hidden

KEY = b"3b1f9ad2c47e805516f2"


def test_the_same_key_from_anywhere_is_the_same_secret(tmp_path, monkeypatch):
    monkeypatch.setenv("RELEASE_KEY", KEY.decode())
    for end in (b"", b"\n", b"\r\n"):
        (tmp_path / "key").write_bytes(KEY + end)
        for source in (
            KEY + end,  # as who reads the file has it
            bytearray(KEY + end),
            Secret(KEY + end),
            "env:RELEASE_KEY",
            tmp_path / "key",
            str(tmp_path / "key"),
        ):
            assert Secret.read(source) == Secret(KEY)
    assert Secret(KEY[::-1]) != Secret(KEY)
    assert Secret(KEY + b"\r") != Secret(KEY)
    assert Secret(KEY + b"\n\n") != Secret(KEY)
    with pytest.raises(InvalidParameterError, match=r"must be bytes, not str: Secret\.read takes"):
        Secret(KEY.decode())
    assert Secret(KEY) != KEY
    assert Secret.fresh() != Secret.fresh()


def test_keys_for_different_purposes_are_unrelated():
    secret = Secret(KEY)
    assert secret.derive(b"a", b"b") == Secret(KEY).derive(b"a", b"b")
    keys = {secret.derive(*context) for context in [(b"ab",), (b"a", b"b"), (b"", b"ab"), ()]}
    assert len(keys) == 4
    assert {len(secret.derive(size=size)) for size in (16, 32)} == {16, 32}


def test_no_form_of_a_secret_shows_the_key():
    secret = Secret(KEY)
    forms = [repr(secret), str(secret), f"{secret}", f"{secret!r:>30}", repr([secret])]
    forms += [repr(vars(type(secret))), repr(hash(secret))]
    for form in forms:
        assert KEY.decode() not in form
        assert KEY.hex() not in form
    assert repr(secret) == "Secret(hidden)"
    assert KEY not in pickle.dumps(secret)
    assert pickle.loads(pickle.dumps(secret)) == copy.deepcopy(secret) == secret
    assert hash(pickle.loads(pickle.dumps(secret))) == hash(secret)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (KEY[:15], "has 15 bytes"),
        (KEY * 300, "more than 4,096"),
        (bytes(32), "fewer than 4 different bytes"),
        (bytearray(KEY[:3]), "has 3 bytes"),
        (KEY.decode(), "not the path of a key file"),
        ("\0" + KEY.decode(), "not the path of a key file"),
        ([KEY], "not list"),
        (int.from_bytes(KEY, "big"), "not int"),
        (Path("no-such-key"), "no-such-key cannot be read: No such file"),
        # Another key at every release.
        pytest.param(
            "/dev/urandom",
            "it is no file",
            marks=pytest.mark.skipif(not Path("/dev/urandom").exists(), reason="no such device"),
        ),
    ],
)
def test_no_error_shows_what_may_be_the_key(source, message):
    with pytest.raises(InvalidParameterError, match=message) as caught:
        Secret.read(source)
    shown = "".join(traceback.format_exception(caught.value))
    for part in (KEY.decode(), repr(KEY[:3])[2:-1] * 2, str(int.from_bytes(KEY, "big"))):
        assert part not in shown


def test_no_key_is_among_the_variables_that_tracebacks_show(tmp_path, monkeypatch):
    """Tools that report errors write out the variables of every function on the way."""
    monkeypatch.setenv("RELEASE_KEY", KEY.decode())
    (tmp_path / "key").write_bytes(KEY)
    frame = pd.DataFrame({"s": [0, 1] * 20, "x": list("abcd") * 10, "id": 0})
    for source in ("env:RELEASE_KEY", tmp_path / "key", Secret(KEY)):
        sanitizer = GRRSanitizer("s", "x", record_id="id", secret=source)
        sanitizer.fit(frame)
        with pytest.raises(InvalidParameterError, match="the rows of '0' differ") as caught:
            sanitizer.transform(frame)
        error = traceback.TracebackException.from_exception(caught.value, capture_locals=True)
        shown = "".join(error.format())
        assert "record_bits" in shown
        derived = Secret(KEY).derive(b"release", sanitizer.release_.fingerprint)
        for key in (KEY, derived, Secret(KEY)._digest):
            assert repr(bytes(key)) not in shown
            assert bytes(key).hex() not in shown


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names")
def test_a_pipe_can_be_a_key_file(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = Thread(target=path.write_bytes, args=(KEY + b"\n",))
    writer.start()
    assert Secret.read(path) == Secret(KEY)
    writer.join()


def test_a_variable_that_is_missing_or_too_short_is_named(monkeypatch):
    monkeypatch.delenv("RELEASE_KEY", raising=False)
    with pytest.raises(InvalidParameterError, match="no environment variable 'RELEASE_KEY'"):
        Secret.read("env:RELEASE_KEY")
    monkeypatch.setenv("RELEASE_KEY", "short")
    with pytest.raises(InvalidParameterError, match="'RELEASE_KEY' has 5 bytes"):
        Secret.read("env:RELEASE_KEY")


def test_only_bytes_are_wrapped():
    assert hidden("env:KEY") == "env:KEY"
    assert hidden(Path("key")) == Path("key")
    assert hidden(memoryview(KEY)) == Secret(KEY)
