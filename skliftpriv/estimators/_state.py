"""Parameters and fitted attributes of a sanitiser, and the rule that they belong together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import field
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np
import pandas as pd
from sklearn.utils.validation import check_is_fitted

from ..cells import Cells, CellsLike
from ..channel import Channel
from ..distribution import JointDistribution
from ..exceptions import InvalidParameterError
from ..frames import ColumnKey
from ..mechanisms import MechanismResult
from ..notions import Notion, NotionLike
from ..report import PrivacyReport
from ..sampling import RandomState
from ._counted_rows import CountedRows
from ._guarantee import Guarantee
from ._layout import ColumnKeys, Layout
from ._parameters import COMMON, parameters, validate
from ._release import Release
from ._releasing import ReleasingShell
from ._value_lists import Categories

__all__ = ["Result", "StatefulShell", "copied"]

#: Parameters that may change after fit.
_FREE = ("output", "verbose")

Result = TypeVar("Result", bound=MechanismResult)


class FittedState(Generic[Result]):
    """Fitted attributes, and values for mechanisms without these parameters."""

    notion: NotionLike = "lip"
    lam: float = 0.5
    alpha: float = 2.0
    confidence: float | None = None
    cells: CellsLike | None = None
    categories: Categories | None = None
    min_count: int | None = None
    handle_unknown: str = "error"
    record_id: ColumnKey | None = None
    groups: ColumnKey | None = None

    counted_: CountedRows
    cells_: Cells
    layout_: Layout
    result_: Result
    joint_: JointDistribution
    notion_: Notion
    channel_: Channel | None
    report_: PrivacyReport
    guarantee_: Guarantee
    release_: Release
    _parameters: dict[str, Any]


@parameters
class StatefulShell(FittedState[Result], ReleasingShell):
    """The part of a sanitiser that holds its parameters and what they led to."""

    sensitive: ColumnKeys | None = field(default=None, kw_only=False)
    useful: ColumnKeys | None = field(default=None, kw_only=False)
    epsilon: float | Sequence[float] = 1.0
    smoothing: float = 0.0
    output: str = "label"
    remainder: str = "drop"
    index: str = "keep"
    random_state: RandomState = None

    _parameter_constraints: ClassVar[dict[str, Any]] = COMMON

    @property
    def needs_sensitive(self) -> bool:
        """Whether the mechanism needs S at ``transform``."""
        return False

    @property
    def needs_target(self) -> bool:
        """Whether ``fit`` needs y, because the mechanism keeps what is known about it."""
        return False

    def fitted_parameters(self) -> dict[str, Any]:
        """Return the parameters that the mechanism was fitted with.

        .. versionadded:: 0.2

        Returns
        -------
        dict
            Unlike those of :meth:`get_params`, not affected by a later :meth:`set_params`.
        """
        check_is_fitted(self)
        return {name: value for name, value in self._parameters.items() if "__" not in name}

    def _check_ready(self) -> None:
        """Refuse an estimator that is not fitted, or whose parameters changed after fit."""
        check_is_fitted(self)
        validate(self)
        # The form of the output and the progress shown do not affect the guarantee.
        self._check_unchanged([name for name in self._parameters if name not in _FREE])

    def _check_unchanged(self, names: Iterable[str]) -> None:
        now = self.get_params()
        changed = [name for name in names if not _same(now.get(name), self._parameters[name])]
        if changed:
            raise InvalidParameterError(
                f"{', '.join(changed)} of {type(self).__name__} changed after fit, but the "
                "mechanism and its guarantee did not: call fit again."
            )


def copied(value: Any) -> Any:
    """Copy what could be changed in place, but not the estimators and functions that it holds."""
    if isinstance(value, dict):
        return {key: copied(each) for key, each in value.items()}
    if type(value) in (list, tuple):
        return type(value)(map(copied, value))
    return value.copy() if isinstance(value, np.ndarray | pd.Series) else value


def _same(now: Any, fitted: Any) -> bool:
    if isinstance(now, dict) and isinstance(fitted, dict):
        return now.keys() == fitted.keys() and all(_same(now[key], fitted[key]) for key in now)
    if type(now) in (list, tuple) and type(now) is type(fitted):
        return len(now) == len(fitted) and all(map(_same, now, fitted))
    if isinstance(now, pd.Index | pd.Series) and type(now) is type(fitted):
        return bool(now.equals(fitted))
    if isinstance(now, np.ndarray) or isinstance(fitted, np.ndarray):
        # Unlike those of NumPy, pandas' comparison takes missing values of any type as equal.
        one, other = (pd.Series(np.asarray(each).ravel()) for each in (now, fitted))
        return np.shape(now) == np.shape(fitted) and bool(one.equals(other))
    if now is fitted or type(now) is not type(fitted):
        return now is fitted
    return bool(now == fitted or (now != now and fitted != fitted))  # NaN, that of a pickle too
