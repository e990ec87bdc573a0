"""Lazy frames of all libraries that need no cluster: fit, release, and what is refused."""

import pickle
import re
import sys
from types import SimpleNamespace

import narwhals as nw
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from skliftpriv import (
    ConditionalReporting,
    CountedRows,
    GRRSanitizer,
    ORRSanitizer,
    OUESanitizer,
    load,
    save,
)
from skliftpriv.exceptions import (
    InvalidParameterError,
    SizeLimitError,
    TargetColumnWarning,
    UnknownCategoryError,
)
from skliftpriv.frames import LazyTable, _engines, _lazy

from .rows import (
    KEY,
    ROWS,
    assert_counted_alike,
    assert_fitted_alike,
    assert_holds_no_counts,
    chi_square,
    fits,
    in_cells,
    keyed,
    listed,
    make_rows,
    redrawn,
    released_with_ids,
    with_numbers,
)

pytestmark = pytest.mark.filterwarnings(
    "ignore::skliftpriv.exceptions.UnprotectedColumnsWarning",
    "ignore::DeprecationWarning",
    "ignore::FutureWarning",
)


def polars_engine():
    return lambda table: pl.from_arrow(table).lazy(), lambda lazy: lazy.collect().to_arrow()


def duckdb_engine():
    duckdb = pytest.importorskip("duckdb")
    pytest.importorskip("narwhals", minversion="2.10")
    connection = duckdb.connect()
    return connection.from_arrow, lambda relation: relation.to_arrow_table()


def ibis_engine():
    ibis = pytest.importorskip("ibis")
    pytest.importorskip("narwhals", minversion="2.10")
    return ibis.memtable, lambda table: table.to_pyarrow()


def dask_engine():
    dask = pytest.importorskip("dask.dataframe")

    def lazy(table):
        return dask.from_pandas(_in_pandas(table), npartitions=3)

    return lazy, lambda frame: pa.Table.from_pandas(frame.compute(), preserve_index=False)


def _in_pandas(table):
    return table.to_pandas(types_mapper={pa.int64(): pd.Int64Dtype()}.get)


ENGINES = {
    "polars": polars_engine,
    "duckdb": duckdb_engine,
    "ibis": ibis_engine,
    "dask": dask_engine,
}


@pytest.fixture(params=ENGINES)
def engine(request):
    lazy, collected = ENGINES[request.param]()
    return SimpleNamespace(name=request.param, lazy=lazy, collected=collected)


def rows_for(engine):
    # Dask makes text of Python's dates.
    return ROWS.drop_columns("day") if engine.name == "dask" else ROWS


@pytest.mark.parametrize("useful", ["x", "k", ["x", "k"], "day"])
def test_fit_is_that_of_the_rows_in_memory(engine, useful):
    if useful == "day" and engine.name == "dask":
        pytest.skip("Dask makes text of Python's dates")
    rows = rows_for(engine)
    # Types are those of the library that counts are collected with.
    eager, lazy = rows, engine.lazy(rows)
    if engine.name == "polars":
        eager = pl.from_arrow(rows)
    if engine.name == "dask":  # which has a type of its own for text
        eager = _in_pandas(rows).astype(lazy.dtypes.to_dict())
    assert_fitted_alike(keyed(useful).fit(lazy), keyed(useful).fit(eager))


def test_only_counts_are_collected(engine, monkeypatch):
    collected = []
    collect = LazyTable._collected

    def noted(self, frame):
        collected.append(collect(self, frame))
        return collected[-1]

    monkeypatch.setattr(LazyTable, "_collected", noted)
    sanitizer = keyed().fit(engine.lazy(rows_for(engine)))
    (counts,) = collected
    assert counts.shape == (sanitizer.counted_.counts.counts.size, 3)


def test_too_many_groups_are_refused(engine, monkeypatch):
    monkeypatch.setattr(_lazy, "MOST_TABLE_CELLS", 5)
    with pytest.raises(SizeLimitError, match="s, age have more than 5 different rows"):
        keyed("age").fit(engine.lazy(rows_for(engine)))


