"""The bound from facets: it covers all images, is valid at any time, and ends at the optimum."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial import ConvexHull, QhullError

from skliftpriv.solvers import _facets, solve
from skliftpriv.solvers._column_pool import ColumnPool
from skliftpriv.solvers._facets import FacetImprover, covers, extended_entropy
from skliftpriv.solvers._image import entropy
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
    """Refine facets from p alone; return the state."""
    reduced = reduce_problem(problem)
    state = SolverState(problem.scale, gap, time_limit, False)
    pool = ColumnPool(reduced, state)
    improver = FacetImprover(state, reduced, pool, reduced.polytope())
    improver.run()
    while pool.uses_artificial and not state.finished:
        pool.raise_cap()
        improver.run()
    return state


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("n_parts", [3, 4])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("build", [alip_problem, ldp_problem])
def test_facets_end_at_the_optimum_of_all_vertices(seed, n_parts, kind, build) -> None:
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


def test_three_classes_of_many_symbols_are_certified() -> None:
    problem = target_problem(0, 3, "noisy", shape=(5, 30))
    found = solve(problem, gap=1e-5, time_limit=20)
    assert_sound(problem, found)
    assert found.gap <= 1e-5


@pytest.mark.parametrize("failure", ["error", "hole"])
def test_without_a_cover_boxes_are_used(monkeypatch, failure: str) -> None:
    problem = target_problem(0, 3, "noisy")

    def broken(*args, **options):
        if failure == "error":
            raise QhullError("precision")
        hull = ConvexHull(*args, **options)
        hull.simplices = hull.simplices[1:]
        hull.equations = hull.equations[1:]
        return hull

    monkeypatch.setattr(_facets, "ConvexHull", broken)
    assert run(problem, time_limit=5).bound == problem.scale.everything
    found = solve(problem, method="column-generation", gap=1e-3)
    assert found.upper_bound >= problem.scale.kept(brute_force(problem)) - 1e-9


@pytest.mark.parametrize("k", [3, 4])
def test_covers_are_told_from_holes(k: int) -> None:
    base = np.arange(k)
    star = np.array([np.sort(np.append(np.delete(base, i), k)) for i in range(k)])
    assert covers(base[None], k)
    assert covers(star, k)
    finer = np.array([np.sort(np.append(np.delete(star[0], i), k + 1)) for i in range(k)])
    assert covers(np.vstack([star[1:], finer]), k)
    assert not covers(star[1:], k)
    assert not covers(np.vstack([star, star[:1]]), k)
    assert not covers(np.vstack([star[1:], finer[1:]]), k)


def test_extended_entropy_is_concave_and_below_the_entropy() -> None:
    rng = np.random.default_rng(0)
    images = rng.dirichlet(np.full(4, 0.05), 500)
    assert np.all(extended_entropy(images) <= entropy(images) + 1e-12)
    np.testing.assert_allclose(extended_entropy(images), entropy(images), atol=1e-8)
    wide = images + rng.normal(0, 0.02, images.shape)
    middle = extended_entropy(0.5 * (wide[:250] + wide[250:]))
    ends = extended_entropy(wide)
    assert np.all(middle >= 0.5 * (ends[:250] + ends[250:]) - 1e-12)
