"""The lowest of some planes: its vertices are all there, and cover all distributions."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from skliftpriv.exceptions import SkliftprivError
from skliftpriv.solvers import _envelope
from skliftpriv.solvers._envelope import Envelope
from skliftpriv.solvers._image import entropy

PARTS = [3, 4, 5, 6]


def tangents(k: int, count: int, seed: int) -> np.ndarray:
    """Planes that touch the entropy, moved a little."""
    rng = np.random.default_rng(seed)
    touched = rng.dirichlet(np.full(k, 0.7), count)
    return -np.log(touched) + rng.normal(0.0, 0.05, (count, 1))


def of_planes(planes: np.ndarray, most: int = 10**6) -> Envelope:
    envelope = Envelope(planes.shape[1], most)
    for plane in planes:
        envelope.insert(plane)
    return envelope


def lowest_by_brute_force(planes: np.ndarray) -> float:
    """Every choice of planes and walls that meet in a point below all other planes."""
    count, k = planes.shape
    sides = np.vstack([np.column_stack([np.eye(k), np.zeros(k)]),
                       np.column_stack([planes, -np.ones(count)])])  # fmt: skip
    chosen = np.array(list(combinations(range(len(sides)), k)))
    total = np.tile(np.append(np.ones(k), 0.0), (len(chosen), 1, 1))
    systems = np.concatenate([sides[chosen], total], axis=1)
    systems = systems[np.abs(np.linalg.det(systems)) > 1e-12]
    right = np.tile(np.eye(k + 1)[-1][:, None], (len(systems), 1, 1))
    points = np.linalg.solve(systems, right)[..., 0]
    u, height = points[:, :k], points[:, k]
    valid = (u > -1e-10).all(axis=1) & (u @ planes.T > height[:, None] - 1e-10).all(axis=1)
    return float((entropy(np.maximum(u[valid], 0.0)) - height[valid]).min())


def edges_without_mates(sets: np.ndarray) -> list[tuple[int, ...]]:
    """The edges that an odd number of vertices has."""
    k = sets.shape[1]
    edges = np.vstack([np.delete(sets, i, axis=1) for i in range(k)])
    distinct, count = np.unique(edges, axis=0, return_counts=True)
    return [tuple(map(int, edge)) for edge in distinct[count % 2 == 1]]


@pytest.mark.parametrize("k", PARTS)
@pytest.mark.parametrize("seed", range(3))
def test_the_lowest_vertex_is_that_of_brute_force(k: int, seed: int) -> None:
    planes = tangents(k, {3: 25, 4: 16, 5: 12, 6: 10}[k], seed)
    assert of_planes(planes).lowest() == pytest.approx(lowest_by_brute_force(planes), abs=1e-9)


@pytest.mark.parametrize("k", PARTS)
def test_no_distribution_is_below_the_lowest_vertex(k: int) -> None:
    planes = tangents(k, 150, 0)
    envelope = of_planes(planes)
    u = np.random.default_rng(1).dirichlet(np.full(k, 0.5), 20_000)
    slack = entropy(u) - (u @ planes.T).min(axis=1)
    assert slack.min() >= envelope.lowest() - 1e-12
    assert slack.min() <= envelope.lowest() + 0.1


@pytest.mark.parametrize("k", PARTS)
@pytest.mark.parametrize("flat", [0.0, 1e-12, 0.03])
def test_every_edge_has_a_mate(monkeypatch, k: int, flat: float) -> None:
    """Also if vertices that should be removed stay, as rounding may cause."""
    monkeypatch.setattr(_envelope, "_FLAT", flat)
    planes = tangents(k, 80, 2)
    planes[40:] = np.round(planes[40:], 1)  # many meet in one point, and some are equal
    sets = of_planes(planes).sets
    corners = list(combinations(range(k), k - 1))
    assert edges_without_mates(sets) == corners
    assert np.all(np.diff(sets, axis=1) > 0)


@pytest.mark.parametrize("k", PARTS)
def test_bounds_hold_even_if_points_are_wrong(monkeypatch, k: int) -> None:
    """A plane that is ignored where it cuts little makes the bound lower, never too high."""
    planes = tangents(k, 80, 3)
    exact = of_planes(planes).lowest()
    monkeypatch.setattr(_envelope, "_FLAT", 0.02)
    coarse = of_planes(planes).lowest()
    assert exact - 0.2 <= coarse <= exact + 1e-9


def test_planes_that_are_nowhere_the_lowest_change_nothing() -> None:
    planes = tangents(4, 30, 0)
    envelope = of_planes(planes)
    before = envelope.sets.copy()
    assert not envelope.insert(planes.max(axis=0))
    np.testing.assert_array_equal(envelope.sets, before)
    assert not envelope.insert(planes[0])


def test_planes_in_use_are_those_that_meet_at_vertices() -> None:
    low, high = np.array([0.0, 1.0, 1.0]), np.array([1.0, 2.0, 2.0])
    envelope = of_planes(np.array([high, low]))
    np.testing.assert_array_equal(envelope.planes(), [1])
    assert envelope.n_vertices == 3
    assert envelope.lowest() == -1.0


def test_settled_vertices_are_passed_over_but_count() -> None:
    envelope = of_planes(tangents(4, 30, 0))
    first = envelope.worst()
    lowest = envelope.slack(first)
    envelope.settle(first)
    assert envelope.worst() != first
    assert envelope.slack(envelope.worst()) >= lowest == envelope.lowest()


def test_an_envelope_tells_when_it_is_full() -> None:
    planes = tangents(4, 60, 0)
    assert not of_planes(planes).full
    assert of_planes(planes, most=100).full


def test_a_lost_mate_is_noticed() -> None:
    envelope = of_planes(tangents(4, 30, 0))
    corner = int(np.flatnonzero((envelope._sets[:, :3] == [1, 2, 3]).all(axis=1))[0])
    envelope._sets[corner] = [0, 1, 2, 4]
    with pytest.raises(SkliftprivError, match="without a mate"):
        envelope.insert(np.array([-5.0, 3.0, 3.0, 3.0]))
