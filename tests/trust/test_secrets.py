"""Everything that is printed, shown, logged or written is searched for the secret byte by byte."""

import base64
import io
import logging
import os
import pickle
import re
import traceback
import warnings
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from threading import Thread
from unittest.mock import patch

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

from skliftpriv import GRRSanitizer, Secret, load, save
from skliftpriv.cli import main
from skliftpriv.exceptions import InvalidParameterError
from skliftpriv.files import saved_bytes
from skliftpriv.frames import LazyTable
from skliftpriv.html import report_page
from tests.estimators.samples import make_frame

KEY = b"c0ffee3b1f9ad2c47e805516f2d1e9aa"
FRAME = make_frame(300).assign(id=np.arange(300))
PAGE = Path(__file__).parents[2] / "docs" / "threat-model.md"


def sanitizer_with(secret):
    return GRRSanitizer("s", "x", epsilon=0.5, record_id="id", secret=secret).fit(FRAME)


def printed(sanitizer, folder):
    model = make_pipeline(sanitizer)
    yield from (repr(sanitizer), f"{sanitizer}", repr(model), repr(clone(sanitizer)))


def parameters(sanitizer, folder):
    model = make_pipeline(sanitizer)
    yield from (str(sanitizer.get_params()), str(model.get_params()), str(vars(sanitizer)))
    yield repr(sanitizer.fitted_parameters())


def notebooks(sanitizer, folder):
    yield from (sanitizer._repr_html_(), make_pipeline(sanitizer)._repr_html_())
    yield from (str(sanitizer._repr_mimebundle_()), sanitizer.guarantee_._repr_html_())


def reports(sanitizer, folder):
    yield from (report_page(sanitizer), repr(sanitizer.report_), str(sanitizer.report_.to_dict()))
    yield from (str(sanitizer.guarantee_), str(sanitizer.guarantee_.to_dict()))


def releases(sanitizer, folder):
    yield from (sanitizer.transform(FRAME).to_csv(), repr(sanitizer.release_))
    yield from (pickle.dumps(sanitizer.release_), sanitizer.release_.fingerprint)


def saved_files(sanitizer, folder):
    yield from (saved_bytes(sanitizer), saved_bytes(sanitizer, key=KEY, include_joint=True))
    save(sanitizer, folder / "mechanism.json")
    loaded = load(folder / "mechanism.json").set_params(secret=sanitizer.secret)
    yield from (repr(loaded), str(loaded.get_params()), report_page(loaded), saved_bytes(loaded))


def command_line(sanitizer, folder):
    FRAME.to_csv(folder / "in.csv", index=False)
    (folder / "key").write_bytes(KEY)
    key, out = folder / "key", folder / "out"
    out.mkdir()
    command = [
        "sanitize", folder / "in.csv", "-o", out / "released.csv", "--sensitive", "s",
        "--useful", "x", "--epsilon", 0.5, "--mechanism", "grr", "--record-id", "id", "--json",
        "--key-file", key, "--save", out / "m.json", "--signing-key", key,
        "--report", out / "page.html",
    ]  # fmt: skip
    said = io.StringIO()
    with redirect_stdout(said), redirect_stderr(said):
        assert main(list(map(str, command))) == 0
        # Keys that are too short, and ids that are none.
        (folder / "key").write_bytes(KEY[:9])
        assert main(list(map(str, command))) != 0
    assert KEY[:9].decode() not in said.getvalue()
    yield said.getvalue()
    yield from (file.read_bytes() for file in out.iterdir())


def errors(sanitizer, folder):
    """Yield tracebacks with the variables of the package's own functions."""
    calls = [
        lambda: sanitizer.transform(FRAME.assign(id=0)),
        lambda: sanitizer.transform(FRAME.assign(id=None)),
        lambda: sanitizer.transform(FRAME.drop(columns="id")),
        lambda: clone(sanitizer).set_params(record_id=None).fit(FRAME),
        lambda: clone(sanitizer).set_params(random_state=0).fit(FRAME),
        lambda: clone(sanitizer).set_params(epsilon=-1).fit(FRAME),
        lambda: clone(sanitizer).set_params(no=1),
        lambda: load(folder / "mechanism.json", key=sanitizer.secret),
    ]
    save(sanitizer, folder / "mechanism.json")
    for call in calls:
        with pytest.raises(ValueError) as caught:  # noqa: PT011
            call()
        trace = caught.value.__traceback__
        error = traceback.TracebackException(
            type(caught.value), caught.value, trace.tb_next.tb_next, capture_locals=True
        )
        yield "".join(error.format())


def logs(sanitizer, folder):
    said = io.StringIO()
    handler = logging.StreamHandler(said)
    root = logging.getLogger()
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            clone(sanitizer).fit(FRAME.sort_values("s")).transform(FRAME.rename_axis("name"))
    finally:
        root.removeHandler(handler)
        root.setLevel(level)
    yield said.getvalue() + "".join(str(warning.message) for warning in caught)


