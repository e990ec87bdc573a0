"""The mechanisms as scikit-learn transformers."""

from ._base import LiftSanitizer
from ._guarantee import Guarantee
from ._watchdog import SubsetMergingSanitizer, WatchdogSanitizer

__all__ = ["Guarantee", "LiftSanitizer", "SubsetMergingSanitizer", "WatchdogSanitizer"]
