"""Coarser problems to start from: inputs that are alike become one.

Posteriors of groups are posteriors of inputs, if the members of a group share its mass in
proportion to p: rows and images of a group are averages of those of its members, so that the
posterior is allowed and its image is the same. A few groups keep most of what many inputs do, and
are solved in a fraction of the time.
"""

from __future__ import annotations

import warnings

import numpy as np
from scipy.cluster.vq import kmeans2
from scipy.sparse import csr_array

from ._image import FloatArray, Image, IntArray
from ._presolve import ReducedProblem

_GROUPS = 100
"""Groups of the coarser problem."""
_MANY = 250
"""Problems with fewer inputs are solved as they are."""


def similar(points: FloatArray, count: int, *, first: str = "++") -> IntArray:
    """Return the group of each point, of about ``count`` groups of points that are close.

    Parameters
    ----------
    points : ndarray of shape (n, d)
        What is to be similar.
    count : int
        Number of groups; some may become empty and do not count.
    first : {"++", "points"}
        The first centres: chosen with care, in a time that grows with the square of their number,
        or at random.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # about groups that became empty
        _, groups = kmeans2(points, count, minit=first, seed=np.random.default_rng(0))
    return np.asarray(np.unique(groups, return_inverse=True)[1])


def shares(p: FloatArray, group_of: IntArray) -> csr_array:
    """Return what each input has of the mass of each group, of shape (n, n_groups)."""
    mass = np.bincount(group_of, weights=p)
    return csr_array((p / mass[group_of], (np.arange(p.size), group_of)), (p.size, mass.size))


def coarsened(reduced: ReducedProblem) -> ReducedProblem | None:
    """Return a problem whose inputs are groups of similar inputs; None if there are few inputs.

    Parameters
    ----------
    reduced : ReducedProblem
        With an image that is not the identity: inputs that are merged cannot be told apart.
    """
    image = reduced.utility.matrix
    if image is None or reduced.p.size <= _MANY:
        return None
    group_of = similar(np.vstack([_scaled(reduced.directions), _scaled(image)]).T, _GROUPS)
    share = shares(reduced.p, group_of)
    directions = reduced.directions @ share
    averages = reduced.averages
    return ReducedProblem(
        p=np.bincount(group_of, weights=reduced.p).astype(float),
        directions=directions,
        lo=reduced.lo,
        hi=reduced.hi,
        group_of=group_of,
        p_x=reduced.p,
        utility=Image(image @ share),
        averages=None if averages is None else averages.of_inputs(directions),
    )


def _scaled(matrix: FloatArray) -> FloatArray:
    """Scale rows together so that the total variance of their entries is 1."""
    deviation = float(np.sqrt(matrix.var(axis=1).sum()))
    return matrix / (deviation or 1.0)
