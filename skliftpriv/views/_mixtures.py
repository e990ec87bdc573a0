"""Names of mixtures of cells by the numbers of the cells, whose rules the page lists."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .._arrays import FloatArray, Label
from .._format import share
from ..labels import NumberedLabel, distinct, symbol_text

__all__ = ["mixture_name", "short_outputs"]

#: Smaller shares of an output are due to the certificate, and not named.
_NAMED = 1e-6
_MEMBERS = 3


def mixture_name(symbols: Sequence[Label], masses: FloatArray) -> str:
    """Name an output by the most probable symbols that it may stand for: ``{#07 60%, #12 40%}``.

    Parameters
    ----------
    symbols : sequence of labels
        The symbols; numbered ones are named by their numbers.
    masses : ndarray
        Probability of each symbol together with the output.
    """
    shares = masses / masses.sum()
    members = np.flatnonzero(shares > _NAMED)
    members = members[np.argsort(-shares[members], kind="stable")]
    names = [
        x.number if isinstance(x, NumberedLabel) else symbol_text(x)
        for x in (symbols[int(i)] for i in members)
    ]
    if members.size == 1:
        return names[0]
    shown = [
        f"{name} {share(float(shares[i]), whole=True)}"
        for i, name in zip(members[:_MEMBERS], names, strict=False)
    ]
    more = [f"{members.size - _MEMBERS} more"] if members.size > _MEMBERS else []
    return "{" + ", ".join(shown + more) + "}"


def short_outputs(
    symbols: Sequence[Label], outputs: Sequence[Label], flows: FloatArray
) -> tuple[Label, ...]:
    """Name outputs by the numbers of the symbols they stand for, if these have numbers.

    Parameters
    ----------
    symbols, outputs : sequence of labels
        Inputs and outputs; an output that is a symbol keeps its name.
    flows : ndarray of shape (n_symbols, n_outputs)
        Probability of each symbol together with each output.
    """
    if not all(isinstance(symbol, NumberedLabel) for symbol in symbols):
        return tuple(outputs)
    plain = set(symbols)
    made_up = [output not in plain for output in outputs]
    names: list[Label] = [
        mixture_name(symbols, column) if new and column.any() else output
        for output, new, column in zip(outputs, made_up, flows.T, strict=True)
    ]
    return tuple(distinct(names, made_up))
