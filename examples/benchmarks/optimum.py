"""How close are the optima for a target, and those that see S, to their bounds?

Run ``python examples/benchmarks/optimum.py [--quick]`` (about fifteen minutes, or two). Joints and
P(T|X) are uniform random numbers, normalised; the budget is LIP, or an average of the lift with
half of epsilon on either side. Each line has the share that is kept, the certified gap, and seconds
of processor time. The last section starts searches that end early, beside ``--load`` other busy
processes, and compares them with subset merging. With ``--sections`` only some of them run.
"""

from __future__ import annotations

import argparse
import multiprocessing
import time
from functools import partial

import numpy as np

from skliftpriv import LIP, AlphaLift, Chi2Lift, JointDistribution, L1Lift, mechanisms
from skliftpriv.datasets import load_adult, make_joint

EPSILONS = (0.1, 0.25, 0.5, 1.0)
AVERAGES = {
    "l1": L1Lift,
    "chi2": Chi2Lift,
    "alpha 2": partial(AlphaLift, alpha=2.0),
    "alpha 10": partial(AlphaLift, alpha=10.0),
}
SECTIONS = ("sees", "targets", "averages", "further", "early")


def title(text: str) -> None:
    print(f"\n{text}\n{'-' * len(text)}", flush=True)


def timed(*arguments, **options):
    """Return the optimal random response and the seconds of processor time that it took."""
    start = time.process_time()
    result = mechanisms.optimal_random_response(*arguments, verbose=False, **options)
    return result, time.process_time() - start


def target_of(n_targets: int, n_x: int, seed: int) -> np.ndarray:
    """Return a random P(T|X)."""
    given_x = np.random.default_rng(seed).random((n_targets, n_x))
    return given_x / given_x.sum(axis=0)


def sees_sensitive(epsilons) -> None:
    """Compare mechanisms that see S with those that do not."""
    title("Mechanisms that see S: NMI (sees S / ORR / Conditional Reporting), gap, seconds")
    adult = JointDistribution.from_frame(load_adult(), "relationship", "occupation")
    joints = {
        "3 x 8, seed 1": make_joint(3, 8, random_state=1),
        "5 x 10, seed 2": make_joint(5, 10, random_state=2),
        "Adult, relationship x occupation": adult,
    }
    for name, joint in joints.items():
        for epsilon in epsilons:
            seeing, seconds = timed(joint, LIP(epsilon), use_sensitive=True, time_limit=60)
            blind, _ = timed(joint, LIP(epsilon), time_limit=60)
            reporting = mechanisms.conditional_reporting(joint, LIP(epsilon))
            print(
                f"{name:<34}eps {epsilon:<5g}{seeing.nmi:.4f} / {blind.nmi:.4f} / "
                f"{reporting.nmi:.4f}   gap {seeing.gap:.1e}  {seconds:6.1f} s",
                flush=True,
            )


def targets(classes, epsilons, limit: float) -> None:
    """Certify the optimum for a target, and compare it with the optimum for X."""
    title(f"A target, 5 x 200: share kept (for T / by ORR for X), gap after {limit:g} s, seconds")
    joint = make_joint(5, 200, random_state=0)
    for n_targets in classes:
        target = target_of(n_targets, 200, seed=1)
        for epsilon in epsilons:
            found, seconds = timed(joint, LIP(epsilon), target=target, time_limit=limit)
            blind, _ = timed(joint, LIP(epsilon), time_limit=5)
            of_x = share_of_target(blind, target)
            print(
                f"{n_targets} classes  eps {epsilon:<5g}{found.utility_kept:.4f} / {of_x:.4f}   "
                f"gap {found.gap:.1e}  {seconds:6.1f} s",
                flush=True,
            )


def averages(quick: bool) -> None:
    """Certify the optimum for averages of the lift, and compare it with subset merging."""
    title("Averages of the lift: NMI (subset merging / ORR), largest gap, seconds of all seeds")
    sizes = [(17, 5, range(1 if quick else 5), None), (20, 15, range(1), 5.0 if quick else None)]
    for n_x, n_s, seeds, limit in sizes:
        for name, kind in AVERAGES.items():
            for epsilon in (1.0,) if quick or n_s == 15 else (1.0, 2.0):
                notion = kind(epsilon / 2, epsilon / 2)
                joints = [make_joint(n_s, n_x, random_state=seed) for seed in seeds]
                merged = np.mean([mechanisms.subset_merging(j, notion).nmi for j in joints])
                found, seconds = zip(
                    *(timed(j, notion, time_limit=limit) for j in joints), strict=True
                )
                print(
                    f"{n_x} x {n_s}  {name:<9} eps {epsilon:<3g} {merged:.3f} / "
                    f"{np.mean([result.nmi for result in found]):.4f}   gap "
                    f"{max(result.gap for result in found):.1e}  {sum(seconds):6.1f} s",
                    flush=True,
                )


