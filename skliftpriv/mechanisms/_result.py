"""Results of mechanisms: the certified channel, the report, and details of the mechanism."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from math import nan
from typing import Any, Self

from .._arrays import FloatArray, Label
from .._format import share
from .._limits import MOST_EXACT_CELLS, POOL, refuse_beyond
from ..certificate import CertifiedChannel, Weights, certified_for, drawn_weights, worst_levels_over
from ..channel import Channel
from ..confidence import ConfidenceSet, Distributions, Over, checked_set
from ..distribution import JointDistribution
from ..notions import Notion
from ..report import PrivacyReport, privacy_report, target_summary
from ._pairs import given_useful, pair_masses, released_pairs

__all__ = [
    "ChannelResult",
    "MechanismResult",
    "OptimalResult",
    "PartitionResult",
    "ShownOutputs",
]


@dataclass(frozen=True)
class ShownOutputs:
    """The outputs as they are shown, or the bits that an output consists of.

    .. versionadded:: 0.2

    Attributes
    ----------
    labels : tuple of labels
        Name of every output, or of every bit.
    matrix : ndarray of shape (n_inputs, n_outputs)
        P(Y=y | X=x); for bits P(bit of y is 1 | X=x).
    p_sy : ndarray of shape (n_sensitive, n_outputs)
        P(S=s, Y=y); for bits P(S=s, bit of y is 1).
    bits : bool
        Whether the columns are single bits rather than outputs.
    """

    labels: tuple[Label, ...]
    matrix: FloatArray
    p_sy: FloatArray
    bits: bool = False


@dataclass(frozen=True, kw_only=True, repr=False)
class MechanismResult(ABC):
    """A mechanism fitted to a joint distribution.

    Attributes
    ----------
    joint : JointDistribution
        The distribution that the mechanism was built for.
    notion : Notion
        The notion with its budget.
    report : PrivacyReport
        Leakage and utility of the sampled channel.
    status : str
        How the mechanism was built, in a word or two.
    over : ConfidenceSet, JointList or None
        The distributions for which the budget is met; None for ``joint`` alone.
    """

    joint: JointDistribution
    notion: Notion
    report: PrivacyReport
    status: str
    over: Distributions | None = None

    @property
    @abstractmethod
    def channel(self) -> Channel | None:
        """P(Y|X) as it is sampled; None if it has too many outputs to be written out."""

    @property
    @abstractmethod
    def shown(self) -> ShownOutputs:
        """The outputs for pictures and pages."""

    @property
    def nmi(self) -> float:
        """Normalised mutual information I(X;Y) / H(X): the share of X that is kept."""
        return self.report.nmi

    @property
    def utility_kept(self) -> float:
        """Share that is kept of what was to be kept: of X, or of what is known about a target.

        .. versionadded:: 0.2
        """
        return self.report.utility_kept

    @property
    def gap_to_optimum(self) -> float:
        """Upper bound of the distance to the best mechanism within the budget; NaN if unknown."""
        return nan

    def __repr__(self) -> str:
        verdict = "met" if self.report.satisfied else "MISSED"
        of = "X" if self.report.target is None else "what is known about the target"
        return (
            f"{type(self).__name__}({self.notion} {verdict}, {self.joint.shape[1]} symbols, "
            f"{share(self.utility_kept)} of {of} kept, {self.status})"
        )


@dataclass(frozen=True, kw_only=True, repr=False)
class ChannelResult(MechanismResult):
    """A mechanism that is a channel, certified in exact arithmetic.

    .. versionadded:: 0.2

    Attributes
    ----------
    certified : CertifiedChannel
        The integer weights that are sampled, with the result of their check.
    sees_sensitive : bool
        Whether the inputs of what is sampled are pairs (s, x) rather than x.
    """

    certified: CertifiedChannel
    sees_sensitive: bool = False

    @classmethod
    def of(
        cls,
        joint: JointDistribution,
        notion: Notion,
        channel: Channel,
        *,
        over: Over = None,
        enforce: bool = True,
        sees_sensitive: bool = False,
        target: FloatArray | None = None,
        **known: Any,
    ) -> Self:
        """Certify a channel, report on it and store further attributes of the mechanism.

        Parameters
        ----------
        joint, notion, over
            What the mechanism was built for.
        channel : Channel
            P(Y|X), or P(Y|S,X) with all pairs (s, x) as inputs if ``sees_sensitive``.
        enforce : bool, default=True
            Mix in a constant channel until the notion is met. If False, only check.
        sees_sensitive : bool, default=False
            Whether the inputs of the channel are pairs.
        target : ndarray, optional
            P(T|X) or P(T|S,X) of what was to be kept, for the report.
        **known
            Further attributes of the result.
        """
        members = checked_set(over, joint)
        if isinstance(members, ConfidenceSet):
            cells = joint.shape[0] * channel.sparse.nnz
            refuse_beyond(
                MOST_EXACT_CELLS,
                cells,
                f"the worst case over the confidence set is computed from {cells:,} numbers",
                f"{POOL}, or use confidence=None",
            )
        masses = pair_masses(joint) if sees_sensitive else joint.masses
        within = members.given_both() if members is not None and sees_sensitive else members
        certified = certified_for(masses, channel, notion, over=within, enforce=enforce)
        sampled = certified.channel
        report = privacy_report(
            joint,
            notion,
            given_useful(joint, sampled) if sees_sensitive else sampled,
            satisfied=certified.satisfied,
            p_sy=released_pairs(joint, sampled) if sees_sensitive else None,
            levels_worst=None
            if within is None
            else worst_levels_over(within, certified.weights, notion),
            target=None if target is None else target_summary(joint, target, sampled),
        )
        return cls(
            joint=joint,
            notion=notion,
            certified=certified,
            report=report,
            over=members,
            sees_sensitive=sees_sensitive,
            **known,
        )

    @property
    def drawn_weights(self) -> Weights:
        """Integer weights of a draw from P_Y, for inputs that did not occur.

        .. versionadded:: 0.2
        """
        p = self.joint.matrix.ravel() if self.sees_sensitive else self.joint.p_x
        return drawn_weights(self.certified.weights, p)

    @property
    def channel(self) -> Channel:
        """P(Y|X); averaged over S if the mechanism sees S, and otherwise as it is sampled."""
        return (
            given_useful(self.joint, self.certified.channel)
            if self.sees_sensitive
            else (self.certified.channel)
        )

    @property
    def conditional(self) -> Channel | None:
        """P(Y|S,X) as it is sampled, with pairs (s, x) as inputs; None if S is not seen."""
        return self.certified.channel if self.sees_sensitive else None

    @property
    def shown(self) -> ShownOutputs:
        """The outputs for pictures and pages; P(s, y) does not follow from P(y|x) if S is seen."""
        channel, conditional = self.channel, self.conditional
        if conditional is None:
            p_sy = self.joint.released(channel.sparse)
        else:
            p_sy = released_pairs(self.joint, conditional)
        return ShownOutputs(channel.outputs, channel.matrix, p_sy)


@dataclass(frozen=True, kw_only=True, repr=False)
class PartitionResult(ChannelResult):
    """A mechanism that keeps low-risk symbols and merges or randomises groups of the others.

    Attributes
    ----------
    low_risk, high_risk : tuple of labels
        Symbols that are kept unchanged, and symbols that are randomised.
    partition : tuple of tuples of labels
        The groups within which the high-risk symbols are randomised.
    moved : tuple of labels
        Symbols that meet the notion on their own, but were moved to the high-risk side: by the
        repair, or as neighbours in a range.
    exempted : tuple of labels
        High-risk symbols that the (epsilon, delta) relaxation keeps unchanged.
    ordered : bool
        Whether the symbols have an order, and all outputs are ranges in this order.

        .. versionadded:: 0.2
    """

    low_risk: tuple[Label, ...]
    high_risk: tuple[Label, ...]
    partition: tuple[tuple[Label, ...], ...]
    moved: tuple[Label, ...] = ()
    exempted: tuple[Label, ...] = ()
    ordered: bool = False


@dataclass(frozen=True, kw_only=True, repr=False)
class OptimalResult(ChannelResult):
    """A mechanism found by optimisation, with a certified upper bound of what can be kept.

    Attributes
    ----------
    upper_bound : float
        No mechanism of the same kind has a larger ``utility_kept``.
    seconds : float
        Time that the solver took.
    n_columns, n_nodes : int
        Number of posteriors evaluated and of boxes bounded by the solver.
    """

    upper_bound: float
    seconds: float
    n_columns: int
    n_nodes: int

    @property
    def gap(self) -> float:
        """Upper bound ``upper_bound - utility_kept`` of the distance to the optimum."""
        return max(self.upper_bound - self.utility_kept, 0.0)

    @property
    def gap_to_optimum(self) -> float:
        """Upper bound of the distance to the best mechanism within the budget."""
        return self.gap
