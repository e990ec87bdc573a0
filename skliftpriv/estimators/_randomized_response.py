"""Generalised randomised response as a transformer, and the base of protocols with alpha."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, TypeVar

from ..confidence import ConfidenceSet
from ..distribution import JointDistribution
from ..mechanisms import ProtocolResult, generalized_randomized_response
from ..notions import POLYHEDRAL_NOTIONS, Notion
from ._docs import documented
from ._layout import Layout
from ._symbol_sanitizer import SymbolSanitizer

__all__ = ["GRRSanitizer", "TunedSanitizer"]

Tuned = TypeVar("Tuned", bound=ProtocolResult)


class TunedSanitizer(SymbolSanitizer[Tuned]):
    """Base of protocols with one parameter alpha, computed from the budget."""

    _supported_notions: ClassVar[Sequence[str]] = POLYHEDRAL_NOTIONS

    def _known(self, result: Tuned, layout: Layout) -> dict[str, object]:
        return {"alpha_": result.alpha}


@documented
class GRRSanitizer(TunedSanitizer[ProtocolResult]):
    """Release the true value with one probability and each other value with a smaller one.

    Generalised randomised response with the least noise that the budget allows (Lopuhaa-Zwakenberg,
    Tong and Skoric 2020, section VII).

    Parameters
    ----------
    <columns>
    notion : {"lip", "alip", "ldp"} or Notion class, default="lip"
        What the budget bounds; see the user guide. A class is called with epsilon.
    <budget>
    <shell>

    Attributes
    ----------
    <fitted>
    alpha_ : float
        Log of the ratio of the two probabilities; infinite when no noise is needed.

    Examples
    --------
    >>> from skliftpriv import GRRSanitizer
    >>> from skliftpriv.datasets import load_adult
    >>> adult = load_adult()[["marital-status", "education"]]
    >>> sanitizer = GRRSanitizer("marital-status", "education", epsilon=1.0).fit(adult)
    >>> round(sanitizer.alpha_, 3), round(sanitizer.report_.nmi, 3)
    (3.511, 0.481)
    """

    def _build(
        self, joint: JointDistribution, notion: Notion, over: ConfidenceSet | None
    ) -> ProtocolResult:
        return generalized_randomized_response(joint, notion, over=over)
