"""What people use today to release a table, for the benchmark of whole tables."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
import pandas as pd
from _whole_table_anjana import delta_disclosure, k_anonymity
from _whole_table_data import Method, Release, Split, quiet
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

#: Rows that learned representations are fitted to: their gradients are finite differences.
LEARNING_ROWS = 1_000
#: Importing it prints what else could be installed.
AIF360 = "aif360.algorithms.preprocessing"


def as_numbers(split: Split, **options: Any) -> tuple[pd.DataFrame, pd.DataFrame]:
    """One-hot encode text and standardise everything, as linear methods want it."""
    text = split.X_train.select_dtypes(exclude="number").columns
    encoder = OneHotEncoder(
        handle_unknown="infrequent_if_exist" if options else "ignore",
        sparse_output=False,
        drop="if_binary",
        **options,
    )
    columns = make_column_transformer((encoder, text), remainder="passthrough")
    steps = make_pipeline(columns, StandardScaler())
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Found unknown categories")
        train = steps.fit_transform(split.X_train)
        test = steps.transform(split.X_test)
    return named(train), named(test)


def named(values: np.ndarray) -> pd.DataFrame:
    """Return numbers as a frame whose columns are called c0, c1, ..."""
    return pd.DataFrame(values, columns=[f"c{i}" for i in range(values.shape[1])])


def dropped(split: Split) -> Release:
    """Drop the sensitive column and release the others as they are."""
    return Release(split.X_train, split.X_test)


def correlation_remover(split: Split, alpha: float) -> Release:
    """Fairlearn: subtract from every column its linear regression on S."""
    from fairlearn.preprocessing import CorrelationRemover

    groups = pd.get_dummies(pd.concat([split.s_train, split.s_test]), drop_first=True, dtype=float)
    groups.columns = [f"s{i}" for i in range(groups.shape[1])]
    n_train = len(split.s_train)
    train, test = (
        pd.concat([X, part.reset_index(drop=True)], axis=1)
        for X, part in zip(as_numbers(split), (groups[:n_train], groups[n_train:]), strict=True)
    )
    remover = CorrelationRemover(sensitive_feature_ids=list(groups.columns), alpha=alpha)
    return Release(named(remover.fit_transform(train)), named(remover.transform(test)))


def aif360_data(X: pd.DataFrame, s: np.ndarray, y: np.ndarray) -> Any:
    """Return rows as AIF360 wants them, with S as a feature."""
    from aif360.datasets import BinaryLabelDataset

    frame = X.assign(s=s.astype(float), y=y.astype(float))
    return BinaryLabelDataset(df=frame, label_names=["y"], protected_attribute_names=["s"])


def disparate_impact_remover(split: Split, level: float) -> Release:
    """AIF360: give every column the same distribution in all groups of S.

    It has no ``transform``, and parts that are repaired one by one are repaired differently. So
    training and test rows are repaired together; it does not look at the target.
    """
    DisparateImpactRemover = quiet(import_module, AIF360).DisparateImpactRemover
    codes, _ = pd.factorize(pd.concat([split.s_train, split.s_test]), sort=True)
    rows = pd.concat(as_numbers(split), ignore_index=True)
    remover = DisparateImpactRemover(repair_level=level, sensitive_attribute="s")
    result = remover.fit_transform(aif360_data(rows, codes, np.zeros(len(rows))))
    repaired = named(np.delete(result.features, result.feature_names.index("s"), axis=1))
    n_train = len(split.s_train)
    return Release(repaired[:n_train], repaired[n_train:])


def some_rows(split: Split) -> np.ndarray:
    """Draw the rows that a learned representation is fitted to."""
    n_rows = len(split.X_train)
    rng = np.random.default_rng(split.seed)
    return rng.choice(n_rows, min(n_rows, LEARNING_ROWS), replace=False)


def lfr(split: Split, fairness: float) -> Release:
    """AIF360: learn prototypes whose shares are alike in two groups, and release their mixtures.

    The groups are the most frequent value of S and all others, because it takes only two. S
    itself is not among the features.
    """
    LFR = quiet(import_module, AIF360).LFR

    def rows(X: pd.DataFrame, s: pd.Series, y: np.ndarray) -> Any:
        data = aif360_data(X, (s == most).to_numpy(), y)
        place = data.feature_names.index("s")
        data.features = np.delete(data.features, place, axis=1)
        data.feature_names = [name for name in data.feature_names if name != "s"]
        return data

    most = split.s_train.mode()[0]
    train, test = as_numbers(split, min_frequency=0.05)
    chosen = some_rows(split)
    learner = LFR([{"s": 0.0}], [{"s": 1.0}], k=5, Ax=0.01, Ay=1.0, Az=fairness, seed=split.seed)
    learner.fit(
        rows(train.iloc[chosen], split.s_train.iloc[chosen], split.y_train[chosen]),
        maxiter=100,
        maxfun=30_000,
    )
    return Release(
        *(
            named(learner.transform(rows(X, s, y)).features)
            for X, s, y in (
                (train, split.s_train, split.y_train),
                (test, split.s_test, split.y_test),
            )
        )
    )


def prototypes(split: Split, fairness: float) -> Release:
    """Fairlearn's version of LFR, which takes several groups; it releases shares of prototypes."""
    from fairlearn.preprocessing import PrototypeRepresentationLearner

    train, test = as_numbers(split, min_frequency=0.05)
    chosen = some_rows(split)
    learner = PrototypeRepresentationLearner(
        n_prototypes=5,
        reconstruct_weight=0.01,
        fairness_weight=fairness,
        max_iter=20,
        random_state=split.seed,
    )
    learner.fit(
        train.iloc[chosen].to_numpy(),
        split.y_train[chosen].astype(int),
        sensitive_features=split.s_train.iloc[chosen].reset_index(drop=True),
    )
    return Release(
        named(learner.transform(train.to_numpy())), named(learner.transform(test.to_numpy()))
    )


