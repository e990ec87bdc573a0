"""What side-channel resistance means for several distributions, or for a confidence set."""

from __future__ import annotations

from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array

from .._arrays import FloatArray
from .._limits import FEWER, MOST_INTERVALS, MOST_SIDE_CELLS, refuse_beyond
from ..certificate import Weights
from ..confidence import ConfidenceSet, Distributions, JointList
from ..distribution import JointDistribution
from ..measures._range import Box, extreme_distributions
from ..measures._side_channel import side_groups, srlip_levels
from ..notions import LIP, SRLIP
from ..notions._base import finite_exp
from ..notions._side_channel import SIDE_CHANNEL
from ..notions._sides import MAX_LIFT, MIN_LIFT
from ..solvers import PosteriorProblem
from ._side_check import SideChannelCheck

__all__ = ["SideMembers", "side_members"]

#: Rows that a posterior violates most; the solver keeps a few times as many.
_MOST_ROWS = 30


class SideMembers(Protocol):
    """The distributions for which a mechanism resists side channels."""

    def problem(self, joint: JointDistribution) -> PosteriorProblem:
        """Return the problem of choosing posteriors of X, whose utility is that of a joint."""

    def check(self, weights: Weights) -> NDArray[np.bool_]:
        """Tell without rounding which outputs meet the budget for all distributions."""

    def exceeds(self, matrix: FloatArray, level: float) -> bool:
        """Tell, in floating point, whether a channel exceeds a level for some distribution."""

    def worst_levels(self, weights: Weights) -> dict[str, float]:
        """Largest level of every side of the notion."""


def side_members(over: Distributions, attributes: NDArray[np.intp], notion: SRLIP) -> SideMembers:
    """Prepare distributions for the search and the certificate of side-channel resistance.

    Parameters
    ----------
    over : ConfidenceSet or JointList
        The distributions.
    attributes : ndarray of shape (n_symbols, n_attributes)
        Codes of the attributes of each symbol.
    notion : SRLIP
        The budget.
    """
    if isinstance(over, JointList):
        return _SideJoints(over, attributes, notion)
    return _SideSets(over, attributes, notion)


class _SideJoints:
    """Several distributions: the rows of each are listed, and each is certified."""

    def __init__(self, over: JointList, attributes: NDArray[np.intp], notion: SRLIP) -> None:
        self._over, self._attributes, self._notion = over, attributes, notion
        # A symbol that does not occur is left out, with the groups of which it is the only one.
        self._parts = [(m[:, m.any(axis=0)], m.any(axis=0)) for m in over.masses]
        self._checks = [
            SideChannelCheck(masses[masses.any(axis=1)], attributes[x], notion)
            for masses, x in self._parts
        ]

    def problem(self, joint: JointDistribution) -> PosteriorProblem:
        """Stack the rows: the column of x is scaled by p'_x / p_x."""
        stacked = []
        for masses, x in self._parts:
            matrix = masses / masses.sum()
            rows = self._notion.side_rows(matrix, self._attributes[x])
            scaled = np.zeros((len(rows), x.size))
            scaled[:, x] = rows * (matrix.sum(axis=0) / joint.p_x[x])
            stacked.append(scaled)
        return PosteriorProblem(joint.p_x, np.vstack(stacked))

    def check(self, weights: Weights) -> NDArray[np.bool_]:
        """Certify every distribution, for the outputs that occur."""
        met = np.ones(weights.shape[1], dtype=bool)
        for check, (_, x) in zip(self._checks, self._parts, strict=True):
            part = weights[x]
            occur = np.unique(part.indices)
            met[occur] &= check(part[:, occur])
        return met

    def exceeds(self, matrix: FloatArray, level: float) -> bool:
        """Compare the levels of the distributions other than the first with a level."""
        return any(
            found.level > level
            for masses, x in self._parts[1:]
            for found in srlip_levels(masses / masses.sum(), matrix[x], self._attributes[x])
        )

    def worst_levels(self, weights: Weights) -> dict[str, float]:
        """Largest level of every side."""
        levels = self._over.worst_levels(weights, self._notion)
        channel = weights / float(weights.sum(axis=1)[0])
        side = max(
            found.level
            for masses, x in self._parts
            for found in srlip_levels(masses / masses.sum(), channel[x], self._attributes[x])
        )
        return {**levels, SIDE_CHANNEL: side}


