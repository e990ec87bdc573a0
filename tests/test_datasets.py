from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from skliftpriv import JointDistribution
from skliftpriv.datasets import load_adult, make_joint
from skliftpriv.exceptions import InvalidParameterError

DATA = Path(__file__).parent / "data"
COLUMNS = [
    "age",
    "workclass",
    "education",
    "marital-status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "hours-per-week",
    "native-country",
    "income",
]


@pytest.mark.parametrize(("split", "rows"), [("train", 32561), ("test", 16281), ("all", 48842)])
def test_splits_have_the_original_sizes_and_columns(split, rows):
    frame = load_adult(split)
    assert frame.shape == (rows, 11)
    assert list(frame.columns) == COLUMNS
    assert list(frame.index[[0, -1]]) == [0, rows - 1]
    assert not frame.isna().any(axis=None)


def test_train_is_the_default_and_the_splits_add_up():
    pd.testing.assert_frame_equal(load_adult(), load_adult("train"))
    both = pd.concat([load_adult("train"), load_adult("test")], ignore_index=True)
    pd.testing.assert_frame_equal(both, load_adult("all"))


def test_values_are_clean():
    frame = load_adult("all")
    assert set(frame["income"]) == {"<=50K", ">50K"}
    assert frame["relationship"].nunique() == 6
    assert frame["occupation"].nunique() == 15
    text = frame.select_dtypes(exclude="number")
    assert all((text[column] == text[column].str.strip()).all() for column in text)
    assert frame["age"].between(17, 90).all()
    assert frame["hours-per-week"].between(1, 99).all()


def test_first_training_and_test_rows_are_the_original_ones():
    first = load_adult("train").iloc[0]
    assert (first["age"], first["workclass"], first["income"]) == (39, "State-gov", "<=50K")
    first = load_adult("test").iloc[0]
    assert (first["age"], first["education"], first["income"]) == (25, "11th", "<=50K")


@pytest.mark.parametrize(
    ("name", "split", "rows", "columns"),
    [
        ("adult_relationship_occupation_train", "train", "relationship", "occupation"),
        ("adult_marital_education_train", "train", "marital-status", "education"),
        ("adult_occupation_sex_all", "all", "occupation", "sex"),
    ],
)
def test_contingency_tables_equal_the_reference_cell_by_cell(name, split, rows, columns):
    frame = load_adult(split)
    expected = pd.read_csv(DATA / f"{name}.csv", index_col=0)
    table = pd.crosstab(frame[rows], frame[columns])
    assert list(table.index) == list(expected.index)
    assert list(table.columns) == list(expected.columns)
    np.testing.assert_array_equal(table.to_numpy(), expected.to_numpy())
    assert expected.to_numpy().sum() == len(frame)


def test_unknown_split_is_refused():
    with pytest.raises(InvalidParameterError, match="'holdout'"):
        load_adult("holdout")


def test_uniform_joint_is_the_papers_recipe():
    cells = np.random.default_rng(0).random((5, 17))
    assert make_joint(5, 17, random_state=0) == JointDistribution(cells / cells.sum())


def test_dirichlet_joint_has_the_spread_of_the_jeffreys_prior():
    def draws(kind):
        return np.array([make_joint(2, 3, kind=kind, random_state=k).matrix for k in range(2000)])

    cells = draws("dirichlet")
    # Dirichlet with six parameters 1/2: mean 1/6, variance (1/6)(5/6)/(3 + 1).
    assert cells.mean() == pytest.approx(1 / 6)
    np.testing.assert_allclose(cells.var(axis=0), 5 / 144, rtol=0.1)
    assert draws("uniform").var(axis=0).max() < 0.5 * 5 / 144


def test_a_generator_is_used_up_and_a_seed_is_not():
    rng = np.random.default_rng(7)
    assert make_joint(2, 3, random_state=rng) != make_joint(2, 3, random_state=rng)
    assert make_joint(2, 3, random_state=7) == make_joint(2, 3, random_state=7)
    assert make_joint(2, 3) != make_joint(2, 3)


@pytest.mark.parametrize("size", [0, -1, 2.0, "3", None])
def test_impossible_sizes_are_refused_and_named(size):
    with pytest.raises(InvalidParameterError, match="n_sensitive"):
        make_joint(size, 3)
    with pytest.raises(InvalidParameterError, match="n_useful"):
        make_joint(3, size)


def test_unknown_kind_is_refused():
    with pytest.raises(InvalidParameterError, match="'normal'"):
        make_joint(2, 3, kind="normal")
