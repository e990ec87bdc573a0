"""Columns of a released pandas frame are its own."""

import numpy as np
import pandas as pd

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
