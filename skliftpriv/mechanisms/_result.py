"""What a mechanism returns: the certified channel, the report, and what the mechanism knows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

from .._arrays import FloatArray, Label
from .._format import share
from .._limits import MOST_EXACT_CELLS, POOL, refuse_beyond
from ..certificate import CertifiedChannel, release
from ..channel import Channel
from ..confidence import ConfidenceSet
from ..distribution import JointDistribution
from ..exceptions import InvalidParameterError
from ..notions import Notion
from ..report import PrivacyReport, privacy_report

__all__ = ["MechanismResult", "PartitionResult", "ShownOutputs", "check_set", "describe_result"]


def describe_result(result: Any) -> str:
    """Say in one line what came out, however many symbols there are."""
    verdict = "met" if result.report.satisfied else "MISSED"
    return (
        f"{type(result).__name__}({result.notion} {verdict}, {result.joint.shape[1]} symbols, "
        f"{share(result.nmi)} of X kept, {result.status})"
    )


def check_set(over: ConfidenceSet | None, joint: JointDistribution) -> None:
    """Refuse a confidence set of other symbols than those of the joint distribution."""
    if over is None:
        return
    if (over.sensitive_labels, over.useful_labels) != (
        joint.sensitive_labels,
        joint.useful_labels,
    ):
        raise InvalidParameterError(
            "over holds distributions of other symbols than joint does; build both from the same "
            "table of counts, with the same labels."
        )


@dataclass(frozen=True, kw_only=True)
class ShownOutputs:
    """What is shown of a mechanism: its outputs, or single bits where these are too many.

    Attributes
    ----------
    labels : tuple of labels
        The outputs, or the symbols that the bits stand for.
    matrix : ndarray of shape (n_inputs, n_labels)
        P(Y=y | X=x), or the probability that the bit of y is 1 given X=x.
    p_sy : ndarray of shape (n_sensitive, n_labels)
        P(S=s, Y=y), or the probability of S=s together with the bit of y being 1.
    bits : bool
        Whether the columns are single bits.
    """

    labels: tuple[Label, ...]
    matrix: FloatArray
    p_sy: FloatArray
    bits: bool = False


@dataclass(frozen=True, kw_only=True, repr=False)
class MechanismResult:
    """A mechanism fitted to a joint distribution.

    Attributes
    ----------
    joint : JointDistribution
        What the mechanism was built for.
    notion : Notion
        The promise.
    certified : CertifiedChannel
        The integers that are sampled, with the verdict on them.
    report : PrivacyReport
        Leakage and utility of what is sampled.
    status : str
        How the mechanism came out, in a word or two.
    over : ConfidenceSet or None
        The distributions for which the promise is made; None for ``joint`` alone.
    """

    joint: JointDistribution
    notion: Notion
    certified: CertifiedChannel
    report: PrivacyReport
    status: str
    over: ConfidenceSet | None = None

    @classmethod
    def of(
        cls,
        joint: JointDistribution,
        notion: Notion,
        channel: Channel,
        *,
        over: ConfidenceSet | None = None,
        enforce: bool = True,
        **known: Any,
    ) -> Self:
        """Certify a channel, report on it and keep what else the mechanism knows."""
        check_set(over, joint)
        if over is not None:
            cells = joint.shape[0] * channel.sparse.nnz
            refuse_beyond(
                MOST_EXACT_CELLS,
                cells,
                f"the worst case over the confidence set rests on {cells:,} numbers",
                f"{POOL}, or use confidence=None",
            )
        certified = release(joint.masses, channel, notion, over=over, enforce=enforce)
        report = privacy_report(
            joint,
            notion,
            certified.channel,
            satisfied=certified.satisfied,
            levels_worst=None if over is None else over.worst_levels(certified.weights, notion),
        )
        return cls(
            joint=joint, notion=notion, certified=certified, report=report, over=over, **known
        )

    @property
    def channel(self) -> Channel:
        """The channel as it is sampled."""
        return self.certified.channel

    @property
    def shown(self) -> ShownOutputs:
        """The outputs with their probabilities, for displays and pages."""
        channel = self.channel
        p_sy = self.joint.released(channel.sparse)
        return ShownOutputs(labels=channel.outputs, matrix=channel.matrix, p_sy=p_sy)

    @property
    def nmi(self) -> float:
        """Share of the entropy of X that the release keeps."""
        return self.report.nmi

    def __repr__(self) -> str:
        return describe_result(self)


@dataclass(frozen=True, kw_only=True, repr=False)
class PartitionResult(MechanismResult):
    """A mechanism of the watchdog family: low-risk symbols stay, groups of others are merged.

    Attributes
    ----------
    low_risk, high_risk : tuple of labels
        Symbols released unchanged, and symbols that are randomised.
    partition : tuple of tuples of labels
        The groups within which the high-risk symbols are randomised.
    moved : tuple of labels
        Low-risk symbols that the repair moved to the high-risk side.
    exempted : tuple of labels
        High-risk symbols that the (epsilon, delta) relaxation releases unchanged.
    """

    low_risk: tuple[Label, ...]
    high_risk: tuple[Label, ...]
    partition: tuple[tuple[Label, ...], ...]
    moved: tuple[Label, ...] = ()
    exempted: tuple[Label, ...] = ()
