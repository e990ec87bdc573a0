"""Optimal random response as a transformer, and the base of optimising sanitisers."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import Any, ClassVar

from ..confidence import ConfidenceSet
from ..distribution import JointDistribution
from ..mechanisms import OptimalResult, optimal_random_response
from ..notions import POLYHEDRAL_NOTIONS, Notion
from ._docs import documented
from ._layout import Layout
from ._parameters import POSITIVE, Interval, StrOptions, parameters
from ._symbol_sanitizer import SymbolSanitizer

__all__ = ["SOLVER", "ORRSanitizer", "OptimizingSanitizer"]

#: Domains of the parameters of the solver.
SOLVER: dict[str, Any] = {
    "method": [
        StrOptions({"auto", "column-generation", "columns", "vertices"}, deprecated={"columns"})
    ],
    "gap": [Interval(Real, 0, None, closed="left")],
    "time_limit": [POSITIVE, None],
    "verbose": ["verbose", None],
}


@parameters
class OptimizingSanitizer(SymbolSanitizer[OptimalResult]):
    """Base of optimising sanitisers: solver parameters and a certificate of optimality."""

    method: str = "auto"
    gap: float = 1e-6
    time_limit: float | None = 60.0
    verbose: bool | None = None

    #: What ``upper_bound_`` bounds, in words.
    optimum: ClassVar[str] = "the optimum"
    _supported_notions: ClassVar[Sequence[str]] = POLYHEDRAL_NOTIONS
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **SymbolSanitizer._parameter_constraints,
        **SOLVER,
    }

    def _solver_options(self) -> dict[str, Any]:
        return {
            "method": self.method,
            "gap": self.gap,
            "time_limit": self.time_limit,
            "verbose": self.verbose,
        }

    def _known(self, result: OptimalResult, layout: Layout) -> dict[str, object]:
        return {"upper_bound_": result.upper_bound, "gap_": result.gap, "status_": result.status}


@documented
class ORRSanitizer(OptimizingSanitizer):
    """Keep as much of X as any mechanism within the budget can, with a certificate.

    Optimal random response (Lopuhaa-Zwakenberg, Tong and Skoric 2020; Zarrabian, Ding and
    Sadeghi 2023), solved by column generation where vertex enumeration takes too long. The fitted
    ``upper_bound_`` proves how close the result is to the optimum.

    Parameters
    ----------
    <columns>
    notion : {"lip", "alip", "ldp"} or Notion class, default="lip"
        What the budget bounds; see the user guide. A class is called with epsilon.
    <budget>
    <solver>
    <shell>

    Attributes
    ----------
    <fitted>
    upper_bound_ : float
        No mechanism within the budget has a larger NMI.
    gap_ : float
        ``upper_bound_`` minus the NMI reached.
    status_ : str
        "optimal", "gap_reached", "time_limit" or "interrupted".

    Examples
    --------
    >>> from skliftpriv import ORRSanitizer
    >>> from skliftpriv.datasets import load_adult
    >>> adult = load_adult()[["relationship", "occupation"]]
    >>> sanitizer = ORRSanitizer("relationship", "occupation", epsilon=0.5).fit(adult)
    >>> round(sanitizer.report_.nmi, 3), sanitizer.gap_ < 1e-6
    (0.847, True)
    """

    def _build(
        self, joint: JointDistribution, notion: Notion, over: ConfidenceSet | None
    ) -> OptimalResult:
        return optimal_random_response(joint, notion, over=over, **self._solver_options())
