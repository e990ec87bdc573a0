"""Random problems shared by the solver tests."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import issparse
from scipy.special import entr

from skliftpriv.solvers import PosteriorProblem


def random_joint(n_s: int, n_x: int, seed: int = 0) -> np.ndarray:
    joint = np.random.default_rng(seed).random((n_s, n_x))
    return joint / joint.sum()


def lift_matrix(joint: np.ndarray) -> np.ndarray:
    return joint / joint.sum(axis=0) / joint.sum(axis=1)[:, None]


def alip_problem(joint: np.ndarray, eps: float, lam: float = 0.5) -> PosteriorProblem:
    lift = lift_matrix(joint)
    rows = [lift - np.exp((1 - lam) * eps), np.exp(-lam * eps) - lift]
    return PosteriorProblem(joint.sum(axis=0), np.vstack(rows))


def ldp_problem(joint: np.ndarray, eps: float) -> PosteriorProblem:
    lift = lift_matrix(joint)
    rows = [
        lift[s] - np.exp(eps) * lift[t]
        for s in range(len(lift))
        for t in range(len(lift))
        if s != t
    ]
    return PosteriorProblem(joint.sum(axis=0), np.array(rows).reshape(-1, joint.shape[1]))


def pairs_problem(joint: np.ndarray, build=alip_problem, eps: float = 0.5) -> PosteriorProblem:
    """The problem of a mechanism that sees S: pairs that occur are inputs, and X is kept."""
    s, x = np.nonzero(joint)
    own = np.zeros((len(joint), s.size))
    own[s, np.arange(s.size)] = joint[s, x]
    return replace(build(own, eps), image=np.eye(joint.shape[1])[:, x])


def random_image(rng: np.random.Generator, n: int, n_parts: int, kind: str) -> np.ndarray:
    """A target that is a function of the input, a noisy one, or one with zeros."""
    if kind == "function":
        return np.eye(n_parts)[:, rng.integers(n_parts, size=n)]
    image = rng.dirichlet(np.full(n_parts, 0.5), n).T
    if kind == "zeros":
        image[rng.random(image.shape) < 0.4] = 0.0
        image[0] += image.sum(axis=0) == 0
    return image / image.sum(axis=0)


def costs(problem: PosteriorProblem, v: np.ndarray | None = None) -> np.ndarray:
    """Entropy of the images of posteriors, by default of those that reveal the input."""
    v = np.eye(problem.n_symbols) if v is None else v
    return entr(v if problem.image is None else v @ problem.image.T).sum(axis=-1)


def all_vertices(problem: PosteriorProblem) -> np.ndarray:
    """Every vertex, from every choice of tight sides; for a handful of symbols."""
    n = problem.n_symbols
    sides = np.vstack([problem.rows, -np.eye(n)])
    sides /= np.abs(sides).max(axis=1, keepdims=True)
    tight = np.array(list(combinations(range(len(sides)), n - 1)))
    systems = np.concatenate([sides[tight], np.ones((len(tight), 1, n))], axis=1)
    systems = systems[np.abs(np.linalg.det(systems)) > 1e-12]
    points = np.linalg.solve(systems, np.tile(np.eye(n)[-1][:, None], (len(systems), 1, 1)))
    points = points[..., 0]
    points = np.maximum(points[(points @ sides.T <= 1e-10).all(axis=1)], 0.0)
    return np.unique(np.round(points / points.sum(axis=1, keepdims=True), 14), axis=0)


def brute_force(problem: PosteriorProblem) -> float:
    """Least conditional entropy: a linear program over all vertices."""
    vertices = np.vstack([all_vertices(problem), problem.p_x])
    found = linprog(costs(problem, vertices), A_eq=vertices.T, b_eq=problem.p_x)
    assert found.status == 0
    return float(found.fun)


def assert_sound(problem: PosteriorProblem, solution) -> None:
    """Check everything a solution promises, independently of the solver."""
    v, q = solution.posteriors, solution.weights
    v = v.toarray() if issparse(v) else v
    assert np.all(v >= 0)
    assert np.all(q > 0)
    np.testing.assert_allclose(v.sum(axis=1), 1.0, atol=1e-12)
    np.testing.assert_allclose(q @ v, problem.p_x, atol=1e-12)
    assert len(q) <= problem.n_symbols
    scale = max(1.0, float(np.abs(problem.rows).max(initial=0.0)))
    assert (v @ problem.rows.T).max(initial=0.0) <= 1e-9 * scale
    channel = solution.channel_matrix
    assert channel.shape == (problem.n_symbols, len(q))
    np.testing.assert_allclose(channel.sum(axis=1), 1.0, atol=1e-12)
    constant, everything = costs(problem, problem.p_x), problem.p_x @ costs(problem)
    if constant - everything > 1e-9:
        assert abs((constant - q @ costs(problem, v)) / (constant - everything) - solution.kept) < (
            1e-9
        )
    assert 0.0 <= solution.gap <= 1.0
    assert solution.kept <= solution.upper_bound <= 1.0
