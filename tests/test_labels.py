"""Texts that labels are compared by: alike where labels are equal, different where they are not."""

import math
from datetime import timedelta
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skliftpriv.labels import identity_text, set_label

numbers = st.one_of(
    st.integers(),
    st.booleans(),
    st.floats(allow_nan=False),
    st.fractions(),
    st.decimals(allow_nan=False),
    st.integers(-40, 40).map(lambda n: Decimal(n).scaleb(-2)),
    st.integers(-40, 40).map(lambda n: n / 4),
    st.integers(-40, 40).map(lambda n: Fraction(n, 20)),
)


@given(numbers, numbers)
def test_numbers_have_one_text_exactly_if_they_are_equal(one, other):
    assert (identity_text(one) == identity_text(other)) == (one == other)


@pytest.mark.parametrize(
    ("text", "alike"),
    [
        ("1", [1, 1.0, True, np.int8(1), Decimal("1.00"), Fraction(1)]),
        ("float('0.25')", [0.25, np.float32(0.25), Decimal("0.250"), Fraction(1, 4)]),
        ("float('0.1')", [0.1, Decimal.from_float(0.1), Fraction(0.1)]),
        ("Fraction('1/10')", [Decimal("0.1"), Decimal("0.100"), Fraction(1, 10)]),
        ("0", [0, -0.0, Decimal("-0.00"), Decimal("0E99999")]),
        ("float('inf')", [math.inf, Decimal("Infinity"), np.float32("inf")]),
        ("Decimal('-1E999999999')", [Decimal("-1E999999999"), Decimal("-10E999999998")]),
        ("timedelta(5400000000000)", [timedelta(hours=1.5), pd.Timedelta("90min")]),
        ("timedelta(5400000000000)", [np.timedelta64(90, "m"), np.timedelta64(54 * 10**11, "ns")]),
        ("timedelta(-1500)", [pd.Timedelta(-1500), np.timedelta64(-1500, "ns")]),
    ],
)
def test_equal_numbers_and_spans_of_time_have_this_text(text, alike):
    assert {identity_text(label) for label in alike} == {text}


def test_long_sets_of_equal_numbers_have_one_name():
    floats = [n / 4 for n in range(300)]
    decimals = [Decimal(n).scaleb(-2) for n in range(0, 7_500, 25)]
    tail = set_label(floats).rpartition("#")[2]
    assert set_label(decimals[::-1]).rpartition("#")[2] == tail
