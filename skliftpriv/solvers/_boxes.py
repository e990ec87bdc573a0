"""Linear lower bounds of the entropy on boxes, for many boxes at once.

A box is {l <= v <= u, sum v = 1}. Some of its coordinates were branched on; the others
form the *tail*. Arrays have one row per box.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ._image import FloatArray, Image, entropy, plogp

BoolArray = npt.NDArray[np.bool_]

_SMALLEST = 1e-9
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
    lower: FloatArray, upper: FloatArray, tail: BoolArray, point: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return ``(cost, constant)`` with ``cost @ v + constant <= H(v)`` on each box.

    There are two bounds for the tail. One is the sum of its chords. The other uses that the tail
    cannot be empty: with h(t) = -t log t and the tail mass m in [m0, m1],
    sum_{tail} h(v_j) = h(m) + sum_{tail} v_j log(m / v_j), where h(m) lies above its chord and
    m / v_j is at least max(1, m0 / upper_j). The one that is higher at ``point``, where a tight
    bound is needed, is taken.
    """
    slope, intercept = chord(lower, upper)
    own = intercept.sum(axis=1)
    least, most = tail_range(lower, upper, tail)
    tail_slope, tail_intercept = chord(least, most)
    spread = np.log(np.maximum(least[:, None] / np.maximum(upper, _SMALLEST), 1.0))
    joint_cost = np.where(tail, tail_slope[:, None] + spread, slope)
    joint = np.where(tail, 0.0, intercept).sum(axis=1) + tail_intercept
    better = (joint_cost * point).sum(axis=1) + joint > (slope * point).sum(axis=1) + own
    return np.where(better[:, None], joint_cost, slope), np.where(better, joint, own)


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


def branch_coordinate(
    lower: FloatArray, upper: FloatArray, tail: BoolArray, point: FloatArray
) -> int:
    """Choose the coordinate of one box whose split raises the bound most at ``point``.

    The error of the bound has three parts: the chords of branched coordinates, the chord
    over the tail mass, and the spread of the tail. The last is reduced by branching on
    the largest tail member, the second by narrowing the widest branched coordinate.
    """
    slope, intercept = chord(lower, upper)
    error = np.where(upper - lower > 1e-7, plogp(point) - slope * point - intercept, 0.0)
    branched = np.flatnonzero(~tail)
    if branched.size == 0 or branched.size == tail.size:
        return int(np.argmax(error))
    mass = point[tail].sum(keepdims=True)
    tail_slope, tail_intercept = chord(*tail_range(lower[None], upper[None], tail[None]))
    mass_error = float((plogp(mass) - tail_slope * mass - tail_intercept)[0])
    spread = float(plogp(point[tail]).sum() - plogp(mass)[0])
    if spread > error[branched].sum() + mass_error:
        return int(np.argmax(np.where(tail, point, -1.0)))
    worst = branched[np.argmax(error[branched])]
    widest = branched[np.argmax((upper - lower)[branched])]
    return int(worst if error[worst] > mass_error else widest)
