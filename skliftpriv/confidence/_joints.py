"""A list of joint distributions for each of which a budget is to hold."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import block_diag
from scipy.sparse import csr_array

from .._arrays import FloatArray, Label, read_only
from ..distribution import JointDistribution
from ..exceptions import InvalidParameterError
from ..measures._lift import lift_of_columns
from ..notions import Notion

__all__ = ["Cases", "JointList", "levels_of", "worst_of"]

#: Lifts of outputs with the prior of S that they belong to, one pair for each case.
Cases: TypeAlias = list[tuple[FloatArray, FloatArray]]


def levels_of(notion: Notion, cases: Cases) -> dict[str, FloatArray]:
    """Largest level of each side over all cases, for every output."""
    each = [notion.levels(lift, p_s) for lift, p_s in cases]
    return {side: np.max([levels[side] for levels in each], axis=0) for side in each[0]}


def worst_of(notion: Notion, cases: Cases) -> dict[str, float]:
    """Largest level of each side over all cases and outputs, which may be others in each case."""
    with np.errstate(divide="ignore"):
        each = [notion.levels(lift, p_s) for lift, p_s in cases]
    # Added to 0.0 the level -0.0 of a constant loses its sign.
    return {side: 0.0 + max(float(found[side].max()) for found in each) for side in each[0]}


@dataclass(frozen=True, eq=False, repr=False)
class JointList:
    """Several joint distributions, for each of which a mechanism meets its budget.

    For priors that compete, such as those of several years or of several regions
    (Lopuhaa-Zwakenberg, Tong and Skoric 2020, Remark 1). The first one is what the utility of a
    mechanism is measured by. Symbols are matched by label, and the others may lack some of them.

    .. versionadded:: 0.2

    Attributes
    ----------
    joints : tuple of JointDistribution
        The distributions.
    masses : tuple of ndarray of shape (n_sensitive, n_useful)
        Their masses, with the rows and columns of the first one, zero for symbols that they lack.
    sensitive_labels, useful_labels : tuple
        The symbols of the first one.

    Examples
    --------
    >>> from skliftpriv import JointDistribution, LIP, mechanisms
    >>> north = JointDistribution.from_counts([[30, 10, 20], [10, 30, 20]])
    >>> south = JointDistribution.from_counts([[25, 30, 20], [10, 10, 30]])
    >>> alone = mechanisms.optimal_random_response(north, LIP(0.3))
    >>> both = mechanisms.optimal_random_response(north, LIP(0.3), over=[south])
    >>> both.over
    JointList(2 joints of 2 sensitive x 3 useful symbols)
    >>> both.report.satisfied, both.nmi <= alone.nmi + 1e-6
    (True, True)
    """

    joints: tuple[JointDistribution, ...]
    masses: tuple[FloatArray, ...]
    sensitive_labels: tuple[Label, ...]
    useful_labels: tuple[Label, ...]

    @classmethod
    def of(cls, joint: JointDistribution, others: Iterable[JointDistribution] = ()) -> JointList:
        """List a joint distribution and others with the same symbols or some of them."""
        joints = (joint, *others)
        for each in joints:
            if not isinstance(each, JointDistribution):
                raise InvalidParameterError(
                    "over must be a ConfidenceSet or a list of JointDistribution objects, but "
                    f"contains {type(each).__name__}."
                )
        masses = (joint.masses, *(_aligned(each, joint) for each in joints[1:]))
        return cls(joints, masses, joint.sensitive_labels, joint.useful_labels)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of sensitive and of useful symbols."""
        return len(self.sensitive_labels), len(self.useful_labels)

    def columns(self, order: NDArray[np.intp]) -> FloatArray:
        """Columns that add up if symbols are merged: those of all distributions, stacked."""
        parts = [np.ascontiguousarray(masses[:, order]) for masses in self.masses]
        return np.vstack([part / part.sum() for part in parts])

    def lifts(self, notion: Notion, columns: FloatArray, totals: FloatArray) -> Cases:
        """Lifts of merged symbols, given sums of :meth:`columns` and the sum of all of them."""
        n_s = self.shape[0]
        return [
            _lifts(columns[start : start + n_s], totals[start : start + n_s, 0])
            for start in range(0, len(columns), n_s)
        ]

    def mixed_lifts(self, notion: Notion, weight: float, otherwise: float | FloatArray) -> Cases:
        """Lifts of outputs with P(y|s) = weight P(x=y|s) + otherwise(s, y), up to scale."""
        cases = []
        for masses in self.masses:
            matrix = masses / masses.sum()
            p_s = matrix.sum(axis=1)
            given_s = matrix / np.where(p_s > 0, p_s, 1.0)[:, None]
            cases.append(_lifts((weight * given_s + otherwise) * p_s[:, None], p_s))
        return cases

    @property
    def largest_given_s(self) -> FloatArray:
        """Largest P(x|s) of all distributions, of shape (n_sensitive, n_useful)."""
        of_s = [masses.sum(axis=1, keepdims=True) for masses in self.masses]
        given = [m / np.where(n > 0, n, 1.0) for m, n in zip(self.masses, of_s, strict=True)]
        return np.maximum.reduce(given)

    def given_both(self) -> JointList:
        """Return the list for mechanisms whose input is the pair (s, x)."""
        pairs = tuple((s, x) for s in self.sensitive_labels for x in self.useful_labels)
        masses = tuple(np.asarray(block_diag(*each)) for each in self.masses)
        return JointList(self.joints, masses, self.sensitive_labels, pairs)

    def worst_levels(self, weights: csr_array, notion: Notion) -> dict[str, float]:
        """Largest level of each side of a notion over all outputs and distributions.

        Parameters
        ----------
        weights : csr_array of int64, shape (n_useful, n_outputs)
            P(Y|X) up to scale.
        notion : Notion
            The notion.
        """
        matrix = weights / float(weights.sum(axis=1)[0])
        cases = [
            _lifts(released, released.sum(axis=1))
            for released in (masses / masses.sum() @ matrix for masses in self.masses)
        ]
        return worst_of(notion, cases)

    def __repr__(self) -> str:
        n_s, n_x = self.shape
        return (
            f"{type(self).__name__}({len(self.joints)} joints of {n_s} sensitive x {n_x} useful "
            "symbols)"
        )


def _aligned(joint: JointDistribution, like: JointDistribution) -> FloatArray:
    """Return masses in the rows and columns of another joint distribution."""
    places = []
    for kind, own, known in (
        ("sensitive", joint.sensitive_labels, like.sensitive_labels),
        ("useful", joint.useful_labels, like.useful_labels),
    ):
        place = {label: i for i, label in enumerate(known)}
        strange = [label for label in own if label not in place]
        if strange:
            raise InvalidParameterError(
                f"A distribution in over has the {kind} symbol {strange[0]!r}, which joint does "
                "not have: a mechanism is built for the symbols of joint. Leave the symbol out, "
                "or give it some mass in joint."
            )
        places.append([place[label] for label in own])
    masses = np.zeros(like.shape)
    masses[np.ix_(*places)] = joint.masses
    return read_only(masses)


def _lifts(columns: FloatArray, p_s: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Lifts of columns and the prior, without sensitive symbols that do not occur.

    A column that does not occur has lift 1.
    """
    if not p_s.all():
        columns, p_s = columns[p_s > 0], p_s[p_s > 0]
    never = columns.sum(axis=0) == 0
    if not never.any():
        return lift_of_columns(columns, p_s), p_s
    lift = np.ones_like(columns)
    lift[:, ~never] = lift_of_columns(columns[:, ~never], p_s)
    return lift, p_s
