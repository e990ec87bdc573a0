"""Rows as the numbers of the symbols that a mechanism takes in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..distribution import JointDistribution
from ..exceptions import InvalidParameterError, UnknownCategoryError
from ..frames import SymbolEncoder, Table
from ._layout import Layout

__all__ = ["RowEncoder"]


class RowEncoder:
    """Numbers rows by their values of X, or of S and X where the mechanism sees both.

    Parameters
    ----------
    joint : JointDistribution
        Knows the symbols.
    layout : Layout
        Which columns they are in.
    pairs : bool
        Whether the mechanism takes in pairs (s, x) rather than x.
    """

    def __init__(self, joint: JointDistribution, layout: Layout, *, pairs: bool) -> None:
        self._layout = layout
        self._useful = SymbolEncoder(joint.useful_labels)
        self._sensitive = SymbolEncoder(joint.sensitive_labels) if pairs else None

    def codes(self, table: Table, sensitive_features: Any, *, refuse: str | None) -> np.ndarray:
        """Encode rows as numbers; -1 is a row with a value that was not seen at fit.

        Parameters
        ----------
        table : Table
            The rows.
        sensitive_features : array-like or None
            The sensitive values, if they are not in the table and the mechanism sees them.
        refuse : str or None
            What to do with values that were not seen at fit: an error that ends with this
            advice, or None to let them pass.
        """
        useful = self._layout.useful_columns(table)
        x = _codes(self._useful, useful, self._layout.useful_names, refuse)
        if self._sensitive is None:
            return x
        if not self._layout.sensitive and sensitive_features is None:
            raise InvalidParameterError(
                "This mechanism looks at S when it releases a row, and S is not a column of X: "
                "pass sensitive_features= to transform."
            )
        columns = self._layout.sensitive_columns(table, sensitive_features)
        s = _codes(self._sensitive, columns, [self._layout.sensitive_name], refuse)
        # Inputs of the mechanism are pairs (s, x), x running fastest.
        return np.where((s < 0) | (x < 0), -1, s * len(self._useful.symbols) + x)


def _codes(
    encoder: SymbolEncoder, columns: Sequence[Any], names: Sequence[str], refuse: str | None
) -> np.ndarray:
    codes, unknown = encoder.codes(columns)
    if unknown and refuse is not None:
        shown = ", ".join(map(repr, unknown[:5]))
        raise UnknownCategoryError(
            f"{', '.join(names)}: {len(unknown)} value(s) not seen at fit, or with weight 0 only, "
            f"such as {shown}, in {int((codes < 0).sum())} row(s). {refuse}"
        )
    return codes
