"""Names of columns that libraries of lazy frames take for something else, or for another column."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import narwhals as nw

from ..exceptions import InvalidParameterError
from ._engines import extra_of

__all__ = ["check_names"]

#: What a library takes names of some form for.
_MISREAD = {
    "spark": ((r".*[.`].*", "a field of a struct"), (r"\*", "all columns")),
    "polars": ((r"\*", "all columns"), (r"\^.*\$", "a pattern of names")),
    "duckdb": ((r"\*", "all columns"),),
}
_RENAMED = {
    "spark": "X.withColumnRenamed({old!r}, {new!r})",
    "polars": "X.rename({{{old!r}: {new!r}}})",
    "duckdb": "SELECT {quoted} AS {new}",
}
_TITLES = {"spark": "Spark", "polars": "Polars", "duckdb": "DuckDB", "ibis": "DuckDB"}


def check_names(frame: nw.LazyFrame[Any], names: Sequence[str]) -> None:
    """Refuse names that mean something else to the library, or more than one column.

    Parameters
    ----------
    frame : narwhals LazyFrame
        The rows.
    names : sequence of str
        The columns that are needed.
    """
    library = extra_of(frame.implementation)
    for name in names:
        for pattern, what in _MISREAD.get(library, ()):
            if re.fullmatch(pattern, name, re.DOTALL):
                quoted = '"' + name.replace('"', '""') + '"'
                new = re.sub(r"\W", "_", name)
                how = _RENAMED[library].format(old=name, new=new, quoted=quoted)
                raise InvalidParameterError(
                    f"{_TITLES[library]} reads {name!r} as {what}, not as a column: rename it, for "
                    f"example by {how}."
                )
    native = nw.to_native(frame)
    folded = str.casefold if _ignores_case(native, library) else str
    columns = list(native.columns) if library in ("spark", "duckdb", "ibis") else []
    for name in names:
        alike = [other for other in columns if folded(other) == folded(name)]
        if len(alike) > 1:
            raise InvalidParameterError(
                f"The columns {', '.join(map(repr, alike))} are one column to {_TITLES[library]}: "
                "rename all but one of them, or leave them out."
            )


def _ignores_case(native: Any, library: str) -> bool:
    """Tell whether names that differ in case only are one to a database."""
    if library == "spark":
        return bool(native.sparkSession.conf.get("spark.sql.caseSensitive") != "true")
    return library == "duckdb" or (library == "ibis" and native.get_backend().name == "duckdb")