@pytest.mark.parametrize("output", ["label", "code", "posterior", "typical"])
@pytest.mark.parametrize("useful", ["x", ["k", "x"]])
def test_release_is_that_of_pandas_row_by_row(engine, output, useful):
    rows = rows_for(engine)
    frame = engine.lazy(rows)
    sanitizer = keyed(useful, output=output, remainder="passthrough").fit(frame)
    in_pandas = keyed(useful, output=output, remainder="passthrough").fit(_in_pandas(rows))
    expected = in_pandas.transform(_in_pandas(rows))
    lazy = sanitizer.transform(frame)
    assert type(lazy) is type(frame)
    released = engine.collected(lazy)
    assert released.column_names == list(expected.columns)
    expected = pa.Table.from_pandas(expected, preserve_index=False)
    assert listed(released, "id") == listed(expected, "id")


def test_dates_are_released_as_dates(engine):
    if engine.name == "dask":
        pytest.skip("Dask makes text of Python's dates")
    sanitizer = keyed("day").fit(engine.lazy(ROWS))
    released = engine.collected(sanitizer.transform(engine.lazy(ROWS)))
    assert released.equals(sanitizer.transform(ROWS).cast(released.schema))
    assert released.schema.types == [pa.date32()]


@pytest.mark.parametrize("kind", ["decimal", "duration"])
def test_decimals_and_spans_of_time_have_the_noise_of_pandas(engine, kind):
    if (engine.name, kind) == ("dask", "decimal"):
        pytest.skip("Dask makes text of Python's decimals")
    if kind == "duration" and engine.name in ("duckdb", "ibis"):
        pytest.skip("an INTERVAL is no category")
    rows = with_numbers(kind)
    expected = keyed().fit(rows)
    lazy = keyed().fit(engine.lazy(rows))
    in_pandas = keyed().fit(rows.to_pandas())
    assert lazy.release_.fingerprint == expected.release_.fingerprint
    assert in_pandas.release_.fingerprint == expected.release_.fingerprint
    released = engine.collected(lazy.transform(engine.lazy(rows)))["x"].to_pylist()
    assert released == expected.transform(rows)["x"].to_pylist()


def test_cells_and_typical_rows(engine):
    rows = rows_for(engine)
    lazily, in_memory = in_cells(engine.lazy(rows), rows)
    assert lazily.n_rows == rows.num_rows
    for output in ("label", "typical"):
        lazy = keyed(["age", "x"], output=output).fit(lazily)
        eager = keyed(["age", "x"], output=output).fit(in_memory)
        assert (lazy.joint_, lazy.channel_) == (eager.joint_, eager.channel_)
        released = engine.collected(lazy.transform(engine.lazy(rows)))
        assert listed(released) == listed(eager.transform(rows))
    with pytest.raises(InvalidParameterError, match=r"^cells= needs rows.* cells=learnt\.cells"):
        GRRSanitizer("s", ["age", "x"], cells=6).fit(engine.lazy(rows))


def test_columns_may_have_names_that_are_used_inside_in_another_case(engine):
    rows = rows_for(engine)
    rows = rows.rename_columns({"s": "CELL", "x": "N"})
    assert_counted_alike(engine.lazy(rows), rows)


def test_rows_are_added_in_the_cells_of_earlier_ones(engine):
    rows = rows_for(engine)
    _, counted = in_cells(engine.lazy(rows), rows)
    lazy, eager = (keyed(None).fit(counted).partial_fit(more) for more in (engine.lazy(rows), rows))
    assert (lazy.joint_, lazy.channel_) == (eager.joint_, eager.channel_)
    assert lazy.counted_.n_rows == 2 * rows.num_rows
    learnt = keyed(["age", "x"], cells=6).fit(rows.slice(0, 3000))
    assert learnt.partial_fit(engine.lazy(rows)).counted_.n_rows == 3000 + rows.num_rows


@pytest.mark.parametrize("name", ["a.b", "(x)", " (x)", "a, b", "^x", 'x"', "*", "^x$", "^.*$"])
def test_names_are_read_as_names_or_refused(engine, name):
    rows = ROWS.select(["id", "s", "x"]).rename_columns({"x": name})
    frame, sanitizer = engine.lazy(rows), keyed(name)
    if engine.name == "polars" and name in ("*", "^x$", "^.*$"):
        what = "all columns" if name == "*" else "a pattern of names"
        message = rf"Polars reads {re.escape(repr(name))} as {what}, .* X.rename\("
    elif engine.name == "duckdb" and name == "*":
        message = r"DuckDB reads '\*' as all columns, .* SELECT \"\*\" AS _"
    else:
        released = engine.collected(sanitizer.fit(frame).transform(frame))
        assert listed(released) == listed(keyed(name).fit(rows).transform(rows))
        return
    with pytest.raises(InvalidParameterError, match=message):
        sanitizer.fit(frame)
    with pytest.raises(InvalidParameterError, match=message):
        keyed(name).fit(rows).transform(frame)


