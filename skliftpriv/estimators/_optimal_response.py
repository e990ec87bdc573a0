"""Optimal random response as a transformer, and the base of optimising sanitisers."""

from __future__ import annotations

from functools import partial
from numbers import Real
from typing import Any, ClassVar

from sklearn.utils import Tags

from .._arrays import FloatArray
from ..confidence import ConfidenceSet
from ..distribution import JointDistribution
from ..mechanisms import OptimalResult, optimal_random_response
from ..notions import Notion
from ._counted_rows import CountedRows
from ._docs import documented
from ._fitting import Mechanism
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
@parameters
class ORRSanitizer(OptimizingSanitizer):
    """Keep as much as any mechanism within the budget can, with a certificate.

    Optimal random response (Lopuhaa-Zwakenberg, Tong and Skoric 2020; Zarrabian, Ding and
    Sadeghi 2023), solved by column generation where vertex enumeration takes too long. What is
    kept is X itself, or what X tells about the target y of ``fit(X, y)``. The fitted
    ``upper_bound_`` proves how close the result is to the optimum.

    Parameters
    ----------
    <columns>
    notion : {"lip", "alip", "ldp", "l1", "chi2", "alpha"} or Notion class, default="lip"
        What the budget bounds; see the user guide. A class is called with epsilon.
    <budget>
    utility : {"useful", "target"}, default="useful"
        What is kept. "useful" keeps X: it maximises I(X;Y). "target" keeps what predicts the y of
        ``fit(X, y)``: it maximises I(T;Y). y may be text, booleans or numbers; numbers with more
        than 20 distinct values are put into ten bins with about as many rows each, and text or
        other values may be at most 100 different ones.

        .. versionadded:: 0.2
    use_sensitive : bool, default=False
        Whether the mechanism P(Y|S,X) may look at S, which ``transform`` then needs. It keeps
        more, and treats records differently by S, which some laws restrict. A pair of values of S
        and X that did not occur at ``fit`` gets a draw from the distribution of Y.

        .. versionadded:: 0.2
    <solver>
    <shell>

    Attributes
    ----------
    <fitted>
    upper_bound_ : float
        No mechanism within the budget keeps a larger share of X, or of what is known about the
        target.
    gap_ : float
        ``upper_bound_`` minus ``report_.utility_kept``.
    conditional_channel_ : Channel
        With ``use_sensitive``: P(Y | S, X), exactly as it is sampled, with pairs (s, x) as inputs.
        ``channel_`` is P(Y | X).
    status_ : str
        "optimal", "gap_reached" or, if the search ended with a larger gap, why: "time_limit",
        "memory_limit", "no_progress", "interrupted" or, if the search did not but integer weights
        within the budget keep less, "rounded".

    Examples
    --------
    >>> from skliftpriv import ORRSanitizer
    >>> from skliftpriv.datasets import load_adult
    >>> adult = load_adult()[["relationship", "occupation"]]
    >>> sanitizer = ORRSanitizer("relationship", "occupation", epsilon=0.5).fit(adult)
    >>> round(sanitizer.report_.nmi, 3), sanitizer.gap_ < 1e-6
    (0.847, True)
    >>> seeing = ORRSanitizer("relationship", "occupation", epsilon=0.5, use_sensitive=True)
    >>> round(seeing.fit(adult).report_.nmi, 3)
    0.957
    """

    utility: str = "useful"
    use_sensitive: bool = False

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **OptimizingSanitizer._parameter_constraints,
        "utility": [StrOptions({"useful", "target"})],
        "use_sensitive": ["boolean"],
    }

    @property
    def needs_sensitive(self) -> bool:
        """Whether ``transform`` needs S."""
        return bool(self.use_sensitive)

    @property
    def needs_target(self) -> bool:
        """Whether ``fit`` needs y."""
        return self.utility == "target"

    def _mechanism_for(self, rows: CountedRows) -> Mechanism[OptimalResult]:
        if not self.needs_target:
            return self._build
        self._check_target(rows.target)
        joint = rows.counts.joint(self.smoothing)
        target = rows.target.given(joint, sensitive=self.use_sensitive) if rows.target else None
        return partial(self._build, target=target)

    def _build(
        self,
        joint: JointDistribution,
        notion: Notion,
        over: ConfidenceSet | None,
        target: FloatArray | None = None,
    ) -> OptimalResult:
        return optimal_random_response(
            joint,
            notion,
            target=target,
            use_sensitive=bool(self.use_sensitive),
            over=over,
            **self._solver_options(),
        )

    def _known(self, result: OptimalResult, layout: Layout) -> dict[str, object]:
        known = super()._known(result, layout)
        if result.conditional is not None:
            known["conditional_channel_"] = result.conditional
        return known

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = self.needs_target
        return tags
