"""Release a folder of Parquet files by every engine: rows a second, memory, and the same rows.

Run: python examples/benchmarks/engines.py [--rows 10000000 50000000] [--engines polars dask ...]

Each engine reads the folder, fits a mechanism, releases the rows with the noise of their ids and
writes another folder, in a process of its own, by turns with the others. Seconds, also those of
all processors, and memory are of the process with all its children, from the time when libraries
are imported and the cluster runs; memory of the driver is that of its Python process alone. All
folders must hold the same rows. Engines that are not installed are left out:
pip install "skliftpriv[dask,spark,duckdb,ibis]" polars. It reads /proc, so it needs Linux.
"""

import argparse
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import warnings
from pathlib import Path
from time import perf_counter, sleep

ROOT = Path(__file__).resolve().parents[2]
KEY = b"a key that is known to all who read this"
WHICH = {"sensitive": "relationship", "useful": "occupation", "epsilon": 0.5}
ROWS_OF_FILE = 1 << 20
TICKS = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")


def write_people(folder, n_rows):
    """Write rows of Adult in random order as a folder of Parquet files."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    from skliftpriv.datasets import load_adult

    adult = pa.Table.from_pandas(load_adult()[["relationship", "occupation"]], preserve_index=False)
    rng = np.random.default_rng(0)
    folder.mkdir()
    for start in range(0, n_rows, ROWS_OF_FILE):
        ids = np.arange(start, min(start + ROWS_OF_FILE, n_rows))
        table = adult.take(pa.array(rng.integers(adult.num_rows, size=ids.size)))
        pq.write_table(table.append_column("id", pa.array(ids)), folder / f"{start:012d}.parquet")


def sanitizer(**options):
    """Return a sanitiser that was not fitted."""
    from skliftpriv import GRRSanitizer

    keys = {"record_id": "id", "secret": KEY, "remainder": "passthrough"}
    return GRRSanitizer(**WHICH, **keys, **options)


def by_pandas(people, released):
    """Read all rows into memory."""
    import pandas as pd

    rows = pd.read_parquet(people)
    yield
    released.mkdir()
    sanitizer().fit(rows).transform(rows).to_parquet(released / "rows.parquet", index=False)


def by_polars(people, released):
    """Scan files, and write one."""
    import polars as pl

    rows = pl.scan_parquet(people / "*.parquet")
    yield
    released.mkdir()
    sanitizer().fit(rows).transform(rows).sink_parquet(released / "rows.parquet")


def by_stream(people, released):
    """Count with DuckDB, and release a stream of record batches."""
    import duckdb

    rows = duckdb.read_parquet(f"{people}/*.parquet")
    yield
    write_stream(sanitizer().fit(rows).transform(rows.to_arrow_reader(1 << 16)), released)


def write_stream(reader, released):
    """Write a RecordBatchReader as a file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    released.mkdir()
    with pq.ParquetWriter(released / "rows.parquet", reader.schema) as file:
        for batch in reader:
            file.write_table(pa.Table.from_batches([batch]))


def by_duckdb(people, released):
    """Let DuckDB do it all."""
    import duckdb

    rows = duckdb.read_parquet(f"{people}/*.parquet")
    yield
    released.mkdir()
    sanitizer().fit(rows).transform(rows).write_parquet(str(released / "rows.parquet"))


def by_ibis(people, released):
    """Let DuckDB do it all, through Ibis."""
    import ibis

    rows = ibis.duckdb.connect().read_parquet(f"{people}/*.parquet")
    yield
    released.mkdir()
    sanitizer().fit(rows).transform(rows).to_parquet(released / "rows.parquet")


def by_dask(people, released):
    """Use two worker processes."""
    import dask.dataframe as dd
    from distributed import Client, LocalCluster

    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with LocalCluster(**options) as cluster, Client(cluster):
        rows = dd.read_parquet(people)
        yield
        sanitizer(index="drop").fit(rows).transform(rows).to_parquet(released)


def by_spark(people, released):
    """Use two threads of the Java process, each with a Python worker."""
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.ui.showConsoleProgress", "false")
    spark = builder.config("spark.sql.shuffle.partitions", "2").getOrCreate()
    rows = spark.read.parquet(str(people))
    yield
    sanitizer().fit(rows).transform(rows).write.parquet(str(released))
    spark.stop()


ENGINES = {
    "pandas": (by_pandas, "pandas"),
    "polars": (by_polars, "polars"),
    "stream": (by_stream, "duckdb"),
    "duckdb": (by_duckdb, "duckdb"),
    "ibis": (by_ibis, "ibis"),
    "dask": (by_dask, "dask"),
    "spark": (by_spark, "pyspark"),
}


