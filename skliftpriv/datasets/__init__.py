"""Data to try things on: the Adult table, offline, and the papers' random joint distributions."""

from ._adult import load_adult
from ._synthetic import make_joint

__all__ = ["load_adult", "make_joint"]
