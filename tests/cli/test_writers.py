"""What is written is read back as it was, by others too."""

import csv
import io

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skliftpriv.cli._writers import CsvWriter

texts = st.text(st.sampled_from('ab,;"\r\n \té0')) | st.text()
rows = st.integers(1, 4).flatmap(
    lambda n: st.lists(st.lists(texts, min_size=n, max_size=n), min_size=1, max_size=8)
)


def written(frames, delimiter=","):
    file = io.StringIO(newline="")
    writer = CsvWriter(file, delimiter)
    for frame in frames:
        writer.write(frame)
    return file.getvalue()


@given(rows, st.sampled_from(",;\t|"))
def test_any_text_survives(rows, delimiter):
    names = [f"c{i}" for i in range(len(rows[0]))]
    frame = pd.DataFrame(rows, columns=names, dtype=object)
    text = written([frame, frame], delimiter)
    read = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True))
    assert read == [names, *rows, *rows]


def test_numbers_and_missing_values():
    frame = pd.DataFrame(
        {
            "code": [1, 2, 3],
            "share": [0.1, -0.0, np.nan],
            "label": pd.Series(["a", None, "c"], dtype="str"),
        }
    )
    assert written([frame]) == "code,share,label\n1,0.1,a\n2,-0.0,\n3,,c\n"


def test_tables_of_pyarrow():
    pyarrow = pytest.importorskip("pyarrow")
    table = pyarrow.table({"a": [1, None], "b": [[1, 2], []]})
    assert written([table]) == 'a,b\n1,"[1, 2]"\n,[]\n'
