"""Types of columns as JSON."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd

from ..exceptions import SavedFileError
from ..frames import ColumnType
from ._labels import read_label, read_labels, read_zone, write_label, write_labels, write_zone
from ._reader import Node

__all__ = ["read_type", "write_type"]

_BACKENDS = {
    "pandas": nw.Implementation.PANDAS,
    "polars": nw.Implementation.POLARS,
    "pyarrow": nw.Implementation.PYARROW,
}
_NUMPY = re.compile(
    r"[<>|=](?:b1|[iu][1248]|f[248]|f16|c8|c16|c32|O|[SU][0-9]{1,6}|[mM]8(?:\[[0-9]{0,4}[a-zA-Z]{1,2}\])?)"
)
#: Types of pandas with missing values, which their names describe.
_MASKED = {f"{u}Int{bits}" for u in ("", "U") for bits in (8, 16, 32, 64)}
_MASKED |= {"Float32", "Float64", "boolean"}
_ARROW = re.compile(r"[a-z0-9_]{1,20}(?:\[[a-zA-Z0-9_/+=, :-]{1,60}\])?\[pyarrow\]")
#: Types of narwhals without parameters.
_PLAIN = {f"{u}Int{bits}" for u in ("", "U") for bits in (8, 16, 32, 64, 128)}
_PLAIN |= {"Float32", "Float64", "Boolean", "String", "Date", "Time", "Binary", "Object"}
_PLAIN |= {"Unknown", "Categorical"}
_UNITS = ("s", "ms", "us", "ns")


def write_type(kind: ColumnType, column: str) -> Any:
    """Write the type of a column.

    Parameters
    ----------
    kind : ColumnType
        The type.
    column : str
        The column, for messages.
    """
    backend = next((name for name, found in _BACKENDS.items() if found is kind.backend), None)
    dtype = None
    if kind.dtype is not None and (backend is not None or kind.backend is None):
        dtype = _written(kind.dtype)
    known = kind.dtype is None or dtype is not None
    if (kind.backend is not None and backend is None) or (kind.keeps and not known):
        raise SavedFileError(
            f"The type {kind.dtype} of the column {column} cannot be written to a file: convert "
            "the column before fit."
        )
    return {"frame": backend, "type": dtype, "keeps": kind.keeps}


def read_type(node: Node) -> ColumnType:
    """Read the type of a column."""
    frame, dtype, keeps = node.fields("frame", "type", "keeps")
    backend = None if frame.is_null() else _BACKENDS[frame.choice(_BACKENDS)]
    return ColumnType(backend, None if dtype.is_null() else _read_dtype(dtype), keeps.flag())


def _written(dtype: Any) -> Any:
    """Write a type, or return None for one that cannot be read back."""
    try:
        written = _write_dtype(dtype)
        same = written is not None and _same(_read_dtype(Node(written, "type")), dtype)
    except (SavedFileError, ValueError, TypeError):
        same = False
    return written if same else None


def _same(one: Any, other: Any) -> bool:
    if isinstance(other, pd.CategoricalDtype):  # its index may have another type
        return bool(one.ordered == other.ordered) and _listed(one) == _listed(other)
    return type(one) is type(other) and bool(one == other)


def _listed(dtype: pd.CategoricalDtype) -> list[Any]:
    return [] if dtype.categories is None else dtype.categories.tolist()


def _write_dtype(dtype: Any) -> Any:
    name = type(dtype).__name__
    if isinstance(dtype, np.dtype):
        return {"numpy": dtype.str}
    if isinstance(dtype, pd.CategoricalDtype):
        return {"category": write_labels(_listed(dtype)) if dtype.ordered else None}
    if isinstance(dtype, pd.StringDtype):
        gap = getattr(dtype, "na_value", pd.NA)
        return {"string": [dtype.storage, "NA" if gap is pd.NA else "NaN"]}
    if isinstance(dtype, pd.DatetimeTZDtype):
        return {"zoned": [dtype.unit, write_zone(dtype.tz)]}
    if isinstance(dtype, pd.ArrowDtype):
        return {"arrow": str(dtype)}
    if isinstance(dtype, pd.api.extensions.ExtensionDtype):
        return {"masked": str(dtype)} if str(dtype) in _MASKED else None
    if isinstance(dtype, nw.Datetime):
        return {"datetime": [dtype.time_unit, dtype.time_zone]}
    if isinstance(dtype, nw.Duration):
        return {"duration": dtype.time_unit}
    if isinstance(dtype, nw.Decimal):  # older versions of narwhals do not know its digits
        return {"decimal": [getattr(dtype, "precision", None), getattr(dtype, "scale", None)]}
    if isinstance(dtype, nw.Enum):
        return {"enum": [write_label(text) for text in dtype.categories]}
    return {"plain": name} if isinstance(dtype, nw.dtypes.DType) and name in _PLAIN else None


def _read_dtype(node: Node) -> Any:
    members = node.members(1)
    if len(members) != 1 or next(iter(members)) not in _READERS:
        raise node.wrong("a type of a column")
    [(tag, inner)] = members.items()
    return _READERS[tag](inner)


def _matching(node: Node, pattern: re.Pattern[str]) -> str:
    text = node.text(100)
    if pattern.fullmatch(text) is None:
        raise node.wrong("a type of a column")
    return text


def _read_numpy(node: Node) -> Any:
    try:
        return np.dtype(_matching(node, _NUMPY))
    except TypeError:
        raise node.wrong("a type of NumPy") from None


def _read_category(node: Node) -> Any:
    if node.is_null():
        return pd.CategoricalDtype()
    return pd.CategoricalDtype(read_labels(node), ordered=True)


def _read_string(node: Node) -> Any:
    storage, gap = node.items(2)
    options: dict[str, Any] = {"storage": storage.choice(["python", "pyarrow", "pyarrow_numpy"])}
    if gap.choice(["NA", "NaN"]) == "NaN" and options["storage"] != "pyarrow_numpy":
        options["na_value"] = np.nan
    try:
        return pd.StringDtype(**options)
    except (TypeError, ValueError, ImportError):
        return None  # a type of another version of pandas, or of one with pyarrow


def _read_zoned(node: Node) -> Any:
    unit, zone_node = node.items(2)
    zone: Any = read_zone(zone_node)
    if zone is None:
        raise zone_node.wrong("a time zone")
    return pd.DatetimeTZDtype(unit.choice(_UNITS), getattr(zone, "key", zone))


def _read_arrow(node: Node) -> Any:
    try:
        return pd.api.types.pandas_dtype(_matching(node, _ARROW))
    except ImportError:
        return None
    except (TypeError, NotImplementedError):
        raise node.wrong("a type of pyarrow") from None


def _read_datetime(node: Node) -> Any:
    unit, zone = node.items(2)
    if not zone.is_null():
        read_zone(zone)
    return nw.Datetime(unit.choice(_UNITS), zone.value)  # type: ignore[arg-type]


def _read_decimal(node: Node) -> Any:
    digits = [None if one.is_null() else one.whole(0, 76) for one in node.items(2)]
    try:
        return nw.Decimal(*digits)  # type: ignore[arg-type]
    except TypeError:
        return nw.Decimal()


def _read_enum(node: Node) -> Any:
    categories = [read_label(item) for item in node.items()]
    if not all(isinstance(text, str) for text in categories):
        raise node.wrong("a list of texts")
    return nw.Enum(categories)  # type: ignore[arg-type]


_READERS: dict[str, Callable[[Node], Any]] = {
    "numpy": _read_numpy,
    "category": _read_category,
    "string": _read_string,
    "zoned": _read_zoned,
    "arrow": _read_arrow,
    "masked": lambda node: pd.api.types.pandas_dtype(node.choice(_MASKED)),
    "datetime": _read_datetime,
    "duration": lambda node: nw.Duration(node.choice(_UNITS)),  # type: ignore[arg-type]
    "decimal": _read_decimal,
    "enum": _read_enum,
    "plain": lambda node: getattr(nw, node.choice(_PLAIN))(),
}
