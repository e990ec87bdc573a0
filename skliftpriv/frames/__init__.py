"""Read and write data frames; the rooms below this one do not know about them."""

from ._attach import joint_from_frame, report_to_frame
from ._index import RowOrder, concerns, shuffle_rows
from ._lazy import LazyTable, RowStream
from ._numbers import as_numbers, row_slices, rows_of
from ._order import SymbolOrder, category_order, sort_symbols
from ._records import RecordIds, record_bits
from ._symbols import (
    ContingencyTable,
    Encoded,
    SymbolEncoder,
    encode_rows,
    paired,
    ranked,
)
from ._table import ColumnKey, LabelColumn, Table, as_columns, checked_weight
from ._types import ColumnType

__all__ = [
    "ColumnKey",
    "ColumnType",
    "ContingencyTable",
    "Encoded",
    "LabelColumn",
    "LazyTable",
    "RecordIds",
    "RowStream",
    "SymbolEncoder",
    "SymbolOrder",
    "Table",
    "as_columns",
    "as_numbers",
    "category_order",
    "checked_weight",
    "RowOrder",
    "concerns",
    "encode_rows",
    "joint_from_frame",
    "paired",
    "ranked",
    "record_bits",
    "report_to_frame",
    "row_slices",
    "rows_of",
    "shuffle_rows",
    "sort_symbols",
]
