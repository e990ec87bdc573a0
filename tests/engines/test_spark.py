"""Spark, classic, through Connect and as a stream: one session for all tests."""

import os
import re
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from skliftpriv import GRRSanitizer
from skliftpriv.exceptions import InvalidParameterError

from .rows import (
    ROWS,
    assert_counted_alike,
    assert_fitted_alike,
    assert_holds_no_counts,
    assert_redrawn,
    chi_square,
    in_cells,
    keyed,
    listed,
    redrawn,
    released_with_ids,
    with_numbers,
)

pyspark = pytest.importorskip("pyspark", minversion="4.0")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::skliftpriv.exceptions.UnprotectedColumnsWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
]
COLUMNS = ["id", "s", "x"]
PORT = 15_999


@pytest.fixture(scope="module")
def spark():
    from pyspark.sql import SparkSession

    root = str(Path(__file__).parents[2])
    os.environ["PYTHONPATH"] = os.pathsep.join([root, os.environ.get("PYTHONPATH", "")])
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    settings = {
        "spark.sql.shuffle.partitions": "2",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.plugins": "org.apache.spark.sql.connect.SparkConnectPlugin",
        "spark.connect.grpc.binding.port": str(PORT),
        "spark.sql.execution.arrow.maxRecordsPerBatch": "1000",
    }
    builder = SparkSession.builder.master("local[2,4]").appName("skliftpriv")
    for name, value in settings.items():
        builder = builder.config(name, value)
    try:
        session = builder.getOrCreate()
    except Exception as error:
        if os.environ.get("SKLIFTPRIV_NEEDS_SPARK"):
            raise
        pytest.skip(f"Spark does not start, perhaps without Java: {error}")
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()


@pytest.fixture(scope="module")
def people(spark):
    return spark.createDataFrame(ROWS).repartition(3)


def test_fit_and_release_are_those_of_the_rows_in_memory(people):
    for useful in ("x", ["k", "day"]):
        lazy = keyed(useful, remainder="passthrough").fit(people)
        eager = keyed(useful, remainder="passthrough").fit(ROWS)
        assert_fitted_alike(lazy, eager)
        released = lazy.transform(people)
        assert type(released) is type(people)
        expected = eager.transform(ROWS)
        table = released.toArrow()
        assert table.column_names == expected.column_names
        assert listed(table, "id") == listed(expected, "id")
    x = keyed(remainder="passthrough").fit(people)
    table = x.transform(people).toArrow().sort_by("id")
    assert chi_square(ROWS["x"].to_pylist(), table["x"].to_pylist(), x.channel_) > 1e-6


@pytest.mark.parametrize("kind", ["decimal", "duration"])
def test_decimals_and_spans_of_time_have_the_noise_of_the_rows_in_memory(spark, kind):
    rows = with_numbers(kind)
    there = spark.createDataFrame(rows)
    lazy, eager = keyed().fit(there), keyed().fit(rows)
    assert lazy.release_.fingerprint == eager.release_.fingerprint
    released = keyed(remainder="passthrough").fit(there).transform(there).toArrow()
    assert released.sort_by("id")["x"].to_pylist() == eager.transform(rows)["x"].to_pylist()


def test_times_without_a_zone_are_not_put_into_that_of_the_session(people, spark):
    before = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    try:
        times = people.selectExpr(
            "id",
            "s",
            "timestamp'2020-10-25 01:02:03' + make_interval(0, 0, 0, k) AS zoned",
            "timestamp_ntz'2020-10-25 01:02:03' + make_interval(0, 0, 0, k) AS local",
        )
        rows = times.toArrow()
        assert [kind.tz for kind in rows.schema.types[2:]] == ["UTC", None]
        for useful in ("zoned", "local"):
            sanitizer = keyed(useful, remainder="passthrough").fit(times)
            released = sanitizer.transform(times).toArrow()
            expected = sanitizer.transform(rows)
            assert released.schema.types == expected.schema.types
            assert listed(released, "id") == listed(expected, "id")
    finally:
        spark.conf.set("spark.sql.session.timeZone", before)


