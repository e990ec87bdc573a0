"""Sanitisers that can promise for the true distribution, and not only for the estimated one."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, ClassVar

from ..confidence import ConfidenceSet
from ..exceptions import InvalidParameterError, SampleSizeWarning
from ..frames import ColumnKey, ContingencyTable
from ..mechanisms import is_constant, rows_needed
from ..notions import Notion
from ..sampling import RandomState
from ._base import LiftSanitizer
from ._parameters import COMMON, CONFIDENCE, POLYHEDRAL

__all__ = ["ConfidentSanitizer"]


class ConfidentSanitizer(LiftSanitizer):
    """Base of the sanitisers with ``confidence``: their ``_build`` takes ``over=`` too."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {**COMMON, **CONFIDENCE}

    def __init__(
        self,
        sensitive: ColumnKey | None = None,
        useful: ColumnKey | Sequence[ColumnKey] | None = None,
        *,
        notion: str = "lip",
        epsilon: float | Sequence[float] = 1.0,
        lam: float = 0.5,
        smoothing: float = 0.0,
        confidence: float | None = None,
        output: str = "label",
        remainder: str = "drop",
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
            handle_unknown=handle_unknown,
            random_state=random_state,
        )
        self.confidence = confidence

    def _make_notion(self) -> Notion:
        notion = super()._make_notion()
        if self.confidence is not None and not notion.polyhedral:
            raise InvalidParameterError(
                f"confidence={self.confidence} is for notions {', '.join(map(repr, POLYHEDRAL))}, "
                f"not for {self.notion!r}; use one of these or confidence=None."
            )
        return notion

    def _promise(self, counts: ContingencyTable) -> dict[str, Any]:
        if self.confidence is None:
            return {}
        over = ConfidenceSet.from_counts(
            counts.counts, counts.sensitive, counts.useful, confidence=self.confidence
        )
        return {"over": over}

    def _warn(self, result: Any, counts: ContingencyTable) -> None:
        if result.over is None or not is_constant(result):
            return

        def build(over: ConfidenceSet | None) -> Any:
            return self._build(result.joint, result.notion, over=over)

        rows = rows_needed(build, result.over)
        reason = (
            "The budget allows no more even for the estimated distribution: raise epsilon."
            if rows is None
            else f"About {rows:,} rows of the same kind would let a part of it through, and so may "
            "a larger epsilon or a smaller confidence."
        )
        warnings.warn(
            f"With confidence={self.confidence:g} and {counts.n_rows:,} rows what is released is "
            f"constant and says nothing about X. {reason}",
            SampleSizeWarning,
            stacklevel=6,
        )
