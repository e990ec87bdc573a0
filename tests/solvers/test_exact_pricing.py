"""Pairs, levels and couplings find the best posterior at any prices, and the same optimum."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from skliftpriv.exceptions import SkliftprivError
from skliftpriv.solvers import PosteriorProblem, _couplings, _solve, solve
from skliftpriv.solvers._couplings import CouplingPricer
from skliftpriv.solvers._levels import LevelPricer
from skliftpriv.solvers._lp import MasterLP, PolytopeLP
from skliftpriv.solvers._pairs import PairPricer
from skliftpriv.solvers._presolve import reduce_problem
from skliftpriv.solvers._state import SolverState

from ..clock import WorkClock
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
BUILDS = [alip_problem, ldp_problem]


def joint_with_zeros(n_s: int, n_x: int, seed: int, share: float = 0.25) -> np.ndarray:
    rng = np.random.default_rng(seed)
    joint = random_joint(n_s, n_x, seed) * (rng.random((n_s, n_x)) > share)
    joint[rng.integers(n_s, size=n_x), np.arange(n_x)] += 0.05
    joint[np.arange(n_s), rng.integers(n_x, size=n_s)] += 0.05
    return joint / joint.sum()


def upper_only(joint: np.ndarray, eps: float) -> PosteriorProblem:
    """Lifts bounded from above alone, so that an output may exclude a sensitive value."""
    problem = alip_problem(joint, 2 * eps)
    return replace(problem, rows=problem.rows[: len(joint)])


def binary_target(seed: int) -> PosteriorProblem:
    rng = np.random.default_rng([seed, 1])
    problem = BUILDS[seed % 2](random_joint(3, 6, seed), float(rng.choice([0.1, 0.5, 1.5])))
    return replace(problem, image=random_image(rng, 6, 2, KINDS[seed % 3]))


def binary_sensitive(seed: int) -> PosteriorProblem:
    rng = np.random.default_rng([seed, 2])
    problem = BUILDS[seed % 2](random_joint(2, 6, seed), float(rng.choice([0.1, 0.5, 1.5])))
    return replace(problem, image=random_image(rng, 6, 2 + seed % 3, KINDS[seed % 3]))


def sees_sensitive(seed: int) -> PosteriorProblem:
    eps = float(np.random.default_rng([seed, 3]).choice([0.1, 0.5, 1.5]))
    shape = [(3, 3), (4, 2), (2, 4)][seed % 3]
    return pairs_problem(joint_with_zeros(*shape, seed), BUILDS[seed % 2], eps)


def sees_sensitive_upper_only(seed: int) -> PosteriorProblem:
    return pairs_problem(joint_with_zeros(3, 3, seed, 0.4), upper_only, 0.4)


def target_of_pairs(seed: int) -> PosteriorProblem:
    problem = sees_sensitive(seed)
    rng = np.random.default_rng([seed, 4])
    return replace(problem, image=random_image(rng, problem.n_symbols, 2 + seed % 2, "noisy"))


FAMILIES = {
    "binary target": (binary_target, LevelPricer),
    "binary sensitive": (binary_sensitive, PairPricer),
    "sees S": (sees_sensitive, CouplingPricer),
    "sees S, one side": (sees_sensitive_upper_only, CouplingPricer),
}
each_family = pytest.mark.parametrize(("build", "kind"), FAMILIES.values(), ids=FAMILIES)


def some_prices(problem, rng):
    """Prices of all sizes, and those of an optimum, where most reduced costs are zero."""
    n = reduce_problem(problem).p.size
    for spread in (0.0, 0.05, 0.5, 3.0):
        yield from rng.normal(0.6, spread, (4, n))
    reduced = reduce_problem(problem)
    wide = replace(problem, p_x=reduced.p, rows=problem.rows[:, first_of(reduced)], image=None)
    vertices = all_vertices(wide)
    master = MasterLP(reduced.p)
    master.add(vertices, reduced.utility.entropy(vertices))
    yield master.solve().prices


def first_of(reduced):
    return np.unique(reduced.group_of, return_index=True)[1]


def state_of(problem, time_limit=None):
    return SolverState(problem.scale, 1e-6, time_limit, False)


def pricer_of(kind, problem, time_limit=None):
    reduced = reduce_problem(problem)
    return kind(reduced) if kind is PairPricer else kind(reduced, state_of(problem, time_limit))


@pytest.mark.parametrize("kind", [LevelPricer, CouplingPricer])
def test_without_time_there_is_no_bound(kind) -> None:
    problem = pairs_problem(random_joint(4, 8), alip_problem, 0.3)
    if kind is LevelPricer:
        image = random_image(np.random.default_rng(0), problem.n_symbols, 2, "noisy")
        problem = replace(problem, image=image)
    pricer = pricer_of(kind, problem, 1e-6)
    found, bound = pricer.price(np.full(problem.n_symbols, 0.6))
    assert bound == -np.inf
    assert len(pricer.first) < problem.n_symbols
    np.testing.assert_allclose(found.sum(axis=1), 1.0, atol=1e-9)


@each_family
@pytest.mark.parametrize("seed", range(6))
def test_pricers_are_exact_at_any_prices(build, kind, seed: int) -> None:
    problem = build(seed)
    reduced = reduce_problem(problem)
    assert len(reduced.directions) == 1 or kind is not PairPricer
    pricer = pricer_of(kind, problem)
    assert reduced.violation(pricer.first).max(initial=0.0) <= 1e-9
    vertices = reduced.grouped(all_vertices(problem))
    optimum = brute_force(problem)
    for prices in some_prices(problem, np.random.default_rng(seed)):
        found, bound = pricer.price(prices)
        assert bound <= optimum + 1e-9
        reduced_cost = reduced.utility.entropy(vertices) - vertices @ prices
        least = float(reduced_cost.min())
        if kind is not PairPricer:  # which averages over symbols instead
            assert bound == pytest.approx(prices @ reduced.p + min(least, 0.0), abs=1e-7)
        np.testing.assert_allclose(found.sum(axis=1), 1.0, atol=1e-9)
        assert found.min(initial=0.0) >= 0
        assert reduced.violation(found).max(initial=0.0) <= 1e-9
        assert (reduced.utility.entropy(found) - found @ prices).max(initial=-1.0) < 0
        if kind is PairPricer:  # symbols alone are in the pool from the start
            found = np.vstack([found, pricer.first])
        if least < -1e-7:
            best = (reduced.utility.entropy(found) - found @ prices).min()
            assert best == pytest.approx(least, abs=1e-7)


EVERY = {**{name: build for name, (build, _) in FAMILIES.items()}, "target, S": target_of_pairs}
SEEDS = [
    *range(6),
    *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(6, 60)),
]


@pytest.mark.parametrize("build", EVERY.values(), ids=EVERY)
@pytest.mark.parametrize("seed", SEEDS)
def test_all_methods_agree_with_brute_force(monkeypatch, build, seed: int) -> None:
    problem = build(seed)
    optimum = problem.scale.kept(brute_force(problem))
    exact = [solve(problem, method="vertices"), solve(problem)]
    monkeypatch.setattr(_solve, "_few_vertices", lambda *arguments: False)
    if build is not target_of_pairs:
        exact.append(solve(problem, gap=2e-7))
    for solution in exact:
        assert solution.status in ("optimal", "gap_reached")
        assert solution.kept == pytest.approx(optimum, abs=3e-7)
    stopped = [
        solve(problem, method="column-generation", gap=2e-7, time_limit=steps * WorkClock.TICK)
        for steps in (30, 300)
    ]
    assert stopped[-1].kept >= optimum - 1e-3
    for solution in exact + stopped:
        assert_sound(problem, solution)
        assert solution.kept <= optimum + 1e-9
        assert solution.upper_bound >= optimum - 1e-9


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("build", BUILDS)
def test_levels_equal_couplings_for_a_binary_target_that_is_a_function(build, seed: int) -> None:
    rng = np.random.default_rng(seed)
    problem = pairs_problem(random_joint(4, 8, seed), build, 0.3)
    problem = replace(problem, image=random_image(rng, problem.n_symbols, 2, "function"))
    reduced = reduce_problem(problem)
    values = []
    for kind in (LevelPricer, CouplingPricer):
        pricer = pricer_of(kind, problem)
        columns = np.vstack([reduced.p, pricer.first])
        for _ in range(60):
            master = MasterLP(reduced.p)
            master.add(columns, reduced.utility.entropy(columns))
            point = master.solve()
            found, bound = pricer.price(point.prices)
            if not len(found):
                break
            columns = np.vstack([columns, found])
        assert bound == pytest.approx(point.objective, abs=1e-7)
        values.append(point.objective)
    assert values[0] == pytest.approx(values[1], abs=1e-7)


def test_the_easiest_pricing_is_chosen(monkeypatch) -> None:
    joint, rng = random_joint(3, 6), np.random.default_rng(0)
    noisy = [random_image(rng, 6, k, "noisy") for k in (2, 3)]
    cases = [
        (alip_problem(random_joint(2, 6), 0.5), PairPricer),
        (replace(alip_problem(joint, 0.5), image=noisy[0]), LevelPricer),
        (pairs_problem(joint), CouplingPricer),
        (alip_problem(joint, 0.5), type(None)),
        (replace(alip_problem(joint, 0.5), image=noisy[1]), type(None)),
    ]
    for problem, kind in cases:
        assert type(_solve._exact_pricer(reduce_problem(problem), state_of(problem))) is kind
    # Too many couplings for exact pricing: columns are generated instead.
    monkeypatch.setattr(_couplings, "_MOST_CELLS", 10)
    problem = pairs_problem(joint)
    with pytest.raises(SkliftprivError, match="steps"):
        pricer_of(CouplingPricer, problem)
    assert _solve._exact_pricer(reduce_problem(problem), state_of(problem)) is None


def test_couplings_are_priced_rather_than_enumerated() -> None:
    # 15,553 vertices would take cddlib many seconds, which no time limit stops.
    found = solve(pairs_problem(random_joint(4, 6)))
    assert found.status == "optimal"
    assert found.n_columns < 2000


def test_couplings_need_no_cddlib_for_bounds_of_lifts(monkeypatch) -> None:
    problem = pairs_problem(random_joint(4, 6))
    expected = solve(problem).kept

    def missing(*args):
        raise SkliftprivError("cddlib is missing")

    for module in (_couplings, _solve):
        name = "enumerate_vertices" if module is _couplings else "solve_by_enumeration"
        monkeypatch.setattr(module, name, missing)
    again = solve(problem)
    assert again.status in ("optimal", "gap_reached")
    assert again.kept == pytest.approx(expected, abs=1e-6)


LARGER = {
    "levels": lambda: replace(
        alip_problem(random_joint(5, 40), 0.5),
        image=random_image(np.random.default_rng(0), 40, 2, "noisy"),
    ),
    "couplings": lambda: pairs_problem(random_joint(5, 12)),
    "pairs": lambda: replace(
        alip_problem(random_joint(2, 60), 0.5),
        image=random_image(np.random.default_rng(0), 60, 3, "noisy"),
    ),
}
each_larger = pytest.mark.parametrize("build", LARGER.values(), ids=LARGER)


@each_larger
def test_time_limits_give_sound_solutions(build) -> None:
    problem = build()
    best = solve(problem, gap=1e-7)
    assert best.status in ("optimal", "gap_reached")
    assert_sound(problem, best)
    kept = []
    for steps in (1, 3, 8, 15, 30):
        early = solve(problem, time_limit=steps * WorkClock.TICK)
        assert_sound(problem, early)
        assert early.kept <= best.upper_bound + 1e-9
        assert early.upper_bound >= best.kept - 1e-9
        if early.gap > 1e-6:
            assert early.status == "time_limit"
        kept.append(early.kept)
    assert np.all(np.diff(kept) >= -1e-9)


@each_larger
@pytest.mark.parametrize("after", [1, 2, 4])
@pytest.mark.parametrize("where", ["price", "solve", "minimise"])
def test_interrupts_give_sound_solutions(monkeypatch, build, after: int, where: str) -> None:
    problem = build()
    best = solve(problem, gap=1e-7)
    kinds = {
        "price": [LevelPricer, CouplingPricer, PairPricer],
        "solve": [MasterLP],
        "minimise": [PolytopeLP],
    }[where]
    calls = {"left": after + (1 if where == "solve" else 0)}

    def interrupting(original):
        def call(*args):
            calls["left"] -= 1
            if calls["left"] == 0:
                raise KeyboardInterrupt
            return original(*args)

        return call

    for kind in kinds:
        monkeypatch.setattr(kind, where, interrupting(getattr(kind, where)))
    found = solve(problem, gap=1e-7)
    assert_sound(problem, found)
    assert found.kept <= best.upper_bound + 1e-9
    assert found.upper_bound >= best.kept - 1e-9
    if calls["left"] <= 0:
        assert found.status in ("interrupted", "optimal", "gap_reached")
        assert found.status == "interrupted" or found.gap <= 2e-7


START = {
    **LARGER,
    "columns": lambda: alip_problem(random_joint(5, 30), 1.0),
    "columns of a target": lambda: replace(
        alip_problem(random_joint(5, 30), 1.0),
        image=random_image(np.random.default_rng(0), 30, 4, "noisy"),
    ),
    "copies": lambda: alip_problem(np.repeat(random_joint(5, 30), 2, axis=1) / 2, 1.0),
}


def a_mixture(problem) -> tuple[np.ndarray, np.ndarray]:
    """Some posteriors that average to p, from a solution with a larger budget of time."""
    found = solve(problem, gap=0.05, time_limit=2.0)
    return found.posteriors, found.weights


@pytest.mark.parametrize("build", START.values(), ids=START)
@pytest.mark.parametrize("on_demand", [False, True], ids=["listed", "on demand"])
def test_the_start_is_honoured_after_any_limit(build, on_demand: bool) -> None:
    problem = build()
    posteriors, weights = a_mixture(problem)
    known = problem.scale.kept(float(weights @ costs(problem, posteriors)))
    assert known > 0.2
    asked = problem
    if on_demand:
        rows = problem.rows
        asked = replace(problem, rows=rows[:0], separate=lambda v: rows)
    told = []

    def start(seconds):
        told.append(seconds)
        yield posteriors[::2]
        yield np.vstack([posteriors[1::2], np.eye(problem.n_symbols)[:1]])  # the last is refused

    for steps, method in product((1, 10, 100), ("auto", "column-generation")):
        limit = steps * WorkClock.TICK
        found = solve(asked, start=start, method=method, time_limit=limit)
        assert_sound(problem, found)
        assert found.kept >= known - 1e-9
        assert told[-1] <= limit


def test_an_interrupted_start_keeps_what_it_gave(monkeypatch) -> None:
    problem = START["columns"]()
    posteriors, weights = a_mixture(problem)
    known = problem.scale.kept(float(weights @ costs(problem, posteriors)))

    def start(seconds):
        yield posteriors
        raise KeyboardInterrupt

    found = solve(problem, start=start)
    assert found.status == "interrupted"
    assert found.kept >= known - 1e-9
    assert found.upper_bound == 1.0


def test_price_lowering_of_pairs_never_exceeds_the_optimum() -> None:
    problem = binary_sensitive(1)
    optimum = brute_force(problem)
    pricer = PairPricer(reduce_problem(problem))
    rng = np.random.default_rng(0)
    bounds = [pricer.price(prices)[1] for prices in rng.normal(0, 2.0, (300, 6))]
    assert max(bounds) <= optimum + 1e-9


def test_exact_pricing_ends_without_a_gap() -> None:
    found = solve(LARGER["levels"](), gap=0.0)
    assert found.gap <= 1e-7
    assert found.n_columns < 2000
