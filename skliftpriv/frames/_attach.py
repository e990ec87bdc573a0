"""Methods of core classes that read or write data frames.

They are attached here so the core does not import a data frame library.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from ..distribution import JointDistribution
from ..report import PrivacyReport
from ._symbols import ContingencyTable
from ._table import ColumnKey, Table

__all__ = ["joint_from_frame", "report_to_frame"]


def joint_from_frame(
    cls: type[JointDistribution],
    X: Any,
    sensitive: ColumnKey,
    useful: ColumnKey | Sequence[ColumnKey],
    *,
    smoothing: float = 0.0,
) -> JointDistribution:
    """Estimate the joint distribution of two columns of a table.

    Parameters
    ----------
    X : pandas or polars DataFrame, pyarrow Table, or 2-D array-like
        The table.
    sensitive : str or int
        Column of S, by name or index.
    useful : str, int or list
        Column of X; several columns form one joint symbol, a tuple.
    smoothing : float, default=0.0
        Pseudo-count per cell.

    Returns
    -------
    JointDistribution

    Examples
    --------
    >>> from skliftpriv import JointDistribution, datasets
    >>> JointDistribution.from_frame(datasets.load_adult(), "relationship", "occupation")
    JointDistribution(6 sensitive x 15 useful symbols, 32561 rows)
    """
    table = Table(X)
    keys = [useful] if isinstance(useful, str | int | np.integer) else list(useful)
    columns = [table.column(table.position(key, "useful")) for key in keys]
    s = table.column(table.position(sensitive, "sensitive"))
    return ContingencyTable.count([s], columns).joint(smoothing)


def report_to_frame(self: PrivacyReport) -> pd.DataFrame:
    """Return the report as a table: one row per measure, columns before, after and budget."""
    rows = self.rows()
    return pd.DataFrame(
        [
            (before, after, np.nan if budget is None else budget)
            for _, before, after, budget in rows
        ],
        index=pd.Index([name for name, *_ in rows], name="measure"),
        columns=["before", "after", "budget"],
    )


JointDistribution.from_frame = classmethod(joint_from_frame)  # type: ignore[assignment]
PrivacyReport.to_frame = report_to_frame
