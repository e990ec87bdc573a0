"""The joint distribution P_SX of a sensitive variable S and a useful variable X."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from functools import cached_property
from itertools import compress
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import issparse

from ._arrays import (
    SUM_TOLERANCE,
    FloatArray,
    Label,
    MatrixNoun,
    as_labels,
    as_nonnegative,
    read_only,
)
from .exceptions import InvalidDistributionError, InvalidParameterError

__all__ = ["JointDistribution"]


class JointDistribution(MatrixNoun):
    """Joint distribution of a sensitive variable S (rows) and a useful variable X (columns).

    The object is immutable. Symbols without mass have no lift, so they are dropped; their labels
    are kept in ``dropped_sensitive`` and ``dropped_useful``. Zero cells between symbols that have
    mass are allowed: their lift is 0 and their log-lift is minus infinity.

    Parameters
    ----------
    matrix : array-like of shape (n_sensitive, n_useful)
        Probabilities P(S=s, X=x); they must sum to 1. For counts use :meth:`from_counts`.
    sensitive_labels, useful_labels : sequence, optional
        Distinct labels of the rows and columns, by default 0, 1, 2, ...

    Attributes
    ----------
    matrix : ndarray of shape (n_sensitive, n_useful)
        The probabilities, without empty rows and columns.
    masses : ndarray of shape (n_sensitive, n_useful)
        The probabilities, or the counts plus smoothing, that exact arithmetic starts from.
    p_s, p_x : ndarray
        The marginals.
    lift : ndarray of shape (n_sensitive, n_useful)
        P(s, x) / (P(s) P(x)).
    sensitive_labels, useful_labels : tuple
        Labels of rows and columns that have mass.
    dropped_sensitive, dropped_useful : tuple
        Labels that were given but have no mass.
    n_rows : float or None
        Total of the counts, None when probabilities were given.

    Examples
    --------
    >>> from skliftpriv import JointDistribution
    >>> joint = JointDistribution.from_counts([[30, 10], [10, 50]], ["ill", "well"], ["a", "b"])
    >>> joint
    JointDistribution(2 sensitive x 2 useful symbols, 100 rows)
    >>> joint.p_s
    array([0.4, 0.6])
    >>> joint.lift.round(3)
    array([[1.875, 0.417],
           [0.417, 1.389]])
    """

    # Attached by skliftpriv.frames, because this module does not know data frames.
    from_frame: ClassVar[Callable[..., JointDistribution]]

    def __init__(
        self,
        matrix: ArrayLike,
        sensitive_labels: Iterable[Label] | None = None,
        useful_labels: Iterable[Label] | None = None,
    ) -> None:
        masses = as_nonnegative(matrix, "The joint distribution", ndim=2)
        total = masses.sum()
        if abs(total - 1.0) > SUM_TOLERANCE:
            raise InvalidDistributionError(
                f"The joint distribution sums to {total:.12g}, not to 1. "
                "Use JointDistribution.from_counts for counts or weights."
            )
        self._fill(masses, sensitive_labels, useful_labels, None)

    @classmethod
    def from_counts(
        cls,
        counts: ArrayLike,
        sensitive_labels: Iterable[Label] | None = None,
        useful_labels: Iterable[Label] | None = None,
        *,
        smoothing: float = 0.0,
    ) -> JointDistribution:
        """Estimate the joint distribution from a contingency table.

        Parameters
        ----------
        counts : array-like of shape (n_sensitive, n_useful)
            Number (or total weight) of rows in each cell.
        sensitive_labels, useful_labels : sequence, optional
            Distinct labels, by default 0, 1, 2, ...
        smoothing : float, default=0.0
            Pseudo-count added to every cell of a sensitive and a useful symbol that were both
            seen, so that no such cell is zero.

        Returns
        -------
        JointDistribution
        """
        masses = as_nonnegative(counts, "The table of counts", ndim=2)
        if not (isinstance(smoothing, Real) and 0 <= smoothing <= sys.float_info.max):
            raise InvalidParameterError(
                f"smoothing must be a finite number >= 0, not {smoothing!r}."
            )
        smoothing = float(smoothing)
        if not masses.any():
            raise InvalidDistributionError("The table of counts has no rows: all cells are 0.")
        with np.errstate(over="ignore"):
            total = float(masses.sum())
            smoothed = total + smoothing * masses.size
        if not np.isfinite(smoothed):
            what = f"smoothing={smoothing!r}" if np.isfinite(total) else "The table of counts"
            raise InvalidDistributionError(
                f"{what} is too large: the sum of the cells overflows. Divide weights and "
                "smoothing by a common factor."
            )
        seen = np.logical_and.outer((masses > 0).any(axis=1), (masses > 0).any(axis=0))
        joint = cls.__new__(cls)
        joint._fill(
            np.where(seen, masses + smoothing, 0.0),
            sensitive_labels,
            useful_labels,
            total,
        )
        return joint

    def _fill(
        self,
        masses: FloatArray,
        sensitive_labels: Iterable[Label] | None,
        useful_labels: Iterable[Label] | None,
        n_rows: float | None,
    ) -> None:
        s_labels = as_labels(sensitive_labels, masses.shape[0], "sensitive_labels")
        x_labels = as_labels(useful_labels, masses.shape[1], "useful_labels")
        s_seen = np.asarray((masses > 0).any(axis=1))
        x_seen = np.asarray((masses > 0).any(axis=0))
        kept = masses[np.ix_(s_seen, x_seen)]
        matrix = kept / kept.sum()
        kept_s, kept_x = tuple(compress(s_labels, s_seen)), tuple(compress(x_labels, x_seen))
        for axis, labels in ((1, kept_s), (0, kept_x)):
            vanished = np.flatnonzero(matrix.sum(axis=axis) == 0)
            if vanished.size:
                raise InvalidDistributionError(
                    f"The symbol {labels[vanished[0]]!r} has so little mass that its probability "
                    "underflows to 0. Leave out its rows, or use weights closer to each other."
                )
        fields = {
            "masses": read_only(kept),
            "matrix": read_only(matrix),
            "sensitive_labels": kept_s,
            "useful_labels": kept_x,
            "dropped_sensitive": tuple(compress(s_labels, ~s_seen)),
            "dropped_useful": tuple(compress(x_labels, ~x_seen)),
            "n_rows": n_rows,
        }
        self.__dict__.update(fields)

    # The attributes that _fill sets, for readers and type checkers.
    masses: FloatArray
    matrix: FloatArray
    sensitive_labels: tuple[Label, ...]
    useful_labels: tuple[Label, ...]
    dropped_sensitive: tuple[Label, ...]
    dropped_useful: tuple[Label, ...]
    n_rows: float | None

    @property
    def shape(self) -> tuple[int, int]:
        """Number of sensitive and of useful symbols."""
        return self.matrix.shape[0], self.matrix.shape[1]

    @cached_property
    def p_s(self) -> FloatArray:
        """Marginal distribution of S."""
        return read_only(self.matrix.sum(axis=1))

    @cached_property
    def p_x(self) -> FloatArray:
        """Marginal distribution of X."""
        return read_only(self.matrix.sum(axis=0))

    @cached_property
    def lift(self) -> FloatArray:
        """Lift P(s, x) / (P(s) P(x)) of every cell."""
        return read_only(self.matrix / self.p_x / self.p_s[:, None])

    def released(self, channel: Any) -> FloatArray:
        """Return P_SY, the joint distribution of S and the output of a channel on X.

        Its shape is (n_sensitive, n_outputs).
        """
        factor = channel if issparse(channel) else np.asarray(channel, dtype=np.float64)
        return np.asarray(self.matrix @ factor)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, JointDistribution):
            return NotImplemented
        return (
            self.sensitive_labels == other.sensitive_labels
            and self.useful_labels == other.useful_labels
            and np.array_equal(self.matrix, other.matrix)
        )

    def __hash__(self) -> int:
        return hash((self.sensitive_labels, self.useful_labels, self.matrix.tobytes()))

    def __repr__(self) -> str:
        rows = "" if self.n_rows is None else f", {self.n_rows:g} rows"
        return (
            f"{type(self).__name__}({self.shape[0]} sensitive x {self.shape[1]} "
            f"useful symbols{rows})"
        )
