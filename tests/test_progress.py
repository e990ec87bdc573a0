"""One line on standard error, shown only where somebody reads it."""

import io
import multiprocessing
import sys
from threading import Thread

import pytest

from skliftpriv import LIP, ORRSanitizer, _progress, datasets, mechanisms
from skliftpriv._progress import Progress, is_watched
from skliftpriv.cli import main
from skliftpriv.model_selection import tradeoff_curve


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self):
        return True


class NotebookStream(io.StringIO):
    """A stream like that of the kernel of a notebook, which is not a terminal."""


NotebookStream.__module__ = "ipykernel.iostream"


class Clock:
    """A clock that is set by hand."""

    now = 0.0


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(_progress, "perf_counter", lambda: clock.now)
    return clock


def in_terminal(monkeypatch):
    """Make standard error a terminal; pytest replaces the stream between fixtures and tests."""
    monkeypatch.setattr(sys, "stderr", Terminal())
    return sys.stderr


def test_nothing_is_shown_unless_asked_for(capsys, monkeypatch, clock):
    Progress(False).bar("counting", 1.0)
    plain = Progress()  # what pytest captures is not a terminal
    clock.now = 10.0
    plain.line("late")
    plain.bar("counting", 1.0)
    assert capsys.readouterr().err == ""
    Progress(True).bar("counting", 1.0)
    assert "100%" in capsys.readouterr().err
    monkeypatch.setattr(sys, "stderr", None)
    Progress(True).bar("counting", 1.0)
    Progress().bar("counting", 1.0)


@pytest.mark.parametrize("stream", [Terminal, NotebookStream])
def test_in_a_terminal_or_a_notebook_a_line_appears_after_three_seconds(stream, monkeypatch, clock):
    monkeypatch.setattr(sys, "stderr", stream())
    clock.now = 100.0
    progress = Progress()
    for seconds in (0.0, 1.0, 2.9):
        clock.now = 100.0 + seconds
        progress.line("too early")
    assert sys.stderr.getvalue() == ""
    clock.now = 103.1
    progress.line("now")
    progress.line("end", last=True)
    assert sys.stderr.getvalue() == "\rnow\rend\n"


@pytest.mark.parametrize("seconds", [1.0, 60.0])
def test_the_last_line_alone_is_not_worth_showing(seconds, clock, monkeypatch):
    terminal = in_terminal(monkeypatch)
    progress = Progress()
    clock.now = seconds
    progress.line("end", last=True)
    progress.end()
    assert terminal.getvalue() == ""


class Wordless:
    """A stream that can do nothing but write."""

    def write(self, text):
        raise AssertionError


def closed():
    stream = io.StringIO()
    stream.close()
    return stream


@pytest.mark.parametrize("stream", [None, Wordless(), io.StringIO(), closed()])
def test_streams_that_nobody_watches(stream, monkeypatch, clock):
    monkeypatch.setattr(sys, "stderr", stream)
    assert not is_watched()
    progress = Progress()
    clock.now = 10.0
    progress.line("late")
    progress.end()


def test_only_the_main_thread_of_the_main_process_is_watched(monkeypatch):
    in_terminal(monkeypatch)
    assert is_watched()
    found = []
    thread = Thread(target=lambda: found.append(is_watched()))
    thread.start()
    thread.join()
    assert found == [False]
    monkeypatch.setattr(multiprocessing, "parent_process", lambda: "the main process")
    assert not is_watched()


def test_updates_are_bounded_and_the_last_one_is_shown(capsys, clock):
    progress = Progress(True)
    for i in range(101):
        clock.now = i / 100 + 1e-9 * i
        progress.bar("counting", i / 100)
    shown = capsys.readouterr().err
    assert shown.count("\r") == 11
    assert shown.count("\n") == 1
    assert shown.endswith("100%\n")


def test_a_shorter_text_hides_a_longer_one(capsys, clock):
    progress = Progress(True)
    progress.line("y" * 200)
    progress.line("z", last=True)
    progress.end()
    assert capsys.readouterr().err == "\r" + "y" * 100 + "\rz" + " " * 99 + "\n"


def test_a_line_fits_into_a_narrow_terminal(monkeypatch):
    terminal = in_terminal(monkeypatch)
    monkeypatch.setattr(terminal, "fileno", lambda: 2)
    for columns, length in ((40, 39), (0, 100), (300, 100)):
        size = _progress.os.terminal_size((columns, 24))
        monkeypatch.setattr(_progress.os, "get_terminal_size", lambda _, size=size: size)
        terminal.truncate(terminal.seek(0))
        Progress(True).line("y" * 200)
        assert terminal.getvalue() == "\r" + "y" * length


