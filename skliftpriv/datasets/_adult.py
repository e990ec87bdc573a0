"""The Adult census table, shipped with the package."""

from __future__ import annotations

from importlib.resources import as_file, files
from typing import Literal

import pandas as pd

from ..exceptions import InvalidParameterError

__all__ = ["load_adult"]

_TRAIN_ROWS = 32_561


def load_adult(split: Literal["train", "test", "all"] = "train") -> pd.DataFrame:
    """Load the categorical columns, age, hours and income of the Adult census table.

    Parameters
    ----------
    split : {"train", "test", "all"}, default="train"
        The original training rows (32,561), the original test rows (16,281) or all 48,842.

    Returns
    -------
    pandas.DataFrame
        Columns ``age``, ``workclass``, ``education``, ``marital-status``, ``occupation``,
        ``relationship``, ``race``, ``sex``, ``hours-per-week``, ``native-country`` and
        ``income``. Unknown values are the string ``"?"`` as in the original files.

    Notes
    -----
    Becker, B. and Kohavi, R. (1996), Adult, UCI Machine Learning Repository,
    doi 10.24432/C5XW20, licensed under CC BY 4.0. Four columns are left out (fnlwgt,
    education-num, capital-gain and capital-loss), and the full stop after the income of the test
    rows is removed.

    Examples
    --------
    >>> from skliftpriv.datasets import load_adult
    >>> load_adult().shape
    (32561, 11)
    """
    if split not in ("train", "test", "all"):
        raise InvalidParameterError(f'split must be "train", "test" or "all", not {split!r}.')
    with as_file(files(__package__) / "data" / "adult.csv.xz") as path:
        frame = pd.read_csv(path, keep_default_na=False)
    if split == "train":
        return frame.iloc[:_TRAIN_ROWS].reset_index(drop=True)
    if split == "test":
        return frame.iloc[_TRAIN_ROWS:].reset_index(drop=True)
    return frame
