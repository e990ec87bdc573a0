"""The inputs of an optimal mechanism, X or the pair (S, X), and the problem of their posteriors."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from .._arrays import FloatArray
from .._limits import (
    BLIND,
    MERGE,
    MOST_CHANNEL_CELLS,
    MOST_INEQUALITIES,
    MOST_INEQUALITY_CELLS,
    MOST_POSTERIOR_CELLS,
    MOST_SPARSE_INPUTS,
    MOST_TARGET_CELLS,
    POOL,
    refuse_beyond,
)
from ..channel import Channel
from ..confidence import ConfidenceSet, JointList, Over, checked_set
from ..distribution import JointDistribution
from ..exceptions import InvalidParameterError
from ..notions import LDP, Average, Notion
from ..solvers import Averages, PosteriorProblem
from ._pairs import one_useful_each, pair_labels
from ._posterior_channel import named_outputs, posterior_channel

__all__ = [
    "Inputs",
    "PairInputs",
    "UsefulInputs",
    "checked_target",
    "refuse_many_posteriors",
    "refuse_many_rows",
]

_ONE = 1e-6
"""Columns of a target may differ from a sum of 1 by this much."""


class Inputs(ABC):
    """What an optimal mechanism sees.

    Parameters
    ----------
    joint : JointDistribution
        Distribution of S and X.
    target : ndarray or None
        P(T|X) or P(T|S,X) of what is to be kept; None for X itself.
    """

    def __init__(self, joint: JointDistribution, target: FloatArray | None = None) -> None:
        self.joint, self.target = joint, target

    #: Distribution of the inputs, without those of probability 0.
    p: FloatArray
    #: What the inputs are, and what to do if there are too many.
    what: ClassVar[str] = "values of X"
    instead: ClassVar[str] = f"{MERGE}, or {POOL}"

    @property
    @abstractmethod
    def image(self) -> FloatArray | None:
        """The matrix U of what is to be kept given each input; None for the identity."""

    @property
    @abstractmethod
    def lift(self) -> FloatArray:
        """Lift of each sensitive symbol for each input."""

    @abstractmethod
    def rows(self, notion: Notion, masses: FloatArray) -> FloatArray:
        """Return A such that a posterior v meets a notion iff A v <= 0.

        Parameters
        ----------
        notion : LIP, ALIP or LDP
            The notion with its budget.
        masses : ndarray of shape (n_sensitive, n_useful)
            The distribution for which it is to hold, up to scale. A posterior is about the inputs
            of ``joint``: for another distribution p' the column of input i is that of its lifts
            times p'_i / p_i (Lopuhaa-Zwakenberg, Tong and Skoric 2020, Remark 1).
        """

    @abstractmethod
    def worst_rows(self, over: ConfidenceSet, notion: Notion, q: FloatArray) -> FloatArray:
        """Return conditions on P(y | input) that are tight at q, for all of a confidence set."""

    @abstractmethod
    def given_useful(self, posteriors: FloatArray) -> FloatArray:
        """Turn posteriors of X, of mechanisms that see X alone, into posteriors of the inputs."""

    @abstractmethod
    def channel(self, weights: FloatArray, posteriors: FloatArray) -> Channel:
        """Return the channel whose outputs have these weights and posteriors, named after X."""

    def problem(self, notion: Notion, over: Over) -> PosteriorProblem:
        """Return the problem of choosing posteriors of the inputs that meet a notion.

        The rows of several distributions are stacked. Over a confidence set they are those of all
        its distributions, found on demand: a posterior v corresponds to the column q = v / p of
        the channel, and the set returns the rows of the distributions that are worst for q.
        """
        n_s, n = self.joint.shape[0], self.p.size
        if self.image is None and over is None and not notion.averages():
            what = f"the optimal mechanism has {n:,} {self.what} as inputs"
            refuse_beyond(MOST_SPARSE_INPUTS, n, what, self.instead)
        else:
            refuse_many_posteriors(n, self.instead, self.what)
        if self.target is not None:
            self._refuse_large_target(len(self.target))
        p = self.p / self.p.sum()
        members = checked_set(over, self.joint) or JointList.of(self.joint)
        if isinstance(members, JointList):
            of_one = n_s * (n_s - 1) if isinstance(notion, LDP) else 2 * n_s
            refuse_many_rows(of_one * len(members.masses), n)
            sides = notion.averages()
            if sides:
                return self._averaged(p, sides, members)
            rows = [self.rows(notion, masses) for masses in members.masses]
            return PosteriorProblem(p, np.vstack(rows), image=self.image)
        within: ConfidenceSet = members

        def separate(v: FloatArray) -> FloatArray:
            return self.worst_rows(within, notion, v / self.p) / self.p

        return PosteriorProblem(p, np.zeros((0, n)), separate, self.image)

    def _averaged(
        self, p: FloatArray, sides: tuple[Average, ...], members: JointList
    ) -> PosteriorProblem:
        """Return the problem for a notion that bounds averages of functions of the lift."""
        if len(members.masses) > 1:
            raise InvalidParameterError(
                "A list of distributions is supported for notions with linear inequalities, such "
                "as LIP, ALIP and LDP: use one of these, or over=None."
            )
        averages = Averages(self.lift, self.joint.p_s, sides)
        return PosteriorProblem(p, np.zeros((0, p.size)), image=self.image, averages=averages)

    def _refuse_large_target(self, n_targets: int) -> None:
        cells = n_targets * self.p.size
        refuse_beyond(
            MOST_TARGET_CELLS,
            cells,
            f"the distributions of {n_targets:,} values of the target given {self.p.size:,} "
            f"{self.what} have {cells:,} entries",
            "pool rare values of the target, or put them into bins",
        )


class UsefulInputs(Inputs):
    """Mechanisms that see X, or only the symbols of a group of X."""

    def __init__(
        self,
        joint: JointDistribution,
        target: FloatArray | None = None,
        group: NDArray[np.intp] | None = None,
    ) -> None:
        super().__init__(joint, target)
        self._members = np.arange(joint.shape[1]) if group is None else group
        self.p = joint.p_x[self._members]

    @property
    def image(self) -> FloatArray | None:
        """P(T|X), or None for X itself."""
        return self.target

    @property
    def lift(self) -> FloatArray:
        """Lift of each sensitive symbol for each useful one."""
        return self.joint.lift[:, self._members]

    def rows(self, notion: Notion, masses: FloatArray) -> FloatArray:
        """Return the rows of a distribution."""
        other = _Distribution(masses)
        scale = (other.p_x / self.joint.p_x)[self._members]
        return notion.rows(other.lift[:, self._members]) * scale

    def worst_rows(self, over: ConfidenceSet, notion: Notion, q: FloatArray) -> FloatArray:
        """Return the worst rows; other symbols than those of the group have no mass."""
        everywhere = np.zeros(self.joint.shape[1])
        everywhere[self._members] = q
        return over.worst_rows(notion, everywhere)[:, self._members]

    def given_useful(self, posteriors: FloatArray) -> FloatArray:
        """Return the posteriors themselves."""
        return posteriors

    def channel(self, weights: FloatArray, posteriors: FloatArray) -> Channel:
        """Return P(Y|X)."""
        return posterior_channel(self.joint, weights, posteriors)


class PairInputs(Inputs):
    """Mechanisms that see S as well: their inputs are the pairs (s, x) that occur.

    The channel also has rows for pairs that do not: their output is drawn from P_Y, whatever the
    pair is.
    """

    what = "pairs (s, x) that occur"
    instead = BLIND

    def __init__(self, joint: JointDistribution, target: FloatArray | None = None) -> None:
        super().__init__(joint, target)
        self._seen = np.flatnonzero(joint.matrix.ravel() > 0)
        self._s, self._x = np.divmod(self._seen, joint.shape[1])
        self.p = joint.matrix.ravel()[self._seen]

    @property
    def image(self) -> FloatArray | None:
        """P(T|S,X), or sums over s."""
        if self.target is None:
            return np.eye(self.joint.shape[1])[:, self._x]
        if self.target.ndim == 2:
            return self.target[:, self._x]
        return self.target[:, self._s, self._x]

    @property
    def lift(self) -> FloatArray:
        """Lift of each pair: 1 / P(s) for its own s, 0 for others."""
        return (np.eye(self.joint.shape[0]) / self.joint.p_s[:, None])[:, self._s]

    def rows(self, notion: Notion, masses: FloatArray) -> FloatArray:
        """Return the rows of a distribution, whose pairs may be others than those that occur.

        The output of a pair that does not occur in ``joint`` is drawn from P_Y = sum of p_i q_i,
        so that with v_i = p_i q_i its column is added to all others.
        """
        other = _Distribution(masses)
        # The lift of a pair is 1 / P(s) for its own s, 0 for others.
        lift = (np.eye(len(masses)) / np.where(other.p_s > 0, other.p_s, 1.0)[:, None])[other.s]
        p = other.matrix.ravel()
        rows = notion.rows(lift[:, self._s]) * (p[self._seen] / self.p)
        new = np.setdiff1d(np.flatnonzero(p), self._seen)
        if new.size:
            rows = rows + notion.rows(lift[:, new // masses.shape[1]]) @ p[new][:, None]
        return rows

    def worst_rows(self, over: ConfidenceSet, notion: Notion, q: FloatArray) -> FloatArray:
        """Return the worst rows, for distributions in which any pair may occur."""
        return self._both(over).worst_rows(notion, self._everywhere @ q) @ self._everywhere

    @cached_property
    def _everywhere(self) -> FloatArray:
        """Matrix that extends a column of P(Y | pairs that occur) to all pairs."""
        n_pairs = self.joint.matrix.size
        extend = np.tile(self.p, (n_pairs, 1))
        extend[self._seen] = np.eye(self._seen.size)
        return extend

    def _both(self, over: ConfidenceSet) -> ConfidenceSet:
        if not hasattr(self, "_known_both"):
            self._known_both = over.given_both()
        return self._known_both

    def problem(self, notion: Notion, over: Over) -> PosteriorProblem:
        """Return the problem of :meth:`Inputs.problem`, if its solution is not too large.

        The channel has a row for each pair of values, up to one output for each pair that occurs,
        and no zeros if rounding has to be mended.
        """
        n_cells = self.joint.matrix.size * self.p.size
        refuse_beyond(
            MOST_CHANNEL_CELLS,
            n_cells,
            f"the optimal mechanism that sees S, with {self.joint.matrix.size:,} pairs of values "
            f"of which {self.p.size:,} occur, may have {n_cells:,} cells",
            f"use the mechanism that does not see S, or {POOL}",
        )
        return super().problem(notion, over)

    def without_sensitive(self) -> UsefulInputs:
        """Return the inputs of mechanisms that do not see S, for the same target."""
        target = self.target
        if target is not None and target.ndim == 3:
            target = (target * self.joint.matrix).sum(axis=1) / self.joint.p_x
        return UsefulInputs(self.joint, target)

    def given_useful(self, posteriors: FloatArray) -> FloatArray:
        """Share the mass of each x over s as P(S|X) does."""
        return posteriors[:, self._x] * (self.p / self.joint.p_x[self._x])

    def split_by_sensitive(self, posteriors: FloatArray) -> FloatArray:
        """Turn posteriors of X into those of pairs that say more, with the same lifts."""
        return one_useful_each(self.joint, posteriors)[:, self._seen].toarray()

    def channel(self, weights: FloatArray, posteriors: FloatArray) -> Channel:
        """Return P(Y|S,X), with rows for all pairs (s, x), x varying fastest."""
        of_x = np.zeros((len(weights), self.joint.shape[1]))
        np.add.at(of_x.T, self._x, posteriors.T)
        named, order = named_outputs(self.joint.useful_labels, csr_array(of_x))
        weights, posteriors = weights[order], posteriors[order]
        matrix = np.tile(weights, (self.joint.matrix.size, 1))
        matrix[self._seen] = (weights[:, None] * posteriors / self.p).T
        return Channel(matrix / matrix.sum(axis=1, keepdims=True), pair_labels(self.joint), named)


class _Distribution:
    """A joint distribution that may lack some of the symbols of another."""

    def __init__(self, masses: FloatArray) -> None:
        self.matrix = masses / masses.sum()
        self.p_s, self.p_x = self.matrix.sum(axis=1), self.matrix.sum(axis=0)
        self.s = self.p_s > 0

    @property
    def lift(self) -> FloatArray:
        """Lifts of the sensitive symbols that occur; 1 for useful symbols that do not."""
        if self.p_x.all():
            return self.matrix[self.s] / self.p_x / self.p_s[self.s, None]
        p_x = np.where(self.p_x > 0, self.p_x, 1.0)
        lift = self.matrix[self.s] / p_x / self.p_s[self.s, None]
        return np.where(self.p_x > 0, lift, 1.0)


def checked_target(
    target: ArrayLike | None, joint: JointDistribution, *, use_sensitive: bool
) -> FloatArray | None:
    """Return a target as an array of conditional probabilities, or raise an error.

    Columns of pairs (s, x) that never occur are not looked at.
    """
    if target is None:
        return None
    given = np.array(target, dtype=float)
    n_s, n_x = joint.shape
    shapes = [(n_x,), (n_s, n_x)] if use_sensitive else [(n_x,)]
    if given.ndim == 0 or given.shape[1:] not in shapes or given.shape[0] == 0:
        wanted = " or ".join(f"(n_targets, {', '.join(map(str, shape))})" for shape in shapes)
        more = ""
        if given.shape[1:] == (n_s, n_x):
            more = " A mechanism that does not see S takes P(T|X): average over s given x, or use "
            more += "use_sensitive=True."
        raise InvalidParameterError(f"target must have shape {wanted}, got {given.shape}.{more}")
    occurs = joint.matrix > 0 if given.ndim == 3 else np.ones(n_x, dtype=bool)
    columns = given[:, occurs]
    if not np.isfinite(columns).all() or (columns < 0).any():
        raise InvalidParameterError("target must contain probabilities P(T|X) from 0 to 1.")
    if np.abs(columns.sum(axis=0) - 1).max() > _ONE:
        raise InvalidParameterError(
            "The columns of target must sum to 1: target[t, x] is P(T=t | X=x)."
        )
    given[:, ~occurs] = 1.0 / len(given)
    return np.asarray(given / given.sum(axis=0))


def refuse_many_posteriors(n_symbols: int, instead: str, what: str = "values of X") -> None:
    """Raise an error if the solution, a posterior for each input, would be too large."""
    refuse_beyond(
        MOST_POSTERIOR_CELLS,
        n_symbols**2,
        f"the optimal mechanism for {n_symbols:,} {what} is built from posteriors with "
        f"{n_symbols**2:,} entries",
        instead,
    )


def refuse_many_rows(
    n_rows: int, n_symbols: int, instead: str = f"pool rare sensitive values, or {MERGE}"
) -> None:
    """Raise an error if a problem has more inequalities than fit into memory."""
    what = f"the budget takes {n_rows:,} inequalities on the posterior of an output"
    refuse_beyond(MOST_INEQUALITIES, n_rows, what, instead)
    cells = n_rows * n_symbols
    refuse_beyond(MOST_INEQUALITY_CELLS, cells, f"{what}, with {cells:,} numbers", instead)
