"""The errors and warnings of skliftpriv. Each message says what to do next."""

from __future__ import annotations

__all__ = [
    "BudgetWarning",
    "InfeasibleError",
    "InvalidDistributionError",
    "InvalidParameterError",
    "SampleSizeWarning",
    "SavedFileError",
    "SeededReleaseWarning",
    "SizeLimitError",
    "SkliftprivError",
    "UnknownCategoryError",
    "UnprotectedColumnsWarning",
    "UnsupportedNotionError",
    "UselessReleaseWarning",
]


class SkliftprivError(Exception):
    """Base class of every error that skliftpriv raises on purpose."""


class InvalidDistributionError(SkliftprivError, ValueError):
    """A joint distribution or a channel is malformed (shape, sign, sum, labels)."""


class InvalidParameterError(SkliftprivError, ValueError):
    """A parameter has a value outside its domain."""


class SizeLimitError(InvalidParameterError):
    """A call would take too much memory or time, so it was refused.

    .. versionadded:: 0.2
    """


class UnsupportedNotionError(InvalidParameterError):
    """A mechanism cannot enforce the requested privacy notion."""


class UnknownCategoryError(SkliftprivError, ValueError):
    """A value passed to ``transform`` was not seen during ``fit``."""


class SavedFileError(SkliftprivError, ValueError):
    """A file is not what :func:`skliftpriv.save` writes, or a sanitiser cannot be saved.

    .. versionadded:: 0.2
    """


class InfeasibleError(SkliftprivError, ValueError):
    """No mechanism of the requested kind meets the budget."""


class BudgetWarning(UserWarning):
    """A mechanism built exactly as in its paper exceeds its budget."""


class SampleSizeWarning(UserWarning):
    """There are too few rows for the requested confidence."""


class SeededReleaseWarning(UserWarning):
    """A release was drawn from a seed and is not private.

    .. versionadded:: 0.2
    """


class TargetColumnWarning(UserWarning):
    """The target y is also among the useful columns.

    .. versionadded:: 0.2
    """


class UnprotectedColumnsWarning(UserWarning):
    """A release contains columns, an index or a row order that no guarantee covers."""


class UselessReleaseWarning(UserWarning):
    """A search ran out of time with a release that carries no information about X.

    .. versionadded:: 0.2
    """
