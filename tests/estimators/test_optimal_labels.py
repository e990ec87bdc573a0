"""What a reader of released columns sees of an optimal mechanism."""

from skliftpriv import ORRSanitizer
from skliftpriv.datasets import load_adult


def test_labels_of_two_columns_name_only_the_main_members():
    # The certificate mixes a touch of all symbols into the outputs; none may be named for it.
    adult = load_adult()[["relationship", "occupation", "sex"]]
    sanitizer = ORRSanitizer("relationship", ["occupation", "sex"], epsilon=0.5, gap=1e-2)
    released = sanitizer.fit(adult).transform(adult.head(500))
    assert list(released.columns) == ["occupation", "sex"]
    members = released["occupation"].str.count(",") + 1
    assert members.max() <= 6
