"""Encode rows as numbers of the input symbols of a mechanism."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..cells import Cells
from ..distribution import JointDistribution
from ..exceptions import UnknownCategoryError
from ..frames import SymbolEncoder, Table
from ._layout import Layout

__all__ = ["RowEncoder"]


class RowEncoder:
    """Encodes rows by their values of X, or of S and X if the mechanism uses both.

    Parameters
    ----------
    joint : JointDistribution
        Lists the symbols.
    layout : Layout
        Which columns they are in.
    pairs : bool
        Whether the inputs of the mechanism are pairs (s, x) rather than x.
    cells : Cells, optional
        What rows are reduced to.
    """

    def __init__(
        self,
        joint: JointDistribution,
        layout: Layout,
        *,
        pairs: bool,
        cells: Cells | None = None,
    ) -> None:
        self._layout = layout
        self._useful = SymbolEncoder(joint.useful_labels)
        if cells is not None:
            settled = cells.settled(joint.useful_labels, joint.p_x)
            self._useful = SymbolEncoder(joint.useful_labels, settled.encode)
        self._sensitive = SymbolEncoder(joint.sensitive_labels) if pairs else None

    def codes(self, table: Table, sensitive_features: Any, *, refuse: str | None) -> np.ndarray:
        """Encode rows as numbers, -1 for values not seen at fit.

        Parameters
        ----------
        table : Table
            The rows.
        sensitive_features : array-like or None
            The sensitive values, if they are not in the table and the mechanism uses them.
        refuse : str or None
            Advice at the end of the error for values not seen at fit; None to allow them.
        """
        useful = self._layout.useful_columns(table)
        x = _codes(self._useful, useful, self._layout.useful_names, refuse)
        if self._sensitive is None:
            return x
        columns = self._layout.sensitive_columns(table, sensitive_features)
        s = _codes(self._sensitive, columns, [self._layout.sensitive_name], refuse)
        # Inputs of the mechanism are pairs (s, x), with x varying fastest.
        return np.where((s < 0) | (x < 0), -1, s * len(self._useful.symbols) + x)


def _codes(
    encoder: SymbolEncoder, columns: Sequence[Any], names: Sequence[str], refuse: str | None
) -> np.ndarray:
    codes, unknown = encoder.codes(columns)
    if unknown and refuse is not None:
        shown = ", ".join(map(repr, unknown[:5]))
        raise UnknownCategoryError(
            f"{', '.join(names)}: {len(unknown)} value(s) not seen at fit, or only with weight 0, "
            f"such as {shown}, in {int((codes < 0).sum())} row(s). {refuse}"
        )
    return codes