@pytest.mark.parametrize(
    "column",
    [
        "named_struct('a', id, 'b', 1)",  # parts that are never null
        "array(timestamp_ntz'2020-01-01')",
        "parse_json('{}')",
        "INTERVAL '1' DAY",
        "a vector of pyspark.ml",
    ],
)
def test_columns_are_passed_on_with_their_types(people, spark, column):
    if "vector" in column:
        linalg = pytest.importorskip("pyspark.ml.linalg")
        rows = [(i, "uvw"[i % 3], "ab"[i % 2], linalg.Vectors.dense([i, 1.0])) for i in range(60)]
        there = spark.createDataFrame(rows, [*COLUMNS, "kept"])
    else:
        there = people.selectExpr(*COLUMNS, f"{column} AS kept")
    released = keyed(remainder="passthrough").fit(there).transform(there)
    assert released.schema["kept"].dataType == there.schema["kept"].dataType
    kept = [str(row.kept) for row in released.orderBy("id").select("kept").collect()]
    assert kept == [str(row.kept) for row in there.orderBy("id").select("kept").collect()]


def test_cells_and_typical_rows(people):
    lazily, in_memory = in_cells(people, ROWS)
    lazy = keyed(["age", "x"], output="typical", remainder="passthrough").fit(lazily)
    eager = keyed(["age", "x"], output="typical", remainder="passthrough").fit(in_memory)
    assert (lazy.joint_, lazy.channel_) == (eager.joint_, eager.channel_)
    assert listed(lazy.transform(people).toArrow(), "id") == listed(eager.transform(ROWS), "id")


def test_columns_may_have_names_that_are_used_inside_in_another_case(spark):
    rows = ROWS.rename_columns({"s": "CELL", "x": "N"})
    assert_counted_alike(spark.createDataFrame(rows), rows)


def test_what_is_shipped_holds_no_counts(people, monkeypatch):
    from pyspark import cloudpickle

    shipped = []
    map_in_arrow = type(people).mapInArrow

    def noted(self, function, *rest):
        shipped.append(cloudpickle.dumps(function))
        return map_in_arrow(self, function, *rest)

    monkeypatch.setattr(type(people), "mapInArrow", noted)
    sanitizer = keyed().fit(people)
    sanitizer.transform(people)
    assert b"KeyedRelease" in shipped[0]
    assert_holds_no_counts(shipped[0], sanitizer)


@pytest.mark.parametrize("fresh", [False, True])
def test_two_actions_persist_and_a_join_do_not_draw_again(people, fresh, record_property):
    lazy = released_with_ids(people.select(*COLUMNS), fresh=fresh)
    shares = {"two actions": redrawn(lazy.toArrow(), lazy.toArrow())}
    held = lazy.persist()
    before = held.toArrow()
    held.unpersist(blocking=True)
    shares["unpersist"] = redrawn(before, lazy.toArrow())
    twice = lazy.join(lazy.withColumnRenamed("x", "again"), "id").toArrow()
    assert twice.num_rows == ROWS.num_rows
    shares["join"] = redrawn(twice, twice.drop_columns("x").rename_columns(["id", "x"]))
    record_property("redrawn", shares)
    assert_redrawn(shares, fresh)


class FailsOnce:
    """Writes the rows of a part to a file as a careless sink does, and then fails, once."""

    def __init__(self, folder):
        self.folder = folder

    def __call__(self, batches):
        table = pa.Table.from_batches(list(batches))
        name = f"part-{table['id'][0].as_py()}"
        again = (self.folder / f"{name}-0.parquet").exists()
        pq.write_table(table, self.folder / f"{name}-{int(again)}.parquet")
        if not again:
            raise OSError("the disk is full")
        yield from table.to_batches()


@pytest.mark.parametrize("fresh", [False, True])
def test_a_task_that_is_tried_again_does_not_draw_again(people, fresh, tmp_path, record_property):
    lazy = released_with_ids(people.select(*COLUMNS).coalesce(1), fresh=fresh)
    lazy.mapInArrow(FailsOnce(tmp_path), lazy.schema).toArrow()
    tries = [[pq.read_table(f) for f in sorted(tmp_path.glob(f"*-{n}.parquet"))] for n in (0, 1)]
    shares = {"tried again": redrawn(*map(pa.concat_tables, tries))}
    record_property("redrawn", shares)
    assert_redrawn(shares, fresh)