class _SideSets:
    """A confidence set for each thing that an attacker may know.

    Given x^J the rows are independent draws from P(S, X | x^J), so that a group of symbols has
    intervals of its own, of P(x|s,x^J) and P(s|x^J); all of them share the error. Side-channel
    resistance is LIP within each group.
    """

    def __init__(self, over: ConfidenceSet, attributes: NDArray[np.intp], notion: SRLIP) -> None:
        n_s = over.shape[0]
        self._lip = LIP(notion.epsilon)
        groups = {
            tuple(np.flatnonzero(found.group == g))
            for found in side_groups(attributes)
            for g in range(len(found.values))
        }
        # All symbols come first. A group of one symbol tells nothing more.
        members = sorted((g for g in groups if len(g) > 1), key=lambda g: (-len(g), g))
        cells = n_s * sum(map(len, members))
        what = f"what an attacker may know takes {cells:,} confidence intervals"
        refuse_beyond(MOST_INTERVALS, cells, what, f"{FEWER}, or use confidence=None")
        exact = cells * over.shape[1]
        what = f"the worst case over the confidence sets is computed from {exact:,} numbers"
        refuse_beyond(MOST_SIDE_CELLS, exact, what, f"{FEWER}, or use confidence=None")
        self._sets = list(over.given_groups([np.array(g) for g in members]))

    @cached_property
    def _box(self) -> Box:
        """Bounds of P(x|s,x^J) for all groups and s, 0 outside of a group."""
        n_s, n_x = self._sets[0][1].shape  # the first group is that of all symbols
        bounds = np.zeros((2, len(self._sets), n_s, n_x))
        for g, (members, over) in enumerate(self._sets):
            bounds[:, g, :, members] = np.stack(over.conditional[:2]).transpose(2, 0, 1)
        low, high = (side.reshape(-1, n_x) for side in bounds)
        return Box(low, high)

    def problem(self, joint: JointDistribution) -> PosteriorProblem:
        """Find the rows on demand, as for a confidence set without side channels."""

        def separate(v: FloatArray) -> FloatArray:
            rows = self._worst_rows(v / joint.p_x) / joint.p_x
            # Of many rows those that v violates most are enough: the solver asks again.
            excess = rows @ v / np.abs(rows).max(axis=1, initial=1e-300)
            return rows[np.argsort(-excess, kind="stable")[:_MOST_ROWS]]

        return PosteriorProblem(joint.p_x, np.zeros((0, joint.shape[1])), separate)

    def _worst_rows(self, q: FloatArray) -> FloatArray:
        """Rows of the groups in which a column q may exceed the budget."""
        shape = (len(self._sets), -1, q.size)
        low, high = (
            side[:, :, 0].reshape(shape) for side in extreme_distributions(q[:, None], self._box)
        )
        # The lift of s is at most the largest P(y|s) over the smallest, and at least its inverse.
        within = finite_exp(self._lip.epsilon)
        doubtful = (high @ q).max(axis=1) > within * (low @ q).min(axis=1)
        rows = [
            self._lip.worst_rows(low[g], high[g], q, self._sets[g][1].prior)
            for g in np.flatnonzero(doubtful)
        ]
        return np.vstack([np.zeros((0, q.size)), *rows])

    def check(self, weights: Weights) -> NDArray[np.bool_]:
        """Certify LIP over the confidence set of every group."""
        met = np.ones(weights.shape[1], dtype=bool)
        for members, over in self._sets:
            worst = over.worst_lift(csc_array(weights[members]), self._lip)
            met &= self._lip.all_exactly_met(worst, (), ())
        return met

    def exceeds(self, matrix: FloatArray, level: float) -> bool:
        """Compare the worst levels of all groups with a level."""
        for members, over in self._sets:
            worst = self._lip.worst_lift(*over.output_range(matrix[members]), over.prior)
            if max(found.max() for found in self._lip.levels(worst, worst).values()) > level:
                return True
        return False

    def worst_levels(self, weights: Weights) -> dict[str, float]:
        """Largest level of every side; those of LIP are for attackers who know nothing."""
        found = [over.worst_levels(csc_array(weights[m]), self._lip) for m, over in self._sets]
        side = max(max(levels.values()) for levels in found)
        return {
            MIN_LIFT: found[0][MIN_LIFT],
            MAX_LIFT: found[0][MAX_LIFT],
            SIDE_CHANNEL: side,
        }
