"""The errors and warnings of skliftpriv: one family, each message says what to do next."""

from __future__ import annotations

__all__ = [
    "BudgetWarning",
    "InfeasibleError",
    "InvalidDistributionError",
    "InvalidParameterError",
    "SampleSizeWarning",
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
    """A call would take more memory or time than it may; nothing was allocated for it.

    .. versionadded:: 0.2
    """


class UnsupportedNotionError(InvalidParameterError):
    """A mechanism cannot enforce the requested privacy notion."""


class UnknownCategoryError(SkliftprivError, ValueError):
    """A value at ``transform`` was not seen at ``fit``."""


class InfeasibleError(SkliftprivError, ValueError):
    """No mechanism of the requested kind meets the budget."""


class BudgetWarning(UserWarning):
    """A paper-exact mechanism misses its own budget."""


class SampleSizeWarning(UserWarning):
    """There are too few rows for the confidence that was asked for."""


class SeededReleaseWarning(UserWarning):
    """What is released was drawn from a seed, and is not private.

    .. versionadded:: 0.2
    """


class UnprotectedColumnsWarning(UserWarning):
    """Columns, an index or an order of rows are released that no guarantee covers."""


class UselessReleaseWarning(UserWarning):
    """What is released is private but says nothing about X.

    .. versionadded:: 0.2
    """
