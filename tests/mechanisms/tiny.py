"""The optimum of tiny problems by brute force: a grid of allowed posteriors, refined where used."""

from itertools import product

import numpy as np
from scipy.optimize import linprog
from scipy.special import entr


def least_entropy(p, lift, p_s, notion, image, parts=12, rounds=16, everything=None):
    """Return the largest share that a mixture of allowed posteriors keeps, from below.

    The notion is asked for its levels only, so that this shares nothing with the solver.
    """
    n = p.size
    rng = np.random.default_rng(0)
    steps = np.array([c for c in product(range(parts + 1), repeat=n - 1) if sum(c) <= parts])
    corners = np.column_stack([steps, parts - steps.sum(axis=1)]) / parts
    v = np.vstack([_pulled(corners, p, lift, p_s, notion), p])
    width = 1.5 / parts
    for _ in range(rounds):
        costs = entr(v @ image.T).sum(axis=1)
        found = linprog(costs, A_eq=v.T, b_eq=p)
        used = np.repeat(v[found.x > 1e-9], 80, axis=0)
        near = np.maximum(used + width * rng.normal(size=used.shape) * (used > 0), 0.0)
        near = near[near.sum(axis=1) > 0]
        near = _pulled(near / near.sum(axis=1, keepdims=True), p, lift, p_s, notion)
        good = np.argsort(costs - v @ found.eqlin.marginals)[:300]
        v = np.vstack([v[found.x > 1e-9], p, v[good], near])
        width *= 0.6
    constant = entr(image @ p).sum()
    if everything is None:
        everything = p @ entr(image).sum(axis=0)
    return (constant - found.fun) / (constant - everything)


def _allowed(v, lift, p_s, notion):
    lifts = (v @ lift.T).T
    positive = (lifts > 0).all(axis=0)
    levels = notion.levels(lifts[:, positive], p_s)
    met = np.zeros(len(v), dtype=bool)
    sides = [levels[side] <= bound + 1e-13 for side, bound in notion.budget.items()]
    met[positive] = np.all(sides, axis=0)
    return met


def _pulled(v, p, lift, p_s, notion):
    """Move posteriors towards p until they are allowed."""
    too_little, enough = np.zeros(len(v)), np.ones(len(v))
    for _ in range(45):
        share = 0.5 * (too_little + enough)
        met = _allowed(v + share[:, None] * (p - v), lift, p_s, notion)
        too_little, enough = np.where(met, too_little, share), np.where(met, share, enough)
    enough = np.where(_allowed(v, lift, p_s, notion), 0.0, enough)
    return v + enough[:, None] * (p - v)
