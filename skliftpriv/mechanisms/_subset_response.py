"""Subset random response: optimal random response within small groups of high-risk symbols."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable

import numpy as np
from scipy.sparse import coo_array, csr_array, eye_array, vstack

from .._arrays import FloatArray
from .._limits import MERGE, MOST_OPTIMIZED, POOL, refuse_beyond
from ..confidence import ConfidenceSet
from ..distribution import JointDistribution
from ..exceptions import BudgetWarning
from ..measures import entropy
from ..notions import Notion
from ..solvers import PosteriorSolution, solve
from ._merging import Indices, MergedColumns
from ._optimal import (
    Method,
    OptimalResult,
    posterior_channel,
    posterior_problem,
    refuse_many_posteriors,
)
from ._subset_merging import subset_merging

__all__ = ["GroupedResult", "subset_random_response"]


class GroupedResult(OptimalResult):
    """Subset random response: optimal within groups, which says little about other mechanisms."""

    @property
    def gap_to_optimum(self) -> float:
        """Unknown: the bound holds for mechanisms that randomise within the same groups."""
        return float("nan")


def subset_random_response(
    joint: JointDistribution,
    notion: Notion,
    *,
    method: Method = "auto",
    gap: float = 1e-6,
    time_limit: float | None = None,
    verbose: bool = False,
    over: ConfidenceSet | None = None,
) -> GroupedResult:
    """Release low-risk symbols unchanged and randomise the others optimally within groups.

    The groups come from subset merging; each is small, so that its optimal random response is
    found quickly (Zarrabian, Ding and Sadeghi 2023, Algorithm 2). A group that cannot meet the
    budget on its own is joined with others; if all high-risk symbols together cannot, low-risk
    ones are taken in until they can, as in the repair of subset merging.

    Parameters
    ----------
    joint : JointDistribution
        Distribution of the sensitive and the useful variable.
    notion : LIP, ALIP or LDP
        The budget.
    method : {"auto", "columns", "vertices"}, default="auto"
        Solver of the groups.
    gap : float, default=1e-6
        Certified distance to the optimum at which the solver of a group stops.
    time_limit : float or None, default=None
        Seconds for all groups together.
    verbose : bool, default=False
        Show progress on standard error.
    over : ConfidenceSet, optional
        Keep the budget for every distribution of this set; by default for ``joint`` alone.

    Returns
    -------
    GroupedResult
        Its ``upper_bound`` is that of mechanisms that randomise within these groups. ``status``
        is "repaired" where low-risk symbols were taken in.

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
    groups = feasible_subsets(
        _groups(joint, notion, over, repair=False),
        lambda group: merging.meets(merging.merged(group)),
    )
    repaired = len(groups) == 1 and not merging.meets(merging.merged(groups[0]))
    if repaired:
        groups = _groups(joint, notion, over, repair=True)
    solutions: list[PosteriorSolution] = []
    for group in groups:
        refuse_many_posteriors(group.size)
        if solutions and solutions[-1].status == "interrupted":
            time_limit = 0.0  # one interrupt stops all groups
        left = None if time_limit is None else max(time_limit - (time.monotonic() - start), 1e-3)
        problem = posterior_problem(joint, notion, over, group)
        solutions.append(solve(problem, method=method, gap=gap, time_limit=left, verbose=verbose))
    status = "repaired" if repaired else "optimal in groups"
    return _assembled(joint, notion, over, groups, solutions, status, time.monotonic() - start)


def _groups(
    joint: JointDistribution, notion: Notion, over: ConfidenceSet | None, *, repair: bool
) -> list[Indices]:
    """Return the groups that Algorithm 1 makes of the high-risk symbols, by position."""
    with warnings.catch_warnings():
        # That the groups alone may miss the budget is dealt with here.
        warnings.simplefilter("ignore", BudgetWarning)
        partition = subset_merging(joint, notion, repair=repair, over=over).partition
    place = {label: i for i, label in enumerate(joint.useful_labels)}
    return [np.array([place[label] for label in group], dtype=np.intp) for group in partition]


def feasible_subsets(groups: list[Indices], feasible: Callable[[Indices], bool]) -> list[Indices]:
    """Join groups until each can meet the budget: lines 4-16 of Algorithm 2.

    A group can meet the budget if its own prior does, because the posteriors of its outputs
    average to that prior; the printed test, that the polytope is not empty, is weaker and lets
    groups pass for which the linear program of line 21 has no solution.
    """
    waiting = list(groups)
    done: list[Indices] = []
    while waiting:
        subset = waiting.pop(0)
        while not feasible(subset) and (waiting or done):
            subset = np.concatenate([subset, waiting.pop(0) if waiting else done.pop()])
        done.append(subset)
    return done


def _assembled(
    joint: JointDistribution,
    notion: Notion,
    over: ConfidenceSet | None,
    groups: list[Indices],
    solutions: list[PosteriorSolution],
    status: str,
    seconds: float,
) -> GroupedResult:
    """Put the groups' outputs beside the low-risk symbols: eq. 29 and 30."""
    n_symbols = joint.shape[1]
    low = np.ones(n_symbols, dtype=bool)
    weights: list[FloatArray] = []
    posteriors: list[coo_array] = []
    loss = 0.0
    for group, solution in zip(groups, solutions, strict=True):
        low[group] = False
        mass = joint.p_x[group].sum()
        own = coo_array(solution.posteriors)
        weights.append(mass * solution.weights)
        posteriors.append(
            coo_array((own.data, (own.row, group[own.col])), (len(solution.weights), n_symbols))
        )
        # At least this much of H(X) is lost in the group, whatever is done there.
        loss += mass * (1 - solution.upper_bound) * entropy(joint.p_x[group] / mass)
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
