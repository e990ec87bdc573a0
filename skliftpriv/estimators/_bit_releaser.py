"""Write unary encodings as released columns: bits, sets or posteriors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from .._arrays import FloatArray, Label
from .._limits import (
    MOST_DENSE_CELLS,
    MOST_NAMED_BITS,
    MOST_RELEASED_BITS,
    POOL,
    refuse_beyond,
)
from ..certificate import TOTAL, Weights, quantize
from ..channel import Channel
from ..exceptions import InvalidParameterError
from ..frames import LabelColumn, Table
from ..frequencies import FrequencyEstimate, FrequencyMethod, estimate_unary_frequencies
from ..labels import distinct, set_labels, symbol_text
from ..mechanisms import UnaryResult
from ..sampling import RandomState, Sampler, derived_stream
from ._layout import Layout
from ._releaser import BitsOf

__all__ = ["BitReleaser"]

# Drawing bits takes more memory than storing them, so they are drawn in parts.
_BITS_AT_ONCE = 1 << 22


class BitReleaser:
    """Samples a bit per symbol and writes the bits as columns.

    Parameters
    ----------
    bit_weights : csr_array of int64, shape (2, 2)
        The certified integers to sample: for the bit of another symbol, and of the true one.
    symbols : sequence of labels
        The symbols of X.
    p_x : ndarray
        Distribution of X.
    layout : Layout
        Which columns are useful.
    """

    forms = ("bits", "label", "posterior")

    def __init__(
        self, bit_weights: Weights, symbols: Sequence[Label], p_x: FloatArray, layout: Layout
    ) -> None:
        self.symbols = tuple(symbols)
        self.p_x = p_x
        self.layout = layout
        self.noise_weight = int(bit_weights[0, 1])
        self.bit_weights = bit_weights
        self._bit = Sampler(bit_weights)
        # An unseen value is replaced by a draw from P_X before it is encoded.
        self._anyone = Sampler(quantize(Channel(self.p_x[None, :] / self.p_x.sum())))

    @classmethod
    def of(cls, result: UnaryResult, layout: Layout) -> Self:
        """Take what is needed from the result of the mechanism."""
        return cls(result.bit_weights, result.joint.useful_labels, result.joint.p_x, layout)

    @property
    def draws(self) -> bool:
        """Whether anything is drawn: always, as the bit of the true value is random."""
        return True

    @property
    def fingerprint(self) -> bytes:
        """Digest of what is sampled."""
        return self._bit.fingerprint

    def sample(self, codes: np.ndarray, random_state: RandomState) -> np.ndarray:
        """Draw the bits of every input code; the result has shape (n_rows, n_symbols)."""
        self._refuse_many_bits(MOST_RELEASED_BITS, codes.size, "bits")
        # One stream for all parts, so parts with the same codes do not get the same noise.
        source = derived_stream(random_state, self._bit.fingerprint, codes.data)
        unseen = codes < 0
        codes = codes.copy()
        codes[unseen] = self._anyone.sample(np.zeros(unseen.sum(), dtype=np.intp), source)
        bits = np.empty((codes.size, len(self.symbols)), dtype=np.int8)
        at_once = max(_BITS_AT_ONCE // len(self.symbols), 1)
        for start in range(0, codes.size, at_once):
            part = codes[start : start + at_once]
            own = np.equal.outer(part, np.arange(len(self.symbols)))
            bits[start : start + at_once] = self._bit.sample(own.ravel(), source).reshape(own.shape)
        return bits

    def sample_by(self, codes: np.ndarray, bits: BitsOf) -> np.ndarray:
        """Choose the bits of every input code by bits of its record, others for each symbol."""
        self._refuse_many_bits(MOST_RELEASED_BITS, codes.size, "bits")
        unseen = codes < 0
        if unseen.any():
            codes = codes.copy()
            drawn = bits(b"value")[unseen]
            codes[unseen] = self._anyone.sample_at(np.zeros(drawn.size, dtype=np.intp), drawn)
        chosen = np.empty((codes.size, len(self.symbols)), dtype=np.int8)
        for symbol in range(len(self.symbols)):
            own = (codes == symbol).astype(np.intp)
            chosen[:, symbol] = self._bit.sample_at(own, bits(b"bit", symbol.to_bytes(8, "big")))
        return chosen

    def names(self, layout: Layout, output: str, rest: Sequence[int]) -> list[str]:
        """Return the names of the released columns."""
        stem = "_".join(layout.useful_names)
        if output == "label":
            released = [stem]
        else:
            released = [f"{stem}_{symbol_text(label)}" for label in self.symbols]
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
        released.extend(self.layout.column(table, i) for i in rest)
        return dict(zip(self.names(self.layout, output, rest), released, strict=True))

    def _refuse_many_bits(self, limit: int, n_rows: int, what: str) -> None:
        cells = n_rows * len(self.symbols)
        refuse_beyond(
            limit,
            cells,
            f"{n_rows:,} rows of {len(self.symbols):,} values each are {cells:,} {what}",
            f"transform fewer rows at a time, or {POOL}",
        )

    def _sets(self, bits: np.ndarray) -> LabelColumn:
        rows, codes = np.unique(bits.astype(bool), axis=0, return_inverse=True)
        return LabelColumn(set_labels(self.symbols, rows), codes.reshape(-1))

    def _posterior(self, bits: np.ndarray) -> np.ndarray:
        """Return P(X=x | bits), proportional to P(x) (1 + k bit_x)."""
        if self.noise_weight == 0:
            # Without noise a 1 marks the true value, and all zeros say nothing about it.
            return np.where(bits.any(axis=1, keepdims=True), bits, self.p_x).astype(float)
        k = (TOTAL - 2 * self.noise_weight) / self.noise_weight
        weight = self.p_x * (1 + k * bits)
        return np.asarray(weight / weight.sum(axis=1, keepdims=True))

    def frequencies(self, table: Table, output: str, method: FrequencyMethod) -> FrequencyEstimate:
        """Estimate the distribution of X from released bits."""
        if output != "bits":
            raise InvalidParameterError(
                f'Frequencies are estimated from output="bits", not from output={output!r}.'
            )
        names = self.names(self.layout, output, ())
        columns = [np.asarray(column) for column in table.pick(names, "released column")]
        for name, column in zip(names, columns, strict=True):
            if not np.isin(column, (0, 1)).all():
                raise InvalidParameterError(f"{name} must hold bits, 0 or 1: pass a release.")
        bits = np.column_stack(columns).astype(bool)
        noise = self.noise_weight / TOTAL
        return estimate_unary_frequencies(bits, self.symbols, noise, self.p_x, method)
