"""Thousands of inputs: a mechanism is improved on a few of its outputs at a time.

Outputs y with weights q_y and posteriors v_y may be replaced by any others with the same sum of
q_y v_y. To find the best replacement of a block of outputs is the same problem with fewer inputs,
those of the block. So a mechanism with any number of inputs is improved block by block, and never
gets worse. Posteriors are sparse: memory grows with the number of inputs, not with its square.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array, diags_array, vstack

from ._image import FloatArray, Image, IntArray, first_rows
from ._lp import MasterLP
from ._presolve import reduce_problem
from ._problem import FEASIBILITY, PosteriorProblem, PosteriorSolution
from ._state import SolverState

_BLOCK = 1000
"""Entries of the posteriors of a block."""
_BLOCK_OF_PAIRS = 1500
"""The same if there is one ranged row, so that blocks are solved exactly."""
_IDLE = 1e-4
"""The search ends after a round that lowers the conditional entropy by a smaller share."""
_BOUND_SHARE = 0.1
"""Share of the time for the bound."""
_SECONDS = 60.0
"""What replaces the time limit, if there is none, when time is shared out."""
_LEAST_SECONDS = 0.05
"""Blocks with less time are left as they are."""
_STRICT = 4 * FEASIBILITY
"""Posteriors meet the rows by this much, so that no rounding has to be mended afterwards."""
_MOST_MIXED = 1e-3
"""Share of p that may be mixed into posteriors to meet the rows by that much."""

Solver = Callable[..., PosteriorSolution]


class Outputs(NamedTuple):
    """Outputs of a mechanism: their weights, and their posteriors as the rows of a matrix."""

    weights: FloatArray
    posteriors: csr_array

    @property
    def mass(self) -> FloatArray:
        """What the outputs have of each input."""
        return np.asarray(self.weights @ self.posteriors)

    @property
    def cost(self) -> float:
        """What the outputs add to the conditional entropy."""
        return float(self.weights @ Image().entropy(self.posteriors))


def improve_in_blocks(
    problem: PosteriorProblem,
    first: Iterable[csr_array],
    state: SolverState,
    random_state: int,
    solver: Solver,
) -> Outputs:
    """Find a good mechanism that keeps at least as much as the best mixture of first posteriors.

    Parameters
    ----------
    problem : PosteriorProblem
        To keep the input itself; all rows must be listed.
    first : iterable of csr_array of shape (k, n)
        Posteriors to start from; those that are not allowed are ignored.
    state : SolverState
        Clock; receives value and bound.
    random_state : int
        Seed of the blocks.
    solver : callable
        Searches a block: ``solver(problem, start=..., time_limit=...)``.
    """
    rng = np.random.default_rng(random_state)
    strict = _strict(problem)
    search = _Search(strict, state, rng, solver)
    outputs = Outputs(np.ones(1), csr_array(problem.p_x[None]))
    try:
        for part in first:
            outputs = _best_mixture(strict, [outputs.posteriors, part])
            state.value = min(state.value, outputs.cost)
        if len(outputs.weights) == 1:
            outputs = _best_mixture(strict, [outputs.posteriors, _random_groups(strict, rng)])
        state.improve_bound(entry_bound(problem, state, _BOUND_SHARE * state.left(_SECONDS)))
        while not state.finished:
            before = outputs.cost
            outputs = search.improved(outputs)
            if state.interrupted or before - outputs.cost <= _IDLE * before:
                break
    except KeyboardInterrupt:
        state.interrupted = True
    return _balanced(outputs, problem.p_x)


class _Search:
    """Replaces blocks of outputs by better ones."""

    def __init__(
        self,
        problem: PosteriorProblem,
        state: SolverState,
        rng: np.random.Generator,
        solver: Solver,
    ) -> None:
        self._problem, self._state, self._rng, self._solver = problem, state, rng, solver
        one_range = len(reduce_problem(problem).directions) == 1
        self._size = _BLOCK_OF_PAIRS if one_range else _BLOCK

    def improved(self, outputs: Outputs) -> Outputs:
        """Improve every output once, in random blocks; stop when time is up."""
        state, found = self._state, []
        blocks = list(self._blocks(outputs))
        value = outputs.cost
        for done, index in enumerate(blocks):
            block = Outputs(outputs.weights[index], outputs.posteriors[index])
            share = state.left(_SECONDS) / (len(blocks) - done)
            if share >= _LEAST_SECONDS and not state.interrupted:
                better = self._solved(block, share)
                value += better.cost - block.cost
                block = better
            found.append(block)
            state.value = min(state.value, value)
            state.report()
        weights = np.concatenate([block.weights for block in found])
        return _merged(Outputs(weights, csr_array(vstack([b.posteriors for b in found]))))

    def _blocks(self, outputs: Outputs) -> Iterator[IntArray]:
        """Divide outputs at random into blocks with about the same number of entries."""
        order = self._rng.permutation(outputs.weights.size)
        entries = np.cumsum(np.diff(outputs.posteriors.indptr)[order])
        count = max(1, round(entries[-1] / self._size))
        ends = np.searchsorted(entries, entries[-1] * np.arange(1, count) / count)
        return (part for part in np.split(order, np.unique(ends)) if part.size)

    def _solved(self, block: Outputs, seconds: float) -> Outputs:
        """Return the best replacement that is found, or the block itself."""
        mass = block.mass
        inputs, total = np.flatnonzero(mass), float(mass.sum())
        own = block.posteriors[:, inputs].toarray()
        problem = PosteriorProblem(mass[inputs] / total, self._problem.rows[:, inputs])
        solution = self._solver(problem, start=lambda _: iter([own]), time_limit=seconds)
        self._state.n_columns += solution.n_columns
        self._state.interrupted |= solution.status == "interrupted"
        v = csr_array(solution.posteriors)
        shape = (v.shape[0], mass.size)
        found = Outputs(
            total * solution.weights, csr_array((v.data, inputs[v.indices], v.indptr), shape)
        )
        return found if found.cost < block.cost else block


def _strict(problem: PosteriorProblem) -> PosteriorProblem:
    """Shrink the polytope towards p, by so little that what is lost is far below any gap."""
    slack = -(problem.rows @ problem.p_x)
    scale = np.maximum(1.0, np.abs(problem.rows).max(axis=1, initial=0.0))
    share = np.minimum(_STRICT * scale / np.maximum(slack, 1e-300), _MOST_MIXED)
    return replace(problem, rows=problem.rows + (share * slack)[:, None])


def _best_mixture(problem: PosteriorProblem, parts: list[csr_array]) -> Outputs:
    """Return the best weights of allowed posteriors that average to p."""
    posteriors = csr_array(vstack(parts))
    allowed = (posteriors @ problem.rows.T).max(axis=1, initial=0.0) <= 0.5 * FEASIBILITY
    allowed[0] = True  # what was allowed before
    posteriors = posteriors[np.flatnonzero(allowed)]
    master = MasterLP(problem.p_x)
    master.add(posteriors, problem.utility.entropy(posteriors))
    weights = master.solve().weights
    used = np.flatnonzero(weights > 0)
    return Outputs(weights[used], posteriors[used])


def _random_groups(problem: PosteriorProblem, rng: np.random.Generator) -> csr_array:
    """Return posteriors of random groups of inputs; those that are not allowed become one."""
    n = problem.n_symbols
    group_of = np.empty(n, dtype=np.intp)
    group_of[rng.permutation(n)] = np.arange(n) // _BLOCK
    groups = csr_array((problem.p_x, (group_of, np.arange(n))))
    bad = (groups @ problem.rows.T).max(axis=1) > 0
    group_of[bad[group_of]] = group_of.max() + 1
    groups = csr_array((problem.p_x, (group_of, np.arange(n))))
    groups = groups[np.flatnonzero(np.diff(groups.indptr))]
    return csr_array(diags_array(1.0 / groups.sum(axis=1)) @ groups)


def _merged(outputs: Outputs) -> Outputs:
    """Make outputs with the same posterior one."""
    weights, v = outputs
    group = first_rows(csr_array((np.round(v.data, 10), v.indices, v.indptr), v.shape))
    _, first = np.unique(group, return_index=True)
    return Outputs(np.bincount(group, weights=weights).astype(float), v[first])


def _balanced(outputs: Outputs, p: FloatArray) -> Outputs:
    """Scale the mass of each input so that the average of the posteriors is p up to rounding."""
    joint = csr_array(diags_array(outputs.weights) @ outputs.posteriors)
    joint = csr_array(joint @ diags_array(p / joint.sum(axis=0)))
    weights = joint.sum(axis=1)
    return Outputs(weights / weights.sum(), csr_array(diags_array(1.0 / weights) @ joint))


def entry_bound(problem: PosteriorProblem, state: SolverState, seconds: float) -> float:
    """Return a lower bound on the conditional entropy: sum_x p_x log(1 / largest_x).

    If no allowed posterior has a larger entry than largest_x at x, then
    H(v) = sum_x v_x log(1 / v_x) >= sum_x v_x log(1 / largest_x), whose average over outputs is
    the bound. By weak duality the multipliers of the linear program of one input bound the
    entries of all, so that inputs are treated, those that add most first, while time remains.
    """
    reduced = reduce_problem(problem)
    largest, treated = np.ones(reduced.p.size), np.zeros(reduced.p.size, dtype=bool)
    end = state.seconds + seconds
    lp = reduced.polytope() if len(reduced.directions) else None
    while lp is not None and not treated.all() and state.seconds < end:
        x = int(np.where(treated, -1.0, reduced.p * largest).argmax())
        treated[x] = True
        cost = np.zeros(reduced.p.size)
        cost[x] = -1.0
        point = lp.minimise(cost)
        assert point is not None  # p is inside
        multipliers, support = reduced.supported(point.row_duals)
        value = multipliers @ reduced.directions
        largest = np.minimum(largest, np.maximum(value.max(), value + 1.0) - support)
    return float(reduced.p @ -np.log(largest))
