"""What mechanisms accept as ``over``: a confidence set or a list of distributions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from ..distribution import JointDistribution
from ..exceptions import InvalidParameterError
from ._joints import JointList
from ._set import ConfidenceSet

__all__ = ["Distributions", "Over", "checked_set"]

#: The distributions for which a budget is met.
Distributions: TypeAlias = ConfidenceSet | JointList
#: What may be passed to a mechanism; None stands for the joint distribution alone.
Over: TypeAlias = Distributions | Iterable[JointDistribution] | None


def checked_set(over: Over, joint: JointDistribution) -> Distributions | None:
    """Return the distributions for which a mechanism is to meet its budget.

    Parameters
    ----------
    over : ConfidenceSet, JointList, iterable of JointDistribution or None
        What was passed.
    joint : JointDistribution
        What the mechanism is built for; a list of others includes it.
    """
    if over is None:
        return None
    if isinstance(over, JointDistribution) or not isinstance(over, Iterable | Distributions):
        raise InvalidParameterError(
            "over must be a ConfidenceSet or a list of JointDistribution objects, not "
            f"{type(over).__name__}."
        )
    if not isinstance(over, ConfidenceSet):
        listed = over.joints if isinstance(over, JointList) else tuple(over)
        if isinstance(over, JointList) and listed[0] is joint:
            return over
        return JointList.of(joint, listed)
    if (over.sensitive_labels, over.useful_labels) != (
        joint.sensitive_labels,
        joint.useful_labels,
    ):
        raise InvalidParameterError(
            "over and joint have different symbols; build both from the same table of counts, with "
            "the same labels."
        )
    return over.drawing_from(joint)
