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
from scipy.sparse import csr_array, diags_array, eye_array, vstack
from scipy.sparse.linalg import lsmr

from .._limits import MOST_POSTERIOR_CELLS
from ._coarse import shares, similar
from ._column_pool import ColumnPool
from ._image import FloatArray, Image, IntArray, first_rows
from ._lp import MasterLP
from ._pair_columns import largest_shares, price_pairs
from ._presolve import ReducedProblem
from ._pricing import largest_entry
from ._problem import FEASIBILITY, PosteriorProblem, PosteriorSolution
from ._state import SolverState

_BLOCK = 1000
"""Entries of the posteriors of a block."""
_SMALL_BLOCK = 100
"""The same if most inputs have no partner in a pair, so that blocks take far longer."""
_BLOCK_OF_PAIRS = 1500
"""The same if there is one ranged row, so that blocks are solved exactly."""
_SAMPLE = 50
"""Inputs whose partners are looked for."""
_MOST_INPUTS = 2000
"""Blocks with more inputs, which have outputs that stand for many, do not tell all apart."""
_GROUPS = 500
"""How many groups of similar inputs such blocks tell apart."""
_MOST_PAIRED = 4000
"""With more inputs the linear program over pairs of all of them takes too long."""
_DIMENSIONS = 16
"""Random combinations of the rows by which similar inputs are found."""
_IDLE = 1e-4
"""The search ends after a round that lowers the conditional entropy by a smaller share."""
_BOUND_SHARE = 0.1
"""Share of the time for the bound."""
_LEAST_SECONDS = 1.0
"""A block gets at least this much time, so that there may be none left for others."""
_STRICT = 4 * FEASIBILITY
"""Posteriors meet the rows by this much, so that no rounding has to be mended afterwards."""
_CLEAR = 1e-11
"""Posteriors that meet the rows by this much also do as integer weights."""
_DUST = 1e-10
"""Weight of outputs that may be left out."""
_PRECISION, _STEPS = 1e-3, 300
"""How precise corrections of weights are, and most steps to find them."""
_MOST_MIXED = 1e-3
"""Share of p that may be mixed into posteriors to meet the rows by that much."""

Solver = Callable[..., PosteriorSolution]


class Outputs(NamedTuple):
    """Outputs of a mechanism: their posteriors as the rows of a matrix, and their weights."""

    posteriors: csr_array
    weights: FloatArray

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
    reduced: ReducedProblem,
    first: Iterable[FloatArray | csr_array],
    state: SolverState,
    random_state: int,
    solver: Solver,
) -> Outputs:
    """Find a good mechanism that keeps at least as much as the best mixture of first posteriors.

    Parameters
    ----------
    problem : PosteriorProblem
        To keep the input itself; all rows must be listed.
    reduced : ReducedProblem
        The same problem with ranged rows.
    first : iterable of ndarray or csr_array of shape (k, n)
        Posteriors to start from; those that are not allowed are ignored.
    state : SolverState
        Clock; receives value and bound.
    random_state : int
        Seed of the blocks.
    solver : callable
        Searches a block: ``solver(problem, start=..., time_limit=...)``.
    """
    rng, rows = np.random.default_rng(random_state), _strict_rows(problem)
    search = _Search(rows, state, rng, solver, _block_size(reduced, rng))
    outputs = Outputs(csr_array(problem.p_x[None]), np.ones(1))
    try:
        for part in first:
            allowed = (part @ problem.rows.T).max(axis=1, initial=0.0) <= FEASIBILITY
            part = _pulled_inside(csr_array(part)[np.flatnonzero(allowed)], outputs, rows)
            outputs = _best_mixture(problem.p_x, csr_array(vstack([outputs.posteriors, part])))
            state.value = min(state.value, outputs.cost)
        state.improve_bound(entry_bound(reduced, state, _BOUND_SHARE * state.left))
        if reduced.p.size <= _MOST_PAIRED and len(reduced.directions) > 1:
            outputs = _with_pairs(reduced, outputs, state, rng)
        while not state.finished:
            before = outputs.cost
            outputs = _best_mixture(problem.p_x, search.improved(outputs).posteriors)
            if state.interrupted or before - outputs.cost <= _IDLE * before:
                break
    except KeyboardInterrupt:
        state.interrupted = True
    return _within(_balanced(outputs, problem.p_x), problem.rows)


