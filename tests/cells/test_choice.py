"""Rows that cells are learnt from: a uniform choice that does not depend on how rows are read."""

import numpy as np
import pytest

from skliftpriv.cells import RowChoice, Sample, _choice, learn_cells, learning_rows
from skliftpriv.datasets import load_adult


@pytest.fixture
def few(monkeypatch):
    """Learn from 100 rows at most."""
    monkeypatch.setattr(_choice, "_MOST_ROWS", 100)


def read(n_rows, size):
    """Read rows in parts, and return the choice with the numbers of the rows held."""
    choice, held = RowChoice(), np.empty(0, dtype=int)
    for start in range(0, n_rows, size):
        taken = choice.add(min(size, n_rows - start))
        held = np.concatenate([held, start + taken])
        if choice.crowded:
            held = held[choice.thin()]
        assert held.size <= 200 + size
    return choice, held


@pytest.mark.parametrize("apart", [False, True])
@pytest.mark.parametrize("size", [1, 7, 99, 1000])
@pytest.mark.parametrize("n_rows", [5, 100, 101, 777])
def test_parts_do_not_matter(few, n_rows, size, apart):
    choice, held = read(n_rows, size)
    expected = learning_rows(n_rows, apart=apart)
    np.testing.assert_array_equal(choice.rows(apart=apart), expected)
    np.testing.assert_array_equal(held[choice.places(apart=apart)], expected)
    assert expected.size == min(n_rows // 3 if apart else n_rows, 100)


def test_the_choice_is_spread_over_all_rows(few):
    rows = read(10_000, 64)[0].rows(apart=False)
    # The mean of 100 uniform draws has a standard deviation of 290.
    assert abs(rows.mean() - 5000) < 1000
    assert rows[0] < 1000
    assert rows[-1] > 9000


def test_cells_do_not_depend_on_how_values_are_numbered():
    adult = load_adult().head(3000)
    s, y = (adult[name].factorize()[0] for name in ("sex", "income"))
    columns = [adult["age"].to_numpy(), adult["education"].to_numpy()]
    one, two = (
        learn_cells(8, Sample(["age", "education"], columns, each, y)) for each in (s, 5 - 2 * s)
    )
    assert one.labels == two.labels
