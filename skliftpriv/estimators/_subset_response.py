"""Subset random response as a transformer."""

from __future__ import annotations

from typing import ClassVar

from ..confidence import ConfidenceSet
from ..distribution import JointDistribution
from ..mechanisms import OptimalResult, subset_random_response
from ..notions import Notion
from ._docs import documented
from ._optimal_response import OptimizingSanitizer

__all__ = ["SRRSanitizer"]


@documented
class SRRSanitizer(OptimizingSanitizer):
    """Release low-risk values unchanged and randomise the others optimally within small groups.

    Subset random response (Zarrabian, Ding and Sadeghi 2023, Algorithm 2). Its utility lies between
    subset merging and the optimum, and it is fast for many values.

    Parameters
    ----------
    <columns>
    notion : {"lip", "alip", "ldp", "l1", "chi2", "alpha"} or Notion class, default="lip"
        What the budget bounds; see the user guide. A class is called with epsilon.
    <budget>
    <solver>
    <shell>

    Attributes
    ----------
    <fitted>
    upper_bound_ : float
        No mechanism that randomises within the same groups has a larger NMI.
    gap_ : float
        ``upper_bound_`` minus the NMI reached.
    status_ : str
        "optimal in groups" or, if low-risk values are randomised as well because the others alone
        cannot meet the budget, "repaired"; if a search ended with a larger gap, why, as in
        :class:`ORRSanitizer`.

    Examples
    --------
    >>> from skliftpriv import SRRSanitizer
    >>> from skliftpriv.datasets import load_adult
    >>> adult = load_adult()[["relationship", "occupation"]]
    >>> sanitizer = SRRSanitizer("relationship", "occupation", epsilon=0.5).fit(adult)
    >>> round(sanitizer.report_.nmi, 3)
    0.836
    """

    optimum: ClassVar[str] = "the best mechanism within the same groups"

    def _build(
        self, joint: JointDistribution, notion: Notion, over: ConfidenceSet | None
    ) -> OptimalResult:
        return subset_random_response(joint, notion, over=over, **self._solver_options())
