"""What several releases leak together: counted by hand, or refused with the reason."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from skliftpriv import (
    ConditionalReporting,
    GRRSanitizer,
    ORRSanitizer,
    OUESanitizer,
    SubsetMergingSanitizer,
    joint_leakage,
    measures,
)
from skliftpriv.datasets import load_adult
from skliftpriv.exceptions import InvalidParameterError
from skliftpriv.metrics import _joint

ADULT = load_adult().iloc[:2000]


def test_several_useful_columns_and_noise_against_brute_force():
    first = ORRSanitizer("sex", ["race", "income"], epsilon=0.3).fit(ADULT)
    second = GRRSanitizer("sex", "relationship", epsilon=0.3).fit(ADULT)
    p_sy = np.zeros((2, len(first.channel_.outputs), len(second.channel_.outputs)))
    for sex, *pair, relationship in ADULT[["sex", "race", "income", "relationship"]].to_numpy():
        one = first.channel_.matrix[first.channel_.inputs.index(tuple(pair))]
        two = second.channel_.matrix[second.channel_.inputs.index(relationship)]
        p_sy[int(sex == "Male")] += np.outer(one, two) / len(ADULT)
    p_sy = p_sy.reshape(2, -1)
    found = joint_leakage([first, second], ADULT)
    assert found.max_log_lift == pytest.approx(np.log(measures.lift(p_sy).max()))
    assert found.leakage_mutual_information == pytest.approx(measures.mutual_information(p_sy))
    p_xy = pd.crosstab(
        [ADULT["race"], ADULT["income"], ADULT["relationship"]], "rows", normalize=True
    )
    assert 0 < found.nmi < 1
    assert found.mutual_information == pytest.approx(
        found.nmi * measures.entropy(p_xy["rows"].to_numpy())
    )


def test_values_that_were_not_seen_are_replaced_by_a_draw_from_the_release():
    rows = pd.DataFrame({"s": [0, 1] * 50, "x": (["a"] * 3 + ["b"]) * 25})
    sanitizer = GRRSanitizer("s", "x", epsilon=0.5, handle_unknown="resample").fit(rows)
    strange = rows.assign(x="new")
    assert joint_leakage([sanitizer] * 2, strange).max_log_lift == pytest.approx(0)


@pytest.mark.parametrize(
    "seen",
    [
        ConditionalReporting("sex", "race", epsilon=0.3),
        ORRSanitizer("sex", "race", epsilon=0.3, use_sensitive=True),
    ],
    ids=lambda sanitizer: type(sanitizer).__name__,
)
def test_mechanisms_that_see_s_against_brute_force(seen):
    seen.fit(ADULT)
    alone = joint_leakage([seen], ADULT)
    for measure in ("max_log_lift", "leakage_mutual_information", "nmi"):
        assert getattr(alone, measure) == pytest.approx(getattr(seen.report_, measure))
    other = GRRSanitizer("sex", "income", epsilon=0.3).fit(ADULT)
    pair, single = seen.conditional_channel_, other.channel_
    values = list(ADULT[["race", "income"]].drop_duplicates().itertuples(index=False, name=None))
    p_sxy = np.zeros((2, len(values), len(pair.outputs), len(single.outputs)))
    for sex, race, income in ADULT[["sex", "race", "income"]].to_numpy():
        one = pair.matrix[pair.inputs.index((sex, race))]
        two = single.matrix[single.inputs.index(income)]
        p_sxy[int(sex == "Male"), values.index((race, income))] += np.outer(one, two) / len(ADULT)
    p_sxy = p_sxy.reshape(2, len(values), -1)
    p_sy, p_xy = p_sxy.sum(axis=1), p_sxy.sum(axis=0)
    found = joint_leakage([seen, other], ADULT)
    assert found.max_log_lift == pytest.approx(np.log(measures.lift(p_sy).max()))
    assert found.mutual_information == pytest.approx(measures.mutual_information(p_xy))
    # S may also be passed on its own.
    apart = clone(seen).set_params(sensitive=None)
    apart.fit(ADULT[["race"]], sensitive_features=ADULT["sex"])
    assert joint_leakage([apart], ADULT[["race"]], sensitive_features=ADULT["sex"]) == alone


def test_sanitisers_of_different_sensitive_columns_are_refused():
    sex = SubsetMergingSanitizer("sex", "education").fit(ADULT)
    race = SubsetMergingSanitizer("race", "occupation").fit(ADULT)
    for given in (None, ADULT["sex"]):
        with pytest.raises(InvalidParameterError, match="different columns, sex and race"):
            joint_leakage([sex, race], ADULT, sensitive_features=given)
    # Without names the values tell.
    X = ADULT[["education", "occupation"]]
    apart = [
        SubsetMergingSanitizer(None, name).fit(X, sensitive_features=ADULT[s])
        for s, name in (("sex", "education"), ("race", "occupation"))
    ]
    with pytest.raises(InvalidParameterError, match="pass its values as sensitive_features"):
        joint_leakage(apart, X)
    with pytest.raises(InvalidParameterError, match=r"'Male', but .* occupation protects .* 'Amer"):
        joint_leakage(apart, X, sensitive_features=ADULT["sex"])


def test_unary_encoding_of_many_values_is_refused():
    assert ADULT["occupation"].nunique() == 15
    unary = OUESanitizer("sex", "occupation").fit(ADULT)
    assert unary.channel_ is None
    with pytest.raises(InvalidParameterError, match=r"occupation has 15 values and so 2\^15"):
        joint_leakage([unary], ADULT)


def test_what_is_too_large_is_refused_before_it_is_made(monkeypatch):
    each = [GRRSanitizer("sex", x, epsilon=0.5).fit(ADULT) for x in ("education", "occupation")]
    pairs = len(ADULT[["education", "occupation"]].drop_duplicates())
    cells = pairs * 16 * 15
    monkeypatch.setattr(_joint, "_MOST_ENTRIES", cells)
    assert joint_leakage(each, ADULT).max_log_lift > 0
    monkeypatch.setattr(_joint, "_MOST_ENTRIES", cells - 1)
    monkeypatch.setattr(_joint, "_row_products", None)
    with pytest.raises(InvalidParameterError, match=f"have {cells:,} cells"):
        joint_leakage(each, ADULT)


def test_wrong_calls_are_explained():
    sanitizer = SubsetMergingSanitizer("sex", "education").fit(ADULT)
    for wrong in ([], sanitizer):
        with pytest.raises(InvalidParameterError, match="a list of at least one"):
            joint_leakage(wrong, ADULT)
    with pytest.raises(InvalidParameterError, match="'sex' is not a sanitiser"):
        joint_leakage(["sex"], ADULT)
    with pytest.raises(InvalidParameterError, match="now missing:\n- education"):
        joint_leakage([sanitizer], ADULT[["sex", "race"]])
