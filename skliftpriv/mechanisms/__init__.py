"""The papers' mechanisms on a joint distribution: (joint, notion) -> certified channel."""

from ._conditional import ConditionalResult, conditional_reporting
from ._optimal import OptimalResult, optimal_random_response
from ._product import product_channel
from ._protocols import ProtocolResult, generalized_randomized_response
from ._result import MechanismResult, PartitionResult, ShownOutputs
from ._sample_size import is_constant, rows_needed
from ._side_channel import SideChannelReport, SideChannelResult, side_channel_resistant
from ._subset_merging import subset_merging
from ._subset_response import GroupedResult, subset_random_response
from ._unary import UnaryResult, optimized_unary_encoding
from ._watchdog import CriticalEpsilons, critical_epsilons, high_risk_leakage, watchdog

__all__ = [
    "ConditionalResult",
    "CriticalEpsilons",
    "GroupedResult",
    "MechanismResult",
    "OptimalResult",
    "PartitionResult",
    "ProtocolResult",
    "ShownOutputs",
    "SideChannelReport",
    "SideChannelResult",
    "UnaryResult",
    "conditional_reporting",
    "critical_epsilons",
    "generalized_randomized_response",
    "high_risk_leakage",
    "is_constant",
    "optimal_random_response",
    "optimized_unary_encoding",
    "product_channel",
    "rows_needed",
    "side_channel_resistant",
    "subset_merging",
    "subset_random_response",
    "watchdog",
]
