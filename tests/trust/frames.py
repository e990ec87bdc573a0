"""Tables that nobody hopes to get: mixed types, huge numbers, broken text, strange names."""

import random
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

ROME = ZoneInfo("Europe/Rome")
#: Values of a column by its kind. Most can be released; the rest must be refused with a reason.
POOLS = {
    "text": ["a", "b", "c", "d"],
    "empty text": ["", " ", "a", "A"],
    "normal forms": ["é", "e\u0301", "ﬁ", "fi"],
    "control characters": ["a\0b", "a\nb", "\u202ea", "x" * 3000],
    "surrogates": ["\ud800", "a\udfff", "a"],
    "small integers": [0, 1, 2, 3],
    "64 bits": [2**63 - 1, -(2**63), 0, 2**53 + 1],
    "more than 64 bits": [2**64, 10**30, -(10**40), 2**64 + 1],
    "integers that print as errors": [10**5000, 10**5000 + 1, 1],
    "floats": [0.1, 1e308, 5e-324, 1.0],
    "signed zeros": [0.0, -0.0, 1.0],
    "floats that are none": [float("nan"), float("inf"), -float("inf"), 1.0],
    "truth": [True, False],
    "truth and numbers": [True, 1, 1.0, "1"],
    "gaps": ["a", None, pd.NA, pd.NaT],
    "bytes": [b"a", b"\xff", b""],
    "decimals": [Decimal("0.1"), Decimal("1E+20"), Decimal(3)],
    "dates": [date(2020, 1, 1), date(1, 1, 1), date(9999, 12, 31)],
    "zones": [
        datetime(2020, 10, 25, 0, 30, tzinfo=UTC),
        datetime(2020, 10, 25, 2, 30, tzinfo=ROME),
        datetime(2020, 10, 25, 2, 30, fold=1, tzinfo=ROME),
        datetime(2020, 10, 25, 2, 30, tzinfo=timezone(timedelta(hours=2))),
    ],
    "zones and none": [datetime(2020, 1, 1), datetime(2020, 1, 1, tzinfo=UTC)],
    "tuples": [("a", 1), ("a", 2), ("b",)],
    "mixed types": ["a", 1, 2.5, None, b"a", ("a",)],
    "lists": [[1], [2]],
    "dicts": [{"a": 1}, {}],
    "complex": [1j, 2 + 1j],
    "classes": [int, str],
    "one value": ["a"],
}
KINDS = ["pandas", "category", "polars", "pyarrow", "numpy", "numpy text", "index", "twice"]
SIZES = [0, 1, 2, 7, 40]


def make_table(kind, size, s_pool, x_pool, seed):
    """Return a table with the columns s, x and id; None if the library does not take the values."""
    rng = random.Random(seed)
    columns = {
        "s": [rng.choice(POOLS[s_pool]) for _ in range(size)],
        "x": [rng.choice(POOLS[x_pool]) for _ in range(size)],
        "id": list(range(size)),
    }
    try:
        return _made(kind, columns, [*POOLS[x_pool], "never"])
    except Exception:
        return None  # not a table at all


def _objects(values):
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def _made(kind, columns, categories):
    frame = pd.DataFrame({name: pd.Series(_objects(v)) for name, v in columns.items()})
    frame["id"] = frame["id"].astype(int)
    if kind == "category":
        return frame.assign(x=pd.Categorical(frame["x"], categories=categories))
    if kind == "polars":
        return pl.DataFrame(columns)
    if kind == "pyarrow":
        return pa.table(columns)
    if kind == "numpy":
        return frame.to_numpy()
    if kind == "numpy text":
        return frame.astype(str).to_numpy().astype(str)
    if kind == "index":
        return frame.set_index("id")
    if kind == "twice":
        return pd.concat([frame, frame[["x"]]], axis=1)
    return frame
