"""Rows that are not in memory: lazy frames are counted and released lazily, streams once."""

import pickle
import tracemalloc

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from scipy.stats import chisquare

from skliftpriv import (
    ConditionalReporting,
    CountedRows,
    GRRSanitizer,
    ORRSanitizer,
    OUESanitizer,
    Secret,
    SubsetMergingSanitizer,
)
from skliftpriv.estimators._later import KeyedRelease
from skliftpriv.exceptions import (
    InvalidParameterError,
    SeededReleaseWarning,
    SizeLimitError,
    UnknownCategoryError,
)
from skliftpriv.frames import _lazy

from .samples import make_frame

KEY = b"a key that nobody else will have"
FRAME = pl.DataFrame(make_frame()).with_row_index("id")


def keyed(**options):
    return GRRSanitizer("s", "x", epsilon=1.0, record_id="id", secret=KEY, **options)


def assert_same_counts(one, other):
    np.testing.assert_array_equal(one.counts.counts, other.counts.counts)
    assert one.counts.sensitive == other.counts.sensitive
    assert one.counts.useful == other.counts.useful
    assert one.counts.order == other.counts.order
    assert (one.n_rows, one.counts.weighted) == (other.n_rows, other.counts.weighted)
    assert (one.layout, one.types) == (other.layout, other.types)


COLUMNS = {
    "text": pl.col("x"),
    "nulls": pl.when(pl.col("x") != "a").then("x"),
    "NaN and null": pl.when(pl.col("x") == "a")
    .then(float("nan"))
    .when(pl.col("x") != "b")
    .then(pl.col("x").rank("dense").cast(float)),
    "Enum": pl.col("x").cast(pl.Enum([*"gfedcba"])),
    "Categorical": pl.col("x").cast(pl.Categorical),
    "Date": pl.col("x").rank("dense").cast(pl.Int32).cast(pl.Date),
    "Boolean": pl.col("x") > "c",
}


@pytest.mark.parametrize("kind", COLUMNS)
def test_counts_of_a_lazy_frame_are_those_of_its_rows(kind):
    frame = FRAME.with_columns(x=COLUMNS[kind])
    eager = SubsetMergingSanitizer("s", "x", epsilon=0.5).fit(frame)
    lazy = SubsetMergingSanitizer("s", "x", epsilon=0.5).fit(frame.lazy())
    assert_same_counts(lazy.counted_, eager.counted_)
    assert lazy.channel_ == eager.channel_
    assert lazy.n_features_in_ == 3
    assert lazy.feature_names_in_.tolist() == ["id", "s", "x"]
    assert lazy.transform(frame).equals(eager.transform(frame))
    assert_same_counts(CountedRows.of(frame.lazy(), "s", "x"), CountedRows.of(frame, "s", "x"))


def test_several_columns_and_parts_of_lazy_frames_are_counted_together():
    frame = FRAME.with_columns(n=pl.col("id") % 3, n_=pl.col("id") % 2)
    whole = SubsetMergingSanitizer(["s", "n"], ["x", "n_"], epsilon=1.0).fit(frame)
    parts = SubsetMergingSanitizer(["s", "n"], ["x", "n_"], epsilon=1.0)
    for part in (frame.lazy().head(100), frame.lazy().slice(100)):
        parts.partial_fit(part)
    assert_same_counts(parts.counted_, whole.counted_)


def test_only_the_counts_are_collected():
    seen = []

    def look(part):
        seen.append(part.height)
        return part

    lazy = FRAME.lazy().map_batches(look, schema=FRAME.schema, projection_pushdown=False)
    SubsetMergingSanitizer("s", "x").fit(lazy)
    assert sum(seen) == FRAME.height  # the rows are computed once


def test_lazy_frames_with_too_many_different_rows_are_refused(monkeypatch):
    monkeypatch.setattr(_lazy, "MOST_TABLE_CELLS", 5)
    with pytest.raises(SizeLimitError, match="s, id have more than 5 different rows"):
        SubsetMergingSanitizer("s", "id").fit(FRAME.lazy())


@pytest.mark.parametrize("output", ["label", "code", "posterior"])
@pytest.mark.parametrize("remainder", ["drop", "passthrough"])
@pytest.mark.filterwarnings("ignore::skliftpriv.exceptions.UnprotectedColumnsWarning")
def test_lazy_release_is_the_release_of_the_rows_whenever_it_is_computed(output, remainder):
    frame = FRAME.with_columns(other=pl.col("id") * 2)
    sanitizer = keyed(output=output, remainder=remainder).fit(frame.lazy())
    expected = sanitizer.transform(frame)
    lazy = sanitizer.transform(frame.lazy())
    assert isinstance(lazy, pl.LazyFrame)
    assert lazy.collect_schema() == expected.schema
    for engine in ("in-memory", "streaming"):
        assert lazy.collect(engine=engine).equals(expected)
    first = expected.columns[0]
    middle = expected[first].median() if output != "label" else "c"
    assert (
        lazy.filter(pl.col(first) > middle)
        .collect()
        .equals(expected.filter(pl.col(first) > middle))
    )
    assert lazy.slice(7, 5).select(first).collect().equals(expected.slice(7, 5).select(first))
    twice = lazy.with_row_index("i").join(lazy.with_row_index("i"), on="i")
    assert twice.select((pl.col(first) == pl.col(f"{first}_right")).all()).collect().item()


