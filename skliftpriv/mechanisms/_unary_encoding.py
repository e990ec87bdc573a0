"""Optimised unary encoding: one noisy bit per symbol."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array

from .._limits import MERGE, MOST_BITS, MOST_EXACT_CELLS, POOL, refuse_beyond
from ..certificate import TOTAL, Weights
from ..channel import Channel, set_labels
from ..distribution import JointDistribution
from ..exceptions import UnsupportedNotionError
from ..notions import ALIP, LDP, LIP, Notion
from ._result import MechanismResult, ShownOutputs
from ._tuned_protocol import largest_alpha, status_of
from ._unary_sets import WorstSets, all_sets, unary_report

__all__ = ["UnaryResult", "optimized_unary_encoding"]

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
        half = TOTAL // 2
        rows = [[TOTAL - self.noise_weight, self.noise_weight], [half, half]]
        return csr_array(np.array(rows, dtype=np.int64))

    @cached_property
    def channel(self) -> Channel | None:
        """All 2^n outputs written out, for at most 12 symbols; None for more."""
        n = self.joint.shape[1]
        if n > _WRITABLE:
            return None
        bits = all_sets(n)
        noise = self.noise_weight / TOTAL
        bit = np.where(bits[None, :, :], noise, 1 - noise)
        matrix = np.repeat(bit, n, axis=0)
        matrix[np.arange(n), :, np.arange(n)] = 0.5
        symbols = self.joint.useful_labels
        return Channel(matrix.prod(axis=2), symbols, set_labels(symbols, bits))

    @property
    def shown(self) -> ShownOutputs:
        """The single bits, because 2^n outputs are too many for a picture."""
        n = self.joint.shape[1]
        matrix = np.where(np.eye(n, dtype=bool), 0.5, self.noise_weight / TOTAL)
        labels = self.joint.useful_labels
        return ShownOutputs(labels, matrix, self.joint.released(matrix), bits=True)


def optimized_unary_encoding(joint: JointDistribution, notion: Notion) -> UnaryResult:
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
    _refuse_many_sets(*joint.shape, pairs=pairs)
    sets = WorstSets(joint, pairs=pairs)
    alpha = largest_alpha(sets.lift, joint.p_s, notion)
    # Rounded up, toward more noise.
    weight = 0 if np.isinf(alpha) else int(np.ceil(TOTAL / (np.exp(alpha) + 1)))
    step = max(weight >> 40, 1)
    while not sets.exactly_met(notion, weight):
        # At one half all bits have the same distribution and every lift is 1.
        weight, step = min(weight + step, TOTAL // 2), 2 * step
    report, error = unary_report(joint, notion, sets, weight)
    return UnaryResult(
        joint=joint,
        notion=notion,
        alpha=alpha,
        noise_weight=weight,
        report=report,
        information_error=error,
        status=status_of(alpha),
    )


def _refuse_many_sets(n_s: int, n_x: int, *, pairs: bool) -> None:
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
