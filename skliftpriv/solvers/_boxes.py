"""Linear lower bounds of the entropy on boxes, for many boxes at once.

A box is {l <= v <= u, sum v = 1}. Some of its coordinates were branched on; the others
form the *tail*. Arrays have one row per box.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ._image import FloatArray, Image, IntArray, entropy, plogp

BoolArray = npt.NDArray[np.bool_]

_SMALLEST = 1e-9
_HELPS = 0.3
"""Members of a tail are branched on if they have this share of the largest one."""
_NARROW = 1e-12
"""Intervals narrower than this get a constant instead of a chord."""


def chord(lower: FloatArray, upper: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return slope and intercept of the chord of -t log t on [lower, upper].

    The function is concave, so the chord lies below it on the interval.
    """
    at_lower, at_upper = plogp(lower), plogp(upper)
    width = upper - lower
    wide = width > _NARROW
    slope = np.where(wide, (at_upper - at_lower) / np.where(wide, width, 1.0), 0.0)
    intercept = np.where(wide, at_lower - slope * lower, np.minimum(at_lower, at_upper))
    return slope, intercept


def tighten(lower: FloatArray, upper: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Shrink boxes by sum v = 1; an empty box gets a lower bound above its upper bound."""
    for _ in range(2):
        upper = np.minimum(upper, 1.0 - (lower.sum(axis=1, keepdims=True) - lower))
        lower = np.maximum(lower, 1.0 - (upper.sum(axis=1, keepdims=True) - upper))
    return lower, upper


def tail_range(
    lower: FloatArray, upper: FloatArray, tail: BoolArray
) -> tuple[FloatArray, FloatArray]:
    """Return the smallest and largest total mass that the tail can have in each box."""
    least = np.maximum(0.0, 1.0 - np.where(tail, 0.0, upper).sum(axis=1))
    most = np.minimum(1.0, 1.0 - np.where(tail, 0.0, lower).sum(axis=1))
    return least, np.maximum(least, most)


def linear_bound(
    lower: FloatArray, upper: FloatArray, tail: BoolArray, lumped: BoolArray
) -> FloatArray:
    """Return ``cost`` with ``cost @ v <= H(v)`` for the posteriors v of each box.

    There are two bounds for the tail. One is the sum of its chords. The other, for boxes that are
    ``lumped``, uses that the tail cannot be empty: with h(t) = -t log t and the tail mass m in
    [m0, m1], sum_{tail} h(v_j) = h(m) + sum_{tail} v_j log(m / v_j), where h(m) lies above its
    chord and m / v_j is at least max(1, m0 / upper_j).
    """
    slope, intercept = chord(lower, upper)
    joint = tail & lumped[:, None]
    least, most = tail_range(lower, upper, tail)
    tail_slope, tail_intercept = chord(least, most)
    spread = np.log(np.maximum(least[:, None] / np.maximum(upper, _SMALLEST), 1.0))
    constant = np.where(joint, 0.0, intercept).sum(axis=1) + np.where(lumped, tail_intercept, 0.0)
    # Posteriors sum to 1, so a constant may be added to every coordinate instead.
    return np.where(joint, tail_slope[:, None] + spread, slope) + constant[:, None]


def corner_bound(utility: Image, lower: FloatArray) -> FloatArray:
    """Return ``cost`` with ``cost @ v <= H(U v)`` for all posteriors v above each lower bound.

    Posteriors with v >= l form a simplex with the corners l + r e_x, where r = 1 - sum l. H(U v)
    is concave, so it lies above the linear function that agrees with it at the corners.

    Parameters
    ----------
    utility : Image
        U.
    lower : ndarray of shape (b, n)
        Lower bounds of the boxes.

    Returns
    -------
    cost : ndarray of shape (b, n)
    """
    free = np.maximum(1.0 - lower.sum(axis=1), _SMALLEST)[:, None]
    image, symbols = utility.of(lower), utility.symbols
    if symbols is not None:  # only one part of the image changes
        before = image[:, symbols]
        at_corner = entropy(image)[:, None] + plogp(before + free) - plogp(before)
    else:
        columns = utility.of(np.eye(lower.shape[1]))
        at_corner = entropy(image[:, None, :] + free[:, :, None] * columns)
    return (at_corner - (lower * at_corner).sum(axis=1, keepdims=True)) / free


def box_minimum(cost: FloatArray, lower: FloatArray, upper: FloatArray) -> FloatArray:
    """Minimise ``cost @ v`` over each box: fill the cheapest coordinates first."""
    order = np.argsort(cost, axis=1)
    room = np.take_along_axis(upper - lower, order, axis=1)
    sorted_cost = np.take_along_axis(cost, order, axis=1)
    left = 1.0 - lower.sum(axis=1, keepdims=True)
    filled = np.clip(left - (np.cumsum(room, axis=1) - room), 0.0, room)
    return (lower * cost).sum(axis=1) + (filled * sorted_cost).sum(axis=1)


def branch_coordinates(
    lower: FloatArray, upper: FloatArray, tail: BoolArray, points: FloatArray, most: int
) -> IntArray:
    """Choose the coordinates of each box whose split raises the bound most at its point.

    The error of the bound has three parts: the chords of branched coordinates, the chord over the
    tail mass, and the spread of the tail. The second is reduced by narrowing the widest branched
    coordinate. The last is reduced by branching on the largest members of the tail, on several at
    once: after a split on one of them alone the others would be next.

    Returns
    -------
    coordinates : ndarray of shape (b, most)
        The best first; -1 for none.
    """
    slope, intercept = chord(lower, upper)
    error = np.where(upper - lower > 1e-7, plogp(points) - slope * points - intercept, 0.0)
    own = np.where(tail, 0.0, error)
    mass = np.where(tail, points, 0.0).sum(axis=1)
    tail_slope, tail_intercept = chord(*tail_range(lower, upper, tail))
    mass_error = plogp(mass) - tail_slope * mass - tail_intercept
    spread = np.where(tail, plogp(points), 0.0).sum(axis=1) - plogp(mass)
    widest = np.where(tail, -1.0, upper - lower).argmax(axis=1)
    alike: BoolArray = np.asarray(tail.all(axis=1) | ~tail.any(axis=1))
    worst = np.where(alike[:, None], error, own).argmax(axis=1)
    chosen = np.full((len(points), most), -1)
    chosen[:, 0] = np.where(alike | (own.max(axis=1) > mass_error), worst, widest)
    helped = np.flatnonzero(~alike & (spread > own.sum(axis=1) + mass_error))
    held = np.where(tail[helped], points[helped], 0.0)
    largest = np.argsort(-held, axis=1, kind="stable")[:, :most]
    held = np.take_along_axis(held, largest, axis=1)
    chosen[helped, : largest.shape[1]] = np.where(held >= _HELPS * held[:, :1], largest, -1)
    return chosen
