"""Sample certified weights and write released columns: labels, codes, posteriors, typical rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any, Protocol, Self, TypeAlias

import numpy as np

from .._arrays import FloatArray, Label
from .._limits import MOST_DENSE_CELLS, POOL, refuse_beyond
from ..cells import Cells
from ..certificate import Weights, quantize
from ..channel import Channel
from ..exceptions import InvalidParameterError
from ..frames import ColumnType, LabelColumn, SymbolEncoder, Table
from ..frequencies import FrequencyEstimate, FrequencyMethod, estimate_frequencies
from ..labels import distinct, symbol_text
from ..mechanisms import ChannelResult
from ..sampling import RandomState, Sampler, derived_stream
from ._layout import Layout
from ._output_labels import OutputLabels, as_number_array
from ._typical import typical_rows

__all__ = ["BitsOf", "Releaser", "SymbolReleaser"]


#: Returns 64 bits for every row, for a purpose.
BitsOf: TypeAlias = Callable[..., np.ndarray]


class Releaser(Protocol):
    """Samples outputs of a fitted mechanism and writes them as columns."""

    @property
    def forms(self) -> tuple[str, ...]:
        """The values of ``output`` that it can write."""

    @property
    def p_x(self) -> FloatArray:
        """Distribution of X."""

    @property
    def draws(self) -> bool:
        """Whether outputs of values seen at fit are random."""

    @property
    def fingerprint(self) -> bytes:
        """Digest of what is sampled."""

    def sample(self, codes: np.ndarray, random_state: RandomState) -> np.ndarray:
        """Draw an output for every input code; -1 is a value not seen at fit."""

    def sample_by(self, codes: np.ndarray, bits: BitsOf) -> np.ndarray:
        """Choose an output for every input code by bits of its record.

        ``bits`` takes the purpose of the bits, and returns 64 of them for every row.
        """

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
    weights : csr_array of int64
        The certified integers to sample, with a row for every input of the mechanism.
    channel : Channel
        P(Y|X), for names, posteriors and frequencies.
    p_x : ndarray
        Distribution of X.
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
    typical : sequence of tuples, optional
        A typical row for each output, if cells do not know what they hold.
    drawn : csr_array of int64, optional
        Integer weights of a draw from the distribution of Y, in one row, for values not seen at
        fit; by default they follow from ``channel`` and ``p_x``.
    pool : label, optional
        The symbol of X that stands for rare values, which is not a value of the columns.
    """

    forms = ("label", "code", "posterior", "typical")

    def __init__(
        self,
        weights: Weights,
        channel: Channel,
        p_x: FloatArray,
        layout: Layout,
        *,
        one_column: bool = False,
        cells: Cells | None = None,
        types: Sequence[ColumnType] = (),
        typical: Sequence[tuple[Label, ...]] | None = None,
        drawn: Weights | None = None,
        pool: Label = None,
    ) -> None:
        self.types = types
        if typical is not None:
            self.__dict__["typical"] = list(typical)  # in place of what would be computed
        self.one_column = one_column or len(layout.useful) == 1 or cells is not None
        self.cells = cells
        self.channel = channel
        self.p_x = p_x
        self.layout = layout
        self.weights = weights
        self.drawn = drawn
        self.pool = pool
        self._sampler = Sampler(weights)
        self._labels = OutputLabels(channel, p_x, one_column=self.one_column, pool=pool)

    @classmethod
    def of(cls, result: ChannelResult, layout: Layout, **options: Any) -> Self:
        """Take what is needed from the result of a mechanism, and leave the counts of S there."""
        options["drawn"] = result.drawn_weights
        weights = result.certified.weights
        return cls(weights, result.channel, result.joint.p_x, layout, **options)

    @cached_property
    def _unseen(self) -> Sampler:
        """Sampler of the distribution of Y, for inputs not seen at fit."""
        if self.drawn is not None:
            return Sampler(self.drawn)
        p_y = self.channel.p_y(self.p_x)
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

    @property
    def fingerprint(self) -> bytes:
        """Digest of what is sampled."""
        return self._sampler.fingerprint

    def sample_by(self, codes: np.ndarray, bits: BitsOf) -> np.ndarray:
        """Choose an output for every input code by bits of its record."""
        return self.sample_at(codes, bits())

    def sample_at(self, codes: np.ndarray, bits: np.ndarray) -> np.ndarray:
        """Choose an output for every input code by 64 bits; -1 is a value not seen at fit."""
        seen = codes >= 0
        if seen.all():
            return self._sampler.sample_at(codes, bits)
        result = np.empty_like(codes)
        result[seen] = self._sampler.sample_at(codes[seen], bits[seen])
        result[~seen] = self._unseen.sample_at(np.zeros_like(codes[~seen]), bits[~seen])
        return result

    def names(self, layout: Layout, output: str, rest: Sequence[int]) -> list[str]:
        """Return the names of the released columns."""
        useful = layout.useful_names
        stem = "_".join(useful) if self.cells is None else "cell"
        if output == "typical" or (output == "label" and not self.one_column):
            released = useful
        elif output in ("label", "code"):
            released = [stem]
        else:
            released = [f"{stem}_{symbol_text(label)}" for label in self.channel.inputs]
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
            n_cells = codes.size * len(self.channel.inputs)
            refuse_beyond(
                MOST_DENSE_CELLS,
                n_cells,
                f"a posterior has a number per row and value, {n_cells:,} in all",
                f"release labels or codes, fewer rows at a time, or {POOL}",
            )
            released = list(self.channel.posterior(self.p_x)[codes].T)
        released.extend(self.layout.column(table, i) for i in rest)
        return dict(zip(self.names(self.layout, output, rest), released, strict=True))

    def frequencies(self, table: Table, output: str, method: FrequencyMethod) -> FrequencyEstimate:
        """Estimate the distribution of X from released columns."""
        codes = self._output_codes(table, output)
        counts = np.bincount(codes, minlength=len(self.channel.outputs)).astype(float)
        return estimate_frequencies(counts, self.channel, self.p_x, method)

    def _output_codes(self, table: Table, output: str) -> np.ndarray:
        """Read released columns back as the numbers of their outputs."""
        if output == "posterior":
            raise InvalidParameterError(
                'Frequencies cannot be estimated from output="posterior"; release labels or codes.'
            )
        if output == "typical" and len(set(self.typical)) < len(self.typical):
            raise InvalidParameterError(
                "Frequencies cannot be estimated from these typical rows, because some outputs "
                "have the same; release labels or codes."
            )
        names = self.names(self.layout, output, ())
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
            yield list(range(len(self.channel.outputs)))
            return
        if output == "typical":
            yield [row if len(row) > 1 else row[0] for row in self.typical]
            return
        framed = table.frame is not None
        readings = [
            self._labels.as_rows(as_text=framed),
            self._labels.as_rows(as_text=not framed),
            self._labels.typed_rows(self._labels.valued),
        ]
        if self._labels.numbers is not None:
            readings.insert(0 if table.numeric else 1, self._labels.numbers)
        for rows in readings:
            yield [row if len(row) > 1 else row[0] for row in rows]

    def _label_columns(self, table: Table, codes: np.ndarray) -> list[Any]:
        if table.numeric and self._labels.numbers is not None:
            return list(as_number_array(self._labels.numbers, self._number_type(table))[codes].T)
        if table.frame is None:
            rows = self._labels.as_rows(as_text=False)
            return [LabelColumn(labels, codes) for labels in zip(*rows, strict=True)]
        types = self._types_for(table)
        typed = [ok and kind.keeps for ok, kind in zip(self._labels.valued, types, strict=False)]
        rows = self._labels.typed_rows(typed)
        if len(set(rows)) < len(rows):  # two labels would be equal, such as 1 and '1'
            typed, rows = [False] * len(typed), self._labels.as_rows(as_text=True)
        return [
            LabelColumn(labels, codes, like=kind if keep else None)
            for labels, keep, kind in zip(zip(*rows, strict=True), typed, types, strict=False)
        ]

    def _typical_columns(self, table: Table, codes: np.ndarray) -> list[Any]:
        if table.numeric:
            return list(as_number_array(self.typical, self._number_type(table))[codes].T)
        return [
            LabelColumn(values, codes, like=kind)
            for values, kind in zip(
                zip(*self.typical, strict=True), self._types_for(table), strict=True
            )
        ]

    def _types_for(self, table: Table) -> list[ColumnType]:
        """Return the types of released columns: those of fit, in the same kind of data frame."""
        here = [ColumnType.of(column) for column in self.layout.useful_columns(table)]
        return [
            at_fit.in_frame(found) for at_fit, found in zip(self.types or here, here, strict=True)
        ]

    def _number_type(self, table: Table) -> np.dtype:
        """Return the type of a released array of numbers: that of fit, if it was one."""
        at_fit = [kind.dtype for kind in self.types if kind.backend is None]
        known = bool(at_fit) and at_fit[0].kind in "biuf"
        return at_fit[0] if known else table.array.dtype

    @cached_property
    def typical(self) -> list[tuple[Label, ...]]:
        """A typical row for each output."""
        return typical_rows(self.channel, self.p_x, self.cells, self.pool)
