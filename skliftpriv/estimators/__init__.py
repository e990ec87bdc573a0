"""The mechanisms as scikit-learn transformers."""

from ._base import LiftSanitizer
from ._bit_releaser import BitReleaser
from ._conditional_reporting import ConditionalReporting
from ._counted_rows import CountedRows, counted_columns
from ._counting import CountingPlan
from ._guarantee import Guarantee
from ._layout import Layout
from ._optimal_response import ORRSanitizer
from ._parameters import parameters, validate
from ._randomized_response import GRRSanitizer
from ._records import RecordColumn, check_keys
from ._release import Release, advice_on_unknown, instead_of_seeing
from ._releaser import Releaser, SymbolReleaser
from ._releasing import ReleasingShell
from ._row_encoder import RowEncoder
from ._shared_counts import shared_counts
from ._side_channel import SRLIPSanitizer
from ._subset_merging import SubsetMergingSanitizer
from ._subset_response import SRRSanitizer
from ._symbol_sanitizer import SymbolSanitizer
from ._unary_encoding import OUESanitizer
from ._value_lists import Categories, ValueLists, sensitive_names, value_lists
from ._values import PublicValues, ValuesSummary
from ._watchdog import WatchdogSanitizer

__all__ = [
    "BitReleaser",
    "Categories",
    "ConditionalReporting",
    "CountedRows",
    "CountingPlan",
    "GRRSanitizer",
    "Guarantee",
    "Layout",
    "LiftSanitizer",
    "ORRSanitizer",
    "OUESanitizer",
    "PublicValues",
    "RecordColumn",
    "Release",
    "Releaser",
    "ReleasingShell",
    "RowEncoder",
    "SRLIPSanitizer",
    "SRRSanitizer",
    "SubsetMergingSanitizer",
    "SymbolReleaser",
    "SymbolSanitizer",
    "ValueLists",
    "ValuesSummary",
    "WatchdogSanitizer",
    "advice_on_unknown",
    "check_keys",
    "counted_columns",
    "instead_of_seeing",
    "parameters",
    "sensitive_names",
    "shared_counts",
    "validate",
    "value_lists",
]
