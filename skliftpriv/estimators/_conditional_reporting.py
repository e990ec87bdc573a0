"""Conditional Reporting as a transformer."""

from __future__ import annotations

from ..confidence import ConfidenceSet
from ..distribution import JointDistribution
from ..mechanisms import ConditionalResult, conditional_reporting
from ..notions import Notion
from ._docs import documented
from ._layout import Layout
from ._randomized_response import TunedSanitizer

__all__ = ["ConditionalReporting"]


@documented
class ConditionalReporting(TunedSanitizer[ConditionalResult]):
    """Release the true value if a randomised S equals S, else a draw from P(X | randomised S).

    Unlike the other sanitisers it uses S at ``transform`` as well, and randomises S rather than X
    (Lopuhaa-Zwakenberg, Tong and Skoric 2020, Algorithm 1). Frequencies estimated from its output
    assume that P(S|X) is the one seen at ``fit``.

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
        Parameter of the randomised response applied to S; infinite when no noise is needed.
    conditional_channel_ : Channel
        P(Y | S, X), exactly as it is sampled, with pairs (s, x) as inputs. ``channel_`` is
        P(Y | X).

    Examples
    --------
    >>> from skliftpriv import ConditionalReporting
    >>> from skliftpriv.datasets import load_adult
    >>> adult = load_adult()[["marital-status", "education"]]
    >>> sanitizer = ConditionalReporting("marital-status", "education", epsilon=1.0).fit(adult)
    >>> round(sanitizer.alpha_, 3), round(sanitizer.report_.nmi, 3)
    (1.881, 0.303)
    """

    @property
    def needs_sensitive(self) -> bool:
        """True: S is one of the inputs of the mechanism."""
        return True

    def _build(
        self, joint: JointDistribution, notion: Notion, over: ConfidenceSet | None
    ) -> ConditionalResult:
        return conditional_reporting(joint, notion, over=over)

    def _known(self, result: ConditionalResult, layout: Layout) -> dict[str, object]:
        return {**super()._known(result, layout), "conditional_channel_": result.conditional}
