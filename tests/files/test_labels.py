"""Labels and types of columns survive a file exactly, or are refused when it is written."""

import enum
import json
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from uuid import UUID
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skliftpriv.exceptions import SavedFileError
from skliftpriv.files._labels import read_label, write_label
from skliftpriv.files._reader import Node
from skliftpriv.files._types import read_type, write_type
from skliftpriv.frames import ColumnType, Table

ROME = ZoneInfo("Europe/Rome")
LABELS = [
    *("a", "ü", "", "\x00", None, True, False, 0, -5, 2**53, 2**53 + 1, -(10**300)),
    *(1.0, -0.0, 1e-320, float("inf"), float("-inf"), Decimal("1.50"), Decimal("-Infinity")),
    *(date(2020, 2, 29), time(1, 2, 3, 4), time(1, tzinfo=UTC), timedelta(-3, 4, 5)),
    *(datetime(2020, 1, 2, 3, 4, 5, 6), datetime(2020, 7, 2, tzinfo=ROME), datetime.max),
    datetime(2020, 10, 25, 2, 30, fold=1, tzinfo=ROME),
    *(datetime(1, 1, 2, tzinfo=UTC), datetime(2020, 1, 1, tzinfo=timezone(-timedelta(hours=3.5)))),
    *(pd.Timestamp("2020-01-01 01:02:03.123456789"), pd.Timestamp("2020-07-01", tz="Europe/Rome")),
    *(pd.Timestamp("2020-07-01", tz="UTC"), pd.Timestamp("2020-07-01 12:00+02:00")),
    pd.Timestamp(np.datetime64("3000-01-01", "s")),
    *(pd.Timedelta("3D 00:00:00.000000007"), pd.Timedelta(np.timedelta64(5, "s"))),
    *(pd.Interval(0.5, 1.5), pd.Interval(pd.Timestamp("2020"), pd.Timestamp("2021"), "left")),
    *(pd.Period("2020-01", "M"), pd.Period("2020Q3", "Q-NOV"), b"\x00\xff", UUID(int=7)),
    *(("a", 1, None), (1.5, (date(2020, 1, 1),)), (pd.Interval(0, 1), "x"), ()),
]


def through_json(label):
    return read_label(Node(json.loads(json.dumps(write_label(label))), "it"))


@pytest.mark.parametrize("label", LABELS, ids=ascii)
def test_a_label_is_read_as_it_was(label):
    found = through_json(label)
    assert type(found) is type(label)
    assert found == label
    assert (str(found), hash(found)) == (str(label), hash(label))


@settings(max_examples=60, deadline=None)
@given(
    st.integers()
    | st.floats(allow_nan=False)
    | st.decimals(allow_nan=False)
    | st.datetimes()
    | st.timedeltas()
    | st.dates()
    | st.text(st.characters(exclude_categories=["Cs"]))
)
def test_any_label_of_these_types_is_read_as_it_was(label):
    found = through_json(label)
    assert (type(found), found, str(found)) == (type(label), label, str(label))


class Text(str):
    pass


class Colour(enum.Enum):
    RED = "red"


@pytest.mark.parametrize(
    "label",
    [Text("a"), Colour.RED, 1j, frozenset([1]), object(), 10**5000, ("a", object()), float("nan")],
    ids=lambda label: type(label).__name__,
)
def test_other_labels_are_refused_with_advice(label):
    with pytest.raises(SavedFileError, match="cannot be written to a file: convert the column"):
        write_label(label)


def test_a_local_time_that_does_not_exist_is_refused():
    with pytest.raises(SavedFileError, match="cannot be written"):
        write_label(datetime(2020, 3, 29, 2, 30, tzinfo=ROME))


WRONG = [
    *({"float": "nan"}, {"float": "1"}, {"float": "0x1p3"}, {"int": "1_0"}, {"int": "5.0"}),
    *({"decimal": "NaN"}, {"decimal": "sNaN"}, {"decimal": "x"}, {"date": "20200101"}, {"a": 1}),
    *({"datetime": ["2020-01-01T00:00:00+01:00", None]}, {"datetime": ["x", None]}, {}, []),
    *({"datetime": ["2020-01-01", "../../etc/passwd"]}, {"datetime": ["2020-01-01", "/etc/x"]}),
    *({"timestamp": [2**62, "s", None]}, {"timestamp": [0, "D", None]}, {"timestamp": [0, "ns"]}),
    *({"timestamp": [0, "ns", "dateutil//etc/localtime"]}, {"timedelta": [0, 86400, 0]}, 2.5),
    *({"interval": [1, 0, "left"]}, {"interval": ["a", 1, "left"]}, {"period": [1, "zzz"]}),
    *({"bytes": "zz"}, {"uuid": "1"}, {"tuple": 1}, {"tuple": [[]]}, "\ud800", 2**53 + 1),
    {"tuple": [{"tuple": [{"tuple": [{"tuple": [1]}]}]}]},
    *({"float": "inf", "int": "3"}, {"int": "9" * 5000}, {"datetime": ["0001-01-01", "+24:00"]}),
]