def sent_to_workers(sanitizer):
    """What lazy frames send to the processes that draw."""
    sent = []

    def noted(table, names, function, **options):
        sent.append(function)
        return table

    with patch.object(LazyTable, "mapped", noted):
        sanitizer.transform(pl.from_pandas(FRAME).lazy())
    return sent[0]


def pickles(sanitizer, folder):
    for protocol in range(3, pickle.HIGHEST_PROTOCOL + 1):
        yield pickle.dumps(sanitizer, protocol)
    joblib.dump(sanitizer, folder / "model.joblib")
    yield (folder / "model.joblib").read_bytes()
    yield pickle.dumps(sent_to_workers(sanitizer))


#: By the names that they have in docs/threat-model.md.
ARTEFACTS = {
    "print-outs": printed,
    "parameters": parameters,
    "notebooks": notebooks,
    "reports": reports,
    "releases": releases,
    "saved files": saved_files,
    "command line": command_line,
    "errors": errors,
    "logs": logs,
    "pickles": pickles,
}


def forms_of(secret):
    """Return what would give a secret away, in every form that it may be written in."""
    yield secret
    for text in (secret.hex(), secret.hex(" "), secret[::-1].hex(), repr(secret)[2:-1]):
        yield text.encode()
    yield from (base64.b64encode(secret).rstrip(b"="), repr(list(secret)).encode())


def found_in(artefact, sanitizer):
    """Return which keys are in an artefact."""
    secret = Secret(KEY)
    keys = {
        "key": KEY,
        "digest": bytes(secret._digest),
        "derived": bytes(secret.derive(b"release", sanitizer.release_.fingerprint)),
        "signing": bytes(secret.derive(b"saved file", size=32)),
    }
    data = artefact.encode("utf-8", "surrogatepass") if isinstance(artefact, str) else artefact
    return {name for name, key in keys.items() if any(form in data for form in forms_of(key))}


@pytest.mark.parametrize("source", ["bytes", "file", "env"])
@pytest.mark.parametrize("kind", ARTEFACTS)
@pytest.mark.filterwarnings("ignore")
def test_the_secret_is_in_no_artefact(kind, source, tmp_path, monkeypatch):
    (tmp_path / "secret").write_bytes(KEY)
    monkeypatch.setenv("RELEASE_KEY", KEY.decode())
    secret = {"bytes": KEY, "file": tmp_path / "secret", "env": "env:RELEASE_KEY"}[source]
    sanitizer = sanitizer_with(secret)
    artefacts = list(ARTEFACTS[kind](sanitizer, tmp_path))
    assert all(artefacts)
    # Worker processes need a secret that was given as bytes, of which a digest will do.
    expected = {"digest"} if (kind, source) == ("pickles", "bytes") else set()
    for artefact in artefacts:
        assert found_in(artefact, sanitizer) == expected


def test_the_search_finds_what_is_there():
    sanitizer = sanitizer_with(KEY)
    for text in (KEY, repr(KEY), KEY.hex(), str(list(KEY)), f"..{base64.b64encode(KEY).decode()}"):
        assert found_in(text, sanitizer) == {"key"}
    assert found_in(str(bytes(Secret(KEY)._digest)), sanitizer) == {"digest"}


def test_a_pickle_that_holds_a_digest_releases_the_same():
    sanitizer = sanitizer_with(KEY)
    copy = pickle.loads(pickle.dumps(sanitizer))
    pd.testing.assert_frame_equal(copy.transform(FRAME), sanitizer.transform(FRAME))


@pytest.mark.parametrize("kind", ["file", "env", "pipe"])
def test_workers_read_the_key_where_it_is(kind, tmp_path, monkeypatch):
    monkeypatch.setenv("RELEASE_KEY", KEY.decode())
    monkeypatch.chdir(tmp_path)
    key = tmp_path / "key"
    if kind == "pipe":  # can be read once, so that the digest is sent
        if not hasattr(os, "mkfifo"):
            pytest.skip("no pipes with names")
        os.mkfifo(key)
        Thread(target=key.write_bytes, args=(KEY,)).start()
    else:
        key.write_bytes(KEY)
    sanitizer = sanitizer_with("env:RELEASE_KEY" if kind == "env" else "key")
    sent = pickle.dumps(sent_to_workers(sanitizer))
    assert found_in(sent, sanitizer_with(KEY)) == ({"digest"} if kind == "pipe" else set())
    monkeypatch.chdir("/")
    assert pickle.loads(sent)(FRAME).equals(sanitizer_with(KEY).transform(FRAME))
    if kind != "pipe":
        key.unlink()
        monkeypatch.delenv("RELEASE_KEY")
        with pytest.raises(InvalidParameterError, match=r"cannot be read|no environment variable"):
            pickle.loads(sent)(FRAME)


def test_the_page_lists_what_was_searched():
    rows = re.findall(
        r"^\| ([a-z -]+) \|",
        PAGE.read_text(encoding="utf-8").partition("## Where the secret was looked for")[2],
        flags=re.MULTILINE,
    )
    assert set(ARTEFACTS) <= set(rows)
