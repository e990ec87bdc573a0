"""Confidence sets: the distributions that the rows may have been drawn from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import compress
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import block_diag
from scipy.sparse import csc_array
from scipy.special import betainccinv, betaincinv

from ._arrays import FloatArray, Label, as_labels, as_nonnegative, exact_integers, read_only
from ._limits import MOST_EXACT_CELLS, MOST_INTERVALS, refuse_beyond
from .channel import Channel
from .distribution import JointDistribution
from .exceptions import InvalidDistributionError, InvalidParameterError
from .measures._range import Box, extreme_distributions, lift_range, mean_range
from .notions import Notion

__all__ = ["ConfidenceSet", "clopper_pearson"]

# Quantiles of the beta distribution are accurate to about 1e-13; intervals are widened by more.
_WIDENING = 1e-10
# Doubles represent every integer up to here.
_MOST_ROWS = 2**53


def clopper_pearson(
    successes: ArrayLike, trials: ArrayLike, error: float
) -> tuple[FloatArray, FloatArray]:
    """Confidence interval of a probability (Clopper and Pearson 1934).

    The interval is exact: its coverage is at least 1 - error for every probability and every
    number of trials, with half of the error on each side.

    Parameters
    ----------
    successes, trials : array-like of float
        Number of successes and of trials.
    error : float
        Largest probability that the interval misses the true value.

    Returns
    -------
    low, high : ndarray
    """
    k, n = np.broadcast_arrays(np.asarray(successes, float), np.asarray(trials, float))
    # Parameters of a beta distribution must be positive, so the ends 0 and 1 are set explicitly.
    low = np.where(k > 0, betaincinv(np.maximum(k, 1), n - k + 1, error / 2), 0.0)
    high = np.where(k < n, betainccinv(k + 1, np.maximum(n - k, 1), error / 2), 1.0)
    # SciPy before 1.17 returns NaN for counts in the billions; Hoeffding's bound is valid there.
    rows = np.maximum(n, 1)
    reach = np.sqrt(np.log(2 / error) / (2 * rows))
    low = np.where(np.isnan(low), np.maximum(k / rows - reach, 0.0), low)
    high = np.where(np.isnan(high), np.minimum(k / rows + reach, 1.0), high)
    return low * (1 - _WIDENING), np.minimum(high * (1 + _WIDENING), 1.0)


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
    that they may have.

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

    @classmethod
    def from_counts(
        cls,
        counts: ArrayLike,
        sensitive_labels: Iterable[Label] | None = None,
        useful_labels: Iterable[Label] | None = None,
        *,
        confidence: float = 0.95,
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

        Returns
        -------
        ConfidenceSet
        """
        table = _whole_counts(counts)
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
        error = (1.0 - confidence) / _number_of_intervals(*table.shape)
        seen = table[s_seen]
        of_s = seen.sum(axis=1)
        conditional = clopper_pearson(seen, of_s[:, None], error)
        prior = clopper_pearson(table.sum(axis=1), table.sum(), error)
        return cls(
            counts=read_only(seen[:, x_seen]),
            confidence=float(confidence),
            sensitive_labels=tuple(compress(s_labels, s_seen)),
            useful_labels=tuple(compress(x_labels, x_seen)),
            **_given_seen(conditional, prior, s_seen, x_seen),
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
        return float((self.counts.sum(axis=0) == 1).sum() / self.n_rows)

    def contains(self, joint: JointDistribution) -> bool:
        """Return whether a joint distribution is in the set; symbols are matched by label."""
        known_s = {label: i for i, label in enumerate(self.sensitive_labels)}
        known_x = {label: i for i, label in enumerate(self.useful_labels)}
        if not (
            known_s.keys() >= set(joint.sensitive_labels)
            and known_x.keys() >= set(joint.useful_labels)
        ):
            return False
        matrix = np.zeros(self.shape)
        rows = [known_s[label] for label in joint.sensitive_labels]
        matrix[np.ix_(rows, [known_x[label] for label in joint.useful_labels])] = joint.matrix
        p_s = np.minimum(matrix.sum(axis=1), 1.0)  # bounds of 1 leave no room for rounding
        if (p_s < self.prior.low).any() or (p_s > self.prior.high).any():
            return False
        if not p_s.all():
            return False  # every symbol was seen
        given_s = np.minimum(matrix / p_s[:, None], 1.0)
        inside = (given_s >= self.conditional.low) & (given_s <= self.conditional.high)
        return bool(inside.all())

    def scaled(self, factor: float) -> ConfidenceSet:
        """Return the set for the same table with ``factor`` times as many rows."""
        return type(self).from_counts(
            np.maximum(np.rint(self.counts * factor), np.minimum(self.counts, 1)),
            self.sensitive_labels,
            self.useful_labels,
            confidence=self.confidence,
        )

    def given_both(self) -> ConfidenceSet:
        """Return the set for mechanisms whose input is the pair (s, x)."""
        pairs = tuple((s, x) for s in self.sensitive_labels for x in self.useful_labels)
        low, high = (block_diag(*bound) for bound in self.conditional[:2])
        return replace(
            self,
            counts=block_diag(*self.counts),
            useful_labels=pairs,
            conditional=Box(low, high),
        )

    def output_range(self, matrix: Any) -> tuple[FloatArray, FloatArray]:
        """Smallest and largest P(y|s) over the set, for a channel matrix P(Y|X).

        Parameters
        ----------
        matrix : array-like of shape (n_useful, n_outputs)
            Columns of P(Y|X), up to scale.

        Returns
        -------
        low, high : ndarray of shape (n_sensitive, n_outputs)
        """
        return mean_range(np.asarray(matrix, dtype=float), self.conditional)

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
        low, high = extreme_distributions(q[:, None], self.conditional)
        return notion.worst_rows(low[:, :, 0], high[:, :, 0], q, self.prior)

    def worst_lift(self, weights: csc_array, notion: Notion) -> np.ndarray:
        """Worst lifts of integer weights for a notion, without rounding.

        Parameters
        ----------
        weights : csc_array of int64, shape (n_useful, n_outputs)
            P(Y|X) up to scale.
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
    def _exact_conditional(self) -> Box:
        return _exact(self.conditional)

    @cached_property
    def _exact_totals(self) -> tuple[np.ndarray, np.ndarray]:
        box = self._exact_conditional
        return box.low.sum(axis=1), box.high.sum(axis=1)

    @cached_property
    def _exact_prior(self) -> Box:
        return _exact(self.prior)

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}({self.shape[0]} sensitive x {self.shape[1]} useful symbols, "
            f"{self.n_rows} rows, confidence {self.confidence:g})"
        )


def _whole_counts(counts: ArrayLike) -> FloatArray:
    """Return a table of counts as an array, or raise an error if it does not hold counts."""
    table = as_nonnegative(counts, "The table of counts", ndim=2)
    if not np.array_equal(table, np.rint(table)):
        raise InvalidDistributionError(
            "A confidence set needs the number of rows in each cell, but the table contains "
            "numbers that are not whole, such as sums of sample weights. Fit without weights, "
            "or use confidence=None."
        )
    if table.sum() > _MOST_ROWS:
        raise InvalidDistributionError(
            f"The table of counts has {table.sum():.3g} rows, more than are counted exactly "
            "(2^53). Use a sample of the rows, or confidence=None."
        )
    if not table.any():
        raise InvalidDistributionError("The table of counts has no rows: all cells are 0.")
    return table


def _number_of_intervals(n_s: int, n_x: int) -> int:
    """Count the intervals that share the error; two probabilities that sum to 1 need only one."""
    return n_s * (n_x if n_x > 2 else 1) + (n_s if n_s > 2 else 1)


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
    unseen_x = np.minimum(high[:, ~x_seen].sum(axis=1), 1.0)
    unseen_s = min(prior[1][~s_seen].sum(), 1.0)
    with np.errstate(divide="ignore"):
        upper = np.minimum(high[:, x_seen] / (1 - unseen_x)[:, None], 1.0)
        p_high = np.minimum(prior[1][s_seen] / (1 - unseen_s) / (1 - unseen_x.max()), 1.0)
    p_low = prior[0][s_seen] * (1 - unseen_x)
    return {"conditional": Box(low[:, x_seen], upper), "prior": Box(p_low, p_high)}


def _exact(box: Box) -> Box:
    """Write bounds as integers over a common power of two, the unit of the new box."""
    integers = exact_integers(np.stack([*box.low.ravel(), *box.high.ravel(), 1.0]))
    low, high = integers[:-1].reshape(2, *box.low.shape)
    return Box(low, high, integers[-1])
