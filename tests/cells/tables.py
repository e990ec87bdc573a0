"""A small table with numbers, categories, missing values and dates."""

import narwhals as nw
import numpy as np
import pandas as pd

from skliftpriv.cells import Sample


def people(n_rows=2_000, seed=0):
    """Return rows whose income depends on age and job, and whose sex depends on job and hours."""
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 80, n_rows)
    job = rng.choice(["clerk", "cook", "nurse", "smith"], n_rows)
    female = rng.random(n_rows) < np.select([job == "nurse", job == "smith"], [0.9, 0.1], 0.5)
    hours = np.where(rng.random(n_rows) < 0.1, np.nan, 30 + 10 * rng.random(n_rows) - 5 * female)
    high = rng.random(n_rows) < 0.1 + 0.5 * (age > 40) + 0.3 * (job == "clerk")
    return pd.DataFrame(
        {
            "age": age,
            "job": np.where(rng.random(n_rows) < 0.05, None, job),
            "hours": hours,
            "since": pd.Timestamp("2020-01-01") + pd.to_timedelta(365 - 3 * age, unit="D"),
            "sex": np.where(female, "F", "M"),
            "income": np.where(high, "high", "low"),
        }
    )


def sample(frame, target="income"):
    """Return a sample of all columns but S and the target."""
    useful = frame.drop(columns=["sex", "income"])
    table = nw.from_native(useful, eager_only=True)
    return Sample(
        list(useful.columns),
        [table[name] for name in useful.columns],
        pd.factorize(frame["sex"], sort=True)[0],
        None if target is None else pd.factorize(frame[target], sort=True)[0],
    )