class _Search:
    """Replaces blocks of outputs by better ones."""

    def __init__(
        self,
        rows: FloatArray,
        state: SolverState,
        rng: np.random.Generator,
        solver: Solver,
        size: int,
    ) -> None:
        self._rows, self._state, self._rng = rows, state, rng
        self._solver, self._size = solver, size

    def improved(self, outputs: Outputs) -> Outputs:
        """Improve every output once, in random blocks; stop when time is up."""
        state, found = self._state, []
        blocks = list(self._blocks(outputs))
        value = outputs.cost
        for done, index in enumerate(blocks):
            block = Outputs(outputs.posteriors[index], outputs.weights[index])
            left = state.left
            if left > 0 and not state.interrupted:
                share = max(left / (len(blocks) - done), _LEAST_SECONDS)
                better = self._better(block, min(share, left))
                value += better.cost - block.cost
                block = better
            found.append(block)
            state.value = min(state.value, value)
            state.report()
        posteriors, weights = zip(*found, strict=True)
        return _merged(Outputs(csr_array(vstack(posteriors)), np.concatenate(weights)))

    def _blocks(self, outputs: Outputs) -> Iterator[IntArray]:
        """Divide outputs at random into blocks with about the same number of entries."""
        order = self._rng.permutation(outputs.weights.size)
        entries = np.cumsum(np.diff(outputs.posteriors.indptr)[order])
        count = max(1, round(entries[-1] / self._size))
        ends = np.searchsorted(entries, entries[-1] * np.arange(1, count) / count)
        return (part for part in np.split(order, np.unique(ends)) if part.size)

    def _better(self, block: Outputs, seconds: float) -> Outputs:
        """Return the best replacement that is found, or the block itself."""
        mass = block.mass
        inputs, total = np.flatnonzero(mass), float(mass.sum())
        p, rows = mass[inputs] / total, self._rows[:, inputs]
        if (rows @ p).max(initial=0.0) > 0:  # allowed, but not strictly
            return block
        share = self._shares(p, rows)
        members = csr_array(share.astype(bool).astype(float))
        own = (block.posteriors[:, inputs] @ members).toarray()
        try:
            solution = self._solver(
                PosteriorProblem(p @ members, rows @ share),
                start=lambda _: iter([own]),
                time_limit=seconds,
            )
        except KeyboardInterrupt:
            self._state.interrupted = True
            return block
        self._state.n_columns += solution.n_columns
        self._state.interrupted |= solution.status == "interrupted"
        v = csr_array(csr_array(solution.posteriors) @ share.T)
        shape = (v.shape[0], mass.size)
        v = csr_array((v.data, inputs[v.indices], v.indptr), shape)
        # Outputs of rounding errors alone need not be allowed, and would get weight elsewhere.
        allowed = (v @ self._rows.T).max(axis=1) <= FEASIBILITY
        found = Outputs(v[allowed], total * solution.weights[allowed])
        lost = solution.weights[~allowed].sum()
        return found if found.cost < block.cost and lost <= _DUST else block

    def _shares(self, p: FloatArray, rows: FloatArray) -> csr_array:
        """Return the shares of inputs in what a block tells apart: inputs, or groups of them.

        Small budgets need outputs that stand for thousands of inputs. Similar ones are then not
        told apart at first; later rounds do so, because the outputs that are found stand for
        fewer.
        """
        if p.size <= _MOST_INPUTS:
            return csr_array(eye_array(p.size))
        few = self._rng.standard_normal((min(len(rows), _DIMENSIONS), len(rows)))
        return shares(p, similar((few @ rows).T, _GROUPS, first="points"))


def _block_size(reduced: ReducedProblem, rng: np.random.Generator) -> int:
    """Return how many entries the posteriors of a block should have."""
    if len(reduced.directions) == 1:
        return _BLOCK_OF_PAIRS
    shares = largest_shares(reduced, rng.permutation(reduced.p.size)[:_SAMPLE])
    return _BLOCK if (shares > 0).any(axis=1).mean() > 0.5 else _SMALL_BLOCK


def _with_pairs(
    reduced: ReducedProblem, outputs: Outputs, state: SolverState, rng: np.random.Generator
) -> Outputs:
    """Return the best mixture of outputs and of pairs of all inputs, if that is better."""
    at_p = reduced.directions @ reduced.p
    lo = reduced.lo + np.minimum(_STRICT, _MOST_MIXED * (at_p - reduced.lo))
    hi = reduced.hi - np.minimum(_STRICT, _MOST_MIXED * (reduced.hi - at_p))
    strict = replace(reduced, lo=lo, hi=hi)
    pool = ColumnPool(strict, state)
    pool.add(outputs.posteriors, always=True)
    price_pairs(strict, pool, state, rng)
    used = np.flatnonzero(pool.weights > 0)
    found = _completed(Outputs(pool.columns[used], pool.weights[used]), reduced.p)
    return outputs if pool.uses_artificial or found.cost > outputs.cost else found


def _strict_rows(problem: PosteriorProblem) -> FloatArray:
    """Shrink the polytope towards p, by so little that what is lost is far below any gap."""
    slack = -(problem.rows @ problem.p_x)
    scale = np.maximum(1.0, np.abs(problem.rows).max(axis=1, initial=0.0))
    share = np.minimum(_STRICT * scale / np.maximum(slack, 1e-300), _MOST_MIXED)
    return np.asarray(problem.rows + (share * slack)[:, None])


