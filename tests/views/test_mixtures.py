"""Mixtures of cells are named by the numbers of the cells."""

import numpy as np

from skliftpriv.labels import NumberedLabel
from skliftpriv.views._mixtures import mixture_name, short_outputs

RULES = tuple(NumberedLabel(f"#{i} age < {10 * i}, job = cook") for i in range(1, 6))


def test_the_most_probable_come_first_and_traces_are_not_named():
    assert mixture_name(RULES, np.array([0.1, 0.3, 0, 1e-9, 0])) == "{#2 75%, #1 25%}"
    assert mixture_name(RULES, np.array([0, 0, 0.2, 1e-9, 0])) == "#3"
    assert mixture_name(RULES, np.full(5, 0.2)) == "{#1 20%, #2 20%, #3 20%, 2 more}"
    assert mixture_name(("a", None), np.array([0.1, 0.1])) == "{a 50%, missing 50%}"


def test_outputs_have_short_and_different_names_and_cells_keep_theirs():
    flows = np.array([[0.1, 0.05, 0.05], [0.0, 0.05, 0.05], *[[0.1, 0.1, 0.0]] * 3])
    outputs = (RULES[0], "{#1 ..., #2 ...}", "{#1 ..., #2 ...} (2)")
    flows[2:, 1] = 0
    assert short_outputs(RULES, outputs, flows) == (
        RULES[0],
        "{#1 50%, #2 50%}",
        "{#1 50%, #2 50%} (2)",
    )
    assert short_outputs(("a", "b"), ("{a, b}",), np.ones((2, 1))) == ("{a, b}",)
