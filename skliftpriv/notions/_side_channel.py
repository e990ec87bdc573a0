"""Side-channel resistant LIP: the budget holds whatever attributes the attacker knows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._arrays import FloatArray
from ..measures._side_channel import side_groups
from ._base import check_budget, finite_exp
from ._polyhedral import _LiftBand
from ._sides import MAX_LIFT, MIN_LIFT, Side

__all__ = ["SRLIP"]

SIDE_CHANNEL = "srlip"


@dataclass(frozen=True)
class SRLIP(_LiftBand):
    """epsilon-LIP given any values of any of the attributes that X consists of.

    (Lopuhaa-Zwakenberg, Tong and Skoric 2020, Definition 3.) The lift vector of an output is
    only the part of it that concerns an attacker who knows nothing: :meth:`levels` and
    :meth:`exactly_met` are about that part, :meth:`side_rows` about the whole.

    Parameters
    ----------
    epsilon : float
        Budget in nats.
    """

    epsilon: float
    key = "srlip"
    per_output = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", check_budget("epsilon", self.epsilon))

    @property
    def budget(self) -> dict[str, float]:
        return {MIN_LIFT: self.epsilon, MAX_LIFT: self.epsilon, SIDE_CHANNEL: self.epsilon}

    def side(self, name: str) -> Side:
        return Side("SRLIP level", name) if name == SIDE_CHANNEL else super().side(name)

    def in_words(self, sensitive: str) -> str:
        known = "whichever of the released columns they knew already"
        return f"{self._band_in_words(sensitive)}, {known}."

    @property
    def side_information(self) -> str:
        return (
            "Covered for whoever knows some of the released columns of a row. Other knowledge "
            "about a person, from outside the table, is not."
        )

    @property
    def when_resampled(self) -> str | None:
        return None

    def risk(self, lift: FloatArray, p_s: FloatArray) -> FloatArray:
        levels = self.levels(lift, p_s)
        return np.maximum(levels[MIN_LIFT], levels[MAX_LIFT])

    def side_rows(self, joint: FloatArray, attributes: np.ndarray) -> FloatArray:
        """Return A such that a posterior v meets the whole notion iff A v <= 0.

        A pair of rows for every set J of known attributes, value x^J and s that go together:
        sum over the x that agree with x^J of v_x / p_x (P(x|s,x^J) - e^{+-eps} P(x|x^J)).

        Parameters
        ----------
        joint : ndarray of shape (n_sensitive, n_symbols)
            Joint distribution of S and X.
        attributes : ndarray of shape (n_symbols, n_attributes)
            Codes of the attributes of each symbol.
        """
        p_x = joint.sum(axis=0)
        high, low = finite_exp(self.epsilon), np.exp(-self.epsilon)
        rows = []
        for groups in side_groups(attributes):
            member = groups.indicator.toarray()
            mass = member @ p_x
            # P(x | x^J) / p_x = 1 / P(x^J) and P(x | s, x^J) / p_x = P(s|x) / P(s, x^J).
            given = member / mass[:, None]
            for of_x in joint / p_x:
                mass_s = member @ (of_x * p_x)
                seen = mass_s > 0
                given_s = (member[seen] * of_x) / mass_s[seen, None]
                rows += [given_s - high * given[seen], low * given[seen] - given_s]
        # Rows are scaled so that entries compare with those of plain LIP rows.
        stacked = np.vstack(rows)
        return np.asarray(stacked / np.abs(stacked).max(axis=1, keepdims=True))

    def __str__(self) -> str:
        return f"{self.epsilon:g}-SRLIP"
