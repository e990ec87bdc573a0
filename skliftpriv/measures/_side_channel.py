"""Leakage to an attacker who already knows some of the attributes of X."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from .._arrays import FloatArray, as_nonnegative
from ..exceptions import InvalidDistributionError

__all__ = ["SideChannelLevel", "SideGroups", "side_groups", "srlip_level", "srlip_levels"]


class SideChannelLevel(NamedTuple):
    """Largest ``|log-lift|`` of S given what an attacker knows, and where it is attained.

    Attributes
    ----------
    level : float
        The level in nats.
    known : tuple of int
        Positions of the attributes that the attacker knows.
    values : tuple
        Their values.
    sensitive, output : int
        Positions of the sensitive symbol and the output.
    """

    level: float
    known: tuple[int, ...]
    values: tuple[Any, ...]
    sensitive: int
    output: int


class SideGroups(NamedTuple):
    """Symbols grouped by the attributes that an attacker knows.

    Attributes
    ----------
    known : tuple of int
        Positions of the known attributes.
    values : ndarray of shape (n_groups, len(known))
        What the attacker knows in each group.
    group : ndarray of shape (n_symbols,)
        Group of each symbol.
    """

    known: tuple[int, ...]
    values: np.ndarray
    group: NDArray[np.intp]

    @property
    def indicator(self) -> csr_array:
        """Matrix that adds up symbols by group, shape (n_groups, n_symbols)."""
        n = self.group.size
        return csr_array((np.ones(n), (self.group, np.arange(n))), shape=(len(self.values), n))


def side_groups(attributes: np.ndarray) -> Iterator[SideGroups]:
    """Group symbols by every set of known attributes except the set of all of them.

    Parameters
    ----------
    attributes : ndarray of shape (n_symbols, n_attributes)
        Codes of the attributes of each symbol.
    """
    n_attributes = attributes.shape[1]
    for size in range(n_attributes):
        for known in combinations(range(n_attributes), size):
            values, group = np.unique(attributes[:, known], axis=0, return_inverse=True)
            yield SideGroups(known, values, group.reshape(-1))


def srlip_level(
    joint: ArrayLike, channel: ArrayLike, attributes: Sequence[int] | ArrayLike
) -> SideChannelLevel:
    """Level of side-channel resistant local information privacy (SRLIP) of a channel.

    It is the largest ``|log P(y | s, x^J) / P(y | x^J)|`` over all sets J of known attributes,
    their values x^J, sensitive symbols s and outputs y that can occur together
    (Lopuhaa-Zwakenberg, Tong and Skoric 2020, Definition 3).

    Parameters
    ----------
    joint : array-like of shape (n_sensitive, n_symbols)
        Joint distribution of S and X = (X^1, ..., X^m).
    channel : array-like of shape (n_symbols, n_outputs)
        P(Y|X).
    attributes : sequence of int, or array-like of shape (n_symbols, n_attributes)
        Sizes of the attributes if the symbols are all their combinations, with the last attribute
        varying fastest; otherwise the codes of the attributes of each symbol.

    Returns
    -------
    SideChannelLevel

    Examples
    --------
    The product of two protocols, one per attribute, leaks more than the sum of their levels,
    0.345 + 0.404 (docs/errata.md, 5).

    >>> import numpy as np
    >>> from skliftpriv import measures
    >>> joint = np.array([[1, 1, 1, 10], [8, 1, 1, 8]]) / 31
    >>> first = np.array([[0.6, 0.4], [0.9, 0.1]])
    >>> second = np.array([[0.5, 0.5], [0.1, 0.9]])
    >>> worst = measures.srlip_level(joint, np.kron(first, second), (2, 2))
    >>> round(worst.level, 3), worst.known
    (0.843, ())
    """
    return max(srlip_levels(joint, channel, attributes), key=lambda found: found.level)


def srlip_levels(
    joint: ArrayLike, channel: ArrayLike, attributes: Sequence[int] | ArrayLike
) -> list[SideChannelLevel]:
    """Level for every set J of known attributes; see :func:`srlip_level` for the parameters."""
    p_sx = as_nonnegative(joint, "The joint distribution", ndim=2)
    matrix = as_nonnegative(np.asarray(channel), "The channel", ndim=2)
    codes = attribute_codes(attributes, p_sx.shape[1])
    if matrix.shape[0] != p_sx.shape[1]:
        raise InvalidDistributionError(
            f"The channel has {matrix.shape[0]} inputs, but the joint distribution has "
            f"{p_sx.shape[1]} useful symbols."
        )
    return [_level(p_sx, matrix, groups) for groups in side_groups(codes)]


def attribute_codes(attributes: Sequence[int] | ArrayLike, n_symbols: int) -> np.ndarray:
    """Codes of the attributes of each symbol, from sizes or from the codes themselves."""
    given = np.asarray(attributes)
    if given.ndim == 1 and int(np.prod(given)) == n_symbols:
        return np.array(list(np.ndindex(*(int(size) for size in given))))
    if given.ndim != 2 or given.shape[0] != n_symbols:
        raise InvalidDistributionError(
            f"attributes must be sizes whose product is {n_symbols}, or an array with "
            f"{n_symbols} rows, but its shape is {given.shape}."
        )
    return given


def _level(p_sx: FloatArray, matrix: FloatArray, groups: SideGroups) -> SideChannelLevel:
    add_up = groups.indicator
    p_x = p_sx.sum(axis=0)
    of_y = _conditional(add_up @ (p_x[:, None] * matrix), add_up @ p_x)
    worst = (-1.0, 0, 0, 0)
    for s, row in enumerate(p_sx):
        mass = add_up @ row
        of_sy = _conditional(add_up @ (row[:, None] * matrix), mass)
        # Skip s or y that cannot occur with x^J.
        possible = (mass[:, None] > 0) & (of_y > 0)
        with np.errstate(divide="ignore"):
            logs = np.abs(np.log(np.divide(of_sy, of_y, out=np.ones_like(of_y), where=possible)))
        place = np.unravel_index(np.argmax(logs), logs.shape)
        if logs[place] > worst[0]:
            worst = (float(logs[place]), int(place[0]), s, int(place[1]))
    level, g, s, y = worst
    return SideChannelLevel(level, groups.known, tuple(groups.values[g].tolist()), s, y)


def _conditional(masses: FloatArray, totals: FloatArray) -> FloatArray:
    weight = totals[:, None]
    return np.divide(masses, weight, out=np.zeros_like(masses), where=weight > 0)
