"""Whether the time that ``transform`` takes depends on the values of X, or on what is released.

Run ``python examples/benchmarks/timing.py [--quick]``. The package does not promise constant time;
this measures what whoever can time a release may learn. Tables with the same number of rows are
released in turn, in random order, with one value of X in all rows of each: ratios of processor time
between values are compared with those between two copies of the same table, which are noise. For Y,
keyed releases of one table are timed with many secrets, and grouped by how many rows kept their
value. A ratio of 1 means no difference; intervals are those of 95 % of bootstrap samples of the
medians.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from skliftpriv import GRRSanitizer, OUESanitizer, WatchdogSanitizer
from skliftpriv.exceptions import UnprotectedColumnsWarning

#: Values of very different lengths, so that a dependence on text shows.
VALUES = ["a", "b" * 10, "c" * 100, "d" * 1000]


def make_rows(n: int = 4_000) -> pd.DataFrame:
    """Make rows to fit on."""
    rng = np.random.default_rng(0)
    codes = rng.choice(4, n, p=[0.4, 0.3, 0.2, 0.1])
    s = rng.random(n) < 0.1 + 0.25 * codes
    return pd.DataFrame({"s": s.astype(int), "x": np.array(VALUES, dtype=object)[codes]})


def seconds(run: Callable[[], Any]) -> float:
    """Return the processor time of a call."""
    start = time.process_time_ns()
    run()
    return (time.process_time_ns() - start) / 1e9


def ratio(one: np.ndarray, other: np.ndarray) -> str:
    """Return the ratio of two medians, with a bootstrap interval."""
    rng = np.random.default_rng(0)
    ratios = [
        np.median(rng.choice(one, one.size)) / np.median(rng.choice(other, other.size))
        for _ in range(1_000)
    ]
    low, high = np.quantile(ratios, [0.025, 0.975])
    return f"{np.median(one) / np.median(other):.3f} [{low:.3f}, {high:.3f}]"


def by_input(sanitizer: Any, n: int, repeats: int) -> None:
    """Print how the time depends on X."""
    ids = range(n)
    tables = [pd.DataFrame({"s": 0, "x": value, "id": ids}) for value in VALUES]
    tables.append(tables[0].copy())  # the same values again: noise
    rng = np.random.default_rng(1)
    taken: list[list[float]] = [[] for _ in tables]
    for _ in range(repeats):
        for i in rng.permutation(len(tables)):
            taken[i].append(seconds(lambda i=i: sanitizer.transform(tables[i])))
    times = [np.array(part) for part in taken]
    print(f"  the same value again        {ratio(times[-1], times[0])}")
    for value, found in zip(VALUES[1:], times[1:], strict=False):
        print(f"  text of {len(value):>5,} characters    {ratio(found, times[0])}", flush=True)


def by_output(n: int, repeats: int) -> None:
    """Print how the time depends on Y."""
    frame = make_rows()
    rows = pd.DataFrame({"s": 0, "x": VALUES[0], "id": range(n)})
    keyed = GRRSanitizer("s", "x", epsilon=0.5, record_id="id", secret=bytes(range(32)))
    keyed.fit(frame.assign(id=range(len(frame))))
    taken, kept = [], []
    for i in range(4 * repeats):
        keyed.set_params(secret=bytes(range(i % 200, i % 200 + 32)) + i.to_bytes(2, "big"))
        keyed.fit(frame.assign(id=range(len(frame))))
        released: list[Any] = []
        taken.append(seconds(lambda out=released: out.append(keyed.transform(rows))))
        kept.append((released[0]["x"] == VALUES[0]).sum())
    times, shares = np.array(taken), np.array(kept)
    many = shares > np.median(shares)
    assert 0 < many.sum() < many.size
    print(f"  more against fewer rows kept {ratio(times[many], times[~many])}", flush=True)
    ranks = (pd.Series(values).rank() for values in (times, shares))
    print(f"  rank correlation {np.corrcoef(*ranks)[0, 1]:+.3f}, of {times.size} releases")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer rows and repetitions")
    quick = parser.parse_args().quick
    n, repeats = (1_000, 15) if quick else (10_000, 100)
    warnings.simplefilter("ignore", UnprotectedColumnsWarning)
    frame = make_rows()
    with_ids = frame.assign(id=range(len(frame)))
    kinds = {
        "generalised randomised response": GRRSanitizer("s", "x", epsilon=0.5).fit(frame),
        "the same, keyed": GRRSanitizer(
            "s", "x", epsilon=0.5, record_id="id", secret=bytes(range(32))
        ).fit(with_ids),
        "watchdog": WatchdogSanitizer("s", "x", epsilon=0.2).fit(frame),
        "unary encoding": OUESanitizer("s", "x", epsilon=0.5).fit(frame),
    }
    print(f"{n:,} rows, {repeats} releases each: ratio of median processor time to the value 'a'")
    for name, sanitizer in kinds.items():
        print(name)
        by_input(sanitizer, n, repeats)
    print("by what is released, keyed")
    by_output(n, repeats)


if __name__ == "__main__":
    main()
