"""A coarser problem to start from: inputs that are alike become one.

Posteriors of groups are posteriors of inputs, if the members of a group share its mass in
proportion to p: rows and images of a group are averages of those of its members, so that the
posterior is allowed and costs the same. A few groups keep most of what many inputs do, and are
solved in a fraction of the time.
"""

from __future__ import annotations

import numpy as np
from scipy.cluster.vq import kmeans2

from ._image import FloatArray, Image
from ._presolve import ReducedProblem

_GROUPS = 100
"""Groups of the coarser problem."""
_MANY = 250
"""Problems with fewer inputs are solved as they are."""


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
    points = np.vstack([_scaled(reduced.directions), _scaled(image)]).T
    _, groups = kmeans2(points, _GROUPS, minit="++", seed=np.random.default_rng(0))
    _, group_of = np.unique(groups, return_inverse=True)
    p: FloatArray = np.bincount(group_of, weights=reduced.p).astype(float)
    share = np.zeros((group_of.size, p.size))
    share[np.arange(group_of.size), group_of] = reduced.p / p[group_of]
    return ReducedProblem(
        p=p,
        directions=reduced.directions @ share,
        lo=reduced.lo,
        hi=reduced.hi,
        group_of=group_of,
        p_x=reduced.p,
        utility=Image(image @ share),
    )


def _scaled(matrix: FloatArray) -> FloatArray:
    """Scale rows together so that the total variance of their entries is 1."""
    deviation = float(np.sqrt(matrix.var(axis=1).sum()))
    return matrix / (deviation or 1.0)
