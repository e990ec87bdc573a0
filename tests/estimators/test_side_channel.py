import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from skliftpriv import ORRSanitizer, SRLIPSanitizer, SubsetMergingSanitizer, joint_leakage, measures
from skliftpriv.datasets import load_adult
from skliftpriv.exceptions import InvalidParameterError

COLUMNS = ["sex", "relationship", "race"]


@pytest.fixture(scope="module")
def adult():
    return load_adult()[[*COLUMNS, "income", "marital-status"]]


@pytest.mark.parametrize(
    "sensitive", ["income", pytest.param("marital-status", marks=pytest.mark.slow)]
)
def test_adult_through_a_pipeline(adult, sensitive):
    X = adult[[sensitive, *COLUMNS]]
    y = adult["income"] == ">50K"
    sanitizer = SRLIPSanitizer(sensitive, COLUMNS, epsilon=1.0, time_limit=2.0)
    model = make_pipeline(
        sanitizer, OneHotEncoder(handle_unknown="ignore"), LogisticRegression(max_iter=200)
    ).fit(X, y)
    fitted = model[0]
    assert fitted.srlip_ <= 1.0
    assert fitted.report_.satisfied
    assert fitted.report_.nmi > 0.5
    assert fitted.guarantee_.achieved["srlip"] <= 1.0
    assert list(fitted.get_feature_names_out()) == ["_".join(COLUMNS)]
    assert fitted.levels_by_knowledge_[()] <= fitted.srlip_
    assert ("sex", "race") in fitted.levels_by_knowledge_
    assert model.predict(X[:100]).shape == (100,)


def test_product_releases_one_column_each(adult):
    X = adult[["income", "sex", "race"]]
    sanitizer = SRLIPSanitizer("income", ["sex", "race"], epsilon=1.0, strategy="product")
    released = sanitizer.fit_transform(X)
    assert list(released.columns) == ["sex", "race"]
    assert set(sanitizer.column_leakage_) == set(sanitizer.budgets_) == {"sex", "race"}
    assert not hasattr(sanitizer, "upper_bound_")
    assert not hasattr(sanitizer, "conditional_channel_")


def test_optimal_releases_a_joint_symbol_that_reads_well(adult):
    X = adult[["income", "sex", "race"]]
    sanitizer = SRLIPSanitizer("income", ["sex", "race"], epsilon=2.0).fit(X)
    released = sanitizer.transform(X)
    assert list(released.columns) == ["sex_race"]
    assert "Male & White" in set(released["sex_race"])
    assert sanitizer.gap_ >= 0
    frequencies = sanitizer.estimate_frequencies(released)
    assert frequencies["estimate"].sum() == pytest.approx(1.0)


def test_one_column_is_plain_lip(adult):
    sanitizer = SRLIPSanitizer("income", "relationship", epsilon=0.5).fit(adult)
    plain = ORRSanitizer("income", "relationship", epsilon=0.5).fit(adult)
    assert sanitizer.report_.nmi == pytest.approx(plain.report_.nmi, abs=1e-5)


def test_columns_sanitised_one_by_one_leak_together():
    # math.md, "No composition theorem": each release has lift exactly 1, both together do not.
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 2, (2, 20_000))
    frame = pd.DataFrame({"s": np.where(a == b, "same", "other"), "a": a, "b": b})
    each = [SubsetMergingSanitizer("s", name, epsilon=0.1).fit(frame) for name in ("a", "b")]
    assert max(sanitizer.report_.max_log_lift for sanitizer in each) < 0.1
    together = joint_leakage(each, frame)
    assert together.max_log_lift == pytest.approx(np.log(2), abs=0.02)
    assert together.min_log_lift == -np.inf
    alone = joint_leakage(each[:1], frame)
    assert alone.max_log_lift == pytest.approx(each[0].report_.max_log_lift, abs=1e-12)
    with pytest.raises(InvalidParameterError, match="at least one"):
        joint_leakage([], frame)


def test_joint_leakage_of_srlip_product_is_within_its_budget(adult):
    X = adult[["income", "sex", "race"]]
    sanitizer = SRLIPSanitizer("income", ["sex", "race"], epsilon=0.5, strategy="product").fit(X)
    level = measures.srlip_level(
        sanitizer.joint_.matrix,
        sanitizer.channel_.matrix,
        np.array(
            [
                [x == "Male" for x, _ in sanitizer.joint_.useful_labels],
                [hash(r) for _, r in sanitizer.joint_.useful_labels],
            ]
        ).T,
    ).level
    assert level == pytest.approx(sanitizer.srlip_, abs=1e-12)
