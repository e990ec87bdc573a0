"""How close to the optimum the search comes with many symbols, and what memory it takes.

    python examples/benchmarks/symbols.py --seconds 60

Joint distributions are uniform (``make_joint``), the notion is LIP with half of epsilon on either
side. Each case runs in a process of its own, so that its peak of resident memory is known. The
gap is the certified distance of optimal random response to the optimum after the given time;
subset merging and subset random response are measured beside it. ``symbols.csv`` and
``symbols.png`` are written to the output folder.
"""

import argparse
import csv
import json
import resource
import subprocess
import sys
import time
from pathlib import Path

VALUES = (100, 200, 400, 800, 3000)
SENSITIVE = (5, 15)
FIELDS = (
    "sensitive", "values", "merging", "srr", "orr", "upper_bound", "gap", "status", "seconds",
    "merging_mb", "peak_mb",
)  # fmt: skip


def child(n_s: int, n_x: int, eps: float, seed: int, seconds: float) -> None:
    """Run one case and print it as JSON."""
    from skliftpriv import LIP, datasets, mechanisms
    from skliftpriv.exceptions import SizeLimitError

    joint, notion = datasets.make_joint(n_s, n_x, random_state=seed), LIP(eps / 2)
    found = {"sensitive": n_s, "values": n_x}
    found["merging"] = mechanisms.subset_merging(joint, notion).nmi
    found["merging_mb"] = peak_mb()
    start = time.perf_counter()
    best = mechanisms.optimal_random_response(joint, notion, time_limit=seconds)
    found["seconds"] = time.perf_counter() - start
    found["peak_mb"] = peak_mb()
    found |= {"orr": best.nmi, "upper_bound": best.upper_bound, "gap": best.gap}
    found["status"] = best.status
    try:  # last, so that its memory does not count
        found["srr"] = mechanisms.subset_random_response(joint, notion, time_limit=seconds).nmi
    except SizeLimitError:
        found["srr"] = None
    print(json.dumps(found))


def peak_mb() -> float:
    """Return the peak of resident memory so far, in megabytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure(*case: float) -> dict:
    """Run one case in a process of its own."""
    command = [sys.executable, __file__, "--child", json.dumps(case)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def plot(rows: list[dict], seconds: float, path: Path) -> None:
    """Draw gaps, shares that are kept and memory against the number of values."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    from matplotlib.ticker import NullFormatter, ScalarFormatter

    colours = dict(
        zip(
            sorted({row["sensitive"] for row in rows}),
            ("#0072B2", "#D55E00", "#009E73"),
            strict=False,
        )
    )
    kinds = {
        "orr": ("o", "-", "optimal"),
        "srr": ("s", "--", "SRR"),
        "merging": ("^", ":", "merging"),
    }
    figure, (gap, kept, memory) = plt.subplots(1, 3, figsize=(12, 4), layout="constrained")
    for n_s, colour in colours.items():
        own = [row for row in rows if row["sensitive"] == n_s]
        sizes = [row["values"] for row in own]
        gap.plot(sizes, [row["gap"] for row in own], "o-", color=colour, label=f"|S| = {n_s}")
        memory.plot(sizes, [row["peak_mb"] for row in own], "o-", color=colour)
        for name, (marker, line, label) in kinds.items():
            known = [row for row in own if row[name] is not None]
            kept.plot(
                [row["values"] for row in known],
                [row[name] for row in known],
                marker=marker,
                linestyle=line,
                color=colour,
                label=f"{label}, |S| = {n_s}",
            )
        bounds = [row["upper_bound"] for row in own]
        kept.fill_between(sizes, [row["orr"] for row in own], bounds, color=colour, alpha=0.15)
    gap.set(yscale="log", ylabel=f"certified gap after {seconds:g} s")
    kept.set(ylabel="share of X that is kept (shaded: up to the bound)")
    memory.set(ylabel="peak of memory, MB", ylim=(0, None))
    ticks = sorted({row["values"] for row in rows})
    for axis in (gap, kept, memory):
        axis.set(xscale="log", xlabel="values of X")
        axis.set_xticks(ticks)
        axis.xaxis.set_major_formatter(ScalarFormatter())
        axis.xaxis.set_minor_formatter(NullFormatter())
        axis.grid(alpha=0.3)
    gap.legend(fontsize=8)
    kept.legend(fontsize=7)
    figure.savefig(path, dpi=150)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60.0, help="time limit of each search")
    parser.add_argument("--values", type=int, nargs="+", default=VALUES)
    parser.add_argument("--sensitive", type=int, nargs="+", default=SENSITIVE)
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--quick", action="store_true", help="two small sizes, five seconds each")
    parser.add_argument("--output", type=Path, default=Path("examples/output"))
    parser.add_argument("--child", type=json.loads, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child(*options.child)
        return
    if options.quick:
        options.values, options.seconds = VALUES[:2], min(options.seconds, 5.0)
    options.output.mkdir(parents=True, exist_ok=True)
    rows = []
    with open(options.output / "symbols.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, FIELDS)
        writer.writeheader()
        for n_s in options.sensitive:
            for n_x in options.values:
                rows.append(measure(n_s, n_x, options.epsilon, options.seed, options.seconds))
                writer.writerow(rows[-1])
                file.flush()
                print(", ".join(f"{name} {rows[-1][name]}" for name in FIELDS), flush=True)
    plot(rows, options.seconds, options.output / "symbols.png")
    print(f"table and picture in {options.output}")


if __name__ == "__main__":
    main()