def test_names_that_differ_in_case_only_are_refused_by_duckdb():
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect()
    connection.register("people", ROWS)
    relation = connection.sql('SELECT id, s, x, k::VARCHAR AS "X" FROM people')
    rows = ROWS.select(["id", "s", "x"]).append_column("X", ROWS["k"].cast(pa.string()))
    for name in ("x", "X"):
        message = r"The columns 'x', 'X' are one column to DuckDB: rename all but one"
        with pytest.raises(InvalidParameterError, match=message):
            keyed(name).fit(relation)
        with pytest.raises(InvalidParameterError, match=message):
            keyed(name).fit(rows).transform(relation)


@pytest.mark.parametrize("target", ["k", "age"])
def test_a_target_is_counted_with_the_rows_and_in_cells(engine, target):
    rows = rows_for(engine)
    rows = rows.set_column(3, "k", pc.fill_null(rows["k"], 9))
    lazy = engine.lazy(rows)
    cells = CountedRows.of(rows.slice(0, 3000), "s", ["x", "id"], cells=6).cells
    for options in ({"useful": "x"}, {"useful": ["x", "id"], "cells": cells}):
        counted, expected = (
            CountedRows.of(each, "s", target=target, **options) for each in (lazy, rows)
        )
        assert counted.layout == expected.layout
        assert counted.target.edges == expected.target.edges
        assert (counted.target.edges is None) == (target == "k")
        one, other = (
            ORRSanitizer("s", utility="target", epsilon=0.5, record_id="uid", secret=KEY).fit(each)
            for each in (counted, expected)
        )
        assert (one.joint_, one.report_) == (other.joint_, other.report_)
        assert one.channel_ == other.channel_
        with_ids = rows.append_column("uid", rows["id"])
        released = engine.collected(one.transform(engine.lazy(with_ids)))
        assert listed(released) == listed(other.transform(with_ids))


def test_a_target_of_a_lazy_frame_is_a_column(engine):
    rows = rows_for(engine)
    lazy = engine.lazy(rows)
    with pytest.raises(InvalidParameterError, match=r"^y= .*CountedRows.of\(X, .* target='name'\)"):
        ORRSanitizer("s", "x", utility="target").fit(lazy, rows["age"])
    with pytest.raises(InvalidParameterError, match=r"^target= .* target='name'\)"):
        CountedRows.of(lazy, "s", "x", target=rows["age"])
    with pytest.raises(InvalidParameterError, match="target='ages' is not a column of X"):
        CountedRows.of(lazy, "s", "x", target="ages")
    n_missing = rows["k"].null_count
    with pytest.raises(InvalidParameterError, match=f"y is missing in {n_missing:,} of 6,000 rows"):
        CountedRows.of(lazy, "s", "x", target="k")
    with pytest.warns(TargetColumnWarning, match="useful column 'again'"):
        CountedRows.of(
            engine.lazy(rows.append_column("again", rows["age"])), "s", "again", target="age"
        )


def test_noise_does_not_change_whenever_rows_are_computed(engine):
    frame = engine.lazy(ROWS.select(["id", "s", "x"]))
    for fresh in (False, True):
        lazy = released_with_ids(frame, fresh=fresh)
        share = redrawn(engine.collected(lazy), engine.collected(lazy))
        assert (share > 0.05) if fresh else (share == 0)


def test_a_join_with_itself_finds_every_record_once(engine):
    released = nw.from_native(released_with_ids(engine.lazy(ROWS.select(["id", "s", "x"]))))
    twice = released.join(released.rename({"x": "again"}), on="id")
    same = (nw.col("x") == nw.col("again")) | (nw.col("x").is_null() & nw.col("again").is_null())
    table = twice.select("id", same=same).filter("same").collect("pyarrow")
    assert len(table) == ROWS.num_rows


def test_released_values_can_be_filtered(engine):
    released = nw.from_native(released_with_ids(engine.lazy(ROWS.select(["id", "s", "x"]))))
    found = released.filter(nw.col("x") == "a").collect("pyarrow").to_native()
    expected = keyed().fit(ROWS).transform(ROWS)["x"].to_pylist()
    assert found["x"].to_pylist() == ["a"] * expected.count("a")


