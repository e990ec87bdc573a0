"""Base of all sanitisers: a shell that fits and releases."""

from __future__ import annotations

from typing import Any

from ._fitting import FittingShell
from ._state import Result

__all__ = ["LiftSanitizer"]


class LiftSanitizer(FittingShell[Result]):
    """Base of all sanitisers.

    A subclass runs its mechanism in :meth:`_build`, and overrides :meth:`_make_releaser` if its
    outputs are not symbols.
    """

    def fit_transform(
        self, X: Any, y: Any = None, *, sensitive_features: Any = None, sample_weight: Any = None
    ) -> Any:
        """Fit and release the same rows; parameters are those of :meth:`fit`."""
        self.fit(X, y, sensitive_features=sensitive_features, sample_weight=sample_weight)
        return self.transform(X, sensitive_features=sensitive_features)
