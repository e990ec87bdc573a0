"""What a budget in one notion implies in the others, with the bounds that really hold.

Several bounds printed by Zarrabian, Ding and Sadeghi (2023, Propositions 1, 3 and 5) are false
because they take |lift - 1| <= max-lift - 1; docs/errata.md has counterexamples. The functions
here give the corrected ones. Those of the l1-lift, the chi2-lift and the averages built on them
are attained; those of the lift-inverses are approached, not attained.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import ArrayLike

from .._arrays import as_nonnegative
from ..exceptions import UnsupportedNotionError
from ._averaged import AlphaLift, Chi2Lift, L1Lift
from ._base import Notion, finite_exp
from ._polyhedral import ALIP, LDP, LIP, MAX_LIFT, MIN_LIFT

__all__ = ["ImpliedBounds", "implied_bounds", "implied_lift_bounds", "lift_band"]


@dataclass(frozen=True)
class ImpliedBounds:
    """Upper bounds that follow from exp(-lower) <= lift <= exp(upper) for every output."""

    ldp: float
    mutual_information: float
    total_variation: float
    chi2_divergence: float
    sibson_mutual_information: float
    arimoto_mutual_information: float
    maximal_leakage: float
    min_entropy_leakage: float
    l1_lift: float
    chi2_lift: float
    alpha_lift: float
    l1_lift_inverse: float
    chi2_lift_inverse: float
    alpha_lift_inverse: float

    def to_dict(self) -> dict[str, float]:
        """Return the bounds by name."""
        return asdict(self)


def lift_band(notion: Notion) -> ALIP:
    """Return the ALIP budget that a notion on the lift implies.

    epsilon-LIP is (epsilon, epsilon)-ALIP, and epsilon-LDP implies it
    (Lopuhaa-Zwakenberg, Tong and Skoric 2020, Lemma 1).
    """
    if isinstance(notion, LDP):
        return ALIP(notion.epsilon, notion.epsilon)
    if isinstance(notion, LIP | ALIP):
        return ALIP(notion.budget[MIN_LIFT], notion.budget[MAX_LIFT])
    raise UnsupportedNotionError(
        f"{notion} bounds averages of the lift; use implied_lift_bounds with the prior of S."
    )


def implied_bounds(notion: Notion) -> ImpliedBounds:
    """Bound every other leakage measure by a LIP, ALIP or LDP budget.

    Parameters
    ----------
    notion : LIP, ALIP or LDP
        The budget that holds.

    Returns
    -------
    ImpliedBounds
        Sibson and Arimoto bounds hold for every order in [1, inf]: both measures are at most
        maximal leakage, which tightens the factor alpha / (alpha - 1) of the papers to 1.

    Examples
    --------
    >>> from skliftpriv.notions import LIP, implied_bounds
    >>> bounds = implied_bounds(LIP(0.5))
    >>> bounds.ldp
    1.0
    >>> round(bounds.total_variation, 4)
    0.2449
    """
    band = lift_band(notion)
    largest, smallest = finite_exp(band.upper), 1 / finite_exp(band.lower)
    # Attained by a two-valued lift: mass (1 - Psi)/(Lambda - Psi) at Lambda, the rest at Psi.
    l1 = 2 * (largest - 1) * (1 - smallest) / (largest - smallest)
    chi2 = (largest - 1) * (1 - smallest)
    inverse = max(1 / smallest - 1, 1 - 1 / largest)
    ldp = notion.epsilon if isinstance(notion, LDP) else band.lower + band.upper
    return ImpliedBounds(
        ldp=ldp,
        mutual_information=band.upper,
        total_variation=float(l1 / 2),
        chi2_divergence=float(chi2),
        sibson_mutual_information=band.upper,
        arimoto_mutual_information=band.upper,
        maximal_leakage=band.upper,
        min_entropy_leakage=band.upper,
        l1_lift=float(l1),
        chi2_lift=float(chi2),
        alpha_lift=float(largest),
        l1_lift_inverse=float(inverse),
        chi2_lift_inverse=float(inverse**2),
        alpha_lift_inverse=float(1 / smallest),
    )


def implied_lift_bounds(notion: Notion, p_s: ArrayLike) -> tuple[float, float]:
    """Smallest and largest lift that an averaged notion still allows, given the prior of S.

    (Zarrabian, Ding and Sadeghi 2023, Propositions 4 and 6.) The rarest sensitive symbol is
    the least protected: an average over S hardly sees it.

    Parameters
    ----------
    notion : Notion
        The budget that holds.
    p_s : array-like of shape (n_sensitive,)
        Prior of S.

    Returns
    -------
    (min_lift, max_lift) : tuple of float
    """
    prior = as_nonnegative(p_s, "p_s", ndim=1)
    rarest = prior[prior > 0].min()
    if isinstance(notion, L1Lift):
        lower, upper = np.expm1(notion.lower), np.expm1(notion.upper)
        return float(rarest / (lower + rarest)), float(upper / rarest + 1)
    if isinstance(notion, Chi2Lift):
        lower, upper = np.expm1(notion.lower), np.expm1(notion.upper)
        root = np.sqrt(rarest)
        return float(root / (lower + root)), float(upper / root + 1)
    if isinstance(notion, AlphaLift):
        root = rarest ** (1 / notion.alpha)
        return float(np.exp(-notion.lower) * root), float(np.exp(notion.upper) / root)
    band = lift_band(notion)
    return float(np.exp(-band.lower)), float(np.exp(band.upper))
