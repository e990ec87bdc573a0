"""The model that tests of pipelines and searches share: income from sanitised columns of Adult."""

from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder

from skliftpriv import SubsetMergingSanitizer
from skliftpriv.datasets import load_adult

ADULT = load_adult().iloc[:3000]
COLUMNS = ["relationship", "occupation"]
INCOME = (ADULT["income"] == ">50K").to_numpy()
# Rare occupations may be missing from a training fold.
SANITIZER = SubsetMergingSanitizer(
    "relationship", "occupation", epsilon=1.0, handle_unknown="resample", random_state=0
)


def make_model(sanitizer=SANITIZER, **parameters):
    """An unfitted pipeline of a sanitiser with these parameters, an encoder and a classifier."""
    steps = [
        ("sanitizer", clone(sanitizer).set_params(**parameters)),
        ("encoder", OneHotEncoder(handle_unknown="ignore")),
        ("classifier", LogisticRegression(solver="liblinear")),
    ]
    return Pipeline(steps)


def sanitizer_alone(X, **fit_parameters):
    """The sanitiser of the model, fitted on its own to sensitive values that are no column."""
    return clone(SANITIZER).set_params(sensitive=None).fit(X, **fit_parameters)
