"""What notions say about themselves, and what a new one says by default."""

from dataclasses import dataclass
from math import inf

import numpy as np
import pytest

from skliftpriv import ALIP, LDP, LIP, AlphaLift, L1Lift
from skliftpriv.exceptions import InvalidParameterError, UnsupportedNotionError
from skliftpriv.notions import NOTIONS, SRLIP, Notion, Side, make_notion
from skliftpriv.notions._relaxed import RelaxedLift


@dataclass(frozen=True)
class Spread(Notion):
    """A notion with a side that no report measures."""

    epsilon: float
    key = "spread"

    @property
    def budget(self):
        return {"lift_spread": self.epsilon}

    def levels(self, lift, p_s):
        return {"lift_spread": np.ptp(lift, axis=-2)}

    def risk(self, lift, p_s):
        return np.ptp(lift, axis=-2)

    def exactly_met(self, lift, p_s):
        return max(lift) - min(lift) <= self.epsilon

    def __str__(self):
        return f"{self.epsilon:g}-spread"


RELAXED = RelaxedLift(LIP(0.5), 0.1, ALIP(1.0, 2.0))


@pytest.mark.parametrize(
    ("notion", "band", "name"),
    [
        (LIP(0.5), (-0.5, 0.5), "0.5-LIP"),
        (ALIP(0.6, 0.4), (-0.6, 0.4), "(0.6, 0.4)-ALIP"),
        (SRLIP(0.5), (-0.5, 0.5), "0.5-SRLIP"),
        (RELAXED, (-0.5, 0.5), "0.5-LIP"),
        (LDP(0.5), None, "0.5-LDP"),
        (L1Lift(0.5, 0.5), None, "(0.5, 0.5)-l1-lift privacy"),
        (Spread(0.5), None, "0.5-spread"),
    ],
    ids=str,
)
def test_band_of_single_lifts(notion, band, name):
    assert notion.band == band
    assert notion.band_name == name


@pytest.mark.parametrize(
    ("notion", "sentence"),
    [
        (ALIP(1.0, 0.5), "at most 1.65 times and at least 0.37 times as probable as before."),
        (SRLIP(0.5), "whichever of the released columns they knew already."),
        (RELAXED, "but for a probability of 0.1."),
        (LDP(0.5), "at most 1.65 times as probable for one value of job as for another."),
        (AlphaLift(0.5, 0.5), "an average, over the values of job"),
        (Spread(0.5), "About job, every released value has a lift-spread level of at most 0.5000"),
    ],
    ids=str,
)
def test_budget_in_words(notion, sentence):
    assert sentence in notion.in_words("job")


def test_sides_are_measures_of_a_report_or_have_a_row_of_their_own():
    assert LIP(1.0).side("min_lift").sign == -1
    assert LDP(1.0).side("ldp").measure == "ldp"
    assert L1Lift(1.0, 1.0).side("l1_lift_inverse") == Side("l1-lift-inverse level", "inverse")
    assert SRLIP(1.0).side("srlip").title == "SRLIP level"
    assert Spread(1.0).side("lift_spread") == Side("lift-spread level", "lift_spread")


@pytest.mark.parametrize(
    ("notion", "what"),
    [
        (LIP(0.5), "may reach 1.0000 either way"),
        (RELAXED, "may reach 3.0000 either way"),
        (LDP(0.5), "still holds"),
        (LIP(0.0), None),
        (LDP(0.0), None),
        (SRLIP(0.5), None),
        (RelaxedLift(LIP(0.5), 0.1), None),
        (L1Lift(0.5, 0.5), None),
        (Spread(0.5), None),
    ],
    ids=str,
)
def test_what_holds_when_values_are_resampled(notion, what):
    said = notion.when_resampled
    assert said is None if what is None else what in said


@pytest.mark.parametrize("name", NOTIONS)
def test_notions_have_the_name_they_are_made_by(name):
    assert make_notion(name, 1.0).key == name


def test_a_class_of_notions_is_called_with_the_budget():
    assert make_notion(Spread, 0.5) == Spread(0.5)
    assert make_notion(ALIP, (0.5, 0.25)) == ALIP(0.5, 0.25)
    with pytest.raises(UnsupportedNotionError, match="use one of 'lip'"):
        make_notion("l1", 0.5, supported=["lip"])
    with pytest.raises(InvalidParameterError, match="finite"):
        make_notion("alip", (0.5, inf))
