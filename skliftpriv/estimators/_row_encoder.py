"""Encode rows as numbers of the input symbols of a mechanism."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from .._arrays import Label
from ..cells import Cells
from ..exceptions import UnknownCategoryError
from ..frames import SymbolEncoder, SymbolOrder, Table, encode_rows
from ._layout import Layout
from ._value_lists import ValueLists

__all__ = ["RowEncoder"]


class RowEncoder:
    """Encodes rows by their values of X, or of S and X if the mechanism uses both.

    Parameters
    ----------
    useful : sequence of labels
        The symbols of X.
    layout : Layout
        Which columns they are in.
    sensitive : sequence of labels, optional
        The symbols of S, if the inputs of the mechanism are pairs (s, x) rather than x.
    cells : Cells, optional
        What rows are reduced to.
    order : SymbolOrder, optional
        Stands in for values of X that were not seen at fit.
    members : dict, default={}
        Rare values of X, and the symbol that they belong to.
    lists : pair of ValueLists, optional
        Closed lists of the values of X and of S: listed values need not have been seen at fit.
        Those of S are kept only if S is needed, since whoever draws need not know them otherwise.
    """

    def __init__(
        self,
        useful: Sequence[Label],
        layout: Layout,
        *,
        sensitive: Sequence[Label] | None = None,
        cells: Cells | None = None,
        order: SymbolOrder | None = None,
        members: Mapping[Label, Label] = MappingProxyType({}),
        lists: tuple[ValueLists, ValueLists] | None = None,
    ) -> None:
        #: The rare values, and what they are released as.
        self.members = dict(members)
        of_x, of_s = lists or (ValueLists(()), ValueLists(()))
        self._lists = of_x, ValueLists(()) if sensitive is None else of_s
        self._layout = layout
        #: What rows are reduced to before they are looked up; None for the values themselves.
        self.cells = cells
        #: What stands in for values of X that were not seen at fit, if anything does.
        self.order = order
        how = encode_rows if cells is None else cells.encode
        self._useful = SymbolEncoder(useful, how, order=order, members=self.members)
        self._sensitive = None if sensitive is None else SymbolEncoder(sensitive)

    @property
    def sees_sensitive(self) -> bool:
        """Whether S is needed to encode rows."""
        return self._sensitive is not None

    @property
    def useful(self) -> tuple[Label, ...]:
        """The symbols of X."""
        return self._useful.symbols

    @property
    def sensitive(self) -> tuple[Label, ...] | None:
        """The symbols of S, or None if they are not needed."""
        return None if self._sensitive is None else self._sensitive.symbols

    def codes(self, table: Table, sensitive_features: Any, *, refuse: str | None) -> np.ndarray:
        """Encode rows as numbers, -1 for values not seen at fit.

        Listed values are never refused, whether they were seen or not.

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
        x = _codes(self._useful, useful, self._layout.useful_names, refuse, self._lists[0])
        if self._sensitive is None:
            return x
        columns = self._layout.sensitive_columns(table, sensitive_features)
        s = _codes(self._sensitive, columns, [self._layout.sensitive_name], refuse, self._lists[1])
        # Inputs of the mechanism are pairs (s, x), with x varying fastest.
        return np.where((s < 0) | (x < 0), -1, s * len(self._useful.symbols) + x)


def _codes(
    encoder: SymbolEncoder,
    columns: Sequence[Any],
    names: Sequence[str],
    refuse: str | None,
    lists: ValueLists,
) -> np.ndarray:
    codes, new = encoder.codes(columns)
    unknown = [symbol for symbol in new if not lists.holds(symbol)]
    if unknown and refuse is not None:
        shown = ", ".join(map(repr, unknown[:5]))
        where = f", in {int((codes < 0).sum())} row(s)" if len(unknown) == len(new) else ""
        listed = ", and not listed in categories" if lists.closed else ""
        raise UnknownCategoryError(
            f"{', '.join(names)}: {len(unknown)} value(s) not seen at fit, or only with weight 0"
            f"{listed}, such as {shown}{where}. {refuse}"
        )
    return codes
