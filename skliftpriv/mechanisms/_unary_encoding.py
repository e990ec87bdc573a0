"""Optimised unary encoding: one noisy bit per symbol."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array

from .._arrays import Label
from .._limits import MERGE, MOST_BITS, MOST_EXACT_CELLS, POOL, refuse_beyond
from ..certificate import TOTAL, Weights, certify_over
from ..channel import Channel
from ..confidence import (
    Cases,
    ConfidenceSet,
    JointList,
    Over,
    checked_set,
    worst_of,
)
from ..distribution import JointDistribution
from ..exceptions import UnsupportedNotionError
from ..labels import set_labels
from ..notions import ALIP, LDP, LIP, Notion
from ._result import MechanismResult, ShownOutputs
from ._tuned_protocol import largest_alpha, status_of
from ._unary_sets import WorstSets, all_sets, unary_report
from ._unary_worst import WorstFractions

__all__ = [
    "UnaryResult",
    "bit_weights",
    "needs_no_noise",
    "optimized_unary_encoding",
    "refuse_many_programs",
    "refuse_many_sets",
    "unary_channel",
]

#: Up to this many symbols the channel is written out.
_WRITABLE = 12


@dataclass(frozen=True, kw_only=True, repr=False)
class UnaryResult(MechanismResult):
    """Optimised unary encoding fitted to a joint distribution.

    Attributes
    ----------
    alpha : float
        The largest parameter within the budget; infinite if no noise is needed.
    noise_weight : int
        The bit of the true symbol is 1 with probability 1/2, every other bit with probability
        noise_weight / 2^62.
    report : PrivacyReport
        I(X;Y) and I(S;Y) are integrals with an error of about ``information_error``. Beyond 16
        symbols maximal leakage, min-entropy leakage, total variation and chi2-divergence are
        upper bounds that follow from the lifts.
    information_error : float
        Error estimate of the integrals, in nats.
    """

    alpha: float
    noise_weight: int
    information_error: float

    @property
    def bit_weights(self) -> Weights:
        """Integer weights of a bit: row 0 for the other symbols, row 1 for the true one."""
        return bit_weights(self.noise_weight)

    @cached_property
    def channel(self) -> Channel | None:
        """All 2^n outputs written out, for at most 12 symbols; None for more."""
        return unary_channel(self.joint.useful_labels, self.noise_weight)

    @property
    def shown(self) -> ShownOutputs:
        """The single bits, because 2^n outputs are too many for a picture."""
        n = self.joint.shape[1]
        matrix = np.where(np.eye(n, dtype=bool), 0.5, self.noise_weight / TOTAL)
        labels = self.joint.useful_labels
        return ShownOutputs(labels, matrix, self.joint.released(matrix), bits=True)


def bit_weights(noise_weight: int) -> Weights:
    """Integer weights of a bit: row 0 for the other symbols, row 1 for the true one.

    Parameters
    ----------
    noise_weight : int
        The bit of another symbol is 1 with probability noise_weight / 2^62.
    """
    half = TOTAL // 2
    rows = [[TOTAL - noise_weight, noise_weight], [half, half]]
    return csr_array(np.array(rows, dtype=np.int64))


def unary_channel(symbols: Sequence[Label], noise_weight: int) -> Channel | None:
    """Write out all 2^n outputs of unary encoding of n symbols; None beyond 12 symbols."""
    n = len(symbols)
    if n > _WRITABLE:
        return None
    bits = all_sets(n)
    noise = noise_weight / TOTAL
    bit = np.where(bits[None, :, :], noise, 1 - noise)
    matrix = np.repeat(bit, n, axis=0)
    matrix[np.arange(n), :, np.arange(n)] = 0.5
    return Channel(matrix.prod(axis=2), symbols, set_labels(symbols, bits))


def optimized_unary_encoding(
    joint: JointDistribution, notion: Notion, *, over: Over = None
) -> UnaryResult:
    r"""Output a noisy bit per symbol: 1 with probability 1/2 for the true symbol, else rarely.

    .. math:: P(E_{x'} = 1 | x) = 1/2\ (x' = x), \qquad 1 / (e^\alpha + 1)\ (x' \ne x)

    with the largest alpha for which the set of 1-bits meets the budget with respect to S
    (Wang et al. 2017; Lopuhaa-Zwakenberg, Tong and Skoric 2020, eq. 30-32). The lift of an
    output is (1 + k P(A|s)) / (1 + k P(A)) for its set A of 1-bits; it is most extreme on a
    prefix of the symbols sorted by P(x|s) / P(x), so no search over 2^n sets is needed.

    Parameters
    ----------
    joint : JointDistribution
        Distribution of the sensitive and the useful variable.
    notion : LIP, ALIP or LDP
        The budget.
    over : ConfidenceSet or list of JointDistribution, optional
        Meet the budget for every distribution in this set; by default for ``joint`` alone. Those of
        a list are covered besides ``joint``. Over a confidence set the worst lift of all 2^n sets
        is bounded by a linear program, so that there may be a little more noise than needed.

        .. versionadded:: 0.2

    Returns
    -------
    UnaryResult

    Examples
    --------
    >>> from skliftpriv import LIP, datasets, mechanisms
    >>> joint = datasets.make_joint(5, 17, random_state=0)
    >>> result = mechanisms.optimized_unary_encoding(joint, LIP(0.5))
    >>> result.report.satisfied
    True
    """
    if type(notion) not in (LIP, ALIP, LDP):
        # The sets of bits on which other notions are worst are not known.
        raise UnsupportedNotionError(
            f"Optimised unary encoding works with LIP, ALIP and LDP, not with {notion}."
        )
    pairs = isinstance(notion, LDP)
    refuse_many_sets(*joint.shape, pairs=pairs)
    members = checked_set(over, joint) or JointList.of(joint)
    if isinstance(members, JointList):
        alpha, weight, worst = _for_joints(members, notion, pairs=pairs)
    else:
        alpha, weight, worst = _for_set(members, notion)
    report, error = unary_report(joint, notion, WorstSets(joint.masses, pairs=pairs), weight)
    return UnaryResult(
        joint=joint,
        notion=notion,
        alpha=alpha,
        noise_weight=weight,
        report=report if over is None else replace(report, levels_worst=worst),
        information_error=error,
        status=status_of(alpha),
        over=None if over is None else members,
    )


def _for_joints(
    joints: JointList, notion: Notion, *, pairs: bool
) -> tuple[float, int, dict[str, float]]:
    """Return alpha and the noise weight for several distributions, and the worst levels."""
    each = [WorstSets(masses, pairs=pairs) for masses in joints.masses]

    def cases(alpha: float) -> Cases:
        return [(sets.lift(alpha), sets.p_s) for sets in each]

    alpha = largest_alpha(cases, notion)
    # Rounded up, toward more noise.
    weight = 0 if np.isinf(alpha) else int(np.ceil(TOTAL / (np.exp(alpha) + 1)))
    step = max(weight >> 40, 1)
    while not all(sets.exactly_met(notion, weight) for sets in each):
        # At one half all bits have the same distribution and every lift is 1.
        weight, step = min(weight + step, TOTAL // 2), 2 * step
    return alpha, weight, worst_of(notion, cases(_alpha_of(weight)))


def _for_set(over: ConfidenceSet, notion: Notion) -> tuple[float, int, dict[str, float]]:
    """Return alpha and the noise weight for a confidence set, and the worst levels."""
    refuse_many_programs(over, notion)
    worst = WorstFractions(over, notion)
    weight = 0 if needs_no_noise(over, notion) else worst.chosen_weight()
    return _alpha_of(weight), weight, worst.worst_levels(weight)


def needs_no_noise(over: ConfidenceSet, notion: Notion) -> bool:
    """Tell whether unary encoding without noise meets a notion for a whole confidence set.

    Without noise the 1-bit is that of the true symbol, or there is none: the lifts are those of the
    symbols themselves.
    """
    n_x = over.shape[1]
    as_it_is = csr_array(TOTAL * np.eye(n_x, dtype=np.int64))
    return bool(certify_over(over, as_it_is, notion).all())


def _alpha_of(weight: int) -> float:
    return np.inf if weight == 0 else float(np.log(TOTAL / weight - 1))


def refuse_many_programs(over: ConfidenceSet, notion: Notion) -> None:
    """Raise an error if the worst case over a confidence set takes too large linear programs."""
    n_s, n_x = over.shape
    cells = n_s * (n_s if isinstance(notion, LDP) else 2) * n_s * n_x
    refuse_beyond(
        MOST_EXACT_CELLS // 4,
        cells,
        f"the worst case over the confidence set is bounded by programs with {cells:,} numbers",
        f"{POOL}, or use confidence=None",
    )


def refuse_many_sets(n_s: int, n_x: int, *, pairs: bool) -> None:
    """Raise an error if there are too many symbols to release, or too many sets to certify."""
    refuse_beyond(
        MOST_BITS,
        n_x,
        f"unary encoding releases a bit for each of {n_x:,} values of X in every row",
        f"{MERGE}, or {POOL}",
    )
    lifts = n_s * n_x * n_s * ((n_s - 1) if pairs else 2)
    refuse_beyond(
        MOST_EXACT_CELLS,
        lifts,
        f"certifying unary encoding of {n_x:,} values of X takes {lifts:,} lifts of {n_s:,} "
        "sensitive values",
        f"pool rare sensitive values, use notion='lip' instead of 'ldp', or {POOL}",
    )
