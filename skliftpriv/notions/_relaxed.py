"""The (epsilon, delta) relaxation: a lift band that may be left with a small probability."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from .._arrays import FloatArray
from ..exceptions import InvalidParameterError, UnsupportedNotionError
from ._base import Notion
from ._polyhedral import ALIP, LIP

__all__ = ["RelaxedLift"]


@dataclass(frozen=True)
class RelaxedLift(Notion):
    """Leave the lift band of a LIP or ALIP notion with probability at most delta.

    (Sadeghi, Ding and Rakotoarivelo 2020, Definition 1, there for LIP.) Unlike the other
    notions this one is a promise about all outputs together. A pair (s, y) that never occurs
    does not count, although its lift of 0 is outside the band; merging or mixing outputs may
    make it occur, so that post-processing can raise the probability.

    Parameters
    ----------
    notion : LIP or ALIP
        The band.
    delta : float
        Largest probability P(s, y) of pairs outside the band, in (0, 1).
    ceiling : LIP, ALIP or None, default=None
        A wider band that is never left; None for no limit.
    """

    notion: LIP | ALIP
    delta: float
    ceiling: LIP | ALIP | None = None
    key = "relaxed"
    mixing_helps = False
    per_output = False

    def __post_init__(self) -> None:
        if not isinstance(self.notion, LIP | ALIP):
            raise UnsupportedNotionError(
                f"The (epsilon, delta) relaxation is for LIP and ALIP, not for {self.notion}."
            )
        if not 0 < self.delta < 1:
            raise InvalidParameterError(f"delta must lie in (0, 1), not {self.delta!r}.")
        if self.ceiling is not None:
            for side, bound in self.notion.budget.items():
                if self.ceiling.budget[side] < bound:
                    raise InvalidParameterError(
                        f"epsilon_max ({self.ceiling}) must not be below epsilon ({self.notion})."
                    )

    @property
    def budget(self) -> dict[str, float]:
        if self.ceiling is not None:
            return self.ceiling.budget
        return dict.fromkeys(self.notion.budget, float("inf"))

    @property
    def band(self) -> tuple[float, float] | None:
        return self.notion.band

    @property
    def band_name(self) -> str:
        return str(self.notion)

    def in_words(self, sensitive: str) -> str:
        return f"{self._band_in_words(sensitive)}, but for a probability of {self.delta:g}."

    @property
    def when_resampled(self) -> str | None:
        return None if self.ceiling is None else self.ceiling.when_resampled

    def levels(self, lift: FloatArray, p_s: FloatArray) -> dict[str, FloatArray]:
        return self.notion.levels(lift, p_s)

    def risk(self, lift: FloatArray, p_s: FloatArray) -> FloatArray:
        return self.notion.risk(lift, p_s)

    def exactly_met(self, lift: Sequence[Fraction], p_s: Sequence[Fraction]) -> bool:
        return self.ceiling is None or self.ceiling.exactly_met(lift, p_s)

    def all_exactly_met(
        self, lifts: np.ndarray, p_s: Sequence[Fraction], p_y: Sequence[Fraction]
    ) -> np.ndarray:
        below_ceiling = super().all_exactly_met(lifts, p_s, p_y)
        breaches = np.array([self._breach(column, p_s) for column in lifts.T], dtype=object)
        total = (breaches * np.asarray(p_y, dtype=object)).sum()
        return below_ceiling & ((breaches == 0) | (total <= Fraction(self.delta)))

    def _breach(self, lift: Sequence[Fraction], p_s: Sequence[Fraction]) -> Fraction:
        """P(log-lift outside the band | Y = y), without rounding."""
        pairs = zip(p_s, lift, strict=True)
        return sum(
            (p * value for p, value in pairs if not self.notion.exactly_met([value], p_s)),
            Fraction(0),
        )

    def __str__(self) -> str:
        limit = "" if self.ceiling is None else f", never beyond {self.ceiling}"
        return f"{self.notion} but for probability {self.delta:g}{limit}"
