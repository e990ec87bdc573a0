"""What a report says, in numbers, words and HTML."""

import re
from dataclasses import replace

import numpy as np
import pytest

from skliftpriv import ALIP, LDP, LIP, AlphaLift, Chi2Lift, JointDistribution, L1Lift
from skliftpriv._format import number
from skliftpriv.mechanisms import watchdog

# S = 1 never goes with X = 2, so that X itself has a log-lift of minus infinity.
JOINT = JointDistribution.from_counts([[50, 10, 12], [40, 15, 0], [30, 20, 9]])


def report_of(notion, joint=JOINT):
    return watchdog(joint, notion).report


def text_of(html):
    return " ".join(re.sub("<[^>]*>", " ", html).split())


def test_text_says_the_verdict_first_and_what_was_kept_last():
    report = report_of(LIP(0.4))
    first, header, *rows, last = repr(report).splitlines()
    assert first == "0.4-LIP met (PrivacyReport)"
    assert header.split() == ["before", "after", "budget"]
    assert len(rows) == len(report.rows())
    found = re.search(
        r"Y makes a value of S (\S+) to (\S+) times as probable \(X itself: 0 to", last
    )
    low, high = (float(text) for text in found.groups())
    assert low == pytest.approx(np.exp(report.min_log_lift), abs=0.005)
    assert high == pytest.approx(np.exp(report.max_log_lift), abs=0.005)
    assert last.endswith(f"; {report.nmi:.0%} of X kept")
    assert "(X itself: 0 to " in last
    missed = repr(replace(report, satisfied=False))
    assert missed.startswith("0.4-LIP MISSED")


@pytest.mark.parametrize(
    ("notion", "bold"),
    [
        (LIP(0.4), ["max log-lift", "min log-lift"]),
        (ALIP(0.3, 0.4), ["max log-lift", "min log-lift"]),
        (LDP(0.4), ["LDP level of S"]),
        (L1Lift(0.4, 0.4), ["l1-lift-inverse level", "l1-lift level"]),
        (Chi2Lift(0.4, 0.4), ["chi2-lift-inverse level", "chi2-lift level"]),
        (AlphaLift(0.4, 0.4), ["alpha-lift-inverse level", "alpha-lift level"]),
    ],
    ids=str,
)
def test_rows_with_a_budget_stand_out(notion, bold):
    shown = report_of(notion)._repr_html_()
    titles = re.findall(r'<th scope="row" style="[^"]*font-weight:bold">([^<]*)</th>', shown)
    assert titles == bold


def test_html_says_the_verdict_first_and_writes_numbers_as_in_print():
    report = report_of(LIP(0.4))
    shown = report._repr_html_()
    text = text_of(shown)
    assert text.startswith("✓ Budget met 0.4-LIP Seeing Y makes")
    assert f"{report.nmi:.0%} of X kept." in text
    assert f"min log-lift −∞ {number(report.min_log_lift).replace('-', '−')} −0.4000" in text
    assert "LDP level of S ∞" in text
    assert "inf" not in re.sub("information", "", text)
    numbers = re.findall(r'<td style="([^"]*)">', shown)
    assert len(numbers) == 3 * len(report.rows())
    assert all("text-align:right" in style for style in numbers)
    missed = text_of(replace(report, satisfied=False)._repr_html_())
    assert missed.startswith("✗ Budget missed")


def test_side_of_a_new_notion_has_a_row_too():
    class Novel(LIP):
        @property
        def budget(self):
            return {**super().budget, "my_side": 0.7}

    report = report_of(LIP(0.4))
    levels = {**report.levels_after, "my_side": 0.25}
    novel = replace(report, notion=Novel(0.4), levels_before=levels, levels_after=levels)
    assert re.search(r"^my-side level +0\.2500 +0\.2500 +0\.7000$", repr(novel), re.MULTILINE)
    assert "my-side level 0.2500 0.2500 0.7000" in text_of(novel._repr_html_())
