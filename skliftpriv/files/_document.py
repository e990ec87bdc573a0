"""A fitted sanitiser as JSON, section by section."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._limits import MOST_SAVED_BYTES, MOST_SAVED_VALUES, POOL, refuse_beyond
from ..cells import Cells
from ..estimators import Release, ReleasingShell, SymbolReleaser
from ..exceptions import InvalidParameterError, SavedFileError
from ..frames import ContingencyTable
from ._cells import write_cells
from ._labels import write_labels
from ._mechanism import write_layout, write_releaser
from ._promises import write_facts, write_notion, write_report
from ._reader import n_values, plain_number
from ._seal import sealed
from ._values import write_values

__all__ = ["FACTS", "SECTIONS", "written"]

#: What the file holds between its first lines and its seal.
SECTIONS = (
    "made_with",
    "mechanism",
    "columns",
    "records",
    "sensitive_values",
    "order",
    "values",
    "n_sensitive",
    "cells",
    "channel",
    "notion",
    "guarantee",
    "report",
    "joint",
)
#: Fitted attributes that are single numbers or words, and are kept where a sanitiser has them.
FACTS = ("alpha_", "gap_", "optimum", "srlip_", "status_", "upper_bound_")
#: Parameters that are never written.
_NEVER = ("random_state", "secret")
#: Parameters that stand in a section of their own.
_ELSEWHERE = ("categories",)


def written(sanitizer: ReleasingShell, key: bytes | None, *, include_joint: bool) -> bytes:
    """Write a fitted sanitiser as the bytes of a file."""
    if not isinstance(sanitizer, ReleasingShell):
        raise InvalidParameterError(
            f"{type(sanitizer).__name__} is not a sanitiser of skliftpriv; of a pipeline save the "
            "step that sanitises, such as pipeline[0]."
        )
    check_is_fitted(sanitizer)
    sanitizer.get_feature_names_out()  # refuses parameters that are wrong, or changed after fit
    release = sanitizer.release_
    sees = release.encoder.sees_sensitive
    if sees and not include_joint:
        raise SavedFileError(
            f"{release.who} looks at S, and from the probabilities that it draws with, the joint "
            "distribution of S and X can be computed: pass include_joint=True if whoever gets the "
            "file may know it, or save a mechanism that does not look at S."
        )
    content = {
        "made_with": f"skliftpriv {_version()}",
        "mechanism": _mechanism(sanitizer),
        "columns": write_layout(release.layout),
        "records": _records(release),
        "sensitive_values": write_labels(release.encoder.sensitive or ()) if sees else None,
        "order": _order(release),
        "values": write_values(
            release, sanitizer.guarantee_, sanitizer.fitted_parameters().get("categories")
        ),
        "n_sensitive": int(sanitizer.n_sensitive_),
        "cells": _cells(release),
        "channel": write_releaser(release.releaser),
        "notion": write_notion(sanitizer.notion_),
        "guarantee": write_facts(sanitizer.guarantee_),
        "report": write_report(sanitizer.report_),
        "joint": _joint(sanitizer) if include_joint else None,
    }
    assert tuple(content) == SECTIONS
    try:
        data = sealed({name: _as_json(part) for name, part in content.items()}, key)
    except UnicodeEncodeError as error:
        raise SavedFileError(
            f"A name of a column has lone surrogates, {error.object[error.start]!r}, which cannot "
            "be encoded: rename it."
        ) from error
    instead = f"{POOL}, or use a mechanism with fewer outputs per value, such as WatchdogSanitizer"
    what = "the saved file would have"
    refuse_beyond(MOST_SAVED_BYTES, len(data), f"{what} {len(data):,} bytes", instead)
    n = n_values(data)
    refuse_beyond(MOST_SAVED_VALUES, n, f"{what} {n:,} values", instead)
    return data


def _as_json(part: Any) -> str:
    return json.dumps(part, ensure_ascii=False, allow_nan=False)


def _version() -> str:
    return str(getattr(sys.modules[__name__.partition(".")[0]], "__version__", "unknown"))


def _mechanism(sanitizer: ReleasingShell) -> dict[str, Any]:
    parameters = {
        name: None if name in _ELSEWHERE else _plain(value)
        for name, value in sanitizer.fitted_parameters().items()
        if name not in _NEVER
    }
    facts = {name: _plain(getattr(sanitizer, name)) for name in FACTS if hasattr(sanitizer, name)}
    return {
        "name": sanitizer.release_.who,
        "output": sanitizer.output,
        "remainder": sanitizer.remainder,
        "index": sanitizer.index,
        "handle_unknown": parameters.get("handle_unknown"),
        "parameters": parameters,
        "facts": facts,
    }


def _plain(value: Any) -> Any:
    """Write a parameter: numbers and text as they are, anything else by its name."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, str | bool):
        return value
    if isinstance(value, int) and abs(value) <= 2**53:
        return value
    if isinstance(value, float):
        return plain_number(value)
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    name = getattr(value, "__name__", None)
    return name if isinstance(name, str) else " ".join(repr(value).split())


def _records(release: Release) -> Any:
    """Write where the ids of the records are; the secret that goes with them is never written."""
    records = release.records
    return None if records is None else {"parameter": records.parameter, "column": records.key}


def _order(release: Release) -> Any:
    """Write the order by which values that fit has not seen are placed, if they are."""
    order = release.encoder.order
    if order is None:
        return None
    return {"categories": None if order.categories is None else write_labels(order.categories)}


def _cells(release: Release) -> Any:
    settled, releaser = release.encoder.cells, release.releaser
    cells: Cells | None = releaser.cells if isinstance(releaser, SymbolReleaser) else None
    return None if cells is None or settled is None else write_cells(cells, settled)


def _joint(sanitizer: ReleasingShell) -> Mapping[str, Any]:
    counted = getattr(sanitizer, "counted_", None)
    if counted is None:
        raise InvalidParameterError(
            "include_joint=True needs the counts of S, but the file that this sanitiser was loaded "
            "from has none."
        )
    counts: ContingencyTable = counted.counts
    return {
        "sensitive": write_labels(counts.sensitive),
        "useful": write_labels(counts.useful),
        "counts": [[_count(n) for n in row] for row in counts.counts.tolist()],
        "order": None if counts.order is None else write_labels(counts.order),
    }


def _count(n: float) -> int | float:
    return int(n) if n.is_integer() and n <= 2**53 else n
