"""How close to the optimum the search comes with many symbols, and what memory it takes.

    python examples/benchmarks/symbols.py --seconds 60

Joint distributions are uniform (``make_joint``), the notion is LIP with half of epsilon on either
side. Each case runs in a process of its own, so that its peak of resident memory is known. The
gap is the certified distance of optimal random response to the optimum after the given time, in
seconds of the processor, so that it does not depend on what else the machine does. Subset merging
and subset random response are measured beside it. ``symbols.csv`` and ``symbols.png`` are written
to the output folder; with ``--from symbols.csv`` the picture is drawn from a table.
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


class ProcessorClock:
    """Takes the place of the clock of the solver; the processor is asked every 20 milliseconds."""

    def __init__(self) -> None:
        self._asked, self._answer = -1.0, 0.0

    def perf_counter(self) -> float:
        """Return seconds of the processor."""
        now = time.perf_counter()
        if now - self._asked > 0.02:
            self._asked, self._answer = now, time.process_time()
        return self._answer


def child(n_s: int, n_x: int, eps: float, seed: int, seconds: float) -> None:
    """Run one case and print it as JSON."""
    from skliftpriv import LIP, datasets, mechanisms
    from skliftpriv.exceptions import SizeLimitError
    from skliftpriv.solvers import _state

    _state.time = ProcessorClock()

    joint, notion = datasets.make_joint(n_s, n_x, random_state=seed), LIP(eps / 2)
    found = {"sensitive": n_s, "values": n_x}
    found["merging"] = mechanisms.subset_merging(joint, notion).nmi
    found["merging_mb"] = peak_mb()
    start = time.process_time()
    best = mechanisms.optimal_random_response(joint, notion, time_limit=seconds)
    found["seconds"] = time.process_time() - start
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


def read(table: Path) -> list[dict]:
    """Read a table that was written before."""
    text = {"status"}
    whole = {"sensitive", "values"}
    rows = []
    with open(table, newline="") as file:
        for row in csv.DictReader(file):
            kinds = {name: int if name in whole else float for name in row if name not in text}
            rows.append(
                row | {name: kind(row[name]) if row[name] else None for name, kind in kinds.items()}
            )
    return rows


def plot(rows: list[dict], seconds: float, path: Path) -> None:
    """Draw gaps, shares that are kept and memory against the number of values."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    from matplotlib.ticker import NullFormatter, ScalarFormatter

    sensitive = sorted({row["sensitive"] for row in rows})
    sizes = sorted({row["values"] for row in rows})
    colours = {"orr": "#0072B2", "srr": "#009E73", "merging": "#D55E00"}
    names = {"orr": "optimal random response", "srr": "subset random response"}
    names["merging"] = "subset merging"
    lines = dict(zip(sensitive, ("-", "--", ":"), strict=False))
    markers = dict(zip(sensitive, ("o", "s", "^"), strict=False))

    figure, axes = plt.subplots(1, len(sensitive) + 2, figsize=(13, 3.8), layout="constrained")
    kept, (gap, memory) = axes[: len(sensitive)], axes[len(sensitive) :]
    for axis, n_s in zip(kept, sensitive, strict=True):
        own = sorted((row for row in rows if row["sensitive"] == n_s), key=lambda r: r["values"])
        at = [row["values"] for row in own]
        bounds = [row["upper_bound"] for row in own]
        found = [row["orr"] for row in own]
        axis.fill_between(at, found, bounds, color=colours["orr"], alpha=0.15, linewidth=0)
        axis.plot(at, bounds, color=colours["orr"], linewidth=1, label="upper bound")
        for name, colour in colours.items():
            known = [row for row in own if row[name] is not None]
            values = [row[name] for row in known]
            axis.plot(
                [row["values"] for row in known], values, "o-", color=colour, label=names[name]
            )
        axis.set(title=f"|S| = {n_s}", ylabel="share of X that is kept", ylim=(0.7, 1.0))
        style = {"linestyle": lines[n_s], "marker": markers[n_s], "color": colours["orr"]}
        style["label"] = f"|S| = {n_s}"
        gap.plot(at, [max(row["gap"], 1e-7) for row in own], **style)
        memory.plot(at, [row["peak_mb"] for row in own], **style)
    gap.set(title="certified gap", yscale="log", ylabel=f"gap after {seconds:g} s")
    memory.set(title="memory", ylabel="peak of the process, MB", ylim=(0, None))
    for axis in axes:
        axis.set(xscale="log", xlabel="values of X")
        axis.set_xticks(sizes)
        axis.set_xticks([], minor=True)
        axis.xaxis.set_major_formatter(ScalarFormatter())
        axis.xaxis.set_minor_formatter(NullFormatter())
        axis.grid(alpha=0.25)
        axis.spines[["top", "right"]].set_visible(False)
    kept[0].legend(fontsize=8, loc="lower right")
    gap.legend(fontsize=8, loc="lower right")
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
    parser.add_argument("--from", dest="table", type=Path, help="only draw the picture of a table")
    options = parser.parse_args()
    if options.child:
        child(*options.child)
        return
    if options.quick:
        options.values, options.seconds = VALUES[:2], min(options.seconds, 5.0)
    options.output.mkdir(parents=True, exist_ok=True)
    if options.table:
        plot(read(options.table), options.seconds, options.output / "symbols.png")
        return
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
