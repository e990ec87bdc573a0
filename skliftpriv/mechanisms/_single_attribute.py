"""The protocol of one attribute, for an attacker who may know any of the others."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from .._arrays import FloatArray, Label
from .._limits import FEWER
from ..channel import Channel
from ..distribution import JointDistribution
from ..labels import as_parts
from ..measures._side_channel import side_groups
from ..notions._base import finite_exp
from ..solvers import PosteriorProblem, solve
from ._inputs import refuse_many_rows
from ._posterior_channel import posterior_labels

__all__ = ["SingleAttribute"]

#: Distributions that differ by less are the same.
_ROUNDING = 1e-9
#: Gap and seconds at which the solver of a protocol stops; a search builds hundreds of them.
_GAP, _SECONDS = 1e-4, 0.15


class SingleAttribute:
    """One attribute and its distributions given what an attacker may know.

    Parameters
    ----------
    joint : JointDistribution
        Distribution of S and all attributes.
    attributes : ndarray of shape (n_symbols, n_attributes)
        Codes of the attributes of each symbol.
    position : int
        Which attribute this is.

    Attributes
    ----------
    size : int
        Number of its values.
    labels : list of labels
        Its values.
    p : ndarray of shape (size,)
        Their distribution.
    interrupted : bool
        Whether the solver of a protocol was interrupted.
    """

    def __init__(
        self, joint: JointDistribution, attributes: NDArray[np.intp], position: int
    ) -> None:
        codes = attributes[:, position]
        self.size = int(codes.max()) + 1
        labels: dict[int, Label] = {}
        for code, label in zip(codes, joint.useful_labels, strict=True):
            labels.setdefault(int(code), as_parts(label)[position])
        self.labels = [labels[code] for code in range(self.size)]
        self.p: FloatArray = np.bincount(codes, joint.p_x, self.size).astype(float)
        others = np.delete(attributes, position, axis=1)
        self._given, self._given_s = self._conditionals(joint, codes, others)
        self.interrupted = False
        self._built: dict[float, Channel] = {}

    def _conditionals(
        self, joint: JointDistribution, codes: NDArray[np.intp], others: NDArray[np.intp]
    ) -> tuple[FloatArray, FloatArray]:
        """P(x^j | x^J) and P(x^j | s, x^J) for every J without j and all x^J and s that occur."""
        everything = np.unique(others, axis=0, return_inverse=True)[1].reshape(-1)
        known = [*(groups.group for groups in side_groups(others)), everything]
        n_groups = sum(int(group.max()) + 1 for group in known)
        refuse_many_rows(2 * joint.shape[0] * n_groups, self.size, FEWER)
        pairs = []
        for group in known:
            cell, shape = group * self.size + codes, (int(group.max()) + 1, self.size)
            plain = np.bincount(cell, joint.p_x, math.prod(shape)).reshape(shape)
            of_group = plain / plain.sum(axis=1, keepdims=True)
            for row in joint.matrix:
                of_s = np.bincount(cell, row, math.prod(shape)).reshape(shape)
                mass = of_s.sum(axis=1, keepdims=True)
                seen = mass[:, 0] > 0
                pairs.append(np.hstack([of_group[seen], of_s[seen] / mass[seen]]))
        # Rare combinations often have the same distributions; the solver takes each once.
        given, given_s = np.split(_distinct(np.vstack(pairs)), 2, axis=1)
        differ = np.abs(given - given_s).max(axis=1) > _ROUNDING
        return given[differ], given_s[differ]

    @property
    def constant(self) -> Channel:
        """The channel with a single output, which stands for all values."""
        return Channel(
            np.ones((self.size, 1)), self.labels, posterior_labels(self.labels, self.p[None])
        )

    def protocol(self, budget: float, time_left: float) -> Channel:
        """Solve for the best channel that is LIP for all these distributions.

        The same budget gives the same channel, however long it took.
        """
        if budget not in self._built:
            self._built[budget] = self._solved(budget, max(min(_SECONDS, time_left), 1e-3))
        return self._built[budget]

    def _solved(self, budget: float, seconds: float) -> Channel:
        high, low = finite_exp(budget), np.exp(-budget)
        rows = np.vstack([self._given_s - high * self._given, low * self._given - self._given_s])
        binding = rows.max(axis=1) > 0  # the others hold for every posterior
        problem = PosteriorProblem(self.p, rows[binding] / self.p)
        solution = solve(problem, gap=_GAP, time_limit=seconds, verbose=False)
        self.interrupted |= solution.status == "interrupted"
        names = posterior_labels(self.labels, solution.posteriors)
        matrix = solution.channel_matrix
        return Channel(matrix / matrix.sum(axis=1, keepdims=True), self.labels, names)


def _distinct(rows: FloatArray) -> FloatArray:
    """Return rows that differ by more than rounding, one of each kind."""
    first = np.unique(np.round(rows, 12), axis=0, return_index=True)[1]
    return np.asarray(rows[np.sort(first)])
