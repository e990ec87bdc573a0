"""What fit and transform cost for pandas, polars and Arrow, now and in an older version.

Run: python examples/benchmarks/frames.py [--rows 1000000 10000000] [--before FOLDER] [--quick]

The table repeats rows of Adult in random order, with two columns of text. Every kind of table is
fitted and released in a process of its own, by turns with the others and with the same kind in the
version in FOLDER, a checkout of an older one. Each process does it twice, and the shortest
processor time counts. Times of a lazy frame include reading its Parquet file, ids of records, on
which its noise depends, and writing what is released; those of a stream include reading.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path
from time import process_time

ROOT = Path(__file__).resolve().parents[2]
IN_MEMORY = ["pandas", "polars", "arrow"]
LATER = ["polars lazy", "arrow stream"]
TURNS = 2
REPEATS = 2
WHICH = {"sensitive": "relationship", "useful": "occupation", "epsilon": 1.0}


def write_rows(path, n_rows):
    """Write rows of Adult in random order as a Parquet file."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    from skliftpriv.datasets import load_adult

    adult = load_adult()[["relationship", "occupation"]]
    some = np.random.default_rng(0).integers(len(adult), size=n_rows)
    table = pa.Table.from_pandas(adult, preserve_index=False).take(pa.array(some))
    pq.write_table(table.append_column("id", pa.array(np.arange(n_rows))), path)


def read_rows(path, kind):
    """Read the table as a table of a kind."""
    import pandas as pd
    import polars as pl
    import pyarrow.parquet as pq

    columns = ["relationship", "occupation"]
    if kind == "pandas":
        return pd.read_parquet(path, columns=columns)
    if kind == "polars":
        return pl.read_parquet(path, columns=columns)
    if kind == "polars lazy":
        return pl.scan_parquet(path)
    if kind == "arrow":
        return pq.read_table(path, columns=columns)
    import pyarrow.dataset as ds

    return ds.dataset(path).scanner(columns=columns).to_reader()


def cost(path, kind):
    """Return the processor seconds of fit and of transform."""
    from skliftpriv import GRRSanitizer

    warnings.simplefilter("ignore")
    lazy, stream = kind == "polars lazy", kind == "arrow stream"
    options = {"record_id": "id", "secret": b"a key that is known to all"} if lazy else {}
    sanitizer = GRRSanitizer(**WHICH, **options)
    table = read_rows(path, "arrow" if stream else kind)
    start = process_time()
    sanitizer.fit(table)
    fitted = process_time()
    if stream:
        del table
        for _ in sanitizer.transform(read_rows(path, kind)):
            pass
    elif lazy:
        sanitizer.transform(table).sink_parquet(path + ".released")
    else:
        sanitizer.transform(table)
    return fitted - start, process_time() - fitted


def measured(path, kind, package):
    """Measure one kind of table in a process of its own, with the package in a folder."""
    command = [sys.executable, __file__, "--cost", path, kind]
    environment = {**os.environ, "PYTHONPATH": str(package)}
    found = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    return json.loads(found.stdout.splitlines()[-1])


def compare(path, n_rows, before):
    """Print the seconds of all kinds, and their ratios."""
    runs = [(kind, ROOT) for kind in IN_MEMORY + LATER]
    runs += [(kind, before) for kind in IN_MEMORY if before]
    seconds = {run: [float("inf")] * 2 for run in runs}
    for _ in range(TURNS):
        for run in runs:
            seconds[run] = list(map(min, seconds[run], measured(path, *run)))
    print(f"\n{n_rows:,} rows        fit: s  of pandas   before   transform: s  of pandas   before")
    for kind in IN_MEMORY + LATER:
        cells = []
        for step in range(2):
            now = seconds[kind, ROOT][step]
            cells += [f"{now:8.2f}", f"{now / seconds['pandas', ROOT][step]:8.2f} x"]
            old = seconds.get((kind, before))
            cells += [f"{old[step] / now:7.1f} x" if old and before else " " * 9]
        print(f"{kind:<16}" + "  ".join(cells))


def main():
    """Print processor seconds and their ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000_000, 10_000_000])
    parser.add_argument("--before", type=Path, help="folder of a checkout of an older version")
    parser.add_argument("--quick", action="store_true", help="100,000 rows only")
    parser.add_argument("--cost", nargs=2, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.cost:
        costs = [cost(*args.cost) for _ in range(REPEATS)]
        print(json.dumps([min(step) for step in zip(*costs, strict=True)]))
        return
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "rows.parquet")
        for n_rows in [100_000] if args.quick else args.rows:
            write_rows(path, n_rows)
            compare(path, n_rows, args.before)


if __name__ == "__main__":
    main()
