"""The bound from planes: it covers all images, is valid at any time, and ends at the optimum."""

from __future__ import annotations

from dataclasses import replace
from itertools import count

import numpy as np
import pytest

from skliftpriv.solvers import _planes, solve
from skliftpriv.solvers._bound import BoundImprover
from skliftpriv.solvers._column_pool import ColumnPool
from skliftpriv.solvers._planes import PlaneImprover
from skliftpriv.solvers._presolve import reduce_problem
from skliftpriv.solvers._state import SolverState

from ..clock import WorkClock
from .problems import (
    alip_problem,
    assert_sound,
    brute_force,
    ldp_problem,
    pairs_problem,
    random_image,
    random_joint,
)

KINDS = ["function", "noisy", "zeros"]


def target_problem(seed: int, n_parts: int, kind: str, build=alip_problem, shape=(3, 7)):
    problem = build(random_joint(*shape, seed), 0.5)
    rng = np.random.default_rng(seed)
    return replace(problem, image=random_image(rng, problem.n_symbols, n_parts, kind))


def run(problem, time_limit=None, gap=1e-7):
    """Add planes from p alone; return the state."""
    reduced = reduce_problem(problem)
    state = SolverState(problem.scale, gap, time_limit, False)
    pool = ColumnPool(reduced, state)
    improver = PlaneImprover(state, reduced, pool, reduced.polytope())
    improver.run()
    while pool.uses_artificial and not state.finished:
        pool.raise_cap()
        improver.run()
    return state


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("n_parts", [3, 4, 5, 6, 7])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("build", [alip_problem, ldp_problem])
def test_planes_end_at_the_optimum_of_all_vertices(seed, n_parts, kind, build) -> None:
    problem = target_problem(seed, n_parts, kind, build)
    optimum = brute_force(problem)
    state = run(problem)
    assert state.bound <= optimum + 1e-9
    assert state.bound >= optimum - 2e-7
    assert state.value == pytest.approx(optimum, abs=2e-7)


@pytest.mark.parametrize("looks", [1, 10, 40, 160])
@pytest.mark.parametrize("seed", range(3))
def test_bounds_are_valid_at_any_time(looks: int, seed: int) -> None:
    problem = target_problem(seed, 3, "noisy", shape=(3, 8))
    assert run(problem, looks * WorkClock.TICK).bound <= brute_force(problem) + 1e-9


@pytest.mark.parametrize("seed", range(3))
def test_mechanisms_that_see_s_are_bounded_too(seed: int) -> None:
    problem = pairs_problem(random_joint(3, 3, seed), alip_problem, 0.3)
    image = random_image(np.random.default_rng(seed), problem.n_symbols, 3, "noisy")
    problem = replace(problem, image=image)
    found = solve(problem, method="column-generation", gap=1e-7)
    assert_sound(problem, found)
    least = problem.scale.constant - found.upper_bound * problem.scale.information
    assert least == pytest.approx(brute_force(problem), abs=2e-7)


@pytest.mark.parametrize(("n_parts", "n_x"), [(3, 30), (5, 20)])
def test_several_classes_of_many_symbols_are_certified(n_parts: int, n_x: int) -> None:
    problem = target_problem(0, n_parts, "noisy", shape=(5, n_x))
    found = solve(problem, method="column-generation", gap=1e-5, time_limit=20)
    assert_sound(problem, found)
    assert found.gap <= 1e-5


@pytest.mark.slow
@pytest.mark.parametrize("eps", [0.1, 0.5])
def test_five_classes_of_200_symbols_are_certified(eps: float) -> None:
    problem = alip_problem(random_joint(5, 200), 2 * eps)
    image = random_image(np.random.default_rng(0), 200, 5, "noisy")
    found = solve(replace(problem, image=image), gap=1e-3)
    assert found.gap <= 1e-3
    assert found.status == "gap_reached"


def test_a_bound_is_kept_when_there_is_no_room_for_more_vertices(monkeypatch) -> None:
    problem = target_problem(0, 4, "noisy", shape=(4, 15))
    whole = solve(problem, method="column-generation")
    monkeypatch.setattr(_planes, "_MOST", 400)
    monkeypatch.setattr(BoundImprover, "run", lambda self: None)
    stopped = solve(problem, method="column-generation")
    assert_sound(problem, stopped)
    assert whole.upper_bound + 1e-4 < stopped.upper_bound < 1.0


def test_an_interrupt_keeps_the_solution_and_the_bound(monkeypatch) -> None:
    problem = target_problem(0, 4, "noisy", shape=(4, 15))
    highest, calls, last = _planes.ImageLP.highest, count(1), np.inf

    def interrupted(self, image):
        if next(calls) > last:
            raise KeyboardInterrupt
        return highest(self, image)

    monkeypatch.setattr(_planes.ImageLP, "highest", interrupted)
    whole = solve(problem, method="column-generation", gap=1e-6)
    calls, last = count(1), 0.8 * next(calls)
    found = solve(problem, method="column-generation", gap=1e-6)
    assert_sound(problem, found)
    assert found.status == "interrupted"
    assert whole.kept - 1e-6 <= found.upper_bound < 1.0
    assert found.kept <= whole.upper_bound + 1e-9
