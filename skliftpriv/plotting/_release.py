"""What three of the displays draw: a release, computed once from whoever knows it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._arrays import FloatArray, Label
from ..channel import Channel
from ..distribution import JointDistribution
from ..estimators import LiftSanitizer, OUESanitizer
from ..exceptions import InvalidParameterError
from ..measures import log_lift
from ..mechanisms import ConditionalResult, MechanismResult, UnaryResult
from ..notions import Notion
from ..report import PrivacyReport, worst_levels
from ._labels import number

__all__ = ["ReleaseData"]

# A log-lift that was certified in whole numbers may lie this far beyond its budget as a double.
_ROUNDING = 1e-9

# Short names of sides, for titles; a notion of somebody else's has its own.
_SIDES = {
    "ldp": "level",
    "l1_lift": "lift",
    "chi2_lift": "lift",
    "alpha_lift": "lift",
    "l1_lift_inverse": "inverse",
    "chi2_lift_inverse": "inverse",
    "alpha_lift_inverse": "inverse",
}


@dataclass(frozen=True, kw_only=True)
class ReleaseData:
    """A release of Y for X, as the displays draw it.

    Made by :meth:`of_estimator`, :meth:`of_result` or :meth:`of_channel`.

    Attributes
    ----------
    joint : JointDistribution
        Distribution of S and X.
    matrix : ndarray of shape (n_inputs, n_outputs)
        P(Y=y | X=x). For unary encoding, which releases a set of bits, P(bit of y is 1 | X=x).
    p_sy : ndarray of shape (n_sensitive, n_outputs)
        P(S=s, Y=y), also for mechanisms that see S. For unary encoding, P(S=s, bit of y is 1).
    outputs : tuple
        Labels of the outputs, or of the bits.
    bits : bool
        Whether the columns are single bits rather than outputs.
    notion : Notion or None
        The promise.
    satisfied : bool or None
        Whether it is met.
    levels : dict
        Levels that the sides of the notion reach, over all outputs.
    log_lifts : (float, float)
        Smallest and largest log-lift over all outputs; of all bits together, not of single ones.
    sensitive_name, useful_name : str
        What S and X are called.
    """

    joint: JointDistribution
    matrix: FloatArray
    p_sy: FloatArray
    outputs: tuple[Label, ...]
    bits: bool
    notion: Notion | None
    satisfied: bool | None
    levels: dict[str, float]
    log_lifts: tuple[float, float]
    sensitive_name: str = "S"
    useful_name: str = "X"

    @classmethod
    def of_estimator(cls, estimator: LiftSanitizer) -> Self:
        """Read what a fitted sanitiser releases."""
        if not isinstance(estimator, LiftSanitizer):
            raise InvalidParameterError(
                f"{type(estimator).__name__} is no sanitiser of skliftpriv; for a pipeline pass "
                "its step, such as pipeline[0]."
            )
        check_is_fitted(estimator)
        guarantee = estimator.guarantee_
        return cls._of(
            estimator.joint_,
            estimator.notion_,
            estimator.report_,
            channel=estimator.channel_,
            conditional=getattr(estimator, "conditional_channel_", None),
            alpha=estimator.alpha_ if isinstance(estimator, OUESanitizer) else None,
            sensitive_name=guarantee.sensitive,
            useful_name=", ".join(guarantee.columns),
        )

    @classmethod
    def of_result(cls, result: MechanismResult | UnaryResult) -> Self:
        """Read what a function of :mod:`skliftpriv.mechanisms` returned."""
        unary = isinstance(result, UnaryResult)
        return cls._of(
            result.joint,
            result.notion,
            result.report,
            channel=None if unary else result.channel,
            conditional=result.conditional if isinstance(result, ConditionalResult) else None,
            alpha=result.alpha if isinstance(result, UnaryResult) else None,
        )

    @classmethod
    def of_channel(
        cls, joint: JointDistribution, channel: Channel, notion: Notion | None = None
    ) -> Self:
        """Compute what a channel releases, and whether that meets a notion."""
        if channel.inputs != joint.useful_labels:
            raise InvalidParameterError(
                "The inputs of the channel are not the useful symbols of the joint distribution, "
                f"in their order: {channel.inputs[:3]}... and {joint.useful_labels[:3]}..."
            )
        p_sy = joint.released(channel.sparse)
        logs = log_lift(p_sy, p_s=joint.p_s)
        levels = {} if notion is None else worst_levels(notion, np.exp(logs), joint.p_s)
        budget = {} if notion is None else notion.budget
        if notion is not None and (levels.keys() != budget.keys() or notion.key == "relaxed"):
            raise InvalidParameterError(
                f"{notion} is more than a promise about each output, so a channel alone does not "
                "show whether it is met; draw the result of a mechanism instead."
            )
        within = [level <= budget[side] + _ROUNDING for side, level in levels.items()]
        return cls(
            joint=joint,
            matrix=channel.matrix,
            p_sy=p_sy,
            outputs=channel.outputs,
            bits=False,
            notion=notion,
            satisfied=all(within) if within else None,
            levels=levels,
            log_lifts=(float(logs.min()), float(logs.max())),
        )

    @classmethod
    def _of(
        cls,
        joint: JointDistribution,
        notion: Notion,
        report: PrivacyReport,
        *,
        channel: Channel | None,
        conditional: Channel | None,
        alpha: float | None,
        **names: str,
    ) -> Self:
        if alpha is not None:
            # Unary encoding: 2^n outputs are no picture, n bits are.
            noise = 1 / (np.exp(alpha) + 1)
            matrix = np.where(np.eye(joint.shape[1], dtype=bool), 0.5, noise)
            outputs = joint.useful_labels
        else:
            assert channel is not None
            matrix, outputs = channel.matrix, channel.outputs
        p_sy = joint.released(matrix)
        if conditional is not None:
            # The mechanism saw S, so P(y|s) does not follow from P(y|x).
            rows = conditional.matrix.reshape(*joint.shape, -1)
            p_sy = np.einsum("sx,sxy->sy", joint.matrix, rows)
        return cls(
            joint=joint,
            matrix=matrix,
            p_sy=p_sy,
            outputs=outputs,
            bits=alpha is not None,
            notion=notion,
            satisfied=report.satisfied,
            levels=dict(report.levels_after),
            log_lifts=(report.min_log_lift, report.max_log_lift),
            **names,
        )

    @property
    def p_y(self) -> FloatArray:
        """Probability of every output, or of every bit to be 1."""
        return np.asarray(self.p_sy.sum(axis=0))

    @cached_property
    def log_lift_before(self) -> FloatArray:
        """Log-lift of every cell of X itself, shape (n_sensitive, n_useful)."""
        return log_lift(self.joint.matrix)

    @cached_property
    def log_lift(self) -> FloatArray:
        """Log-lift of every cell after the release, shape (n_sensitive, n_outputs)."""
        return log_lift(self.p_sy, p_s=self.joint.p_s)

    @property
    def posterior(self) -> FloatArray:
        """P(S=s | Y=y), shape (n_sensitive, n_outputs)."""
        return np.asarray(np.exp(self.log_lift) * self.joint.p_s[:, None])

    @property
    def band(self) -> Notion | None:
        """The notion whose lift band single cells are held against, None if there is none."""
        # The (epsilon, delta) relaxation wraps the band that it allows to leave.
        inner = getattr(self.notion, "notion", self.notion)
        return inner if inner is not None and "min_lift" in inner.budget else None

    @property
    def limits(self) -> tuple[float, float] | None:
        """Smallest and largest log-lift within the budget; None if no single cell is bounded."""
        if self.band is None:
            return None
        return -self.band.budget["min_lift"], self.band.budget["max_lift"]

    def outside(self, logs: FloatArray) -> np.ndarray:
        """Tell which log-lifts lie outside the budget."""
        low, high = self.limits or (-np.inf, np.inf)
        return (logs < low - _ROUNDING) | (logs > high + _ROUNDING)

    def verdict(self) -> str:
        """Say whether the notion is met, with the levels of a notion that bounds no single cell."""
        if self.notion is None:
            return ""
        levels = ""
        if self.band is None:
            levels = ", ".join(
                f"{_SIDES.get(side, side)} {number(v)}" for side, v in self.levels.items()
            )
        return f"{self.notion} {'met' if self.satisfied else 'MISSED'}" + (
            f": {levels}" if levels else ""
        )
