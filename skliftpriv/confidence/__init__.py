"""The distributions for which a budget is to hold: those that agree with rows, or a list."""

from ._intervals import clopper_pearson
from ._joints import Cases, JointList, levels_of, worst_of
from ._over import Distributions, Over, checked_set
from ._set import ConfidenceSet

__all__ = [
    "Cases",
    "ConfidenceSet",
    "Distributions",
    "JointList",
    "Over",
    "checked_set",
    "clopper_pearson",
    "levels_of",
    "worst_of",
]
