"""What a sanitiser adds to a grid search over epsilon, and where the time of the search goes.

Run: python examples/benchmarks/model_selection.py [--quick]

A pipeline of subset merging, one-hot encoding and logistic regression predicts income from
Adult's occupation, with relationship as the sensitive column: 20 budgets x 5 folds. The baseline
is the same search without the sanitiser, in the same run. Both have one thread, and seconds are
those of the processor: other work on the machine disturbs them little.
"""

import argparse
from collections import Counter
from contextlib import ExitStack
from functools import wraps
from time import process_time
from unittest.mock import patch

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import get_scorer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder
from threadpoolctl import threadpool_limits

from skliftpriv import SubsetMergingSanitizer
from skliftpriv.datasets import load_adult
from skliftpriv.model_selection import tradeoff_curve

COLUMNS = ["relationship", "occupation"]
# A rare occupation may be missing from a training fold.
SANITIZER = SubsetMergingSanitizer(*COLUMNS, handle_unknown="resample")
ENCODER = ("encoder", OneHotEncoder(handle_unknown="ignore"))
CLASSIFIER = ("classifier", LogisticRegression())
N_FOLDS = 5

SCORE = "predicting and scoring"
PARTS = {
    (SubsetMergingSanitizer, "fit"): "sanitiser: fit",
    (SubsetMergingSanitizer, "transform"): "sanitiser: transform",
    (OneHotEncoder, "fit"): "encoder: fit and transform",
    (OneHotEncoder, "transform"): "encoder: fit and transform",
    (LogisticRegression, "fit"): "classifier: fit",
    (GridSearchCV, "fit"): "splitting, cloning, taking rows",
}


class Stopwatch:
    """Seconds by part. Each second belongs to the innermost part only, so that parts add up."""

    def __init__(self):
        self.seconds = Counter()
        self._inside = []

    def on(self, part, function):
        """Return the same function with its time counted to a part."""

        @wraps(function)
        def timed(*args, **kwargs):
            self._inside.append(0.0)
            start = process_time()
            try:
                return function(*args, **kwargs)
            finally:
                spent = process_time() - start
                self.seconds[part] += spent - self._inside.pop()
                if self._inside:
                    self._inside[-1] += spent

        return timed


def time_search(steps, grid, X, y):
    """Return the seconds of a grid search by part."""
    watch = Stopwatch()
    search = GridSearchCV(
        Pipeline([*steps, ENCODER, CLASSIFIER]),
        grid,
        scoring=watch.on(SCORE, get_scorer("roc_auc")),
        cv=N_FOLDS,
        refit=False,
        error_score="raise",
    )
    with ExitStack() as stack:
        for (kind, method), part in PARTS.items():
            stack.enter_context(patch.object(kind, method, watch.on(part, getattr(kind, method))))
        search.fit(X, y)
    return watch.seconds


def seconds_of(function):
    start = process_time()
    function()
    return process_time() - start


def show_search(safe, raw, n_fits):
    whole, baseline = safe.total(), raw.total()
    print(f"{'':<40}{'seconds':>9}{'share':>8}{'without':>10}")
    for part in dict.fromkeys([*PARTS.values(), SCORE]):
        share = safe[part] / whole
        print(f"{part:<40}{safe[part]:>9.2f}{share:>8.0%}{raw[part]:>10.2f}")
    print(f"{f'{n_fits} fits, scored':<40}{whole:>9.2f}{'':>8}{baseline:>10.2f}")
    print(f"{'ratio to the search without a sanitiser':<40}{whole / baseline:>9.2f}")


def show_counting(adult, epsilons, fit):
    n_fits = N_FOLDS * len(epsilons)
    fold = adult.iloc[: len(adult) * (N_FOLDS - 1) // N_FOLDS]
    counted = seconds_of(
        lambda: [pd.crosstab(fold["relationship"], fold["occupation"]) for _ in range(n_fits)]
    )
    print(f"\n{n_fits} x pandas.crosstab of a fold: {counted:.2f} s")
    print(f"{n_fits} x fit of the sanitiser: {fit:.2f} s, ratio {fit / counted:.2f}")
    one = seconds_of(lambda: pd.crosstab(adult["relationship"], adult["occupation"]))
    curve = seconds_of(lambda: tradeoff_curve(SANITIZER, adult[COLUMNS], epsilons))
    print(f"\none pandas.crosstab of all rows: {one:.4f} s")
    print(
        f"tradeoff_curve of {len(epsilons)} budgets, counted once: {curve:.4f} s, "
        f"ratio {curve / one:.1f}"
    )


def main():
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="four budgets instead of twenty")
    epsilons = np.linspace(0.1, 2.0, 4 if parser.parse_args().quick else 20)
    adult = load_adult(split="train")
    income = adult["income"] == ">50K"
    n_fits = N_FOLDS * len(epsilons)
    print(f"{len(adult):,} rows, {len(epsilons)} budgets x {N_FOLDS} folds")
    runs = []
    for _ in range(2):  # by turns, and the shorter of two is shown
        # As many candidates, all alike.
        same = {"classifier__C": [1.0] * len(epsilons)}
        raw = time_search([], same, adult[["occupation"]], income)
        budgets = {"sanitizer__epsilon": epsilons}
        safe = time_search([("sanitizer", SANITIZER)], budgets, adult[COLUMNS], income)
        runs.append((raw, safe))
    raw, safe = (min(times, key=Counter.total) for times in zip(*runs, strict=True))
    show_search(safe, raw, n_fits)
    show_counting(adult, epsilons, safe["sanitiser: fit"])


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
