"""Data frames in and out; nothing below this room knows about them."""

from ._attach import joint_from_frame, report_to_frame
from ._symbols import ContingencyTable, SymbolEncoder, encode_rows, sort_symbols
from ._table import ColumnKey, LabelColumn, Table, as_columns, checked_weight

__all__ = [
    "ColumnKey",
    "ContingencyTable",
    "LabelColumn",
    "SymbolEncoder",
    "Table",
    "as_columns",
    "checked_weight",
    "encode_rows",
    "joint_from_frame",
    "report_to_frame",
    "sort_symbols",
]
