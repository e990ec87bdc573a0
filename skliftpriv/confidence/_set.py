"""Confidence sets: the distributions that the rows may have been drawn from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from numbers import Real
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import block_diag

from .._arrays import FloatArray, Label, as_labels, read_only
from .._limits import MOST_EXACT_CELLS, MOST_INTERVALS, refuse_beyond
from ..distribution import JointDistribution
from ..exceptions import InvalidParameterError
from ..measures._range import Box
from ._bounds import BoundedDistributions
from ._intervals import (
    RECHECKED,
    WIDENED,
    clopper_pearson,
    number_of_intervals,
    whole_counts,
)

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
class ConfidenceSet(BoundedDistributions):
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
