"""Optimal random response: the mechanism that keeps the most within a budget."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import islice

from numpy.typing import ArrayLike
from scipy.sparse import csr_array

from .._arrays import FloatArray
from .._progress import Progress
from ..confidence import Over, checked_set
from ..distribution import JointDistribution
from ..notions import Notion
from ..solvers import PosteriorSolution, solve
from ._inputs import Inputs, PairInputs, UsefulInputs, checked_target
from ._result import OptimalResult
from ._subset_response import Method, first_posteriors

__all__ = ["Method", "OptimalResult", "optimal_random_response"]

_BLIND_SHARE = 1 / 3
"""Share of the time of a mechanism that sees S in which the one that does not is optimised."""
_SMALL_GAP, _MORE = 1e-6, 1.1
"""If the gap is larger than asked for by this factor, the certificate cost more than the search
left."""


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
    over: Over = None,
) -> OptimalResult:
    """Find the mechanism that keeps the most within a budget, with a certified gap.

    What is kept is X, or a target T with ``target``; the input of the mechanism is x, or the pair
    (s, x) with ``use_sensitive``. :doc:`/guide-random-response` states the problem with its four
    cases. Keeping X and seeing x is optimal random response (Lopuhaa-Zwakenberg, Tong and Skoric
    2020, Theorem 3; Zarrabian, Ding and Sadeghi 2023, eq. 12 and 26). The papers enumerate all
    vertices of a polytope; column generation with exact pricing finds the same optimum without
    this. A mechanism that sees S can keep more, because only its output has to be private;
    Conditional Reporting is one such mechanism.

    Parameters
    ----------
    joint : JointDistribution
        Distribution of the sensitive and the useful variable.
    notion : Notion
        The budget. LIP, ALIP and LDP are linear inequalities on an output; l1-, chi2- and
        alpha-lift privacy bound averages over S. Notions of your own need
        :meth:`~skliftpriv.notions.Notion.rows` or :meth:`~skliftpriv.notions.Notion.averages`.

        .. versionchanged:: 0.2
           Averages.
    target : array-like of shape (n_targets, n_useful), optional
        P(T=t | X=x) of what is to be kept, columns summing to 1; None to keep X. With
        ``use_sensitive`` it may also be P(T=t | S=s, X=x), of shape
        (n_targets, n_sensitive, n_useful). Up to 250,000 entries, for the inputs of the mechanism,
        are accepted.

        .. versionadded:: 0.2
    use_sensitive : bool, default=False
        Whether the mechanism P(Y|S,X) may look at S.

        .. versionadded:: 0.2
    method : {"auto", "column-generation", "vertices"}, default="auto"
        Column generation, vertex enumeration, or whichever suits the size. Only linear
        inequalities have vertices to enumerate.
    gap : float, default=1e-6
        Stop when the share that is kept is certified to be this close to the optimum.
    time_limit : float or None, default=60.0
        Stop after this many seconds with the best channel found and a valid gap; None for no
        limit. The search starts from subset merging, so after any time it keeps at least as much.
        To keep X it also starts from subset random response, as far as a tenth of the time allows;
        with more than 2,236 values of X whose lifts differ, blocks of outputs are improved in turn.
        To keep a target it first improves up to 32 outputs together (LIP, ALIP and LDP), which
        soon keep nearly as much as the optimum; with more than 250 values of X it solves before,
        in a third of the time, for groups of values that are alike. With ``use_sensitive`` it
        starts from the best mechanism that does not see S, as found in a third of the time, and
        keeps at least as much as that one.
    verbose : bool or None, default=None
        Show progress on standard error: always, never or, with None, in a terminal or a notebook
        once the work takes longer than three seconds.
    over : ConfidenceSet or list of JointDistribution, optional
        Meet the budget, of LIP, ALIP or LDP, for every distribution in this set; by default for
        ``joint`` alone. Those of a list are covered besides ``joint``. The optimum is then over
        all mechanisms that do so. For a confidence set inequalities are added as cutting planes,
        ``method`` applies to the bound, and the bound is improved for at most five seconds.

        .. versionchanged:: 0.2
            A list of distributions is accepted.

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
    over = checked_set(over, joint)
    wanted = checked_target(target, joint, use_sensitive=use_sensitive)
    inputs = (PairInputs if use_sensitive else UsefulInputs)(joint, wanted)
    problem = inputs.problem(notion, over)

    search = partial(solve, method=method, gap=gap, verbose=verbose)
    with Progress(verbose).lent():
        start = _start(inputs, notion, over, search)
        solution = search(problem, start=start, time_limit=time_limit)
    result = OptimalResult.of(
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
    # What is kept was computed in another way, and differs by rounding errors.
    result = replace(result, upper_bound=max(result.upper_bound, result.utility_kept))
    closed = result.status in ("optimal", "gap_reached")
    lost = result.gap > _MORE * max(gap, _SMALL_GAP)
    return replace(result, status="rounded") if closed and lost else result


def _start(
    inputs: Inputs,
    notion: Notion,
    over: Over,
    search: Callable[..., PosteriorSolution],
) -> Callable[[float], Iterator[FloatArray]]:
    """Return what yields the posteriors of a good mechanism, given the seconds that are left."""
    if not isinstance(inputs, PairInputs):
        first = partial(first_posteriors, inputs.joint, notion, over)
        # Subset random response keeps X; a search for a target finds better posteriors sooner.
        return first if inputs.target is None else lambda seconds: islice(first(seconds), 1)
    blind = inputs.without_sensitive()

    def posteriors(seconds: float) -> Iterator[FloatArray]:
        # Over a set more than the lifts matters, so that a split output may not be allowed.
        paired = inputs.given_useful if over is not None else inputs.split_by_sensitive
        first = _start(blind, notion, over, search)
        for merged in islice(first(seconds), 1):  # in case that the search is interrupted
            yield paired(csr_array(merged).toarray())
        solution = search(
            blind.problem(notion, over),
            start=first,
            time_limit=max(_BLIND_SHARE * seconds, 1e-3),
        )
        yield paired(solution.posteriors)
        if solution.status == "interrupted":
            raise KeyboardInterrupt

    return posteriors
