"""Mechanisms that see S: their inputs are all pairs (s, x), x varying fastest."""

from __future__ import annotations

import numpy as np
from scipy.linalg import block_diag
from scipy.sparse import csr_array, diags_array, vstack

from .._arrays import FloatArray, Label
from .._limits import MERGE, MOST_TABLE_CELLS, refuse_beyond
from ..channel import Channel
from ..distribution import JointDistribution

__all__ = [
    "given_useful",
    "one_useful_each",
    "pair_labels",
    "pair_masses",
    "refuse_many_pairs",
    "released_pairs",
]

_NARROW = 1e-12
"""Outputs with a smaller share of the one that they split are due to rounding."""


def pair_labels(joint: JointDistribution) -> list[Label]:
    """Return the labels (s, x) of all pairs, whether they occur or not."""
    return [(s, x) for s in joint.sensitive_labels for x in joint.useful_labels]


def pair_masses(joint: JointDistribution) -> FloatArray:
    """Return masses of S and the pair (S, X): each pair belongs to one row."""
    refuse_many_pairs(joint)
    return np.asarray(block_diag(*joint.masses))


def refuse_many_pairs(joint: JointDistribution) -> None:
    """Refuse a joint whose table of S against pairs (S, X), most of it zeros, is too large."""
    n_s, n_x = joint.shape
    n = n_s * n_s * n_x
    what = f"the table of S against pairs (S, X) has {n:,} cells"
    refuse_beyond(MOST_TABLE_CELLS, n, what, f"pool rare sensitive values, or {MERGE}")


def released_pairs(joint: JointDistribution, conditional: Channel) -> FloatArray:
    """Return P_SY of a mechanism P(Y|S,X)."""
    return np.asarray(block_diag(*joint.matrix) @ conditional.sparse)


def given_useful(joint: JointDistribution, conditional: Channel) -> Channel:
    """Return P(Y|X), averaged over S."""
    n_s, n_x = joint.shape
    # P(s|x) in row x and column (s, x).
    given_x = (joint.matrix / joint.p_x).ravel()
    place = (np.tile(np.arange(n_x), n_s), np.arange(n_s * n_x))
    matrix = csr_array((given_x, place), shape=(n_x, n_s * n_x)) @ conditional.sparse
    matrix = diags_array(1 / matrix.sum(axis=1)) @ matrix
    return Channel(matrix, joint.useful_labels, conditional.outputs)


def one_useful_each(joint: JointDistribution, posteriors: FloatArray) -> csr_array:
    """Split outputs of a mechanism that sees X into outputs with one x for each s.

    Given an output, each s lays out its values of x on [0, 1), in intervals of length P(x|s,y) and
    in the same order. Between two neighbouring ends of intervals every s has one x. A second
    output that says between which ends a uniform number lies is independent of S, so lifts stay
    the same, and both outputs together say at least as much as the first.

    Parameters
    ----------
    joint : JointDistribution
        Distribution of S and X.
    posteriors : ndarray of shape (k, n_useful)
        Posteriors of X.

    Returns
    -------
    csr_array of shape (m, n_sensitive * n_useful)
        Posteriors of the pairs (s, x), x varying fastest.
    """
    given_x = joint.matrix / joint.p_x
    return csr_array(vstack([_split(given_x, v) for v in posteriors]))


def _split(given_x: FloatArray, v: FloatArray) -> csr_array:
    """Split one output; ``given_x`` is P(S|X)."""
    support = np.flatnonzero(v > 0)
    masses = given_x[:, support] * v[support]
    of_s = masses.sum(axis=1)
    s = np.flatnonzero(of_s > 0)
    ends = masses[s].cumsum(axis=1) / of_s[s, None]
    breaks = np.unique(np.append(0.0, ends))
    middles = (0.5 * (breaks[:-1] + breaks[1:]))[np.diff(breaks) > _NARROW]
    chosen = (ends <= middles[:, None, None]).sum(axis=2)
    pairs = s * given_x.shape[1] + support[chosen]
    data = (np.tile(of_s[s], middles.size), pairs.ravel(), s.size * np.arange(middles.size + 1))
    return csr_array(data, shape=(middles.size, given_x.size))
