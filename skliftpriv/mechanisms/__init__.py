"""The papers' mechanisms on a joint distribution: (joint, notion) -> certified channel."""

from ._result import MechanismResult, PartitionResult
from ._subset_merging import subset_merging
from ._watchdog import CriticalEpsilons, critical_epsilons, high_risk_leakage, watchdog

__all__ = [
    "CriticalEpsilons",
    "MechanismResult",
    "PartitionResult",
    "critical_epsilons",
    "high_risk_leakage",
    "subset_merging",
    "watchdog",
]
