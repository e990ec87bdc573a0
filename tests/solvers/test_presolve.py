"""Ranged rows and merged symbols leave the optimum unchanged."""

from __future__ import annotations

import numpy as np
import pytest

from skliftpriv.solvers import PosteriorProblem, solve
from skliftpriv.solvers._image import entropy
from skliftpriv.solvers._presolve import expand, reduce_problem

from .problems import alip_problem, assert_sound, ldp_problem, random_joint


def test_two_sides_of_a_lift_bound_become_one_row() -> None:
    assert len(reduce_problem(alip_problem(random_joint(4, 9), 1.0)).directions) == 4


@pytest.mark.parametrize("build", [alip_problem, ldp_problem])
def test_binary_sensitive_has_one_ranged_row(build) -> None:
    assert len(reduce_problem(build(random_joint(2, 9), 0.5)).directions) == 1


def test_rows_that_never_bind_are_dropped() -> None:
    problem = PosteriorProblem([0.5, 0.5], [[-1.0, 0.0], [-2.0, -1.0]])
    assert len(reduce_problem(problem).directions) == 0


def duplicated(seed: int) -> tuple[PosteriorProblem, PosteriorProblem]:
    """Return a problem whose symbols come in identical copies, and one slightly perturbed."""
    rng = np.random.default_rng(seed)
    joint = random_joint(3, 5, seed)
    copies = np.repeat(np.arange(5), rng.integers(1, 4, 5))
    split = joint[:, copies] * rng.uniform(0.2, 1.0, copies.size)
    # Rescaling a column of the joint keeps P(s|x) but changes P(s): build rows afresh.
    exact = alip_problem(split / split.sum(), 1.0)
    nudge = 1e-10 * rng.standard_normal(exact.rows.shape)
    nudge -= (nudge @ exact.p_x)[:, None]
    return exact, PosteriorProblem(exact.p_x, exact.rows + nudge)


@pytest.mark.parametrize("seed", range(5))
def test_merging_identical_symbols_is_exact(seed: int) -> None:
    merged, distinct = duplicated(seed)
    assert reduce_problem(merged).p.size == 5
    assert reduce_problem(distinct).p.size == merged.n_symbols
    solution = solve(merged, gap=1e-8)
    assert_sound(merged, solution)
    # The unmerged problem knows nothing of groups; it has the same optimum.
    assert solve(distinct, method="vertices").kept == pytest.approx(solution.kept, abs=1e-7)


def test_expansion_keeps_average_and_entropy() -> None:
    merged, _ = duplicated(1)
    reduced = reduce_problem(merged)
    rng = np.random.default_rng(0)
    channel = rng.dirichlet(np.ones(4), reduced.p.size)
    weights = reduced.p @ channel
    posteriors = (reduced.p[:, None] * channel / weights).T
    wide, wide_weights = expand(reduced, posteriors, weights)
    np.testing.assert_allclose(wide_weights @ wide, merged.p_x, atol=1e-14)
    wide = wide.toarray()
    assert wide_weights @ entropy(wide) == pytest.approx(weights @ entropy(posteriors))


def test_members_too_rare_to_be_added_up_have_an_output() -> None:
    joint = random_joint(3, 6)
    joint[:, 1], joint[:, 3] = 1e-16 * joint[:, 0], 1e-40 * joint[:, 2]
    problem = alip_problem(joint / joint.sum(), 0.5)
    assert reduce_problem(problem).p.size == 4
    solution = solve(problem)
    assert_sound(problem, solution)
    np.testing.assert_allclose(solution.weights @ solution.posteriors, problem.p_x, rtol=1e-12)
