"""Classes of notions in place of a name."""

from dataclasses import dataclass

import numpy as np
import pytest

from skliftpriv import ALIP, LDP, LIP, OUESanitizer, SubsetMergingSanitizer, WatchdogSanitizer
from skliftpriv.datasets import load_adult
from skliftpriv.exceptions import InvalidParameterError, UnsupportedNotionError
from skliftpriv.notions import SRLIP, Notion

ADULT = load_adult()[["sex", "race"]]


@dataclass(frozen=True)
class Ratio(Notion):
    """LDP under another name."""

    epsilon: float
    key = "ratio"
    polyhedral = True

    @property
    def budget(self):
        return {"ratio": self.epsilon}

    def levels(self, lift, p_s):
        return {"ratio": LDP(self.epsilon).levels(lift, p_s)["ldp"]}

    def risk(self, lift, p_s):
        return LDP(self.epsilon).risk(lift, p_s)

    def exactly_met(self, lift, p_s):
        return LDP(self.epsilon).exactly_met(lift, p_s)

    def rows(self, lift):
        return LDP(self.epsilon).rows(lift)

    def __str__(self):
        return f"{self.epsilon:g}-ratio"


def test_a_class_is_as_good_as_a_name():
    for name, kind, epsilon in (("lip", LIP, 0.2), ("ldp", LDP, 0.2), ("alip", ALIP, (0.1, 0.2))):
        by_name = SubsetMergingSanitizer("sex", "race", notion=name, epsilon=epsilon).fit(ADULT)
        by_class = SubsetMergingSanitizer("sex", "race", notion=kind, epsilon=epsilon).fit(ADULT)
        assert by_class.notion_ == by_name.notion_
        np.testing.assert_array_equal(by_class.channel_.matrix, by_name.channel_.matrix)


def test_unary_encoding_refuses_notions_whose_worst_sets_are_not_known():
    with pytest.raises(UnsupportedNotionError, match="LIP, ALIP and LDP, not with"):
        OUESanitizer("sex", "race", notion=Ratio, epsilon=0.5).fit(ADULT)


def test_the_ceiling_of_the_relaxation_is_that_of_the_notion():
    options = {"epsilon": (0.05, 0.05), "delta": 0.3, "epsilon_max": 0.9}
    by_name, by_class = (
        WatchdogSanitizer("sex", "race", notion=notion, **options).fit(ADULT).notion_
        for notion in ("alip", ALIP)
    )
    assert by_name == by_class


@pytest.mark.parametrize(
    ("notion", "epsilon", "message"),
    [
        (ALIP, 0.3, "does not take epsilon=0.3"),
        (LIP, (0.1, 0.2), r"does not take epsilon=\(0.1, 0.2\)"),
        (lambda epsilon: 5, 0.3, "which is not a Notion"),
        (lambda epsilon: LIP, 0.3, "which is not a Notion"),
        (SRLIP, 0.3, "more than a promise about each output"),
    ],
)
def test_what_is_not_a_notion_is_refused(notion, epsilon, message):
    with pytest.raises((InvalidParameterError, UnsupportedNotionError), match=message):
        SubsetMergingSanitizer("sex", "race", notion=notion, epsilon=epsilon).fit(ADULT)
