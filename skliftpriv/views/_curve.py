"""The numbers of a trade-off curve, as they are drawn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from .._arrays import FloatArray
from ..exceptions import InvalidParameterError
from ..report import TITLES

__all__ = ["axis_title", "checked_curve", "curve_points", "kept_column"]

_AXIS_TITLES = {
    **TITLES,
    "epsilon": "budget epsilon",
    "utility_kept": "share kept, of X or of what is known about the target",
    "target_kept": "share kept of what is known about the target",
    "budget_used": "share of the budget used",
    "gap": "distance to the optimum at most",
    "seconds": "time",
}
_WITHOUT_UNIT = {
    "nmi",
    "utility_kept",
    "target_kept",
    "budget_used",
    "gap",
    "total_variation",
    "chi2_divergence",
}


def kept_column(curve: pd.DataFrame) -> str:
    """Name the column of what is kept: of a target if a mechanism was built for one, else of X."""
    aims = curve["utility"] if "utility" in curve else pd.Series(dtype=object)
    return "target_kept" if (aims == "target").any() else "nmi"


def checked_curve(curve: pd.DataFrame, x: str, y: str) -> pd.DataFrame:
    """Return the curve; raise if it lacks a column or has no rows."""
    missing = sorted({"mechanism", "epsilon", x, y} - set(curve.columns))
    if missing:
        raise InvalidParameterError(
            f"The curve has no column {', '.join(missing)}; it has "
            f"{', '.join(map(str, curve.columns))}."
        )
    if not len(curve):
        raise InvalidParameterError("The curve has no rows.")
    return curve


def curve_points(curve: pd.DataFrame, x: str, y: str) -> pd.DataFrame:
    """Numbers to draw: mechanism, budget, x, y, gap and satisfied, by ascending budget."""
    met = curve["satisfied"].astype(bool).to_numpy() if "satisfied" in curve else True
    frame = pd.DataFrame(
        {
            "mechanism": curve["mechanism"].astype(str).to_numpy(),
            "budget": _numbers(curve["epsilon"], "epsilon"),
            "x": _numbers(curve[x], x),
            "y": _numbers(curve[y], y),
            "gap": _gap(curve, y),
            "satisfied": met,
        }
    )
    return frame.sort_values("budget", kind="stable")


def _gap(curve: pd.DataFrame, y: str) -> FloatArray:
    """Return how far y may lie below its optimum, NaN where the certificate is not about y."""
    if "gap" not in curve:
        return np.full(len(curve), np.nan)
    gap = curve["gap"].to_numpy(dtype=float)
    if y == "utility_kept":
        return gap
    aims = {"nmi": "useful", "target_kept": "target"}
    known = curve["utility"] if "utility" in curve else pd.Series("useful", curve.index)
    # For a target the gap is a share of what the mechanism sees, which is no more than the whole.
    return np.where(known == aims.get(y), gap, np.nan)


def axis_title(curve: pd.DataFrame, column: str) -> str:
    """Name a column along an axis, with its unit."""
    title = _AXIS_TITLES.get(column, column)
    if column == "epsilon" and curve["epsilon"].map(_is_pair).any():
        title += ", lower + upper of pairs"
    if column == "seconds":
        return f"{title}, seconds"
    plain = column in _WITHOUT_UNIT or column not in _AXIS_TITLES
    return title if plain else f"{title}, nats"


def _is_pair(value: Any) -> bool:
    return isinstance(value, Sequence | np.ndarray) and not isinstance(value, str)


def _numbers(column: pd.Series, name: str) -> FloatArray:
    """Return a column as numbers; pairs (lower, upper) as their sum."""
    try:
        return np.array([float(np.sum(v)) if _is_pair(v) else float(v) for v in column])
    except (TypeError, ValueError) as error:
        raise InvalidParameterError(f"The column {name} must hold numbers: {error}.") from error
