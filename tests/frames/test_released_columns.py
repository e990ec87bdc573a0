"""Columns of a released frame are its own, and of types that its library has."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from skliftpriv import GRRSanitizer
from skliftpriv.exceptions import InvalidParameterError
from skliftpriv.frames import LabelColumn, Table


def test_a_release_shares_no_memory_with_the_table():
    frame = pd.DataFrame({"n": [1.0, 2.0, 3.0], "t": ["a", "b", "c"]}, index=[7, 8, 9])
    numbers = np.array([4, 5, 6])
    table = Table(frame)
    columns = {"n": table.column("n"), "t": table.column("t"), "codes": numbers}
    labels = LabelColumn(["x", None], np.array([0, 1, 0]))
    released = table.build({**columns, "label": labels})
    assert released.index.tolist() == [7, 8, 9]
    assert released["label"].fillna("-").tolist() == ["x", "-", "x"]
    released.iloc[:, :3] = [[0.0, "z", 0]] * 3
    assert frame["n"].tolist() == [1.0, 2.0, 3.0]
    assert frame["t"].tolist() == ["a", "b", "c"]
    assert numbers.tolist() == [4, 5, 6]


@pytest.mark.parametrize("kind", [pl.DataFrame, pa.table])
def test_values_of_several_types_are_refused_where_a_column_has_one(kind):
    s = [0, 0, 0, 1, 1, 1] * 5
    sanitizer = GRRSanitizer("s", "x", epsilon=9.0).fit(pd.DataFrame({"s": s, "x": [1, 2, 3] * 10}))
    sanitizer.partial_fit(pd.DataFrame({"s": s, "x": list("abc") * 10}))
    sanitizer.transform(pd.DataFrame({"x": [1, 2, "a"]}))
    with pytest.raises(
        InvalidParameterError, match="'x' holds values of the types int, str, which"
    ):
        sanitizer.transform(kind({"x": [1, 2]}))


def test_large_integers_of_another_kind_of_table_are_not_rounded():
    x = [2**62 + 1, 2**62 + 2, None] * 50
    table = pa.table({"s": [0, 1, 1] * 50, "x": x})
    released = (
        GRRSanitizer("s", "x", epsilon=8.0)
        .fit(table)
        .transform(pd.DataFrame({"x": pd.array(x, dtype="Int64")}))
    )
    assert set(released["x"]) == {2**62 + 1, 2**62 + 2, None}
