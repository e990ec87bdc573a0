"""Turn posteriors and weights of a linear program into a consistent solution."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls
from scipy.sparse import csc_array, csr_array
from scipy.sparse.linalg import splu

from ._averages import Averages
from ._image import FloatArray, Image, first_rows, sums_of_groups
from ._lp import MasterLP
from ._problem import FEASIBILITY, PosteriorProblem

_DROP = 1e-12
"""Outputs with smaller weights are dropped."""
_ATTEMPTS = 4
"""How often outputs are dropped and the weights solved for again."""
_MANY_CELLS = 40_000
"""Posteriors with more entries are treated as a sparse matrix: others take cubic time."""
_REFINEMENTS = 4
"""How often the solution of the sparse equations is refined."""
_TOUCH = 1e-6
"""Largest share of p that is mixed into the posteriors to undo rounding."""


def _merge_duplicates(
    v: FloatArray, q: FloatArray, image: FloatArray, averages: Averages | None = None
) -> tuple[FloatArray, FloatArray]:
    """Average posteriors whose images agree to ten digits, if the average is allowed.

    Nothing is lost of what is to be kept, and the output says less about S. The average is always
    allowed unless averages of the lift are not convex.
    """
    group = first_rows(np.round(image, 10) + 0.0)  # no negative zeros
    if averages is not None and not averages.convex:
        merged = sums_of_groups(q[:, None] * v, group, axis=0)
        lost = averages.excess(merged / merged.sum(axis=1, keepdims=True)) > FEASIBILITY
        apart = np.where(lost[group], np.arange(len(v)) + len(lost), group)
        group = np.unique(apart, return_inverse=True)[1]
    weights = np.bincount(group, weights=q).astype(float)
    merged = sums_of_groups(q[:, None] * v, group, axis=0)
    keep = weights > _DROP
    return merged[keep] / weights[keep, None], weights[keep]


def _solve_square(v: FloatArray, p: FloatArray) -> FloatArray:
    """Solve ``q @ v = p`` directly, in the least squares sense unless v is square."""
    if v.size > _MANY_CELLS:
        return _solve_sparse(csr_array(v), p)
    if v.shape[0] == v.shape[1]:
        try:
            return np.asarray(np.linalg.solve(v.T, p), dtype=float)
        except np.linalg.LinAlgError:
            pass
    return np.asarray(np.linalg.lstsq(v.T, p, rcond=None)[0], dtype=float)


def _solve_sparse(v: csr_array, p: FloatArray) -> FloatArray:
    """Solve ``q @ v = p`` by normal equations, refined until q is as precise as a direct solve.

    If v is singular, the result is 0.
    """
    q = np.zeros(v.shape[0])
    try:
        factors = splu(csc_array(v @ v.T))
    except RuntimeError:
        return q
    for _ in range(_REFINEMENTS):
        q = q + factors.solve(v @ (p - q @ v))
    return q


def _basic_weights(
    v: FloatArray, q: FloatArray, p: FloatArray, utility: Image
) -> tuple[FloatArray, FloatArray]:
    """Reduce to at most n outputs, and solve for their weights to full precision."""
    if len(v) > p.size:
        master = MasterLP(p)
        master.add(v, utility.entropy(v))
        q = master.solve().weights
        v, q = v[q > _DROP], q[q > _DROP]
    for _ in range(_ATTEMPTS):
        exact = _solve_square(v, p)
        if np.abs(exact @ v - p).max() > 1e-14:
            break
        if exact.min() > 0:
            return v, exact
        v, q = v[exact > 0], q[exact > 0]  # weight zero up to rounding: solve without
    candidate: FloatArray = q if v.size > _MANY_CELLS else nnls(v.T, p)[0]
    if np.abs(candidate @ v - p).max() > np.abs(q @ v - p).max():
        candidate = q
    return v[candidate > _DROP], candidate[candidate > _DROP]


def _balance(
    v: FloatArray, q: FloatArray, problem: PosteriorProblem
) -> tuple[FloatArray, FloatArray]:
    """Change posteriors and weights a little, so that their average is p up to rounding.

    The joint mass of each symbol is scaled. Of a symbol that is rarer than the tolerance of linear
    programs, and that they left out, all outputs get the same share. If an output then misses the
    budget, because that is as small as the tolerance, too, all get the same share of whatever is
    missing instead, with as much of p as keeps it positive.
    """
    p, mass = problem.p_x, q @ v
    lacking = _lacking(mass, p)
    scale = p / np.where(lacking, p, mass)
    joint = q[:, None] * (v * scale + np.where(lacking, p - mass, 0.0))
    scaled, weights = joint / joint.sum(axis=1)[:, None], joint.sum(axis=1)
    if problem.averages is None and (scaled @ problem.rows.T).max(initial=0.0) > 0.5 * FEASIBILITY:
        q = q / q.sum()
        mass = q @ v
        share = max(0.0, float(((mass - p) / np.maximum(mass, p)).max()))
        if share <= _TOUCH:
            return (1.0 - share) * v + np.maximum(p - (1.0 - share) * mass, 0.0), q
    return scaled, weights / weights.sum()


def _lacking(mass: FloatArray, p: FloatArray) -> NDArray[np.bool_]:
    """Tell which symbols the outputs have too little of to scale it."""
    return np.asarray(mass <= 0.5 * p)


def _pull_inside(v: FloatArray, problem: PosteriorProblem) -> FloatArray:
    """Mix a small share of p into every posterior if one violates a row by more than allowed.

    Mixing into all of them keeps their average. It is left out if the share would be large and
    cost utility, because p itself is close to the boundary, as with budgets near zero.
    """
    if problem.averages is not None:
        share = float(problem.averages.shares(v, problem.p_x, FEASIBILITY).max())
    else:
        excess = v @ problem.rows.T - 0.9 * FEASIBILITY
        room = 0.9 * FEASIBILITY - problem.rows @ problem.p_x
        share = float((excess / (np.maximum(excess, 0.0) + room)).max(initial=0.0))
    if not 0.0 < share <= _TOUCH:
        return v
    return (1.0 - share) * v + share * problem.p_x


def polish(
    problem: PosteriorProblem, posteriors: FloatArray, weights: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return at most n allowed posteriors whose weighted average is p_x to 1e-12.

    Parameters
    ----------
    problem : PosteriorProblem
        The problem that was solved.
    posteriors, weights : ndarray of shape (k, n), (k,)
        A solution up to the tolerances of the linear programs.

    Returns
    -------
    posteriors, weights : ndarray of shape (k, n), (k,)
    """
    p = problem.p_x
    utility = problem.utility
    v, q = _merge_duplicates(posteriors, weights, posteriors)
    v, q = _basic_weights(v, q, p, utility)
    if len(q) == 0 or p[_lacking(q @ v, p)].sum() > _TOUCH:
        return p[None].copy(), np.ones(1)  # a constant output; not reached unless the LP failed
    v, q = _balance(v, q, problem)
    if not utility.identity:
        v, q = _merge_duplicates(v, q, utility.of(v), problem.averages)
    v = _pull_inside(v, problem)
    order = np.argsort(-q, kind="stable")
    return v[order], q[order]