def test_noise_fits_the_channel_and_the_test_has_power(engine):
    rows = make_rows(20_000).select(["id", "s", "x"])
    sanitizer = keyed(remainder="passthrough").fit(rows)
    released = engine.collected(sanitizer.transform(engine.lazy(rows))).sort_by("id")
    channel, x = sanitizer.channel_, rows["x"].to_pylist()
    assert chi_square(x, released["x"].to_pylist(), channel) > 1e-6
    # It would notice if 30 % of the noise were missing.
    n = rows.num_rows / len(channel.inputs)
    less = n * (
        0.7 * channel.matrix + 0.3 * (channel.matrix == channel.matrix.max(axis=1)[:, None])
    )
    assert fits(less, channel) < 1e-9


def test_what_is_shipped_holds_no_counts(engine, monkeypatch):
    shipped = []
    for library, compute in _engines.ENGINES.items():

        def noted(native, function, compute=compute):
            shipped.append(function)
            return compute(native, function)

        monkeypatch.setitem(_engines.ENGINES, library, noted)
    rows = rows_for(engine)
    for counted in (rows, *in_cells(engine.lazy(rows), rows)[:1]):
        sanitizer = keyed(None if counted is not rows else "x").fit(counted)
        sanitizer.transform(engine.lazy(rows))
        sent = pickle.dumps(shipped[-1])
        assert_holds_no_counts(sent, sanitizer)
        assert pickle.loads(sent)(rows).equals(sanitizer.transform(rows))


def test_the_search_for_counts_finds_them():
    sanitizer = keyed().fit(ROWS)
    with pytest.raises(AssertionError):
        assert_holds_no_counts(pickle.dumps(sanitizer), sanitizer)
    with pytest.raises(AssertionError):
        assert_holds_no_counts(pickle.dumps(sanitizer.counted_.counts.counts), sanitizer)


def test_without_ids_both_routes_are_named(engine):
    frame = engine.lazy(rows_for(engine))
    routes = r"Collect it, or pass a pyarrow RecordBatchReader .* record_id= and secret="
    for sanitizer in (GRRSanitizer("s", "x"), OUESanitizer("s", "x")):
        with pytest.raises(InvalidParameterError, match=routes):
            sanitizer.fit(frame).transform(frame)


def test_a_mechanism_that_sees_s_reads_it_where_it_is(engine):
    rows = rows_for(engine)
    sanitizer = ConditionalReporting("s", "x", epsilon=0.8, record_id="id", secret=KEY).fit(rows)
    released = engine.collected(sanitizer.transform(engine.lazy(rows)))
    assert listed(released) == listed(sanitizer.transform(rows))


def test_a_loaded_mechanism_releases_lazy_frames(engine, tmp_path):
    rows = rows_for(engine)
    sanitizer = keyed().fit(engine.lazy(rows))
    save(sanitizer, tmp_path / "mechanism.json")
    loaded = load(tmp_path / "mechanism.json").set_params(secret=KEY)
    released = engine.collected(loaded.transform(engine.lazy(rows)))
    assert listed(released) == listed(sanitizer.transform(rows))


def test_values_that_were_not_seen_are_refused_with_the_column(engine, capfd):
    rows = rows_for(engine)
    sanitizer = keyed().fit(rows.filter(pc.not_equal(rows["x"], "a")))
    # Libraries may wrap the error; DuckDB only prints it.
    with pytest.raises(Exception, match=r"not seen at fit|Python error") as caught:
        engine.collected(sanitizer.transform(engine.lazy(rows)))
    assert "not seen at fit" in str(caught.value) + capfd.readouterr().err
    if engine.name in ("polars", "dask"):
        assert caught.type is UnknownCategoryError


@pytest.mark.parametrize("index", ["keep", "drop"])
def test_index_of_dask_is_released_unless_it_is_dropped(index):
    dask = pytest.importorskip("dask.dataframe")
    frame = ROWS.select(["id", "s", "x"]).to_pandas().set_index("id")
    sanitizer = keyed(index=index).fit(dask.from_pandas(frame, npartitions=3))
    lazy = sanitizer.transform(dask.from_pandas(frame, npartitions=3))
    released = lazy.compute()
    assert released["x"].tolist() == sanitizer.transform(frame)["x"].tolist()
    assert (released.index.name == "id") == (index == "keep")
    assert lazy.known_divisions == (index == "keep")
    assert lazy.dtypes.tolist() == released.dtypes.tolist()


