"""Numbers say neither more nor less than they hold."""

import numpy as np
import pytest

from skliftpriv._format import factor, number, rounded, share, signed, text_table


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.28104, "0.2810"),
        (-0.5, "-0.5000"),
        (-0.0, "0.0000"),
        (-3e-17, "0.0000"),
        (1e-6, "1.00e-06"),
        (-0.000321, "-3.21e-04"),
        (0.001, "0.0010"),
        (99999.0, "99999.0000"),
        (1234567.0, "1.23e+06"),
        (np.inf, "inf"),
        (-np.inf, "-inf"),
    ],
)
def test_numbers_have_four_decimals_unless_these_say_nothing(value, text):
    assert number(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.7215, "72%"),
        (0.0, "0%"),
        (1.0, "100%"),
        (1 - 1e-15, "100%"),
        (1e-16, "0%"),
        (0.996, "99.6%"),
        (0.9996, ">99.9%"),
        (0.004, "0.4%"),
        (0.0004, "<0.1%"),
        (0.01, "1%"),
        (0.99, "99%"),
    ],
)
def test_shares_are_not_rounded_to_all_or_nothing(value, text):
    assert share(value) == text


def test_columns_are_as_wide_as_their_widest_cell_and_lines_end_with_text():
    lines = text_table([["", "a", "b"], ["long title", "1", ""], ["t", "-12345.0000", "2"]])
    assert lines == [
        "                       a   b",
        "long title             1",
        "t            -12345.0000   2",
    ]


@pytest.mark.parametrize(
    ("value", "fine", "whole"),
    [
        (0, "0%", "0%"),
        (1e-9, "<0.1%", "<1%"),
        (0.003, "0.3%", "<1%"),
        (0.007, "0.7%", "1%"),
        (0.049, "4.9%", "5%"),
        (0.25, "25%", "25%"),
        (0.993, "99.3%", "99%"),
        (0.996, "99.6%", ">99%"),
        (1 - 1e-9, ">99.9%", ">99%"),
        (1 - 1e-15, "100%", "100%"),
    ],
)
def test_shares_have_more_decimals_or_none_on_request(value, fine, whole):
    assert share(value, fine=True) == fine
    assert share(value, whole=True) == whole


def test_numbers_in_pictures_have_signs_of_their_own():
    assert rounded(-0.5) == "−0.50"
    assert rounded(-0.0001) == "0.00"
    assert rounded(np.inf) == "∞"
    assert rounded(-np.inf) == "−∞"
    assert signed(0.5) == "+0.50"
    assert signed(0.0001) == "0.00"
    assert signed(np.inf) == "+∞"
    assert signed(-np.inf) == "−∞"


@pytest.mark.parametrize(
    ("level", "text"),
    [
        (0, "1.00"),
        (0.5, "1.65"),
        (-5, "0.007"),
        (-np.inf, "0"),
        (30, "1e+13"),
        (np.inf, "without limit"),
    ],
)
def test_levels_are_written_as_factors(level, text):
    assert factor(level) == text