@pytest.mark.parametrize("value", WRONG, ids=ascii)
def test_what_is_no_label_is_refused(value):
    with pytest.raises(SavedFileError):
        read_label(Node(value, "it"))


def columns():
    numbers, days = [1, 2], pd.to_datetime(["2020-01-01", "2020-01-02"])
    steps = days - days[0]
    for dtype in ("int8", "uint64", "float32", "bool", "object", ">i4"):
        yield pd.DataFrame({"x": np.array(numbers).astype(dtype)})
        yield np.array([numbers, numbers]).astype(dtype)
    for dtype in ("Int16", "Float32", "boolean", "string", "category", "int32[pyarrow]"):
        yield pd.DataFrame(
            {"x": pd.array(["0", "1"] if dtype == "string" else [0, 1], dtype=dtype)}
        )
    yield pd.DataFrame({"x": ["a", "b"]})
    yield pd.DataFrame({"x": pd.Categorical(["a", "b"], ["b", "c", "a"], ordered=True)})
    yield pd.DataFrame({"x": pd.Categorical([1.5, 2.5], [1.5, 2.5], ordered=True)})
    for values in (days, days.as_unit("s"), days.tz_localize("Europe/Rome"), steps):
        yield pd.DataFrame({"x": values})
    yield pd.DataFrame({"x": days.tz_localize("UTC")})
    yield pd.DataFrame({"x": days.tz_localize(timezone(timedelta(hours=2)))})
    yield pd.DataFrame({"x": pd.array(days, dtype="timestamp[us, tz=UTC][pyarrow]")})
    dates = [date(2020, 1, 1), date(2020, 1, 2)]
    for dtype in (pl.Int8, pl.UInt64, pl.Float32, pl.Boolean, pl.String, pl.Categorical):
        words = dtype in (pl.String, pl.Categorical)
        yield pl.DataFrame({"x": pl.Series(["0", "1"] if words else [0, 1]).cast(dtype)})
    yield pl.DataFrame({"x": dates})
    yield pl.DataFrame({"x": pl.Series(["a", "b"], dtype=pl.Enum(["b", "a"]))})
    yield pl.DataFrame(
        {"x": pl.Series(list(days.to_pydatetime())).dt.replace_time_zone("Europe/Rome")}
    )
    yield pl.DataFrame({"x": pl.Series(list(steps.to_pytimedelta()))})
    yield pl.DataFrame({"x": pl.Series([Decimal("1.5"), Decimal("2.5")])})
    yield pa.table({"x": pa.array(dates)})
    yield pa.table({"x": pa.array(["a", "b"]).dictionary_encode()})
    yield pa.table({"x": pa.array([1, 2], pa.int16())})
    yield pa.table({"x": pa.array(list(days), pa.timestamp("ns", "Europe/Rome"))})


COLUMNS = [ColumnType.of(Table(table).column(0)) for table in columns()]


@pytest.mark.parametrize("kind", COLUMNS, ids=lambda kind: f"{kind.backend}-{kind.dtype}")
def test_a_type_of_a_column_is_read_as_it_was(kind):
    found = read_type(Node(json.loads(json.dumps(write_type(kind, "x"))), "type"))
    assert (found.backend, found.keeps) == (kind.backend, kind.keeps)
    assert type(found.dtype) is type(kind.dtype)
    if isinstance(kind.dtype, pd.CategoricalDtype) and kind.dtype.ordered:
        assert found.dtype.categories.tolist() == kind.dtype.categories.tolist()
    else:
        assert found.dtype == kind.dtype


def test_a_type_that_the_format_does_not_know_is_refused_if_it_matters():
    kind = ColumnType(COLUMNS[0].backend, pd.PeriodDtype("M"), True)
    with pytest.raises(SavedFileError, match=r"type period\[M\] of the column month"):
        write_type(kind, "month")
    text = ColumnType(COLUMNS[0].backend, pd.PeriodDtype("M"), False)
    assert write_type(text, "month")["type"] is None


@pytest.mark.parametrize(
    "dtype",
    [
        *({"numpy": "i4,(9999999,)f8"}, {"numpy": "<i3"}, {"numpy": "V8"}, {"masked": "category"}),
        *({"arrow": "struct<a: int>[pyarrow]"}, {"arrow": "nothing[pyarrow]"}, {"plain": "List"}),
        *({"plain": "from_native"}, {"zoned": ["ns", None]}, {"datetime": ["ns", "no/where"]}),
        *({"enum": [1]}, {"string": ["x", "NA"]}, {"category": 3}, {}, {"decimal": [99, 0]}),
        {"numpy": "<i4", "plain": "Int8"},
    ],
    ids=ascii,
)
def test_what_is_no_type_is_refused(dtype):
    with pytest.raises(SavedFileError):
        read_type(Node({"frame": "pandas", "type": dtype, "keeps": True}, "type"))
