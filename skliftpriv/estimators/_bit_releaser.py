"""Write unary encodings as released columns: bits, sets or posteriors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._limits import (
    MOST_DENSE_CELLS,
    MOST_NAMED_BITS,
    MOST_RELEASED_BITS,
    POOL,
    refuse_beyond,
)
from ..certificate import TOTAL, quantize
from ..channel import Channel, distinct, set_labels, symbol_text
from ..exceptions import InvalidParameterError
from ..frames import LabelColumn, Table
from ..frequencies import FrequencyEstimate, FrequencyMethod, estimate_unary_frequencies
from ..mechanisms import UnaryResult
from ..sampling import RandomState, Sampler, derived_stream
from ._layout import Layout

__all__ = ["BitReleaser"]

# Drawing bits takes more memory than storing them, so they are drawn in parts.
_BITS_AT_ONCE = 1 << 22


class BitReleaser:
    """Samples a bit per symbol and writes the bits as columns.

    Parameters
    ----------
    result : UnaryResult
        The mechanism to sample from.
    layout : Layout
        Which columns are useful.
    """

    def __init__(self, result: UnaryResult, layout: Layout) -> None:
        self._symbols = result.joint.useful_labels
        self._p_x = result.joint.p_x
        self._noise_weight = result.noise_weight
        self._layout = layout
        self._bit = Sampler(result.bit_weights)
        # An unseen value is replaced by a draw from P_X before it is encoded.
        self._anyone = Sampler(quantize(Channel(self._p_x[None, :] / self._p_x.sum())))

    @property
    def draws(self) -> bool:
        """Whether anything is drawn: always, as the bit of the true value is random."""
        return True

    def sample(self, codes: np.ndarray, random_state: RandomState) -> np.ndarray:
        """Draw the bits of every input code; the result has shape (n_rows, n_symbols)."""
        self._refuse_many_bits(MOST_RELEASED_BITS, codes.size, "bits")
        # One stream for all parts, so parts with the same codes do not get the same noise.
        source = derived_stream(random_state, self._bit.fingerprint, codes.data)
        unseen = codes < 0
        codes = codes.copy()
        codes[unseen] = self._anyone.sample(np.zeros(unseen.sum(), dtype=np.intp), source)
        bits = np.empty((codes.size, len(self._symbols)), dtype=np.int8)
        at_once = max(_BITS_AT_ONCE // len(self._symbols), 1)
        for start in range(0, codes.size, at_once):
            part = codes[start : start + at_once]
            own = np.equal.outer(part, np.arange(len(self._symbols)))
            bits[start : start + at_once] = self._bit.sample(own.ravel(), source).reshape(own.shape)
        return bits

    def names(self, layout: Layout, output: str, rest: Sequence[int]) -> list[str]:
        """Return the names of the released columns."""
        stem = "_".join(layout.useful_names)
        if output == "label":
            released = [stem]
        else:
            released = [f"{stem}_{symbol_text(label)}" for label in self._symbols]
        return [str(n) for n in distinct([*released, *(layout.names[i] for i in rest)])]

    def columns(
        self, table: Table, bits: np.ndarray, output: str, rest: Sequence[int]
    ) -> dict[str, Any]:
        """Return the bits as named columns, followed by the columns ``rest`` of the table."""
        if output == "label":
            self._refuse_many_bits(MOST_NAMED_BITS, len(bits), "bits to name sets of")
            released: list[Any] = [self._sets(bits)]
        elif output == "bits":
            released = list(bits.T)
        else:
            self._refuse_many_bits(MOST_DENSE_CELLS, len(bits), "posterior probabilities")
            released = list(self._posterior(bits).T)
        released.extend(self._layout.column(table, i) for i in rest)
        return dict(zip(self.names(self._layout, output, rest), released, strict=True))

    def _refuse_many_bits(self, limit: int, n_rows: int, what: str) -> None:
        cells = n_rows * len(self._symbols)
        refuse_beyond(
            limit,
            cells,
            f"{n_rows:,} rows of {len(self._symbols):,} values each are {cells:,} {what}",
            f"transform fewer rows at a time, or {POOL}",
        )

    def _sets(self, bits: np.ndarray) -> LabelColumn:
        rows, codes = np.unique(bits.astype(bool), axis=0, return_inverse=True)
        return LabelColumn(set_labels(self._symbols, rows), codes.reshape(-1))

    def _posterior(self, bits: np.ndarray) -> np.ndarray:
        """Return P(X=x | bits), proportional to P(x) (1 + k bit_x)."""
        if self._noise_weight == 0:
            # Without noise a 1 marks the true value, and all zeros say nothing about it.
            return np.where(bits.any(axis=1, keepdims=True), bits, self._p_x).astype(float)
        k = (TOTAL - 2 * self._noise_weight) / self._noise_weight
        weight = self._p_x * (1 + k * bits)
        return np.asarray(weight / weight.sum(axis=1, keepdims=True))

    def frequencies(self, table: Table, output: str, method: FrequencyMethod) -> FrequencyEstimate:
        """Estimate the distribution of X from released bits."""
        if output != "bits":
            raise InvalidParameterError(
                f'Frequencies are estimated from output="bits", not from output={output!r}.'
            )
        names = self.names(self._layout, output, ())
        columns = [np.asarray(column) for column in table.pick(names, "released column")]
        for name, column in zip(names, columns, strict=True):
            if not np.isin(column, (0, 1)).all():
                raise InvalidParameterError(f"{name} must hold bits, 0 or 1: pass a release.")
        bits = np.column_stack(columns).astype(bool)
        noise = self._noise_weight / TOTAL
        return estimate_unary_frequencies(bits, self._symbols, noise, self._p_x, method)
