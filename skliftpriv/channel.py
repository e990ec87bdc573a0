"""The channel P(Y|X) that a mechanism builds, and the names of its symbols."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime, timedelta
from functools import cached_property
from hashlib import blake2b
from itertools import compress
from numbers import Real
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

__all__ = ["Channel"]

# Longest name of a set of symbols, and of a symbol within it, in characters.
_WIDEST_SET, _WIDEST_MEMBER = 200, 60
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


def group_label(group: Sequence[Label]) -> Label:
    """Name a merged symbol: its only member, or ``{a, b, c}``."""
    return group[0] if len(group) == 1 else set_label(group)


def range_label(group: Sequence[Label]) -> Label:
    """Name neighbours, listed in their order, by their ends: ``37 to 45``.

    A missing value is not between others: ``45 or missing``. Text that is neither a number nor a
    date has braces, ``{low to medium}``, which tell the range from a value.
    """
    if len(group) == 1:
        return group[0]
    known = [label for label in group if label is not None]
    ends = known[:1] if len(known) == 1 else [known[0], known[-1]]
    text = " to ".join(map(short_text, ends))
    if len(known) < len(group):
        text += " or missing"
    return text if all(map(_is_quantity, ends)) else "{" + text + "}"


def _is_quantity(label: Label) -> bool:
    """Tell whether a label is a number or a date, perhaps written as text."""
    if not isinstance(label, str):
        return True
    readers: tuple[Callable[[str], object], ...] = (float, datetime.fromisoformat)
    for read in readers:
        try:
            read(label)
        except ValueError:
            continue
        return True
    return False


class NumberedLabel(str):
    """A text that begins with a number of its own, such as ``#07 age < 40, job = cook``.

    The number tells it from all others, so that no digest is needed where it is shortened.

    .. versionadded:: 0.2
    """

    @property
    def number(self) -> str:
        """The number alone."""
        return self.partition(" ")[0]


def set_label(members: Iterable[Label], *, digest: bool = False) -> str:
    """Write a set of symbols, of any size, as ``{a, b, c}``, in at most 200 characters.

    A longer name looks like ``{a, b, c, ... +2,997 #1f3a9c42}``: the first members, the number of
    others, and a digest of all of them. It does not depend on the order of the members, so the
    same set has the same name in every fit. With ``digest`` every name has one.
    Of numbered labels the last ones are written as numbers, if that is short enough.
    """
    labels = list(members)
    whole = "{" + ", ".join(symbol_text(label) for label in labels) + "}"
    if len(whole) <= _WIDEST_SET and not digest:
        return whole
    numbered = None if digest else _numbered_set(labels)
    if numbered is not None:
        return numbered
    labels.sort(key=str if set(map(type, labels)) == {str} else _stable_key)
    tail = f"#{_digest(labels)}"
    shown: list[str] = []
    room = _WIDEST_SET - len(f"{{, ... +{len(labels):,} {tail}}}")
    for label in labels:
        text = short_text(label)
        room -= len(text) + 2
        if room < 0:
            break
        shown.append(text)
    rest = len(labels) - len(shown)
    more = [f"... +{rest:,}"] if rest else []
    return "{" + f"{', '.join(shown + more)} {tail}".strip() + "}"


def _numbered_set(labels: Sequence[Label]) -> str | None:
    """Write a set of numbered labels, the last ones as numbers; None if that is too long."""
    numbered = [label for label in labels if isinstance(label, NumberedLabel)]
    if len(numbered) < len(labels):
        return None
    texts = [short_text(label) for label in numbered]
    for place in range(len(texts), -1, -1):
        texts[place:] = [label.number for label in numbered[place:]]
        whole = "{" + ", ".join(texts) + "}"
        if len(whole) <= _WIDEST_SET:
            return whole
    return None


def set_labels(symbols: Sequence[Label], rows: NDArray[np.bool_]) -> list[str]:
    """Name sets of symbols, given as rows of bits; different sets have different names.

    If the texts of the symbols make names ambiguous, every name has a digest. So a name does not
    depend on which other sets are named with it.
    """
    texts = [symbol_text(symbol) for symbol in symbols]
    doubtful = len(set(texts)) < len(texts) or any(
        ", " in text or text.startswith("...") or not text for text in texts
    )
    return [set_label(compress(symbols, row), digest=doubtful) for row in rows]


def short_text(label: Label) -> str:
    """Write one symbol in at most 60 characters; a digest replaces what is cut off.

    A numbered label needs no digest.
    """
    text = symbol_text(label)
    if len(text) <= _WIDEST_MEMBER:
        return text
    tail = "..." if isinstance(label, NumberedLabel) else f"...#{_digest([label])}"
    return text[: _WIDEST_MEMBER - len(tail)] + tail


def _digest(labels: Iterable[Label]) -> str:
    text = "\n".join(map(identity_text, labels))
    return blake2b(text.encode(errors="surrogatepass"), digest_size=4).hexdigest()


def _stable_key(label: Label) -> tuple[int, Any, str]:
    """Sort key that ignores the type of numbers: numbers come first, by size."""
    if isinstance(label, Real):
        return 0, label, ""
    return 1, 0, identity_text(label)


def identity_text(label: Label) -> str:
    """Write different labels differently, and equal numbers alike, whatever their types are."""
    if isinstance(label, str) or label is None:
        return repr(label)
    if isinstance(label, tuple):
        return "(" + ", ".join(map(identity_text, label)) + ")"
    if isinstance(label, Real) and label % 1 == 0:
        return str(int(label))
    if isinstance(label, datetime) and label.tzinfo is not None:
        label = label.astimezone(UTC)  # one moment in several zones
    # pandas has subclasses of Python's own types.
    kind = next((k for k in (datetime, timedelta) if isinstance(label, k)), type(label))
    return f"{kind.__name__}({str(label)!r})"


def as_parts(label: Label) -> tuple[Label, ...]:
    """Return the values of a symbol of several columns, or the only value of a plain one."""
    return label if isinstance(label, tuple) else (label,)


def symbol_text(label: Label) -> str:
    """Write one symbol as text: tuples of several columns as ``a & b``, None as ``missing``.

    Different symbols may have the same text; :func:`distinct_texts` writes several of them.
    """
    if label is None:
        return "missing"
    if isinstance(label, tuple):
        return " & ".join(symbol_text(part) for part in label)
    return str(label)


def distinct(labels: Sequence[Label], made_up: Sequence[bool] | None = None) -> list[Label]:
    """Make labels distinct by appending a number to made-up names that read like another label.

    Labels that are not ``made_up`` belong to symbols and are kept; by default all are made up. No
    made-up name has the text of any other label in the result.
    """
    flags = [True] * len(labels) if made_up is None else made_up
    taken = {symbol_text(label) for label, new in zip(labels, flags, strict=True) if not new}
    numbers: Counter[str] = Counter()
    result: list[Label] = []
    for label, new in zip(labels, flags, strict=True):
        if not new:
            result.append(label)
            continue
        text = symbol_text(label)
        name: Label = label
        while symbol_text(name) in taken:
            numbers[text] += 1
            name = f"{text} ({numbers[text] + 1})"
        taken.add(symbol_text(name))
        result.append(name)
    return result


def distinct_texts(labels: Sequence[Label]) -> list[str]:
    """Write distinct labels as distinct texts; only labels that are not text are changed.

    For instance, None becomes "missing (2)" if the text "missing" is also a label.
    """
    texts = [symbol_text(label) for label in labels]
    return [str(name) for name in distinct(texts, [not isinstance(x, str) for x in labels])]
