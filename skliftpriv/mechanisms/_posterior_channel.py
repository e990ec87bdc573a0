"""The channel whose outputs have given posteriors, and what these outputs are called."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array

from .._arrays import FloatArray, Label
from .._format import share
from ..channel import Channel
from ..distribution import JointDistribution
from ..labels import distinct, short_text

__all__ = ["named_outputs", "posterior_channel", "posterior_label", "posterior_labels"]

_NAMED = 1e-9
"""Symbols with a smaller share of an output are due to rounding and not named."""


def posterior_channel(
    joint: JointDistribution, weights: FloatArray, posteriors: FloatArray | csr_array
) -> Channel:
    """Return the channel whose outputs have these weights and posteriors, named after them."""
    posteriors = csr_array(posteriors)
    named, order = named_outputs(joint.useful_labels, posteriors)
    weights, posteriors = weights[order], posteriors[order]
    matrix = csr_array((diags_array(weights) @ posteriors).T)
    matrix = csr_array(diags_array(1 / matrix.sum(axis=1)) @ matrix)
    return Channel(matrix, joint.useful_labels, named)


def named_outputs(
    symbols: Sequence[Label], posteriors: csr_array
) -> tuple[list[Label], NDArray[np.intp]]:
    """Return names of outputs, ordered by their most probable symbol, and the order.

    So the same data give the same order.
    """
    main, largest = posteriors.argmax(axis=1), posteriors.max(axis=1).toarray()
    order = np.lexsort((-largest, main))
    return posterior_labels(symbols, posteriors[order]), order


def posterior_labels(symbols: Sequence[Label], posteriors: FloatArray | csr_array) -> list[Label]:
    """Name outputs after the symbols they may stand for; all names differ.

    The first output that stands for a single symbol has the name of the symbol.
    """
    rows = csr_array(posteriors)
    names: list[Label] = []
    made_up: list[bool] = []
    plain: set[Label] = set()
    for start, stop in pairwise(rows.indptr):
        members, shares = rows.indices[start:stop], rows.data[start:stop]
        names.append(posterior_label([symbols[i] for i in members], shares))
        one = (shares > _NAMED).sum() == 1 and names[-1] not in plain
        made_up.append(not one)
        if one:
            plain.add(names[-1])
    return distinct(names, made_up)


def posterior_label(symbols: Sequence[Label], posterior: FloatArray, most: int = 3) -> Label:
    """Name an output after the symbols it may stand for, the most probable first.

    A single symbol is its own name; otherwise the name looks like ``{Sales 62%, Tech 38%}``.
    """
    order = np.argsort(-posterior, kind="stable")
    members = order[posterior[order] > _NAMED]
    if members.size == 1:
        return symbols[members[0]]
    shown = [f"{short_text(symbols[i])} {share(posterior[i], whole=True)}" for i in members[:most]]
    more = [f"{members.size - most} more"] if members.size > most else []
    return "{" + ", ".join(shown + more) + "}"