@pytest.mark.parametrize("output", ["label", "typical"])
@pytest.mark.parametrize("kind", ["category", "ordered", "Int64", "boolean", "zoned"])
def test_dask_releases_the_types_of_pandas(kind, output):
    dask = pytest.importorskip("dask.dataframe")
    frame = ROWS.select(["id", "s", "x"]).to_pandas()
    numbers = frame["x"].map({"a": 0, "b": 1, "c": 2, "d": 3})
    moment = pd.Timestamp("2020-10-25", tz="Europe/Rome")
    frame["x"] = {
        "category": lambda: frame["x"].astype("category"),
        "ordered": lambda: frame["x"].astype(pd.CategoricalDtype(list("dcbax"), ordered=True)),
        "Int64": lambda: numbers.astype("Int64") + 2**62,  # which floats would round
        "boolean": lambda: (numbers % 2).astype("boolean"),
        "zoned": lambda: moment + numbers * pd.Timedelta("1h"),
    }[kind]()
    lazy = dask.from_pandas(frame, npartitions=3)
    if kind == "category":
        lazy["x"] = lazy["x"].cat.as_unknown()
    sanitizer = keyed(output=output).fit(lazy)
    eager = keyed(output=output).fit(frame)
    assert_fitted_alike(sanitizer, eager)
    released = sanitizer.transform(lazy)
    pd.testing.assert_frame_equal(released.compute(), eager.transform(frame))
    assert released.dtypes.tolist() == released.compute().dtypes.tolist()


def test_duckdb_keeps_types_that_pandas_rounds():
    lazy, collected = duckdb_engine()
    base = lazy(ROWS.select(["id", "s", "k"]))
    relation = base.project('id, s, (k / 3 + 1e16::DECIMAL(20, 3))::DECIMAL(20, 3) AS "k ""3"""')
    sanitizer = keyed('k "3"', remainder="passthrough").fit(relation)
    released = collected(sanitizer.transform(relation))
    assert released.equals(sanitizer.transform(collected(relation)))
    assert str(released.schema.field('k "3"').type) == "decimal128(20, 3)"


@pytest.mark.parametrize("output", ["label", "typical"])
@pytest.mark.parametrize(
    "column",
    [
        "encode(x) || '\\x00\\xFF'::BLOB",
        "TIME '01:02:03.456789' + INTERVAL 1 HOUR * k",
        "CAST(x AS ENUM('d', 'c', 'b', 'a', 'unused'))",
        "md5(x)::UUID",
        "1::HUGEINT << 100 + k",
        "TIMESTAMPTZ '2020-10-25 00:00:00+00' + INTERVAL 1 HOUR * k",
    ],
)
def test_duckdb_releases_all_types(column, output):
    lazy, collected = duckdb_engine()
    relation = lazy(ROWS).project(f"id, s, {column} AS x, {column} AS kept")
    sanitizer = keyed(output=output, remainder="passthrough").fit(relation)
    released = collected(sanitizer.transform(relation))
    expected = sanitizer.transform(collected(relation))
    assert listed(released) == listed(expected)
    kept, original = (table.schema.field("kept").type for table in (released, expected))
    assert kept == (original.value_type if pa.types.is_dictionary(original) else original)


@pytest.mark.parametrize(
    "kind",
    {
        "BIGINT[]": "[k]",
        "BIGINT[2]": "array_value(k, k)",
        "STRUCT(a BIGINT)": "{'a': k}",
        "MAP(INTEGER, BIGINT)": "map([1], [k])",
        "UNION(n BIGINT)": "union_value(n := k)",
        "INTERVAL": "INTERVAL 1 DAY",
        "TIME WITH TIME ZONE": "'10:00:00+02'::TIMETZ",
        "BIT": "'101'::BIT",
    }.items(),
    ids=lambda kind: kind[0],
)
def test_types_that_duckdb_cannot_return_are_refused_with_the_column(kind):
    name, column = kind
    lazy, _ = duckdb_engine()
    relation = lazy(ROWS).project(f'id, s, x, {column} AS "kept"')
    sanitizer = keyed(remainder="passthrough").fit(relation)
    message = rf"'kept' has the type {re.escape(name)}, .* X.to_arrow_reader\(\)"
    with pytest.raises(InvalidParameterError, match=message):
        sanitizer.transform(relation)
    if name not in ("UNION(n BIGINT)",):  # which pyarrow cannot put together
        rows = sanitizer.transform(relation.to_arrow_reader()).read_all()
        assert rows["kept"].equals(relation.to_arrow_table()["kept"])
    dropped = keyed().fit(relation).transform(relation)
    assert dropped.to_arrow_table().equals(keyed().fit(relation).transform(ROWS))