def run_one(name, people, released):
    """Run one engine in this process, and print what it took."""
    warnings.simplefilter("ignore")
    import skliftpriv  # noqa: F401 - before the clock starts

    steps = ENGINES[name][0](Path(people), Path(released))
    next(steps)
    print("ready", flush=True)
    start = perf_counter()
    next(steps, None)
    seconds = perf_counter() - start
    print(json.dumps([seconds, peak_memory()]), flush=True)


def peak_memory():
    """Return the most bytes that this process has had, unlike getrusage without its parent's."""
    status = Path("/proc/self/status").read_text().splitlines()
    (line,) = [line for line in status if line.startswith("VmHWM:")]
    return int(line.split()[1]) * 1024


def usage(root):
    """Return the processor seconds and bytes of memory of a process and of what it started."""
    parents, found = {}, {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = entry.read_text().rpartition(")")[2].split()
        except OSError:  # it has ended
            continue
        pid = int(entry.parent.name)
        parents[pid] = int(fields[1])
        found[pid] = (sum(map(int, fields[11:15])) / TICKS, int(fields[21]) * PAGE)

    def below(pid):
        while pid in parents and pid != root:
            pid = parents[pid]
        return pid == root

    mine = [found[pid] for pid in found if below(pid)]
    return sum(cpu for cpu, _ in mine), sum(memory for _, memory in mine)


def measured(name, people, released):
    """Run one engine in a process of its own: seconds, processor seconds, peak, and driver."""
    command = [sys.executable, __file__, "--run", name, str(people), str(released)]
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
    }
    process = subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    samples = []

    def watch():
        while process.poll() is None:
            samples.append(usage(process.pid))
            sleep(0.1)

    line = process.stdout.readline()
    if line.strip() != "ready":
        raise RuntimeError(f"{name}: {process.communicate()[1][-3000:]}")
    watcher = threading.Thread(target=watch)
    watcher.start()
    out, errors = process.communicate()
    watcher.join()
    if process.returncode:
        raise RuntimeError(f"{name}: {errors[-3000:]}")
    seconds, driver = json.loads(out.splitlines()[-1])
    used = max(cpu for cpu, _ in samples) - samples[0][0]
    return seconds, used, max(memory for _, memory in samples), driver


def digest(folder):
    """Return a number that depends on the rows of a folder, but not on their order."""
    import pandas as pd
    import pyarrow.dataset as ds

    total, n_rows = 0, 0
    for batch in ds.dataset(folder, format="parquet").to_batches(columns=["id", "occupation"]):
        frame = batch.to_pandas()
        frame["occupation"] = frame["occupation"].astype(object)
        total += int(pd.util.hash_pandas_object(frame, index=False).to_numpy().sum())
        n_rows += len(frame)
    return n_rows, total % 2**64


def compare(n_rows, names, rounds, folder):
    """Print what all engines take for a number of rows."""
    people, released = folder / "people", folder / "released"
    write_people(people, n_rows)
    expected = None
    costs = {}
    for turn in range(rounds):
        for name in names:
            cost = measured(name, people, released)
            print(f"{n_rows:,} rows, {name}: {cost[0]:.1f} s", cost, file=sys.stderr, flush=True)
            costs.setdefault(name, []).append(cost)
            if turn == 0:
                found = digest(released)
                expected = expected or found
                assert found == expected, f"{name} released other rows"
            shutil.rmtree(released)
    shutil.rmtree(people)
    print(f"\n{n_rows:,} rows, all released alike")
    print("engine       s  10^6 rows/s  cpu us/row  peak GB  driver GB")
    for name, runs in costs.items():
        seconds, used, peak, driver = map(min, zip(*runs, strict=True))
        print(
            f"{name:<8}{seconds:6.1f}{n_rows / seconds / 1e6:13.2f}{used / n_rows * 1e6:12.2f}"
            f"{peak / 1e9:9.2f}{driver / 1e9:11.2f}",
            flush=True,
        )


def main():
    """Measure all engines that are installed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000_000, 50_000_000])
    parser.add_argument("--engines", nargs="+", choices=list(ENGINES), default=list(ENGINES))
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--quick", action="store_true", help="100,000 rows, once")
    parser.add_argument("--run", nargs=3, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.run:
        run_one(*args.run)
        return
    names = [name for name in args.engines if importlib.util.find_spec(ENGINES[name][1])]
    with tempfile.TemporaryDirectory() as folder:
        for n_rows in [100_000] if args.quick else args.rows:
            compare(n_rows, names, 1 if args.quick else args.rounds, Path(folder))


if __name__ == "__main__":
    main()
