"""How far log-lifts spread below and above zero: the first figure of both ALIP papers."""

from __future__ import annotations

import numpy as np
from _common import BLUE, VERMILLION, Checks, chunks, parallel_map
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from skliftpriv.datasets import make_joint
from skliftpriv.measures import log_lift

BIN = 0.05  # width in nats


def log_lift_extremes(n_sensitive: int, n_useful: int, joints: int) -> np.ndarray:
    """Smallest and largest log-lift of every useful symbol: array (2, joint, symbol)."""
    tasks = [(n_sensitive, n_useful, seeds) for seeds in chunks(joints, 100)]
    return np.concatenate(parallel_map(_extremes, tasks, "figure 1"), axis=1)


def _extremes(n_sensitive: int, n_useful: int, seeds: range) -> np.ndarray:
    joints = [make_joint(n_sensitive, n_useful, random_state=seed) for seed in seeds]
    logs = np.array([log_lift(joint.matrix) for joint in joints])
    return np.array([logs.min(axis=1), logs.max(axis=1)])


def draw_extremes(found: np.ndarray, title: str) -> Figure:
    """Draw both histograms on one axis."""
    figure, ax = plt.subplots(figsize=(7.5, 4.8), layout="constrained")
    left = -8.0
    bins = np.arange(left, np.ceil(found.max()) + BIN, BIN)
    styles = (
        ("smallest log-lift of a symbol", BLUE, None),
        ("largest log-lift of a symbol", VERMILLION, "//"),
    )
    for values, (label, color, hatch) in zip(found, styles, strict=True):
        weights = np.full(values.size, 1 / values.size)
        style = {"color": color, "hatch": hatch, "label": label, "alpha": 0.75}
        ax.hist(values.ravel(), bins, weights=weights, **style)
    ax.annotate(
        f"a thin tail goes\non to {found.min():.1f}",
        (left, 0),
        (left + 0.4, 0.2 * ax.get_ylim()[1]),
        arrowprops={"arrowstyle": "->", "color": "#555555"},
        color="#555555",
    )
    ax.set_xlabel("log-lift, nats")
    ax.set_ylabel(f"share of the symbols per bin of {BIN:g} nats")
    ax.set_xlim(left, bins[-1])
    ax.legend(frameon=False, loc="upper left")
    ax.set_title(title, fontsize=11)
    return figure


def check_extremes(found: np.ndarray, low: str, high: str, checks: Checks) -> None:
    """Check that the smallest log-lifts spread wider, with lower probabilities.

    Parameters
    ----------
    found : ndarray
        What :func:`log_lift_extremes` returns.
    low, high : str
        The ranges that the paper states.
    checks : Checks
        Prints the verdicts.
    """
    small, large = found
    checks.claim(
        f"smallest log-lifts have a much larger range, {low}, than largest, {high}",
        bool(np.ptp(small) > 5 * np.ptp(large)),
        f"[{small.min():.1f}, {small.max():.2f}] and [{large.min():.2f}, {large.max():.2f}] (the "
        "ends of a range are random, and move outwards with more joints)",
    )
    bins = np.arange(-40, 10, BIN)
    peaks = [np.histogram(values, bins)[0].max() / values.size for values in found]
    checks.claim(
        "the highest probability of the smallest is much lower than that of the largest",
        bool(peaks[0] < peaks[1] / 2),
        f"{peaks[0]:.3f} and {peaks[1]:.3f} per bin of {BIN:g} nats",
    )
