"""A release as it is shown: before and after, against its budget."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._arrays import FloatArray, Label
from .._format import rounded
from ..certificate import TOTAL
from ..channel import Channel
from ..distribution import JointDistribution
from ..estimators import BitReleaser, Releaser, ReleasingShell, SymbolReleaser
from ..exceptions import InvalidParameterError
from ..measures import log_lift
from ..mechanisms import ChannelResult, MechanismResult, PartitionResult
from ..notions import Notion
from ..report import worst_levels
from ._mixtures import short_outputs

__all__ = ["ChannelView", "ReleaseView", "channel_view"]

# A log-lift that was certified in whole numbers may lie this far beyond its budget as a double.
_ROUNDING = 1e-9


@dataclass(frozen=True, kw_only=True)
class ChannelView:
    """What becomes of X, without anything about S.

    .. versionadded:: 0.2

    Attributes
    ----------
    inputs : tuple
        Labels of the values of X.
    p_x : ndarray of shape (n_inputs,)
        Their probabilities.
    matrix : ndarray of shape (n_inputs, n_outputs)
        P(Y=y | X=x). For unary encoding, which releases a set of bits, P(bit of y is 1 | X=x).
    outputs : tuple
        Labels of the outputs, or of the bits.
    bits : bool
        Whether the columns are single bits rather than outputs.
    sensitive_name, useful_name : str
        What S and X are called.
    sees_sensitive : bool
        Whether the mechanism sees S; ``matrix`` is then averaged over S.
    ordered : bool
        Whether values and outputs are in an order of their own, as ranges are.
    """

    inputs: tuple[Label, ...]
    p_x: FloatArray
    matrix: FloatArray
    outputs: tuple[Label, ...]
    bits: bool
    sensitive_name: str = "S"
    useful_name: str = "X"
    sees_sensitive: bool = False
    ordered: bool = False

    @classmethod
    def of_releaser(cls, releaser: Releaser, **known: Any) -> ChannelView:
        """Read what becomes of X from what samples and writes it.

        Parameters
        ----------
        releaser : Releaser
            Of a fitted or loaded sanitiser.
        **known
            Names and the other attributes that have a default.
        """
        if isinstance(releaser, BitReleaser):
            symbols = releaser.symbols
            noise = releaser.noise_weight / TOTAL
            matrix = np.where(np.eye(len(symbols), dtype=bool), 0.5, noise)
            return cls(
                inputs=symbols, p_x=releaser.p_x, matrix=matrix, outputs=symbols, bits=True, **known
            )
        assert isinstance(releaser, SymbolReleaser)
        channel = releaser.channel
        return cls(
            inputs=channel.inputs,
            p_x=releaser.p_x,
            matrix=channel.matrix,
            outputs=channel.outputs,
            bits=False,
            **known,
        )

    @property
    def what(self) -> str:
        """What the columns are: "outputs" or "bits"."""
        return "bits" if self.bits else "outputs"

    @property
    def p_y(self) -> FloatArray:
        """Probability of every output, or of every bit to be 1."""
        return np.asarray(self.p_x @ self.matrix)

    @property
    def flows(self) -> FloatArray:
        """P(X=x, Y=y), shape (n_inputs, n_outputs)."""
        return np.asarray(self.p_x[:, None] * self.matrix)


@dataclass(frozen=True, kw_only=True)
class ReleaseView(ChannelView):
    """A release of Y for X, as displays and pages show it.

    Made by :meth:`of_estimator`, :meth:`of_result` or :meth:`of_channel`.

    Attributes
    ----------
    joint : JointDistribution
        Distribution of S and X.
    inputs, p_x : tuple and ndarray
        Labels of the values of X, and their probabilities.
    matrix : ndarray of shape (n_inputs, n_outputs)
        P(Y=y | X=x). For unary encoding, which releases a set of bits, P(bit of y is 1 | X=x).
    p_sy : ndarray of shape (n_sensitive, n_outputs)
        P(S=s, Y=y), also for mechanisms that see S. For unary encoding, P(S=s, bit of y is 1).
    outputs : tuple
        Labels of the outputs, or of the bits. Mixtures of cells are named by numbers of cells.
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
    sees_sensitive : bool
        Whether the mechanism sees S; ``matrix`` is then averaged over S.
    ordered : bool
        Whether values and outputs are in an order of their own, as ranges are.
    """

    joint: JointDistribution
    p_sy: FloatArray
    notion: Notion | None
    satisfied: bool | None
    levels: dict[str, float]
    log_lifts: tuple[float, float]

    @classmethod
    def of_estimator(cls, estimator: ReleasingShell) -> Self:
        """Read what a fitted sanitiser releases."""
        view = channel_view(estimator)
        if not isinstance(view, cls):
            raise InvalidParameterError(
                "The file that this sanitiser was loaded from has no counts of S, which this view "
                "needs: save it with include_joint=True."
            )
        return view

    @classmethod
    def of_result(cls, result: MechanismResult, **names: Any) -> Self:
        """Read what a function of :mod:`skliftpriv.mechanisms` returned.

        Parameters
        ----------
        result : MechanismResult
            The result.
        **names
            ``sensitive_name`` and ``useful_name``; ``ordered``, if the result does not know.
        """
        shown, report = result.shown, result.report
        outputs = shown.labels
        if not shown.bits:
            symbols, p_x = result.joint.useful_labels, result.joint.p_x
            outputs = short_outputs(symbols, outputs, p_x[:, None] * shown.matrix)
        return cls(
            joint=result.joint,
            inputs=result.joint.useful_labels,
            p_x=result.joint.p_x,
            matrix=shown.matrix,
            p_sy=shown.p_sy,
            outputs=outputs,
            bits=shown.bits,
            notion=result.notion,
            satisfied=report.satisfied,
            levels=dict(report.levels_after),
            log_lifts=(report.min_log_lift, report.max_log_lift),
            sees_sensitive=isinstance(result, ChannelResult) and result.sees_sensitive,
            **{"ordered": isinstance(result, PartitionResult) and result.ordered, **names},
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
        if notion is not None and not notion.per_output:
            raise InvalidParameterError(
                f"{notion} is more than a promise about each output, so a channel alone does not "
                "show whether it is met; draw the result of a mechanism instead."
            )
        within = [level <= budget[side] + _ROUNDING for side, level in levels.items()]
        return cls(
            joint=joint,
            inputs=joint.useful_labels,
            p_x=joint.p_x,
            matrix=channel.matrix,
            p_sy=p_sy,
            outputs=channel.outputs,
            bits=False,
            notion=notion,
            satisfied=all(within) if within else None,
            levels=levels,
            log_lifts=(float(logs.min()), float(logs.max())),
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

    @cached_property
    def largest_log_lift(self) -> float:
        """Largest finite log-lift before and after, in absolute value, for a scale of colours."""
        logs = np.abs(np.concatenate([self.log_lift_before.ravel(), self.log_lift.ravel()]))
        return float(logs[np.isfinite(logs)].max(initial=0.01))

    @cached_property
    def posterior_before(self) -> FloatArray:
        """P(S=s | X=x), shape (n_sensitive, n_useful)."""
        return np.asarray(self.joint.lift * self.joint.p_s[:, None])

    @cached_property
    def posterior(self) -> FloatArray:
        """P(S=s | Y=y), shape (n_sensitive, n_outputs)."""
        return np.asarray(np.exp(self.log_lift) * self.joint.p_s[:, None])

    @property
    def limits(self) -> tuple[float, float] | None:
        """Smallest and largest log-lift within the budget; None if no single cell is bounded."""
        return None if self.notion is None else self.notion.band

    @property
    def band_name(self) -> str:
        """What the limits are called."""
        return "" if self.notion is None else self.notion.band_name

    @cached_property
    def allowed(self) -> FloatArray | None:
        """Smallest and largest posterior within the budget, shape (n_sensitive, 2), or None."""
        if self.limits is None:
            return None
        with np.errstate(over="ignore"):  # of budgets that bound nothing
            return np.minimum(self.joint.p_s[:, None] * np.exp(self.limits), 1.0)

    def outside(self, logs: FloatArray) -> np.ndarray:
        """Tell which log-lifts lie outside the budget."""
        low, high = self.limits or (-np.inf, np.inf)
        return (logs < low - _ROUNDING) | (logs > high + _ROUNDING)

    def verdict(self) -> str:
        """Say whether the notion is met, with the levels of one that bounds no single cell."""
        if self.notion is None:
            return ""
        verdict = f"{self.notion} {'met' if self.satisfied else 'MISSED'}"
        if self.limits is not None:
            return verdict
        levels = (
            f"{self.notion.side(name).short} {rounded(level)}"
            for name, level in self.levels.items()
        )
        return f"{verdict}: {', '.join(levels)}"


def channel_view(estimator: ReleasingShell) -> ChannelView:
    """Read what a sanitiser releases: a :class:`ReleaseView` if it knows counts of S.

    .. versionadded:: 0.2

    Parameters
    ----------
    estimator : fitted sanitiser
        Any of skliftpriv, also one that was loaded from a file.
    """
    if not isinstance(estimator, ReleasingShell):
        raise InvalidParameterError(
            f"{type(estimator).__name__} is not a sanitiser of skliftpriv; for a pipeline pass its "
            "step, such as pipeline[0]."
        )
    check_is_fitted(estimator)
    guarantee = estimator.guarantee_
    names = {"sensitive_name": guarantee.sensitive, "useful_name": guarantee.released}
    result: MechanismResult | None = getattr(estimator, "result_", None)
    if isinstance(result, PartitionResult):
        return ReleaseView.of_result(result, **names)
    ordered = estimator.fitted_parameters().get("order") == "preserve"
    if result is not None:
        return ReleaseView.of_result(result, ordered=ordered, **names)
    return ChannelView.of_releaser(estimator.release_.releaser, ordered=ordered, **names)
