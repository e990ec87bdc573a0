"""
Protect a whole table
=====================

**Question:** how well can a model do if nobody may infer the sex from all that is released?

The table is Adult with all of its columns. A model predicts income and an attacker predicts sex,
both from the same released rows. Dropping the column ``sex`` does not help, because the other
columns reveal it. Neither does fairlearn's CorrelationRemover (shown if it is installed): it
subtracts a multiple of sex from every column, so that no column is correlated with sex, but the
columns then have other values for women than for men.

With ``cells=`` the rows are put into the leaves of a decision tree, and a mechanism releases cells
instead of the columns. The picture has a curve for each mechanism, with a point for each epsilon;
the best place is the upper left corner. Model and attacker are gradient boosting. They learn from
released training rows and are judged on released rows that neither they nor the mechanism has seen.

Two mechanisms keep what predicts income. They lose little where the attacker learns nearly nothing,
and the one that looks at sex when it releases a row loses least. The other two keep as much as they
can of all columns, for whatever they will be used, and a model of income gets less from them.
"""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from _common import GREY, line_style, save, tidy
from matplotlib.figure import Figure
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder
from threadpoolctl import threadpool_limits

from skliftpriv import CountedRows, ORRSanitizer, SubsetMergingSanitizer
from skliftpriv.datasets import load_adult

EPSILONS = [0.02, 0.1, 0.25, 0.5, 1.0]
SENSITIVE, TARGET = "sex", "income"
N_CELLS = 200
MECHANISMS: dict[str, Any] = {
    "ORR for income": ORRSanitizer(SENSITIVE, utility="target", random_state=0),
    "ORR for income, sees sex": ORRSanitizer(
        SENSITIVE, utility="target", use_sensitive=True, random_state=0
    ),
    "ORR for all columns": ORRSanitizer(SENSITIVE, gap=1e-3, random_state=0),
    "subset merging for all columns": SubsetMergingSanitizer(SENSITIVE),
}


# %%
# Model and attacker are the same learner, with another column to predict.
def aucs(train: pd.DataFrame, test: pd.DataFrame) -> tuple[float, float]:
    """Return the AUC on held-out rows of a model of income, and of an attacker on sex."""
    codes = OrdinalEncoder(
        max_categories=250, handle_unknown="use_encoded_value", unknown_value=np.nan
    )
    categories = make_column_selector(dtype_exclude="number")
    learner = make_pipeline(
        make_column_transformer((codes, categories), remainder="passthrough"),
        HistGradientBoostingClassifier(
            max_iter=60, categorical_features=range(len(categories(train))), random_state=0
        ),
    )
    found = []
    for column in (TARGET, SENSITIVE):
        known, asked = (rows[column] == rows[column].max() for rows in SPLIT)
        with threadpool_limits(1):  # threads that wait for busy cores take longer than one
            learner.fit(train, known)
            found.append(roc_auc_score(asked, learner.predict_proba(test)[:, 1]))
    return found[0], found[1]


# %%
# What people use today: columns as they are, and fairlearn's filter of correlations.
def filtered() -> list[pd.DataFrame]:
    """Return the columns after fairlearn's CorrelationRemover."""
    from fairlearn.preprocessing import CorrelationRemover

    both = pd.concat([TRAIN, TEST]).drop(columns=TARGET)
    both[SENSITIVE] = both[SENSITIVE] == both[SENSITIVE].max()
    numbers = pd.get_dummies(both, dtype=float).astype(float)
    remover = CorrelationRemover(sensitive_feature_ids=[SENSITIVE]).fit(numbers[: len(TRAIN)])
    parts = (numbers[: len(TRAIN)], numbers[len(TRAIN) :])
    return [pd.DataFrame(remover.transform(part)) for part in parts]


