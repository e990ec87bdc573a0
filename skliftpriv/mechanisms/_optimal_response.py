"""Optimal random response: the mechanism that keeps the most of X within a budget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array

from .._arrays import FloatArray, Label
from .._format import share
from .._limits import (
    MERGE,
    MOST_INEQUALITIES,
    MOST_INEQUALITY_CELLS,
    MOST_POSTERIOR_CELLS,
    POOL,
    refuse_beyond,
)
from ..channel import Channel, distinct, short_text
from ..confidence import ConfidenceSet
from ..distribution import JointDistribution
from ..notions import LDP, Notion
from ..solvers import PosteriorProblem, solve
from ._result import ChannelResult, check_set

__all__ = [
    "Method",
    "OptimalResult",
    "optimal_random_response",
    "posterior_channel",
    "posterior_problem",
]

Method = Literal["auto", "column-generation", "vertices"]

_NAMED = 1e-9
"""Symbols with a smaller share of an output are due to rounding and not named."""


@dataclass(frozen=True, kw_only=True, repr=False)
class OptimalResult(ChannelResult):
    """A mechanism found by optimisation, with a certified upper bound of the NMI.

    Attributes
    ----------
    upper_bound : float
        No mechanism of the same kind has a larger NMI.
    seconds : float
        Time that the solver took.
    n_columns, n_nodes : int
        Number of posteriors evaluated and of boxes bounded by the solver.
    """

    upper_bound: float
    seconds: float
    n_columns: int
    n_nodes: int

    @property
    def gap(self) -> float:
        """Upper bound ``upper_bound - nmi`` of the distance to the optimum."""
        return max(self.upper_bound - self.nmi, 0.0)

    @property
    def gap_to_optimum(self) -> float:
        """Upper bound of the distance to the best mechanism within the budget."""
        return self.gap


def optimal_random_response(
    joint: JointDistribution,
    notion: Notion,
    *,
    method: Method = "auto",
    gap: float = 1e-6,
    time_limit: float | None = 60.0,
    verbose: bool | None = None,
    over: ConfidenceSet | None = None,
) -> OptimalResult:
    r"""Find the channel that keeps the most of X within a budget, with a certified gap.

    Every output y is a posterior v_y = P(X=.|Y=y) with weight q_y, and LIP, ALIP and LDP are
    linear inequalities A v <= 0 on each posterior separately:

    .. math::
        \max_{P_{Y|X}} I(X;Y) = H(X) - \min_{q, v} \left\{ \sum_y q_y H(v_y) :
        \sum_y q_y v_y = P_X,\ A v_y \le 0,\ v_y \in \Delta \right\}.

    (Lopuhaa-Zwakenberg, Tong and Skoric 2020, Theorem 3; Zarrabian, Ding and Sadeghi 2023,
    eq. 12 and 26.) The papers enumerate all vertices of the polytope; column generation with exact
    branch-and-bound pricing finds the same optimum without this.

    Parameters
    ----------
    joint : JointDistribution
        Distribution of the sensitive and the useful variable.
    notion : LIP, ALIP or LDP
        The budget.
    method : {"auto", "column-generation", "vertices"}, default="auto"
        Column generation, vertex enumeration, or whichever suits the size.
    gap : float, default=1e-6
        Stop when the NMI is certified to be this close to the optimum.
    time_limit : float or None, default=60.0
        Stop after this many seconds with the best channel found and a valid gap; None for no
        limit.
    verbose : bool or None, default=None
        Show progress on standard error: always, never or, with None, in a terminal or a notebook
        once the work takes longer than three seconds.
    over : ConfidenceSet, optional
        Meet the budget for every distribution in this set; by default for ``joint`` alone. The
        optimum is then over all mechanisms that do so. Inequalities are added as cutting planes,
        ``method`` applies to the bound, and the bound is improved for at most five seconds.

    Returns
    -------
    OptimalResult

    Examples
    --------
    >>> from skliftpriv import LIP, datasets, mechanisms
    >>> joint = datasets.make_joint(5, 17, random_state=0)
    >>> result = mechanisms.optimal_random_response(joint, LIP(0.5))
    >>> round(result.nmi, 6), result.gap < 1e-6
    (0.849513, True)
    """
    check_set(over, joint)
    refuse_many_posteriors(joint.shape[1])
    problem = posterior_problem(joint, notion, over)
    solution = solve(problem, method=method, gap=gap, time_limit=time_limit, verbose=verbose)
    channel = posterior_channel(joint, solution.weights, solution.posteriors)
    return OptimalResult.of(
        joint,
        notion,
        channel,
        over=over,
        status=solution.status,
        upper_bound=solution.upper_bound,
        seconds=solution.seconds,
        n_columns=solution.n_columns,
        n_nodes=solution.n_nodes,
    )


def posterior_problem(
    joint: JointDistribution,
    notion: Notion,
    over: ConfidenceSet | None,
    group: NDArray[np.intp] | None = None,
) -> PosteriorProblem:
    """Return the problem of choosing posteriors over all symbols, or a group, that meet a notion.

    Over a confidence set the rows are those of all its distributions. They are found on demand:
    a posterior v corresponds to the column q = v / P_X of the channel, and the set returns the
    rows of the distributions that are worst for q.
    """
    members = np.arange(joint.shape[1]) if group is None else group
    p_x = joint.p_x[members]
    if over is None:
        n_s = joint.shape[0]
        n_rows = n_s * (n_s - 1) if isinstance(notion, LDP) else 2 * n_s
        refuse_many_rows(n_rows, joint.shape[1])
        return PosteriorProblem(p_x / p_x.sum(), notion.rows(joint.lift)[:, members])

    def separate(v: FloatArray) -> FloatArray:
        q = np.zeros(joint.shape[1])
        q[members] = v / p_x
        return over.worst_rows(notion, q)[:, members] / p_x

    return PosteriorProblem(p_x / p_x.sum(), np.zeros((0, p_x.size)), separate)


def refuse_many_posteriors(n_symbols: int, instead: str = f"{MERGE}, or {POOL}") -> None:
    """Raise an error if the solution, a posterior for each symbol, would be too large."""
    refuse_beyond(
        MOST_POSTERIOR_CELLS,
        n_symbols**2,
        f"the optimal mechanism for {n_symbols:,} values of X is built from posteriors with "
        f"{n_symbols**2:,} entries",
        instead,
    )


def refuse_many_rows(
    n_rows: int, n_symbols: int, instead: str = f"pool rare sensitive values, or {MERGE}"
) -> None:
    """Raise an error if a problem has more inequalities than fit into memory."""
    what = f"the budget takes {n_rows:,} inequalities on the posterior of an output"
    refuse_beyond(MOST_INEQUALITIES, n_rows, what, instead)
    cells = n_rows * n_symbols
    refuse_beyond(MOST_INEQUALITY_CELLS, cells, f"{what}, with {cells:,} numbers", instead)


def posterior_channel(
    joint: JointDistribution, weights: FloatArray, posteriors: FloatArray | csr_array
) -> Channel:
    """Return the channel whose outputs have these weights and posteriors, named after them.

    Outputs are ordered by their most probable symbol, so the same data give the same order.
    """
    posteriors = csr_array(posteriors)
    main, largest = posteriors.argmax(axis=1), posteriors.max(axis=1).toarray()
    order = np.lexsort((-largest, main))
    weights, posteriors = weights[order], posteriors[order]
    matrix = csr_array((diags_array(weights) @ posteriors).T)
    matrix = csr_array(diags_array(1 / matrix.sum(axis=1)) @ matrix)
    return Channel(matrix, joint.useful_labels, posterior_labels(joint.useful_labels, posteriors))


def posterior_labels(symbols: Sequence[Label], posteriors: FloatArray | csr_array) -> list[Label]:
    """Name outputs after the symbols they may stand for; all names differ.

    The first output that stands for a single symbol has the name of the symbol.
    """
    rows = csr_array(posteriors)
    names: list[Label] = []
    made_up: list[bool] = []
    plain: set[Label] = set()
    for start, stop in pairwise(rows.indptr):
        members, shares = rows.indices[start:stop], rows.data[start:stop]
        names.append(posterior_label([symbols[i] for i in members], shares))
        one = (shares > _NAMED).sum() == 1 and names[-1] not in plain
        made_up.append(not one)
        if one:
            plain.add(names[-1])
    return distinct(names, made_up)


def posterior_label(symbols: Sequence[Label], posterior: FloatArray, most: int = 3) -> Label:
    """Name an output after the symbols it may stand for, the most probable first.

    A single symbol is its own name; otherwise the name looks like ``{Sales 62%, Tech 38%}``.
    """
    order = np.argsort(-posterior, kind="stable")
    members = order[posterior[order] > _NAMED]
    if members.size == 1:
        return symbols[members[0]]
    shown = [f"{short_text(symbols[i])} {share(posterior[i], whole=True)}" for i in members[:most]]
    more = [f"{members.size - most} more"] if members.size > most else []
    return "{" + ", ".join(shown + more) + "}"
