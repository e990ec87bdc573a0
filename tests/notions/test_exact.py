import decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skliftpriv.notions._exact import exp_above, exp_below, power_above

# Forty digits more than the code under test works with.
REFERENCE = decimal.Context(prec=100, Emin=-(10**9), Emax=10**9)
# The reference itself errs by one unit in its last digit.
REFERENCE_ERROR = Fraction(1, 10**98)


def reference_exp(value):
    value = Fraction(value)
    exponent = REFERENCE.divide(
        decimal.Decimal(value.numerator), decimal.Decimal(value.denominator)
    )
    return Fraction(REFERENCE.exp(exponent))


@given(st.floats(-700, 700).filter(lambda value: abs(value) > 1e-30))
def test_exponential_lies_strictly_between_its_bounds(value):
    exact = reference_exp(value)
    below, above = exp_below(value), exp_above(value)
    assert below < exact * (1 - REFERENCE_ERROR)
    assert above > exact * (1 + REFERENCE_ERROR)
    assert above - below < exact * Fraction(1, 10**50)


@given(st.fractions(min_value=-50, max_value=50).filter(lambda value: abs(value) > 1e-30))
def test_exponentials_of_fractions_are_bounded_too(value):
    exact = reference_exp(value)
    assert exp_below(value) < exact < exp_above(value)
    assert exp_above(value) - exp_below(value) < exact * Fraction(1, 10**50)


@pytest.mark.parametrize("tiny", [0.0, 5e-324, 1e-300, 1e-56])
def test_exponentials_too_close_to_one_to_be_told_from_it_stay_on_their_side(tiny):
    assert 1 <= exp_below(tiny) < 1 + Fraction(tiny) + Fraction(1, 10**100)
    assert 1 - Fraction(tiny) < exp_above(-tiny) + Fraction(1, 10**100)
    assert exp_above(-tiny) <= 1
    assert exp_above(tiny) >= 1 + Fraction(tiny)
    assert exp_below(-tiny) <= 1 - Fraction(tiny) + Fraction(tiny) ** 2


def test_huge_exponents_give_bounds_that_still_hold():
    assert exp_below(1e12) == exp_below(10**6) > 10**434294
    assert exp_above(-1e12) == exp_above(-(10**6)) > 0


POSITIVE = st.fractions(min_value=Fraction(1, 10**4), max_value=10**4)


@given(POSITIVE, st.integers(2, 64))
def test_whole_powers_are_exact(base, exponent):
    assert power_above(base, float(exponent)) == base**exponent


@given(POSITIVE, st.floats(1.0001, 2000).filter(lambda value: not value.is_integer()))
def test_other_powers_are_bounded_from_above_and_closely(base, exponent):
    fine = REFERENCE.divide(decimal.Decimal(base.numerator), decimal.Decimal(base.denominator))
    exact = Fraction(REFERENCE.power(fine, decimal.Decimal(exponent)))
    slack = Fraction(exponent) * Fraction(1, 10**97)
    value = power_above(base, exponent)
    assert value >= exact * (1 - slack)
    if base != 1:
        assert value > exact * (1 + slack)
    assert value < exact * (1 + Fraction(1, 10**50))


@given(POSITIVE, st.integers(65, 3000))
def test_large_whole_powers_are_bounded_from_above_and_closely(base, exponent):
    value, exact = power_above(base, float(exponent)), base**exponent
    assert exact <= value < exact * (1 + Fraction(1, 10**50))


def test_powers_of_zero_vanish():
    assert power_above(Fraction(0), 2.5) == 0
    assert power_above(Fraction(0), 3) == 0


def test_powers_of_one_are_one():
    assert power_above(Fraction(1), 2.5) == 1
