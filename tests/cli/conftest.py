import json
from types import SimpleNamespace

import pytest

from skliftpriv.cli import _explain, main
from skliftpriv.cli._in_time import OutOfTime
from skliftpriv.datasets import load_adult

COLUMNS = ["age", "relationship", "occupation", "sex", "race"]


@pytest.fixture(scope="session")
def adult():
    return load_adult()[COLUMNS]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder to work in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def small(folder, adult):
    """A file of 2,000 rows."""
    adult.head(2000).to_csv("in.csv", index=False)
    return folder / "in.csv"


@pytest.fixture
def run(capfd):
    """Run the command and return its exit status and what it printed."""

    def call(*argv):
        status = main([str(argument) for argument in argv])
        out, err = capfd.readouterr()
        assert "Traceback" not in err
        return SimpleNamespace(status=status, out=out, err=err)

    return call


@pytest.fixture
def run_json(run):
    """Run a command with --json and return its exit status and its data."""

    def refuse(constant):
        raise AssertionError(f"{constant} is no JSON")

    def call(*argv):
        done = run(*argv, "--json")
        return done.status, json.loads(done.out, parse_constant=refuse)

    return call


@pytest.fixture
def refused(run):
    """Run a command that must fail, and return the one line that says why."""

    def call(*argv):
        done = run(*argv)
        assert done.status == 2
        assert done.out == ""
        assert done.err.count("\n") == 1
        assert done.err.startswith("skliftpriv")
        return done.err

    return call


class Here:
    """Calls at once, without end, and remembers what it was asked for."""

    def __init__(self, too_slow=()):
        self.too_slow = too_slow
        self.asked = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def call(self, function, name, sanitizer, counted, *, seconds):
        self.asked.append((name, sanitizer.get_params(), seconds))
        if name in self.too_slow:
            raise OutOfTime
        return function(name, sanitizer, counted)


@pytest.fixture
def here(monkeypatch):
    """Let explain try all mechanisms in this process, but for those that are too slow."""

    def use(*too_slow):
        found = Here(too_slow)
        monkeypatch.setattr(_explain, "InTime", lambda: found)
        return found

    return use
