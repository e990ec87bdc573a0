"""Sanitisers that release one symbol per row."""

from __future__ import annotations

from typing import Any, ClassVar

from ..cells import CellsLike
from ..frames import ColumnKey
from ..notions import NotionLike
from ..secret import SecretLike
from ._base import LiftSanitizer
from ._parameters import CELLS, COMMON, CONFIDENCE, NOTION, RECORDS, UNKNOWN, VALUES, parameters
from ._state import Result
from ._value_lists import Categories

__all__ = ["SymbolSanitizer"]


@parameters
class SymbolSanitizer(LiftSanitizer[Result]):
    """Base of sanitisers that release one symbol per row and support several notions.

    A subclass runs its mechanism in :meth:`_build`. Its own parameters are attributes with a type
    and a default; the decorator ``parameters`` turns them into keyword arguments.

    .. versionadded:: 0.2
    """

    notion: NotionLike = "lip"
    lam: float = 0.5
    confidence: float | None = None
    cells: CellsLike | None = None
    categories: Categories | None = None
    min_count: int | None = None
    handle_unknown: str = "error"
    record_id: ColumnKey | None = None
    groups: ColumnKey | None = None
    secret: SecretLike | None = None

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **COMMON,
        **NOTION,
        **CONFIDENCE,
        **CELLS,
        **UNKNOWN,
        **RECORDS,
        **VALUES,
    }
