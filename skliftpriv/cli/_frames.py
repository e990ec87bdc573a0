"""Rows of frames, whichever kind of frame the parts of a file are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

__all__ = ["joined", "taken"]


def taken(frame: Any, rows: NDArray[np.intp]) -> Any:
    """Return some of the rows of a pandas data frame or a pyarrow table."""
    return frame.iloc[rows] if isinstance(frame, pd.DataFrame) else frame.take(rows)


def joined(frames: Sequence[Any]) -> Any:
    """Put frames of one kind below each other."""
    if isinstance(frames[0], pd.DataFrame):
        return pd.concat(frames, ignore_index=True)
    import pyarrow

    return pyarrow.concat_tables(frames)
