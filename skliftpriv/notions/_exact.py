"""Rational bounds of exponentials and powers, for promises that are checked without rounding."""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction

# Sixty digits are far more than a double holds; what matters is only the direction of rounding.
_DIGITS = 60
# exp and power of the decimal module err by less than one unit in the last of 60 digits.
_SAFETY = Fraction(1, 10**55)

# Beyond this exponent the bounds stay bounds, but no longer close ones: no lift is that large.
_LARGEST_EXPONENT = 10**6
# Up to this exponent whole powers of rationals stay small enough to be taken exactly.
_LARGEST_EXACT_POWER = 64


def exp_below(value: float | Fraction) -> Fraction:
    """Return a rational number just below exp(value)."""
    rounded = _exp(min(value, _LARGEST_EXPONENT), ROUND_FLOOR) * (1 - _SAFETY)
    # exp(0) = 1 is a bound that survives when exp(value) cannot be told from 1.
    return max(rounded, Fraction(1)) if value >= 0 else rounded


def exp_above(value: float | Fraction) -> Fraction:
    """Return a rational number just above exp(value)."""
    rounded = _exp(max(value, -_LARGEST_EXPONENT), ROUND_CEILING) * (1 + _SAFETY)
    return min(rounded, Fraction(1)) if value <= 0 else rounded


def power_above(base: Fraction, exponent: float) -> Fraction:
    """Return ``base ** exponent`` exactly for small whole exponents, else just above it."""
    if base in (0, 1):
        return base
    if exponent <= _LARGEST_EXACT_POWER and float(exponent).is_integer():
        return base ** int(exponent)
    context = _context(ROUND_CEILING)
    power = context.power(_decimal(base, context), Decimal(exponent))
    # An error of the base is multiplied by the exponent.
    return Fraction(power) * (1 + _SAFETY * (1 + Fraction(exponent)))


def _exp(value: float | Fraction, rounding: str) -> Fraction:
    context = _context(rounding)
    return Fraction(context.exp(_decimal(Fraction(value), context)))


def _decimal(value: Fraction, context: Context) -> Decimal:
    return context.divide(Decimal(value.numerator), Decimal(value.denominator))


def _context(rounding: str) -> Context:
    return Context(prec=_DIGITS, rounding=rounding, Emin=-(10**8), Emax=10**8)
