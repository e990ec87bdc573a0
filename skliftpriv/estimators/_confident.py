"""Sanitisers that can promise for the true distribution, and not only for the estimated one."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, ClassVar

from ..confidence import ConfidenceSet
from ..exceptions import InvalidParameterError, SampleSizeWarning
from ..frames import ContingencyTable
from ..mechanisms import is_constant, rows_needed
from ..notions import Notion
from ..sampling import RandomState
from ._base import LiftSanitizer
from ._layout import ColumnKeys
from ._parameters import COMMON, CONFIDENCE, POLYHEDRAL

__all__ = ["ConfidentSanitizer"]

# A list of values is called open when at least so many occur once, and they are such a share.
_SINGLES = 5
_UNSEEN_SHARE = 1e-3


class ConfidentSanitizer(LiftSanitizer):
    """Base of the sanitisers with ``confidence``: their ``_build`` takes ``over=`` too."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {**COMMON, **CONFIDENCE}

    def __init__(
        self,
        sensitive: ColumnKeys | None = None,
        useful: ColumnKeys | None = None,
        *,
        notion: str = "lip",
        epsilon: float | Sequence[float] = 1.0,
        lam: float = 0.5,
        smoothing: float = 0.0,
        confidence: float | None = None,
        output: str = "label",
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

    def _n_counted(self, counts: ContingencyTable) -> int:
        if self.confidence is None:
            return super()._n_counted(counts)
        return int(counts.counts.sum())  # weights are whole numbers, which count rows

    def _warn(self, result: Any, counts: ContingencyTable) -> None:
        if result.over is None:
            return
        self._warn_of_open_list(result.over)
        if is_constant(result):
            self._warn_of_few_rows(result, counts)

    def _warn_of_open_list(self, over: ConfidenceSet) -> None:
        if over.unseen_share <= _UNSEEN_SHARE or over.unseen_share * over.n_rows < _SINGLES:
            return
        warnings.warn(
            f"{over.unseen_share * over.n_rows:.0f} values of X occur once, so that about "
            f"{over.unseen_share:.1%} of further rows have values that these rows do not show. "
            f"confidence={self.confidence:g} holds for a closed list of values only: merge rare "
            "values before fit.",
            SampleSizeWarning,
            stacklevel=7,
        )

    def _warn_of_few_rows(self, result: Any, counts: ContingencyTable) -> None:
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
            f"With confidence={self.confidence:g} and {self._n_counted(counts):,} rows what is "
            f"released is constant and says nothing about X. {reason}",
            SampleSizeWarning,
            stacklevel=7,
        )
