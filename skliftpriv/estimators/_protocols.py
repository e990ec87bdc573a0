"""The explicit protocols as transformers: GRR, OUE and Conditional Reporting."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from ..confidence import ConfidenceSet
from ..distribution import JointDistribution
from ..exceptions import InvalidParameterError, UnknownCategoryError
from ..frames import SymbolEncoder, Table
from ..mechanisms import (
    ConditionalResult,
    ProtocolResult,
    UnaryResult,
    conditional_reporting,
    generalized_randomized_response,
    optimized_unary_encoding,
)
from ..notions import Notion
from ..sampling import RandomState
from ._base import LiftSanitizer
from ._confident import ConfidentSanitizer
from ._docs import documented
from ._layout import ColumnKeys, Layout
from ._parameters import COMMON, POLYHEDRAL, StrOptions
from ._unary import UnaryReleaser

__all__ = ["ConditionalReporting", "GRRSanitizer", "OUESanitizer"]


class _WithAlpha(LiftSanitizer):
    """Shared by the three: one parameter alpha, found from the budget."""

    _supported_notions: ClassVar[Sequence[str]] = POLYHEDRAL

    def _known(self, result: Any) -> dict[str, Any]:
        return {"alpha_": result.alpha}


@documented
class GRRSanitizer(_WithAlpha, ConfidentSanitizer):
    """Release the true value with one probability and each other value with a smaller one.

    Generalised randomised response, with as little noise as the protection of S allows
    (Lopuhaa-Zwakenberg, Tong and Skoric 2020, section VII).

    Parameters
    ----------
    <columns>
    notion : {"lip", "alip", "ldp"}, default="lip"
        What the budget bounds; see the user guide.
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
        self, joint: JointDistribution, notion: Notion, over: ConfidenceSet | None = None
    ) -> ProtocolResult:
        return generalized_randomized_response(joint, notion, over=over)


@documented
class OUESanitizer(_WithAlpha):
    """Release a noisy bit per value: often 1 for the true one, rarely for the others.

    Optimised unary encoding (Wang et al. 2017), with as little noise as the protection of S
    allows (Lopuhaa-Zwakenberg, Tong and Skoric 2020, section VII). It keeps at most half of X;
    its strength is the estimation of frequencies.

    Parameters
    ----------
    <columns>
    notion : {"lip", "alip", "ldp"}, default="lip"
        What the budget bounds; see the user guide.
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
        **COMMON,
        "output": [StrOptions({"bits", "label", "posterior"})],
    }

    def __init__(
        self,
        sensitive: ColumnKeys | None = None,
        useful: ColumnKeys | None = None,
        *,
        notion: str = "lip",
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

    def _build(self, joint: JointDistribution, notion: Notion) -> UnaryResult:
        return optimized_unary_encoding(joint, notion)

    def _make_releaser(self, result: UnaryResult, layout: Layout) -> UnaryReleaser:
        return UnaryReleaser(result, layout)


@documented
class ConditionalReporting(_WithAlpha, ConfidentSanitizer):
    """Release the true value if a masked S comes out right, else a value that goes with the mask.

    Unlike the other sanitisers it sees S at ``transform`` too, and so hides S rather than X
    (Lopuhaa-Zwakenberg, Tong and Skoric 2020, Algorithm 1). Frequencies estimated from what it
    released rest on P(S|X) being the one seen at ``fit``.

    Parameters
    ----------
    <columns>
    notion : {"lip", "alip", "ldp"}, default="lip"
        What the budget bounds; see the user guide.
    <budget>
    <shell>

    Attributes
    ----------
    <fitted>
    alpha_ : float
        Parameter of the randomised response that masks S; infinite when no noise is needed.
    conditional_channel_ : Channel
        What is sampled, P(Y | S, X), with pairs (s, x) as inputs. ``channel_`` is P(Y | X).

    Examples
    --------
    >>> from skliftpriv import ConditionalReporting
    >>> from skliftpriv.datasets import load_adult
    >>> adult = load_adult()[["marital-status", "education"]]
    >>> sanitizer = ConditionalReporting("marital-status", "education", epsilon=1.0).fit(adult)
    >>> round(sanitizer.alpha_, 3), round(sanitizer.report_.nmi, 3)
    (1.881, 0.303)
    """

    __metadata_request__transform: ClassVar[dict[str, Any]] = {"sensitive_features": True}

    def _build(
        self, joint: JointDistribution, notion: Notion, over: ConfidenceSet | None = None
    ) -> ConditionalResult:
        return conditional_reporting(joint, notion, over=over)

    def _known(self, result: ConditionalResult) -> dict[str, Any]:
        return {
            **super()._known(result),
            "conditional_channel_": result.conditional,
            "_sensitive_encoder": SymbolEncoder(result.joint.sensitive_labels),
        }

    def transform(self, X: Any, *, sensitive_features: Any = None) -> Any:
        """Release a sanitised version of the useful column(s).

        Parameters
        ----------
        X : table of the same kind and columns as at ``fit``
            The sensitive column must be among them, unless ``sensitive_features`` is given.
        sensitive_features : array-like of shape (n_rows,), optional
            The sensitive values, if they were passed on their own at ``fit`` or are missing from
            X; they go before a column of X.

        Returns
        -------
        table of the same kind
            The sensitive column is dropped.
        """
        given = sensitive_features is not None
        table = self._table(X, sensitive=not given)
        if not self._layout.sensitive and not given:
            raise InvalidParameterError(
                "Conditional Reporting needs S at transform too: pass sensitive_features=."
            )
        s = self._sensitive_codes(table, sensitive_features)
        x = self._useful_codes(table)
        # Rows of the conditional channel are pairs (s, x), x running fastest.
        pairs = s * self.joint_.shape[1] + x
        return self._release(table, np.where((s < 0) | (x < 0), -1, pairs))

    def fit_transform(
        self, X: Any, y: Any = None, *, sensitive_features: Any = None, sample_weight: Any = None
    ) -> Any:
        """Fit and release the same rows; parameters are those of :meth:`fit`."""
        self.fit(X, y, sensitive_features=sensitive_features, sample_weight=sample_weight)
        return self.transform(X, sensitive_features=sensitive_features)

    def _sensitive_codes(self, table: Table, given: Any) -> np.ndarray:
        columns = self._sensitive_columns(table, self._layout, given)
        codes, unknown = self._sensitive_encoder.codes(columns)
        if unknown and self.handle_unknown == "error":
            shown = ", ".join(map(repr, unknown[:5]))
            raise UnknownCategoryError(
                f"{self._layout.sensitive_name}: {len(unknown)} sensitive value(s) not seen at "
                f"fit, such as {shown}. Fit on data that holds them, or use "
                "handle_unknown='resample'."
            )
        return codes