def test_connect_is_the_same(people, spark):
    pytest.importorskip("grpc")
    from pyspark.sql.connect.session import SparkSession as Remote

    remote = Remote.builder.remote(f"sc://127.0.0.1:{PORT}").getOrCreate()
    try:
        there = remote.createDataFrame(ROWS.to_pandas())
        there = there.select(*COLUMNS)
        sanitizer = keyed(remainder="passthrough").fit(there)
        eager = keyed(remainder="passthrough").fit(ROWS.select(COLUMNS))
        assert_fitted_alike(sanitizer, eager)
        released = sanitizer.transform(there)
        assert type(released) is type(there)
        assert listed(released.toArrow(), "id") == listed(eager.transform(ROWS), "id")
    finally:
        remote.stop()


def recipe(word):
    """Return the code of the guide that a word occurs in."""
    page = (Path(__file__).parents[2] / "docs" / "guide-cluster.md").read_text(encoding="utf-8")
    (found,) = [code for code in re.findall(r"```python\n(.*?)```", page, re.S) if word in code]
    return found


def test_recipe_for_a_pipeline_counts_the_values_that_it_releases(people):
    sanitizer = keyed(remainder="passthrough").fit(people)
    found = {"people": people, "sanitizer": sanitizer}
    exec(recipe("pyspark.ml"), found)
    coded = found["coded"].toArrow().sort_by("id")
    values = sanitizer.transform(ROWS)["x"].to_pylist()
    assert coded["x"].to_pylist() == values
    assert len(set(zip(values, coded["code"].to_pylist(), strict=True))) == 5


def test_recipe_for_a_stream_releases_what_a_table_would(people, spark, tmp_path):
    rows = ROWS.select(COLUMNS)
    (tmp_path / "in").mkdir()
    pq.write_table(rows.slice(0, 3000), tmp_path / "in" / "1.parquet")
    pq.write_table(rows.slice(3000), tmp_path / "in" / "2.parquet")
    sanitizer = keyed(remainder="passthrough").fit(rows)
    found = {"spark": spark, "people": people.select(*COLUMNS), "sanitizer": sanitizer}
    places = {"incoming": "in", "outgoing": "out", "checkpoint": "checkpoint"}
    found |= {name: str(tmp_path / place) for name, place in places.items()}
    exec(recipe("readStream"), found)
    released = spark.read.parquet(found["outgoing"]).toArrow()
    assert listed(released, "id") == listed(sanitizer.transform(rows), "id")
    with pytest.raises(InvalidParameterError, match="fit on a table"):
        keyed().fit(found["stream"])


def test_names_with_dots_are_refused(people):
    dotted = people.withColumnRenamed("x", "x.y")
    with pytest.raises(InvalidParameterError, match=r"Spark reads 'x.y' as .*\('x.y', 'x_y'\)"):
        keyed("x.y").fit(dotted)
    with pytest.raises(InvalidParameterError, match=r"Spark reads 'x.y' as"):
        keyed("x.y").fit(ROWS.rename_columns({"x": "x.y"})).transform(dotted)
    assert keyed("k").fit(dotted).transform(dotted).columns == ["k"]


def test_names_that_mean_several_columns_are_refused(people, spark):
    star = people.withColumnRenamed("x", "*")
    with pytest.raises(InvalidParameterError, match=r"Spark reads '\*' as all columns"):
        keyed("*").fit(star)
    for columns in (["id", "s", "x", "k AS X"], ["id", "s", "x", "k AS x"]):
        several = people.selectExpr(*columns)
        with pytest.raises(InvalidParameterError, match=r"The columns 'x', '[xX]' are one column"):
            keyed().fit(several)
        with pytest.raises(InvalidParameterError, match=r"The columns 'x', '[xX]' are one column"):
            keyed().fit(ROWS).transform(several)
    spark.conf.set("spark.sql.caseSensitive", "true")
    try:
        several = people.selectExpr("id", "s", "x", "k AS X")
        assert_fitted_alike(keyed("X").fit(several), keyed("X").fit(several.toArrow()))
    finally:
        spark.conf.unset("spark.sql.caseSensitive")


def test_without_ids_spark_is_refused(people):
    sanitizer = GRRSanitizer("s", "x").fit(people)
    with pytest.raises(InvalidParameterError, match=r"RecordBatchReader .* record_id= and secret="):
        sanitizer.transform(people)
