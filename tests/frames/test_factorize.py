"""Columns of polars and Arrow are encoded by their dictionaries, as if by their values."""

import datetime
import subprocess
import sys
from decimal import Decimal
from zoneinfo import ZoneInfo

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skliftpriv.frames import encode_rows

TEXTS = ["", "a", "b", "ä", "a\0", "nan", "longer than twelve bytes"]
MOMENTS = [datetime.datetime(2020, 1, 1, 12), datetime.datetime(1969, 5, 5, 5, 5, 5, 5)]
#: Values, and their types in polars.
POLARS = {
    "text": (TEXTS, pl.String),
    "categories": (TEXTS, pl.Categorical),
    "enum": (TEXTS, pl.Enum(["unused", *TEXTS])),
    "integers": ([0, 1, -1, 2**63 - 1, -(2**63)], pl.Int64),
    "large integers": ([0, 1, 2**63, 2**64 - 1], pl.UInt64),
    "bytes": ([0, 1, 255], pl.UInt8),
    "floats": ([0.0, -0.0, 1.5, float("nan"), float("-inf")], pl.Float64),
    "narrow floats": ([0.0, -0.0, 0.1, float("nan")], pl.Float32),
    "booleans": ([True, False], pl.Boolean),
    "dates": ([moment.date() for moment in MOMENTS], pl.Date),
    "milliseconds": (MOMENTS, pl.Datetime("ms")),
    "nanoseconds": (MOMENTS, pl.Datetime("ns")),
    "zoned": (MOMENTS, pl.Datetime("us", "America/New_York")),
    "spans": ([datetime.timedelta(1), datetime.timedelta(0, 0, -1)], pl.Duration("us")),
    "times": ([datetime.time(0), datetime.time(23, 59, 59, 999999)], pl.Time),
    "decimals": ([Decimal("0.00"), Decimal("-1.50"), Decimal("99.99")], pl.Decimal(10, 2)),
    "binary": ([b"", b"\0", b"\xff", b"a"], pl.Binary),
    "nothing": ([], pl.Null),
}


def by_values(column):
    """Encode a column row by row: missing values last, others in the order of appearance."""
    native = nw.to_native(column)
    if column.implementation is nw.Implementation.PYARROW and pa.types.is_dictionary(native.type):
        column = nw.from_native(native.cast(native.type.value_type), series_only=True)
    present = ~column.is_null().to_numpy()
    values = column.drop_nulls()
    if column.dtype in (nw.String, nw.Categorical, nw.Enum):
        distinct = list(dict.fromkeys(values.to_list()))
        among, symbols = [distinct.index(value) for value in values.to_list()], distinct
    else:
        among, symbols = encode_rows([values.to_numpy()])
        zone = getattr(column.dtype, "time_zone", None)
        if zone is not None:
            symbols = [pd.Timestamp(one, tz="UTC").tz_convert(zone) for one in symbols]
    symbols = symbols if None in symbols or present.all() else [*symbols, None]
    codes = np.full(len(column), len(symbols) - 1)
    codes[present] = among
    return codes, symbols


def check(column):
    codes, symbols = encode_rows([column])
    expected, expected_symbols = by_values(column)
    assert codes.dtype == np.intp
    np.testing.assert_array_equal(codes, expected)
    assert [(type(one), repr(one)) for one in symbols] == [
        (type(one), repr(one)) for one in expected_symbols
    ]
    return symbols


def chunks_of(kind, seed):
    """Draw three chunks of a column of polars, some of them empty."""
    rng = np.random.default_rng(seed)
    values, dtype = POLARS[kind]
    choices = [None, *values][seed % 2 if values else 0 :]  # with and without missing values
    return [
        pl.Series("c", [choices[i] for i in rng.integers(len(choices), size=size)], dtype=dtype)
        for size in rng.integers(0, 9, size=3)
    ]


SEEDS = range(20)


