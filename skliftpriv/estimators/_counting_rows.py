"""How a sanitiser counts the rows of a table: which columns, which target, which ids."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

from ..exceptions import InvalidParameterError
from ..frames import LazyTable, Table, checked_weight
from ._counted_rows import CountedRows, counted_columns, counted_lazily, refuse_beside
from ._counting import CountingPlan
from ._layout import Layout
from ._once import Kept
from ._records import RecordColumn, check_keys
from ._state import Result, StatefulShell
from ._target_among import target_warnings

__all__ = ["CountingShell"]


class CountingShell(StatefulShell[Result]):
    """The part of a sanitiser that counts pairs of S and X, with a target if it needs one."""

    def _counted(
        self,
        X: Any,
        y: Any,
        sensitive_features: Any,
        sample_weight: Any,
        known: CountedRows | None,
    ) -> CountedRows:
        """Count the pairs of S and X in a table, with a target if it is needed."""
        if isinstance(X, CountedRows):
            if sensitive_features is not None or sample_weight is not None:
                raise InvalidParameterError(
                    "sensitive_features and sample_weight cannot be used if X is CountedRows: "
                    "leave them out."
                )
            if self.needs_target and y is not None:
                raise InvalidParameterError(
                    "y cannot be used if X is CountedRows: pass it as target= to CountedRows.of."
                )
            return X
        lazy = LazyTable.of(X)
        if lazy is not None:
            given = {"sensitive_features": sensitive_features, "sample_weight": sample_weight}
            if self.needs_target:
                self._check_target(y)
                given["y"] = y
            new_cells = self.cells if known is None else None  # others are learnt already
            refuse_beside(**given, cells=new_cells, groups=self.groups)
            return self._counted_lazily(lazy, known)
        table = Table(X)
        layout = self._layout_for(table, sensitive_features is not None, known)
        s_columns = layout.sensitive_columns(table, sensitive_features)
        weight = checked_weight(sample_weight, table.n_rows)
        table.check_order(sample_weight, "sample_weight")
        if self.needs_target:
            self._check_target(y)
        plan = self._counting_plan(known)
        # Others ignore y: cells, too, once they are learnt.
        target = y if self.needs_target or (self.cells is not None and known is None) else None
        table.check_order(target, "y")
        useful = layout.useful_columns(table)
        for warning in target_warnings(layout.useful_names, useful, target):
            warnings.warn(warning, stacklevel=5)
        kept = Kept((s_columns, useful), target, weight)
        records = self._records_in(layout)
        if records is not None:
            records.column(table, layout)  # refuse a name that is not there before all is counted
        if self.groups is not None:
            kept = kept.once(RecordColumn.of(layout, "groups", self.groups), table, layout)
        rows = counted_columns(
            kept.columns, layout, y=kept.target, weight=kept.weight, plan=plan, groups=kept.groups
        )
        return replace(rows, beside=tuple(self._beside(table, s_columns)))

    def _counted_lazily(self, lazy: LazyTable, known: CountedRows | None) -> CountedRows:
        """Count the pairs of S and X in a lazy frame, in the cells of earlier rows."""
        names = Table(lazy.empty, allow_empty=True)
        layout = self._layout_for(names, False, known)
        records = self._records_in(layout)
        if records is not None:
            records.column(names, layout)  # refuse a name that is not there before all is counted
        return counted_lazily(lazy, layout, None if known is None else known.cells)

    def _check_records(self) -> None:
        """Refuse parameters of a keyed release that contradict each other."""
        if self.record_id is not None and self.groups is not None:
            raise InvalidParameterError(
                "record_id and groups both say which rows are one record: use groups= if a person "
                "may have several rows, which then count once at fit, and record_id= otherwise."
            )
        has_ids = self.record_id is not None or self.groups is not None
        check_keys(self.secret, self.random_state, records=has_ids)

    def _records_in(self, layout: Layout) -> RecordColumn | None:
        """Return the column of ids, if there is one."""
        for parameter, key in (("record_id", self.record_id), ("groups", self.groups)):
            if key is not None:
                return RecordColumn.of(layout, parameter, key)
        return None

    def _counting_plan(self, known: CountedRows | None) -> CountingPlan:
        """Say how rows are counted: in the cells and bins of earlier rows, if there are any."""
        if known is not None:
            return CountingPlan(known.cells, target=self.needs_target, bins=known.target)
        return CountingPlan(self.cells, self.confidence is not None, target=self.needs_target)

    def _check_target(self, target: Any) -> None:
        if target is None:
            raise InvalidParameterError(
                f"{type(self).__name__} keeps what is known about a target, but there is none: "
                "call fit(X, y), or count rows with CountedRows.of(..., target=y)."
            )

    def _layout_for(self, table: Table, given: bool, known: CountedRows | None) -> Layout:
        """Find the columns in the first table, or check that a later table has them."""
        if known is None:
            beside = {"record_id": self.record_id, "groups": self.groups}
            layout = Layout.of(table, self.sensitive, self.useful, given, beside)
        else:
            layout = known.layout
            if (not layout.sensitive) != given:
                raise InvalidParameterError(
                    "Pass sensitive_features= in all batches or in none; the first batch took S "
                    f"from {layout.sensitive_name}."
                )
            named = ("sensitive", "useful", "cells", "record_id", "groups")
            self._check_unchanged(n for n in self._parameters if n.partition("__")[0] in named)
        passed = self.remainder == "passthrough"
        layout.check(table, type(self).__name__, sensitive=not given, rest=passed)
        return layout
