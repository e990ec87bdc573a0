"""Optimised unary encoding as a transformer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from ..confidence import ConfidenceSet
from ..distribution import JointDistribution
from ..frames import ColumnKey
from ..mechanisms import UnaryResult, optimized_unary_encoding
from ..notions import POLYHEDRAL_NOTIONS, Notion, NotionLike
from ..secret import SecretLike
from ._base import LiftSanitizer
from ._bit_releaser import BitReleaser
from ._counted_rows import CountedRows
from ._docs import documented
from ._layout import Layout
from ._parameters import COMMON, CONFIDENCE, NOTION, RECORDS, UNKNOWN, StrOptions, parameters

__all__ = ["OUESanitizer"]


@documented
@parameters
class OUESanitizer(LiftSanitizer[UnaryResult]):
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
    <confidence>
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

    notion: NotionLike = "lip"
    lam: float = 0.5
    confidence: float | None = None
    output: str = "bits"
    handle_unknown: str = "error"
    record_id: ColumnKey | None = None
    groups: ColumnKey | None = None
    secret: SecretLike | None = None

    _supported_notions: ClassVar[Sequence[str]] = POLYHEDRAL_NOTIONS
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **COMMON,
        **NOTION,
        **CONFIDENCE,
        **UNKNOWN,
        **RECORDS,
        "output": [StrOptions({"bits", "label", "posterior"})],
    }

    def _build(
        self, joint: JointDistribution, notion: Notion, over: ConfidenceSet | None
    ) -> UnaryResult:
        return optimized_unary_encoding(joint, notion, over=over)

    def _known(self, result: UnaryResult, layout: Layout) -> dict[str, object]:
        return {"alpha_": result.alpha}

    def _make_releaser(self, result: UnaryResult, rows: CountedRows) -> BitReleaser:
        return BitReleaser.of(result, rows.layout)
