"""Random problems shared by the solver tests."""

from __future__ import annotations

import numpy as np

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


def assert_sound(problem: PosteriorProblem, solution) -> None:
    """Check everything a solution promises, independently of the solver."""
    v, q = solution.posteriors, solution.weights
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
    entropy = problem.scale.constant
    if entropy > 0:
        with np.errstate(divide="ignore", invalid="ignore"):
            terms = np.where(v > 0, v * np.log(v / problem.p_x), 0.0)
        assert abs(q @ terms.sum(axis=1) / entropy - solution.kept) < 1e-9
    assert 0.0 <= solution.gap <= 1.0
    assert solution.kept <= solution.upper_bound <= 1.0
