"""Confidence sets: the distributions that the rows may have been drawn from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import compress
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import block_diag
from scipy.sparse import csc_array

from .._arrays import FloatArray, Label, as_labels, read_only
from .._limits import MOST_EXACT_CELLS, MOST_INTERVALS, refuse_beyond
from ..channel import Channel
from ..distribution import JointDistribution
from ..exceptions import InvalidParameterError
from ..measures._range import Box, extreme_distributions, lift_range, mean_range, merged_range
from ..notions import Notion
from ._intervals import (
    RECHECKED,
    WIDENED,
    clopper_pearson,
    exact_box,
    number_of_intervals,
    whole_counts,
)
from ._joints import Cases

__all__ = ["ConfidenceSet"]


class _Source(NamedTuple):
    """What a set was made of: the whole table, and which of its symbols were merged.

    ``widening`` is the share by which intervals are wider than computed, for rounding errors.
    """

    table: FloatArray
    sensitive_labels: tuple[Label, ...]
    useful_labels: tuple[Label, ...]
    drawn: bool
    merged: tuple[NDArray[np.intp], tuple[Label, ...]] | None = None
    widening: float = WIDENED


@dataclass(frozen=True, eq=False)
class ConfidenceSet:
    """Joint distributions of S and X that agree with a table of counts.

    With probability at least ``confidence`` the set contains the distribution that the rows were
    drawn from, for any number of rows: every P(x|s) and every P(s) has a Clopper-Pearson interval,
    and the intervals share the probability of error (Bonferroni). The rows must be independent
    draws from one distribution.

    The list of symbols must be closed: either known before the rows are seen, or certain to be
    complete in the table. If rare symbols such as names or postcodes turn up by chance, the ones
    that did look more common than they are, and the confidence is not reached; ``unseen_share``
    estimates how much of X is missing from the table.

    Symbols without rows are left out, as in :class:`JointDistribution`; the set then describes
    the distribution given that S and X take values that were seen. Symbols in the table without
    rows still take their share of the error, and widen the intervals by the largest probability
    that they may have. With ``drawn=True`` useful symbols without rows belong to the set instead,
    for releases that replace them by a draw from P_Y.

    Parameters
    ----------
    counts : ndarray of shape (n_sensitive, n_useful)
        The table without empty rows and columns.
    confidence : float
        Probability, over the rows, that the set contains the true distribution.
    sensitive_labels, useful_labels : tuple
        The symbols.
    conditional : Box
        Bounds of P(x|s), of shape (n_sensitive, n_useful).
    prior : Box
        Bounds of P(s), of shape (n_sensitive,).
    unseen_labels : tuple
        Useful symbols without rows, whose output is a draw from P_Y; empty if they are left out.

        .. versionadded:: 0.2
    unseen : Box
        Bounds of the probability of all of them given s, of shape (n_sensitive,).

        .. versionadded:: 0.2
    estimate : ndarray of shape (n_sensitive, n_useful)
        The joint distribution that P_Y is computed from.

        .. versionadded:: 0.2

    Examples
    --------
    >>> from skliftpriv import ConfidenceSet, JointDistribution
    >>> counts = [[300, 100], [100, 500]]
    >>> likely = ConfidenceSet.from_counts(counts, confidence=0.95)
    >>> likely
    ConfidenceSet(2 sensitive x 2 useful symbols, 1000 rows, confidence 0.95)
    >>> likely.contains(JointDistribution([[0.28, 0.1], [0.12, 0.5]]))
    True
    >>> likely.contains(JointDistribution([[0.2, 0.2], [0.1, 0.5]]))
    False
    """

    counts: FloatArray
    confidence: float
    sensitive_labels: tuple[Label, ...]
    useful_labels: tuple[Label, ...]
    conditional: Box
    prior: Box
    unseen_labels: tuple[Label, ...]
    unseen: Box
    estimate: FloatArray
    source: _Source

    @classmethod
    def from_counts(
        cls,
        counts: ArrayLike,
        sensitive_labels: Iterable[Label] | None = None,
        useful_labels: Iterable[Label] | None = None,
        *,
        confidence: float = 0.95,
        drawn: bool = False,
    ) -> ConfidenceSet:
        """Build the confidence set of a contingency table.

        Parameters
        ----------
        counts : array-like of shape (n_sensitive, n_useful)
            Number of rows in each cell: whole numbers.
        sensitive_labels, useful_labels : sequence, optional
            Distinct labels, by default 0, 1, 2, ...
        confidence : float, default=0.95
            Probability, over the rows, that the set contains the true distribution.
        drawn : bool, default=False
            Whether useful symbols without rows belong to the set, and are released as a draw from
            P_Y; by default the set is about the symbols with rows.

            .. versionadded:: 0.2

        Returns
        -------
        ConfidenceSet
        """
        return cls._made(counts, sensitive_labels, useful_labels, confidence, drawn, WIDENED)

    @classmethod
    def _made(
        cls,
        counts: ArrayLike,
        sensitive_labels: Iterable[Label] | None,
        useful_labels: Iterable[Label] | None,
        confidence: float,
        drawn: bool,
        widening: float,
    ) -> ConfidenceSet:
        """Build a set whose intervals are widened by a share of their bounds."""
        table = whole_counts(counts)
        if not (isinstance(confidence, Real) and 0 < confidence < 1):
            raise InvalidParameterError(
                f"confidence must lie between 0 and 1, such as 0.95, not {confidence!r}."
            )
        n_s, n_x = table.shape
        instead = "pool rare values before fit, or use confidence=None"
        what = f"the table has {n_s * n_x:,} cells with a confidence interval each"
        refuse_beyond(MOST_INTERVALS, n_s * n_x, what, instead)
        what = f"{n_s:,} sensitive values have {n_s * n_s * n_x:,} worst lifts"
        refuse_beyond(MOST_EXACT_CELLS, n_s * n_s * n_x, what, instead)
        s_labels = as_labels(sensitive_labels, table.shape[0], "sensitive_labels")
        x_labels = as_labels(useful_labels, table.shape[1], "useful_labels")
        s_seen, x_seen = np.asarray(table.any(axis=1)), np.asarray(table.any(axis=0))
        error = (1.0 - confidence) / number_of_intervals(*table.shape)
        seen = table[s_seen]
        of_s = seen.sum(axis=1)
        conditional = clopper_pearson(seen, of_s[:, None], error, widening)
        prior = clopper_pearson(table.sum(axis=1), table.sum(), error, widening)
        counted = seen[:, x_seen]
        nothing = np.zeros(len(counted))
        bounds = {"unseen": Box(nothing, nothing)}
        if drawn:
            bounds["unseen"] = Box(nothing, _total_high(conditional[1][:, ~x_seen]))
            conditional = (conditional[0][:, x_seen], conditional[1][:, x_seen])
            bounds |= _given_seen(conditional, prior, s_seen, np.ones(len(counted.T), dtype=bool))
        else:
            bounds |= _given_seen(conditional, prior, s_seen, x_seen)
        return cls(
            counts=read_only(counted),
            confidence=float(confidence),
            sensitive_labels=tuple(compress(s_labels, s_seen)),
            useful_labels=tuple(compress(x_labels, x_seen)),
            unseen_labels=tuple(compress(x_labels, ~x_seen)) if drawn else (),
            estimate=read_only(counted / counted.sum()),
            source=_Source(table, tuple(s_labels), tuple(x_labels), drawn, widening=widening),
            **bounds,
        )

    @property
    def shape(self) -> tuple[int, int]:
        """Number of sensitive and of useful symbols."""
        return self.counts.shape[0], self.counts.shape[1]

    @property
    def n_rows(self) -> int:
        """Number of rows that the set is based on."""
        return int(self.counts.sum())

    @property
    def unseen_share(self) -> float:
        """Estimated probability that X takes a value that is not in the table.

        It is the share of rows whose value of X occurs only once (Good 1953, due to Turing).
        """
        return float((self.source.table.sum(axis=0) == 1).sum() / self.n_rows)

    def contains(self, joint: JointDistribution) -> bool:
        """Return whether a joint distribution is in the set; symbols are matched by label."""
        known_s = {label: i for i, label in enumerate(self.sensitive_labels)}
        known_x = {label: i for i, label in enumerate(self.useful_labels)}
        # All symbols that are drawn count as one, which follows the others.
        known_x |= dict.fromkeys(self.unseen_labels, len(known_x))
        if not (
            known_s.keys() >= set(joint.sensitive_labels)
            and known_x.keys() >= set(joint.useful_labels)
        ):
            return False
        matrix = np.zeros((self.shape[0], self.shape[1] + 1))
        rows = [known_s[label] for label in joint.sensitive_labels]
        place = np.ix_(rows, [known_x[label] for label in joint.useful_labels])
        np.add.at(matrix, place, joint.matrix)
        p_s = np.minimum(matrix.sum(axis=1), 1.0)  # bounds of 1 leave no room for rounding
        if (p_s < self.prior.low).any() or (p_s > self.prior.high).any():
            return False
        if not p_s.all():
            return False  # every symbol was seen
        given_s = np.minimum(matrix / p_s[:, None], 1.0)
        box = self._with_unseen
        return bool(((given_s >= box.low) & (given_s <= box.high)).all())

    def scaled(self, factor: float) -> ConfidenceSet:
        """Return the set for the same table with ``factor`` times as many rows."""
        table = self.source.table
        return self._made_of(np.maximum(np.rint(table * factor), np.minimum(table, 1)))

    def rechecked(self) -> ConfidenceSet:
        """Return the set for certifying again what was certified for this one, perhaps elsewhere.

        Its intervals lie within those of this set, also if another version of SciPy computed
        them, and reach the same confidence.

        .. versionadded:: 0.2
        """
        return self._made_of(self.source.table, RECHECKED)

    def _made_of(self, table: FloatArray, widening: float = WIDENED) -> ConfidenceSet:
        """Return the set for another table of the same symbols."""
        source = self.source
        made = self._made(
            table,
            source.sensitive_labels,
            source.useful_labels,
            self.confidence,
            source.drawn,
            widening,
        )
        return made if source.merged is None else made.merged(*source.merged)

    def merged(self, codes: ArrayLike, labels: Sequence[Label]) -> ConfidenceSet:
        """Return the set for mechanisms that treat some useful symbols as one.

        Which symbols are merged may depend on the rows: the set holds the true distribution of
        all symbols, and with it those of all their sums.

        .. versionadded:: 0.2

        Parameters
        ----------
        codes : array-like of int, shape (n_useful,)
            The number of the new symbol that each symbol belongs to.
        labels : sequence of labels
            The new symbols.
        """
        place = np.asarray(codes, dtype=np.intp)
        member = np.zeros((self.shape[1], len(labels)))
        member[np.arange(place.size), place] = 1.0
        low, high, _ = self.conditional
        return replace(
            self,
            counts=read_only(self.counts @ member),
            useful_labels=tuple(labels),
            conditional=Box(np.minimum(low @ member, 1.0), np.minimum(high @ member, 1.0)),
            estimate=read_only(self.estimate @ member),
            source=self.source._replace(merged=(place, tuple(labels))),
        )

    def given_groups(
        self, groups: Sequence[NDArray[np.intp]]
    ) -> Iterator[tuple[NDArray[np.intp], ConfidenceSet]]:
        """Yield confidence sets of the distributions given that X is in a group of symbols.

        Given the group the rows are independent draws from P(S, X | group), so that each set is
        that of its part of the table. With probability at least ``confidence`` all of them hold the
        truth, because all intervals share the error. About a sensitive symbol without rows in a
        group nothing is assumed: it may have any distribution there.

        .. versionadded:: 0.2

        Parameters
        ----------
        groups : sequence of ndarray of int
            Positions of the useful symbols of each group.
        """
        if not (self.source.table.any(axis=0).all() and self.source.table.any(axis=1).all()):
            raise InvalidParameterError(
                "Confidence sets of parts of a table need rows for all of its symbols: leave out "
                "symbols without rows, or only with weight 0."
            )
        n_s = self.shape[0]
        n_intervals = sum(number_of_intervals(n_s, group.size) for group in groups)
        error, widening = (1.0 - self.confidence) / n_intervals, self.source.widening
        for group in groups:
            counts = self.counts[:, group]
            of_s = counts.sum(axis=1)
            part = replace(
                self,
                counts=read_only(counts),
                useful_labels=tuple(self.useful_labels[i] for i in group),
                conditional=Box(*clopper_pearson(counts, of_s[:, None], error, widening)),
                prior=Box(*clopper_pearson(of_s, of_s.sum(), error, widening)),
                estimate=read_only(counts / counts.sum()),
            )
            yield group, part

    def drawing_from(self, joint: JointDistribution) -> ConfidenceSet:
        """Return the set for releases that compute P_Y from a joint distribution.

        .. versionadded:: 0.2
        """
        return replace(self, estimate=joint.matrix) if self.unseen_labels else self

    def given_both(self) -> ConfidenceSet:
        """Return the set for mechanisms whose input is the pair (s, x)."""
        pairs = tuple((s, x) for s in self.sensitive_labels for x in self.useful_labels)
        low, high = (block_diag(*bound) for bound in self.conditional[:2])
        return replace(
            self,
            counts=block_diag(*self.counts),
            useful_labels=pairs,
            conditional=Box(low, high),
            estimate=block_diag(*self.estimate),
        )

    def columns(self, order: NDArray[np.intp]) -> FloatArray:
        """Numbers that add up if symbols are merged: bounds of P(x|s), and P(x) for draws."""
        rows = [*self.conditional[:2]]
        if self.unseen_labels:
            rows.append(self.estimate.sum(axis=0))
        return np.ascontiguousarray(np.vstack(rows)[:, order])

    def lifts(self, notion: Notion, columns: FloatArray, totals: FloatArray) -> Cases:
        """Worst lifts of merged symbols, given sums of :meth:`columns` and the sum of all."""
        low, high = self.merged_range(columns, totals)
        return [(notion.worst_lift(low, high, self.prior), self.prior.high)]

    def merged_range(
        self, columns: FloatArray, totals: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Bounds of P(A|s) for merged symbols, including draws that give one of them."""
        n_s = self.shape[0]
        share = columns[2 * n_s] if self.unseen_labels else np.zeros(columns.shape[1])
        outside = totals - columns
        return merged_range(
            Box(columns[:n_s], columns[n_s : 2 * n_s]),
            Box(outside[:n_s], outside[n_s : 2 * n_s]),
            self.unseen.high,
            share,
        )

    def mixed_lifts(self, notion: Notion, weight: float, otherwise: float | FloatArray) -> Cases:
        """Worst lifts of outputs with P(y|s) = weight P(x=y|s) + otherwise(s, y), up to scale."""
        low, high = (weight * bound + otherwise for bound in self._single_range)
        return [(notion.worst_lift(low, high, self.prior), self.prior.high)]

    @property
    def largest_given_s(self) -> FloatArray:
        """Largest P(x|s) over the set, of shape (n_sensitive, n_useful)."""
        return self._single_range[1]

    @cached_property
    def _single_range(self) -> tuple[FloatArray, FloatArray]:
        columns = self.columns(np.arange(self.shape[1]))
        return self.merged_range(columns, columns.sum(axis=1, keepdims=True))

    def output_range(self, matrix: Any) -> tuple[FloatArray, FloatArray]:
        """Smallest and largest P(y|s) over the set, for a channel matrix P(Y|X).

        Parameters
        ----------
        matrix : array-like of shape (n_useful, n_outputs)
            Columns of P(Y|X), up to scale; draws for symbols without rows follow from it.

        Returns
        -------
        low, high : ndarray of shape (n_sensitive, n_outputs)
        """
        return mean_range(self._extended(np.asarray(matrix, dtype=float)), self._with_unseen)

    def _extended(self, matrix: FloatArray) -> FloatArray:
        """Add the row of the symbols that are drawn, which follows from the others."""
        return np.vstack([matrix, self.estimate.sum(axis=0) @ matrix])

    def lift_range(self, channel: Channel) -> tuple[FloatArray, FloatArray]:
        """Smallest and largest lift of every output over the set; both are attained.

        Parameters
        ----------
        channel : Channel
            P(Y|X).

        Returns
        -------
        smallest, largest : ndarray of shape (n_sensitive, n_outputs)
        """
        return lift_range(*self.output_range(channel.matrix), self.prior)

    def worst_rows(self, notion: Notion, q: FloatArray) -> FloatArray:
        """Linear conditions that every private column meets, tight at the column q.

        Parameters
        ----------
        notion : LIP, ALIP or LDP
            The notion with its budget.
        q : ndarray of shape (n_useful,)
            A column P(y|x) of a channel, up to scale.

        Returns
        -------
        ndarray of shape (n_rows, n_useful)
            B such that B q' <= 0 for every column q' that meets the notion for the whole set;
            q itself meets it if and only if B q <= 0.
        """
        everywhere = self._extended(q[:, None])
        low, high = extreme_distributions(everywhere, self._with_unseen)
        rows = notion.worst_rows(low[:, :, 0], high[:, :, 0], everywhere[:, 0], self.prior)
        return rows[:, :-1] + rows[:, -1:] * self.estimate.sum(axis=0)

    def worst_lift(self, weights: csc_array, notion: Notion) -> np.ndarray:
        """Worst lifts of integer weights for a notion, without rounding.

        Parameters
        ----------
        weights : csc_array of int64, shape (n_useful, n_outputs)
            P(Y|X) up to scale, followed by a row for the symbols that are drawn, if there are any.
        notion : LIP, ALIP or LDP
            The notion, which defines the worst lift.

        Returns
        -------
        ndarray of Fraction, shape (n_rows, n_outputs)
            See :meth:`Notion.worst_lift`.
        """
        columns = csc_array(weights)
        bounds = [
            self._exact_range(columns.indices[start:stop], columns.data[start:stop])
            for start, stop in zip(columns.indptr[:-1], columns.indptr[1:], strict=True)
        ]
        low, high = (np.hstack(side) for side in zip(*bounds, strict=True))
        return notion.worst_lift(low, high, self._exact_prior)

    def worst_levels(self, weights: csc_array, notion: Notion) -> dict[str, float]:
        """Largest level of each side of a notion over all outputs and distributions.

        Parameters are those of :meth:`worst_lift`.
        """
        worst = self.worst_lift(weights, notion).astype(float)
        levels = notion.levels(worst, worst)
        return {side: 0.0 + float(level.max()) for side, level in levels.items()}

    def _exact_range(
        self, members: np.ndarray, weights: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Bounds of one column; all symbols of weight 0 count as one."""
        box, (low, high) = self._exact_conditional, self._exact_totals
        own_low, own_high = box.low[:, members], box.high[:, members]
        rest_low, rest_high = low - own_low.sum(axis=1), high - own_high.sum(axis=1)
        values = np.array([*weights.tolist(), 0], dtype=object)[:, None]
        return mean_range(
            values,
            Box(
                np.column_stack([own_low, rest_low]),
                np.column_stack([own_high, rest_high]),
                box.one,
            ),
        )

    @cached_property
    def _with_unseen(self) -> Box:
        """Bounds of P(x|s), followed by those of the symbols that are drawn."""
        low, high, _ = self.conditional
        return Box(
            np.column_stack([low, self.unseen.low]), np.column_stack([high, self.unseen.high])
        )

    @cached_property
    def _exact_conditional(self) -> Box:
        return exact_box(self._with_unseen if self.unseen_labels else self.conditional)

    @cached_property
    def _exact_totals(self) -> tuple[np.ndarray, np.ndarray]:
        box = self._exact_conditional
        return box.low.sum(axis=1), box.high.sum(axis=1)

    @cached_property
    def _exact_prior(self) -> Box:
        return exact_box(self.prior)

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}({self.shape[0]} sensitive x {self.shape[1]} useful symbols, "
            f"{self.n_rows} rows, confidence {self.confidence:g})"
        )


def _given_seen(
    conditional: tuple[FloatArray, FloatArray],
    prior: tuple[FloatArray, FloatArray],
    s_seen: np.ndarray,
    x_seen: np.ndarray,
) -> dict[str, Box]:
    """Bounds of the distribution given that only seen symbols occur.

    Dividing by the probability of these, which is at least 1 minus the upper bounds of the
    others, can only raise a probability.
    """
    low, high = conditional
    unseen_x = _total_high(high[:, ~x_seen])
    unseen_s = min(prior[1][~s_seen].sum(), 1.0)
    with np.errstate(divide="ignore"):
        upper = np.minimum(high[:, x_seen] / (1 - unseen_x)[:, None], 1.0)
        p_high = np.minimum(prior[1][s_seen] / (1 - unseen_s) / (1 - unseen_x.max()), 1.0)
    p_low = prior[0][s_seen] * (1 - unseen_x)
    return {"conditional": Box(low[:, x_seen], upper), "prior": Box(p_low, p_high)}


def _total_high(high: FloatArray) -> FloatArray:
    """Upper bound of the probability that any of these symbols occurs."""
    return np.minimum(high.sum(axis=1), 1.0)
