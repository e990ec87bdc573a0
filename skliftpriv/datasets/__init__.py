"""Example data: the Adult table, shipped with the package, and random joint distributions."""

from ._adult import load_adult
from ._synthetic import make_joint

__all__ = ["load_adult", "make_joint"]
