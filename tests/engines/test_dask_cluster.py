"""Dask with two worker processes: what they get, and a worker that dies."""

import os
import pickle
import signal
from pathlib import Path

import pyarrow as pa
import pytest

from skliftpriv.exceptions import UnknownCategoryError

from .rows import (
    ROWS,
    assert_fitted_alike,
    assert_holds_no_counts,
    assert_redrawn,
    keyed,
    listed,
    redrawn,
    released_with_ids,
)

pytest.importorskip("dask.dataframe")
cloudpickle = pytest.importorskip("cloudpickle")  # Dask brings it
distributed = pytest.importorskip("distributed")
import dask.dataframe as dd  # noqa: E402

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::skliftpriv.exceptions.UnprotectedColumnsWarning"),
]
COLUMNS = ["id", "s", "x"]


@pytest.fixture(scope="module")
def client():
    root = str(Path(__file__).parents[2])
    os.environ["PYTHONPATH"] = os.pathsep.join([root, os.environ.get("PYTHONPATH", "")])
    options = {
        "n_workers": 2,
        "threads_per_worker": 1,
        "processes": True,
        "dashboard_address": None,
    }
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        yield client


def frame():
    return dd.from_pandas(ROWS.select(COLUMNS).to_pandas(), npartitions=4)


def as_table(frame):
    return pa.Table.from_pandas(frame, preserve_index=False)


def test_fit_and_release_in_other_processes(client):
    sanitizer = keyed(remainder="passthrough").fit(frame())
    in_memory = ROWS.select(COLUMNS).to_pandas().astype({"s": "string", "x": "string"})
    assert_fitted_alike(sanitizer, keyed(remainder="passthrough").fit(in_memory))
    released = sanitizer.transform(frame())
    assert listed(as_table(released.compute())) == listed(sanitizer.transform(ROWS.select(COLUMNS)))
    assert client.run(os.getpid).keys() == client.scheduler_info()["workers"].keys()
    assert os.getpid() not in client.run(os.getpid).values()


def test_the_graph_holds_no_counts():
    sanitizer = keyed().fit(frame())
    graph = dict(sanitizer.transform(frame()).__dask_graph__())
    # The rows themselves are part of this graph, but not of one that reads files.
    tasks = {name: task for name, task in graph.items() if "frompandas" not in str(name).lower()}
    sent = cloudpickle.dumps(tasks)
    assert b"KeyedRelease" in sent
    assert_holds_no_counts(sent, sanitizer)
    assert_holds_no_counts(pickle.dumps(sanitizer.release_), sanitizer)


def test_errors_of_workers_arrive(client):
    strange = frame().assign(x="?")
    with pytest.raises(UnknownCategoryError, match="x: 1 value"):
        keyed().fit(frame()).transform(strange).compute()


@pytest.mark.parametrize("fresh", [False, True])
def test_a_killed_worker_does_not_draw_again(client, fresh, record_property):
    lazy = released_with_ids(frame(), fresh=fresh)
    held = client.persist(lazy)
    distributed.wait(held)
    first = as_table(held.compute())
    workers = client.run(os.getpid)
    name, pid = next(iter(workers.items()))
    assert client.has_what()[name]  # what is computed again after it is dead
    os.kill(pid, signal.SIGKILL)
    share = redrawn(first, as_table(held.compute()))
    client.wait_for_workers(2)
    record_property("redrawn", share)
    assert_redrawn({"killed": share}, fresh)


@pytest.mark.parametrize("fresh", [False, True])
def test_two_computations_and_a_join_do_not_draw_again(client, fresh, record_property):
    lazy = released_with_ids(frame(), fresh=fresh)
    shares = {"computed twice": redrawn(as_table(lazy.compute()), as_table(lazy.compute()))}
    if not fresh:  # whether Dask computes what it held until now again is a matter of time
        held = lazy.persist()
        before = as_table(held.compute())
        del held
        shares["released from memory"] = redrawn(before, as_table(lazy.compute()))
    record_property("redrawn", shares)
    assert_redrawn(shares, fresh)
    if not fresh:  # otherwise Dask draws once for both sides, or not
        twice = lazy.merge(lazy.rename(columns={"x": "again"}), on="id").compute()
        assert len(twice) == len(ROWS)
        assert (twice["x"].fillna("") == twice["again"].fillna("")).all()
