"""Random joint distributions, drawn as in the papers."""

from __future__ import annotations

from typing import Literal

import numpy as np

from ..distribution import JointDistribution
from ..exceptions import InvalidParameterError

__all__ = ["make_joint"]


def make_joint(
    n_sensitive: int,
    n_useful: int,
    *,
    kind: Literal["uniform", "dirichlet"] = "uniform",
    random_state: int | np.random.Generator | None = None,
) -> JointDistribution:
    """Draw a random joint distribution of S and X.

    Parameters
    ----------
    n_sensitive, n_useful : int
        Numbers of symbols.
    kind : {"uniform", "dirichlet"}, default="uniform"
        "uniform" normalises independent uniform cells (Zarrabian, Ding and Sadeghi 2023);
        "dirichlet" draws from the symmetric Dirichlet distribution with parameter 1/2, the
        Jeffreys prior (Lopuhaa-Zwakenberg, Tong and Skoric 2020).
    random_state : int, numpy Generator or None, default=None
        Seed or source of randomness, passed to :func:`numpy.random.default_rng`.

    Returns
    -------
    JointDistribution

    Examples
    --------
    >>> from skliftpriv.datasets import make_joint
    >>> make_joint(5, 17, random_state=0)
    JointDistribution(5 sensitive x 17 useful symbols)
    """
    for name, size in (("n_sensitive", n_sensitive), ("n_useful", n_useful)):
        if not isinstance(size, int | np.integer) or size < 1:
            raise InvalidParameterError(f"{name} must be a whole number >= 1, not {size!r}.")
    rng = np.random.default_rng(random_state)
    shape = (int(n_sensitive), int(n_useful))
    if kind == "uniform":
        cells = rng.random(shape)
    elif kind == "dirichlet":
        cells = rng.standard_gamma(0.5, shape)
    else:
        raise InvalidParameterError(f'kind must be "uniform" or "dirichlet", not {kind!r}.')
    return JointDistribution(cells / cells.sum())
