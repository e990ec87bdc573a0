"""How fast are the solvers? Times, certified gaps, and ratios measured in the same run.

Run ``python examples/benchmarks/solvers.py --quick`` (about a minute) or without the option
(about twenty minutes). Joints are ``default_rng(0).random((S, X))``, normalised; but for
the first section the budget is LIP with eps_l = eps_u = eps / 2.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import time
from pathlib import Path

import cdd
import numpy as np
from scipy.optimize import linprog

from skliftpriv import LDP, LIP, JointDistribution, mechanisms
from skliftpriv.datasets import make_joint
from skliftpriv.solvers import PosteriorProblem, PosteriorSolution, solve

CERTIFIED = [(20, 15, 2.0), (30, 15, 2.0), (100, 5, 2.0), (60, 10, 2.0)]
BINARY = [(2000, 2, 0.5), (2000, 2, 1.0), (2000, 2, 2.0)]
COMPARED = [(17, 5, 1.0), (50, 5, 2.0), (30, 5, 1.0), (20, 15, 2.0), (50, 5, 1.0)]
GROWTH_X = [10, 14, 20, 28, 40, 56, 80, 113, 160]
GROWTH_S = [2, 3, 4, 5, 6, 8, 10, 12, 15]


def progress(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def title(text: str) -> None:
    print(f"\n{text}\n{'-' * len(text)}", flush=True)


def problem(n_x: int, n_s: int, eps: float) -> PosteriorProblem:
    """Return the LIP problem of a random joint."""
    joint = make_joint(n_s, n_x, random_state=0)
    return PosteriorProblem(joint.p_x, LIP(eps / 2).rows(joint.lift))


def show(name: str, solution: PosteriorSolution) -> None:
    print(
        f"{name:<34}{solution.seconds:9.3f} s  NMI {solution.kept:.6f}  gap {solution.gap:.1e}  "
        f"{solution.status:<12}columns {solution.n_columns:6d}  nodes {solution.n_nodes:6d}",
        flush=True,
    )


# Enumeration as the papers do it ------------------------------------------------------------


def cdd_vertices(inequalities: np.ndarray, equations: np.ndarray) -> np.ndarray:
    """Return the vertices of {v : b + A v >= 0, b' + A' v = 0} with rows (b, A) and (b', A')."""
    table = np.vstack([equations, inequalities]).tolist()
    matrix = cdd.matrix_from_array(
        table, lin_set=set(range(len(equations))), rep_type=cdd.RepType.INEQUALITY
    )
    return np.array(cdd.copy_generators(cdd.polyhedron_from_matrix(matrix)).array)[:, 1:]


def theorem_2(joint: JointDistribution, eps: float) -> tuple[int, float]:
    """Enumerate all |X| x |X| channels that are vertices: Funnel-2020, Theorem 2.

    Returns the number of vertices and the largest I(X;Y).
    """
    n = joint.shape[1]
    given_s = joint.matrix / joint.p_s[:, None]
    rows = [np.exp(eps) * t - s for s in given_s for t in given_s if s is not t]
    rows = [np.kron(row, np.eye(n)) for row in rows]  # Q[x, y] is entry x n + y; one row per y
    inequalities = np.vstack([*rows, np.eye(n * n)])
    equations = np.kron(np.eye(n), np.ones(n))
    found = cdd_vertices(
        np.column_stack([np.zeros(len(inequalities)), inequalities]),
        np.column_stack([-np.ones(n), equations]),
    )
    masses = np.maximum(found.reshape(-1, n, n), 0.0) * joint.p_x[:, None]
    outputs = masses.sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(masses > 0, masses * np.log(masses / outputs / joint.p_x[:, None]), 0.0)
    return len(found), float(terms.sum(axis=(1, 2)).max())


def plain_enumeration(instance: PosteriorProblem) -> tuple[int, float]:
    """Enumerate {A v <= 0, v in the simplex} as it stands and solve the LP over the vertices.

    Returns the number of vertices and the NMI.
    """
    n = instance.n_symbols
    inequalities = np.vstack([-instance.rows, np.eye(n)])
    inequalities = np.column_stack([np.zeros(len(inequalities)), inequalities])
    v = np.maximum(cdd_vertices(inequalities, np.append(-1.0, np.ones(n))[None]), 0.0)
    cost = -np.where(v > 0, v * np.log(np.where(v > 0, v, 1.0)), 0.0).sum(axis=1)
    # The rounding of cddlib must not make the LP infeasible.
    result = linprog(
        cost, A_eq=v.T, b_eq=instance.p_x, options={"primal_feasibility_tolerance": 1e-6}
    )
    return len(v), instance.scale.kept(result.fun)


def presolved_enumeration(instance: PosteriorProblem) -> tuple[int, float]:
    """Enumerate as the package does. Returns the number of vertices and the NMI."""
    solution = solve(instance, method="vertices")
    return solution.n_columns - 1, solution.kept


def _child(connection, function, instance) -> None:
    start = time.perf_counter()
    result = function(instance)
    connection.send((time.perf_counter() - start, *result))


def within(limit: float, function, instance) -> tuple[float, int, float] | None:
    """Return (seconds, vertices, NMI), or None if it takes longer: cddlib cannot be stopped."""
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe(duplex=False)
    process = context.Process(target=_child, args=(there, function, instance))
    process.start()
    there.close()
    try:
        return here.recv() if here.poll(limit + 2.0) else None  # two seconds to start Python
    except EOFError:
        return None  # the child failed and has said why
    finally:
        process.kill()
        process.join()


# The sections ---------------------------------------------------------------------------------


def reduced_ldp(n_x: int, eps: float = 0.5) -> None:
    title(f"LDP with |X|={n_x}, |S|=2, eps={eps:g}: |X|-1 against |X|(|X|-1) dimensions")
    joint = make_joint(2, n_x, random_state=0)
    progress("enumerating channels; about a minute for |X|=5")
    start = time.perf_counter()
    n_vertices, information = theorem_2(joint, eps)
    slow = time.perf_counter() - start
    print(f"Theorem 2's polytope  {slow:9.4f} s  I(X;Y) {information:.5f}  {n_vertices} vertices")
    instance = PosteriorProblem(joint.p_x, LDP(eps).rows(joint.lift))
    for method in ("vertices", "auto"):
        runs = [solve(instance, method=method) for _ in range(5)]
        fast = min(run.seconds for run in runs)
        kept = runs[0].kept * instance.scale.constant
        print(
            f"reduced, {method:<12} {fast:9.4f} s  I(X;Y) {kept:.5f}  "
            f"{runs[0].n_columns} columns; {slow / fast:,.0f} times faster"
        )


def against_vertices(sizes: list[tuple[int, int, float]], limit: float) -> None:
    title(f"Column generation against vertex enumeration (at most {limit:g} s)")
    for n_x, n_s, eps in sizes:
        progress(f"enumerating {n_x} x {n_s}, eps={eps:g}")
        instance = problem(n_x, n_s, eps)
        name = f"{n_x} x {n_s}, eps={eps:g}"
        columns = solve(instance, method="column-generation")
        show(f"{name}, columns", columns)
        for label, function in (("plain", plain_enumeration), ("presolved", presolved_enumeration)):
            result = within(limit, function, instance)
            head = f"{f'{name}, vertices, {label}':<34}"
            if result is None:
                ratio = limit / columns.seconds
                print(f"{head}{'> ' + format(limit, 'g'):>9} s  time / columns > {ratio:.0f}")
                continue
            seconds, n_vertices, nmi = result
            print(
                f"{head}{seconds:9.3f} s  NMI {nmi:.6f}  {n_vertices} vertices; "
                f"time / columns {seconds / columns.seconds:.1f}"
            )


def certified(sizes: list[tuple[int, int, float]]) -> None:
    title("Certified optimum, gap 1e-6")
    for n_x, n_s, eps in sizes:
        progress(f"certifying {n_x} x {n_s}, eps={eps:g}")
        show(f"{n_x} x {n_s}, eps={eps:g}", solve(problem(n_x, n_s, eps), time_limit=60.0))


def heuristics(budgets: list[float], limits: list[float]) -> None:
    title("200 x 15 (Lift-2023, figure 10): ORR against SRR and subset merging")
    joint = make_joint(15, 200, random_state=0)
    for eps in budgets:
        progress(f"200 x 15, eps={eps:g}")
        notion = LIP(eps / 2)
        merging = mechanisms.subset_merging(joint, notion)
        subset = mechanisms.subset_random_response(joint, notion, time_limit=60.0)
        print(f"eps={eps:g}: subset merging NMI {merging.nmi:.4f}")
        print(f"eps={eps:g}: SRR, {subset.seconds:.1f} s, NMI {subset.nmi:.4f} ({subset.status})")
        for limit in limits:
            best = mechanisms.optimal_random_response(joint, notion, time_limit=limit)
            print(
                f"eps={eps:g}: ORR, {best.seconds:.1f} s, NMI {best.nmi:.4f}, gap {best.gap:.4f}, "
                f"upper bound {best.upper_bound:.4f}; ORR - SRR {best.nmi - subset.nmi:+.4f}",
                flush=True,
            )


def growth(sizes: list[tuple[int, int]], eps: float, limit: float) -> dict[str, list[float]]:
    """Return the seconds of both methods per size; enumeration ends where it hits the limit."""
    times: dict[str, list[float]] = {"column-generation": [], "vertices": []}
    for n_x, n_s in sizes:
        progress(f"growth: {n_x} x {n_s}")
        instance = problem(n_x, n_s, eps)
        solution = solve(instance, method="column-generation", time_limit=limit)
        times["column-generation"].append(solution.seconds if solution.gap <= 1e-6 else np.inf)
        if np.isfinite(times["vertices"][-1:]).all():
            result = within(limit, presolved_enumeration, instance)
            times["vertices"].append(np.inf if result is None else result[0])
        found = ", ".join(f"{name} {seconds[-1]:.2f} s" for name, seconds in times.items())
        print(f"{n_x} x {n_s}: {found}".replace("inf s", "not done"), flush=True)
    return times


def plot(
    panels: list[tuple[str, list[int], dict[str, list[float]]]], limit: float, path: Path
) -> None:
    """Draw times against size, one panel per axis of growth."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(
        1, len(panels), figsize=(10, 4.2), sharey=True, layout="constrained"
    )
    styles = {"column-generation": ("#0072B2", "o", "-"), "vertices": ("#D55E00", "s", "--")}
    names = {
        "column-generation": "column generation, certified to 1e-6",
        "vertices": "vertex enumeration",
    }
    for axis, (label, sizes, times) in zip(axes, panels, strict=True):
        for method, (colour, marker, line) in styles.items():
            seconds = np.array(times[method])
            x, done = np.array(sizes[: seconds.size]), np.isfinite(seconds)
            axis.plot(
                x[done], seconds[done], line, color=colour, marker=marker, label=names[method]
            )
            axis.plot(x[~done], np.full((~done).sum(), limit), marker, mfc="white", color=colour)
        axis.axhline(limit, color="0.6", linewidth=0.8)
        axis.set(xscale="log", yscale="log", xlabel=label)
        axis.set_xticks(sizes, labels=[str(size) for size in sizes])
        axis.minorticks_off()
        axis.grid(alpha=0.3)
    axes[0].set_ylabel("seconds")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2, frameon=False)
    figure.suptitle(f"Cost of the optimal mechanism (hollow: not done in {limit:g} s)")
    figure.savefig(path, dpi=150)
    print(f"picture in {path}")