def test_without_a_secret_one_lazy_release_has_one_key():
    sanitizer = GRRSanitizer("s", "x", epsilon=1.0, record_id="id").fit(FRAME)
    one, other = (sanitizer.transform(FRAME.lazy()) for _ in range(2))
    assert one.collect().equals(one.collect())
    assert not one.collect().equals(other.collect())


def test_lazy_frame_without_ids_is_refused_with_both_routes():
    both = r"RecordBatchReader .* record_id= and secret="
    for sanitizer in (GRRSanitizer("s", "x"), OUESanitizer("s", "x")):
        sanitizer.fit(FRAME.lazy())
        with pytest.raises(InvalidParameterError, match=both):
            sanitizer.transform(FRAME.lazy())


def test_a_mechanism_that_sees_s_reads_it_lazily():
    sanitizer = ConditionalReporting("s", "x", epsilon=1.0, record_id="id", secret=KEY)
    expected = sanitizer.fit(FRAME).transform(FRAME)
    assert sanitizer.transform(FRAME.lazy()).collect().equals(expected)
    with pytest.raises(InvalidParameterError, match="looks at the sensitive values"):
        sanitizer.transform(FRAME.lazy().drop("s"))


def test_errors_of_a_lazy_release_come_with_the_plan_or_the_rows():
    sanitizer = keyed().fit(FRAME)
    with pytest.raises(InvalidParameterError, match="'id' is not a column"):
        sanitizer.transform(FRAME.lazy().drop("id"))
    with pytest.raises(InvalidParameterError, match="now missing"):
        sanitizer.transform(FRAME.lazy().drop("x"))
    strange = sanitizer.transform(FRAME.lazy().with_columns(x=pl.lit("?")))
    with pytest.raises(UnknownCategoryError, match="x: 1 value"):
        strange.collect()
    with pytest.raises(InvalidParameterError, match="call collect"):
        sanitizer.encode(FRAME.lazy())
    with pytest.raises(InvalidParameterError, match="set_output asks for pandas"):
        keyed().set_output(transform="pandas").fit(FRAME).transform(FRAME.lazy())
    with pytest.raises(InvalidParameterError, match="leave out sensitive_features="):
        sanitizer.transform(FRAME.lazy(), sensitive_features=FRAME["s"])


def test_a_seed_is_not_private_in_a_lazy_release_either():
    sanitizer = GRRSanitizer("s", "x", record_id="id", random_state=0).fit(FRAME)
    with pytest.warns(SeededReleaseWarning):
        lazy = sanitizer.transform(FRAME.lazy())
    with pytest.warns(SeededReleaseWarning):
        assert lazy.collect().equals(sanitizer.transform(FRAME))


@pytest.mark.parametrize(
    ("options", "fitted", "name"),
    [
        ({}, {"sensitive_features": FRAME["s"].to_list()}, "sensitive_features"),
        ({}, {"sample_weight": np.ones(FRAME.height)}, "sample_weight"),
        ({"cells": 4}, {}, "cells"),
        ({"groups": "id"}, {}, "groups"),
        ({"utility": "target"}, {"y": FRAME["s"].to_list()}, "y"),
    ],
)
def test_what_needs_rows_in_memory_is_refused_with_lazy_frames(options, fitted, name):
    with pytest.raises(InvalidParameterError, match=f"^{name}= needs rows in memory"):
        ORRSanitizer("s", "x", **options).fit(FRAME.lazy(), **fitted)


def test_python_objects_in_lazy_frames_are_refused_with_their_column():
    frame = FRAME.with_columns(x=pl.Series([object()] * FRAME.height, dtype=pl.Object))
    with pytest.raises(InvalidParameterError, match="'x' holds Python objects"):
        GRRSanitizer("s", "x").fit(frame.lazy())


def test_what_releases_parts_holds_no_counts():
    sanitizer = keyed().fit(FRAME)
    worker = KeyedRelease.of(sanitizer.release_, Secret(KEY), "label", ())
    sent = pickle.dumps(worker)
    assert pickle.loads(sent)(FRAME).equals(sanitizer.transform(FRAME))
    assert all(word not in sent for word in (b"ContingencyTable", b"JointDistribution", KEY))


@pytest.mark.parametrize("kind", ["file", "variable"])
def test_a_process_that_finds_another_key_refuses_to_draw(kind, tmp_path, monkeypatch):
    path = tmp_path / "key"

    def put(key):
        path.write_bytes(key)
        monkeypatch.setenv("RELEASE_KEY", key.decode())

    put(KEY)
    sanitizer = GRRSanitizer("s", "x", epsilon=1.0, record_id="id")
    sanitizer.set_params(secret=path if kind == "file" else "env:RELEASE_KEY").fit(FRAME)
    lazy = sanitizer.transform(FRAME.lazy())
    expected = keyed().fit(FRAME).transform(FRAME)
    assert lazy.collect().equals(expected)
    put(KEY[::-1])
    where = str(path) if kind == "file" else "env:RELEASE_KEY"
    with pytest.raises(InvalidParameterError, match=f"key in {where} is not that of the call"):
        lazy.collect()
    assert not sanitizer.transform(FRAME.lazy()).collect().equals(expected)
    put(KEY)
    assert lazy.collect().equals(expected)


