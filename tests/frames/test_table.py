"""Tables of any kind: read by column, answered in the same kind."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from skliftpriv.exceptions import InvalidParameterError
from skliftpriv.frames import LabelColumn, Table, as_columns

DATA = {"a": ["p", "q", "p"], "b": [1, 2, 3]}
TABLES = {
    "pandas": pd.DataFrame(DATA, index=[5, 5, 7]),
    "polars": pl.DataFrame(DATA),
    "pyarrow": pa.table(DATA),
}
ARRAY = np.array([["p", 1], ["q", 2], ["p", 3]], dtype=object)


@pytest.mark.parametrize("kind", TABLES)
def test_frames_know_their_shape_and_names(kind):
    table = Table(TABLES[kind])
    assert (table.n_rows, table.n_columns, table.names) == (3, 2, ["a", "b"])
    assert not table.numeric


@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize("key", ["b", 1])
def test_column_is_read_by_name_or_position(kind, key):
    assert Table(TABLES[kind]).column(key).to_list() == [1, 2, 3]


def test_array_column_is_read_by_position():
    assert Table(ARRAY).column(0).tolist() == ["p", "q", "p"]


@pytest.mark.parametrize(
    ("array", "numeric"),
    [
        (ARRAY, False),
        (ARRAY.astype("U"), False),
        (np.ones((2, 2)), True),
        (np.ones((2, 2), int), True),
        (np.ones((2, 2), bool), True),
        (pd.DataFrame([[1, 2], [3, 4]]), True),
        (pd.DataFrame([[1, "a"], [3, "b"]]), False),
    ],
)
def test_numeric_means_an_array_of_numbers(array, numeric):
    assert Table(array).numeric is numeric


@pytest.mark.parametrize(
    ("key", "position"), [("a", 0), ("b", 1), (0, 0), (-1, 1), (np.int8(1), 1)]
)
def test_position_of_a_key(key, position):
    assert Table(TABLES["pandas"]).position(key, "useful") == position


@pytest.mark.parametrize("key", [2, -3, "c", 1.0, None, True, ["a"]])
def test_wrong_key_is_refused_under_the_name_of_its_parameter(key):
    with pytest.raises(InvalidParameterError, match=r"^useful"):
        Table(TABLES["pandas"]).position(key, "useful")


def test_number_that_names_another_column_is_ambiguous():
    table = Table(pd.DataFrame(ARRAY, columns=[1, 0]))
    with pytest.raises(InvalidParameterError, match="index of one column and the name of another"):
        table.position(0, "sensitive")
    assert table.position(-1, "sensitive") == 1
    assert Table(pd.DataFrame(ARRAY)).position(0, "sensitive") == 0


@pytest.mark.parametrize("kind", TABLES)
def test_build_makes_a_table_of_the_same_kind(kind):
    table = Table(TABLES[kind])
    built = table.build(
        {
            "text": LabelColumn(["x", None], np.array([1, 0, 0])),
            "number": np.array([0.5, 1.5, 2.5]),
            "kept": table.column("b"),
        }
    )
    assert type(built) is type(TABLES[kind])
    frame = built.to_pandas() if kind == "pyarrow" else built
    assert list(frame.columns) == ["text", "number", "kept"]
    assert [value if isinstance(value, str) else None for value in frame["text"]] == [
        None,
        "x",
        "x",
    ]
    assert list(frame["number"]) == [0.5, 1.5, 2.5]
    assert list(frame["kept"]) == [1, 2, 3]


def test_build_keeps_the_index_of_pandas_and_the_types_of_pyarrow():
    table = Table(TABLES["pandas"])
    assert table.build({"b": table.column("b")}).index.tolist() == [5, 5, 7]
    arrow = pa.table({"d": pa.array(["p", "q"]).dictionary_encode(), "l": [[1], [2]]})
    table = Table(arrow)
    assert table.build({"d": table.column("d"), "l": table.column("l")}).equals(arrow)


@pytest.mark.parametrize("kind", ["polars", "pyarrow"])
@pytest.mark.parametrize("codes", [[], [0, 0]])
def test_text_stays_text_without_rows_or_without_values(kind, codes):
    empty = TABLES[kind][: len(codes)]
    column = LabelColumn([None], np.array(codes, dtype=np.intp))
    built = Table(empty, allow_empty=True).build({"text": column})
    dtype = built.schema["text"] if kind == "polars" else built.schema.field("text").type
    assert dtype == (pl.String if kind == "polars" else pa.string())


def test_build_of_arrays_keeps_numbers_and_makes_objects_of_the_rest():
    numbers = Table(ARRAY).build({"a": np.array([1, 2]), "b": np.array([0.5, 1.5])})
    np.testing.assert_array_equal(numbers, [[1, 0.5], [2, 1.5]])
    assert numbers.dtype == float
    labels = LabelColumn(["x", ("a", 1)], np.array([0, 1]))
    mixed = Table(ARRAY).build({"a": labels, "b": np.array([1, 2])})
    assert mixed.dtype == object
    assert mixed.tolist() == [["x", 1], [("a", 1), 2]]


def test_lists_with_text_keep_their_numbers_and_missing_values():
    array = Table([["p", 1], ["q", np.nan]]).array
    assert array.dtype == object
    assert array[0, 1] == 1
    assert np.isnan(array[1, 1])


def test_text_arrays_are_taken_as_they_are():
    assert Table(ARRAY.astype("U")).array.dtype.kind == "U"


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (pd.Series(["a"]), "single column"),
        (pl.LazyFrame(DATA), "lazy frame"),
        (pd.DataFrame({"a": []}), "0 sample"),
        (pl.DataFrame(), "0 feature"),
    ],
)
def test_wrong_tables_are_refused_under_their_name(table, message):
    with pytest.raises(InvalidParameterError, match=message):
        Table(table)
    if message != "single column":
        with pytest.raises(InvalidParameterError, match=message):
            as_columns(table, "sensitive_features")


@pytest.mark.parametrize("kind", TABLES)
def test_frame_without_rows_is_accepted_when_allowed(kind):
    assert Table(TABLES[kind][:0], allow_empty=True).n_rows == 0


@pytest.mark.parametrize(
    "values",
    [
        DATA["a"],
        np.array(DATA["a"]),
        pd.Series(DATA["a"], index=[9, 8, 7]),
        pl.Series(DATA["a"]),
        pa.chunked_array([DATA["a"]]),
        pd.DataFrame({"a": DATA["a"]}),
        pl.DataFrame({"a": DATA["a"]}),
        np.array(DATA["a"])[:, None],
    ],
    ids=lambda values: f"{type(values).__module__}.{type(values).__name__}",
)
def test_one_column_on_its_own_is_read(values):
    (column,) = as_columns(values, "sensitive_features")
    assert list(column.to_list() if hasattr(column, "to_list") else column) == DATA["a"]


@pytest.mark.parametrize("values", [TABLES["pandas"], TABLES["polars"], ARRAY, ARRAY.tolist()])
def test_several_columns_on_their_own_are_read(values):
    first, second = as_columns(values, "sensitive_features")
    assert list(first) == DATA["a"]
    assert list(second) == DATA["b"]


@pytest.mark.parametrize(
    "table",
    [
        pd.DataFrame([[1, 2, 3]], columns=["a", "b", "a"]),
        pa.Table.from_arrays([pa.array([i]) for i in (1, 2, 3)], names=["a", "b", "a"]),
    ],
    ids=["pandas", "pyarrow"],
)
def test_names_that_occur_twice_block_only_who_uses_them(table):
    found = Table(table)
    assert found.names == ["a", "b", "a"]
    assert found.column("b").to_list() == found.column(1).to_list() == [2]
    for key in ("a", 0, 2):
        with pytest.raises(InvalidParameterError, match="2 columns of X are called 'a'"):
            found.column(key)
    with pytest.raises(InvalidParameterError, match="2 columns of S are called 'a'"):
        as_columns(table, "S")


def test_names_that_are_not_text_may_repeat():
    assert Table(pd.DataFrame([[1, 2]], columns=[0, 0])).array.tolist() == [[1, 2]]
