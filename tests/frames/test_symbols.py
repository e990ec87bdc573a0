"""Rows as numbered symbols, and counts that add up."""

import datetime
from datetime import timedelta, timezone
from decimal import Decimal

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skliftpriv import JointDistribution
from skliftpriv.exceptions import InvalidParameterError
from skliftpriv.frames import (
    ContingencyTable,
    SymbolEncoder,
    Table,
    category_order,
    encode_rows,
    sort_symbols,
)

VALUES = st.one_of(st.none(), st.integers(-3, 3), st.sampled_from(["a", "b", "1", "nan"]))


def objects(values):
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def decode(columns):
    codes, symbols = encode_rows(columns)
    assert len(set(symbols)) == len(symbols)
    return [symbols[code] for code in codes]


@given(st.lists(VALUES, min_size=1, max_size=30))
def test_codes_and_symbols_give_back_the_column(values):
    assert decode([objects(values)]) == values


@given(st.lists(st.tuples(VALUES, VALUES, VALUES), min_size=1, max_size=30))
def test_codes_and_symbols_give_back_rows_of_several_columns(rows):
    columns = [objects(column) for column in zip(*rows, strict=True)]
    assert decode(columns) == rows


def test_missing_values_are_none():
    assert decode([objects(["a", None, np.nan, pd.NA, pd.NaT])]) == ["a", None, None, None, None]
    assert decode([np.array([1.0, np.nan])]) == [1.0, None]


def column_of(frame):
    return [Table(frame).column(0)]


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([1, None, 3], int),
        ([True, None, False], bool),
        ([1.5, None, 2.5], float),
        (["a", None], str),
    ],
)
@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_type_of_values_survives_missing_ones(values, kind, library):
    frame = {
        "pandas": pd.DataFrame({"c": pd.array(values)}),
        "polars": pl.DataFrame({"c": values}),
        "pyarrow": pa.table({"c": values}),
    }[library]
    decoded = decode(column_of(frame))
    assert decoded == values
    assert {type(value) for value in decoded} == {kind, type(None)}


@pytest.mark.parametrize("unit", ["ms", "us", "ns"])
def test_dates_are_the_same_symbols_in_every_library(unit):
    moments = [datetime.datetime(2020, 1, 1, 12), datetime.datetime(2021, 1, 1)]
    series = pl.Series(moments).cast(pl.Datetime(unit))
    frames = [series.to_frame("c"), series.to_frame("c").to_arrow(), pd.DataFrame({"c": moments})]
    for frame in frames:
        decoded = decode(column_of(frame))
        assert decoded == moments
        assert SymbolEncoder(moments).codes(column_of(frame))[0].tolist() == [0, 1]
    assert decode([np.array(moments, dtype=f"datetime64[{unit}]")]) == moments


def test_nanoseconds_are_not_bare_numbers():
    (value,) = decode([np.array([1500], dtype="timedelta64[ns]")])
    assert value == pd.Timedelta(1500, "ns")


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"c": [[1], [2]]}),
        pd.DataFrame({"c": [{}, {}]}),
        pl.DataFrame({"c": [[1], [2]]}),
        pl.DataFrame({"c": [{"k": 1}, {"k": 2}]}),
        pa.table({"c": [[1], [2]]}),
    ],
)
def test_values_that_are_no_categories_are_refused_with_their_column(frame):
    with pytest.raises(InvalidParameterError, match="The column 'c' holds values"):
        encode_rows(column_of(frame))


@given(st.lists(VALUES, min_size=1, max_size=20), st.lists(VALUES, max_size=20))
def test_encoder_numbers_known_symbols_and_lists_the_others(known, rows):
    symbols = sort_symbols(set(known))
    codes, unknown = SymbolEncoder(symbols).codes([objects(rows)])
    assert [symbols[code] if code >= 0 else "?" for code in codes] == [
        row if row in symbols else "?" for row in rows
    ]
    assert set(unknown) == set(rows) - set(symbols)


@given(
    st.permutations(
        [3, -1, 2.5, "b", "10", "9", (1, "a"), ("a", 1), None, datetime.date(2020, 1, 1)]
    )
)
def test_symbols_of_any_type_have_one_order(symbols):
    expected = [-1, 2.5, 3, "10", "9", "b", datetime.date(2020, 1, 1), None, (1, "a"), ("a", 1)]
    assert sort_symbols(symbols) == expected


PAIRS = st.lists(st.tuples(VALUES, VALUES), min_size=1, max_size=40)


def count(rows, weight=None):
    s, x = (objects(column) for column in zip(*rows, strict=True))
    return ContingencyTable.count([s], [x], weight)


def cells(table):
    return {
        (s, x): table.counts[i, j]
        for i, s in enumerate(table.sensitive)
        for j, x in enumerate(table.useful)
        if table.counts[i, j]
    }


