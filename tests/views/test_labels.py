"""Labels are short, different, and say what they leave out."""

import pytest

from skliftpriv.views import short_labels, shorten, truncate

OCCUPATIONS = [
    "Adm-clerical",
    "Armed-Forces",
    "Craft-repair",
    "Exec-managerial",
    "Handlers-cleaners",
    "Priv-house-serv",
    "Transport-moving",
]
NBSP = "\N{NO-BREAK SPACE}"


def set_of(names):
    return "{" + ", ".join(names) + "}"


def test_a_short_label_stays_as_it_is():
    assert shorten("Handlers-cleaners") == "Handlers-cleaners"
    assert shorten(None) == "missing"
    assert shorten(("Male", "White")) == "Male & White"
    assert shorten(7) == "7"


@pytest.mark.parametrize(("width", "lines"), [(12, 1), (20, 2), (26, 2), (34, 1), (60, 3)])
@pytest.mark.parametrize("n", [2, 3, 5, 7])
def test_members_shown_and_members_counted_are_all_members(width, lines, n):
    text = shorten(set_of(OCCUPATIONS[:n]), width, lines)
    assert len(text.split("\n")) <= lines
    assert max(map(len, text.split("\n"))) <= width
    flat = text.replace("\n", " ")
    if "+" not in flat:
        assert flat == set_of(OCCUPATIONS[:n])
        return
    hidden = int(flat.split("+")[1].rstrip("}"))
    shown = flat[1:].split(f", …{NBSP}+")[0].split(", ")
    assert len(shown) + hidden == n
    assert all("…" in name or name in OCCUPATIONS for name in shown)


def test_members_that_a_label_had_hidden_already_are_counted_too():
    text = shorten("{Sales 57%, Tech-support 26%, Craft-repair 9%, 4 more}", 20, 1)
    assert text.endswith("+6}")


def test_members_with_commas_are_not_counted():
    symbols = ["Cleveland, Ohio", "Paris, Texas", "Rome"]
    (text,) = short_labels([set_of(symbols)], width=20, lines=1, symbols=symbols)
    assert "+" not in text
    assert "…" in text


def test_long_names_that_differ_at_the_end_stay_different():
    names = [f"a rather long name of value number {i}" for i in range(12)]
    short = short_labels(names, width=20, lines=1)
    assert len(set(short)) == 12
    assert all(text.endswith(str(i)) for i, text in enumerate(short))
    assert max(map(len, short)) <= 20


def test_labels_that_would_be_the_same_are_numbered():
    names = ["{" + "x" * 30 + f"{i}, " + "y" * 30 + "}" for i in range(3)]
    assert len(set(short_labels(names, width=12, lines=1))) == 3


def test_sets_in_tuples_are_shortened_one_by_one():
    label = (set_of(OCCUPATIONS), set_of(OCCUPATIONS[:3]))
    text = shorten(label, 30, 2)
    assert "+6}" in text
    assert "+2}" in text
    assert " &" in text


def test_a_name_is_torn_apart_at_a_hyphen_and_only_if_it_must_be():
    assert shorten("Handlers-cleaners", 12) == "Handlers-\ncleaners"
    assert shorten("Craft-repair of all kinds", 14) == "Craft-repair\nof all kinds"


def test_the_end_of_a_truncated_label_is_marked():
    assert truncate("abcdef", 6) == "abcdef"
    assert truncate("abcd fgh", 6) == "abcd…"


def test_a_range_is_cut_in_the_middle_and_does_not_count_members():
    label = "{a rather long name of the first level to an even longer name of the last level}"
    short = shorten(label, 26, 1)
    assert len(short) <= 26
    assert short.startswith("{a rather")
    assert short.endswith("level}")
    assert "+" not in short
    assert shorten("37 to 45", 26, 1) == "37 to 45"