def averages_further(limit: float) -> None:
    """Show the gaps for averages where a mechanism sees S, or keeps a target."""
    title(f"Averages of the lift, epsilon = 1: gap after {limit:g} s")
    cases = {
        "3 x 8, seeing S": (make_joint(3, 8, random_state=1), {"use_sensitive": True}),
        "5 x 10, seeing S": (make_joint(5, 10, random_state=2), {"use_sensitive": True}),
    }
    for n_targets in (2, 4):
        options = {"target": target_of(n_targets, 30, seed=1)}
        cases[f"5 x 30, {n_targets} classes"] = make_joint(5, 30, random_state=0), options
    for name, (joint, options) in cases.items():
        gaps = [
            timed(joint, kind(0.5, 0.5), time_limit=limit, **options)[0].gap
            for kind in AVERAGES.values()
        ]
        shown = "  ".join(f"{kind} {gap:.1e}" for kind, gap in zip(AVERAGES, gaps, strict=True))
        print(f"{name:<20}{shown}", flush=True)


def share_of_target(result, target: np.ndarray) -> float:
    """Return the share of I(T;X) that a mechanism for X keeps."""
    p_x, matrix = result.joint.p_x, result.channel.matrix
    before, after = target * p_x, (target * p_x) @ matrix
    return information(after) / information(before)


def information(joint: np.ndarray) -> float:
    """Return the mutual information of a joint distribution."""
    product = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0, keepdims=True)
    positive = joint > 0
    return float((joint[positive] * np.log(joint[positive] / product[positive])).sum())


def busy() -> None:
    while True:
        pass


def stopped_early(sizes, limits, seeds, load: int) -> None:
    """Stop searches early on a busy machine."""
    title(f"Stopped early, LIP(.5), beside {load} busy processes: NMI, subset merging first")
    others = [multiprocessing.Process(target=busy, daemon=True) for _ in range(load)]
    for other in others:
        other.start()
    try:
        for n_x, n_s in sizes:
            for seed in seeds:
                joint = make_joint(n_s, n_x, random_state=seed)
                merging = mechanisms.subset_merging(joint, LIP(0.5)).nmi
                cells = [f"{merging:.4f}"]
                for limit in limits:
                    start = time.perf_counter()
                    found, _ = timed(joint, LIP(0.5), time_limit=limit)
                    seconds = time.perf_counter() - start
                    cells.append(f"{found.nmi:.4f} ({limit:g} s: {seconds:.1f} s)")
                    assert found.nmi >= merging - 1e-9, (n_x, n_s, seed, limit)
                print(f"{n_x} x {n_s}, seed {seed}: {'  '.join(cells)}", flush=True)
    finally:
        for other in others:
            other.terminate()


def main() -> None:
    """Run all sections."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer budgets and shorter limits")
    parser.add_argument("--load", type=int, default=3, help="busy processes of the last section")
    parser.add_argument("--sections", nargs="+", default=SECTIONS, choices=SECTIONS)
    options = parser.parse_args()
    quick, chosen = options.quick, options.sections
    if "sees" in chosen:
        sees_sensitive(EPSILONS[::2] if quick else EPSILONS)
    if "targets" in chosen:
        classes, epsilons = ((2, 3), (0.5,)) if quick else ((2, 3, 4, 5), (0.1, 0.5))
        targets(classes, epsilons, 10 if quick else 60)
    if "averages" in chosen:
        averages(quick)
    if "further" in chosen:
        averages_further(2 if quick else 12)
    if "early" in chosen:
        sizes, limits = [(200, 15), (400, 15)], (0.1, 1.0) if quick else (0.1, 1.0, 10.0)
        stopped_early(sizes[: 1 if quick else None], limits, range(1 if quick else 2), options.load)


if __name__ == "__main__":
    main()
