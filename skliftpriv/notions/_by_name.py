"""Notions by name, as the parameters of the sanitisers describe them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf
from numbers import Real
from typing import TypeAlias

from ..exceptions import InvalidParameterError, UnsupportedNotionError
from ._averaged import AlphaLift, Chi2Lift, L1Lift
from ._base import Notion
from ._polyhedral import ALIP, LDP, LIP
from ._side_channel import SRLIP

__all__ = ["NOTIONS", "NotionLike", "POLYHEDRAL_NOTIONS", "budget_pair", "make_notion"]

#: Names of the notions.
NOTIONS = ("lip", "alip", "ldp", "l1", "chi2", "alpha")
#: Those that are linear inequalities on one output.
POLYHEDRAL_NOTIONS = ("lip", "alip", "ldp")

#: A name of a notion, or a class of notions.
NotionLike: TypeAlias = str | Callable[..., Notion]


def make_notion(
    name: NotionLike,
    epsilon: float | Sequence[float],
    *,
    lam: float = 0.5,
    alpha: float = 2.0,
    supported: Sequence[str] = NOTIONS,
) -> Notion:
    """Return the notion that the parameters of a sanitiser describe.

    .. versionadded:: 0.2

    Parameters
    ----------
    name : str or callable
        One of ``NOTIONS``; or a class of notions, or another callable, which is called with
        epsilon, or with both numbers of a pair.
    epsilon : float or pair
        The budget; a pair is (lower, upper).
    lam : float, default=0.5
        Share of a float epsilon that goes to the lower side.
    alpha : float, default=2.0
        Order, for ``name="alpha"``.
    supported : sequence of str
        Names of the notions that the mechanism can enforce.

    Returns
    -------
    Notion

    Examples
    --------
    >>> from skliftpriv.notions import make_notion
    >>> print(make_notion("alip", 1.0, lam=0.75))
    (0.75, 0.25)-ALIP
    """
    if callable(name):
        return _called(name, epsilon)
    if name not in supported:
        raise UnsupportedNotionError(
            f"notion={name!r} is not supported by this mechanism; use one of "
            f"{', '.join(map(repr, supported))}."
        )
    if name in ("lip", "ldp"):
        if isinstance(epsilon, Sequence):
            raise InvalidParameterError(
                f"epsilon={epsilon!r} is a pair, but notion={name!r} takes one number; "
                'for different lower and upper budgets use notion="alip".'
            )
        return LIP(epsilon) if name == "lip" else LDP(epsilon)
    if name == "srlip":
        return SRLIP(float(epsilon))  # type: ignore[arg-type]  # the domain has no pairs
    lower, upper = budget_pair(epsilon, lam)
    if name == "alpha":
        return AlphaLift(lower, upper, float(alpha))
    kinds: dict[str, Callable[[float, float], Notion]] = {
        "alip": ALIP,
        "l1": L1Lift,
        "chi2": Chi2Lift,
    }
    return kinds[name](lower, upper)


def _called(kind: Callable[..., Notion], epsilon: float | Sequence[float]) -> Notion:
    budgets = epsilon if isinstance(epsilon, Sequence) else [epsilon]
    try:
        notion = kind(*budgets)
    except TypeError as error:
        raise InvalidParameterError(
            f"notion={kind!r} does not take epsilon={epsilon!r}: {error}."
        ) from error
    if not isinstance(notion, Notion):
        raise InvalidParameterError(
            f"notion={kind!r} returns {notion!r}, which is not a Notion: pass a class of notions."
        )
    if not notion.per_output:
        raise UnsupportedNotionError(
            f"{notion} is more than a promise about each output: this mechanism cannot enforce it."
        )
    return notion


def budget_pair(
    epsilon: float | Sequence[float], lam: float, name: str = "epsilon"
) -> tuple[float, float]:
    """Return (lower, upper): a pair as it is, a number split into lam and 1 - lam."""
    if not isinstance(epsilon, Sequence):
        return lam * float(epsilon), (1 - lam) * float(epsilon)
    if len(epsilon) != 2:
        raise InvalidParameterError(
            f"{name} must be a number or a pair (lower, upper), not {epsilon!r}."
        )
    if not all(isinstance(budget, Real) and 0 <= budget < inf for budget in epsilon):
        raise InvalidParameterError(
            f"{name}={epsilon!r}: both budgets of a pair must be finite numbers >= 0."
        )
    lower, upper = epsilon
    return lower, upper
