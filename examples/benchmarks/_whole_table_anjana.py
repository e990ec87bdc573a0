"""Generalise a whole table with anjana, for the benchmark of whole tables."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
from _whole_table_data import Release, Split, quiet

#: Training rows that anjana may suppress, in per cent.
SUPPRESSED = 5
#: Every class of delta-disclosure has at least so many rows; anjana asks for it.
SMALLEST_CLASS = 5
ANY = "*"
#: What each value of a column becomes, level by level.
Hierarchy = dict[int, np.ndarray]


def hierarchies(split: Split) -> dict[str, Hierarchy]:
    """Make hierarchies by one rule for all tables; nothing is tuned by hand.

    Numbers: themselves, then 16, 8, 4 and 2 ranges with about as many training rows each, then
    any. Text: itself, then the 8, 4 and 2 most frequent values and "other", then any. Levels that
    change nothing are left out.
    """
    made = {}
    for name, column in split.X_train.items():
        values = pd.unique(pd.concat([column, split.X_test[name]]))
        if pd.api.types.is_numeric_dtype(column):
            edges = np.quantile(column, np.arange(1, 16) / 16)
            ranges = np.searchsorted(edges, values)
            coarse = [[f"{size}:{r // size:02d}" for r in ranges] for size in (1, 2, 4, 8)]
        else:
            frequent = column.value_counts().index
            coarse = [
                [f"{k}:{v}" if v in set(frequent[:k]) else f"{k}:(other)" for v in values]
                for k in (8, 4, 2)
            ]
        levels = [values.astype(str).tolist()]
        for level in (*coarse, [ANY] * len(values)):
            if len(set(level)) < len(set(levels[-1])):
                levels.append(level)
        made[str(name)] = {i: np.array(level, dtype=object) for i, level in enumerate(levels)}
    return made


def generalised(split: Split, made: dict[str, Hierarchy], levels: dict[str, int]) -> Release:
    """Apply levels to training and test rows; ranges become their numbers."""
    released = []
    for X in (split.X_train, split.X_test):
        columns: dict[str, Any] = {}
        for name, level in levels.items():
            numeric = pd.api.types.is_numeric_dtype(X[name])
            if level == 0:
                columns[name] = X[name]
                continue
            to = dict(zip(made[name][0], made[name][level], strict=True))
            general = X[name].astype(str).map(to)
            if numeric and level < max(made[name]):
                columns[name] = general.str.split(":").str[1].astype(float)
            else:
                columns[name] = general
        released.append(pd.DataFrame(columns))
    return Release(*released)


@lru_cache(maxsize=8)
def k_anonymous(split: Split, k: int) -> tuple[pd.DataFrame, dict[str, Hierarchy]]:
    """Return the training rows that anjana leaves, generalised, and the hierarchies."""
    from anjana.anonymity import k_anonymity

    made = hierarchies(split)
    rows = split.X_train.astype(str).astype(object)
    rows["(row)"] = np.arange(len(rows))
    rows["(s)"] = split.s_train.astype(object)
    result = quiet(k_anonymity, rows, [], list(made), k, SUPPRESSED, made)
    return result.drop(columns="index", errors="ignore"), made


@lru_cache(maxsize=8)
def disclosing(
    split: Split, deltas: tuple[float, ...]
) -> tuple[pd.DataFrame, dict[str, Hierarchy]]:
    """Return the same for the last of falling deltas; each continues where the one before ended."""
    from anjana.anonymity import delta_disclosure

    *before, delta = deltas
    rows, made = disclosing(split, tuple(before)) if before else k_anonymous(split, SMALLEST_CLASS)
    result = quiet(
        delta_disclosure, rows, [], list(made), "(s)", SMALLEST_CLASS, delta, SUPPRESSED, made
    )
    return result.drop(columns="index", errors="ignore"), made


def anjana_release(split: Split, rows: pd.DataFrame, made: dict[str, Hierarchy]) -> Release:
    """Read off the levels that anjana chose, and apply them to all rows."""
    from anjana.anonymity.utils.utils import check_gen_level

    if rows.empty:  # not achieved
        levels = {name: max(hierarchy) for name, hierarchy in made.items()}
        return generalised(split, made, levels)
    levels = check_gen_level(rows, list(made), made)
    release = generalised(split, made, levels)
    kept = rows["(row)"].to_numpy(dtype=int)
    facts = {"suppressed": 1 - len(kept) / len(split.X_train)}
    return Release(release.train.iloc[kept], release.test, kept, facts)


def k_anonymity(split: Split, k: int) -> Release:
    """Anjana: every combination of released values has at least k training rows."""
    return anjana_release(split, *k_anonymous(split, k))


def delta_disclosure(split: Split, deltas: tuple[float, ...]) -> Release:
    """Anjana: the log-lift of S in every class is at most delta, the last of ``deltas``.

    It looks only at the values of S that occur in a class.
    """
    return anjana_release(split, *disclosing(split, deltas))
