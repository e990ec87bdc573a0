"""The watchdog as a transformer, and the base of sanitisers that use a partition."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import Any, ClassVar, Literal

from ..confidence import ConfidenceSet
from ..distribution import JointDistribution
from ..exceptions import InvalidParameterError
from ..mechanisms import PartitionResult, watchdog
from ..notions import ALIP, Notion, budget_pair
from ._docs import documented
from ._layout import Layout
from ._parameters import ALPHA, POSITIVE, Interval, StrOptions, parameters
from ._symbol_sanitizer import SymbolSanitizer

__all__ = ["PartitionSanitizer", "WatchdogSanitizer"]


@parameters
class PartitionSanitizer(SymbolSanitizer[PartitionResult]):
    """Base of sanitisers that keep some symbols and randomise groups of the others."""

    alpha: float = 2.0
    repair: bool = True

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **SymbolSanitizer._parameter_constraints,
        **ALPHA,
        "repair": ["boolean"],
    }

    def _known(self, result: PartitionResult, layout: Layout) -> dict[str, object]:
        return {
            "low_risk_": list(result.low_risk),
            "high_risk_": list(result.high_risk),
            "partition_": [list(group) for group in result.partition],
            "moved_": list(result.moved),
        }


@documented
@parameters
class WatchdogSanitizer(PartitionSanitizer):
    """Release low-risk values unchanged and make the others indistinguishable.

    A value is low-risk if it meets the budget on its own. All others are merged into one symbol,
    or replaced by a random one of them. No randomisation of the high-risk values leaks less
    (Sadeghi, Ding and Rakotoarivelo 2020; Zarrabian, Ding and Sadeghi 2022), except that with
    notion "l1" or "chi2" another one can have a smaller lift-inverse.

    Parameters
    ----------
    <columns>
    notion : {"lip", "alip", "ldp", "l1", "chi2", "alpha"} or Notion class, default="lip"
        What the budget bounds; see the user guide. A class is called with epsilon.
    <budget>
    <alpha>
    randomization : {"merge", "uniform"}, default="merge"
        Merge the high-risk values into one symbol, or draw one of them uniformly. Leakage and
        utility are the same.
    delta : float, default=0.0
        For "lip" and "alip": probability that the budget may be exceeded. Some high-risk values
        are then released unchanged.
    epsilon_max : float, pair or None, default=None
        With ``delta``: a wider budget that is never exceeded, given like ``epsilon``.
    repair : bool, default=True
        Hide further values until the budget holds. False follows the papers exactly and warns if
        the budget is not met.
    <shell>

    Attributes
    ----------
    <fitted>
    low_risk_, high_risk_ : list
        Values released unchanged, and values that are randomised.
    partition_ : list of lists
        The groups of values that are randomised together; here at most one.
    moved_ : list
        Low-risk values that the repair moved to the high-risk side.
    exempted_ : list
        High-risk values released unchanged because of ``delta``.

    Examples
    --------
    >>> from skliftpriv import WatchdogSanitizer
    >>> from skliftpriv.datasets import load_adult
    >>> adult = load_adult()[["relationship", "occupation"]]
    >>> watchdog = WatchdogSanitizer("relationship", "occupation", epsilon=1.5).fit(adult)
    >>> len(watchdog.low_risk_), len(watchdog.high_risk_)
    (10, 5)
    >>> round(watchdog.report_.nmi, 3)
    0.914
    """

    randomization: Literal["merge", "uniform"] = "merge"
    delta: float = 0.0
    epsilon_max: float | Sequence[float] | None = None

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **PartitionSanitizer._parameter_constraints,
        "randomization": [StrOptions({"merge", "uniform"})],
        "delta": [Interval(Real, 0, 1, closed="left")],
        "epsilon_max": [POSITIVE, tuple, list, None],
    }

    def _build(
        self, joint: JointDistribution, notion: Notion, over: ConfidenceSet | None
    ) -> PartitionResult:
        return watchdog(
            joint,
            notion,
            randomization=self.randomization,
            delta=self.delta,
            epsilon_max=self._ceiling(),
            repair=self.repair,
            over=over,
        )

    def _ceiling(self) -> float | tuple[float, float] | None:
        if self.epsilon_max is None:
            return None
        if isinstance(self._make_notion(), ALIP):
            return budget_pair(self.epsilon_max, self.lam, "epsilon_max")
        if isinstance(self.epsilon_max, Sequence):
            raise InvalidParameterError(
                f"epsilon_max={self.epsilon_max!r} is a pair, but notion={self.notion!r} takes one "
                "number."
            )
        return self.epsilon_max

    def _known(self, result: PartitionResult, layout: Layout) -> dict[str, object]:
        return {**super()._known(result, layout), "exempted_": list(result.exempted)}
