"""Privacy-utility trade-offs of Zarrabian, Ding and Sadeghi (2023): measure once, draw often."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from _common import GREY, parallel_map
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from skliftpriv import ALIP, LDP, JointDistribution
from skliftpriv.datasets import load_adult, make_joint
from skliftpriv.mechanisms import (
    optimal_random_response,
    subset_merging,
    subset_random_response,
    watchdog,
)
from skliftpriv.notions import AlphaLift, Chi2Lift, L1Lift, Notion

# What is measured of one mechanism at one epsilon.
NMI, MIN_LIFT, MAX_LIFT, SECONDS, MET = range(5)
TITLES = {
    NMI: "NMI, share of X kept",
    MIN_LIFT: "min-lift leakage |log min Ψ|, nats",
    MAX_LIFT: "max-lift leakage log max Λ, nats",
    SECONDS: "time per distribution, seconds",
}


@dataclass(frozen=True)
class Case:
    """One curve: a mechanism, a notion, and how the LDP budget is split."""

    mechanism: str
    notion: str = "alip"
    lam: float = 0.5
    alpha: float = 2.0

    def budget(self, epsilon: float) -> Notion:
        """Return the notion with eps_l = lambda epsilon and eps_u = (1 - lambda) epsilon."""
        lower, upper = self.lam * epsilon, (1 - self.lam) * epsilon
        if self.notion == "ldp":
            return LDP(epsilon)
        if self.notion == "alpha":
            return AlphaLift(lower, upper, alpha=self.alpha)
        return {"alip": ALIP, "l1": L1Lift, "chi2": Chi2Lift}[self.notion](lower, upper)

    def run(self, joint: JointDistribution, epsilon: float) -> np.ndarray:
        """Measure the mechanism as published, without repair."""
        notion = self.budget(epsilon)
        start = time.perf_counter()
        if self.mechanism == "watchdog":
            result = watchdog(joint, notion, repair=False)
        elif self.mechanism == "merging":
            result = subset_merging(joint, notion, repair=False)
        elif self.mechanism == "srr":
            result = subset_random_response(joint, notion)
        elif self.mechanism == "optimum":
            result = optimal_random_response(joint, notion, gap=1e-3)
        else:
            result = optimal_random_response(joint, notion)
        seconds = time.perf_counter() - start
        if result.status == "repaired":  # by the package, unlike in the paper
            result = subset_merging(joint, notion, repair=False)
        report = result.report
        levels = -report.min_log_lift, report.max_log_lift
        return np.array([report.nmi, *levels, seconds, report.satisfied])


def adult_table() -> JointDistribution:
    """Relationship and occupation in the training rows of Adult, without ``Other-relative``.

    The paper says that there are five relationships, but Adult has six. Without this one, the
    results agree with the values that the paper states (docs/errata.md, 7).
    """
    adult = load_adult()
    kept = adult[adult["relationship"] != "Other-relative"]
    return JointDistribution.from_frame(kept, "relationship", "occupation")


def measure(case: Case, joint: JointDistribution, epsilons: np.ndarray) -> np.ndarray:
    """Measure one curve on one joint distribution: array (epsilon, quantity)."""
    return np.array([case.run(joint, float(epsilon)) for epsilon in epsilons])


@dataclass
class Study:
    """Joint distributions by name, and every curve measured on them so far.

    Parameters
    ----------
    epsilons : dict
        LDP budgets, by the name of the data.
    joints : dict
        Joint distributions, by name.
    """

    epsilons: dict[str, np.ndarray]
    joints: dict[str, list[JointDistribution]]
    _found: dict[tuple[str, Case], np.ndarray] = field(default_factory=dict)

    @classmethod
    def of(cls, quick: bool) -> Study:
        """Return the small or the full study."""
        grid = np.array([0.5, 1, 1.5, 2, 4, 8]) if quick else np.arange(0.25, 8.01, 0.25)
        many, few, large, values = (16, 4, 2, 300) if quick else (120, 20, 6, 2000)
        random = [make_joint(5, 17, random_state=seed) for seed in range(many)]
        joints = {
            "random": random,
            "random, optimised": random[:few],
            "large": [make_joint(15, 200, random_state=seed) for seed in range(large)],
            "adult": [adult_table()],
            # For the optimum of averaged lifts, which takes seconds at each budget.
            "random, averaged": random[: few // 4],
            "adult, averaged": [adult_table()],
            # Enough for the precision of the numbers that the paper states.
            "random, values": [make_joint(5, 17, random_state=seed) for seed in range(values)],
        }
        epsilons = dict.fromkeys(joints, grid)
        epsilons["large"] = grid[grid >= 1]
        epsilons["adult"] = np.union1d(grid, [1.25])  # where its curves cross
        epsilons["random, averaged"] = epsilons["adult, averaged"] = np.array(
            [2.0, 4.0] if quick else [0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 8.0]
        )
        epsilons["random, values"] = np.array([1.0, 2.0])
        return cls(epsilons, joints)

    def curves(self, data: str, cases: Sequence[Case], text: str) -> dict[Case, np.ndarray]:
        """Return arrays (joint, epsilon, quantity) by case, measuring what is still unknown."""
        missing = [case for case in cases if (data, case) not in self._found]
        joints, epsilons = self.joints[data], self.epsilons[data]
        if missing:
            tasks = [(case, joint, epsilons) for case in missing for joint in joints]
            measured = parallel_map(measure, tasks, text)
            for i, case in enumerate(missing):
                part = measured[i * len(joints) : (i + 1) * len(joints)]
                self._found[data, case] = np.array(part)
        return {case: self._found[data, case] for case in cases}


def draw_tradeoff(
    title: str,
    epsilons: np.ndarray,
    curves: Mapping[str, np.ndarray],
    styles: Mapping[str, dict[str, Any]],
    quantities: Sequence[int] = (NMI, MIN_LIFT, MAX_LIFT),
    budgets: Mapping[int, np.ndarray] | None = None,
) -> Figure:
    """Draw the mean of each quantity against epsilon, one panel each."""
    rows = 2 if len(quantities) == 4 else 1
    columns = len(quantities) // rows
    size = (4.6 * columns, 4.0 * rows + 1.0)
    figure, axes = plt.subplots(rows, columns, figsize=size, squeeze=False, layout="constrained")
    every = max(epsilons.size // 8, 1)
    for letter, ax, quantity in zip("abcd", axes.flat, quantities, strict=False):
        for name, curve in curves.items():
            style = {"ms": 4.5, "lw": 1.5, "markevery": every, **styles[name]}
            ax.plot(epsilons, curve[..., quantity].mean(axis=0), label=name, **style)
        if budgets and quantity in budgets:
            ax.plot(epsilons, budgets[quantity], color=GREY, ls=(0, (1, 1)), label="budget")
        _finish(ax, f"({letter}) {TITLES[quantity]}", epsilons, quantity)
    figure.suptitle(title, fontsize=12)
    # Panels may differ in what they hold; the one with the most entries explains all.
    entries = max((ax.get_legend_handles_labels() for ax in axes.flat), key=lambda e: len(e[1]))
    figure.legend(
        *entries, loc="outside lower center", ncols=min(len(entries[1]), 6), frameon=False
    )
    return figure


def _finish(ax: Axes, title: str, epsilons: np.ndarray, quantity: int) -> None:
    ax.set_title(title, fontsize=10)
    ax.set_xlabel("LDP budget ε, nats")
    ax.set_xlim(0, 1.02 * epsilons[-1])
    ax.grid(color="#E5E5E5", lw=0.6)
    ax.set_axisbelow(True)
    if quantity == SECONDS:
        ax.set_yscale("log")
    elif quantity == NMI:
        ax.set_ylim(top=1.02)
    else:
        ax.set_ylim(bottom=0)
