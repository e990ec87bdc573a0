"""Labels reach matplotlib as they are."""

from skliftpriv.plotting._text import note_lines, short_labels, shorten


def test_dollars_are_not_mathematics():
    assert shorten("$5 and $6", 20, 1) == r"\$5 and \$6"
    assert short_labels(["$5", "$6"], width=20) == [r"\$5", r"\$6"]
    assert note_lines("$5", 3.0) == [r"\$5"]
