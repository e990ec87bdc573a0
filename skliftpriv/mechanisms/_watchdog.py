"""The watchdog: keep low-risk symbols, and randomise the others independently of their value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.sparse import csr_array, eye_array

from .._arrays import FloatArray, Label
from .._limits import MOST_CHANNEL_CELLS, MOST_PAIRS, POOL, refuse_beyond
from ..channel import Channel
from ..confidence import Over, checked_set
from ..distribution import JointDistribution
from ..exceptions import InvalidParameterError
from ..measures._lift import lift_of_columns
from ..notions import ALIP, LIP, Notion
from ..notions._relaxed import RelaxedLift
from ._merging import Indices, MergedColumns, canonical_order, labels_of, partition_result
from ._relaxed_partition import greedy_partition, searched_partition
from ._result import PartitionResult

__all__ = ["CriticalEpsilons", "critical_epsilons", "high_risk_leakage", "watchdog"]


def watchdog(
    joint: JointDistribution,
    notion: Notion,
    *,
    randomization: Literal["merge", "uniform"] = "merge",
    delta: float = 0.0,
    epsilon_max: float | tuple[float, float] | None = None,
    repair: bool = True,
    over: Over = None,
) -> PartitionResult:
    r"""Keep low-risk symbols unchanged and randomise all others independently of their value.

    A symbol is low-risk if its own lift meets the notion. The others are all mapped by the same
    distribution R(y) (Sadeghi, Ding and Rakotoarivelo 2020, Theorem 1; Zarrabian, Ding and
    Sadeghi 2023, eq. 6-10):

    .. math:: P(y|x) = 1\{x = y\}\ (x \in X_L), \qquad P(y|x) = R(y)\ (x \in X_H).

    No randomisation of the high-risk set leaks less, except that another one can have a smaller
    l1- or chi2-lift-inverse; see :func:`high_risk_leakage`.

    Parameters
    ----------
    joint : JointDistribution
        Distribution of the sensitive and the useful variable.
    notion : Notion
        Any of the six notions.
    randomization : {"merge", "uniform"}, default="merge"
        Map all high-risk symbols to one merged symbol, or uniformly to one of themselves.
        Leakage and mutual information are the same.
    delta : float, default=0.0
        For LIP and ALIP: allow log-lifts outside the band with at most this total probability,
        by keeping some high-risk symbols unchanged (Sadeghi et al. 2020, Proposition 1).
    epsilon_max : float, pair (lower, upper) or None, default=None
        With ``delta``: a wider band that no log-lift may leave. None for no limit.
    repair : bool, default=True
        Move further symbols to the high-risk set until the merged set meets the budget, and with
        ``delta`` search beyond the greedy Algorithm 1 of Sadeghi et al. (2020). False follows the
        paper exactly and warns if the budget is exceeded.
    over : ConfidenceSet or list of JointDistribution, optional
        Meet the budget for every distribution in this set; by default for ``joint`` alone. A
        confidence set needs LIP, ALIP or LDP. Distributions of a list are covered besides
        ``joint``.

        .. versionchanged:: 0.2
            A list of distributions is accepted.

    Returns
    -------
    PartitionResult

    Examples
    --------
    >>> from skliftpriv import LIP, JointDistribution, mechanisms
    >>> joint = JointDistribution.from_counts([[30, 4, 10], [30, 10, 5]])
    >>> result = mechanisms.watchdog(joint, LIP(0.2))
    >>> result.partition
    ((1, 2),)
    >>> result.channel.outputs
    (0, '{1, 2}')
    """
    if randomization not in ("merge", "uniform"):
        raise InvalidParameterError(
            f'randomization must be "merge" or "uniform", not {randomization!r}.'
        )
    over = checked_set(over, joint)
    if over is not None and delta:
        raise InvalidParameterError(
            "delta is not defined over several distributions; use delta=0 or leave out over."
        )
    target = _target(notion, delta, epsilon_max)
    merging = MergedColumns(joint, notion, over, canonical_order(joint))
    risky = merging.risky
    high = merging.extended(risky) if repair and risky.any() else risky
    if isinstance(target, RelaxedLift):
        work = int(high.sum()) * joint.shape[0] * joint.shape[1]
        refuse_beyond(
            MOST_PAIRS,
            work,
            f"delta > 0 takes {work:,} comparisons for {int(high.sum()):,} high-risk values of X",
            f"use delta=0, or {POOL}",
        )
        high = (searched_partition if repair else greedy_partition)(merging, target, high)
    groups = [merging.positions(high)] if high.any() else []
    return partition_result(
        joint,
        target,
        groups,
        repair=repair,
        over=over,
        moved=labels_of(joint, merging.positions(high & ~risky)),
        exempted=labels_of(joint, merging.positions(risky & ~high)),
        channel=_uniform_channel(joint, groups) if randomization == "uniform" else None,
    )


def _target(
    notion: Notion, delta: float, epsilon_max: float | tuple[float, float] | None
) -> Notion:
    if delta == 0:
        if epsilon_max is not None:
            raise InvalidParameterError(
                "epsilon_max needs delta > 0; with delta=0 it has no effect. Leave it out."
            )
        return notion
    ceiling: LIP | ALIP | None = None
    if epsilon_max is not None:
        ceiling = ALIP(*epsilon_max) if isinstance(epsilon_max, tuple) else LIP(epsilon_max)
    return RelaxedLift(notion, delta, ceiling)  # type: ignore[arg-type]  # it checks the type


def _uniform_channel(joint: JointDistribution, groups: list[Indices]) -> Channel:
    matrix = eye_array(joint.shape[1], format="lil")
    for group in groups:
        refuse_beyond(
            MOST_CHANNEL_CELLS,
            group.size**2,
            f"randomization='uniform' among {group.size:,} high-risk values of X takes "
            f"{group.size**2:,} cells",
            "use randomization='merge', which has the same leakage and utility",
        )
        matrix[np.ix_(group, group)] = 1.0 / group.size
    return Channel(csr_array(matrix), joint.useful_labels, joint.useful_labels)


def high_risk_leakage(
    joint: JointDistribution, notion: Notion, symbols: tuple[Label, ...]
) -> dict[str, float]:
    """Leakage of a set of symbols that is merged, or randomised independently of the symbol.

    For LIP, ALIP, LDP, both sides of the alpha-lift, the l1-lift and the chi2-lift this is the
    smallest worst-case level of any randomisation of the set (Zarrabian, Ding and Sadeghi 2023,
    eq. 9 and 10; for LDP their Theorem 1): the lift of the merged set is an average of the lifts
    of the outputs, and these levels are quasi-convex in the lift. The inverses of the l1- and the
    chi2-lift are not, and another randomisation can leak less.

    Parameters
    ----------
    joint : JointDistribution
        Distribution of the sensitive and the useful variable.
    notion : Notion
        Defines the sides that are measured; its budget is ignored.
    symbols : sequence of labels
        The set, usually the high-risk symbols.

    Returns
    -------
    dict of float
        Level of each side in nats.
    """
    unknown = [label for label in symbols if label not in joint.useful_labels]
    if unknown or not len(symbols):
        raise InvalidParameterError(
            f"{unknown[0]!r} is not a useful symbol." if unknown else "symbols must not be empty."
        )
    members = np.array([joint.useful_labels.index(label) for label in symbols], dtype=np.intp)
    merging = MergedColumns(joint, notion)
    return merging.levels(merging.merged(members))


@dataclass(frozen=True)
class CriticalEpsilons:
    """The values of epsilon at which the high-risk set changes, largest first.

    Attributes
    ----------
    symbols : tuple of labels
        Useful symbols, the riskiest first.
    epsilons : ndarray
        For epsilon at least ``epsilons[j]`` the symbol ``symbols[j]`` is low-risk.
    merged : ndarray
        Level, in units of epsilon, of the merged set of all symbols that are high-risk at that
        epsilon (0 if there are none). Symbols with the same level become low-risk together.
    effective : ndarray
        The level of the watchdog without repair at that epsilon: the larger of the two.
    """

    symbols: tuple[Label, ...]
    epsilons: FloatArray
    merged: FloatArray
    effective: FloatArray


def critical_epsilons(joint: JointDistribution, notion: Notion | None = None) -> CriticalEpsilons:
    """Find the values of epsilon at which a symbol changes from high-risk to low-risk.

    See Sadeghi, Ding and Rakotoarivelo (2020), section IV, for LIP.

    Parameters
    ----------
    joint : JointDistribution
        Distribution of the sensitive and the useful variable.
    notion : Notion, optional
        The family of budgets: all sides are scaled by one epsilon. By default ``LIP(1.0)``;
        ``ALIP(0.65, 0.35)`` gives the critical epsilons of lam = 0.65.

    Returns
    -------
    CriticalEpsilons

    Examples
    --------
    >>> from skliftpriv import JointDistribution, mechanisms
    >>> joint = JointDistribution.from_counts([[30, 4, 10], [30, 10, 5]])
    >>> critical = mechanisms.critical_epsilons(joint)
    >>> critical.symbols
    (1, 2, 0)
    >>> critical.epsilons.round(3)
    array([0.548, 0.417, 0.011])
    """
    notion = LIP(1.0) if notion is None else notion
    own = _scale(notion, joint.lift, joint.p_s, hair=2e-12)
    order = np.argsort(-own, kind="stable")
    # Slightly larger, so that a symbol is low-risk at its own epsilon in spite of rounding.
    epsilons = own[order] * (1 + 1e-11)
    n_high = np.searchsorted(-own[order], -epsilons)
    merging = MergedColumns(joint, notion)
    sums = np.cumsum(merging.columns[:, order], axis=1)
    levels = _scale(notion, lift_of_columns(sums, joint.p_s), joint.p_s)
    merged = np.where(n_high > 0, levels[n_high - 1], 0.0)
    return CriticalEpsilons(
        symbols=labels_of(joint, order),
        epsilons=epsilons,
        merged=merged,
        effective=np.maximum(epsilons, merged),
    )


def _scale(notion: Notion, lift: FloatArray, p_s: FloatArray, hair: float = 0.0) -> FloatArray:
    """Smallest factor by which the budget must be scaled so that each output meets it.

    ``hair`` is a margin for floating point, where a level close to the budget does not meet it.
    """
    levels = notion.levels(lift, p_s)
    needed = {side: level * (1 + hair) + hair for side, level in levels.items()}
    return np.max([needed[side] / bound for side, bound in notion.budget.items()], axis=0)
