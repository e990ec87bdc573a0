"""One line on standard error, shown only where somebody reads it."""

import sys

from skliftpriv._progress import Progress


def test_nothing_is_shown_unless_asked_for(capsys, monkeypatch):
    Progress(False).bar("counting", 1.0)
    Progress().bar("counting", 1.0)  # what pytest captures is not a terminal
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    Progress().bar("counting", 1.0)
    assert "100%" in capsys.readouterr().err
    monkeypatch.setattr(sys, "stderr", None)
    Progress(True).bar("counting", 1.0)


def test_updates_are_bounded_and_the_last_one_is_shown(capsys, monkeypatch):
    clock = iter(i / 100 for i in range(1000))
    monkeypatch.setattr("skliftpriv._progress.perf_counter", lambda: next(clock))
    progress = Progress(True)
    for i in range(101):
        progress.bar("counting", i / 100)
    shown = capsys.readouterr().err
    assert shown.count("\r") == 11
    assert shown.count("\n") == 1
    assert shown.endswith("100%\n")


def test_a_shorter_text_hides_a_longer_one(capsys):
    progress = Progress(True)
    progress.line("y" * 200)
    progress.line("z", last=True)
    progress.end()
    assert capsys.readouterr().err == "\r" + "y" * 100 + "\rz" + " " * 99 + "\n"
