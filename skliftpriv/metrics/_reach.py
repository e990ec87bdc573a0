"""Find the columns that reach the last step of a fitted model, sanitised or not.

Steps after a sanitiser can only remove information, so they are not examined: columns that a
later step drops still count.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import narwhals as nw
import numpy as np
from scipy.sparse import issparse
from sklearn.compose import ColumnTransformer
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.utils.validation import check_is_fitted

from ..estimators import ReleasingShell
from ..exceptions import InvalidParameterError
from ..frames import Table, as_columns
from ._joint import protects_column

__all__ = ["Part", "reaching"]

#: Largest number of cells of a sparse table that is made dense, 80 MB.
_MOST_CELLS = 10_000_000


@dataclass(frozen=True)
class Part:
    """Columns that reach a model by one path.

    Attributes
    ----------
    step : str
        The path, for messages.
    sanitizer : ReleasingShell or None
        The fitted sanitiser on this path, if any.
    rows : callable
        Returns the input of the sanitiser, or the columns if there is none.
    """

    step: str
    sanitizer: ReleasingShell | None
    rows: Callable[[], Any]

    @property
    def passes(self) -> bool:
        """Whether there are columns that are not sanitised."""
        if self.sanitizer is None:
            return True
        return self.sanitizer.remainder == "passthrough" and bool(self.sanitizer.layout_.rest)

    def plain(self) -> list[Any]:
        """Return the columns that are not sanitised."""
        if self.sanitizer is None:
            return as_columns(_dense(self.rows(), self.step), self.step)
        if not self.passes:
            return []
        layout, table = self.sanitizer.layout_, Table(self.rows())
        return [layout.column(table, i) for i in layout.rest]

    def released(self, s: Any) -> Any:
        """Return the released columns.

        The sensitive values ``s`` are used only if S was not a column of X at fit.
        """
        rows = _dense(self.rows(), self.step)
        if self.sanitizer is None:
            return rows
        given = None if protects_column(self.sanitizer) else s
        return self.sanitizer.transform(rows, sensitive_features=given)


def reaching(model: Any, X: Any) -> list[Part]:
    """List the columns that reach the last step of a fitted model, by path.

    Parameters
    ----------
    model : fitted sanitiser, Pipeline, ColumnTransformer, FeatureUnion, search or frozen estimator
        Contains a sanitiser at any depth.
    X : table or None
        Rows to send through the model, if they are needed.
    """

    def given() -> Any:
        if X is None:
            raise InvalidParameterError(
                "More than the columns of one sanitiser reach the model, and their joint leakage "
                "is measured on rows: pass X."
            )
        return X

    if next(_sanitizers(model), None) is None:
        raise InvalidParameterError(
            f"{type(model).__name__} contains no sanitiser. The scorers look into Pipeline, "
            "ColumnTransformer, FeatureUnion, FrozenEstimator and fitted searches."
        )
    return _walk(model, given, "")


def _walk(part: Any, rows: Callable[[], Any], step: str) -> list[Part]:
    """List the columns that a part of a model returns for these rows."""
    part = _unwrapped(part)
    if next(_sanitizers(part), None) is None:
        return _without_sanitizer(part, rows, step)
    if isinstance(part, ReleasingShell):
        check_is_fitted(part)
        return [Part(step or type(part).__name__, part, rows)]
    if isinstance(part, Pipeline):
        return _along(part, rows, step)
    return [
        found
        for name, inner, columns in _children(part)
        for found in _walk(inner, _selected(rows, columns), _path(step, name))
    ]


def _without_sanitizer(part: Any, rows: Callable[[], Any], step: str) -> list[Part]:
    if isinstance(part, str) and part == "drop":
        return []
    if hasattr(part, "transform"):
        return [Part(step, None, cache(lambda: part.transform(rows())))]
    # "passthrough" or a predictor: the rows stay unchanged.
    return [Part(step, None, rows)]


def _along(pipeline: Pipeline, rows: Callable[[], Any], step: str) -> list[Part]:
    parts = [Part(step, None, rows)]
    for name, inner in pipeline.steps:
        where = _path(step, name)
        if any(part.sanitizer for part in parts):
            _check_later(inner, parts, where)
        elif inner is not None:
            parts = _walk(inner, parts[0].rows, where)
    return parts


def _check_later(inner: Any, parts: list[Part], where: str) -> None:
    """Refuse a later sanitiser whose input is not only what others have released."""
    later = list(_sanitizers(inner))
    if later and any(part.passes for part in parts):
        past = next(part.step for part in parts if part.passes)
        raise InvalidParameterError(
            f"{where} follows another sanitiser and may sanitise columns that {past} passes "
            "through, so the leakage of the model cannot be measured. Put the sanitisers side by "
            "side in a ColumnTransformer, or use attacker_advantage on the released columns."
        )
    again = next((s for s in later if s.needs_sensitive), None)
    if again is not None:
        raise InvalidParameterError(
            f"{where} ({type(again).__name__}) follows another sanitiser and looks at S again, and "
            "its report does not include the first one: leave one of them out."
        )


def _sanitizers(part: Any) -> Iterator[ReleasingShell]:
    part = _unwrapped(part)
    if isinstance(part, ReleasingShell):
        yield part
    else:
        for _, inner, _ in _children(part):
            yield from _sanitizers(inner)


def _unwrapped(part: Any) -> Any:
    if isinstance(part, FrozenEstimator):
        return _unwrapped(part.estimator)
    # A search: other estimators may also have a parameter refit.
    if hasattr(part, "best_estimator_") or (hasattr(part, "refit") and hasattr(part, "n_splits_")):
        check_is_fitted(part)
        if not hasattr(part, "best_estimator_"):
            raise InvalidParameterError(
                f"{type(part).__name__} has no best_estimator_ to score: fit it with refit=."
            )
        return _unwrapped(part.best_estimator_)
    return part


def _children(part: Any) -> list[tuple[str, Any, Any]]:
    """Return name, estimator and columns of the parts; None stands for all columns."""
    if isinstance(part, Pipeline):
        return [(name, inner, None) for name, inner in part.steps]
    if isinstance(part, FeatureUnion):
        return [(name, inner, None) for name, inner in part.transformer_list]
    if isinstance(part, ColumnTransformer):
        check_is_fitted(part)
        return [child for child in part.transformers_ if not _is_empty(child[2])]
    return []


def _is_empty(columns: Any) -> bool:
    if isinstance(columns, str | slice) or np.ndim(columns) == 0:
        return False
    chosen = np.asarray(columns)
    return chosen.size == 0 or (chosen.dtype == bool and not chosen.any())


def _selected(rows: Callable[[], Any], columns: Any) -> Callable[[], Any]:
    return rows if columns is None else cache(lambda: _select(rows(), columns))


def _select(X: Any, columns: Any) -> Any:
    """Select columns as a ColumnTransformer does, in the container of X."""
    one = not isinstance(columns, slice) and np.ndim(columns) == 0
    listed = [columns] if one else columns
    selector = ColumnTransformer([("x", "passthrough", listed)], verbose_feature_names_out=False)
    frame = nw.from_native(X, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        pandas = frame.implementation is nw.Implementation.PANDAS
        selector.set_output(transform="pandas" if pandas else "polars")
    chosen = selector.fit_transform(X)
    # ColumnTransformer passes a column given by its bare name as a series, not as a table.
    return nw.to_native(Table(chosen).column(0), pass_through=True) if one else chosen


def _dense(rows: Any, step: str) -> Any:
    if not issparse(rows):
        return rows
    if np.prod(rows.shape, dtype=float) > _MOST_CELLS:
        raise InvalidParameterError(
            f"{step} returns a sparse table of {rows.shape[1]:,} columns, too many to measure: "
            "drop it, or sanitise its columns."
        )
    return rows.toarray()


def _path(step: str, name: str) -> str:
    return f"{step} > {name}" if step else name
