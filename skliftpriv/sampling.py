"""Draw outputs from integer weights, with exactly the certified probabilities."""

from __future__ import annotations

import os
from collections.abc import Callable
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from ._limits import MOST_CHANNEL_CELLS, POOL, refuse_beyond
from .certificate import TOTAL, TOTAL_BITS, Weights

__all__ = ["RandomState", "Sampler", "derived_stream", "word_source"]

Codes = NDArray[np.intp]
Words = NDArray[np.uint32]
Integers = NDArray[np.int64]
Buffer = bytes | memoryview
RandomState = int | np.random.RandomState | np.random.Generator | None

_WORD_BITS = 32
_REST_BITS = TOTAL_BITS - _WORD_BITS
# Rows processed at once, so that intermediate arrays stay in the processor's cache.
_CHUNK = 1 << 15
_KEY_BYTES = 32
_SHIFT = np.uint64(_WORD_BITS)


def word_source(random_state: RandomState, *context: Buffer) -> Callable[[int], Words]:
    """Return a function that draws n random 32-bit words.

    None draws from the operating system's cryptographic generator; only this is private. A seed,
    a RandomState or a Generator makes the draw reproducible. The draw then also depends on
    ``context``, so one seed gives unrelated noise for different mechanisms and different rows, and
    trying seeds does not help an attacker who cannot guess all the rows.

    Parameters
    ----------
    random_state : int, RandomState, Generator or None
        The seed. A RandomState or Generator advances with every call.
    *context : bytes or memoryview
        What the noise is used for: the mechanism and the inputs.
    """
    stream = derived_stream(random_state, *context)
    draw = os.urandom if stream is None else stream.bytes
    return lambda n: np.frombuffer(draw(4 * n), dtype=np.uint32)


def derived_stream(random_state: RandomState, *context: Buffer) -> np.random.Generator | None:
    """Return a generator for one use of a seed, or None for None; see :func:`word_source`."""
    if random_state is None:
        return None
    if isinstance(random_state, np.random.RandomState | np.random.Generator):
        secret = random_state.bytes(_KEY_BYTES)
    else:
        secret = str(int(random_state)).encode()
    digest = blake2b(digest_size=_KEY_BYTES)
    for part in (secret, *context):
        # The length comes first, so that different contexts never give the same bytes.
        digest.update(memoryview(part).nbytes.to_bytes(8, "big"))
        digest.update(part)
    return np.random.default_rng(int.from_bytes(digest.digest(), "big"))


