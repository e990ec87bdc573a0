"""What a notebook shows of sanitisers, guarantees and reports: short, safe and self-contained."""

import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from skliftpriv import SubsetMergingSanitizer

from .samples import make_frame, make_sanitizers

FRAME = make_frame()
# Without any sanitiser a page of scikit-learn has 30 kB, most of it style and script.
LONGEST = 80_000
PLAIN_TAGS = {"div", "span", "strong", "table", "thead", "tbody", "tr", "th", "td"}


class Tags(HTMLParser):
    """Collects tags, and complains about those that are not closed in order."""

    def __init__(self, html):
        super().__init__()
        self.seen, self._open = [], []
        self.feed(html)
        assert not self._open

    def handle_starttag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))
        self._open.append(tag)

    def handle_endtag(self, tag):
        assert self._open.pop() == tag


def fitted(**options):
    return SubsetMergingSanitizer("s", "x", epsilon=0.5, **options).fit(FRAME)


def containers(sanitizer):
    yield clone(sanitizer)
    yield make_pipeline(clone(sanitizer), OneHotEncoder())
    yield make_column_transformer((clone(sanitizer), ["s", "x"]))


@pytest.mark.parametrize("sanitizer", make_sanitizers(), ids=lambda one: type(one).__name__)
def test_every_sanitizer_is_shown_before_and_after_fit_wherever_it_is(sanitizer):
    for model in containers(sanitizer):
        for shown in (model._repr_html_(), model.fit(FRAME)._repr_html_()):
            assert type(sanitizer).__name__ in shown
            assert len(shown) < LONGEST


@pytest.mark.parametrize("n_symbols", [200, 3000])
def test_many_symbols_do_not_flood_the_page(n_symbols):
    x = np.arange(4 * n_symbols) % n_symbols
    s = (x + np.arange(4 * n_symbols) // n_symbols) % 3
    frame = pd.DataFrame({"s": s.astype(str), "x": [f"symbol {i}" for i in x]})
    model = make_pipeline(SubsetMergingSanitizer("s", "x", epsilon=0.5)).fit(frame)
    assert len(model[0].channel_.inputs) == n_symbols
    assert len(model._repr_html_()) < LONGEST
    for noun in (model[0].joint_, model[0].channel_):
        assert len(repr(noun)) < 100
    assert len(model[0].report_._repr_html_()) < 10_000


def test_page_of_a_model_shows_both_ends_of_the_report():
    shown = fitted()._repr_html_()
    # scikit-learn before 1.9 shows no fitted attributes.
    if "report_" in shown:
        assert re.search(r"0\.5-LIP met.*\.\.\..*% of X kept", shown)


def test_guarantee_says_first_whether_it_holds():
    guarantee = fitted().guarantee_
    shown = guarantee._repr_html_()
    text = re.sub("<[^>]*>", " ", shown)
    assert text.split()[:2] == ["✓", "Holds"]
    assert "minus min log-lift" in text
    missed = re.sub("<[^>]*>", " ", replace(guarantee, holds=False)._repr_html_())
    assert missed.split()[:4] == ["✗", "Does", "not", "hold"]
    seeded = re.sub("<[^>]*>", " ", replace(guarantee, secret_randomness=False)._repr_html_())
    assert seeded.split()[:3] == ["✗", "Not", "private"]
    Tags(shown)


def test_names_of_columns_cannot_become_tags():
    evil = "<script>alert('x')</script>"
    frame = FRAME.set_axis([evil, "x & <b>"], axis=1)
    sanitizer = SubsetMergingSanitizer(evil, "x & <b>").fit(frame)
    shown = sanitizer.guarantee_._repr_html_()
    assert {tag for tag, _ in Tags(shown).seen}.isdisjoint({"script", "b"})
    assert "x &amp; &lt;b&gt;" in shown


@pytest.mark.parametrize("what", ["report_", "guarantee_"])
def test_pages_need_nothing_from_elsewhere_and_take_the_colours_of_theirs(what):
    shown = getattr(fitted(), what)._repr_html_()
    tags = Tags(shown).seen
    assert {tag for tag, _ in tags} <= PLAIN_TAGS
    assert all(set(attributes) <= {"style", "scope"} for _, attributes in tags)
    assert "url(" not in shown
    for _, attributes in tags:
        style = attributes.get("style", "")
        # Only the badge brings a colour, and it brings both.
        assert ("background:" in style) == ("color:#fff" in style)
    (table,) = (attributes["style"] for tag, attributes in tags if tag == "table")
    assert "color:inherit" in table
