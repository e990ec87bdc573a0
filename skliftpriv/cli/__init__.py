"""The command line: ``skliftpriv`` and ``python -m skliftpriv``."""

from ._main import main

__all__ = ["main"]