def _pulled_inside(v: csr_array, outputs: Outputs, rows: FloatArray) -> csr_array:
    """Mix allowed posteriors with those of known outputs, by so little that they meet strict rows.

    In place of an input with posterior v comes, with the mixed share, an output that it may have.
    """
    excess = np.maximum(v @ rows.T, 0.0)
    found = np.flatnonzero(excess.any(axis=1))
    if found.size * v.shape[1] > MOST_POSTERIOR_CELLS:  # an output may stand for all inputs
        return v
    given = outputs.posteriors.T @ diags_array(outputs.weights)
    given = diags_array(1.0 / outputs.mass) @ given  # P(output | input)
    inside = v[found] @ given @ outputs.posteriors
    room = np.maximum(-(inside @ rows.T), 1e-300)
    share = np.zeros(v.shape[0])
    share[found] = np.minimum((excess[found] / (excess[found] + room)).max(axis=1), _MOST_MIXED)
    place = csr_array(
        (np.ones(found.size), (found, np.arange(found.size))), (v.shape[0], found.size)
    )
    return csr_array(diags_array(1.0 - share) @ v + diags_array(share) @ (place @ inside))


def _best_mixture(p: FloatArray, posteriors: csr_array) -> Outputs:
    """Return the best weights of posteriors that average to p."""
    master = MasterLP(p)
    master.add(posteriors, Image().entropy(posteriors))
    weights = master.solve().weights
    used = np.flatnonzero(weights > 0)
    return _completed(Outputs(posteriors[used], weights[used]), p)


def _completed(outputs: Outputs, p: FloatArray) -> Outputs:
    """Give the inputs that are rarer than the tolerance of linear programs to a frequent output.

    Programs leave them out. What they add to this output is far below its room in the rows.
    """
    rare = np.flatnonzero(outputs.mass <= 0.5 * p)
    if not rare.size:
        return outputs
    v, weights = outputs
    most = int(weights.argmax())
    joint = csr_array(diags_array(weights) @ v)
    joint += csr_array((p[rare], (np.full(rare.size, most), rare)), v.shape)
    weights = joint.sum(axis=1)
    return Outputs(csr_array(diags_array(1.0 / weights) @ joint), weights)


def _merged(outputs: Outputs) -> Outputs:
    """Make outputs with the same posterior one."""
    v, weights = outputs
    group = first_rows(csr_array((np.round(v.data, 10), v.indices, v.indptr), v.shape))
    _, first = np.unique(group, return_index=True)
    return Outputs(v[first], np.bincount(group, weights=weights).astype(float))


def _balanced(outputs: Outputs, p: FloatArray) -> Outputs:
    """Change outputs so that the average of the posteriors is p up to rounding.

    What linear programs leave by their tolerance is mostly put right by other weights; then the
    mass of each input is scaled, which hardly changes posteriors any more.
    """
    lacking = p - outputs.mass
    correction = lsmr(outputs.posteriors.T, lacking, atol=0, btol=_PRECISION, maxiter=_STEPS)[0]
    exact = Outputs(outputs.posteriors, np.asarray(outputs.weights + correction))
    if exact.weights.min() > 0 and abs(exact.mass / p - 1).max() < abs(outputs.mass / p - 1).max():
        outputs = exact
    joint = csr_array(diags_array(outputs.weights) @ outputs.posteriors)
    joint = csr_array(joint @ diags_array(p / outputs.mass))
    weights = joint.sum(axis=1)
    return Outputs(csr_array(diags_array(1.0 / weights) @ joint), weights / weights.sum())


def _within(outputs: Outputs, rows: FloatArray) -> Outputs:
    """Merge outputs that scaling took out of the budget, and as many others as that takes.

    Otherwise the certificate would mix all outputs with a constant one, and large channels would no
    longer be sparse.
    """
    v, weights = outputs
    excess = weights[:, None] * (np.asarray(v @ rows.T) + _CLEAR)
    inside = np.asarray((excess <= 0).all(axis=1))
    together = excess[~inside].sum(axis=0)
    while together.max(initial=0.0) > 0 and inside.any():
        others = np.flatnonzero(inside)
        best = others[(together + excess[others]).max(axis=1).argmin()]
        together, inside[best] = together + excess[best], False
    if inside.all():
        return outputs
    place = np.where(inside, np.cumsum(inside), 0)
    joint = csr_array((weights, (place, np.arange(place.size)))) @ v
    merged = joint.sum(axis=1)
    return Outputs(csr_array(diags_array(1.0 / merged) @ joint), merged)


def entry_bound(reduced: ReducedProblem, state: SolverState, seconds: float) -> float:
    """Return a lower bound on the conditional entropy: sum_x p_x log(1 / largest_x).

    If no allowed posterior has a larger entry than largest_x at x, then
    H(v) = sum_x v_x log(1 / v_x) >= sum_x v_x log(1 / largest_x), whose average over outputs is
    the bound. The linear program of one input bounds the entries of all, so that inputs are
    treated, those that add most first, while time remains.
    """
    largest, treated = np.ones(reduced.p.size), np.zeros(reduced.p.size, dtype=bool)
    end, lp = state.seconds + seconds, reduced.oracle()
    while not treated.all() and state.seconds < end:
        x = int(np.where(treated, -1.0, reduced.p * largest).argmax())
        treated[x] = True
        largest = np.minimum(largest, largest_entry(reduced, lp, x)[1])
    return float(reduced.p @ -np.log(largest))
