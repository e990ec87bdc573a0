"""Subset random response: optimal random response within small groups of high-risk symbols."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
from scipy.sparse import csr_array, eye_array, vstack

from .._arrays import FloatArray
from .._limits import MERGE, MOST_CHANNEL_CELLS, MOST_OPTIMIZED, POOL, refuse_beyond
from .._progress import Progress
from ..confidence import Over, checked_set
from ..distribution import JointDistribution
from ..measures import entropy
from ..notions import Notion
from ..solvers import PosteriorSolution, solve
from ._inputs import UsefulInputs
from ._merging import Indices, MergedColumns
from ._posterior_channel import posterior_channel
from ._result import OptimalResult
from ._subset_merging import merged_groups

__all__ = ["GroupedResult", "Method", "first_posteriors", "subset_random_response"]

Method = Literal["auto", "column-generation", "vertices"]

_FIRST_SHARE = 0.1
"""Share of the time of optimal random response in which groups are optimised first."""
_FIRST_GAP = 1e-4
"""Gap at which that ends for a group."""

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
    over: Over = None,
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
    notion : Notion
        The budget, as for :func:`optimal_random_response`.
    method : {"auto", "column-generation", "vertices"}, default="auto"
        Solver of the groups.
    gap : float, default=1e-6
        Certified distance to the optimum at which the solver of a group stops.
    time_limit : float or None, default=60.0
        Seconds for all groups together; None for no limit.
    verbose : bool or None, default=None
        Show progress on standard error: always, never or, with None, in a terminal or a notebook
        once the work takes longer than three seconds.
    over : ConfidenceSet or list of JointDistribution, optional
        Meet the budget, of LIP, ALIP or LDP, for every distribution in this set; by default for
        ``joint`` alone. Those of a list are covered besides ``joint``.

        .. versionchanged:: 0.2
            A list of distributions is accepted.

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
    over = checked_set(over, joint)
    risky = MergedColumns(joint, notion, over).risky
    n_risky = int(risky.sum())
    refuse_beyond(
        MOST_OPTIMIZED,
        n_risky,
        f"{n_risky:,} values of X are high-risk, and groups of them are optimised one by one",
        f"{MERGE}, or {POOL}",
    )
    groups = merged_groups(joint, notion, over)
    left = None if time_limit is None else time_limit - (time.monotonic() - start)
    options = {"method": method, "gap": gap}
    solutions = _solved_groups(joint, notion, over, groups, left, verbose, **options)
    repaired = any(not risky[group].all() for group in groups)
    status = "repaired" if repaired else "optimal in groups"
    return _assembled(joint, notion, over, groups, solutions, status, time.monotonic() - start)


def first_posteriors(
    joint: JointDistribution, notion: Notion, over: Over, seconds: float
) -> Iterator[csr_array]:
    """Yield the posteriors of X that subset merging and then subset random response use.

    Those of subset merging are complete, so that there is a mechanism to start from. A share of
    the seconds is spent on the others.
    """
    groups = merged_groups(joint, notion, over)
    low = np.ones(joint.shape[1], dtype=bool)
    for group in groups:
        low[group] = False
    merged = [(joint.p_x[group] / joint.p_x[group].sum())[None] for group in groups]
    alone = eye_array(low.size, format="csr")[low]
    yield csr_array(vstack([alone, *_everywhere(groups, merged, joint)]))
    if low.size - low.sum() > MOST_OPTIMIZED:
        return
    end = time.monotonic() + _FIRST_SHARE * seconds
    found = [csr_array((0, joint.shape[1]))]
    progress = Progress()
    for done, group in enumerate(groups):
        progress.bar("starting", done / len(groups))
        left = end - time.monotonic()
        if left <= 0:
            break
        (solution,) = _solved_groups(joint, notion, over, [group], left, gap=_FIRST_GAP)
        found += _everywhere([group], [solution.posteriors], joint)
        if solution.status == "interrupted":
            yield csr_array(vstack(found))
            raise KeyboardInterrupt
    yield csr_array(vstack(found))


def _everywhere(
    groups: list[Indices], posteriors: list[FloatArray], joint: JointDistribution
) -> Iterator[csr_array]:
    """Yield posteriors of groups as posteriors of all symbols."""
    for group, own in zip(groups, posteriors, strict=True):
        v = csr_array(own)
        yield csr_array((v.data, group[v.indices], v.indptr), (len(own), joint.shape[1]))


def _solved_groups(
    joint: JointDistribution,
    notion: Notion,
    over: Over,
    groups: list[Indices],
    time_limit: float | None,
    verbose: bool | None = None,
    **options: Any,
) -> list[PosteriorSolution]:
    """Find the optimal random response of each group; an interrupt stops all of them."""
    start = time.monotonic()
    solutions: list[PosteriorSolution] = []
    with Progress(verbose).lent() as progress:
        for group in groups:
            if solutions and solutions[-1].status == "interrupted":
                time_limit = 0.0
            used = time.monotonic() - start
            left = None if time_limit is None else max(time_limit - used, 1e-3)
            problem = UsefulInputs(joint, group=group).problem(notion, over)
            solutions.append(solve(problem, time_limit=left, verbose=verbose, **options))
            progress.bar("groups", len(solutions) / len(groups))
    return solutions


def _assembled(
    joint: JointDistribution,
    notion: Notion,
    over: Over,
    groups: list[Indices],
    solutions: list[PosteriorSolution],
    status: str,
    seconds: float,
) -> GroupedResult:
    """Combine the outputs of the groups with the low-risk symbols (eq. 29 and 30)."""
    n_symbols = joint.shape[1]
    low = np.ones(n_symbols, dtype=bool)
    weights: list[FloatArray] = []
    posteriors: list[csr_array] = []
    loss = 0.0
    merged = _MERGED_SHARE if n_symbols**2 > MOST_CHANNEL_CELLS else 0.0
    for group, solution in zip(groups, solutions, strict=True):
        low[group] = False
        mass = joint.p_x[group].sum()
        together = joint.p_x[group] / mass  # the posterior of the merged group, which is private
        own = (1 - merged) * solution.posteriors + merged * together
        weights.append(mass * solution.weights)
        posteriors += _everywhere([group], [own], joint)
        # Every mechanism loses at least this much of H(X) in the group.
        loss += mass * (1 - solution.upper_bound) * entropy(together)
    weights.append(joint.p_x[low])
    posteriors.append(eye_array(n_symbols, format="csr")[low])
    total = float(entropy(joint.p_x))
    stopped = [s.status for s in solutions if s.status not in ("optimal", "gap_reached")]
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
