"""Which columns are sensitive, useful or neither."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..exceptions import InvalidParameterError
from ..frames import ColumnKey, Table, as_columns

__all__ = ["ColumnKeys", "Layout"]

#: One column, or several that form one joint symbol.
ColumnKeys = ColumnKey | Sequence[ColumnKey]


@dataclass(frozen=True)
class Layout:
    """Roles of the columns of the table seen at fit, by position.

    Attributes
    ----------
    names : tuple of str
        Names of all columns, x0, x1, ... for arrays.
    named : bool
        Whether the table had column names.
    sensitive : tuple of int
        Positions of the sensitive columns, empty if S was passed on its own.
    useful, rest : tuple of int
        Positions of the useful columns and of the remaining ones.
    """

    names: tuple[str, ...]
    named: bool
    sensitive: tuple[int, ...]
    useful: tuple[int, ...]
    rest: tuple[int, ...]

    @classmethod
    def of(
        cls,
        table: Table,
        sensitive: ColumnKeys | None,
        useful: ColumnKeys | None,
        sensitive_given: bool,
        beside: Mapping[str, ColumnKey | None] | None = None,
    ) -> Layout:
        """Find the columns that the parameters name.

        Parameters
        ----------
        table : Table
            The rows.
        sensitive, useful
            The parameters.
        sensitive_given : bool
            Whether S is passed on its own.
        beside : mapping from parameter to column, optional
            Columns that are neither sensitive nor useful, such as ids of records. A name that is
            not that of a column may be that of an index.
        """
        if sensitive is None and not sensitive_given:
            raise InvalidParameterError(
                "No sensitive column: set sensitive= to the name or index of a column of X, or "
                "pass sensitive_features= to fit."
            )
        if sensitive is not None and sensitive_given:
            raise InvalidParameterError(
                f"Both sensitive={sensitive!r} and sensitive_features= are given; use only one."
            )
        s = () if sensitive is None else _positions(table, sensitive, "sensitive")
        apart = {
            table.position(key, parameter): parameter
            for parameter, key in (beside or {}).items()
            if key is not None and not (isinstance(key, str) and key not in (table.names or []))
        }
        x = _useful_positions(table, useful, s, apart)
        names = table.names or [f"x{i}" for i in range(table.n_columns)]
        rest = tuple(i for i in range(table.n_columns) if i not in (*s, *x))
        return cls(tuple(names), table.names is not None, s, x, rest)

    @classmethod
    def of_names(cls, sensitive: Sequence[str], useful: Sequence[str]) -> Layout:
        """Describe a table with exactly these columns."""
        s = range(len(sensitive))
        x = range(len(sensitive), len(sensitive) + len(useful))
        return cls((*sensitive, *useful), True, tuple(s), tuple(x), ())

    @property
    def feature_names(self) -> dict[str, np.ndarray]:
        """Return ``feature_names_in_`` if the table had column names."""
        names = np.array(self.names, dtype=object)
        return {"feature_names_in_": names} if self.named else {}

    @property
    def sensitive_name(self) -> str:
        """Name of S for messages."""
        return " & ".join(self.sensitive_names) or "sensitive_features"

    @property
    def sensitive_names(self) -> list[str]:
        """Names of the sensitive columns; none if S was passed on its own."""
        return [self.names[i] for i in self.sensitive]

    @property
    def useful_names(self) -> list[str]:
        """Names of the useful columns."""
        return [self.names[i] for i in self.useful]

    @property
    def rest_names(self) -> list[str]:
        """Names of the remaining columns."""
        return [self.names[i] for i in self.rest]

    def without(self, place: int) -> Layout:
        """Return the layout of a table without one of its columns, which plays no part."""

        def shifted(places: tuple[int, ...]) -> tuple[int, ...]:
            return tuple(i - (i > place) for i in places if i != place)

        names = self.names[:place] + self.names[place + 1 :]
        return Layout(
            names, self.named, shifted(self.sensitive), shifted(self.useful), shifted(self.rest)
        )

    def named_by(self, keys: ColumnKeys) -> list[str]:
        """Return the names of columns given by name or index."""
        n = len(self.names)
        return [
            self.names[key] if isinstance(key, int | np.integer) and -n <= key < n else str(key)
            for key in _listed(keys)
        ]

    def sensitive_columns(self, table: Table, given: Any = None) -> list[Any]:
        """Return the sensitive columns of a table, or the values passed on their own."""
        if given is None:
            return [self.column(table, i) for i in self.sensitive]
        columns = as_columns(given, "sensitive_features")
        table.check_order(given, "sensitive_features")
        if len(columns[0]) != table.n_rows:
            raise InvalidParameterError(
                f"sensitive_features has {len(columns[0])} rows, but X has {table.n_rows}."
            )
        return columns

    def holds_s(self, table: Table) -> bool:
        """Tell whether a table has every sensitive column exactly once."""
        if not self.named or table.names is None:
            return bool(self.sensitive)
        return bool(self.sensitive) and all(
            table.names.count(self.names[i]) == 1 for i in self.sensitive
        )

    def useful_columns(self, table: Table) -> list[Any]:
        """Return the useful columns."""
        return [self.column(table, i) for i in self.useful]

    def column(self, table: Table, position: int) -> Any:
        """Return the column that was at ``position`` at fit, by name if there are names."""
        by_name = self.named and table.names is not None
        return table.column(self.names[position] if by_name else position)

    def check(self, table: Table, who: str, *, sensitive: bool, rest: bool) -> None:
        """Check the columns of a later table.

        Parameters
        ----------
        table : Table
            A later table. Named columns may be in any order, among others.
        who : str
            Name of the estimator, for messages.
        sensitive, rest : bool
            Whether a data frame must have the sensitive columns, and the remaining ones.
        """
        if not self.named or table.names is None:
            self._check_places(table, who)
            return
        needed = self.useful + (self.sensitive if sensitive else ()) + (self.rest if rest else ())
        if missing := self.missing(table, needed):
            unseen = [name for name in table.names if name not in self.names]
            raise InvalidParameterError(_names_message(missing, unseen))
        for i in needed:
            table.check_unique(self.names[i])

    def missing(self, table: Table, positions: Iterable[int]) -> list[str]:
        """Return the names of columns that a later table lacks; none if places identify them."""
        if not self.named or table.names is None:
            return []
        return [self.names[i] for i in positions if self.names[i] not in table.names]

    def _check_places(self, table: Table, who: str) -> None:
        if table.n_columns != len(self.names):
            raise InvalidParameterError(
                f"X has {table.n_columns} features, but {who} is expecting "
                f"{len(self.names)} features as input."
            )
        if self.named or table.names is not None:
            found, fitted = ("has", "without") if table.names else ("does not have", "with")
            warnings.warn(
                f"X {found} valid feature names, but {who} was fitted {fitted} feature "
                "names; columns are matched by position.",
                UserWarning,
                stacklevel=5,
            )

    def renamed(self, input_features: Any) -> Layout:
        """Return the layout under the names given to ``get_feature_names_out``."""
        if input_features is None:
            return self
        names = [str(name) for name in np.asarray(input_features, dtype=object)]
        if self.named and names != list(self.names):
            raise InvalidParameterError("input_features is not equal to feature_names_in_.")
        if len(names) != len(self.names):
            raise InvalidParameterError(
                "input_features should have length equal to number of features "
                f"({len(self.names)}), got {len(names)}."
            )
        return replace(self, names=tuple(names))


def _useful_positions(
    table: Table, useful: ColumnKeys | None, s: tuple[int, ...], apart: Mapping[int, str]
) -> tuple[int, ...]:
    if useful is None:
        _check_apart(table, s, apart)
        others = tuple(i for i in range(table.n_columns) if i not in (*s, *apart))
        if not others:
            raise InvalidParameterError(
                f"No useful column is left: all columns of X (n_features={table.n_columns}) are "
                f"sensitive{' or ids' if apart else ''}. Pass a table with a useful column."
            )
        return others
    positions = _positions(table, useful, "useful")
    if both := set(positions) & set(s):
        place = min(both)
        name = place if table.names is None else table.names[place]
        raise InvalidParameterError(
            f"{name!r} is both sensitive and useful, but a sensitive column cannot be released "
            "privately: choose another useful column."
        )
    _check_apart(table, (*s, *positions), apart)
    return positions


def _check_apart(table: Table, used: tuple[int, ...], apart: Mapping[int, str]) -> None:
    """Refuse ids in columns that are sensitive or useful."""
    if both := set(used) & set(apart):
        place = min(both)
        name = place if table.names is None else table.names[place]
        raise InvalidParameterError(
            f"{name!r} is named by {apart[place]}, and is a sensitive or useful column, too: ids "
            "are not released, so use another column."
        )


def _positions(table: Table, keys: ColumnKeys, parameter: str) -> tuple[int, ...]:
    """Return the positions of the columns in a parameter: one, or several in a list."""
    listed = _listed(keys)
    if not listed:
        raise InvalidParameterError(f"{parameter} is an empty list: name at least one column.")
    positions = [table.position(key, parameter) for key in listed]
    for key, position in zip(listed, positions, strict=True):
        if positions.count(position) > 1:
            raise InvalidParameterError(f"{parameter} names the column {key!r} twice.")
    return tuple(positions)


def _listed(keys: ColumnKeys) -> list[ColumnKey]:
    # table.position refuses keys of other types.
    several = isinstance(keys, Iterable) and not isinstance(keys, str)
    return list(keys) if several else [keys]  # type: ignore[arg-type, list-item]


def _names_message(missing: Sequence[str], unseen: Sequence[str]) -> str:
    # scikit-learn's wording, which its checks require.
    parts = ["The feature names should match those that were passed during fit."]
    for title, names in (
        ("Feature names unseen at fit time:", unseen),
        ("Feature names seen at fit time, yet now missing:", missing),
    ):
        if names:
            shown = [f"- {name}" for name in sorted(names)[:5]]
            more = ["- ..."] if len(names) > 5 else []
            parts.append("\n".join([title, *shown, *more]))
    return "\n".join(parts) + "\n"
