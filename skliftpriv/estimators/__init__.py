"""The mechanisms as scikit-learn transformers."""

from ._base import LiftSanitizer
from ._conditional_reporting import ConditionalReporting
from ._counted_rows import CountedRows, counted_columns
from ._counting import CountingPlan
from ._guarantee import Guarantee
from ._layout import Layout
from ._optimal_response import ORRSanitizer
from ._parameters import parameters
from ._randomized_response import GRRSanitizer
from ._shared_counts import shared_counts
from ._side_channel import SRLIPSanitizer
from ._subset_merging import SubsetMergingSanitizer
from ._subset_response import SRRSanitizer
from ._symbol_sanitizer import SymbolSanitizer
from ._unary_encoding import OUESanitizer
from ._watchdog import WatchdogSanitizer

__all__ = [
    "ConditionalReporting",
    "CountedRows",
    "CountingPlan",
    "GRRSanitizer",
    "Guarantee",
    "Layout",
    "LiftSanitizer",
    "ORRSanitizer",
    "OUESanitizer",
    "SRLIPSanitizer",
    "SRRSanitizer",
    "SubsetMergingSanitizer",
    "SymbolSanitizer",
    "WatchdogSanitizer",
    "counted_columns",
    "parameters",
    "shared_counts",
]
