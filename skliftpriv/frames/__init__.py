"""Read and write data frames; the rooms below this one do not know about them."""

from ._attach import joint_from_frame, report_to_frame
from ._index import concerns, shuffle_rows
from ._symbols import (
    ContingencyTable,
    Encoded,
    SymbolEncoder,
    encode_rows,
    paired,
    sort_symbols,
)
from ._table import ColumnKey, LabelColumn, Table, as_columns, checked_weight, keeps_type

__all__ = [
    "ColumnKey",
    "ContingencyTable",
    "Encoded",
    "LabelColumn",
    "SymbolEncoder",
    "Table",
    "as_columns",
    "checked_weight",
    "concerns",
    "encode_rows",
    "joint_from_frame",
    "keeps_type",
    "paired",
    "report_to_frame",
    "shuffle_rows",
    "sort_symbols",
]