@given(PAIRS)
def test_counts_are_the_numbers_of_equal_rows(rows):
    table = count(rows)
    assert cells(table) == {row: rows.count(row) for row in rows}
    assert table.n_rows == len(rows)
    assert list(table.useful) == sort_symbols({x for _, x in rows})


@given(PAIRS, PAIRS)
def test_counts_of_batches_add_up_in_either_order(first, second):
    whole = count(first + second)
    for total in (count(first) + count(second), count(second) + count(first)):
        assert (total.sensitive, total.useful) == (whole.sensitive, whole.useful)
        assert total.n_rows == whole.n_rows
        np.testing.assert_array_equal(total.counts, whole.counts)


@given(PAIRS)
def test_weights_count_rows_that_often(rows):
    weight = np.arange(1, len(rows) + 1, dtype=float)
    repeated = [row for row, times in zip(rows, weight, strict=True) for _ in range(int(times))]
    assert cells(count(rows, weight)) == cells(count(repeated))


def test_joint_is_the_normalised_table():
    joint = count([("u", "a"), ("u", "a"), ("v", "a"), ("v", None)]).joint()
    assert joint == JointDistribution([[0.5, 0], [0.25, 0.25]], ["u", "v"], ["a", None])
    smoothed = count([("u", "a"), ("v", None)]).joint(smoothing=1.0)
    np.testing.assert_allclose(smoothed.matrix, [[2 / 6, 1 / 6], [1 / 6, 2 / 6]])


@pytest.mark.parametrize(
    "column",
    [
        pl.Series("x", [1, 2, 3], dtype=pl.Int128),
        pl.Series("x", [[1], [2]]),
        pd.Series([[1], [2]], dtype=pd.ArrowDtype(pa.list_(pa.int64())), name="x"),
        pd.Series([{"a": 1}], dtype=pd.ArrowDtype(pa.struct([("a", pa.int64())])), name="x"),
        pd.Series(["\ud800", "b"], dtype=object, name="x"),
    ],
    ids=["int128", "polars list", "arrow list", "arrow struct", "lone surrogate"],
)
def test_columns_that_hold_no_categories_are_named(column):
    with pytest.raises(InvalidParameterError, match="The column 'x' holds"):
        encode_rows([nw.from_native(column, series_only=True)])


def test_an_order_of_categories_survives_addition_only_if_it_is_the_same():
    def count(values, categories):
        column = pd.Series(pd.Categorical(values, categories=categories, ordered=True))
        return ContingencyTable.count(
            [np.zeros(len(values))], [nw.from_native(column, series_only=True)]
        )

    one = count(["z", "a", None], ["z", "m", "a"])
    assert one.useful == ("z", "a", None)
    assert one.ordered
    both = one + count(["m", "a"], ["z", "m", "a"])
    assert both.useful == ("z", "m", "a", None)
    assert both.order == ("z", "m", "a")
    assert both.without_zeros().order == both.order
    np.testing.assert_array_equal(both.counts, [[1, 1, 2, 1]])
    mixed = one + count(["m", "a"], ["m", "a", "z"])
    assert mixed.useful == ("a", "m", "z", None)
    assert not mixed.ordered
    np.testing.assert_array_equal(mixed.counts, [[2, 1, 1, 1]])
    again = mixed.in_order(["m", "z", "a"])
    assert again.useful == ("m", "z", "a", None)
    np.testing.assert_array_equal(again.counts, [[1, 1, 2, 1]])


def test_dates_and_times_are_sorted_by_time():
    zoned = [
        datetime.datetime(2020, 1, 1, 12, tzinfo=timezone(timedelta(hours=h))) for h in (9, 1, -3)
    ]
    local = [
        datetime.datetime(2020, 1, 1),
        datetime.datetime(2020, 1, 1, 0, 0, 0, 5),
        datetime.datetime(2020, 1, 2),
    ]
    spans = [timedelta(days=-3), timedelta(days=2), timedelta(days=10)]
    for values in (zoned, local, spans, [Decimal("-10"), Decimal("9"), 10.5]):
        assert sort_symbols(values[::-1]) == values
        assert ContingencyTable(np.ones((1, 3)), ["s"], values, 3).ordered
    assert sort_symbols([None, *zoned, *local][::-1]) == [*local, *zoned, None]
    for values in ([*zoned, *local], ["1", "2"], [1, "2"], [(1, 2), (2, 3)], [*local, 1]):
        assert not ContingencyTable(np.ones((1, len(values))), ["s"], values, 3).ordered


def test_chunks_of_a_pyarrow_dictionary_with_different_categories_have_no_order():
    chunks = [
        pa.DictionaryArray.from_arrays([0, 1], [*names], ordered=True) for names in ("ba", "ab")
    ]
    for used, expected in ((chunks[:1], ("b", "a")), (chunks, None)):
        table = pa.table({"x": pa.chunked_array(used)})
        column = nw.from_native(table, eager_only=True).get_column("x")
        assert category_order([column]) == expected
