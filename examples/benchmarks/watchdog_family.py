"""How long fit and transform take, as ratios against what people use now, in the same run.

Run: python examples/benchmarks/watchdog_family.py [--quick]
"""

import argparse
import time

import numpy as np
import pandas as pd
from sklearn.preprocessing import OrdinalEncoder

from skliftpriv import ALIP, SubsetMergingSanitizer, mechanisms
from skliftpriv.datasets import make_joint


def best_of(function, repeats=5):
    """Shortest of several runs: what the machine can do when left alone."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


def string_table(n_rows, n_symbols, rng):
    joint = make_joint(6, n_symbols, random_state=0)
    cells = rng.choice(joint.matrix.size, size=n_rows, p=joint.matrix.ravel())
    s, x = np.divmod(cells, n_symbols)
    return pd.DataFrame(
        {
            "sensitive": np.array([f"group {i}" for i in range(6)])[s],
            "useful": np.array([f"occupation number {i}" for i in range(n_symbols)])[x],
        }
    )


def compare_columns(n_rows):
    print(f"{n_rows:,} rows of text, seconds (ratio to the baseline)")
    print(f"{'symbols':>8}{'crosstab':>11}{'fit':>18}{'OrdinalEncoder':>16}{'transform':>18}")
    for n_symbols in (15, 200):
        frame = string_table(n_rows, n_symbols, np.random.default_rng(0))
        sanitizer = SubsetMergingSanitizer("sensitive", "useful", epsilon=0.5)
        encoder = OrdinalEncoder().fit(frame[["useful"]])
        count = best_of(lambda f=frame: pd.crosstab(f["sensitive"], f["useful"]))
        fit = best_of(lambda s=sanitizer, f=frame: s.fit(f))
        encode = best_of(lambda e=encoder, f=frame: e.transform(f[["useful"]]))
        transform = best_of(lambda s=sanitizer, f=frame: s.transform(f))
        print(
            f"{n_symbols:>8}{count:>11.3f}{fit:>10.3f} ({fit / count:.2f}x)"
            f"{encode:>16.3f}{transform:>10.3f} ({transform / encode:.2f}x)"
        )


def grow(sizes):
    print("\nsubset merging of a 5 x n joint, (0.5, 0.5)-ALIP")
    previous = None
    for n_useful in sizes:
        joint = make_joint(5, n_useful, random_state=0)
        seconds = best_of(lambda j=joint: mechanisms.subset_merging(j, ALIP(0.5, 0.5)), 1)
        growth = "" if previous is None else f"   x{seconds / previous:.1f}"
        print(f"{n_useful:>8} symbols {seconds:>8.2f} s{growth}")
        previous = seconds


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows and symbols")
    quick = parser.parse_args().quick
    compare_columns(100_000 if quick else 1_000_000)
    grow([562, 1125] if quick else [1125, 2250, 4500, 6000])