# ---- tasks within tasks


def test_a_task_within_another_shares_its_line(clock, monkeypatch):
    terminal = in_terminal(monkeypatch)
    with Progress(True).lent() as outer:
        outer.bar("fitting", 0.5, "a long detail")
        inner = Progress()
        inner.line("too early")
        clock.now = 3.0
        inner.line("inner")
        inner.line("done", last=True)
        outer.bar("fitting", 1.0)
    shown = terminal.getvalue()
    texts = [text.rstrip() for text in shown.split("\r")]
    assert texts[0] == ""
    assert texts[1].endswith("50% a long detail")
    assert texts[2:4] == ["inner", "done"]
    assert texts[4].endswith("100%")
    assert shown.count("\n") == 1
    assert len({len(text) for text in shown.rstrip("\n").split("\r")[1:]}) == 1


def test_a_task_within_a_silent_one_is_silent_unless_asked_for(clock, monkeypatch):
    terminal = in_terminal(monkeypatch)
    with Progress(False).lent():
        unasked, asked = Progress(), Progress(True)
        clock.now = 10.0
        unasked.line("unasked")
        asked.line("asked")
    assert terminal.getvalue() == "\rasked\n"


def test_an_error_ends_the_line_and_the_loan(clock, monkeypatch):
    terminal = in_terminal(monkeypatch)
    outer = Progress(True)
    outer.line("half")
    with pytest.raises(KeyError), outer.lent():
        raise KeyError
    after = Progress(True)
    after.line("after", last=True)
    assert terminal.getvalue() == "\rhalf\n\rafter\n"


# ---- those who show progress


def slow_clock(monkeypatch):
    """Let a second pass whenever a line looks at the clock, so that all work seems long."""
    looks = iter(range(10**6))
    monkeypatch.setattr(_progress, "perf_counter", lambda: float(next(looks)))


def test_many_short_solves_are_one_long_task(monkeypatch):
    terminal = in_terminal(monkeypatch)
    slow_clock(monkeypatch)
    joint = datasets.make_joint(5, 100, random_state=0)
    result = mechanisms.subset_random_response(joint, LIP(0.5), gap=0.5)
    assert result.report.satisfied
    shown = terminal.getvalue()
    assert "groups" in shown
    assert shown.endswith("100%\n")
    assert shown.count("\n") == 1


ROWS = datasets.load_adult()[["relationship", "occupation"]].head(2000)


@pytest.mark.parametrize("verbose", [None, True, False])
def test_a_curve_and_its_solvers_share_a_line(verbose, monkeypatch):
    terminal = in_terminal(monkeypatch)
    slow_clock(monkeypatch)
    sanitizer = ORRSanitizer("relationship", "occupation", time_limit=0.1)
    tradeoff_curve(sanitizer, ROWS, [0.1, 0.2], verbose=verbose)
    shown = terminal.getvalue()
    if verbose is False:
        assert shown == ""
    else:
        assert "upper bound" in shown
        assert "2/2 ORRSanitizer, epsilon=0.2" in shown.split("\r")[-1]
        assert shown.count("\n") == 1


@pytest.mark.parametrize("watched", [True, False])
@pytest.mark.parametrize("asked", [True, False])
def test_a_command_shows_its_solver_where_it_shows_its_bars(watched, asked, monkeypatch, tmp_path):
    stream = Terminal() if watched else io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    slow_clock(monkeypatch)
    ROWS.to_csv(tmp_path / "in.csv", index=False)
    command = ["sanitize", tmp_path / "in.csv", "-o", tmp_path / "out.csv", "--mechanism", "orr"]
    command += ["--sensitive", "relationship", "--useful", "occupation"]
    command += ["--epsilon", "0.1", "--time-limit", "0.1"]
    assert main([*map(str, command), *(["--progress"] if asked else [])]) == 0
    shown = [line.split("\r")[-1] for line in stream.getvalue().split("\n")[:-1]]
    if watched or asked:
        assert [line.split()[0] for line in shown[::2]] == ["counting", "releasing"]
        assert "upper bound" in shown[1]
        assert len(shown) == 3
    else:
        assert shown == []