class Sampler:
    """Draw outputs from integer weights by the alias method in integer arithmetic.

    Each row is cut into equally likely slots, a power of two of them, that hold at most two
    outputs each. Some bits of a random 32-bit word choose the slot, and the rest decide between
    its two outputs; in the rare case of a tie a second word gives the other 30 of the 62 bits.
    Nothing is rounded: output y has probability weights[x, y] / 2^62 exactly.

    Parameters
    ----------
    weights : csr_array of int64, shape (n_inputs, n_outputs)
        Rows sum to 2^62, as made by :func:`skliftpriv.certificate.quantize`.
    """

    def __init__(self, weights: Weights) -> None:
        self.n_inputs, self.n_outputs = weights.shape
        counts = np.diff(weights.indptr)
        self._slot_bits = int(counts.max() - 1).bit_length()
        n_cells = self.n_inputs << self._slot_bits
        refuse_beyond(
            2 * MOST_CHANNEL_CELLS,
            n_cells,
            f"the sampling table of {self.n_inputs:,} inputs has {n_cells:,} cells",
            f"use a mechanism with fewer outputs per value, or {POOL}",
        )
        # The outputs of each row side by side, padded with outputs of weight zero.
        row = np.repeat(np.arange(self.n_inputs), counts)
        place = np.arange(weights.nnz) - np.repeat(weights.indptr[:-1], counts)
        padded = np.zeros((self.n_inputs, 1 << self._slot_bits), dtype=np.int64)
        padded[row, place] = weights.data
        outputs = np.zeros(padded.shape, dtype=np.int32)
        outputs[row, place] = weights.indices
        cut, alias = _alias_table(padded, TOTAL >> self._slot_bits)
        #: Distinguishes mechanisms when noise comes from a seed.
        self.fingerprint = _fingerprint(weights)
        self._cut_high = (cut >> _REST_BITS).ravel()
        self._cut_low = (cut & ((1 << _REST_BITS) - 1)).ravel()
        self._first = outputs.ravel()
        self._second = np.take_along_axis(outputs, alias, axis=1).ravel()

    @property
    def draws(self) -> bool:
        """Whether outputs are random: False if every input has only one output."""
        return self._slot_bits > 0

    def sample(self, codes: Codes, random_state: RandomState = None) -> Codes:
        """Draw one output for each input code.

        Parameters
        ----------
        codes : ndarray of int, shape (n,)
            Codes of the inputs, 0 to n_inputs - 1.
        random_state : int, RandomState, Generator or None, default=None
            None for the operating system's generator; see :func:`word_source`. With a seed the
            same codes give the same outputs; other codes or weights give unrelated noise.

        Returns
        -------
        ndarray of intp, shape (n,)
        """
        codes = np.ascontiguousarray(codes, dtype=np.intp)
        if not self.draws:
            return self._first[codes].astype(np.intp)
        words = word_source(random_state, self.fingerprint, codes.data)

        def draw(part: slice) -> Codes:
            here = codes[part]
            return self._chosen(here, words(here.size), lambda tie: words(tie.size))

        return _in_chunks(draw, codes.size)

    def sample_at(self, codes: Codes, bits: NDArray[np.uint64]) -> Codes:
        """Choose the output of each input code by 64 bits of its own.

        Random bits give output y with probability weights[x, y] / 2^62 exactly; the same bits
        always give the same output.

        .. versionadded:: 0.2

        Parameters
        ----------
        codes : ndarray of int, shape (n,)
            Codes of the inputs.
        bits : ndarray of uint64, shape (n,)
            Of which 62 are used.
        """
        if not self.draws:
            return self._first[codes].astype(np.intp)

        def draw(part: slice) -> Codes:
            word, rest = (bits[part] >> _SHIFT).astype(np.uint32), bits[part].astype(np.uint32)
            return self._chosen(codes[part], word, rest.__getitem__)

        return _in_chunks(draw, codes.size)

    def _chosen(self, codes: Codes, words: Words, more: Callable[[Codes], Words]) -> Codes:
        """Choose outputs by 32-bit words; ``more`` returns words for rows that need a second."""
        word = words.astype(np.int64)
        low_bits = _WORD_BITS - self._slot_bits
        slot = (codes << self._slot_bits) + (word >> low_bits)
        word &= (1 << low_bits) - 1
        cut = self._cut_high[slot]
        below = word < cut
        tie = np.flatnonzero(word == cut)
        if tie.size:
            rest = more(tie) >> np.uint32(_WORD_BITS - _REST_BITS)
            below[tie] = rest < self._cut_low[slot[tie]]
        return np.where(below, self._first[slot], self._second[slot])


def _in_chunks(draw: Callable[[slice], Codes], size: int) -> Codes:
    result = np.empty(size, dtype=np.intp)
    for start in range(0, size, _CHUNK):
        part = slice(start, start + _CHUNK)
        result[part] = draw(part)
    return result


def _alias_table(weights: Integers, slot_size: int) -> tuple[Integers, Codes]:
    """Cut every row into slots of equal size with at most two outputs each, exactly.

    Slot k holds output k up to ``cut[k]`` and output ``alias[k]`` above. All rows advance
    together: each step fills one slot from an output that has more than one slot's share.
    """
    n_rows, n_slots = weights.shape
    rows = np.arange(n_rows)
    order = np.argsort(weights, axis=1, kind="stable")
    left = weights.copy()
    cut = np.full(weights.shape, slot_size, dtype=np.int64)
    alias = np.tile(np.arange(n_slots), (n_rows, 1))
    small = np.zeros(n_rows, dtype=np.intp)
    large = np.argmax(np.take_along_axis(weights, order, axis=1) > slot_size, axis=1)
    current = order[:, 0].copy()
    for _ in range(n_slots):
        active = left[rows, current] < slot_size
        if not active.any():
            break
        r = rows[active]
        poor, rich = current[r], order[r, large[r]]
        cut[r, poor], alias[r, poor] = left[r, poor], rich
        left[r, rich] -= slot_size - left[r, poor]
        left[r, poor] = slot_size
        # An output that has given away too much is the next to be filled.
        exhausted = left[r, rich] < slot_size
        small[r[~exhausted]] += 1
        large[r[exhausted]] = np.minimum(large[r[exhausted]] + 1, n_slots - 1)
        current[r] = np.where(exhausted, rich, order[r, np.minimum(small[r], n_slots - 1)])
    return cut, alias


def _fingerprint(weights: Weights) -> bytes:
    digest = blake2b(repr(weights.shape).encode(), digest_size=_KEY_BYTES)
    for part in (weights.indptr, weights.indices, weights.data):
        digest.update(part.astype(np.int64).tobytes())
    return digest.digest()
