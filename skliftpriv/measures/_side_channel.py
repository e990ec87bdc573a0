"""Leakage to an attacker who already knows some of the attributes of X."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, issparse

from .._arrays import FloatArray, as_nonnegative
from ..exceptions import InvalidDistributionError

__all__ = [
    "SideCells",
    "SideChannelLevel",
    "SideGroups",
    "side_groups",
    "srlip_level",
    "srlip_levels",
]

#: Cells are listed with those that are empty if there are at most this many for each entry.
_FEW_EMPTY = 8


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


class SideCells:
    """The pairs of a group and an output that occur together in a sparse channel.

    Parameters
    ----------
    groups : SideGroups
        What the attacker knows.
    rows, columns : ndarray of int
        Symbol and output of every entry of the channel.
    n_outputs : int
        Number of outputs.

    Attributes
    ----------
    of_entry : ndarray of int
        The cell that an entry of the channel belongs to.
    group, output : ndarray of int
        Group and output of every cell. Cells may be listed that have no entry.
    """

    def __init__(
        self,
        groups: SideGroups,
        rows: NDArray[np.intp],
        columns: NDArray[np.intp],
        n_outputs: int,
    ) -> None:
        self._groups, self._rows = groups, rows
        self.of_entry = groups.group[rows] * np.intp(n_outputs) + columns
        n_cells = len(groups.values) * n_outputs
        cells = np.arange(n_cells)
        if n_cells > _FEW_EMPTY * self.of_entry.size:  # to list all of them would take longer
            cells, self.of_entry = np.unique(self.of_entry, return_inverse=True)
        self.group, self.output = np.divmod(cells, n_outputs)

    def shares(self, p_sx: FloatArray, entries: FloatArray) -> Iterator[FloatArray]:
        """Yield P(y | x^J), and then P(y | s, x^J) for every s, of every cell.

        Where s cannot occur with x^J, the latter is replaced by the former: nothing is learnt.

        Parameters
        ----------
        p_sx : ndarray of shape (n_sensitive, n_symbols)
            Joint distribution of S and X, up to scale.
        entries : ndarray of float
            The entries of the channel.
        """
        group, n_groups = self._groups.group, len(self._groups.values)
        plain = np.zeros(self.group.size)
        for s, row in enumerate([p_sx.sum(axis=0), *p_sx]):
            mass = np.bincount(group, row, n_groups)[self.group]
            sums = np.bincount(self.of_entry, row[self._rows] * entries, self.group.size)
            share = np.divide(sums, mass, out=plain.copy(), where=mass > 0)
            plain = plain if s else share
            yield share


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
    joint: ArrayLike, channel: ArrayLike | csr_array, attributes: Sequence[int] | ArrayLike
) -> SideChannelLevel:
    """Level of side-channel resistant local information privacy (SRLIP) of a channel.

    It is the largest ``|log P(y | s, x^J) / P(y | x^J)|`` over all sets J of known attributes,
    their values x^J, sensitive symbols s and outputs y that can occur together
    (Lopuhaa-Zwakenberg, Tong and Skoric 2020, Definition 3).

    Parameters
    ----------
    joint : array-like of shape (n_sensitive, n_symbols)
        Joint distribution of S and X = (X^1, ..., X^m).
    channel : array-like or scipy.sparse.csr_array of shape (n_symbols, n_outputs)
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
    joint: ArrayLike, channel: ArrayLike | csr_array, attributes: Sequence[int] | ArrayLike
) -> list[SideChannelLevel]:
    """Level for every set J of known attributes; see :func:`srlip_level` for the parameters."""
    p_sx = as_nonnegative(joint, "The joint distribution", ndim=2)
    if issparse(channel):
        sparse = csr_array(channel)
        as_nonnegative(sparse.data, "The channel", ndim=1)
    else:
        sparse = csr_array(as_nonnegative(np.asarray(channel), "The channel", ndim=2))
    codes = attribute_codes(attributes, p_sx.shape[1])
    if sparse.shape[0] != p_sx.shape[1]:
        raise InvalidDistributionError(
            f"The channel has {sparse.shape[0]} inputs, but the joint distribution has "
            f"{p_sx.shape[1]} useful symbols."
        )
    return [_level(p_sx, sparse, groups) for groups in side_groups(codes)]


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


def _level(p_sx: FloatArray, channel: csr_array, groups: SideGroups) -> SideChannelLevel:
    entries = channel.tocoo()
    cells = SideCells(groups, entries.row, entries.col, channel.shape[1])
    shares = cells.shares(p_sx, entries.data)
    of_y = next(shares)
    worst = (-1.0, 0, 0)
    for s, of_sy in enumerate(shares):
        ratio = np.divide(of_sy, of_y, out=np.ones_like(of_y), where=of_y > 0)
        for cell in (int(ratio.argmax()), int(ratio.argmin())):
            with np.errstate(divide="ignore"):
                worst = max(worst, (float(abs(np.log(ratio[cell]))), s, cell), key=lambda w: w[0])
    level, s, cell = worst
    values = tuple(groups.values[cells.group[cell]].tolist())
    return SideChannelLevel(level, groups.known, values, s, int(cells.output[cell]))
