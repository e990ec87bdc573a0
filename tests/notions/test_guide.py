"""The notion of docs/contributing.md is shown and guaranteed without further code."""

import re
from pathlib import Path

import pytest

from skliftpriv import metrics
from skliftpriv.datasets import load_adult
from skliftpriv.html import report_page

GUIDE = Path(__file__).parents[2] / "docs" / "contributing.md"


@pytest.fixture(scope="module")
def sanitizer():
    """The sanitiser of the guide, made by the guide's own code."""
    section = GUIDE.read_text(encoding="utf-8").split("\n## A notion\n")[1]
    lines = re.findall(r"^(?:>>>|\.\.\.) ?(.*)$", section, flags=re.MULTILINE)
    code = "\n".join(lines)
    found = {"__name__": "guide"}
    exec(code[: code.index("sanitizer.result_")], found)
    return found["sanitizer"]


def test_it_has_a_guarantee(sanitizer):
    guarantee = sanitizer.guarantee_
    assert guarantee.private
    assert guarantee.budget == {"max_lift": 0.5}
    assert guarantee.achieved["max_lift"] <= 0.5
    assert "max log-lift" in guarantee._repr_html_()
    assert guarantee.with_new_values == "a table that holds such values is not covered"


def test_it_has_a_report_with_its_budget_in_the_row_that_it_bounds(sanitizer):
    bounds = {name: budget for name, *_, budget in sanitizer.report_.rows()}
    assert bounds["max_log_lift"] == 0.5
    assert [budget for budget in bounds.values() if budget is not None] == [0.5]


def test_it_has_a_page(sanitizer):
    page = report_page(sanitizer)
    assert "relationship at most 1.65 times as probable as before." in page
    assert "outside the budget of −∞ to +0.50" in page
    assert "notion=MaxLift," in page
    assert "would cover that" not in page  # there is no worst case over a confidence set


@pytest.mark.parametrize("name", ["LiftDisplay", "PosteriorDisplay", "ChannelDisplay"])
def test_it_has_pictures(sanitizer, name):
    plotting = pytest.importorskip("skliftpriv.plotting")
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("Agg")
    display = getattr(plotting, name).from_estimator(sanitizer)
    display.figure_.draw_without_rendering()
    pyplot.close(display.figure_)
    limits = display.release.limits
    assert limits == (float("-inf"), 0.5)
    if name == "LiftDisplay":
        assert display.outside_before.any()
        assert not display.outside_after.any()
        assert "+0.50 budget" in [
            text.get_text() for text in display.colorbar_.ax.get_yticklabels()
        ]


def test_it_is_audited(sanitizer):
    report = metrics.audit(sanitizer, load_adult("test")[["relationship", "occupation"]])
    assert list(report.bounds) == ["max_lift"]
    assert report.verdict != "violated"
