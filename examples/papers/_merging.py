"""Utility of merging by the papers' formulas, and the greedy partition as it is printed.

Both are independent of the package: the scripts use them where many joints are needed, and check on
some joints that the package gives the same result.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from skliftpriv.datasets import make_joint
from skliftpriv.measures import entropy

Group = Sequence[int] | np.ndarray


def nmi_of_groups(p_x: np.ndarray, groups: Iterable[Group]) -> float:
    """NMI when each group of symbols is merged (Zarrabian, Ding and Sadeghi 2023, eq. 13)."""
    parts = [p_x[np.asarray(group, dtype=int)] for group in groups]
    loss = sum(float((part * np.log(part.sum() / part)).sum()) for part in parts)
    return 1 - loss / float(entropy(p_x))


def watchdog_nmi(
    n_sensitive: int, n_useful: int, seeds: range, bounds: Sequence[tuple[float, float]]
) -> np.ndarray:
    """NMI of complete merging for some bounds (lower, upper): array (joint, bound)."""
    rows = []
    for seed in seeds:
        joint = make_joint(n_sensitive, n_useful, random_state=seed)
        logs = np.log(joint.lift)
        low, high = -logs.min(axis=0), logs.max(axis=0)
        risky = [np.flatnonzero((low > lower) | (high > upper)) for lower, upper in bounds]
        rows.append([nmi_of_groups(joint.p_x, [group]) for group in risky])
    return np.array(rows)


def greedy_partition(
    p_sx: np.ndarray, epsilon: float, delta: float, ceiling: float = np.inf
) -> np.ndarray:
    """Symbols to merge by Algorithm 1 of Sadeghi, Ding and Rakotoarivelo (2020), as printed.

    Whether the loss of utility falls is not tested: it always does when a symbol leaves the merged
    set.
    """
    p_s = p_sx.sum(axis=1)

    def levels(columns: np.ndarray) -> np.ndarray:
        with np.errstate(divide="ignore"):
            return np.abs(np.log(columns / np.outer(p_s, columns.sum(axis=0))))

    def breach(columns: np.ndarray) -> np.ndarray:  # eq. 10
        return np.where(levels(columns) > epsilon, columns, 0).sum(axis=0)

    level, own = levels(p_sx).max(axis=0), breach(p_sx)
    merged = level > epsilon
    candidates = np.flatnonzero(merged & (own <= delta) & (level <= ceiling))  # eq. 14
    for x in candidates[np.argsort(own[candidates], kind="stable")]:
        rest = merged.copy()
        rest[x] = False
        remainder = p_sx[:, rest].sum(axis=1, keepdims=True)
        total = own[~rest].sum() + (breach(remainder)[0] if rest.any() else 0.0)  # eq. 11
        if total <= delta:
            merged = rest
    return np.flatnonzero(merged)
