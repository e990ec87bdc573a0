"""Outputs that are improved together: a good mechanism for a target, early."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from skliftpriv.solvers import _joint_descent, solve
from skliftpriv.solvers._column_pool import ColumnPool
from skliftpriv.solvers._joint_descent import descend_together
from skliftpriv.solvers._presolve import reduce_problem
from skliftpriv.solvers._state import SolverState

from .problems import alip_problem, assert_sound, ldp_problem, random_image, random_joint


@pytest.fixture(autouse=True)
def _no_seconds(monkeypatch) -> None:
    """Let every linear program end: seconds of the machine do not count."""
    monkeypatch.setattr(_joint_descent, "_SHARE", 1e6)


def target_problem(n_s, n_x, n_parts, kind="noisy", eps=0.4, build=alip_problem):
    image = random_image(np.random.default_rng(1), n_x, n_parts, kind)
    return replace(build(random_joint(n_s, n_x), eps), image=image)


def clock(problem, limit=None):
    return SolverState(problem.scale, 1e-6, limit, verbose=False)


@pytest.mark.parametrize("build", [alip_problem, ldp_problem])
@pytest.mark.parametrize("kind", ["function", "noisy", "zeros"])
@pytest.mark.parametrize("n_parts", [2, 5])
@pytest.mark.parametrize("eps", [0.0, 0.4])
def test_outputs_are_allowed_and_keep_most_of_the_optimum(build, kind, n_parts, eps) -> None:
    problem = target_problem(3, 12, n_parts, kind, eps, build)
    reduced, state = reduce_problem(problem), clock(problem)
    pool = ColumnPool(reduced, state)
    found = descend_together(reduced, state).posteriors
    assert len(pool.add(found, always=True)) == len(np.unique(found, axis=0))
    pool.settle()
    assert problem.scale.kept(state.value) > 0.75 * solve(problem).kept


@pytest.mark.parametrize("n_parts", [2, 4])
def test_a_search_cut_off_early_keeps_nearly_as_much_as_a_long_one(n_parts) -> None:
    # Columns one by one keep nothing after as many steps.
    problem = target_problem(5, 40, n_parts)
    early = solve(problem, time_limit=0.02)
    assert_sound(problem, early)
    assert early.status == "time_limit"
    assert early.kept > 0.95 * solve(problem, time_limit=1.0, gap=1e-2).kept


@pytest.mark.parametrize("kind", ["function", "noisy", "zeros"])
@pytest.mark.parametrize("build", [alip_problem, ldp_problem])
@pytest.mark.parametrize(("n_s", "n_x", "n_parts"), [(3, 9, 2), (4, 25, 2), (4, 25, 3)])
def test_the_search_goes_on_from_outputs_whose_weights_are_degenerate(
    n_s, n_x, n_parts, build, kind
) -> None:
    # At first better posteriors change the prices, but not what is kept.
    problem = target_problem(n_s, n_x, n_parts, kind, 0.4, build)
    search = solve(problem, method="column-generation", certify=False)
    assert search.kept > solve(problem).kept - 3e-3  # random starts miss a little


def test_prices_of_the_outputs_bound_the_optimum_of_a_binary_target_early() -> None:
    problem = target_problem(5, 30, 2)
    best = solve(problem)
    early = solve(problem, time_limit=0.2)
    assert early.status == "time_limit"
    assert best.kept - 1e-9 <= early.upper_bound < best.kept + 0.1


def test_nothing_is_found_without_time_or_for_what_no_few_outputs_keep() -> None:
    problem = target_problem(3, 12, 2)
    state = clock(problem, limit=1e-9)
    assert not len(descend_together(reduce_problem(problem), state).posteriors)
    everything = replace(problem, image=None)
    many = replace(alip_problem(random_joint(3, 120), 0.4), image=np.eye(120))
    for other in (everything, many):
        assert descend_together(reduce_problem(other), clock(other)).prices is None