def other_methods(quick: bool) -> list[Method]:
    """Return all methods that are not ours, with the reason if one cannot run."""

    def add(
        name: str, setting: str, release: Callable[..., Release], needs: str, sees_s: bool = False
    ) -> None:
        absent = [part for part in needs.split() if find_spec(part) is None]
        missing = f"{', '.join(absent)} not installed" if absent else ""
        found.append(Method(name, setting, release, sees_s, missing=missing))

    found: list[Method] = []
    add("raw, S dropped", "", dropped, "")
    add(
        "fairlearn CorrelationRemover",
        "alpha=1",
        partial(correlation_remover, alpha=1.0),
        "fairlearn",
        True,
    )
    for level in (1.0,) if quick else (1.0, 0.5):
        release = partial(disparate_impact_remover, level=level)
        needs = "aif360 BlackBoxAuditing"
        add("AIF360 DisparateImpactRemover", f"level={level:g}", release, needs, True)
    for fairness in (50.0,) if quick else (50.0, 5.0):
        add("AIF360 LFR", f"Az={fairness:g}", partial(lfr, fairness=fairness), "aif360")
    if not quick:
        release = partial(prototypes, fairness=50.0)
        add("fairlearn PrototypeRepresentationLearner", "fairness=50", release, "fairlearn")
    for k in (50,) if quick else (5, 50, 500):
        add("anjana k-anonymity", f"k={k}", partial(k_anonymity, k=k), "anjana pycanon")
    deltas = (0.5,) if quick else (2.0, 1.0, 0.5, 0.25, 0.1)
    for i, delta in enumerate(deltas):
        release = partial(delta_disclosure, deltas=deltas[: i + 1])
        add("anjana delta-disclosure", f"delta={delta:g}", release, "anjana pycanon")
    return found
