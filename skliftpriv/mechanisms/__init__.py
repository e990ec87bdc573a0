"""The mechanisms of the papers as functions of a joint distribution and a notion."""

from ._conditional_reporting import ConditionalResult, conditional_reporting
from ._optimal_response import optimal_random_response
from ._product import product_channel
from ._randomized_response import generalized_randomized_response
from ._recheck import (
    recertified,
    unary_levels_again,
    unary_recertified,
    worst_levels_again,
)
from ._result import (
    ChannelResult,
    MechanismResult,
    OptimalResult,
    PartitionResult,
    ShownOutputs,
)
from ._sample_size import is_constant, rows_needed
from ._side_channel import SideChannelReport, SideChannelResult, side_channel_resistant
from ._subset_merging import subset_merging
from ._subset_response import GroupedResult, subset_random_response
from ._tuned_protocol import ProtocolResult
from ._unary_encoding import (
    UnaryResult,
    bit_weights,
    optimized_unary_encoding,
    unary_channel,
)
from ._watchdog import CriticalEpsilons, critical_epsilons, high_risk_leakage, watchdog

__all__ = [
    "ChannelResult",
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
    "bit_weights",
    "conditional_reporting",
    "critical_epsilons",
    "generalized_randomized_response",
    "high_risk_leakage",
    "is_constant",
    "optimal_random_response",
    "optimized_unary_encoding",
    "product_channel",
    "recertified",
    "rows_needed",
    "side_channel_resistant",
    "subset_merging",
    "subset_random_response",
    "unary_channel",
    "unary_levels_again",
    "unary_recertified",
    "watchdog",
    "worst_levels_again",
]
