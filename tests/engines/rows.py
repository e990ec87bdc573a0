"""Rows, a sanitiser and the checks that tests of all engines share.

Worker processes import this module, so it needs no pytest.
"""

import pickle
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from scipy.stats import chi2

from skliftpriv import CountedRows, GRRSanitizer
from skliftpriv.estimators import Release
from skliftpriv.frames import LazyTable

KEY = b"a key that nobody else will have"
N_ROWS = 6_000


def make_rows(n_rows=N_ROWS, seed=0):
    """Return rows whose useful columns tell much about the sensitive one."""
    rng = np.random.default_rng(seed)
    s = rng.integers(3, size=n_rows)
    x = (s + rng.choice(5, n_rows, p=[0.4, 0.2, 0.2, 0.1, 0.1])) % 5
    k = rng.integers(4, size=n_rows)
    return pa.table(
        {
            "id": np.arange(n_rows) * 7 + 10**12,
            "s": np.array(["u", "v", "w"])[s],
            "x": pa.array(np.array(["a", "b", "c", "d", None], dtype=object)[x]),
            "k": pa.array(k, mask=k == 3),
            "age": rng.integers(20, 60, size=n_rows) + 5 * s,
            "day": pa.array((18_000 + 7 * k).astype(np.int32)).cast(pa.date32()),
        }
    )


ROWS = make_rows()


def with_numbers(kind):
    """Return rows whose useful column x holds decimals or spans of time."""
    k = ROWS["age"].to_numpy() // 20
    kinds = {
        "decimal": lambda: pa.array(k / 4).cast(pa.decimal128(10, 3)),
        "duration": lambda: pa.array(k * np.timedelta64(5_400_000_000, "us")),
    }
    return ROWS.select(["id", "s"]).append_column("x", kinds[kind]())


def keyed(useful="x", **options):
    options = {"epsilon": 0.8, "record_id": "id", "secret": KEY, **options}
    return GRRSanitizer("s", useful, **options)


def assert_fitted_alike(lazy, eager):
    """Compare all that a fit to rows and a fit to a lazy frame of them leave behind."""
    one, other = lazy.counted_, eager.counted_
    np.testing.assert_array_equal(one.counts.counts, other.counts.counts)
    assert one.counts.sensitive == other.counts.sensitive
    assert one.counts.useful == other.counts.useful
    assert one.counts.order == other.counts.order
    assert (one.n_rows, one.counts.weighted) == (other.n_rows, other.counts.weighted)
    assert (one.layout, one.types) == (other.layout, other.types)
    assert lazy.channel_ == eager.channel_
    assert lazy.report_ == eager.report_
    assert lazy.release_.fingerprint == eager.release_.fingerprint
    assert lazy.n_features_in_ == eager.n_features_in_
    assert lazy.feature_names_in_.tolist() == eager.feature_names_in_.tolist()
    assert vars(lazy).keys() == vars(eager).keys()


def listed(table, *by):
    """Return the rows of a table as a list, in an order of their own if columns are named."""
    return (table.sort_by([(name, "ascending") for name in by]) if by else table).to_pylist()


def in_cells(lazy, rows):
    """Count rows in cells that a sample was learnt from: lazily and in memory."""
    useful = ["age", "x"]
    cells = CountedRows.of(rows.slice(0, 5000), "s", useful, cells=6).cells
    return [CountedRows.of(each, "s", useful, cells=cells) for each in (lazy, rows)]


def assert_counted_alike(lazy, rows):
    """Compare counts of S and X in rows whose columns are called CELL and N, also in cells."""
    cells = CountedRows.of(rows.slice(0, 5000), "CELL", ["age", "N"], cells=6).cells
    for options in (
        {"sensitive": "CELL", "useful": "N"},
        {"sensitive": "N", "useful": "CELL"},
        {"sensitive": "CELL", "useful": ["age", "N"], "cells": cells},
    ):
        one, other = (CountedRows.of(each, **options) for each in (lazy, rows))
        np.testing.assert_array_equal(one.counts.counts, other.counts.counts)


def assert_holds_no_counts(sent, sanitizer):
    """Search pickled bytes for counts of S, or what is computed from them, and for the key."""
    for word in (b"ContingencyTable", b"JointDistribution", b"CountedRows", b"Certificate", KEY):
        assert word not in sent
    counts = sanitizer.counted_.counts.counts
    for table in (counts, counts.astype(np.int64), sanitizer.joint_.matrix):
        for array in (*table, *table.T, table):
            assert not array.any() or np.ascontiguousarray(array).tobytes() not in sent
        assert pickle.dumps(table.tolist())[20:-20] not in sent


def chi_square(x, y, channel):
    """Return the probability of outputs that fit a channel less well than these.

    Cells of the table with an expected number below 5 are put together: certificates put a little
    mass everywhere.
    """
    rows = [channel.inputs.index(value) for value in x]
    columns = [channel.outputs.index(value) for value in y]
    found = np.zeros(channel.matrix.shape)
    np.add.at(found, (rows, columns), 1)
    return fits(found, channel)


def fits(found, channel):
    expected = found.sum(axis=1, keepdims=True) * channel.matrix
    statistic, freedom = 0.0, 0
    for seen, awaited in zip(found, expected, strict=True):
        few = awaited < 5
        seen = np.append(seen[~few], seen[few].sum())
        awaited = np.append(awaited[~few], awaited[few].sum())
        kept = awaited > 0
        statistic += ((seen - awaited)[kept] ** 2 / np.maximum(awaited[kept], 1)).sum()
        freedom += kept.sum() - 1
    return chi2.sf(statistic, freedom)


@dataclass
class Fresh:
    """Releases parts with fresh noise, as no lazy frame may be released."""

    release: Release

    def __call__(self, part):
        table = self.release.table(part)
        drawn = self.release.sample(self.release.codes(table))
        columns = self.release.columns(table, drawn, "label")
        return table.build({"id": table.column("id"), **columns})


def released_with_ids(frame, *, fresh=False):
    """Release a lazy frame with its ids, and with keys or without."""
    sanitizer = keyed(remainder="passthrough").fit(ROWS.select(["id", "s", "x"]))
    if fresh:
        return LazyTable.of(frame).mapped(["id", "x"], Fresh(sanitizer.release_))
    return sanitizer.transform(frame)


def assert_redrawn(shares, fresh):
    """Check that no record has two values with keys, and that many have without."""
    assert all((share > 0.03) if fresh else (share == 0) for share in shares.values()), shares


def redrawn(first, second):
    """Return the share of records of two releases that have two different values."""
    values = dict(zip(first["id"].to_pylist(), first["x"].to_pylist(), strict=True))
    again = zip(second["id"].to_pylist(), second["x"].to_pylist(), strict=True)
    differ = [values[one] != value for one, value in again if one in values]
    assert differ
    return sum(differ) / len(differ)
