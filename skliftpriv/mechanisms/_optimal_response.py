"""Optimal random response: the mechanism that keeps the most within a budget."""

from __future__ import annotations

from collections.abc import Iterator

from numpy.typing import ArrayLike

from .._arrays import FloatArray
from .._progress import Progress
from ..confidence import ConfidenceSet
from ..distribution import JointDistribution
from ..notions import Notion
from ..solvers import solve
from ._inputs import PairInputs, UsefulInputs, checked_target
from ._result import OptimalResult, check_set
from ._subset_response import Method, first_posteriors

__all__ = ["Method", "OptimalResult", "optimal_random_response"]


def optimal_random_response(
    joint: JointDistribution,
    notion: Notion,
    *,
    target: ArrayLike | None = None,
    use_sensitive: bool = False,
    method: Method = "auto",
    gap: float = 1e-6,
    time_limit: float | None = 60.0,
    verbose: bool | None = None,
    over: ConfidenceSet | None = None,
) -> OptimalResult:
    r"""Find the mechanism that keeps the most within a budget, with a certified gap.

    Every output y is a posterior v_y of the input of the mechanism, with weight q_y, and LIP, ALIP
    and LDP are linear inequalities A v <= 0 on each posterior separately. What is to be kept is X
    or a target T; U v is its distribution given the output:

    .. math::
        \max I(X;Y) \text{ or } I(T;Y) = H(U p) - \min_{q, v} \left\{ \sum_y q_y H(U v_y) :
        \sum_y q_y v_y = p,\ A v_y \le 0,\ v_y \in \Delta \right\}.

    ================  ===================  ===========================  =====================
    what is kept      input                U                            arguments
    ================  ===================  ===========================  =====================
    X                 x                    identity
    T                 x                    P(T|X)                       target
    X                 (s, x)               sums over s                  use_sensitive
    T                 (s, x)               P(T|S,X)                     both
    ================  ===================  ===========================  =====================

    The first is optimal random response (Lopuhaa-Zwakenberg, Tong and Skoric 2020, Theorem 3;
    Zarrabian, Ding and Sadeghi 2023, eq. 12 and 26). The papers enumerate all vertices of the
    polytope; column generation with exact pricing finds the same optimum without this. A mechanism
    that sees S can keep more, because only its output has to be private; Conditional Reporting
    is one such mechanism.

    Parameters
    ----------
    joint : JointDistribution
        Distribution of the sensitive and the useful variable.
    notion : LIP, ALIP or LDP
        The budget.
    target : array-like of shape (n_targets, n_useful), optional
        P(T=t | X=x) of what is to be kept, columns summing to 1; None to keep X. With
        ``use_sensitive`` it may also be P(T=t | S=s, X=x), of shape
        (n_targets, n_sensitive, n_useful).

        .. versionadded:: 0.2
    use_sensitive : bool, default=False
        Whether the mechanism P(Y|S,X) may look at S.

        .. versionadded:: 0.2
    method : {"auto", "column-generation", "vertices"}, default="auto"
        Column generation, vertex enumeration, or whichever suits the size.
    gap : float, default=1e-6
        Stop when the share that is kept is certified to be this close to the optimum.
    time_limit : float or None, default=60.0
        Stop after this many seconds with the best channel found and a valid gap; None for no
        limit. The search starts from subset merging and, as far as a tenth of the time allows,
        from subset random response. So after any time it keeps at least as much as subset merging.
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
    wanted = checked_target(target, joint, use_sensitive=use_sensitive)
    inputs = (PairInputs if use_sensitive else UsefulInputs)(joint, wanted)
    problem = inputs.problem(notion, over)

    def start(seconds: float) -> Iterator[FloatArray]:
        return map(inputs.given_useful, first_posteriors(joint, notion, over, seconds))

    with Progress(verbose).lent():
        solution = solve(
            problem, start=start, method=method, gap=gap, time_limit=time_limit, verbose=verbose
        )
    return OptimalResult.of(
        joint,
        notion,
        inputs.channel(solution.weights, solution.posteriors),
        over=over,
        sees_sensitive=use_sensitive,
        target=wanted,
        status=solution.status,
        upper_bound=solution.upper_bound,
        seconds=solution.seconds,
        n_columns=solution.n_columns,
        n_nodes=solution.n_nodes,
    )
