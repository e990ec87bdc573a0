"""The channel P(Y|X) that a mechanism builds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csc_array, csr_array, issparse

from ._arrays import (
    SUM_TOLERANCE,
    FloatArray,
    Label,
    MatrixNoun,
    as_labels,
    as_nonnegative,
    read_only,
)
from ._limits import MOST_DENSE_CELLS, refuse_beyond
from .exceptions import InvalidDistributionError, InvalidParameterError
from .labels import distinct, group_label, range_label

__all__ = ["Channel"]

# Inputs with a smaller share of an output, relative to the largest, are not its members:
# certification may have mixed a tiny share of every symbol into every output.
_NEGLIGIBLE = 1e-9


class Channel(MatrixNoun):
    """Channel matrix P(Y=y | X=x) with labels; rows are inputs, columns are outputs.

    The object is immutable.

    Parameters
    ----------
    matrix : array-like or scipy.sparse.csr_array of shape (n_inputs, n_outputs)
        Non-negative numbers; every row sums to 1.
    inputs, outputs : sequence, optional
        Distinct labels, by default 0, 1, 2, ...

    Attributes
    ----------
    matrix : ndarray of shape (n_inputs, n_outputs)
        The probabilities as a dense array, computed on first access.
    sparse : scipy.sparse.csr_array
        The probabilities as they are stored: most channels have few outputs per input.
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
    def matrix(self) -> FloatArray:  # type: ignore[override]  # computed on first access
        """P(Y=y | X=x) as a dense array, rows inputs, columns outputs."""
        n_inputs, n_outputs = self.sparse.shape
        refuse_beyond(
            MOST_DENSE_CELLS,
            n_inputs * n_outputs,
            f"as a dense array this channel of {n_inputs:,} inputs and {n_outputs:,} outputs has "
            f"{n_inputs * n_outputs:,} cells",
            "use channel.sparse and channel.members",
        )
        return read_only(self.sparse.toarray())

    @classmethod
    def identity(cls, labels: Sequence[Label]) -> Channel:
        """Return the channel that outputs every symbol unchanged."""
        return cls(_one_hot(np.arange(len(labels)), len(labels)), labels, labels)

    @classmethod
    def merging(
        cls,
        groups: Sequence[Sequence[Label]],
        inputs: Sequence[Label] | None = None,
        *,
        ordered: bool = False,
    ) -> Channel:
        """Return the channel that replaces every symbol by the name of its group.

        Parameters
        ----------
        groups : sequence of sequences of labels
            A partition of the inputs; each group becomes one output.
        inputs : sequence of labels, optional
            Order of the rows, by default the order in which the groups list them.
        ordered : bool, default=False
            Whether every group lists neighbours in their order. It is then named by its ends, as
            in ``37 to 45``, and not by all its members.

            .. versionadded:: 0.2
        """
        listed = [label for group in groups for label in group]
        labels = as_labels(listed if inputs is None else inputs, len(listed), "inputs")
        group_of = {label: g for g, group in enumerate(groups) for label in group}
        unknown = [label for label in labels if label not in group_of]
        if unknown:
            raise InvalidDistributionError(f"No group holds the input {unknown[0]!r}.")
        codes = np.array([group_of[label] for label in labels], dtype=np.intp)
        name = range_label if ordered else group_label
        names = distinct([name(group) for group in groups], [len(g) > 1 for g in groups])
        return cls(_one_hot(codes, len(groups)), labels, names)

    def members(self, output: Label, p_x: ArrayLike | None = None) -> tuple[Label, ...]:
        """List the inputs that an output may stand for, the most probable first.

        .. versionadded:: 0.2

        Parameters
        ----------
        output : label
            One of ``outputs``. The name of a large group lists only some of its members.
        p_x : array-like of shape (n_inputs,), optional
            Distribution of the input, by default uniform.

        Returns
        -------
        tuple of labels
            Inputs whose probability given the output is not negligible: at least 1e-9 of the
            largest one.

        Examples
        --------
        >>> from skliftpriv import Channel
        >>> Channel.merging([["a"], ["b", "c"]]).members("{b, c}", p_x=[0.5, 0.2, 0.3])
        ('c', 'b')
        """
        if output not in self._place:
            raise InvalidParameterError(f"{output!r} is not an output of this channel.")
        columns, y = self._by_output, self._place[output]
        entries = slice(columns.indptr[y], columns.indptr[y + 1])
        inputs, masses = columns.indices[entries], columns.data[entries]
        if p_x is not None:
            masses = masses * self._prior(p_x)[inputs]
        kept = masses > _NEGLIGIBLE * masses.max(initial=0.0)
        order = np.argsort(-masses[kept], kind="stable")
        return tuple(self.inputs[x] for x in inputs[kept][order])

    @cached_property
    def _by_output(self) -> csc_array:
        columns = csc_array(self.sparse)
        columns.sort_indices()
        return columns

    @cached_property
    def _place(self) -> dict[Label, int]:
        return {label: y for y, label in enumerate(self.outputs)}

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
