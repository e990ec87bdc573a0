"""Optimised unary encoding as a transformer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from ..confidence import ConfidenceSet
from ..distribution import JointDistribution
from ..mechanisms import UnaryResult, optimized_unary_encoding
from ..notions import Notion, NotionLike
from ..sampling import RandomState
from ._bit_releaser import BitReleaser
from ._docs import documented
from ._layout import ColumnKeys, Layout
from ._parameters import COMMON, StrOptions
from ._randomized_response import TunedSanitizer

__all__ = ["OUESanitizer"]


@documented
class OUESanitizer(TunedSanitizer[UnaryResult]):
    """Release a noisy bit per value: often 1 for the true value, rarely for the others.

    Optimised unary encoding (Wang et al. 2017) with the least noise that the budget allows
    (Lopuhaa-Zwakenberg, Tong and Skoric 2020, section VII). It keeps at most half of the
    information in X; its strength is the estimation of frequencies.

    Parameters
    ----------
    <columns>
    notion : {"lip", "alip", "ldp"} or Notion class, default="lip"
        What the budget bounds; see the user guide. A class is called with epsilon.
    <budget>
    smoothing : float, default=0.0
        Pseudo-count added to every cell of the estimated joint distribution.
    output : {"bits", "label", "posterior"}, default="bits"
        One column of 0 and 1 per value, one column with the set of values whose bit is 1, or
        one column P(X=x | Y=y) per value.
    <rest>

    Attributes
    ----------
    <fitted>
    alpha_ : float
        A wrong bit is 1 with probability 1 / (exp(alpha) + 1); infinite when no noise is needed.

    Examples
    --------
    >>> from skliftpriv import OUESanitizer
    >>> from skliftpriv.datasets import load_adult
    >>> adult = load_adult()[["marital-status", "education"]]
    >>> sanitizer = OUESanitizer("marital-status", "education", epsilon=1.0).fit(adult)
    >>> sanitizer.transform(adult).shape
    (32561, 16)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **{name: domain for name, domain in COMMON.items() if name != "confidence"},
        "output": [StrOptions({"bits", "label", "posterior"})],
    }

    def __init__(
        self,
        sensitive: ColumnKeys | None = None,
        useful: ColumnKeys | None = None,
        *,
        notion: NotionLike = "lip",
        epsilon: float | Sequence[float] = 1.0,
        lam: float = 0.5,
        smoothing: float = 0.0,
        output: str = "bits",
        remainder: str = "drop",
        index: str = "keep",
        handle_unknown: str = "error",
        random_state: RandomState = None,
    ) -> None:
        super().__init__(
            sensitive,
            useful,
            notion=notion,
            epsilon=epsilon,
            lam=lam,
            smoothing=smoothing,
            output=output,
            remainder=remainder,
            index=index,
            handle_unknown=handle_unknown,
            random_state=random_state,
        )

    def _build(
        self, joint: JointDistribution, notion: Notion, over: ConfidenceSet | None
    ) -> UnaryResult:
        return optimized_unary_encoding(joint, notion)

    def _make_releaser(self, result: UnaryResult, layout: Layout) -> BitReleaser:
        return BitReleaser(result, layout)
