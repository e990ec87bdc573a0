"""Read --categories: lists of values on the command line, or in a JSON file."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ._errors import CommandError

__all__ = ["read_categories"]


def read_categories(given: Sequence[str]) -> dict[str, list[Any]]:
    """Return the lists of values by column.

    Parameters
    ----------
    given : sequence of str
        Each is COL=a,b,c, where an empty value stands for missing ones and quotation marks for
        values with commas, or a file that holds a JSON object of columns and lists.
    """
    found: dict[str, list[Any]] = {}
    for text in given:
        column, is_list, values = text.partition("=")
        lists = {column: _values(values)} if is_list else _from_file(text)
        for name, listed in lists.items():
            if name in found:
                raise CommandError(f"--categories lists values of {name!r} twice.")
            found[name] = listed
    return found


def _values(text: str) -> list[str | None]:
    rows = list(csv.reader([text], skipinitialspace=True))
    return [value or None for value in (rows[0] if rows else [])]


def _from_file(path: str) -> dict[str, list[Any]]:
    if not Path(path).is_file():
        raise CommandError(
            f"--categories {path!r} is neither COL=a,b,c nor a file; write a list as "
            "--categories sex=female,male."
        )
    try:
        lists = json.loads(Path(path).read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise CommandError(f"{path} is not a JSON file in UTF-8: {error}.") from error
    plain = isinstance(lists, dict) and all(
        isinstance(values, list)
        and all(value is None or isinstance(value, str | int | float | bool) for value in values)
        for values in lists.values()
    )
    if not plain:
        raise CommandError(
            f"{path} must hold a JSON object of columns and lists of their values, such as "
            '{"sex": ["female", "male"]}.'
        )
    return dict(lists)
