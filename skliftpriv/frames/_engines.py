"""How each library computes new rows of its lazy frames: part by part, where the rows are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias
from uuid import uuid4

import narwhals as nw
import pandas as pd

from ..exceptions import InvalidParameterError

__all__ = ["ENGINES", "PartFunction", "extra_of"]

#: Takes some of the rows as a data frame or pyarrow table, and returns a table of the same kind.
PartFunction: TypeAlias = Callable[[Any], Any]

#: Floats hold whole numbers exactly up to here.
_EXACT = 2.0**53
#: Types of DuckDB that pandas holds exactly.
_IN_PANDAS = (
    *("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT"),
    *("BOOLEAN", "VARCHAR", "BLOB", "TIME"),
)
#: Types whose NaN pandas takes for a missing value.
_WITH_NAN = ("FLOAT", "DOUBLE")


def extra_of(library: nw.Implementation) -> str:
    """Return the extra of this package that installs what a library needs."""
    return {"pyspark": "spark", "pyspark[connect]": "spark"}.get(library.value, library.value)


def _by_polars(native: Any, function: PartFunction) -> Any:
    """Let polars call the function for parts of a LazyFrame."""
    return native.map_batches(
        function,
        schema=function(native.clear().collect()).schema,
        streamable=True,
        # What is asked of new columns does not apply to the original ones.
        predicate_pushdown=False,
        projection_pushdown=False,
        slice_pushdown=False,
    )


def _by_dask(native: Any, function: PartFunction) -> Any:
    """Let Dask call the function for the pandas frame of every partition."""
    return native.map_partitions(function, meta=function(native._meta))


@dataclass(frozen=True)
class _ArrowParts:
    """Calls a function for one record batch after the other, as Spark's ``mapInArrow`` does it.

    Attributes
    ----------
    function : callable
        Takes a pyarrow table and returns one.
    schema : pyarrow.Schema
        Names and types of the columns of all results.
    """

    function: PartFunction
    schema: Any

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        for batch in batches:
            table = self.function(pa.Table.from_batches([batch]))
            yield from table.cast(self.schema).to_batches()


def _by_spark(native: Any, function: PartFunction) -> Any:
    """Let Spark call the function for Arrow batches, classic or through Connect."""
    if not hasattr(native, "toArrow"):
        raise InvalidParameterError(
            "X is a frame of a PySpark without Arrow tables; it takes PySpark 4.0 or later: "
            'pip install "skliftpriv[spark]".'
        )
    import pyarrow as pa
    from pyspark.sql.types import StructField, StructType

    session = native.sparkSession
    # Made anew, because a frame that is a stream cannot be collected.
    given = session.createDataFrame([], native.schema).toArrow()
    fields = list(_without_dictionaries(function(given)).schema)
    # Types of new columns only, since others may have parts that are never null, or be classes.
    kinds = {(f.name, f.type): (native.schema[f.name].dataType, f.type) for f in given.schema}
    kinds |= _kinds_in_spark(session, [f for f in fields if (f.name, f.type) not in kinds])
    made = [(f.name, *kinds[f.name, f.type]) for f in fields]
    written = pa.schema([(name, in_arrow) for name, _, in_arrow in made])
    types = StructType([StructField(name, in_spark) for name, in_spark, _ in made])
    return native.mapInArrow(_ArrowParts(function, written), types)


def _kinds_in_spark(session: Any, fields: Sequence[Any]) -> dict[tuple[str, Any], tuple[Any, Any]]:
    """Return the type in Spark of new columns of Arrow, and the one that Spark sends to Arrow."""
    import pyarrow as pa
    from pyspark.sql.types import TimestampNTZType

    if not fields:
        return {}
    # Connect makes no frame without rows of an Arrow table.
    rows = pa.table([pa.nulls(1, f.type) for f in fields], schema=pa.schema(fields))
    result = session.createDataFrame(rows)
    kinds = {}
    for field, in_spark, written in zip(
        fields, result.schema, result.toArrow().schema, strict=True
    ):
        # Spark would put times without a zone into that of the session.
        local = pa.types.is_timestamp(field.type) and field.type.tz is None
        kind = (TimestampNTZType(), pa.timestamp("us")) if local else None
        kinds[field.name, field.type] = kind or (in_spark.dataType, written.type)
    return kinds


@dataclass(frozen=True)
class _PandasParts:
    """Calls a function of pyarrow tables for the pandas frames of DuckDB's ``map``.

    Attributes
    ----------
    function : callable
        Takes a pyarrow table and returns one.
    schema : pyarrow.Schema
        Types of the columns, some of which come as text because pandas would round them.
    as_text : tuple of str
        Columns of the result that DuckDB gets as text.
    """

    function: PartFunction
    schema: Any
    as_text: tuple[str, ...]

    def __call__(self, part: Any) -> Any:
        import pyarrow as pa

        columns = {f.name: self._column(part[f.name], f.type) for f in self.schema}
        table = _without_dictionaries(self.function(pa.table(columns, schema=self.schema)))
        for place, name in enumerate(table.column_names):
            if name in self.as_text:
                table = table.set_column(place, name, table[name].cast(pa.string()))
        return table.to_pandas(types_mapper=_nullable)

    @staticmethod
    def _column(values: pd.Series, kind: Any) -> Any:
        import pyarrow as pa

        if pa.types.is_integer(kind) and values.dtype.kind == "f":  # some are missing
            if (values.abs() > _EXACT).any():
                raise InvalidParameterError(
                    f"The column {values.name!r} has missing values and numbers above 2^53, which "
                    "DuckDB rounds: cast it to VARCHAR, or pass a pyarrow RecordBatchReader."
                )
            return pa.array(values.astype("Int64"), kind, from_pandas=True)
        array = pa.array(values, from_pandas=True)
        return array.cast(kind)


def _by_duckdb(native: Any, function: PartFunction) -> Any:
    """Let DuckDB call the function for pandas frames of 2,048 rows, of which it makes a relation.

    DuckDB has faster functions of Arrow, but a relation does not say which connection they would
    have to be registered with.
    """
    import duckdb

    schema, given = native.limit(0).to_arrow_table().schema, _types_of(native)
    for field in schema:
        _check_returned(field, given[field.name])
    result = function(schema.empty_table())
    made = _types_of(duckdb.connect().from_arrow(result))
    as_text = tuple(
        name
        for name, kind in made.items()
        if kind not in _IN_PANDAS and (name in given or kind not in _WITH_NAN)  # new ones lack NaN
    )
    # The default connection takes no types as text.
    passed = {n: duckdb.type("VARCHAR" if n in as_text else kind) for n, kind in made.items()}
    mapped = native.project(_cast(given, dict.fromkeys(given, "VARCHAR"))).map(
        _PandasParts(function, schema, as_text), schema=passed
    )
    return mapped.project(_cast(made, made))


def _check_returned(field: Any, kind: str) -> None:
    """Refuse a column of a type that neither pandas nor text holds exactly."""
    import pyarrow as pa

    if kind in _IN_PANDAS:
        return
    try:
        pa.array([], pa.string()).cast(field.type)
        exact = not pa.types.is_binary(field.type)  # a BIT, whose text is not its bytes
    except pa.ArrowNotImplementedError:
        exact = False
    if not exact:
        raise InvalidParameterError(
            f"The column {field.name!r} has the type {kind}, which rows of a DuckDB relation "
            "cannot be returned with: leave it out, cast it to VARCHAR, or pass "
            "X.to_arrow_reader(), a pyarrow RecordBatchReader."
        )


def _types_of(relation: Any) -> dict[str, str]:
    """Return the types of the columns of a relation of DuckDB, in SQL."""
    return dict(zip(relation.columns, map(str, relation.types), strict=True))


def _cast(types: Mapping[str, str], to: Mapping[str, str]) -> str:
    """Write columns in SQL, those whose type pandas does not hold exactly cast to another one."""
    quoted = {name: '"' + name.replace('"', '""') + '"' for name in types}
    return ", ".join(
        quoted[name]
        if kind in _IN_PANDAS
        else f"CAST({quoted[name]} AS {to[name]}) AS {quoted[name]}"
        for name, kind in types.items()
    )


def _nullable(kind: Any) -> Any:
    """Return the type of pandas that has missing values as well; None for the usual one."""
    import pyarrow as pa

    if pa.types.is_boolean(kind):
        return pd.BooleanDtype()
    whole = pa.types.is_integer(kind)
    return (
        pd.api.types.pandas_dtype(str(kind).capitalize().replace("Uint", "UInt")) if whole else None
    )


@dataclass(frozen=True)
class _StructFunction:
    """Calls a function of pyarrow tables for a column of structs, and returns another one.

    Attributes
    ----------
    function : callable
        Takes a pyarrow table and returns one.
    given, result : pyarrow.Schema
        Names and types of the columns that are given, and of those of the result.
    """

    function: PartFunction
    given: Any
    result: Any

    def __call__(self, rows: Any) -> Any:
        import pyarrow as pa

        table = pa.Table.from_struct_array(rows).cast(self.given)
        table = self.function(table).cast(self.result)
        columns = [pa.concat_arrays(column.chunks) for column in table.columns]
        return pa.StructArray.from_arrays(columns, fields=list(self.result))


def _by_ibis(native: Any, function: PartFunction) -> Any:
    """Let DuckDB call the function, if it is what the tables of Ibis are in."""
    import ibis

    database = native.get_backend().name
    if database != "duckdb":
        raise InvalidParameterError(
            f"X is a table of Ibis in {database}, and only those in duckdb can be released "
            "lazily: pass X.to_pyarrow_batches(), a RecordBatchReader."
        )
    kinds = native.schema()
    given = kinds.to_pyarrow()
    made = ibis.Schema.from_pyarrow(_without_dictionaries(function(given.empty_table())).schema)
    call = _StructFunction(function, given, made.to_pyarrow())
    declared = ibis.udf.scalar.pyarrow(
        lambda rows: call(rows),
        name=f"skliftpriv_{uuid4().hex}",
        signature=((kinds.as_struct(),), made.as_struct()),
        null_handling="special",  # it is called for missing values, too
    )
    rows = ibis.struct({name: native[name] for name in native.columns})
    return native.select(rows=declared(rows)).unpack("rows")


def _without_dictionaries(table: Any) -> Any:
    """Return a pyarrow table with values in place of dictionaries, which Spark does not know."""
    import pyarrow as pa

    def plain(kind: Any) -> Any:
        return kind.value_type if pa.types.is_dictionary(kind) else kind

    return table.cast(pa.schema([field.with_type(plain(field.type)) for field in table.schema]))


#: The libraries whose lazy frames can be computed part by part.
ENGINES: Mapping[nw.Implementation, Callable[[Any, PartFunction], Any]] = {
    nw.Implementation.POLARS: _by_polars,
    nw.Implementation.DASK: _by_dask,
    nw.Implementation.PYSPARK: _by_spark,
    nw.Implementation.PYSPARK_CONNECT: _by_spark,
    nw.Implementation.DUCKDB: _by_duckdb,
    nw.Implementation.IBIS: _by_ibis,
}
