"""The mechanisms as scikit-learn transformers."""

from ._base import LiftSanitizer
from ._guarantee import Guarantee
from ._optimal import ORRSanitizer, SRRSanitizer
from ._protocols import ConditionalReporting, GRRSanitizer, OUESanitizer
from ._shared import shared_counts
from ._side_channel import SRLIPSanitizer, joint_leakage
from ._watchdog import SubsetMergingSanitizer, WatchdogSanitizer

__all__ = [
    "ConditionalReporting",
    "GRRSanitizer",
    "Guarantee",
    "LiftSanitizer",
    "ORRSanitizer",
    "OUESanitizer",
    "SRLIPSanitizer",
    "SRRSanitizer",
    "SubsetMergingSanitizer",
    "WatchdogSanitizer",
    "joint_leakage",
    "shared_counts",
]
