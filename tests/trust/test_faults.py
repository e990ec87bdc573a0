"""Threads, processes, kills, full disks and interrupts: noise stays independent, files whole."""

import os
import resource
import signal
import warnings
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import suppress
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import chi2_contingency, chisquare

from skliftpriv import GRRSanitizer, ORRSanitizer, OUESanitizer, load, save
from skliftpriv.cli import main
from skliftpriv.estimators import Guarantee, PublicValues, Release
from skliftpriv.files import saved_bytes
from skliftpriv.frames import Table
from skliftpriv.solvers._lp import MasterLP
from tests.estimators.samples import make_frame

KEY = bytes(range(32))
ROWS = make_frame(400).assign(id=range(400))
PLAIN = GRRSanitizer("s", "x", epsilon=0.5).fit(ROWS)
FRESH_KEYS = GRRSanitizer("s", "x", epsilon=0.5, record_id="id").fit(ROWS)
KEYED = GRRSanitizer("s", "x", epsilon=0.5, record_id="id", secret=KEY).fit(ROWS)
BITS = OUESanitizer("s", "x", epsilon=0.5).fit(ROWS)
FORK = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")

pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")


# ---- randomness


def draw(sanitizer):
    return sanitizer.sample_outputs(ROWS)


def pool_of(how):
    if how == "threads":
        return ThreadPoolExecutor(4)
    return ProcessPoolExecutor(2, mp_context=get_context(how))


WAYS = [
    "threads",
    pytest.param("fork", marks=FORK),
    pytest.param("spawn", marks=pytest.mark.slow),
]


@pytest.mark.parametrize("how", WAYS)
def test_noise_of_threads_and_processes_is_independent(how):
    """Processes that start from one state, and threads that share it, never share noise."""
    with pool_of(how) as pool:
        plain, fresh, keyed, bits = (
            list(pool.map(draw, [one] * 6)) for one in (PLAIN, FRESH_KEYS, KEYED, BITS)
        )
    expected = draw(KEYED)
    assert all((found == expected).all() for found in keyed)
    for several in (plain, fresh, bits):
        assert len({found.tobytes() for found in several}) == 6
    # Whether a value is kept depends on the noise alone: two draws agree as often as chance says.
    codes = PLAIN.encode(ROWS)
    for several in (plain, fresh):
        kept = np.array([found == codes for found in several])
        tables = sum(
            np.histogram2d(kept[i], kept[i + 1], bins=2, range=[[0, 1]] * 2)[0] for i in range(5)
        )
        assert chi2_contingency(tables).pvalue > 1e-4
        p = PLAIN.channel_.matrix[codes, codes].mean()
        expected = np.array([p, 1 - p]) * kept.size
        assert chisquare([kept.sum(), kept.size - kept.sum()], expected).pvalue > 1e-4


def test_that_test_notices_shared_noise():
    one = draw(PLAIN) == PLAIN.encode(ROWS)
    table = np.histogram2d(one, one, bins=2, range=[[0, 1]] * 2)[0]
    assert chi2_contingency(table).pvalue < 1e-6


# ---- files


def in_child(work):
    """Run a function in a forked process; return its exit status."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of fork in a process with threads
        child = os.fork()
    if child == 0:
        status = 1
        with suppress(BaseException):
            status = work() or 0
        os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def kill(*args, **options):
    os.kill(os.getpid(), signal.SIGKILL)


def half(path, data):
    with path.open("wb") as file:
        file.write(data[: len(data) // 2])
    kill()


def then_kill(call):
    def both(*args):
        call(*args)
        kill()

    return both


#: Where a process is killed, and which file is there afterwards.
KILLS = {
    "while the file is written": (Path, "write_bytes", half, "old"),
    "before it is on the disk": (os, "fsync", kill, "old"),
    "before it is moved": (os, "replace", kill, "old"),
    "after it was moved": (os, "replace", then_kill(os.replace), "new"),
}


@FORK
@pytest.mark.parametrize("old", [True, False])
@pytest.mark.parametrize("when", KILLS)
def test_a_kill_during_save_leaves_one_whole_file_or_none(when, old, tmp_path):
    path = tmp_path / "mechanism.json"
    if old:
        save(PLAIN, path)
    before = path.read_bytes() if old else None
    owner, name, fault, kept = KILLS[when]

    def work():
        setattr(owner, name, fault)
        save(BITS, path)

    assert in_child(work) == -signal.SIGKILL
    if kept == "new":
        assert path.read_bytes() == saved_bytes(BITS)
    elif old:
        assert path.read_bytes() == before
        load(path)
    else:
        assert not path.exists()
    # What may be left over does not get in the way of the next call.
    save(BITS, path)
    assert load(path).release_.releaser.noise_weight == BITS.result_.noise_weight


@FORK
@pytest.mark.parametrize("old", [True, False])
def test_a_full_disk_leaves_what_was_there(old, tmp_path):
    """The limit of the operating system on the size of files acts like a full disk."""
    path = tmp_path / "mechanism.json"
    if old:
        path.write_bytes(b"old")

    def work():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
        try:
            save(PLAIN, path)
        except OSError:
            return 7
        return 0

    assert in_child(work) == 7
    assert os.listdir(tmp_path) == ([path.name] if old else [])
    assert not old or path.read_bytes() == b"old"


@FORK
def test_a_full_disk_under_the_command_line_is_one_line(tmp_path, capfd):
    source, out = tmp_path / "in.csv", tmp_path / "out.csv"
    ROWS.to_csv(source, index=False)
    out.write_text("old")
    saved = tmp_path / "m.json"
    command = ["sanitize", source, "-o", out, "--sensitive", "s", "--useful", "x", "--save", saved]

    def work():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
        return main([*map(str, command), "--mechanism", "grr"])

    assert in_child(work) > 0
    said = capfd.readouterr().err
    assert "File too large" in said
    assert "Traceback" not in said
    assert sorted(os.listdir(tmp_path)) == [source.name, out.name]
    assert out.read_text() == "old"


# ---- interrupts


@pytest.mark.parametrize("fault", [KeyboardInterrupt, MemoryError])
@pytest.mark.parametrize("where", [Table, PublicValues, Release, Guarantee])
@pytest.mark.parametrize("fitted", [True, False])
def test_an_interrupt_of_fit_leaves_nothing_half_fitted(fault, where, fitted, monkeypatch):
    sanitizer = GRRSanitizer("s", "x", epsilon=0.5)
    if fitted:
        sanitizer.fit(ROWS)
    before = dict(vars(sanitizer))

    def fail(self, *args, **options):
        raise fault

    monkeypatch.setattr(where, "__init__", fail)
    for method in (sanitizer.fit, sanitizer.partial_fit):
        with pytest.raises(fault):
            method(ROWS)
        assert vars(sanitizer).keys() == before.keys()
        assert all(vars(sanitizer)[name] is value for name, value in before.items())


def test_an_interrupt_of_a_search_gives_a_private_mechanism(monkeypatch):
    solve, calls = MasterLP.solve, []

    def interrupted(self):
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return solve(self)

    monkeypatch.setattr(MasterLP, "solve", interrupted)
    sanitizer = ORRSanitizer("s", "x", epsilon=0.5, method="column-generation").fit(ROWS)
    assert sanitizer.status_ == "interrupted"
    assert sanitizer.report_.satisfied
    assert sanitizer.result_.certified.satisfied
