"""What sanitising a whole table costs in time and memory, beside the model that is trained on it.

Run: python examples/benchmarks/whole_table_cost.py [--quick] [--rows 1000000]

The table is synthetic: ten numeric columns, ten of text with 5 to 50 values, a binary sensitive
column that several of them tell something about, and a binary target. ``fit`` learns 200 cells,
counts them and solves for the optimal mechanism that keeps what predicts the target. Its time is a
ratio to ``HistGradientBoostingClassifier.fit`` on the same table with text as ordinal codes, that
of ``transform`` a ratio to ``OrdinalEncoder.transform`` of the text columns, in the same run.
Seconds are those of the processor, everything has one thread, and the shorter of two runs counts.

Memory is the peak of a process beyond what it used when the table had been made, for a tenth, three
tenths and all of the rows. Each figure comes from a process of its own. Released rows are part of
it: 8 bytes each as codes, the text of their cells as labels.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import resource
import sys
import warnings
from collections.abc import Callable
from multiprocessing import get_context
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.preprocessing import OrdinalEncoder
from threadpoolctl import threadpool_limits

from skliftpriv import ORRSanitizer
from skliftpriv.exceptions import SeededReleaseWarning

N_NUMERIC = 10
N_VALUES = (5, 8, 10, 12, 15, 20, 25, 30, 40, 50)
TEXT = [f"text {i}" for i in range(len(N_VALUES))]


def make_rows(n_rows: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Return a table with its sensitive column, and the target."""
    rng = np.random.default_rng(0)
    s = rng.random(n_rows) < 0.4
    score = 0.3 * s + rng.standard_normal(n_rows)
    columns: dict[str, Any] = {"s": np.array(["a", "b"], dtype=object)[s.astype(int)]}
    for i in range(N_NUMERIC):
        column = rng.standard_normal(n_rows)
        if i < 3:  # these know about S
            column += 0.5 * s
        if i % 2:  # these know about the target
            score += 0.4 * column
        columns[f"number {i}"] = column
    for i, n_values in enumerate(N_VALUES):
        code = rng.integers(n_values, size=n_rows)
        if i < 3:
            code = np.where(s & (rng.random(n_rows) < 0.3), code // 2, code)
        if i % 2:
            score += code / n_values
        names = np.array([f"value number {j}" for j in range(n_values)], dtype=object)
        columns[TEXT[i]] = names[code]
    return pd.DataFrame(columns, copy=False), score > np.quantile(score, 0.7)


def sanitizer(use_sensitive: bool = False) -> ORRSanitizer:
    return ORRSanitizer(
        "s", cells=200, utility="target", epsilon=0.1, use_sensitive=use_sensitive, random_state=0
    )


def codes_of(frame: pd.DataFrame) -> np.ndarray:
    """Return the useful columns as numbers, text first."""
    numbers = frame[[f"number {i}" for i in range(N_NUMERIC)]]
    return np.hstack([OrdinalEncoder().fit_transform(frame[TEXT]), numbers])


def boosting() -> HistGradientBoostingClassifier:
    categories = list(range(len(TEXT)))
    return HistGradientBoostingClassifier(categorical_features=categories, random_state=0)


def seconds(function: Callable[[], Any], repeats: int = 2) -> float:
    times = []
    for _ in range(repeats):
        start = process_time()
        function()
        times.append(process_time() - start)
    return min(times)


def compare_times(n_rows: int) -> None:
    """Print seconds and ratios."""
    frame, y = make_rows(n_rows)
    codes = codes_of(frame)
    encoder = OrdinalEncoder().fit(frame[TEXT])
    fit = seconds(lambda: boosting().fit(codes, y))
    encode = seconds(lambda: encoder.transform(frame[TEXT]))
    print(f"{n_rows:,} rows x {frame.shape[1] - 1} columns and S; seconds of the processor\n")
    print(f"{'':<44}{'seconds':>9}{'ratio':>8}")
    print(f"{'HistGradientBoostingClassifier.fit':<44}{fit:>9.2f}{1:>8.2f}")
    print(f"{'OrdinalEncoder.transform, text columns':<44}{encode:>9.2f}{1:>8.2f}")
    for name, sees in (("ORRSanitizer", False), ("ORRSanitizer, sees S", True)):
        ours = sanitizer(sees)
        took = seconds(lambda one=ours: one.fit(frame, y))
        print(f"{f'{name}: fit':<44}{took:>9.2f}{took / fit:>8.2f}", flush=True)
        took = seconds(lambda one=ours: one.transform(frame))
        print(f"{f'{name}: transform':<44}{took:>9.2f}{took / encode:>8.2f}", flush=True)


def peak_megabytes() -> float:
    """Return the largest memory since the process, or :func:`used_megabytes`, started counting."""
    with contextlib.suppress(OSError):
        status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
        for line in status.splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1024 if sys.platform != "darwin" else 1024**2)  # kilobytes; bytes on a Mac


def used_megabytes() -> float:
    """Return the memory in use, and let the peak start from it.

    Where the system cannot do that (other than Linux), it is the peak so far. Memory that was freed
    goes back to the system first: what comes next would use it again without being counted.
    """
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL("libc.so.6").malloc_trim(0)
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    return peak_megabytes()


def measure_memory(what: str, n_rows: int, results: Any) -> None:
    """Report the size of the table and the peak beyond it; runs in a process of its own."""
    warnings.simplefilter("ignore", SeededReleaseWarning)
    with threadpool_limits(1):
        warmed, target = make_rows(3_000)  # imports and caches
        sanitizer().fit(warmed, target).transform(warmed)
        boosting().fit(codes_of(warmed), target)
        empty = used_megabytes()
        frame, y = make_rows(n_rows)
        before = used_megabytes()
        if what == "model":
            boosting().fit(codes_of(frame), y)
        else:
            fitted = sanitizer().fit(frame, y)
            if what != "fit":
                fitted.set_params(output=what).transform(frame)
        results.put((before - empty, peak_megabytes() - before))


def compare_memory(sizes: list[int]) -> None:
    """Print the peak beyond the table for each number of rows."""
    context = get_context("spawn")
    whats = {"fit": "fit", "code": "+ codes", "label": "+ labels", "model": "boosting"}
    names = "".join(f"{name:>12}" for name in whats.values())
    print("\nMB beyond the table: a fit, with a release of codes or of labels; the model")
    print(f"{'rows':>10}{'table':>9}{names}")
    for n_rows in sizes:
        found = []
        for what in whats:
            results = context.SimpleQueue()
            process = context.Process(target=measure_memory, args=(what, n_rows, results))
            process.start()
            process.join()
            if process.exitcode:
                raise SystemExit(f"{what} failed")
            found.append(results.get())
        beyond = "".join(f"{peak:>12.0f}" for _, peak in found)
        print(f"{n_rows:>10,}{found[0][0]:>9.0f}{beyond}", flush=True)


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="50,000 rows")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--skip", nargs="+", choices=("times", "memory"), default=())
    options = parser.parse_args()
    n_rows = 50_000 if options.quick else options.rows
    if "times" not in options.skip:
        with threadpool_limits(1):
            compare_times(n_rows)
    if "memory" not in options.skip:
        compare_memory([n_rows // 10, 3 * n_rows // 10, n_rows])


if __name__ == "__main__":
    warnings.simplefilter("ignore", SeededReleaseWarning)
    main()
