"""Subset random response: optimal random response within small groups of high-risk symbols."""

from __future__ import annotations

import time

import numpy as np
from scipy.sparse import coo_array, csr_array, eye_array, vstack

from .._arrays import FloatArray, Label
from .._limits import MERGE, MOST_CHANNEL_CELLS, MOST_OPTIMIZED, POOL, refuse_beyond
from .._progress import Progress
from ..confidence import ConfidenceSet
from ..distribution import JointDistribution
from ..measures import entropy
from ..notions import Notion
from ..solvers import PosteriorSolution, solve
from ._merging import Indices, MergedColumns
from ._optimal_response import (
    Method,
    OptimalResult,
    posterior_channel,
    posterior_problem,
    refuse_many_posteriors,
)
from ._subset_merging import subset_merging

__all__ = ["GroupedResult", "subset_random_response"]

_MERGED_SHARE = 1e-12
"""How much of each group is merged where the channel is too large to mend rounding as a whole."""


class GroupedResult(OptimalResult):
    """Subset random response, which is optimal among mechanisms with the same groups."""

    @property
    def gap_to_optimum(self) -> float:
        """NaN, because the bound holds only for mechanisms with the same groups."""
        return float("nan")


def subset_random_response(
    joint: JointDistribution,
    notion: Notion,
    *,
    method: Method = "auto",
    gap: float = 1e-6,
    time_limit: float | None = 60.0,
    verbose: bool | None = None,
    over: ConfidenceSet | None = None,
) -> GroupedResult:
    """Keep low-risk symbols unchanged and randomise the others optimally within groups.

    The groups come from subset merging; they are small, so their optimal random response is found
    quickly (Zarrabian, Ding and Sadeghi 2023, Algorithm 2). If the high-risk symbols together
    cannot meet the budget, low-risk ones are added until they can, as in the repair of subset
    merging.

    A group can meet the budget if and only if its merged symbol does, because the posteriors of
    its outputs average to its prior. Subset merging ensures this for every group, so lines 4-16
    of Algorithm 2, which join groups that cannot, are not needed. The printed test, that the
    polytope of the group is not empty, is weaker and accepts groups for which the linear program
    of line 21 has no solution.

    Parameters
    ----------
    joint : JointDistribution
        Distribution of the sensitive and the useful variable.
    notion : LIP, ALIP or LDP
        The budget.
    method : {"auto", "column-generation", "vertices"}, default="auto"
        Solver of the groups.
    gap : float, default=1e-6
        Certified distance to the optimum at which the solver of a group stops.
    time_limit : float or None, default=60.0
        Seconds for all groups together; None for no limit.
    verbose : bool or None, default=None
        Show progress on standard error: always, never or, with None, in a terminal or a notebook
        once the work takes longer than three seconds.
    over : ConfidenceSet, optional
        Meet the budget for every distribution in this set; by default for ``joint`` alone.

    Returns
    -------
    GroupedResult
        Its ``upper_bound`` is that of mechanisms that randomise within these groups. ``status``
        is "repaired" if low-risk symbols were added.

    Examples
    --------
    >>> from skliftpriv import LIP, datasets, mechanisms
    >>> joint = datasets.make_joint(5, 17, random_state=0)
    >>> round(mechanisms.subset_random_response(joint, LIP(0.5)).nmi, 3)
    0.816
    """
    start = time.monotonic()
    merging = MergedColumns(joint, notion, over)
    n_risky = int(merging.risky.sum())
    refuse_beyond(
        MOST_OPTIMIZED,
        n_risky,
        f"{n_risky:,} values of X are high-risk, and groups of them are optimised one by one",
        f"{MERGE}, or {POOL}",
    )
    merged = subset_merging(joint, notion, over=over)
    groups = _positions(joint, merged.partition)
    solutions: list[PosteriorSolution] = []
    with Progress(verbose).lent() as progress:
        for group in groups:
            refuse_many_posteriors(group.size)
            if solutions and solutions[-1].status == "interrupted":
                time_limit = 0.0  # one interrupt stops all groups
            used = time.monotonic() - start
            left = None if time_limit is None else max(time_limit - used, 1e-3)
            problem = posterior_problem(joint, notion, over, group)
            solutions.append(
                solve(problem, method=method, gap=gap, time_limit=left, verbose=verbose)
            )
            progress.bar("groups", len(solutions) / len(groups))
    status = "repaired" if merged.moved else "optimal in groups"
    return _assembled(joint, notion, over, groups, solutions, status, time.monotonic() - start)


def _positions(joint: JointDistribution, partition: tuple[tuple[Label, ...], ...]) -> list[Indices]:
    """Turn groups of labels into positions in the joint distribution."""
    place = {label: i for i, label in enumerate(joint.useful_labels)}
    return [np.array([place[label] for label in group], dtype=np.intp) for group in partition]


def _assembled(
    joint: JointDistribution,
    notion: Notion,
    over: ConfidenceSet | None,
    groups: list[Indices],
    solutions: list[PosteriorSolution],
    status: str,
    seconds: float,
) -> GroupedResult:
    """Combine the outputs of the groups with the low-risk symbols (eq. 29 and 30)."""
    n_symbols = joint.shape[1]
    low = np.ones(n_symbols, dtype=bool)
    weights: list[FloatArray] = []
    posteriors: list[coo_array] = []
    loss = 0.0
    merged = _MERGED_SHARE if n_symbols**2 > MOST_CHANNEL_CELLS else 0.0
    for group, solution in zip(groups, solutions, strict=True):
        low[group] = False
        mass = joint.p_x[group].sum()
        together = joint.p_x[group] / mass  # the posterior of the merged group, which is private
        own = coo_array((1 - merged) * solution.posteriors + merged * together)
        weights.append(mass * solution.weights)
        posteriors.append(
            coo_array((own.data, (own.row, group[own.col])), (len(solution.weights), n_symbols))
        )
        # Every mechanism loses at least this much of H(X) in the group.
        loss += mass * (1 - solution.upper_bound) * entropy(together)
    weights.append(joint.p_x[low])
    posteriors.append(eye_array(n_symbols, format="csr")[low])
    total = float(entropy(joint.p_x))
    stopped = [s.status for s in solutions if s.status in ("time_limit", "interrupted")]
    return GroupedResult.of(
        joint,
        notion,
        posterior_channel(joint, np.concatenate(weights), csr_array(vstack(posteriors))),
        over=over,
        status=stopped[0] if stopped else status,
        upper_bound=1.0 if total == 0 else float(1 - loss / total),
        seconds=seconds,
        n_columns=sum(s.n_columns for s in solutions),
        n_nodes=sum(s.n_nodes for s in solutions),
    )
