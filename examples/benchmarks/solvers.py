"""How fast are the solvers? Times, certified gaps, and ratios measured in the same run.

Run ``python examples/benchmarks/solvers.py --quick`` (about half a minute) or without the
option (about ten minutes). Joints are ``default_rng(0).random((S, X))``, normalised, with
eps_l = eps_u = eps / 2.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from skliftpriv.solvers import PosteriorProblem, PosteriorSolution, solve

CERTIFIED = [(17, 5, 1.0), (50, 5, 2.0), (20, 15, 2.0), (30, 15, 2.0), (100, 5, 2.0), (60, 10, 2.0)]
BUDGETED = [(200, 15, eps, limit) for eps in (1.0, 2.0, 4.0) for limit in (10.0, 120.0)]
COMPARED = [(17, 5, 1.0), (20, 15, 2.0), (50, 5, 2.0), (30, 5, 1.0), (100, 5, 2.0)]
BINARY = [(2000, 2, 0.5), (2000, 2, 1.0), (2000, 2, 2.0)]


def problem(n_x: int, n_s: int, eps: float) -> PosteriorProblem:
    """Return the ALIP problem of a random joint."""
    joint = np.random.default_rng(0).random((n_s, n_x))
    joint /= joint.sum()
    lift = joint / joint.sum(axis=0) / joint.sum(axis=1)[:, None]
    rows = np.vstack([lift - np.exp(eps / 2), np.exp(-eps / 2) - lift])
    return PosteriorProblem(joint.sum(axis=0), rows)


def show(name: str, solution: PosteriorSolution, note: str = "") -> None:
    """Print one line of the table."""
    print(
        f"{name:<30} {solution.seconds:8.2f} s  NMI {solution.nmi:.6f}  "
        f"bound {solution.upper_bound:.6f}  gap {solution.gap:.1e}  {solution.status:<12} "
        f"columns {solution.n_columns:6d}  nodes {solution.n_nodes:6d}  {note}",
        flush=True,
    )


def against_vertices(n_x: int, n_s: int, eps: float) -> None:
    """Time column generation against vertex enumeration on one problem."""
    instance = problem(n_x, n_s, eps)
    columns = solve(instance, method="columns")
    show(f"{n_x} x {n_s}, eps={eps:g}, columns", columns)
    vertices = solve(instance, method="vertices")
    ratio = vertices.seconds / columns.seconds
    difference = abs(vertices.nmi - columns.nmi)
    note = f"columns {ratio:.1f} times faster, NMI differs by {difference:.0e}"
    show(f"{n_x} x {n_s}, eps={eps:g}, vertices", vertices, note)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="leave out what takes minutes")
    quick = parser.parse_args().quick
    start = time.perf_counter()
    for n_x, n_s, eps in CERTIFIED:
        show(f"{n_x} x {n_s}, eps={eps:g}", solve(problem(n_x, n_s, eps), time_limit=60.0))
    for n_x, n_s, eps in BINARY[1:2] if quick else BINARY:
        show(f"{n_x} x {n_s}, eps={eps:g}", solve(problem(n_x, n_s, eps), time_limit=60.0))
    for n_x, n_s, eps, limit in BUDGETED[2:3] if quick else BUDGETED:
        name = f"{n_x} x {n_s}, eps={eps:g}, {limit:g} s"
        show(name, solve(problem(n_x, n_s, eps), time_limit=limit))
    for n_x, n_s, eps in COMPARED[:3] if quick else COMPARED:
        against_vertices(n_x, n_s, eps)
    print(f"total {time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