def test_the_mark_of_a_key_is_no_key_of_the_noise():
    release, other = (keyed(output=form).fit(FRAME).release_ for form in ("label", "code"))
    secret = Secret(KEY)
    assert release.mark(secret) == other.mark(Secret.read(secret)) != release.mark(Secret.fresh())
    assert release.mark(secret) != secret.derive(b"release", release.fingerprint)


def reader(frame, n_rows=37):
    return frame.to_arrow().to_reader(n_rows)


@pytest.mark.parametrize("output", ["label", "code", "posterior"])
@pytest.mark.parametrize("part", [1, 1 << 16])
def test_a_stream_is_released_as_a_stream(output, part, monkeypatch):
    monkeypatch.setattr(_lazy, "_PART", part)
    sanitizer = keyed(output=output).fit(FRAME)
    released = sanitizer.transform(reader(FRAME))
    assert isinstance(released, pa.RecordBatchReader)
    table = released.read_all()
    assert table.equals(sanitizer.transform(FRAME.to_arrow()))


def test_an_empty_stream_keeps_its_columns():
    released = GRRSanitizer("s", "x").fit(FRAME).transform(reader(FRAME.clear()))
    assert released.schema.names == ["x"]
    assert released.read_all().num_rows == 0


def test_a_stream_is_read_while_it_is_released(monkeypatch):
    monkeypatch.setattr(_lazy, "_PART", 10)
    taken = []

    def batches():
        for batch in FRAME.to_arrow().to_batches(max_chunksize=10):
            taken.append(batch.num_rows)
            yield batch

    table = FRAME.to_arrow()
    source = pa.RecordBatchReader.from_batches(table.schema, batches())
    released = GRRSanitizer("s", "x").fit(FRAME).transform(source)
    assert not taken
    released.read_next_batch()
    assert len(taken) == 1
    assert sum(batch.num_rows for batch in released) == FRAME.height - 10


def test_large_batches_of_a_stream_are_cut(monkeypatch):
    monkeypatch.setattr(_lazy, "_PART", 64)
    sanitizer = keyed().fit(FRAME)
    table = FRAME.to_arrow().combine_chunks()
    assert table.num_rows > 200
    assert max(part.num_rows for part in _lazy.RowStream(table.to_reader()).parts()) < 128
    assert sanitizer.transform(table.to_reader()).read_all().equals(sanitizer.transform(table))


def test_noise_of_a_stream_fits_the_channel():
    sanitizer = GRRSanitizer("s", "x", epsilon=1.0).fit(FRAME)
    many = pl.concat([FRAME] * 20)
    released = sanitizer.transform(reader(many, 1000)).read_all()["x"].to_pylist()
    channel = sanitizer.channel_
    x = [channel.inputs.index(value) for value in many["x"]]
    y = [channel.outputs.index(value) for value in released]
    found = np.zeros(channel.matrix.shape)
    np.add.at(found, (x, y), 1)
    expected = found.sum(axis=1, keepdims=True) * channel.matrix
    assert expected.min() >= 5
    ddof = len(found) - 1  # the sums of rows are given
    assert chisquare(found.ravel(), expected.ravel(), ddof).pvalue > 1e-6
    # The test would notice if 30 % of the noise were missing.
    wrong = expected + 0.3 * (np.diag(found.sum(axis=1)) - expected)
    assert chisquare(wrong.ravel(), expected.ravel(), ddof).pvalue < 1e-9


def test_streams_are_refused_where_rows_are_needed():
    sanitizer = GRRSanitizer("s", "x")
    with pytest.raises(InvalidParameterError, match="read only once"):
        sanitizer.fit(reader(FRAME))
    sanitizer.fit(FRAME)
    with pytest.raises(UnknownCategoryError, match="x: 1 value"):
        sanitizer.transform(reader(FRAME.with_columns(x=pl.lit("?")))).read_all()
    with pytest.raises(InvalidParameterError, match="leave out sensitive_features="):
        sanitizer.transform(reader(FRAME), sensitive_features=FRAME["s"])


def test_memory_for_a_stream_does_not_grow_with_its_rows():
    sanitizer = GRRSanitizer("s", "x").fit(FRAME)
    peaks = []
    for n_batches in (4, 16):
        batch = pl.concat([FRAME] * 30).to_arrow().combine_chunks().to_batches()[0]
        source = pa.RecordBatchReader.from_batches(batch.schema, (batch for _ in range(n_batches)))
        tracemalloc.start()
        arrow = pa.total_allocated_bytes()
        most = 0
        for _ in sanitizer.transform(source):
            most = max(most, pa.total_allocated_bytes() - arrow)
        peaks.append(most + tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.5 * peaks[0]
