"""The mechanisms as scikit-learn transformers."""

from ._base import LiftSanitizer
from ._guarantee import Guarantee
from ._layout import Layout
from ._optimal import ORRSanitizer, SRRSanitizer
from ._protocols import ConditionalReporting, GRRSanitizer, OUESanitizer
from ._shared import CountedRows, shared_counts
from ._side_channel import SRLIPSanitizer
from ._watchdog import SubsetMergingSanitizer, WatchdogSanitizer

__all__ = [
    "ConditionalReporting",
    "CountedRows",
    "GRRSanitizer",
    "Guarantee",
    "Layout",
    "LiftSanitizer",
    "ORRSanitizer",
    "OUESanitizer",
    "SRLIPSanitizer",
    "SRRSanitizer",
    "SubsetMergingSanitizer",
    "WatchdogSanitizer",
    "shared_counts",
]
