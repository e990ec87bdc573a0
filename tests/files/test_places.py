"""A file appears whole or not at all: full disks, interrupts, kills and wrong places."""

import errno
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from skliftpriv import load, save
from skliftpriv.exceptions import InvalidParameterError
from skliftpriv.files import PendingFile, write_whole
from skliftpriv.html import write_report

from .samples import fitted_samples, saved_samples

SANITIZER = fitted_samples()["ORRSanitizer"][0]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "mechanism.json"


def test_a_file_gets_the_usual_mode_or_keeps_its_own(path):
    before = os.umask(0o027)
    try:
        save(SANITIZER, path)
    finally:
        os.umask(before)
    assert path.stat().st_mode & 0o777 == 0o640
    path.chmod(0o444)
    save(SANITIZER, path)
    assert path.stat().st_mode & 0o777 == 0o444
    assert os.listdir(path.parent) == [path.name]


def test_a_link_stays_and_what_it_leads_to_is_replaced(path, tmp_path):
    (tmp_path / "link.json").symlink_to(path)
    save(SANITIZER, tmp_path / "link.json")
    assert (tmp_path / "link.json").is_symlink()
    assert load(path).channel_ == SANITIZER.channel_


def test_wrong_places_are_refused_with_advice(tmp_path):
    with pytest.raises(InvalidParameterError, match="does not exist; create it first"):
        save(SANITIZER, tmp_path / "none" / "m.json")
    with pytest.raises(InvalidParameterError, match="is not a regular file"):
        save(SANITIZER, tmp_path)
    with pytest.raises(InvalidParameterError, match="is not a regular file"):
        save(SANITIZER, "/dev/null")
    for path in ("", None, 5):
        with pytest.raises(InvalidParameterError, match="must be the name of a file"):
            save(SANITIZER, path)
    for path in (tmp_path / ("a" * 300), tmp_path / ("a" * 250), "a\0b"):
        with pytest.raises(InvalidParameterError, match="cannot be written: "):
            save(SANITIZER, path)
    assert not list(tmp_path.iterdir())
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    with pytest.raises(InvalidParameterError, match="cannot be written: "):
        save(SANITIZER, loop)


FAULTS = {
    "a full disk while it is written": ("pathlib.Path.write_bytes", OSError(errno.ENOSPC, "full")),
    "a full disk while it is flushed": ("os.fsync", OSError(errno.ENOSPC, "full")),
    "it cannot be moved": ("os.replace", PermissionError(13, "no")),
    "an interrupt": ("os.replace", KeyboardInterrupt()),
}  # fmt: skip


@pytest.mark.parametrize("old", [None, b"old"])
@pytest.mark.parametrize("fault", FAULTS)
def test_a_failure_leaves_what_was_there(path, monkeypatch, fault, old):
    if old is not None:
        path.write_bytes(old)
    name, error = FAULTS[fault]

    def fail(*args, **options):
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(name, fail)
        with pytest.raises(type(error)):
            save(SANITIZER, path)
    assert os.listdir(path.parent) == ([] if old is None else [path.name])
    assert old is None or path.read_bytes() == old


def test_a_full_device_is_reported(tmp_path):
    full = Path("/dev/full")
    if not full.is_char_device():
        pytest.skip("there is no /dev/full")
    pending = PendingFile.beside(tmp_path / "m.json")
    pending.written.unlink()
    pending.written.symlink_to(full)
    with pytest.raises(OSError, match="No space left"):
        pending.written.write_bytes(saved_samples()["ORRSanitizer"])
    pending.undo()
    assert not list(tmp_path.iterdir())
    assert full.is_char_device()


def test_a_kill_leaves_the_old_file(path):
    """The process is killed when the new file is written, but not yet in its place."""
    path.write_bytes(b"old")
    # Only the module that writes is imported: the whole package takes seconds.
    room = Path(write_whole.__code__.co_filename).parent
    code = f"""
        import os, signal, sys, types
        folders = {{"skliftpriv": {str(room.parent)!r}, "skliftpriv.files": {str(room)!r}}}
        for name, folder in folders.items():
            sys.modules[name] = types.ModuleType(name)
            sys.modules[name].__path__ = [folder]
        from skliftpriv.files import _places
        os.replace = lambda *paths: os.kill(os.getpid(), signal.SIGKILL)
        _places.write_whole({str(path)!r}, b"new")
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], timeout=120)
    assert done.returncode == -signal.SIGKILL
    assert path.read_bytes() == b"old"
    save(SANITIZER, path)
    assert load(path).channel_ == SANITIZER.channel_


def test_pages_are_written_whole_as_well(path, monkeypatch):
    page = path.with_name("page.html")
    write_report(SANITIZER, page)
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    monkeypatch.setattr("os.replace", lambda *paths: (_ for _ in ()).throw(OSError(5, "broken")))
    page.write_text("old")
    with pytest.raises(OSError, match="broken"):
        write_report(SANITIZER, page)
    assert page.read_text() == "old"
