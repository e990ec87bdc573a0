"""Whoever ends a command finds what was there before, and is told what is so."""

import os
import signal
import subprocess
import sys
from contextlib import suppress

import pytest

from skliftpriv import _start
from skliftpriv.cli import _console, _outputs, _sanitize
from skliftpriv.estimators import LiftSanitizer

WHICH = ["--sensitive", "s", "--useful", "x"]
# Seven rows again and again: their order says nothing about S.
ROWS = "s,x\n" + "a,1\nb,2\na,2\nb,1\nb,1\na,2\nb,2\n" * 29


@pytest.fixture(autouse=True)
def usual_signals():
    """Signals do what they do at a terminal, even if the tests were started to ignore them."""
    usual = {
        "SIGINT": signal.default_int_handler,
        "SIGTERM": signal.SIG_DFL,
        "SIGHUP": signal.SIG_DFL,
    }
    numbers = [getattr(signal, name) for name in usual if hasattr(signal, name)]
    before = [signal.signal(number, usual[number.name]) for number in numbers]
    yield
    for number, handler in zip(numbers, before, strict=True):
        signal.signal(number, handler)


# Stops where the input is kept and the outputs are begun, until a signal comes.
WAITING = """
import signal, sys
from skliftpriv.cli import _sanitize, main
def wait(*args, **options):
    print("ready", flush=True)
    while True:
        signal.pause()
_sanitize._count = wait
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.skipif(not hasattr(signal, "pause"), reason="signals of Unix")
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP", "SIGKILL"])
def test_no_signal_leaves_standard_input_on_the_disk(folder, name):
    (folder / "in.csv").write_text(ROWS)
    (folder / "tmp").mkdir()
    command = [sys.executable, "-c", WAITING, "sanitize", "-", "-o", "o.csv", *WHICH]
    environment = {**os.environ, "TMPDIR": str(folder / "tmp")}
    with (
        open("in.csv", "rb") as file,
        subprocess.Popen(
            command, stdin=file, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment
        ) as process,
    ):
        assert process.stdout.readline() == b"ready\n"
        process.send_signal(getattr(signal, name))
        _, said = process.communicate()
    assert list((folder / "tmp").iterdir()) == []
    assert not (folder / "o.csv").exists()
    if name != "SIGKILL":
        assert process.returncode == 130
        assert said == b"skliftpriv: error: interrupted; no file was written.\n"
        assert sorted(path.name for path in folder.iterdir()) == ["in.csv", "tmp"]


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="signals of Unix")
def test_what_is_ignored_stays_ignored(folder, run, monkeypatch):
    # As under nohup.
    (folder / "in.csv").write_text(ROWS)
    tell = _console.Console.tell

    def hang_up(self, *args):
        os.kill(os.getpid(), signal.SIGHUP)
        tell(self, *args)

    monkeypatch.setattr(_console.Console, "tell", hang_up)
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        assert run("sanitize", "in.csv", "-o", "o.csv", *WHICH).status == 0
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


def test_an_interrupt_between_two_moves_waits_for_the_second(folder, run, monkeypatch):
    (folder / "in.csv").write_text(ROWS)
    replace, moved = os.replace, []

    def interrupted(*args):
        replace(*args)
        moved.append(args)
        if len(moved) == 1:
            os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(os, "replace", interrupted)
    done = run("sanitize", "in.csv", "-o", "o.csv", *WHICH, "--report", "r.html")
    assert done.status == 130
    assert sorted(path.name for path in folder.iterdir()) == ["in.csv", "o.csv", "r.html"]
    assert done.err == (
        f"skliftpriv: error: interrupted; already written: {folder / 'o.csv'}, "
        f"{folder / 'r.html'}.\n"
    )


def test_an_interrupt_while_things_are_undone_waits_too(folder, run, monkeypatch):
    (folder / "in.csv").write_text(ROWS)

    def fail(*args, **options):
        raise OSError(28, "No space left")

    undo = _outputs.PendingFile.undo

    def interrupted(self):
        os.kill(os.getpid(), signal.SIGINT)
        undo(self)

    monkeypatch.setattr(_sanitize, "report_page", fail)
    monkeypatch.setattr(_outputs.PendingFile, "undo", interrupted)
    done = run("sanitize", "in.csv", "-o", "o.csv", *WHICH, "--report", "r.html")
    assert done.status == 130
    assert "no file was written" in done.err
    assert [path.name for path in folder.iterdir()] == ["in.csv"]


def test_an_interrupt_behind_the_last_move_is_told_as_it_is(folder, run, monkeypatch):
    (folder / "in.csv").write_text(ROWS)

    def interrupted(*args):
        os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(_console.Console, "tell", interrupted)
    done = run("sanitize", "in.csv", "-o", "o.csv", *WHICH)
    assert done.status == 130
    assert (folder / "o.csv").exists()
    assert "already written" in done.err
    assert "o.csv" in done.err
    done = run("sanitize", "in.csv", "-o", "-", *WHICH)
    assert done.out.count("\n") == ROWS.count("\n")
    assert "already written: all rows, on standard output" in done.err


# Interrupts itself in the middle of the imports, as somebody in a hurry would.
HURRY = """
import os, signal, sys
class Hurry:
    def find_spec(self, name, *args):
        if name == "sklearn":
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Hurry())
sys.argv = ["/usr/bin/skliftpriv", "demo"]
from skliftpriv.cli import main
"""


def test_an_interrupt_while_libraries_are_imported_is_one_line():
    done = subprocess.run([sys.executable, "-c", HURRY], capture_output=True, check=False)
    assert done.returncode == 130
    assert done.stderr == b"skliftpriv: error: interrupted.\n"
    assert done.stdout == b""


@pytest.mark.parametrize(
    ("argv", "whole", "expected"),
    [
        (["/usr/local/bin/skliftpriv", "demo"], [], True),
        (["-m", "demo"], ["python", "-m", "skliftpriv", "demo"], True),
        (["-m"], ["python", "-m", "pytest", "skliftpriv"], False),
        (["train.py"], ["python", "train.py", "-m", "skliftpriv"], False),
        ([], [], False),
    ],
)
def test_how_the_command_knows_that_it_was_started(monkeypatch, argv, whole, expected):
    monkeypatch.setattr(sys, "argv", argv)
    monkeypatch.setattr(sys, "orig_argv", whole)
    assert _start.is_command() is expected


def test_whoever_imports_the_package_keeps_the_usual_interrupt():
    code = HURRY.replace("/usr/bin/skliftpriv", "notebook.py")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert b"KeyboardInterrupt" in done.stderr


@pytest.mark.parametrize("command", ["sanitize", "curve"])
def test_an_interrupt_that_a_search_takes_for_its_end_releases_nothing(
    folder, run, monkeypatch, command
):
    (folder / "in.csv").write_text(ROWS)
    found = LiftSanitizer._result_for

    def stopped(self, *args):
        with suppress(KeyboardInterrupt):  # as solvers do, which return the best so far
            os.kill(os.getpid(), signal.SIGINT)
        return found(self, *args)

    monkeypatch.setattr(LiftSanitizer, "_result_for", stopped)
    ends = ["-o", "o.csv"] if command == "sanitize" else ["--epsilons", "1"]
    done = run(command, "in.csv", *ends, *WHICH)
    assert done.status == 130
    assert "interrupted" in done.err
    assert [path.name for path in folder.iterdir()] == ["in.csv"]


def test_options_are_not_abbreviated(folder, run):
    (folder / "in.csv").write_text(ROWS)
    done = run("sanitize", "in.csv", "-o", "o.csv", *WHICH, "--keep")
    assert done.status == 2
    assert "unrecognized arguments: --keep" in done.err
