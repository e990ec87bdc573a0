"""Extreme means and lifts over all distributions within a box, in closed form.

A box gives each probability a lower and an upper bound. The distributions within it are those
between the bounds that sum to 1. A mean is largest if the mass that the lower bounds leave free
goes to the largest values first, so sorting replaces a linear program.

The functions take floats or Python integers (arrays of dtype object); with integers, and ``one``
as the unit of the bounds, they are exact.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np

__all__ = [
    "Box",
    "extreme_distributions",
    "lift_range",
    "mean_range",
    "merged_range",
    "one_against",
    "quotient",
]


class Box(NamedTuple):
    """Bounds of probabilities, arrays of shape (..., n_symbols), in units of 1 / ``one``."""

    low: np.ndarray
    high: np.ndarray
    one: float | int = 1.0

    @property
    def alone(self) -> Box:
        """The bounds of a single distribution as a stack of one."""
        return Box(self.low[None], self.high[None], self.one)


def extreme_distributions(values: np.ndarray, box: Box) -> tuple[np.ndarray, np.ndarray]:
    """Distributions within a box with the smallest and with the largest mean of values.

    Parameters
    ----------
    values : ndarray of shape (n_symbols, n_means)
        One column per mean.
    box : Box
        Bounds of shape (n_boxes, n_symbols).

    Returns
    -------
    smallest, largest : ndarray of shape (n_boxes, n_symbols, n_means)
    """
    order = np.argsort(values, axis=0, kind="stable")
    place = np.argsort(order, axis=0)
    room = (box.high - box.low)[:, order]
    free = (box.one - box.low.sum(axis=1))[:, None, None]
    low = box.low[:, :, None]
    places = np.broadcast_to(place, room.shape)
    return (
        low + np.take_along_axis(_filled(room, free), places, axis=1),
        low + np.take_along_axis(_filled(room[:, ::-1], free)[:, ::-1], places, axis=1),
    )


def _filled(room: np.ndarray, free: np.ndarray) -> np.ndarray:
    """Give the free mass to the first symbols, as much to each as it has room for."""
    before = np.cumsum(room, axis=1) - room
    return np.minimum(room, np.maximum(free - before, 0))


def mean_range(values: np.ndarray, box: Box) -> tuple[np.ndarray, np.ndarray]:
    """Smallest and largest mean of values over the distributions within a box.

    Parameters are those of :func:`extreme_distributions`.

    Returns
    -------
    smallest, largest : ndarray of shape (n_boxes, n_means)
    """
    smallest, largest = extreme_distributions(values, box)
    return (smallest * values).sum(axis=1), (largest * values).sum(axis=1)


def merged_range(
    inside: Box, outside: Box, drawn: np.ndarray, share: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Smallest and largest P(A|s) of sets A of symbols, given sums of bounds.

    Parameters
    ----------
    inside, outside : Box
        Sums of the bounds of P(x|s) over the symbols in A, and over the others, of shape
        (n_sensitive, n_sets).
    drawn : ndarray of shape (n_sensitive,)
        Upper bounds of the probability of further symbols, which are replaced by a draw.
    share : ndarray of shape (n_sets,)
        Probability that the draw is in A, at most 1.

    Returns
    -------
    smallest, largest : ndarray of shape (n_sensitive, n_sets)
    """
    # Free mass goes to A first, then to draws, then to the others, and the other way round.
    most = np.minimum(inside.high, 1 - outside.low)
    rest = np.minimum(outside.high, 1 - inside.low)
    room = drawn[:, None]
    above = np.minimum(room, np.maximum(1 - outside.low - most, 0))
    between = np.minimum(room, np.maximum(1 - inside.low - rest, 0))
    return (
        np.maximum(inside.low, 1 - rest - between) + share * between,
        most + share * above,
    )


def lift_range(low: np.ndarray, high: np.ndarray, prior: Box) -> tuple[np.ndarray, np.ndarray]:
    r"""Smallest and largest lift P(y|s) / P(y) given bounds of P(y|s) and P(s).

    The lift of s increases with P(y|s) and decreases with every other P(y|t), and the rows vary
    independently, so

    .. math:: \max l(s, y) = U_s / \min_\pi (\pi_s U_s + \sum_{t \ne s} \pi_t L_t),

    a mean over the box of the prior. For the smallest lift, L and U are exchanged and the mean is
    maximised.

    Parameters
    ----------
    low, high : ndarray of shape (n_sensitive, n_outputs)
        Bounds of P(y|s), each of which some distribution attains.
    prior : Box
        Bounds of P(s), of shape (n_sensitive,).

    Returns
    -------
    smallest, largest : ndarray of shape (n_sensitive, n_outputs)
        Fractions if the input is exact. An output that never occurs has lift 1.
    """
    box = prior.alone
    largest = quotient(high * prior.one, mean_range(one_against(high, low), box)[0])
    smallest = quotient(low * prior.one, mean_range(one_against(low, high), box)[1])
    return smallest, largest


def one_against(own: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Columns (s, y), y varying fastest: ``others[:, y]`` with the entry of s from ``own``."""
    n_s, n_y = own.shape
    values = np.repeat(others[:, None, :], n_s, axis=1)
    diagonal = np.arange(n_s)
    values[diagonal, diagonal] = own
    return values.reshape(n_s, n_s * n_y)


def quotient(numerator: np.ndarray, denominator: np.ndarray) -> np.ndarray:
    """Divide exactly or in floating point; 0 / 0 is 1, the lift of an output that never occurs.

    A positive number over 0 is infinite, also in exact arithmetic: such a lift is unbounded if
    the lower bound of P(s) is 0.
    """
    denominator = denominator.reshape(numerator.shape)
    never = denominator == 0
    safe = np.where(never, 1, denominator)
    if numerator.dtype == object:
        result = np.frompyfunc(Fraction, 2, 1)(numerator, safe)
    else:
        result = numerator / safe
    result[never] = 1
    result[never & (numerator > 0)] = np.inf
    return np.asarray(result)
