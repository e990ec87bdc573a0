"""Mechanisms that see S: their inputs are all pairs (s, x), x varying fastest."""

from __future__ import annotations

import numpy as np
from scipy.linalg import block_diag
from scipy.sparse import csr_array, diags_array

from .._arrays import FloatArray, Label
from ..channel import Channel
from ..distribution import JointDistribution

__all__ = ["given_useful", "pair_labels", "pair_masses", "released_pairs"]


def pair_labels(joint: JointDistribution) -> list[Label]:
    """Return the labels (s, x) of all pairs, whether they occur or not."""
    return [(s, x) for s in joint.sensitive_labels for x in joint.useful_labels]


def pair_masses(joint: JointDistribution) -> FloatArray:
    """Return masses of S and the pair (S, X): each pair belongs to one row."""
    return np.asarray(block_diag(*joint.masses))


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
