"""How soon is the optimal mechanism proven to be optimal?

    python examples/benchmarks/certificate.py [--before FOLDER] [--seeds 0 1 2 3 4] [--quick]

Joint distributions are uniform (``make_joint``), the notion is LIP with half of epsilon on either
side. The largest example of the papers, 200 x 15, is searched for 120 seconds, and its certified
gap is printed after 30, 60 and 120 of them. Smaller ones are searched to a gap of 1e-6; with
``--before``, the folder of a checkout of an older version, that version takes turns with this one.
All seconds are of the processor, so that they depend little on what else the machine does.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

TRACED = ((1.0, (30, 60, 120)), (2.0, (10, 30)))
COMPARED = ((50, 5, 1.0), (60, 10, 2.0), (30, 15, 2.0))
TURNS = 2


def trace(seed: int, eps: float, limit: float) -> dict:
    """Search 200 x 15 and note the gap whenever the bound improves."""
    from symbols import ProcessorClock

    from skliftpriv import LIP, datasets, mechanisms
    from skliftpriv.solvers import _state

    _state.time = ProcessorClock()
    states, noted = [], []
    make, note = _state.SolverState.__init__, _state.SolverState.improve_bound

    def initialise(state, *arguments, **options):
        make(state, *arguments, **options)
        states.append(state)

    def improve_bound(state, bound):
        note(state, bound)
        if state is states[0]:  # others are those of groups, where the search starts
            noted.append((state.seconds, (state.value - state.bound) / state.scale.information))

    _state.SolverState.__init__ = initialise
    _state.SolverState.improve_bound = improve_bound
    joint = datasets.make_joint(15, 200, random_state=seed)
    result = mechanisms.optimal_random_response(joint, LIP(eps / 2), time_limit=limit)
    return {"nmi": result.nmi, "gap": result.gap, "noted": noted}


def total(n_x: int, n_s: int, eps: float, seeds: list[int]) -> float:
    """Return the processor seconds of searches to a gap of 1e-6."""
    from skliftpriv import LIP, datasets, mechanisms

    mechanisms.optimal_random_response(datasets.make_joint(3, 20, random_state=0), LIP(0.5))
    start = time.process_time()
    for seed in seeds:
        joint = datasets.make_joint(n_s, n_x, random_state=seed)
        mechanisms.optimal_random_response(joint, LIP(eps / 2), time_limit=None)
    return time.process_time() - start


def run(name: str, *arguments, folder: Path | None = None):
    """Call a function of this script in a process of its own, maybe with another version."""
    command = [sys.executable, __file__, "--child", json.dumps([name, *arguments])]
    path = {} if folder is None else {"PYTHONPATH": str(folder.resolve())}
    done = subprocess.run(
        command, stdout=subprocess.PIPE, text=True, check=True, env=os.environ | path
    )
    return json.loads(done.stdout.splitlines()[-1])


def show_trace(seeds: list[int]) -> None:
    """Print the gaps of 200 x 15 after some seconds."""
    for eps, times in TRACED:
        heads = "".join(f"{f'after {t} s':>13}" for t in times)
        print(f"\n200 x 15, epsilon = {eps:g}: NMI {heads}   1e-6 after", flush=True)
        for seed in seeds:
            found = run("trace", seed, eps, times[-1])
            gaps = [min((g for s, g in found["noted"] if s <= t), default=1.0) for t in times]
            gaps[-1] = min(gaps[-1], found["gap"])
            closed = [s for s, g in found["noted"] if g <= 1e-6]
            end = f"{closed[0]:9.0f} s" if closed else "        -"
            row = "".join(f"{max(g, 0.0):13.1e}" for g in gaps)
            print(f"  seed {seed:<12d}{found['nmi']:10.5f} {row} {end}", flush=True)


def show_compared(seeds: list[int], before: Path | None) -> None:
    """Print the seconds to a gap of 1e-6, of this and an older version."""
    print(f"\nto a gap of 1e-6, seeds {seeds}, {TURNS} turns: seconds", flush=True)
    for n_x, n_s, eps in COMPARED:
        now, old = [], []
        for _ in range(TURNS):
            now.append(run("total", n_x, n_s, eps, seeds))
            if before is not None:
                old.append(run("total", n_x, n_s, eps, seeds, folder=before))
        line = f"  {n_x} x {n_s}, {eps:g}: now " + ", ".join(f"{t:.2f}" for t in now)
        if before is not None:
            line += "   before " + ", ".join(f"{t:.2f}" for t in old)
            line += f"   ratio {sum(old) / sum(now):.2f}"
        print(line, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--before", type=Path, help="folder of a checkout of an older version")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2, 3, 4])
    parser.add_argument("--quick", action="store_true", help="leave out 200 x 15")
    parser.add_argument("--child", type=json.loads, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child:
        name, *arguments = args.child
        print(json.dumps({"trace": trace, "total": total}[name](*arguments)))
        return
    show_compared(args.seeds, args.before)
    if not args.quick:
        show_trace(args.seeds)


if __name__ == "__main__":
    main()
