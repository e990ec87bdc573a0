"""What a release keeps of what is known about a target, for mechanisms of all kinds."""

import numpy as np
import pandas as pd
import pytest

from skliftpriv import (
    ConditionalReporting,
    CountedRows,
    GRRSanitizer,
    ORRSanitizer,
    OUESanitizer,
    SubsetMergingSanitizer,
    measures,
)
from skliftpriv.datasets import load_adult
from skliftpriv.exceptions import InvalidParameterError
from skliftpriv.metrics import target_kept

ADULT = load_adult().iloc[:3000]
PAIR = ("sex", "relationship")
ROWS = CountedRows.of(ADULT, *PAIR, target="income")


def information(columns):
    """I(T; columns) of the rows."""
    counts = pd.crosstab([ADULT[name] for name in columns], ADULT["income"])
    return measures.mutual_information(counts.to_numpy() / len(ADULT))


@pytest.mark.parametrize(
    "sanitizer",
    [
        SubsetMergingSanitizer(*PAIR, epsilon=0.4),
        GRRSanitizer(*PAIR, epsilon=0.4),
        OUESanitizer(*PAIR, epsilon=0.4),
        ConditionalReporting(*PAIR, epsilon=0.4),
        ORRSanitizer(*PAIR, epsilon=0.4),
        ORRSanitizer(*PAIR, epsilon=0.4, utility="target"),
        ORRSanitizer(*PAIR, epsilon=0.4, utility="target", use_sensitive=True),
    ],
    ids=lambda s: type(s).__name__,
)
def test_the_share_against_brute_force(sanitizer):
    result = sanitizer.result_for(ROWS)
    seen = sanitizer.needs_sensitive
    channel = result.conditional if seen else result.channel
    p_ty = np.zeros((2, len(channel.outputs)))
    for s, x, t in ADULT[[*PAIR, "income"]].to_numpy():
        row = channel.matrix[channel.inputs.index((s, x) if seen else x)]
        p_ty[int(t == ">50K")] += row / len(ADULT)
    told = measures.mutual_information(p_ty)
    from_x = information(["relationship"])
    from_both = information(PAIR)
    assert from_both > from_x + 1e-4
    assert target_kept(result, ROWS) == pytest.approx(min(told / from_x, 1.0))
    assert target_kept(result, ROWS, use_sensitive=True) == pytest.approx(told / from_both)
    assert target_kept(sanitizer.fit(ROWS), ROWS) == target_kept(result, ROWS)
    if sanitizer.needs_target:
        kept = target_kept(result, ROWS, use_sensitive=seen)
        assert kept == pytest.approx(result.utility_kept)


def test_the_mechanism_for_the_target_keeps_the_most_of_it():
    kept = [
        target_kept(ORRSanitizer(*PAIR, epsilon=0.3, **options).result_for(ROWS), ROWS)
        for options in ({}, {"utility": "target"}, {"utility": "target", "use_sensitive": True})
    ]
    assert kept == sorted(kept)
    assert kept[0] < kept[1]


def test_what_cannot_be_told_is_not_a_number():
    wide = CountedRows.of(ADULT, "sex", "occupation", target="income")
    assert np.isnan(target_kept(OUESanitizer("sex", "occupation").result_for(wide), wide))


def test_rows_without_a_target_are_refused():
    rows = CountedRows.of(ADULT, *PAIR)
    with pytest.raises(InvalidParameterError, match="counted without a target"):
        target_kept(SubsetMergingSanitizer(*PAIR).result_for(rows), rows)
