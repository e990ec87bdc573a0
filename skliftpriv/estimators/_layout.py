"""Which column plays which part: S, the useful ones, and the rest."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..exceptions import InvalidParameterError
from ..frames import ColumnKey, Table, as_columns

__all__ = ["ColumnKeys", "Layout"]

#: One column, or several that are one joint symbol.
ColumnKeys = ColumnKey | Sequence[ColumnKey]


@dataclass(frozen=True)
class Layout:
    """Parts of the columns of the table seen at fit, by position.

    Attributes
    ----------
    names : tuple of str
        Names of all columns, x0, x1, ... for arrays.
    named : bool
        Whether the table had names of its own.
    sensitive : tuple of int
        Positions of the columns of S, empty if it was passed on its own.
    useful, rest : tuple of int
        Positions of the useful columns, and of those that play no part.
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
    ) -> Layout:
        """Find the columns that the parameters name."""
        if sensitive is None and not sensitive_given:
            raise InvalidParameterError(
                "No sensitive column: set sensitive= to the name or index of a column of X, or "
                "pass sensitive_features= to fit."
            )
        if sensitive is not None and sensitive_given:
            raise InvalidParameterError(
                f"Both sensitive={sensitive!r} and sensitive_features= are given; use one."
            )
        s = () if sensitive is None else _positions(table, sensitive, "sensitive")
        x = _useful_positions(table, useful, s)
        names = table.names or [f"x{i}" for i in range(table.n_columns)]
        rest = tuple(i for i in range(table.n_columns) if i not in (*s, *x))
        return cls(tuple(names), table.names is not None, s, x, rest)

    @classmethod
    def of_names(cls, sensitive: Sequence[str], useful: Sequence[str]) -> Layout:
        """Describe a table that has these columns and no others."""
        s = range(len(sensitive))
        x = range(len(sensitive), len(sensitive) + len(useful))
        return cls((*sensitive, *useful), True, tuple(s), tuple(x), ())

    @property
    def feature_names(self) -> dict[str, np.ndarray]:
        """Return ``feature_names_in_``, which only tables with names of their own give."""
        names = np.array(self.names, dtype=object)
        return {"feature_names_in_": names} if self.named else {}

    @property
    def sensitive_name(self) -> str:
        """Name of S for messages."""
        return " & ".join(self.sensitive_names) or "sensitive_features"

    @property
    def sensitive_names(self) -> list[str]:
        """Names of the columns of S, none if it was passed on its own."""
        return [self.names[i] for i in self.sensitive]

    @property
    def useful_names(self) -> list[str]:
        """Names of the useful columns."""
        return [self.names[i] for i in self.useful]

    @property
    def rest_names(self) -> list[str]:
        """Names of the columns that play no part."""
        return [self.names[i] for i in self.rest]

    def named_by(self, keys: ColumnKeys) -> list[str]:
        """Return the names of columns that a parameter gives by name or index."""
        n = len(self.names)
        return [
            self.names[key] if isinstance(key, int) and -n <= key < n else str(key)
            for key in _listed(keys)
        ]

    def sensitive_columns(self, table: Table, given: Any = None) -> list[Any]:
        """Return the columns of S in a table, or the values that are given on their own."""
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
        """Tell whether a table has all columns of S, each once."""
        if not self.named or table.names is None:
            return bool(self.sensitive)
        return bool(self.sensitive) and all(
            table.names.count(self.names[i]) == 1 for i in self.sensitive
        )

    def useful_columns(self, table: Table) -> list[Any]:
        """Return the useful columns."""
        return [self.column(table, i) for i in self.useful]

    def column(self, table: Table, position: int) -> Any:
        """Return the column that stood at ``position`` at fit; names go before places."""
        by_name = self.named and table.names is not None
        return table.column(self.names[position] if by_name else position)

    def check(self, table: Table, who: str, *, sensitive: bool, rest: bool) -> None:
        """Say what is wrong with the columns of a table, if anything.

        Parameters
        ----------
        table : Table
            A later table. Named columns may come in any order, and others beside them.
        who : str
            Name of the estimator, for messages.
        sensitive, rest : bool
            Whether a data frame must hold the columns of S, and those that play no part.
        """
        if not self.named or table.names is None:
            self._check_places(table, who)
            return
        needed = self.useful + (self.sensitive if sensitive else ()) + (self.rest if rest else ())
        missing = [self.names[i] for i in needed if self.names[i] not in table.names]
        if missing:
            unseen = [name for name in table.names if name not in self.names]
            raise InvalidParameterError(_names_message(missing, unseen))
        for i in needed:
            table.check_unique(self.names[i])

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
                "names; its columns are taken in the order of fit.",
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
    table: Table, useful: ColumnKeys | None, s: tuple[int, ...]
) -> tuple[int, ...]:
    if useful is None:
        others = tuple(i for i in range(table.n_columns) if i not in s)
        if not others:
            raise InvalidParameterError(
                f"No useful column is left: X has n_features={table.n_columns}, and that is the "
                "sensitive one."
            )
        return others
    positions = _positions(table, useful, "useful")
    if both := set(positions) & set(s):
        place = min(both)
        name = place if table.names is None else table.names[place]
        raise InvalidParameterError(
            f"{name!r} is both sensitive and useful, and a sensitive column cannot be released "
            "privately: name another useful column."
        )
    return positions


def _positions(table: Table, keys: ColumnKeys, parameter: str) -> tuple[int, ...]:
    """Find the columns that a parameter names: one, or several in a list."""
    listed = _listed(keys)
    if not listed:
        raise InvalidParameterError(f"{parameter} is an empty list: name at least one column.")
    positions = [table.position(key, parameter) for key in listed]
    for key, position in zip(listed, positions, strict=True):
        if positions.count(position) > 1:
            raise InvalidParameterError(f"{parameter} names the column {key!r} twice.")
    return tuple(positions)


def _listed(keys: ColumnKeys) -> list[ColumnKey]:
    # Whatever is neither one name nor several is left for table.position to refuse.
    several = isinstance(keys, Iterable) and not isinstance(keys, str)
    return list(keys) if several else [keys]  # type: ignore[arg-type, list-item]


def _names_message(missing: Sequence[str], unseen: Sequence[str]) -> str:
    # The wording of scikit-learn, which users know and its own checks look for.
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
