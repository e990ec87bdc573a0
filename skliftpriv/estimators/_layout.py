"""Which column plays which part: S, the useful ones, and the rest."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..exceptions import InvalidParameterError
from ..frames import ColumnKey, Table

__all__ = ["Layout"]


@dataclass(frozen=True)
class Layout:
    """Parts of the columns of the table seen at fit, by position.

    Attributes
    ----------
    names : tuple of str
        Names of all columns, x0, x1, ... for arrays.
    named : bool
        Whether the table had names of its own.
    sensitive : int or None
        Position of S, None if it was passed on its own.
    useful, rest : tuple of int
        Positions of the useful columns, and of those that play no part.
    """

    names: tuple[str, ...]
    named: bool
    sensitive: int | None
    useful: tuple[int, ...]
    rest: tuple[int, ...]

    @classmethod
    def of(
        cls,
        table: Table,
        sensitive: ColumnKey | None,
        useful: ColumnKey | Sequence[ColumnKey] | None,
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
        s = None if sensitive is None else table.position(sensitive, "sensitive")
        x = _useful_positions(table, useful, s)
        names = table.names or [f"x{i}" for i in range(table.n_columns)]
        rest = tuple(i for i in range(table.n_columns) if i != s and i not in x)
        return cls(tuple(names), table.names is not None, s, x, rest)

    @property
    def sensitive_name(self) -> str:
        """Name of S for messages."""
        return "sensitive_features" if self.sensitive is None else self.names[self.sensitive]

    @property
    def useful_names(self) -> list[str]:
        """Names of the useful columns."""
        return [self.names[i] for i in self.useful]

    @property
    def rest_names(self) -> list[str]:
        """Names of the columns that play no part."""
        return [self.names[i] for i in self.rest]

    def sensitive_column(self, table: Table) -> Any:
        """Return the column of S."""
        assert self.sensitive is not None
        return self.column(table, self.sensitive)

    def useful_columns(self, table: Table) -> list[Any]:
        """Return the useful columns."""
        return [self.column(table, i) for i in self.useful]

    def column(self, table: Table, position: int) -> Any:
        """Return the column that stood at ``position`` at fit; names go before places."""
        by_name = self.named and table.names is not None
        return table.column(self.names[position] if by_name else position)

    def check(self, table: Table, who: str, *, sensitive_needed: bool) -> None:
        """Say what is wrong with the columns of a later table, if anything.

        Parameters
        ----------
        table : Table
            A later table. Named columns may come in any order.
        who : str
            Name of the estimator, for messages.
        sensitive_needed : bool
            Whether S must be among the columns of a data frame.
        """
        if not self.named or table.names is None:
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
                    stacklevel=4,
                )
            return
        optional = set() if self.sensitive is None or sensitive_needed else {self.sensitive_name}
        missing = [n for n in self.names if n not in table.names and n not in optional]
        unseen = [n for n in table.names if n not in self.names]
        if missing or unseen:
            raise InvalidParameterError(_names_message(missing, unseen))

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
    table: Table, useful: ColumnKey | Sequence[ColumnKey] | None, s: int | None
) -> tuple[int, ...]:
    if useful is None:
        others = tuple(i for i in range(table.n_columns) if i != s)
        if not others:
            raise InvalidParameterError(
                f"No useful column is left: X has n_features={table.n_columns}, and that is the "
                "sensitive one."
            )
        return others
    # Whatever is neither one name nor several is left for table.position to refuse.
    several = isinstance(useful, Iterable) and not isinstance(useful, str)
    keys = list(useful) if several else [useful]  # type: ignore[arg-type]
    if not keys:
        raise InvalidParameterError("useful is an empty list: name at least one column.")
    positions = [table.position(key, "useful") for key in keys]  # type: ignore[arg-type]
    for key, position in zip(keys, positions, strict=True):
        if position == s:
            raise InvalidParameterError(
                f"useful={key!r} is the sensitive column itself: releasing it cannot be private. "
                "Name another column."
            )
        if positions.count(position) > 1:
            raise InvalidParameterError(f"useful names the column {key!r} twice.")
    return tuple(positions)


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