@pytest.mark.parametrize("kind", ["DOUBLE", "FLOAT"])
def test_duckdb_keeps_floats_as_they_are(kind):
    lazy, collected = duckdb_engine()
    values = ["'nan'", "NULL", "'-inf'", "-0.0", "0.1", "1e-44", "1e308" if kind == "DOUBLE" else 1]
    listed_values = ", ".join(f"{value}::{kind}" for value in values)
    relation = lazy(ROWS).project(f"id, s, x, [{listed_values}][1 + id % 7] AS kept")
    sanitizer = keyed(remainder="passthrough").fit(relation)
    kept = collected(sanitizer.transform(relation))["kept"]
    assert str(kept.to_pylist()) == str(collected(relation)["kept"].to_pylist())
    assert kept.type == collected(relation)["kept"].type
    by_float = keyed("kept").fit(relation)
    released = collected(by_float.transform(relation))["kept"]
    expected = by_float.transform(collected(relation))["kept"]
    assert str(released.to_pylist()) == str(expected.to_pylist())


def test_numbers_that_duckdb_would_round_are_refused(capfd):
    lazy, collected = duckdb_engine()
    rows = ROWS.select(["id", "s"]).append_column(
        "k", pa.array([2**60 + 1, None] * (len(ROWS) // 2))
    )
    sanitizer = keyed("k").fit(rows)
    with pytest.raises(Exception, match="Python error"):
        collected(sanitizer.transform(lazy(rows)))
    assert "'k' has missing values and numbers above 2^53" in capfd.readouterr().err


def test_duckdb_reads_the_rows_of_a_table_of_ibis():
    ibis = pytest.importorskip("ibis")
    pytest.importorskip("narwhals", minversion="2.10")
    connection = pytest.importorskip("duckdb").connect()
    connection.register("rows", ROWS)
    connection.execute("CREATE TABLE people AS SELECT * FROM rows")
    table = ibis.duckdb.from_connection(connection).table("people")
    reader = connection.sql(ibis.to_sql(table)).to_arrow_reader()
    sanitizer = keyed(remainder="passthrough").fit(ROWS)
    released = sanitizer.transform(reader).read_all()
    assert listed(released, "id") == listed(sanitizer.transform(ROWS), "id")


def test_tables_of_ibis_in_other_databases_are_refused():
    ibis = pytest.importorskip("ibis")
    pytest.importorskip("narwhals", minversion="2.10")
    rows = pl.from_arrow(ROWS.select(["id", "s", "x"]))
    table = ibis.polars.connect({"people": rows}).table("people")
    sanitizer = keyed().fit(rows)
    with pytest.raises(InvalidParameterError, match=r"in polars, and only .* X.to_pyarrow_batches"):
        sanitizer.transform(table)


def test_the_error_for_a_missing_package_names_the_extra(monkeypatch):
    lazy, _ = duckdb_engine()
    frame = lazy(ROWS)

    def collect(self, backend):
        raise ModuleNotFoundError("No module named 'pyarrow'", name="pyarrow")

    monkeypatch.setattr(nw.LazyFrame, "collect", collect)
    with pytest.raises(InvalidParameterError, match=r'need pyarrow: pip .*"skliftpriv\[duckdb\]"'):
        keyed().fit(frame)


def test_a_package_that_is_missing_at_transform_is_named_too(monkeypatch):
    lazy, _ = duckdb_engine()
    frame, sanitizer = lazy(ROWS), keyed().fit(ROWS)
    missing = r'need pyarrow: pip .*"skliftpriv\[duckdb\]"'
    with monkeypatch.context() as patched:
        patched.setitem(sys.modules, "pyarrow", None)  # as if it were not installed
        with pytest.raises(InvalidParameterError, match=missing):
            sanitizer.transform(frame)

    def schema(self):
        raise ModuleNotFoundError("No module named 'pyarrow'", name="pyarrow")

    monkeypatch.setattr(nw.LazyFrame, "collect_schema", schema)
    with pytest.raises(InvalidParameterError, match=missing):
        sanitizer.transform(frame)


def test_other_lazy_frames_are_refused_with_the_other_route(monkeypatch):
    monkeypatch.delitem(_engines.ENGINES, nw.Implementation.POLARS)
    with pytest.raises(InvalidParameterError, match=r"only those of dask, .* RecordBatchReader"):
        keyed().fit(ROWS).transform(pl.from_arrow(ROWS).lazy())
