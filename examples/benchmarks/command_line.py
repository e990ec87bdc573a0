"""What `skliftpriv sanitize` costs on a large CSV file, beside pandas reading and writing it.

Run: python examples/benchmarks/command_line.py [--quick]

The file repeats rows of Adult in random order, with four columns. The baseline is a process that
reads it with pandas in parts of as many rows and writes each part back, in the same run. Each
process reports the seconds of its processor and its peak memory; starting Python and importing
are part of both. Every process runs twice, by turns, and the shorter time counts.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter

import numpy as np

from skliftpriv.datasets import load_adult

COLUMNS = ["age", "relationship", "occupation", "education"]
PART = 1 << 16
PANDAS = """
import json
import sys
import pandas as pd
source, target, options = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
for i, part in enumerate(pd.read_csv(source, chunksize=65536, **options)):
    part.to_csv(target, mode="a" if i else "w", header=not i, index=False)
"""
COMMAND = [sys.executable, "-m", "skliftpriv", "sanitize"]
WHICH = ["--sensitive", "relationship", "--useful", "occupation", "--epsilon", "0.5"]


def write_rows(path, n_rows):
    """Write rows of Adult in random order, part by part."""
    adult = load_adult("all")[COLUMNS]
    rng = np.random.default_rng(0)
    with open(path, "w", encoding="utf-8") as file:
        adult.iloc[:0].to_csv(file, index=False)
        for start in range(0, n_rows, PART):
            some = rng.integers(len(adult), size=min(PART, n_rows - start))
            adult.iloc[some].to_csv(file, index=False, header=False)


def measure(command, results):
    """Run a command and report its seconds, those of the clock and its peak memory in MB."""
    start = perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    elapsed = perf_counter() - start
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    # Kilobytes, but bytes on a Mac.
    peak = used.ru_maxrss / (1024 if sys.platform != "darwin" else 1024**2)
    results.put((used.ru_utime + used.ru_stime, elapsed, peak))


def measured(command):
    """Run a command in a process of its own, so that its peak memory is its own, too."""
    context = get_context("spawn")
    results = context.SimpleQueue()
    process = context.Process(target=measure, args=(command, results))
    process.start()
    process.join()
    if process.exitcode:
        raise SystemExit(f"{' '.join(map(str, command))} failed")
    return results.get()


def main():
    """Print seconds, ratios and memory."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="200,000 rows instead of 5 million")
    n_rows = 200_000 if parser.parse_args().quick else 5_000_000
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "in.csv", Path(folder) / "out.csv"
        write_rows(source, n_rows)
        files = [str(source), "-o", str(target)]
        text = {"dtype": "str", "keep_default_na": False}
        pandas = [sys.executable, "-c", PANDAS, str(source), str(target)]
        commands = {
            "pandas": [*pandas, "{}"],
            "pandas, all columns as text": [*pandas, json.dumps(text)],
            "sanitize": [*COMMAND, *files, *WHICH],
            "sanitize --keep-other-columns": [*COMMAND, *files, *WHICH, "--keep-other-columns"],
        }
        runs = [{name: measured(command) for name, command in commands.items()} for _ in range(2)]
        size = source.stat().st_size / 1e6
    print(f"{n_rows:,} rows x {len(COLUMNS)} columns, {size:.0f} MB; parts of {PART:,} rows\n")
    print(f"{'':<32}{'seconds':>9}{'clock':>9}{'ratio':>7}{'peak MB':>9}")
    baseline = min(run["pandas"][0] for run in runs)
    for name in commands:
        seconds, elapsed, peak = min(run[name] for run in runs)
        ratio = seconds / baseline
        print(f"{name:<32}{seconds:>9.1f}{elapsed:>9.1f}{ratio:>7.2f}{peak:>9.0f}")


if __name__ == "__main__":
    main()
