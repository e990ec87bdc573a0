"""Rows of one person count once, are released as one, and the guarantee is for the person."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone

from skliftpriv import CountedRows, GRRSanitizer, ORRSanitizer, SubsetMergingSanitizer
from skliftpriv.exceptions import InvalidParameterError
from skliftpriv.html import report_page
from skliftpriv.model_selection import tradeoff_curve

from .samples import make_frame

PERSONS = make_frame(400).assign(person=[f"p{i}" for i in range(400)])
VISITS = np.random.default_rng(0).integers(1, 5, 400)
ROWS = PERSONS.loc[np.repeat(PERSONS.index, VISITS)].sample(
    frac=1, random_state=0, ignore_index=True
)
KEY = b"c0ffee3b1f9ad2c47e805516f2d1e9aa"


def grr(**options):
    return GRRSanitizer("s", "x", epsilon=0.5, **{"groups": "person", **options})


def test_each_person_counts_once():
    one_row_each = GRRSanitizer("s", "x", epsilon=0.5).fit(PERSONS)
    for rows in (ROWS, pl.from_pandas(ROWS), ROWS.set_index("person")):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            sanitizer = grr().fit(rows)
        assert sanitizer.channel_ == one_row_each.channel_
        assert (sanitizer.joint_.masses == one_row_each.joint_.masses).all()
        assert sanitizer.guarantee_.n_rows == 400
    assert GRRSanitizer("s", "x", epsilon=0.5).fit(ROWS).joint_ != one_row_each.joint_


def test_a_person_has_one_output():
    sanitizer = grr().fit(ROWS)
    first = sanitizer.transform(ROWS)["x"]
    assert (first.groupby(ROWS["person"]).nunique() == 1).all()
    assert not sanitizer.transform(ROWS)["x"].equals(first)
    with_key = grr(secret=KEY).fit(ROWS)
    assert with_key.transform(ROWS).equals(with_key.transform(ROWS))
    assert "person" not in with_key.transform(ROWS).columns


def test_rows_of_one_person_with_two_values_are_refused():
    twice = ROWS["person"].value_counts().index[0]
    row = ROWS.index[ROWS["person"] == twice][1]
    for column, value in (("x", "a"), ("x", "b"), ("s", "u"), ("s", "v")):
        wrong = ROWS.copy()
        if wrong.loc[row, column] == value:
            continue
        wrong.loc[row, column] = value
        message = f"groups='person': the rows of '{twice}' differ in {column}"
        with pytest.raises(InvalidParameterError, match=message):
            grr().fit(wrong)
        if column == "x":
            with pytest.raises(InvalidParameterError, match=message):
                grr().fit(ROWS).transform(wrong)


def test_the_guarantee_says_that_rows_that_differ_are_found_within_parts_only():
    twice = ROWS["person"].value_counts().index[0]
    first, second = (ROWS[ROWS["person"] == twice].head(1).assign(x=x) for x in ("a", "b"))
    sanitizer = grr(secret=KEY).fit(ROWS)
    with pytest.raises(InvalidParameterError, match=f"the rows of '{twice}' differ in x"):
        sanitizer.transform(pd.concat([first, second]))
    assert len(list(sanitizer.transform_batches([first, second]))) == 2
    assert "within each part of one that is released in parts" in str(sanitizer.guarantee_)


def test_targets_and_weights_of_one_person_are_the_same_too():
    target = ROWS["person"].str[-1]
    sanitizer = ORRSanitizer("s", "x", epsilon=0.5, utility="target", groups="person")
    once = clone(sanitizer).set_params(groups=None).fit(PERSONS, PERSONS["person"].str[-1])
    assert sanitizer.fit(ROWS, target).report_.utility_kept == pytest.approx(
        once.report_.utility_kept, abs=1e-6
    )
    with pytest.raises(InvalidParameterError, match="differ in y"):
        sanitizer.fit(ROWS, np.arange(len(ROWS)) % 3)
    weights = ROWS["person"].str[1:].astype(int) + 1.0
    weighted = grr().fit(ROWS, sample_weight=weights)
    expected = GRRSanitizer("s", "x", epsilon=0.5).fit(PERSONS, sample_weight=np.arange(400) + 1.0)
    assert weighted.channel_ == expected.channel_
    with pytest.raises(InvalidParameterError, match="differ in sample_weight"):
        grr().fit(ROWS, sample_weight=np.arange(len(ROWS)) + 1.0)
    apart = GRRSanitizer(useful="x", epsilon=0.5, groups="person")
    assert apart.fit(ROWS[["x", "person"]], sensitive_features=ROWS["s"]).guarantee_.n_rows == 400


def test_cells_are_learnt_from_persons():
    rows = ROWS.assign(age=ROWS["person"].str[1:].astype(int) % 50)
    sanitizer = SubsetMergingSanitizer("s", epsilon=0.5, cells=5, groups="person").fit(rows)
    assert sanitizer.layout_.useful_names == ["x", "age"]
    assert sanitizer.cells_.summary.n_rows == sanitizer.guarantee_.n_rows == 400


def test_counts_and_curves_by_person():
    rows = CountedRows.of(ROWS, "s", "x", groups="person")
    assert rows.n_rows == 400
    assert grr().fit(rows).channel_ == grr().fit(ROWS).channel_
    with pytest.raises(InvalidParameterError, match="groups=None, but the rows were counted by"):
        GRRSanitizer("s", "x").fit(rows)
    with pytest.raises(InvalidParameterError, match="groups='person', but the rows were counted"):
        grr().fit(CountedRows.of(ROWS, "s", "x"))
    with pytest.raises(InvalidParameterError, match="would be counted twice"):
        rows + rows
    with pytest.raises(InvalidParameterError, match="would be counted twice"):
        grr().partial_fit(ROWS).partial_fit(ROWS)
    with pytest.raises(InvalidParameterError, match="groups= needs rows, not counts"):
        CountedRows.of(ROWS.assign(n=1), "s", "x", counts="n", groups="person")
    curve = tradeoff_curve([grr(), GRRSanitizer("s", "x")], ROWS, epsilons=[0.5])
    nmi = [grr().fit(ROWS).report_.nmi, GRRSanitizer("s", "x", epsilon=0.5).fit(ROWS).report_.nmi]
    assert curve["nmi"].tolist() == pytest.approx(nmi)
    assert nmi[0] != nmi[1]


def test_the_guarantee_is_for_persons():
    guarantee = grr().fit(ROWS).guarantee_
    assert guarantee.groups == "person"
    assert "(400 values of person)" in str(guarantee)
    assert "Rows with the same person are counted once" in str(guarantee)
    page = report_page(grr().fit(ROWS))
    assert "400 values of person counted" in page
    assert "Rows with the same person are protected together" in page
    alone = "Each row is protected on its own"
    assert alone not in page
    assert alone in report_page(GRRSanitizer("s", "x").fit(ROWS))
    # Persons are independent draws, and not their rows; what is rare is decided from persons.
    confident = grr().set_params(confidence=0.9, epsilon=2.0, min_count=3).fit(ROWS).guarantee_
    assert "the distribution that the values of person came from, if they are" in str(confident)
    assert "3 values of person (min_count)" in str(confident)


def test_a_person_without_a_name_is_refused():
    with pytest.raises(InvalidParameterError, match="groups='person': row 3 has no id"):
        grr().fit(ROWS.assign(person=ROWS["person"].where(ROWS.index != 3)))
