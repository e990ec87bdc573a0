"""The page says what it must, is whole, safe and small."""

import re
import warnings
from html import escape
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

from skliftpriv import SubsetMergingSanitizer, __version__
from skliftpriv._format import share
from skliftpriv.exceptions import InvalidParameterError
from skliftpriv.html import report_page, write_report

from .pages import SANITIZERS, fitted, page

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

VOID = {"meta", "br", "path", "rect", "circle"}


class Outline(HTMLParser):
    """Tags that are open, and those that were closed in a wrong order."""

    def __init__(self):
        super().__init__()
        self.open, self.wrong, self.tags, self.text = [], [], set(), []

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.add(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)

    def handle_data(self, data):
        self.text.append(data)


def outline(text):
    parsed = Outline()
    parsed.feed(text)
    return parsed


@pytest.mark.parametrize("name", list(SANITIZERS))
def test_the_page_is_whole_and_needs_nothing_else(name):
    text = page(name)
    parsed = outline(text)
    assert parsed.open == []
    assert parsed.wrong == []
    assert not {"script", "link", "img", "iframe", "object"} & parsed.tags
    assert not re.search(r"https?:|src=|@import|url\(|//[a-z]", text)
    assert len(text.encode()) < 1.5e6
    assert '<meta name="viewport" content="width=device-width, initial-scale=1">' in text
    assert "nan" not in "".join(parsed.text).lower().split()


@pytest.mark.parametrize("name", list(SANITIZERS))
def test_the_page_says_what_was_done_and_what_is_not_covered(name):
    sanitizer, text = fitted(name), "".join(outline(page(name)).text)
    guarantee = sanitizer.guarantee_
    for words in (
        guarantee.sensitive,
        ", ".join(guarantee.columns),
        str(sanitizer.notion_),
        f"{guarantee.n_rows:,} rows",
        type(sanitizer).__name__,
        f"epsilon={sanitizer.epsilon!r}",
        f"skliftpriv {__version__}",
        "Estimation.",
        "Releasing again.",
        "Other columns.",
        "Related rows.",
        "Side information.",
        "Order and index.",
        "New values.",
        "Randomness.",
    ):
        assert words in text
    seeded = "Not private" if guarantee.holds else "Budget missed"
    assert ("Budget met" if guarantee.private else seeded) in text
    assert ("NOT met: do not release" in text) == (not guarantee.holds)
    # Every picture says in words what it shows.
    assert page(name).count("<svg") == len(re.findall(r'<svg [^>]*aria-label="[^"]+"', page(name)))
    assert page(name).count("<svg") >= sanitizer.joint_.shape[0] or sanitizer.joint_.shape[0] > 12


def test_what_depends_on_parameters_is_said():
    plain, careful = page("orr"), page("srr")
    assert "<code>confidence=0.95</code> would cover that" in plain
    assert "Covered with probability 0.9" in careful
    assert "worst case" in careful
    assert "operating system" in plain
    assert "Draws come from a seed" in page("grr")
    assert "random_state=a seed" in page("grr")
    assert "Released with it, and not protected: age, workclass" in page("subset-merging")
    assert "but for a probability of 0.05" in page("watchdog")
    assert "whichever of the released columns they knew" in page("srlip")
    assert "times as probable for one value" in page("grr")


@pytest.mark.parametrize("name", list(SANITIZERS))
def test_a_target_and_a_look_at_s_are_said_where_they_are(name):
    text, sanitizer = "".join(outline(page(name)).text), fitted(name)
    target, sensitive = sanitizer.report_.target, sanitizer.guarantee_.sensitive
    for words in (
        "Kept for the target",
        "The mechanism was built to keep what is known about the target",
        "T is the target",
        "share of the target kept",
    ):
        assert (words in text) == (target is not None)
    for words in (
        f"The mechanism sees {sensitive}",
        f"on average over {sensitive}",
        "Unequal treatment.",
    ):
        assert (words in text) == sanitizer.needs_sensitive
    report = sanitizer.report_
    more = report.after.leakage_mutual_information > report.before.leakage_mutual_information
    assert ("On average the release tells more" in text) == (more and sanitizer.needs_sensitive)


def test_what_is_kept_of_a_target_is_told_with_what_it_is_a_share_of():
    text = page("target")
    assert "85% of what is known about the target from occupation is kept" in text
    assert "% of what is known about the target below" in text
    assert "alone would keep" not in text
    text, target = page("both"), fitted("both").report_.target
    assert "of what is known about the target from sex and education is kept" in text
    assert f"alone would keep {share(target.kept_by_x)} of that" in text
    named = report_page(fitted("both"), target_name="<income>")
    assert "known about &lt;income&gt; from sex and education" in named
    assert not {"income"} & outline(named).tags


def test_labels_and_titles_are_escaped():
    evil = '<script>alert("1")</script>&\'<img src=x>'
    frame = pd.DataFrame({"s<b>": [evil, "b"] * 50, "x<i>": ["c", evil, evil, "d"] * 25})
    sanitizer = SubsetMergingSanitizer("s<b>", "x<i>", epsilon=0.2).fit(frame)
    text = report_page(sanitizer, title=evil)
    assert outline(text).wrong == []
    assert not {"script", "img", "b", "i"} & outline(text).tags
    assert f"<title>{escape(evil)}</title>" in text


def test_large_alphabets_and_missing_values_fit():
    rng = np.random.default_rng(0)
    s = rng.integers(40, size=20_000)
    x = [
        None if i % 7 == 0 else f"a very long name of a value, number {i}" * 3
        for i in s + rng.integers(300, size=s.size)
    ]
    sanitizer = SubsetMergingSanitizer("s", "x", epsilon=2.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        text = report_page(sanitizer.fit(pd.DataFrame({"s": s, "x": x})))
    assert len(text) < 1.5e6
    assert "most probable of" in text
    assert "missing" in text


def test_a_column_without_risk_is_reported_too():
    frame = pd.DataFrame({"s": ["a", "b"] * 10, "x": ["c", "c", "d", "d"] * 5})
    text = report_page(SubsetMergingSanitizer("s", "x").fit(frame))
    assert "100%" in text
    frame["x"] = "same"
    assert "Budget met" in report_page(SubsetMergingSanitizer("s", "x").fit(frame))


def test_a_file_is_written(tmp_path):
    write_report(fitted("orr"), tmp_path / "r.html", title="Mine")
    text = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "<h1>Mine</h1>" in text


def test_only_fitted_sanitisers_have_a_page():
    with pytest.raises(InvalidParameterError, match="is not a sanitiser"):
        report_page(object())
    with pytest.raises(ValueError, match="not fitted"):
        report_page(SubsetMergingSanitizer("s", "x"))
