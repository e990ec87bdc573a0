"""Sample certified weights and write released columns: labels, codes, posteriors, typical rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from numbers import Real
from typing import Any, Protocol

import numpy as np
from scipy.sparse import csr_array, diags_array
from scipy.sparse.csgraph import min_weight_full_bipartite_matching

from .._arrays import Label
from .._limits import MOST_DENSE_CELLS, POOL, refuse_beyond
from ..cells import Cells
from ..certificate import quantize
from ..channel import Channel, as_parts, distinct, group_label, symbol_text
from ..exceptions import InvalidParameterError
from ..frames import ColumnType, LabelColumn, SymbolEncoder, Table, sort_symbols
from ..frequencies import FrequencyEstimate, FrequencyMethod, estimate_frequencies
from ..mechanisms import ChannelResult
from ..sampling import RandomState, Sampler, derived_stream
from ._layout import Layout
from ._typical import typical_rows

__all__ = ["Releaser", "SymbolReleaser"]

_NAMED = 1e-9
"""Symbols whose share of an output is below this times the largest share are not named."""


class Releaser(Protocol):
    """Samples outputs of a fitted mechanism and writes them as columns."""

    @property
    def draws(self) -> bool:
        """Whether outputs of values seen at fit are random."""

    def sample(self, codes: np.ndarray, random_state: RandomState) -> np.ndarray:
        """Draw an output for every input code; -1 is a value not seen at fit."""

    def names(self, layout: Layout, output: str, rest: Sequence[int]) -> list[str]:
        """Return the names of the released columns."""

    def columns(
        self, table: Table, drawn: np.ndarray, output: str, rest: Sequence[int]
    ) -> dict[str, Any]:
        """Return what :meth:`sample` drew as named columns, followed by the columns ``rest``."""

    def frequencies(self, table: Table, output: str, method: FrequencyMethod) -> FrequencyEstimate:
        """Estimate the distribution of X from released columns."""


class SymbolReleaser:
    """Samples one symbol per row and writes it as a label, a code or a posterior.

    Parameters
    ----------
    result : ChannelResult
        Holds the certified integers to sample, and the channel for names, posteriors and
        frequencies.
    layout : Layout
        Which columns are useful.
    one_column : bool, default=False
        Whether labels of several useful columns are written in one column.
    cells : Cells, optional
        What the useful columns are reduced to.
    types : sequence of ColumnType, default=()
        Types of the useful columns at fit. The released columns have these, so that they say
        nothing about the rows that are released; those of an integer column, for example, depend
        on whether a value is missing.
    """

    def __init__(
        self,
        result: ChannelResult,
        layout: Layout,
        *,
        one_column: bool = False,
        cells: Cells | None = None,
        types: Sequence[ColumnType] = (),
    ) -> None:
        self._types = types
        self._one_column = one_column or len(layout.useful) == 1 or cells is not None
        self._cells = cells
        self._channel = result.channel
        self._p_x = result.joint.p_x
        self._layout = layout
        self._sampler = Sampler(result.certified.weights)

    @cached_property
    def _unseen(self) -> Sampler:
        """Sampler of the distribution of Y, for inputs not seen at fit."""
        p_y = self._channel.p_y(self._p_x)
        return Sampler(quantize(Channel((p_y / p_y.sum())[None, :])))

    @property
    def draws(self) -> bool:
        """Whether outputs of values seen at fit are random."""
        return self._sampler.draws

    def sample(self, codes: np.ndarray, random_state: RandomState) -> np.ndarray:
        """Draw an output for every input code; -1 is a value not seen at fit."""
        seen = codes >= 0
        if seen.all():
            return self._sampler.sample(codes, random_state)
        source = derived_stream(random_state, self._sampler.fingerprint, codes.data)
        result = np.empty_like(codes)
        result[seen] = self._sampler.sample(codes[seen], source)
        result[~seen] = self._unseen.sample(np.zeros_like(codes[~seen]), source)
        return result

    def names(self, layout: Layout, output: str, rest: Sequence[int]) -> list[str]:
        """Return the names of the released columns."""
        useful = layout.useful_names
        stem = "_".join(useful) if self._cells is None else "cell"
        if output == "typical" or (output == "label" and not self._one_column):
            released = useful
        elif output in ("label", "code"):
            released = [stem]
        else:
            released = [f"{stem}_{symbol_text(label)}" for label in self._channel.inputs]
        return [str(n) for n in distinct([*released, *(layout.names[i] for i in rest)])]

    def columns(
        self, table: Table, codes: np.ndarray, output: str, rest: Sequence[int]
    ) -> dict[str, Any]:
        """Return sampled outputs as named columns, followed by the columns ``rest``."""
        if output == "label":
            released: list[Any] = self._label_columns(table, codes)
        elif output == "typical":
            released = self._typical_columns(table, codes)
        elif output == "code":
            released = [codes]
        else:
            n_cells = codes.size * len(self._channel.inputs)
            refuse_beyond(
                MOST_DENSE_CELLS,
                n_cells,
                f"a posterior has a number per row and value, {n_cells:,} in all",
                f"release labels or codes, fewer rows at a time, or {POOL}",
            )
            released = list(self._channel.posterior(self._p_x)[codes].T)
        released.extend(self._layout.column(table, i) for i in rest)
        return dict(zip(self.names(self._layout, output, rest), released, strict=True))

    def frequencies(self, table: Table, output: str, method: FrequencyMethod) -> FrequencyEstimate:
        """Estimate the distribution of X from released columns."""
        codes = self._output_codes(table, output)
        counts = np.bincount(codes, minlength=len(self._channel.outputs)).astype(float)
        return estimate_frequencies(counts, self._channel, self._p_x, method)

    def _output_codes(self, table: Table, output: str) -> np.ndarray:
        """Read released columns back as the numbers of their outputs."""
        if output == "posterior":
            raise InvalidParameterError(
                'Frequencies cannot be estimated from output="posterior"; release labels or codes.'
            )
        if output == "typical" and len(set(self._typical)) < len(self._typical):
            raise InvalidParameterError(
                "Frequencies cannot be estimated from these typical rows, because some outputs "
                "have the same; release labels or codes."
            )
        names = self.names(self._layout, output, ())
        columns = table.pick(names, "released column")
        strange: list[Label] = []
        for known in self._readings(table, output):
            codes, unknown = SymbolEncoder(known).codes(columns)
            if not unknown:
                return codes
            strange = strange or unknown
        raise InvalidParameterError(
            f"{', '.join(names)}: {strange[0]!r} is not an output of this sanitiser."
        )

    def _readings(self, table: Table, output: str) -> Iterator[list[Label]]:
        """Yield the possible forms of the outputs in a table, the likeliest first.

        Released columns may have been converted to another kind of table: a file may turn text
        into numbers, and ``set_output`` makes frames of arrays.
        """
        if output == "code":
            yield list(range(len(self._channel.outputs)))
            return
        if output == "typical":
            yield [row if len(row) > 1 else row[0] for row in self._typical]
            return
        framed = table.frame is not None
        readings = [
            self._label_rows(as_text=framed),
            self._label_rows(as_text=not framed),
            self._typed_rows(self._valued),
        ]
        if self._numbers is not None:
            readings.insert(0 if table.numeric else 1, self._numbers)
        for rows in readings:
            yield [row if len(row) > 1 else row[0] for row in rows]

    def _label_columns(self, table: Table, codes: np.ndarray) -> list[Any]:
        if table.numeric and self._numbers is not None:
            return list(_as_numbers(self._numbers, self._number_type(table))[codes].T)
        if table.frame is None:
            rows = self._label_rows(as_text=False)
            return [LabelColumn(labels, codes) for labels in zip(*rows, strict=True)]
        types = self._types_for(table)
        typed = [ok and kind.keeps for ok, kind in zip(self._valued, types, strict=False)]
        rows = self._typed_rows(typed)
        if len(set(rows)) < len(rows):  # two labels would be equal, such as 1 and '1'
            typed, rows = [False] * len(typed), self._label_rows(as_text=True)
        return [
            LabelColumn(labels, codes, like=kind if keep else None)
            for labels, keep, kind in zip(zip(*rows, strict=True), typed, types, strict=False)
        ]

    def _typical_columns(self, table: Table, codes: np.ndarray) -> list[Any]:
        if table.numeric:
            return list(_as_numbers(self._typical, self._number_type(table))[codes].T)
        return [
            LabelColumn(values, codes, like=kind)
            for values, kind in zip(
                zip(*self._typical, strict=True), self._types_for(table), strict=True
            )
        ]

    def _types_for(self, table: Table) -> list[ColumnType]:
        """Return the types of released columns: those of fit, in the same kind of data frame."""
        here = [ColumnType.of(column) for column in self._layout.useful_columns(table)]
        return [
            at_fit.in_frame(found) for at_fit, found in zip(self._types or here, here, strict=True)
        ]

    def _number_type(self, table: Table) -> np.dtype:
        """Return the type of a released array of numbers: that of fit, if it was one."""
        at_fit = [kind.dtype for kind in self._types if kind.backend is None]
        known = bool(at_fit) and at_fit[0].kind in "biuf"
        return at_fit[0] if known else table.array.dtype

    @cached_property
    def _typical(self) -> list[tuple[Label, ...]]:
        """A typical row for each output."""
        return typical_rows(self._channel, self._p_x, self._cells)

    @cached_property
    def _valued(self) -> list[bool]:
        """Tell for each released column whether its labels are all values of the useful column."""
        values = [set(part) for part in zip(*map(as_parts, self._channel.inputs), strict=True)]
        labels = [set(part) for part in zip(*self._label_rows(as_text=False), strict=True)]
        if len(values) != len(labels):
            return [False] * len(labels)
        return [found <= known for found, known in zip(labels, values, strict=True)]

    def _typed_rows(self, typed: Sequence[bool]) -> list[tuple[Label, ...]]:
        """Return the labels of the outputs: values in ``typed`` columns, text in others."""
        texts, values = self._label_rows(as_text=True), self._label_rows(as_text=False)
        return [
            tuple(v if keep else t for t, v, keep in zip(text, value, typed, strict=True))
            for text, value in zip(texts, values, strict=True)
        ]

    def _label_rows(self, as_text: bool) -> list[tuple[Label, ...]]:
        """Return the labels of each output, one per released column."""
        symbols = set(self._channel.inputs)
        rows = [self._label_row(y) for y in range(len(self._channel.outputs))]
        # Joint symbols written in one column also have made-up names.
        made_up = [
            output not in symbols or as_parts(output) != row
            for output, row in zip(self._channel.outputs, rows, strict=True)
        ]
        if as_text:
            texts = [tuple(_as_text(part) for part in row) for row in rows]
            made_up = [
                new or text != row for new, text, row in zip(made_up, texts, rows, strict=True)
            ]
            rows = texts
        return distinct_rows(rows, made_up)

    def _label_row(self, y: int) -> tuple[Label, ...]:
        output = self._channel.outputs[y]
        if self._one_column:
            return (symbol_text(output) if isinstance(output, tuple) else output,)
        if isinstance(output, tuple):
            return output
        columns = self._by_output
        entries = slice(columns.indptr[y], columns.indptr[y + 1])
        members = columns.indices[entries]
        masses = columns.data[entries] * self._p_x[members]
        # The certificate may have mixed a little of every symbol into every output.
        members = members[masses > _NAMED * masses.max()]
        parts = zip(*(self._channel.inputs[x] for x in members), strict=True)
        return tuple(group_label(sort_symbols(set(part))) for part in parts)

    @cached_property
    def _by_output(self) -> Any:
        return self._channel.sparse.tocsc()

    @cached_property
    def _numbers(self) -> list[tuple[Label, ...]] | None:
        """A different input symbol for each output, if all are numbers, else None.

        An array of numbers cannot hold names such as "{1, 2}", so each output is represented by
        one of its symbols, as by the super-symbols of the papers.
        """
        rows = [as_parts(symbol) for symbol in self._channel.inputs]
        if not all(part is None or isinstance(part, Real) for row in rows for part in row):
            return None
        if self._one_column and len(rows[0]) > 1:
            return None
        if len(self._channel.outputs) > len(rows):  # where S is seen; the matching drops some
            return None
        joint = csr_array(diags_array(self._p_x) @ self._channel.sparse)
        try:
            outputs, inputs = min_weight_full_bipartite_matching(joint.T.tocsr(), maximize=True)
        except ValueError:
            return None  # there is no matching
        return [rows[x] for x in inputs[np.argsort(outputs)]]


def _as_text(label: Label) -> Label:
    return None if label is None else str(label)


def _as_numbers(rows: Sequence[tuple[Label, ...]], dtype: np.dtype) -> np.ndarray:
    """Write rows of numbers, None as NaN, in the given type or one that holds them all."""
    if any(part is None for row in rows for part in row) and dtype.kind != "f":
        dtype = np.dtype(float)
    values = [[np.nan if part is None else part for part in row] for row in rows]
    try:
        cast = np.array(values, dtype=dtype)
    except OverflowError:
        return np.array(values)
    exact = all(
        found == part or part is None
        for found_row, row in zip(cast.tolist(), rows, strict=True)
        for found, part in zip(found_row, row, strict=True)
    )
    return cast if exact else np.array(values)


def distinct_rows(
    rows: Sequence[tuple[Label, ...]], made_up: Sequence[bool]
) -> list[tuple[Label, ...]]:
    """Make rows of labels distinct by numbering made-up rows that are already taken.

    Like :func:`skliftpriv.channel.distinct`, with the number in the first column.
    """
    taken = {row for row, new in zip(rows, made_up, strict=True) if not new}
    result = []
    for row, new in zip(rows, made_up, strict=True):
        name, number = row, 1
        while new and name in taken:
            number += 1
            name = (f"{symbol_text(row[0])} ({number})", *row[1:])
        taken.add(name)
        result.append(name)
    return result