def unprotected() -> dict[str, tuple[float, float]]:
    """Return the AUCs without a mechanism."""
    found = {"columns without sex": aucs(*(t.drop(columns=[SENSITIVE, TARGET]) for t in SPLIT))}
    try:
        found["CorrelationRemover"] = aucs(*filtered())
    except ImportError:
        print("fairlearn is not installed, so its CorrelationRemover is left out.\n")
    return found


# %%
# Cells are learnt and counted once for all mechanisms and budgets. For mechanisms that keep what
# predicts income, they are learnt to predict income and sex; for the others, sex and the columns
# themselves.
def protected() -> pd.DataFrame:
    """Return the AUCs of every mechanism and budget."""
    useful = TRAIN.drop(columns=TARGET)
    rows = {
        True: CountedRows.of(useful, SENSITIVE, cells=N_CELLS, target=TRAIN[TARGET]),
        False: CountedRows.of(useful, SENSITIVE, cells=N_CELLS),
    }
    found = []
    for name, mechanism in MECHANISMS.items():
        for epsilon in EPSILONS:
            sanitizer = mechanism.set_params(epsilon=epsilon).fit(rows[mechanism.needs_target])
            income, sex = aucs(*(sanitizer.transform(t.drop(columns=TARGET)) for t in SPLIT))
            kept = sanitizer.report_.utility_kept
            found.append((name, epsilon, income, sex, kept, sanitizer.guarantee_.holds))
    return pd.DataFrame(found, columns=["mechanism", "epsilon", TARGET, SENSITIVE, "kept", "holds"])


# %%
# The picture: the model's AUC over the attacker's.
def draw(curves: pd.DataFrame, points: dict[str, tuple[float, float]]) -> Figure:
    """Draw a curve for each mechanism and a point for each table without one."""
    figure, ax = plt.subplots(figsize=(8.5, 5.6), layout="constrained")
    for i, name in enumerate(MECHANISMS):
        curve = curves[curves["mechanism"] == name]
        ax.plot(curve[SENSITIVE], curve[TARGET], label=name, **line_style(i))
    best = curves[curves["mechanism"] == next(iter(MECHANISMS))]
    for epsilon, x, y in zip(best["epsilon"], best[SENSITIVE], best[TARGET], strict=True):
        ax.annotate(
            f"ε = {epsilon:g}",
            (x, y),
            (7, -12),
            textcoords="offset points",
            fontsize=8.5,
            bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 0.5},
        )
    for marker, (name, (income, sex)) in zip("X*", points.items(), strict=False):
        ax.plot(sex, income, color=GREY, marker=marker, markersize=11, linestyle="none", label=name)
    ax.axvline(0.5, color=GREY, linestyle=":", linewidth=1.4, label="attacker learns nothing")
    ax.set(
        xlabel="attacker: AUC of predicting sex (0.5 is guessing)",
        ylabel="model: AUC of predicting income",
        title="All columns of Adult, held-out rows",
    )
    tidy(ax)
    figure.legend(loc="outside lower center", ncols=3, frameon=False)
    return figure


# %%
# What is found without protection, and with it:
SPLIT = TRAIN, TEST = load_adult("train"), load_adult("test")
points = unprotected()
print(f"{f'AUC on {len(TEST):,} held-out rows':48s} income  sex")
for name, (income, sex) in points.items():
    print(f"{name:48s} {income:.3f}   {sex:.3f}")
curves = protected()
for name, epsilon, income, sex, *_ in curves.itertuples(index=False):
    print(f"{f'{name}, epsilon = {epsilon:g}':48s} {income:.3f}   {sex:.3f}")
print(f"\n{curves['holds'].sum()} of {len(curves)} releases meet their budget.")

# %%
# What a model loses, where the attacker gains little:
safe = curves[curves[SENSITIVE] <= 0.55]
for name, income in safe.groupby("mechanism", sort=False)[TARGET].max().items():
    print(f"{name}: {income:.3f} with an attacker's AUC of at most 0.55")

figure = draw(curves, points)
save(figure)
