"""What is kept is a linear image of the posterior: bounds, merging and polishing stay exact."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from skliftpriv.exceptions import InvalidParameterError
from skliftpriv.solvers import PosteriorProblem, _polish, solve
from skliftpriv.solvers._boxes import corner_bound
from skliftpriv.solvers._image import Image, Scale, entropy
from skliftpriv.solvers._partition import Partition
from skliftpriv.solvers._polish import polish
from skliftpriv.solvers._presolve import expand, reduce_problem

from .problems import (
    alip_problem,
    all_vertices,
    assert_sound,
    brute_force,
    costs,
    ldp_problem,
    pairs_problem,
    random_image,
    random_joint,
)

KINDS = ["function", "noisy", "zeros"]


def with_image(problem: PosteriorProblem, rng, n_parts: int, kind: str) -> PosteriorProblem:
    return replace(problem, image=random_image(rng, problem.n_symbols, n_parts, kind))


@given(st.integers(0, 10**6), st.integers(1, 7), st.integers(1, 5), st.sampled_from(KINDS))
def test_entropy_of_the_image_lies_below_its_linearisations(seed, n, n_parts, kind) -> None:
    rng = np.random.default_rng(seed)
    matrix = random_image(rng, n, n_parts, kind)
    image = Image(matrix)
    v, w = rng.dirichlet(np.ones(n), (2, 20))
    np.testing.assert_allclose(image.of(v).sum(axis=1), 1.0, atol=1e-12)
    np.testing.assert_allclose(image.entropy(v), entropy(v @ matrix.T), atol=1e-12)
    cost = rng.standard_normal((20, n_parts))
    np.testing.assert_allclose(
        (image.pulled_back(cost) * v).sum(axis=1), (cost * image.of(v)).sum(axis=1), atol=1e-12
    )
    # -sum w log v is at least H(w), with equality at v; entries near zero are floored.
    above = (image.slopes(v) * w).sum(axis=1)
    regular = image.of(v).min(axis=1) > 1e-4
    assert np.all(above[regular] >= image.entropy(w)[regular] - 1e-12)


def test_only_functions_of_the_input_have_symbols() -> None:
    assert Image().identity
    assert Image().symbols is None
    np.testing.assert_array_equal(Image(np.eye(3)[:, [2, 0, 2, 1]]).symbols, [2, 0, 2, 1])
    assert Image(np.array([[0.5, 1.0], [0.5, 0.0]])).symbols is None


def test_the_share_that_is_kept_lies_between_a_constant_and_the_input() -> None:
    scale = Scale(constant=1.5, everything=0.5)
    assert [scale.kept(h) for h in (1.5, 1.25, 0.5)] == [0.0, 0.25, 1.0]
    assert scale.kept(1.6) == 0.0
    assert Scale(0.7, 0.7).kept(0.7) == 1.0  # there is nothing to keep


@pytest.mark.parametrize(
    ("image", "message"),
    [
        (np.ones((1, 2)), r"shape \(k, 3\)"),
        (np.ones(3), "shape"),
        (np.zeros((0, 3)), "shape"),
        ([[0.5, 0.5, 0.5], [0.5, 0.5, 0.4]], "sum to 1"),
        ([[1.5, 0.5, 0.5], [-0.5, 0.5, 0.5]], "probabilities"),
        ([[np.nan, 0.5, 0.5], [0.5, 0.5, 0.5]], "probabilities"),
    ],
)
def test_malformed_images_are_refused(image, message: str) -> None:
    with pytest.raises(InvalidParameterError, match=message):
        PosteriorProblem([0.2, 0.3, 0.5], [[-1.0, -1.0, -1.0]], image=image)


@given(st.integers(0, 10**6), st.integers(1, 9), st.integers(1, 6), st.sampled_from(KINDS))
def test_corner_bound_lies_below_the_entropy_of_the_image(seed, n, n_parts, kind) -> None:
    rng = np.random.default_rng(seed)
    points = rng.dirichlet(np.full(n, 0.5), 30)
    share = np.where(rng.random((30, n)) < 0.5, 0.0, rng.random((30, n)))
    share[:3] = 1.0  # boxes that hold a single posterior
    share[3:6] = 1.0 - 1e-12
    lower = points * share
    for image in (Image(random_image(rng, n, n_parts, kind)), Image()):
        cost = corner_bound(image, lower)
        assert np.all((cost * points).sum(axis=1) <= image.entropy(points) + 1e-8)
        assert np.all((cost * points)[6:].sum(axis=1) <= image.entropy(points[6:]) + 1e-10)
        # It is attained at the corners.
        free = 1.0 - lower.sum(axis=1)
        corner = lower + free[:, None] * np.eye(n)[rng.integers(n, size=30)]
        wide = free > 1e-6
        np.testing.assert_allclose(
            (cost * corner).sum(axis=1)[wide], image.entropy(corner)[wide], atol=1e-8
        )


def refined(problem: PosteriorProblem, rng, rounds: int = 15) -> tuple[Partition, np.ndarray]:
    """Return a partition that was split at random, and posteriors all over the polytope."""
    reduced = reduce_problem(problem)
    n = reduced.p.size
    lp = reduced.polytope()
    partition = Partition(reduced, np.ones(n))
    vertices = np.array([lp.minimise(rng.standard_normal(n)).v for _ in range(100)])
    points = np.vstack([vertices, rng.dirichlet(np.full(100, 0.05), 200) @ vertices])
    for _ in range(rounds):
        below = partition.refresh(rng.random(n), np.inf)[:3]
        middle, solved = partition.evaluate(below)
        partition.split(below[solved], middle[solved])
    return partition, points


PARTITIONED = {
    "target": lambda rng, seed: with_image(
        alip_problem(random_joint(4, 8, seed), 1.0), rng, 3, KINDS[seed % 3]
    ),
    "sees S": lambda rng, seed: pairs_problem(random_joint(3, 4, seed), ldp_problem),
    "identity": lambda rng, seed: alip_problem(random_joint(4, 8, seed), 1.0),
}


@pytest.mark.parametrize("build", PARTITIONED.values(), ids=PARTITIONED)
@pytest.mark.parametrize("seed", range(4))
def test_partition_covers_and_bounds_every_posterior(build, seed: int) -> None:
    rng = np.random.default_rng(seed)
    partition, points = refined(build(rng, seed), rng)
    utility = partition._reduced.utility
    alive = np.flatnonzero(partition.alive[: partition.size])
    inside = (points[:, None] >= partition.lower[alive] - 1e-9) & (
        points[:, None] <= partition.upper[alive] + 1e-9
    )
    inside = inside.all(axis=2)
    assert inside.any(axis=1).all()
    below = points @ partition.costs(alive).T <= utility.entropy(points)[:, None] + 1e-7
    assert below[inside].all()
    for prices in rng.normal(0.5, 1.0, (5, points.shape[1])):
        partition.refresh(prices, np.inf)
        least = (utility.entropy(points) - points @ prices).min()
        assert partition.lowest() <= least + 1e-7


@pytest.mark.parametrize("build", PARTITIONED.values(), ids=PARTITIONED)
@pytest.mark.parametrize("seed", range(3))
def test_objective_bound_is_valid_at_any_prices(build, seed: int) -> None:
    rng = np.random.default_rng(seed)
    problem = build(rng, seed)
    partition, _ = refined(problem, rng)
    expected = solve(problem, gap=1e-9)
    scale = problem.scale
    optimum = scale.constant - scale.information * expected.upper_bound
    n = partition._reduced.p.size
    for spread in (0.0, 0.1, 1.0, 5.0):
        for prices in rng.normal(0.5, spread, (5, n)):
            below = partition.refresh(prices, np.inf)
            assert partition.objective_bound() <= optimum + 1e-8
            partition.evaluate(below[:5])
            bound = partition.objective_bound()
            assert bound <= optimum + 1e-8
            # Lowering prices can only help.
            lowest = min(partition.lowest(), 0.0)
            assert bound >= prices @ partition._reduced.p + lowest - 1e-9


def with_copies(seed: int, kind: str) -> PosteriorProblem:
    """A problem in which symbols come in copies that neither rows nor image distinguish."""
    rng = np.random.default_rng(seed)
    joint, copies = random_joint(3, 3, seed), np.repeat(np.arange(3), [1, 2, 3])
    split = joint[:, copies] * rng.uniform(0.2, 1.0, copies.size)
    image = random_image(rng, 3, 2 + seed % 2, kind)[:, copies]
    if seed % 2:
        image[:, -1] = image[::-1, -1]  # the same lifts as its copies, but another image
    return replace(alip_problem(split / split.sum(), 1.0), image=image)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(6))
def test_merging_symbols_with_the_same_image_is_exact(seed: int, kind: str) -> None:
    problem = with_copies(seed, kind)
    reduced = reduce_problem(problem)
    alike = np.vstack([np.round(problem.rows, 12), np.round(problem.image, 12)])
    assert reduced.p.size == len(np.unique(alike, axis=1).T) < problem.n_symbols
    optimum = brute_force(problem)  # knows nothing of groups
    for method in ("auto", "column-generation", "vertices"):
        solution = solve(problem, method=method, gap=1e-8)
        assert_sound(problem, solution)
        assert solution.kept == pytest.approx(problem.scale.kept(optimum), abs=1e-7)


def test_expansion_keeps_average_and_image() -> None:
    problem = with_copies(0, "noisy")
    reduced = reduce_problem(problem)
    channel = np.random.default_rng(0).dirichlet(np.ones(4), reduced.p.size)
    weights = reduced.p @ channel
    posteriors = (reduced.p[:, None] * channel / weights).T
    wide, wide_weights = expand(reduced, posteriors, weights)
    np.testing.assert_allclose(wide_weights @ wide, problem.p_x, atol=1e-14)
    np.testing.assert_allclose(problem.utility.of(wide), reduced.utility.of(posteriors), atol=1e-14)
    np.testing.assert_allclose(reduced.grouped(wide), posteriors, atol=1e-14)


@pytest.mark.parametrize("seed", range(5))
def test_outputs_with_the_same_image_are_merged_and_nothing_is_lost(seed: int) -> None:
    rng = np.random.default_rng(seed)
    problem = replace(
        alip_problem(random_joint(3, 6, seed), 1.0), image=np.eye(2)[:, [0, 0, 0, 1, 1, 1]]
    )
    vertices = all_vertices(problem)
    corners = vertices[rng.permutation(len(vertices))]
    # A mixture of vertices that averages to p, with each of them twice.
    weights = linprog(rng.random(len(corners)), A_eq=corners.T, b_eq=problem.p_x).x
    twice, half = np.vstack([corners, corners]), np.concatenate([weights, weights]) / 2
    v, q = polish(problem, twice, half)
    before = half @ costs(problem, twice)
    assert q @ costs(problem, v) <= before + 1e-9
    images = np.round(problem.utility.of(v), 9)
    assert len(np.unique(images, axis=0)) == len(q) <= problem.n_symbols
    assert (v @ problem.rows.T).max() <= 1e-9
    np.testing.assert_allclose(q @ v, problem.p_x, atol=1e-12)


def test_different_posteriors_of_one_image_become_their_average() -> None:
    problem = PosteriorProblem(np.full(4, 0.25), np.zeros((0, 4)), image=np.eye(2)[:, [0, 0, 1, 1]])
    v, q = polish(problem, np.eye(4), np.full(4, 0.25))
    np.testing.assert_allclose(q, [0.5, 0.5])
    np.testing.assert_allclose(np.sort(v, axis=0)[::-1][0], np.full(4, 0.5))
    np.testing.assert_allclose(np.sort(v.sum(axis=1)), [1.0, 1.0])


@pytest.mark.parametrize("seed", range(5))
def test_sparse_and_dense_weights_agree(monkeypatch, seed: int) -> None:
    problem = alip_problem(random_joint(4, 12, seed), 0.7)
    dense = solve(problem, gap=1e-8)
    monkeypatch.setattr(_polish, "_MANY_CELLS", 0)
    sparse = solve(problem, gap=1e-8)
    assert_sound(problem, sparse)
    assert sparse.kept == pytest.approx(dense.kept, abs=1e-10)
    np.testing.assert_allclose(sparse.weights @ sparse.posteriors, problem.p_x, atol=1e-14)
