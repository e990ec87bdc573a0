"""Thousands of inputs: pairs in closed form, blocks of outputs, and memory that stays bounded."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array

from skliftpriv import LIP, JointDistribution, L1Lift, datasets, mechanisms
from skliftpriv.exceptions import SizeLimitError
from skliftpriv.solvers import _blocks, _partition, _solve, solve
from skliftpriv.solvers._bound import BoundImprover
from skliftpriv.solvers._image import first_rows
from skliftpriv.solvers._pair_columns import largest_shares
from skliftpriv.solvers._presolve import reduce_problem
from skliftpriv.solvers._pricing import largest_entry
from skliftpriv.solvers._state import SolverState

from .problems import (
    alip_problem,
    all_vertices,
    assert_sound,
    brute_force,
    ldp_problem,
    random_joint,
)


@pytest.fixture
def small_blocks(monkeypatch):
    """Treat a few dozen inputs as if they were thousands."""
    monkeypatch.setattr(_solve, "MOST_POSTERIOR_CELLS", 100)
    for size in ("_BLOCK", "_SMALL_BLOCK", "_BLOCK_OF_PAIRS"):
        monkeypatch.setattr(_blocks, size, 12)


def in_blocks(problem, start=None, **options):
    """Solve in blocks, and check that the posteriors are sparse and strictly allowed."""
    solution = solve(problem, start=start, time_limit=0.1, **options)
    assert isinstance(solution.posteriors, csr_array)
    assert (solution.posteriors @ problem.rows.T).max(initial=0.0) <= 1e-15
    return solution


@pytest.mark.parametrize("build", [alip_problem, ldp_problem])
@pytest.mark.parametrize("seed", range(3))
def test_every_vertex_of_two_inputs_is_a_pair_with_a_largest_share(seed: int, build) -> None:
    problem = build(random_joint(3, 6, seed), 1.0)
    reduced = reduce_problem(problem)
    shares = largest_shares(reduced, np.arange(reduced.p.size))
    vertices = reduced.grouped(all_vertices(problem))
    pairs = vertices[(vertices > 1e-12).sum(axis=1) == 2]
    assert len(pairs) > 1
    for v in pairs:
        x, z = np.flatnonzero(v > 1e-12)
        assert min(abs(shares[x, z] - v[x]), abs(shares[z, x] - v[z])) < 1e-10
    x, z = np.nonzero(shares > 0)
    found = np.zeros((x.size, reduced.p.size))
    found[np.arange(x.size), x] = shares[x, z]
    found[np.arange(x.size), z] += 1 - shares[x, z]
    apart = x != z
    assert reduced.violation(found[apart]).max() <= 1e-12


@pytest.mark.parametrize("seed", range(5))
def test_largest_entries_of_one_program_bound_all(seed: int) -> None:
    problem = alip_problem(random_joint(3, 6, seed), 0.8)
    reduced = reduce_problem(problem)
    largest = reduced.grouped(all_vertices(problem)).max(axis=0)
    for x in range(2):
        v, entries = largest_entry(reduced, reduced.oracle(), x)
        assert v[x] == pytest.approx(largest[x], abs=1e-8)
        assert entries[x] == pytest.approx(largest[x], abs=1e-8)
        assert np.all(entries >= largest - 1e-9)


@pytest.mark.parametrize("seconds", [0.01, 10.0])
def test_largest_entries_bound_the_conditional_entropy(seconds: float) -> None:
    problem = alip_problem(random_joint(3, 6, 1), 0.8)
    state = SolverState(problem.scale, 1e-6, None, verbose=False)
    bound = _blocks.entry_bound(reduce_problem(problem), state, seconds)
    assert 0 < bound <= brute_force(problem) + 1e-9


@pytest.mark.parametrize("n_s", [2, 4])
def test_blocks_come_close_to_the_optimum_within_their_bound(small_blocks, n_s: int) -> None:
    problem = alip_problem(random_joint(n_s, 30), 1.0)
    found = in_blocks(problem)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_solve, "MOST_POSTERIOR_CELLS", 10**6)
        best = solve(problem)
    assert_sound(problem, found)
    assert found.kept <= best.upper_bound
    assert best.kept <= found.upper_bound
    assert found.upper_bound < 1
    assert found.kept > 0.9 * best.kept


def test_blocks_never_keep_less_than_they_start_with(small_blocks) -> None:
    joint = datasets.make_joint(4, 40, random_state=1)
    merging = mechanisms.subset_merging(joint, LIP(0.5)).nmi
    at_once = mechanisms.optimal_random_response(joint, LIP(0.5), time_limit=1e-3)
    later = mechanisms.optimal_random_response(joint, LIP(0.5), time_limit=0.1)
    assert merging - 1e-7 <= at_once.nmi < later.nmi
    assert later.report.satisfied
    assert later.certified.mixed == 0.0


def test_equal_inputs_are_dealt_with_in_blocks(small_blocks) -> None:
    joint = JointDistribution.from_counts(np.tile([[3, 1, 2], [1, 3, 2]], 10))
    result = mechanisms.optimal_random_response(joint, LIP(0.3), time_limit=0.1)
    assert result.report.satisfied
    assert result.nmi > mechanisms.subset_merging(joint, LIP(0.3)).nmi


def test_blocks_start_from_groups_of_similar_inputs(small_blocks, monkeypatch) -> None:
    monkeypatch.setattr(_blocks, "_MOST_INPUTS", 20)
    monkeypatch.setattr(_blocks, "_GROUPS", 8)
    problem = alip_problem(random_joint(4, 40), 1.0)
    found = in_blocks(problem)  # the first block is a constant output, with all inputs
    assert_sound(problem, found)
    assert found.kept > 0.8


def test_equal_rows_are_found_without_changing_what_shares_their_indices() -> None:
    v = csr_array((np.array([0.25, 0.75, 1.0]), np.array([2, 0, 1]), np.array([0, 2, 3])), (2, 3))
    dense = v.toarray()
    shared = csr_array((np.round(v.data, 1), v.indices, v.indptr), v.shape)
    assert first_rows(shared).tolist() == [0, 1]
    np.testing.assert_array_equal(v.toarray(), dense)


def test_a_start_at_the_boundary_is_not_lost(small_blocks) -> None:
    problem = alip_problem(random_joint(4, 40), 1.0)
    best = solve(problem, time_limit=0.5, certify=False)
    assert (best.posteriors @ problem.rows.T).max() > -1e-12
    found = in_blocks(problem, start=lambda _: iter([best.posteriors]))
    assert found.kept > best.kept - 1e-6


def test_inputs_that_no_row_tells_apart_cost_nothing() -> None:
    joint = np.repeat(random_joint(3, 10), 300, axis=1)
    joint *= np.random.default_rng(0).uniform(0.5, 1.0, 3000)
    problem = alip_problem(joint / joint.sum(), 1.0)
    found = in_blocks(problem)
    assert found.gap <= 1e-6  # 3,000 inputs, of which ten are different
    assert found.weights.size <= 3000
    np.testing.assert_allclose(found.weights @ found.posteriors, problem.p_x, atol=1e-12)


def test_averages_of_thousands_of_inputs_are_refused() -> None:
    joint = datasets.make_joint(2, 2300, random_state=0)
    with pytest.raises(SizeLimitError, match="2,300 values of X is built from posteriors"):
        mechanisms.optimal_random_response(joint, L1Lift(0.5, 0.5))


def test_an_interrupt_keeps_the_blocks_that_are_done(small_blocks, monkeypatch) -> None:
    original, calls = _blocks._Search._better, []

    def interrupting(self, *args):
        calls.append(args)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return original(self, *args)

    problem = alip_problem(random_joint(4, 40), 1.0)
    monkeypatch.setattr(_blocks._Search, "_better", interrupting)
    found = in_blocks(problem)
    assert found.status == "interrupted"
    assert_sound(problem, found)
    assert found.kept > 0


def test_boxes_stay_within_their_memory(monkeypatch) -> None:
    problem = alip_problem(random_joint(5, 20), 1.0)
    best = solve(problem, method="column-generation")
    limit, partitions = 10_000, []
    monkeypatch.setattr(_partition, "MOST_BYTES", limit)
    original = BoundImprover.run

    def watched(self):
        partitions.append(self._partition)
        original(self)

    monkeypatch.setattr(BoundImprover, "run", watched)
    found = solve(problem, method="column-generation")
    assert found.status == "memory_limit"
    assert 0 < sum(array.nbytes for array in partitions[0]._stored.values()) <= limit
    assert found.kept <= best.upper_bound
    assert best.kept <= found.upper_bound < 1


@pytest.mark.slow
def test_memory_does_not_grow_with_the_square_of_the_inputs() -> None:
    n = 3000
    joint = datasets.make_joint(3, n, random_state=0)
    tracemalloc.start()
    result = mechanisms.optimal_random_response(joint, LIP(0.5), time_limit=0.05)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 8 * n**2
    assert result.report.satisfied
    assert result.nmi >= mechanisms.subset_merging(joint, LIP(0.5)).nmi - 1e-7


@pytest.mark.parametrize("n_s", [2, 3])
def test_inputs_rarer_than_tolerances_are_in_some_output(n_s: int, small_blocks) -> None:
    joint = random_joint(n_s, 30)
    joint[:, ::7] *= 1e-14
    problem = alip_problem(joint / joint.sum(), 1.0)
    solution = solve(problem, time_limit=0.1)
    np.testing.assert_allclose(solution.weights @ solution.posteriors, problem.p_x, rtol=1e-6)
    assert (solution.posteriors @ problem.rows.T).max() <= 1e-9
    assert solution.kept > 0.5


def test_weights_up_to_the_tolerance_of_linear_programs_leave_no_output_outside(
    small_blocks,
) -> None:
    """Scaling to the distribution of the input moved outputs beyond their margin."""
    problem = alip_problem(random_joint(4, 60), 1.0)
    solution = solve(problem, time_limit=0.3)
    outputs = _blocks.Outputs(csr_array(solution.posteriors), solution.weights)
    noise = 1 + 1e-6 * np.random.default_rng(0).uniform(-1, 1, outputs.weights.size)
    disturbed = _blocks._balanced(outputs._replace(weights=outputs.weights * noise), problem.p_x)
    np.testing.assert_allclose(disturbed.mass, problem.p_x, rtol=1e-14)
    moved = abs(disturbed.posteriors - outputs.posteriors).max()
    assert moved < 1e-8  # by other weights first; scaling alone moves them by 1e-7
    assert (disturbed.posteriors @ problem.rows.T).max() <= 1e-15
    assert _blocks._within(disturbed, problem.rows) is disturbed


@pytest.mark.parametrize("seed", range(5))
def test_outputs_outside_the_budget_are_merged_with_few_others(seed: int) -> None:
    problem = alip_problem(random_joint(3, 30, seed), 1.0)
    solution = solve(problem)
    v, weights = csr_array(solution.posteriors), solution.weights
    alone = np.eye(30)[[(problem.rows.max(axis=0)).argmax()]]  # not allowed
    assert (alone @ problem.rows.T).max() > 0.01
    share = 1e-9
    weights = np.append((1 - share) * weights, share)
    outputs = _blocks.Outputs(csr_array(np.vstack([v.toarray(), alone])), weights)
    strict = _blocks._strict_rows(problem)  # the margin that outputs have
    inside = _blocks._pulled_inside(v, outputs, strict)
    outputs = _blocks.Outputs(csr_array(np.vstack([inside.toarray(), alone])), weights)
    merged = _blocks._within(outputs, problem.rows)
    assert (merged.posteriors @ problem.rows.T).max() <= 0
    np.testing.assert_allclose(merged.mass, outputs.mass, rtol=1e-13)
    assert merged.weights.size >= outputs.weights.size - len(problem.rows)


@pytest.mark.parametrize(("weight", "taken"), [(1e-14, True), (1e-3, False)])
def test_outputs_of_a_block_that_are_not_allowed_are_left_out(weight, taken) -> None:
    """They would get weight among those of all blocks, and be merged with others at the end."""
    problem = alip_problem(random_joint(3, 12), 1.0)
    best = solve(problem)
    alone = np.eye(12)[[problem.rows.max(axis=0).argmax()]]

    def solver(block, **options):
        weights = np.append((1 - weight) * best.weights, weight)
        return replace(best, posteriors=np.vstack([best.posteriors, alone]), weights=weights)

    state = SolverState(problem.scale, 1e-6, None, verbose=False)
    rng = np.random.default_rng(0)
    search = _blocks._Search(problem.rows, state, rng, solver, 100)
    block = _blocks.Outputs(csr_array(problem.p_x[None]), np.ones(1))
    found = search._better(block, 1.0)
    assert (found is block) != taken
    assert (found.posteriors @ problem.rows.T).max() <= 1e-9
    if taken:
        assert found.weights.size == best.weights.size
