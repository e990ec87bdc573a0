"""Sets of 1-bits of unary encoding: those with extreme lifts, and means over all 2^n of them."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import quad

from .._arrays import FloatArray, exact_integers
from ..certificate import TOTAL
from ..distribution import JointDistribution
from ..measures import entropy
from ..notions import ALIP, Notion, implied_bounds
from ..report import LeakageSummary, PrivacyReport, worst_levels

__all__ = ["WorstSets", "all_sets", "unary_report"]

#: Up to this many symbols the averages in the report are taken over all 2^n outputs.
_ENUMERABLE = 16


class WorstSets:
    """The sets of 1-bits on which lifts can be extreme.

    For the lift of s these are the prefixes of the symbols sorted by P(x|s)/P(x), ascending and
    descending; for the ratio of s to t those sorted by P(x|s)/P(x|t).

    Parameters
    ----------
    masses : ndarray of shape (n_sensitive, n_useful)
        Joint distribution, up to scale; symbols without mass are left out.
    pairs : bool
        Whether ratios are looked at rather than lifts.

    Attributes
    ----------
    p_s : ndarray
        Prior of S.
    """

    def __init__(self, masses: FloatArray, *, pairs: bool) -> None:
        masses = masses[np.ix_(masses.any(axis=1), masses.any(axis=0))]
        self._masses = exact_integers(masses)
        matrix = masses / masses.sum()
        self.p_s, p_x = matrix.sum(axis=1), matrix.sum(axis=0)
        self._given_s = matrix / self.p_s[:, None]
        self._families = list(self._orders(pairs))
        orders = [order for _, order in self._families]
        self._of_s = np.hstack([self._given_s[:, order].cumsum(axis=1) for order in orders])
        self._of_x = np.hstack([p_x[order].cumsum() for order in orders])

    def _orders(self, pairs: bool) -> Iterator[tuple[list[int], NDArray[np.intp]]]:
        """Pairs of sensitive symbols and the order of the useful symbols for them."""
        n_s = self.p_s.size
        masses = self._masses
        of_s, of_x = masses.sum(axis=1), masses.sum(axis=0)
        for s in range(n_s):
            if not pairs or n_s == 1:
                order = exact_order(masses[s], of_x)
                yield [s], order
                yield [s], order[::-1]
                continue
            for t in range(n_s):
                if s != t:
                    # P(x|s) / (P(x|s) + P(x|t)), which has no infinities, from large to small.
                    own, other = masses[s] * of_s[t], masses[t] * of_s[s]
                    yield [s, t], exact_order(own, own + other)[::-1]

    def lift(self, alpha: float) -> FloatArray:
        """Lifts on all worst sets, shape (n_sensitive, n_sets)."""
        if np.isinf(alpha):
            return self._of_s / self._of_x
        return self.lift_of_factor(np.expm1(alpha))

    def lift_of_factor(self, k: float) -> FloatArray:
        """Lifts for k = e^alpha - 1."""
        return (1 + k * self._of_s) / (1 + k * self._of_x)

    def exactly_met(self, notion: Notion, weight: int) -> bool:
        """Check without rounding whether every output of the sampled protocol meets the notion."""
        masses = self._masses
        total = masses.sum()
        p_s = [Fraction(value, total) for value in masses.sum(axis=1)]
        # (1 + k P(A|s)) / (1 + k P(A)) with k = (TOTAL - 2 weight) / weight, times weight.
        factor = TOTAL - 2 * weight
        for members, order in self._families:
            of_x = masses[:, order].sum(axis=0).cumsum()
            values = []
            for s in members:
                of_s = masses[s, order].cumsum()
                whole = masses[s].sum()
                values.append(
                    [
                        Fraction(
                            (weight * whole + factor * a) * total,
                            (weight * total + factor * b) * whole,
                        )
                        for a, b in zip(of_s, of_x, strict=True)
                    ]
                )
            if not all(notion.exactly_met(column, p_s) for column in zip(*values, strict=True)):
                return False
        return True


def exact_order(numerators: np.ndarray, denominators: np.ndarray) -> NDArray[np.intp]:
    """Order quotients of integers from small to large, without rounding.

    Different quotients a/b and c/d differ by at least 1/(bd), so multiplied by a power of two above
    all bd they have different integer parts. 0/0 comes first.
    """
    scale = 1 << (2 * int(denominators.max()).bit_length())
    keys = numerators * scale // np.where(denominators == 0, 1, denominators)
    return np.argsort(keys, kind="stable")


def unary_report(
    joint: JointDistribution, notion: Notion, sets: WorstSets, weight: int
) -> tuple[PrivacyReport, float]:
    """Report on unary encoding with this noise weight, with the error of its integrals."""
    lifts = _worst_lifts(joint, sets, weight)
    if weight == 0:
        after, error = _noiseless_summary(joint), 0.0
    else:
        after, error = _summary(joint, (TOTAL - 2 * weight) / weight, lifts)
    report = PrivacyReport(
        notion=notion,
        satisfied=True,
        before=LeakageSummary.of(joint),
        after=after,
        levels_before=worst_levels(notion, joint.lift, joint.p_s),
        levels_after=worst_levels(notion, lifts, joint.p_s),
    )
    return report, error


def unary_levels(
    joint: JointDistribution, notion: Notion, sets: WorstSets, weight: int
) -> dict[str, float]:
    """Return the levels of unary encoding with this noise weight, by side."""
    return worst_levels(notion, _worst_lifts(joint, sets, weight), joint.p_s)


def _worst_lifts(joint: JointDistribution, sets: WorstSets, weight: int) -> FloatArray:
    if weight == 0:
        return joint.lift
    return sets.lift_of_factor((TOTAL - 2 * weight) / weight)


def _noiseless_summary(joint: JointDistribution) -> LeakageSummary:
    """Without noise Y is the true symbol or the empty set, each with probability 1/2."""
    p_sy = np.hstack([joint.matrix / 2, joint.p_s[:, None] / 2])
    kept = float(entropy(joint.p_x)) / 2
    return LeakageSummary.of_release(p_sy, kept, 0.5 if kept > 0 else 1.0)


def _summary(joint: JointDistribution, k: float, lifts: FloatArray) -> tuple[LeakageSummary, float]:
    total = float(entropy(joint.p_x))
    mean, error = mean_log_mass(joint.p_x, joint.p_x, k)
    # I(X;Y) = alpha/2 - E log(1 + k P_X(Y))
    kept = min(max(float(np.log1p(k) / 2 - mean), 0.0), total)
    nmi = kept / total if total > 0 else 1.0
    n = joint.shape[1]
    if n <= _ENUMERABLE:
        return LeakageSummary.of_release(_all_outputs(joint, k), kept, nmi), error
    low, high = float(np.log(lifts).min()), float(np.log(lifts).max())
    bounds = implied_bounds(ALIP(max(-low, 1e-15), max(high, 1e-15)))
    leak, leak_error = _leakage(joint, k)
    return (
        LeakageSummary(
            max_log_lift=high,
            min_log_lift=low,
            ldp=_ldp_level(joint, k),
            leakage_mutual_information=leak,
            maximal_leakage=bounds.maximal_leakage,
            min_entropy_leakage=bounds.min_entropy_leakage,
            total_variation=bounds.total_variation,
            chi2_divergence=bounds.chi2_divergence,
            mutual_information=kept,
            nmi=nmi,
        ),
        max(error, leak_error),
    )


def _ldp_level(joint: JointDistribution, k: float) -> float:
    lifts = WorstSets(joint.masses, pairs=True).lift_of_factor(k)
    return float(np.log(lifts.max(axis=0) / lifts.min(axis=0)).max())


def _leakage(joint: JointDistribution, k: float) -> tuple[float, float]:
    """I(S;Y) = sum_s P(s) (E[log(1 + k P(Y|s)) | s] - E[log(1 + k P_X(Y)) | s])."""
    value, error = 0.0, 0.0
    for p, given in zip(joint.p_s, joint.matrix / joint.p_s[:, None], strict=True):
        own, own_error = mean_log_mass(given, given, k)
        other, other_error = mean_log_mass(given, joint.p_x, k)
        value += p * (own - other)
        error += p * (own_error + other_error)
    return max(float(value), 0.0), float(error)


def mean_log_mass(p_true: FloatArray, p_set: FloatArray, k: float) -> tuple[float, float]:
    r"""Return E[log(1 + k T)] for T = sum of p_set over the 1-bits, with an error estimate.

    The bits are independent given the true symbol, so the Laplace transform of T is a product,
    and log(1 + kT) = \int_0^\infty e^{-u} (1 - e^{-ukT}) / u du turns the mean over 2^n sets into
    one integral, here over z = log u.
    """
    noise = 1 / (k + 2)

    def integrand(z: float) -> float:
        u = np.exp(z)
        decay = np.expm1(-u * k * p_set)
        logs = np.log1p(noise * decay)
        tilt = p_true @ ((1 + decay / 2) / (1 + noise * decay))
        return float(np.exp(-u) * -np.expm1(logs.sum() + np.log(tilt)))

    # Left of this the integrand is below 1e-17 of its value at 1; right of 4 it is e^-54.
    start = -40.0 - np.log1p(k)
    middle = -np.log1p(k)
    parts = [
        quad(integrand, a, b, epsabs=1e-13, epsrel=1e-12, limit=500)
        for a, b in ((start, middle), (middle, 0.0), (0.0, 4.0))
        if b > a
    ]
    return sum(p[0] for p in parts), sum(p[1] for p in parts)


def all_sets(n: int) -> NDArray[np.bool_]:
    """All 2^n subsets of n symbols as rows of bits."""
    return (np.arange(2**n)[:, None] >> np.arange(n) & 1).astype(bool)


def _all_outputs(joint: JointDistribution, k: float) -> FloatArray:
    """P_SY over all 2^n outputs."""
    n = joint.shape[1]
    noise = 1 / (k + 2)
    bits = all_sets(n)
    size = bits.sum(axis=1)
    base = 0.5 * noise**size * (1 - noise) ** (n - 1 - size)
    given_s = joint.matrix / joint.p_s[:, None]
    return joint.p_s[:, None] * (1 + k * (given_s @ bits.T)) * base
