"""The channel P(Y|X): the noun that a mechanism builds and that is sampled."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, issparse

from ._arrays import (
    SUM_TOLERANCE,
    FloatArray,
    Label,
    MatrixNoun,
    as_labels,
    as_nonnegative,
    read_only,
)
from .exceptions import InvalidDistributionError

__all__ = ["Channel"]


class Channel(MatrixNoun):
    """Randomised mapping P(Y=y | X=x); rows are inputs, columns are outputs. Immutable.

    Parameters
    ----------
    matrix : array-like or scipy.sparse.csr_array of shape (n_inputs, n_outputs)
        Non-negative, every row sums to 1.
    inputs, outputs : sequence, optional
        Distinct labels, by default 0, 1, 2, ...

    Attributes
    ----------
    matrix : ndarray of shape (n_inputs, n_outputs)
        The probabilities as a dense array, made when first asked for.
    sparse : scipy.sparse.csr_array
        The probabilities as they are kept: most channels have few outputs per input.
    inputs, outputs : tuple
        The labels.

    Examples
    --------
    >>> from skliftpriv import Channel
    >>> channel = Channel.merging([["a"], ["b", "c"]])
    >>> channel.outputs
    ('a', '{b, c}')
    >>> channel.p_y([0.5, 0.3, 0.2])
    array([0.5, 0.5])
    >>> channel.posterior([0.5, 0.3, 0.2])
    array([[1. , 0. , 0. ],
           [0. , 0.6, 0.4]])
    """

    sparse: csr_array
    inputs: tuple[Label, ...]
    outputs: tuple[Label, ...]

    def __init__(
        self,
        matrix: ArrayLike | csr_array,
        inputs: Iterable[Label] | None = None,
        outputs: Iterable[Label] | None = None,
    ) -> None:
        sparse = _as_sparse(matrix)
        input_labels = as_labels(inputs, sparse.shape[0], "inputs")
        sums = sparse.sum(axis=1)
        off = np.flatnonzero(np.abs(sums - 1.0) > SUM_TOLERANCE)
        if off.size:
            row = int(off[0])
            raise InvalidDistributionError(
                f"Every row of a channel must sum to 1, but the row of input "
                f"{input_labels[row]!r} sums to {sums[row]:.12g}."
            )
        self.__dict__.update(
            sparse=sparse,
            inputs=input_labels,
            outputs=as_labels(outputs, sparse.shape[1], "outputs"),
        )

    @cached_property
    def matrix(self) -> FloatArray:  # type: ignore[override]  # made when first asked for
        """P(Y=y | X=x) as a dense array, rows inputs, columns outputs."""
        return read_only(self.sparse.toarray())

    @classmethod
    def identity(cls, labels: Sequence[Label]) -> Channel:
        """Release every symbol as it is."""
        return cls(_one_hot(np.arange(len(labels)), len(labels)), labels, labels)

    @classmethod
    def merging(
        cls, groups: Sequence[Sequence[Label]], inputs: Sequence[Label] | None = None
    ) -> Channel:
        """Release the name of the group that a symbol belongs to.

        Parameters
        ----------
        groups : sequence of sequences of labels
            A partition of the inputs; each group becomes one output.
        inputs : sequence of labels, optional
            Order of the rows, by default the order in which the groups list them.
        """
        listed = [label for group in groups for label in group]
        labels = as_labels(listed if inputs is None else inputs, len(listed), "inputs")
        group_of = {label: g for g, group in enumerate(groups) for label in group}
        unknown = [label for label in labels if label not in group_of]
        if unknown:
            raise InvalidDistributionError(f"No group holds the input {unknown[0]!r}.")
        matrix = np.zeros((len(labels), len(groups)))
        matrix[np.arange(len(labels)), [group_of[label] for label in labels]] = 1.0
        names = distinct([group_label(group) for group in groups], [len(g) > 1 for g in groups])
        return cls(matrix, labels, names)

    def p_y(self, p_x: ArrayLike) -> FloatArray:
        """Distribution of the output when the input follows ``p_x``."""
        return np.asarray(self._prior(p_x) @ self.sparse)

    def joint(self, p_x: ArrayLike) -> FloatArray:
        """Joint distribution P_XY, shape (n_inputs, n_outputs)."""
        return self._prior(p_x)[:, None] * self.matrix

    def posterior(self, p_x: ArrayLike) -> FloatArray:
        """P(X=x | Y=y), one row per output; the prior itself for an output that never occurs."""
        joint = self.joint(p_x).T
        p_y = joint.sum(axis=1, keepdims=True)
        prior = np.broadcast_to(self._prior(p_x), joint.shape).copy()
        return np.divide(joint, p_y, out=prior, where=p_y > 0)

    def _prior(self, p_x: ArrayLike) -> FloatArray:
        prior = as_nonnegative(p_x, "p_x", ndim=1)
        if prior.size != len(self.inputs):
            raise InvalidDistributionError(
                f"p_x has {prior.size} entries, but the channel has {len(self.inputs)} inputs."
            )
        return prior

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Channel):
            return NotImplemented
        return (
            self.inputs == other.inputs
            and self.outputs == other.outputs
            and (self.sparse != other.sparse).nnz == 0
        )

    def __hash__(self) -> int:
        parts = (self.sparse.indptr, self.sparse.indices, self.sparse.data)
        return hash((self.inputs, self.outputs, *(part.tobytes() for part in parts)))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self.inputs)} inputs -> {len(self.outputs)} outputs)"


def _as_sparse(matrix: Any) -> csr_array:
    """Return a canonical, private copy with read-only data and without stored zeros."""
    if issparse(matrix):
        as_nonnegative(matrix.data, "The channel")
        sparse = csr_array(matrix, dtype=np.float64, copy=True)
    else:
        sparse = csr_array(as_nonnegative(matrix, "The channel", ndim=2))
    sparse.sum_duplicates()
    sparse.eliminate_zeros()
    sparse.data.setflags(write=False)
    return sparse


def _one_hot(codes: NDArray[np.intp], n_outputs: int) -> csr_array:
    n = codes.size
    return csr_array((np.ones(n), codes, np.arange(n + 1)), shape=(n, n_outputs))


def group_label(group: Sequence[Label]) -> Label:
    """Name a merged symbol: its only member, or ``{a, b, c}``."""
    return group[0] if len(group) == 1 else set_label(group)


def set_label(members: Iterable[Label]) -> str:
    """Write a set of symbols, of any size, as ``{a, b, c}``."""
    return "{" + ", ".join(symbol_text(label) for label in members) + "}"


def as_parts(label: Label) -> tuple[Label, ...]:
    """Return the values of a symbol of several columns, or the only value of a plain one."""
    return label if isinstance(label, tuple) else (label,)


def symbol_text(label: Label) -> str:
    """Write one symbol as text: tuples of several columns as ``a & b``, None as ``missing``."""
    if label is None:
        return "missing"
    if isinstance(label, tuple):
        return " & ".join(symbol_text(part) for part in label)
    return str(label)


def distinct(labels: Sequence[Label], made_up: Sequence[bool] | None = None) -> list[Label]:
    """Make labels distinct: a made-up name that is taken already gets a number behind it.

    Names that are not ``made_up`` belong to symbols and are kept; by default all are.
    """
    flags = [True] * len(labels) if made_up is None else made_up
    taken = {label for label, new in zip(labels, flags, strict=True) if not new}
    result: list[Label] = []
    for label, new in zip(labels, flags, strict=True):
        name, number = label, 1
        while new and name in taken:
            number += 1
            name = f"{symbol_text(label)} ({number})"
        taken.add(name)
        result.append(name)
    return result
