"""The only place that imports matplotlib, and only when something is drawn."""

from __future__ import annotations

from importlib import import_module
from typing import Any, TypeAlias

from ..exceptions import SkliftprivError

# The types of matplotlib change with its versions, and it need not be there at all.
Axes: TypeAlias = Any

__all__ = ["Axes", "MissingMatplotlibError", "load"]


class MissingMatplotlibError(SkliftprivError, ImportError):
    """matplotlib is needed to draw, but cannot be imported."""


def load(module: str) -> Any:
    """Import a module of matplotlib by its name, such as "pyplot"."""
    try:
        return import_module(f"matplotlib.{module}")
    except ImportError as error:
        raise MissingMatplotlibError(
            "skliftpriv draws with matplotlib, which cannot be imported here. Install it with\n"
            '    pip install "skliftpriv[plot]"'
        ) from error
