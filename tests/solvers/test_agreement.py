"""Column generation, pair pricing and vertex enumeration find the same optimum."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from skliftpriv.solvers import PosteriorProblem, solve

from .problems import alip_problem, assert_sound, ldp_problem, random_joint

pytest.importorskip("cdd")

REFERENCE = json.loads((Path(__file__).parents[1] / "data" / "aorr_17x5.json").read_text())["aorr"]


def build(notion: str, joint: np.ndarray, eps: float):
    if notion == "ldp":
        return ldp_problem(joint, eps)
    return alip_problem(joint, eps, {"lip": 0.5, "alip": 0.35, "alip65": 0.65}[notion])


def reference_problem(case: dict):
    return alip_problem(random_joint(case["S"], case["X"], case["seed"]), case["eps"], case["lam"])


def check_agreement(problem, method: str = "column-generation") -> None:
    expected = solve(problem, method="vertices")
    solution = solve(problem, method=method, gap=5e-8)
    assert_sound(problem, expected)
    assert_sound(problem, solution)
    assert solution.status in ("optimal", "gap_reached")
    assert abs(solution.kept - expected.kept) <= 1e-7
    assert solution.upper_bound >= expected.kept - 1e-9


@pytest.mark.parametrize("notion", ["lip", "alip", "ldp"])
@pytest.mark.parametrize("seed", range(6))
def test_columns_equal_vertices_on_small_joints(notion: str, seed: int) -> None:
    rng = np.random.default_rng([seed, len(notion)])
    joint = random_joint(int(rng.integers(2, 6)), int(rng.integers(3, 9)), seed)
    check_agreement(build(notion, joint, float(rng.choice([0.1, 0.5, 1.0, 2.0]))))


@pytest.mark.parametrize("seed", range(8))
def test_columns_equal_vertices_for_general_rows(seed: int) -> None:
    rng = np.random.default_rng(seed)
    p_x = rng.dirichlet(np.full(int(rng.integers(3, 10)), 2.0))
    rows = rng.standard_normal((int(rng.integers(1, 7)), p_x.size)) * 10.0 ** rng.integers(-2, 3)
    rows -= (rows @ p_x)[:, None] + rng.uniform(0, 0.3, (len(rows), 1)) * np.abs(rows).max()
    check_agreement(PosteriorProblem(p_x, rows))


@pytest.mark.slow
@pytest.mark.parametrize("notion", ["lip", "alip", "alip65", "ldp"])
@pytest.mark.parametrize("seed", range(40))
def test_columns_equal_vertices_on_hundreds_of_joints(notion: str, seed: int) -> None:
    rng = np.random.default_rng([seed, 7])
    joint = random_joint(int(rng.integers(2, 6)), int(rng.integers(2, 14)), 1000 + seed)
    check_agreement(build(notion, joint, float(rng.choice([0.05, 0.5, 1.0, 2.0, 4.0]))))


@pytest.mark.slow
@pytest.mark.parametrize("notion", ["lip", "alip", "ldp"])
@pytest.mark.parametrize("eps", [1.0, 2.0])
@pytest.mark.parametrize("seed", range(3))
def test_columns_equal_vertices_at_17x5(notion: str, eps: float, seed: int) -> None:
    check_agreement(build(notion, random_joint(5, 17, seed), eps))


@pytest.mark.parametrize("notion", ["lip", "alip", "alip65", "ldp"])
@pytest.mark.parametrize("seed", range(10))
def test_pairs_equal_vertices_for_binary_sensitive(notion: str, seed: int) -> None:
    rng = np.random.default_rng([seed, 3])
    joint = random_joint(2, int(rng.integers(2, 25)), seed)
    check_agreement(build(notion, joint, float(rng.choice([0.01, 0.3, 1.0, 3.0]))), "auto")


@pytest.mark.parametrize("method", ["vertices", "column-generation"])
def test_reference_value(method: str) -> None:
    case = REFERENCE[3]
    problem = reference_problem(case)
    assert abs(solve(problem, method=method, gap=5e-8).kept - case["nmi"]) <= 1e-7


@pytest.mark.slow
@pytest.mark.parametrize("case", REFERENCE, ids=lambda c: f"{c['seed']}-{c['eps']}-{c['lam']}")
@pytest.mark.parametrize("method", ["vertices", "column-generation"])
def test_all_reference_values(case: dict, method: str) -> None:
    problem = reference_problem(case)
    assert abs(solve(problem, method=method, gap=5e-8).kept - case["nmi"]) <= 1e-7


@pytest.mark.parametrize("method", ["auto", "column-generation", "vertices"])
def test_funnel_2020_protocol_value(method: str) -> None:
    problem = ldp_problem(random_joint(2, 5, 0), 0.5)
    assert round(solve(problem, method=method).kept * problem.scale.constant, 5) == 1.20983


def test_the_former_name_of_column_generation_is_accepted() -> None:
    problem = ldp_problem(random_joint(2, 5, 0), 0.5)
    assert solve(problem, method="columns").kept == solve(problem, method="column-generation").kept
