"""The certificate of side-channel resistance: integers are checked in exact arithmetic."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array

from .._arrays import FloatArray, exact_integers
from .._limits import FEWER, MOST_FRACTIONS, MOST_SIDE_TERMS, refuse_beyond
from ..certificate import TOTAL, Weights, without_common
from ..distribution import JointDistribution
from ..measures._side_channel import SideCells, SideGroups, side_groups
from ..notions import SRLIP

__all__ = ["SideChannelCheck", "refuse_many_terms"]

#: Smaller masses, relative to the largest, may lose digits by underflow.
_TINIEST = Fraction(1, 10**250)


def refuse_many_terms(
    joint: JointDistribution, attributes: NDArray[np.intp], n_outputs: int
) -> None:
    """Raise an error if a channel with so many outputs would take long to certify."""
    (n_s, n_x), n_sets = joint.shape, 2 ** attributes.shape[1] - 1
    terms = n_x * n_outputs * n_sets * (1 + n_s)
    what = (
        f"an attacker may know {n_sets:,} sets of attributes, and a channel of {n_x:,} values and "
        f"{n_outputs:,} outputs is certified for each of them, by up to {terms:,} terms in all"
    )
    refuse_beyond(MOST_SIDE_TERMS, terms, what, FEWER)


class SideChannelCheck:
    """Check without rounding which outputs are side-channel resistant.

    Floating-point numbers decide where the ratio P(y|s,x^J) / P(y|x^J) is further from the ends of
    the band than rounding can take it; few pairs of x^J and y are left for integers. If they are
    many, their outputs count as not resistant.

    Parameters
    ----------
    masses : ndarray of shape (n_sensitive, n_symbols)
        The joint distribution, up to scale; taken as exact.
    attributes : ndarray of shape (n_symbols, n_attributes)
        Codes of the attributes of each symbol.
    notion : SRLIP
        The budget.
    """

    def __init__(self, masses: FloatArray, attributes: NDArray[np.intp], notion: SRLIP) -> None:
        self._masses = masses / masses.max()
        self._integers = exact_integers(masses)
        self._groups = list(side_groups(attributes))
        low, high = notion.exact_band
        self._low = (low.numerator, low.denominator)
        self._high = (high.numerator, high.denominator)
        # Each side of a quotient is a sum of at most |X| terms, as in certificate/_exact.py.
        error = 16 * (masses.shape[1] + 16) * 2.0**-53
        if (self._masses[masses > 0] < float(_TINIEST)).any():
            error = 1.0  # digits may be lost by underflow, so nothing is sure
        self._surely = (
            float(max(low, _TINIEST)) * (1 + error),
            float(min(high, 1 / _TINIEST)) * (1 - error),
        )

    def __call__(self, weights: Weights) -> NDArray[np.bool_]:
        met = np.ones(weights.shape[1], dtype=bool)
        common, columns = without_common(weights)
        rest = columns.tocoo()
        n_numbers = 0
        for groups in self._groups:
            doubtful = self._doubtful(groups, rest, common) & met[rest.col]
            n_numbers += int(doubtful.sum()) * (1 + self._masses.shape[0])
            if n_numbers > MOST_FRACTIONS:
                # A tiny share of a constant channel, mixed in, settles it without integers.
                met[rest.col[doubtful]] = False
                continue
            entries = (rest.data[doubtful], (rest.row[doubtful], rest.col[doubtful]))
            part = coo_array(entries, shape=rest.shape)
            met[self._broken(groups, part, common.astype(object))] = False
        return met

    def _doubtful(
        self, groups: SideGroups, rest: coo_array, common: NDArray[np.int64]
    ) -> NDArray[np.bool_]:
        """Find entries of outputs whose ratio may be outside the band, by floating-point sums."""
        cells = SideCells(groups, rest.row, rest.col, rest.shape[1])
        shared = (common / TOTAL)[cells.output]
        shares = (share + shared for share in cells.shares(self._masses, rest.data / TOTAL))
        of_y = next(shares)
        smallest, largest = self._surely
        safe = np.ones(of_y.size, dtype=bool)
        for of_sy in shares:
            safe &= (of_sy >= smallest * of_y) & (of_sy <= largest * of_y)
        return np.asarray(~safe[cells.of_entry])

    def _broken(self, groups: SideGroups, rest: coo_array, common: np.ndarray) -> NDArray[np.intp]:
        """Find outputs whose P(y|s,g) / P(y|g) is outside the band for some group g and s.

        If all rows of a group have only the common part, the ratio is 1.
        """
        n_outputs, weight = rest.shape[1], rest.data.astype(object)
        x = rest.row
        key = groups.group[x] * n_outputs + rest.col
        order = np.argsort(key, kind="stable")
        cells, starts = np.unique(key[order], return_index=True)
        group, output = np.divmod(cells, n_outputs)

        if not cells.size:
            return output

        def by_cell(masses: np.ndarray) -> np.ndarray:
            own = np.add.reduceat((masses[x] * weight)[order], starts)
            return own + common[output] * by_group(masses)

        def by_group(masses: np.ndarray) -> np.ndarray:
            totals = np.zeros(len(groups.values), dtype=object)
            np.add.at(totals, groups.group, masses)
            return totals[group]

        p_x = self._integers.sum(axis=0)
        of_y, of_g = by_cell(p_x), by_group(p_x)
        broken = np.zeros(cells.size, dtype=bool)
        for row in self._integers:
            of_sg = by_group(row)
            # ratio = (of_sy / of_sg) / (of_y / of_g), compared by cross-multiplication
            left, right = by_cell(row) * of_g, of_y * of_sg
            too_high = left * self._high[1] > right * self._high[0]
            too_low = left * self._low[1] < right * self._low[0]
            broken |= (of_sg > 0) & (too_high | too_low)
        return np.unique(output[broken])