@pytest.mark.parametrize("kind", POLARS)
def test_polars_columns_have_the_codes_and_symbols_of_their_values(kind):
    for seed in SEEDS:
        first, between, second = chunks_of(kind, seed)
        column = first.append(between).append(second)
        check(nw.from_native(column, series_only=True))
        check(nw.from_native(column[len(column) // 3 :], series_only=True))


@pytest.mark.parametrize("encoded", [False, True], ids=["plain", "dictionary"])
@pytest.mark.parametrize("kind", POLARS)
def test_arrow_columns_have_the_codes_and_symbols_of_their_values(kind, encoded):
    for seed in SEEDS:
        arrays = [chunk.to_arrow() for chunk in chunks_of(kind, seed)]
        if encoded and not pa.types.is_dictionary(arrays[0].type):
            arrays = [array.dictionary_encode() for array in arrays]
        # Slices share dictionaries with rows that are left out.
        column = pa.chunked_array([array[1:] for array in arrays])
        check(nw.from_native(column, series_only=True))


@pytest.mark.parametrize("kind", ["text", "zoned", "decimals"])
def test_polars_and_arrow_agree_on_symbols_and_missing_values(kind):
    values = [*POLARS[kind][0], None, *POLARS[kind][0][::-1]]
    series = pl.Series("c", values, dtype=POLARS[kind][1])
    one, two = (
        encode_rows([nw.from_native(column, series_only=True)])
        for column in (series, pa.chunked_array([series.to_arrow()]))
    )
    np.testing.assert_array_equal(one[0], two[0])
    assert one[1] == two[1]
    assert one[1][-1] is None


@pytest.mark.parametrize("kind", [pa.float64(), pa.float32()])
def test_nan_and_null_of_arrow_in_pandas_are_one_missing_value(kind):
    values = pa.array([2.5, None, float("nan"), 0.0, -0.0, 2.5], kind)
    column = pd.Series(pd.arrays.ArrowExtensionArray(values), name="c")
    codes, symbols = encode_rows([nw.from_native(column, series_only=True)])
    assert [symbols[code] for code in codes] == [2.5, None, None, 0.0, 0.0, 2.5]
    assert len(symbols) == 3


@settings(max_examples=20)
@given(st.lists(st.tuples(*(st.sampled_from([None, 0, 1, 2]),) * 3), min_size=1, max_size=20))
def test_rows_of_several_columns_have_the_same_codes_in_polars_and_arrow(rows):
    numbers, texts, floats = zip(*rows, strict=True)
    frame = pl.DataFrame(
        {
            "a": numbers,
            "b": [None if i is None else TEXTS[i] for i in texts],
            "c": [None if i is None else [0.0, -0.0, float("nan")][i] for i in floats],
        },
        schema={"a": pl.Int16, "b": pl.String, "c": pl.Float64},
    )
    expected = encode_rows([np.array(column.to_list(), dtype=object) for column in frame])
    for table in (frame, frame.to_arrow()):
        columns = nw.from_native(table, eager_only=True)
        codes, symbols = encode_rows([columns.get_column(name) for name in frame.columns])
        np.testing.assert_array_equal(codes, expected[0])
        assert symbols == expected[1]


def test_dictionaries_with_missing_and_repeated_values_are_read_by_value():
    chunks = [
        pa.DictionaryArray.from_arrays(pa.array([2, None, 0, 1, 2]), pa.array(["b", None, "b"])),
        pa.DictionaryArray.from_arrays(pa.array([0, 1]), pa.array(["a", "b"])),
    ]
    column = nw.from_native(pa.chunked_array(chunks), series_only=True)
    codes, symbols = encode_rows([column])
    assert [symbols[code] for code in codes] == ["b", None, "b", None, "b", "a", "b"]
    assert symbols == ["b", "a", None]


def test_views_of_text_keep_their_missing_values():
    column = pa.chunked_array([pa.array(["a", None, ""], pa.string_view())])
    codes, symbols = encode_rows([nw.from_native(column, series_only=True)])
    assert [symbols[code] for code in codes] == ["a", None, ""]


def test_zones_of_columns_do_not_depend_on_where_values_first_appear():
    zone = ZoneInfo("America/New_York")
    series = pl.Series([moment.replace(tzinfo=zone) for moment in MOMENTS]).cast(
        pl.Datetime("us", "America/New_York")
    )
    symbols = check(nw.from_native(series, series_only=True))
    assert symbols == check(nw.from_native(pa.chunked_array([series.to_arrow()]), series_only=True))
    in_pandas = nw.from_native(series.to_pandas(), series_only=True)
    assert list(map(repr, symbols)) == list(map(repr, encode_rows([in_pandas])[1]))


@pytest.mark.slow
def test_polars_needs_no_pyarrow():
    script = """
import sys
sys.modules["pyarrow"] = None
import polars as pl
from skliftpriv import SubsetMergingSanitizer
kinds = {"text": pl.String, "category": pl.Categorical, "enum": pl.Enum(["a", "b", "c"])}
for dtype in kinds.values():
    x = pl.Series(["a", "b", None, "c"] * 50, dtype=dtype)
    frame = pl.DataFrame({"s": ["u", "v", "v", "u"] * 50, "x": x})
    released = SubsetMergingSanitizer("s", "x", epsilon=0.5).fit_transform(frame)
    assert released.schema == {"x": pl.String}, released.schema
"""
    subprocess.run([sys.executable, "-W", "ignore", "-c", script], check=True)
