"""A target that is also among the useful columns, as when it was left in the table by mistake."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from .._arrays import Label
from ..exceptions import TargetColumnWarning
from ..frames import as_columns, encode_rows, row_slices, rows_of

__all__ = ["target_warnings"]

#: Rows that most columns differ from the target in.
_FIRST_ROWS = 500
#: Values of a column that may be other names for those of the target. Two columns of many numbers
#: are one-to-one by chance.
_MOST_NAMES = 20


def target_warnings(
    names: Sequence[str], columns: Sequence[Any], y: Any
) -> Iterator[TargetColumnWarning]:
    """Yield a warning for each useful column that holds the target, perhaps in other words.

    Parameters
    ----------
    names : sequence of str
        The useful columns.
    columns : sequence of columns
        Their values.
    y : array-like or None
        The target. One that cannot be counted is left to those who count it.
    """
    if y is None or isinstance(y, str):
        return
    targets = as_columns(y, "y")
    if len(targets) != 1:
        return
    for name, column in zip(names, columns, strict=True):
        if len(column) == len(targets[0]) and _same(column, targets[0]):
            yield TargetColumnWarning(
                f"The target y is also the useful column {name!r}, so that the release keeps the "
                "column itself, and transform needs it. If it shall not be released, leave it out "
                f"of X, for example by X.drop(columns={name!r}), or name the useful columns."
            )


def _same(column: Any, target: Any) -> bool:
    """Tell whether two columns have the same values, or few that are one-to-one."""
    pairs: set[tuple[Label, ...]] = set()
    first = slice(0, min(_FIRST_ROWS, len(target)))
    for part in (first, *row_slices(len(target))):
        symbols = encode_rows([rows_of(column, part), rows_of(target, part)])[1]
        pairs.update(pair for pair in symbols if isinstance(pair, tuple))
        if not all(one == other for one, other in pairs) and not _one_to_one(pairs):
            return False
    return len(pairs) > 1


def _one_to_one(pairs: set[tuple[Label, ...]]) -> bool:
    ones, others = zip(*pairs, strict=True)
    return len(pairs) == len(set(ones)) == len(set(others)) <= _MOST_NAMES