def growth_section(output: Path, quick: bool) -> None:
    eps, limit = 2.0, 5.0 if quick else 60.0
    title(f"Cost against |X| and |S|, eps={eps:g}, at most {limit:g} s")
    xs, ss = (GROWTH_X[:5], GROWTH_S[:5]) if quick else (GROWTH_X, GROWTH_S)
    by_x = growth([(n_x, 5) for n_x in xs], eps, limit)
    by_s = growth([(30, n_s) for n_s in ss], eps, limit)
    output.mkdir(parents=True, exist_ok=True)
    panels = [("|X|, with |S| = 5", xs, by_x), ("|S|, with |X| = 30", ss, by_s)]
    plot(panels, limit, output / "solver_growth.png")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="leave out what takes minutes")
    parser.add_argument("--output", type=Path, default=Path("examples/output"))
    options = parser.parse_args()
    quick = options.quick
    start = time.perf_counter()
    reduced_ldp(4 if quick else 5)
    against_vertices(COMPARED[:2] if quick else COMPARED, 20.0 if quick else 120.0)
    certified(CERTIFIED + (BINARY[1:2] if quick else BINARY))
    heuristics([2.0] if quick else [1.0, 2.0, 4.0], [10.0] if quick else [10.0, 120.0])
    growth_section(options.output, quick)
    print(f"\ntotal {time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
