"""
Choose epsilon by cross-validation
==================================

**Question:** which epsilon should I use if the released columns are to predict something?

One grid search measures two things for each epsilon: how well sanitised occupation and education
predict income, and how much they still reveal about the relationship in the household. Then a rule
chooses epsilon, and different rules answer different questions:

- ``best_score_with_leakage_below``: how well can I predict if no relationship may become more than
  twice as probable?
- ``smallest_epsilon_within_one_se``: how small can epsilon be with a score close to the best?

The second rule allows more leakage here, because what predicts income also reveals the
relationship. To be quick, the search uses 8,000 of the rows.
"""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from _common import BLUE, GREY, VERMILLION, epsilon_axis, save, tidy
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from skliftpriv import SubsetMergingSanitizer
from skliftpriv.datasets import load_adult
from skliftpriv.metrics import max_log_lift_scorer
from skliftpriv.model_selection import (
    best_score_with_leakage_below,
    smallest_epsilon_within_one_se,
)

EPSILONS = [0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0]
SENSITIVE = "relationship"
USEFUL = ["occupation", "education"]
TIMES = 2.0
CV = StratifiedKFold(5, shuffle=True, random_state=0)


# %%
# The upper panel shows the score, the lower one the leakage; rings mark the choices of the rules.
def draw(
    auc: np.ndarray, error: np.ndarray, lift: np.ndarray, raw: float, chosen: dict[str, int]
) -> Figure:
    """Draw score and leakage over epsilon, and mark the choices."""
    figure, (top, bottom) = plt.subplots(
        2, 1, figsize=(7.5, 6.8), sharex=True, layout="constrained"
    )
    top.errorbar(EPSILONS, auc, error, color=BLUE, marker="o", capsize=3, label="sanitised, ± s.e.")
    top.axhline(raw, color=GREY, linestyle="--", label="columns as they are")
    best = int(auc.argmax())
    top.axhspan(
        auc[best] - error[best],
        auc[best],
        color=BLUE,
        alpha=0.12,
        lw=0,
        label="within one s.e. of the best",
    )
    top.set(
        ylabel="AUC of predicting income", title="Predicting income from occupation and education"
    )
    bottom.plot(EPSILONS, np.exp(lift), color=BLUE, marker="o", label="largest in any fold")
    bottom.plot(
        EPSILONS,
        np.exp(EPSILONS),
        color=GREY,
        linestyle=":",
        label="what the budget allows, exp(ε)",
    )
    bottom.axhline(TIMES, color=GREY, linestyle="--", label=f"cap, {TIMES:g}")
    bottom.set(ylabel="factor on a relationship", xlabel="budget ε (nats)")
    bottom.set_ylim(0.95, 1.15 * np.exp(lift.max()))
    rings = []
    for (name, i), marker in zip(chosen.items(), "sD", strict=True):
        look = {"marker": marker, "markersize": 13, "color": VERMILLION, "linestyle": "none"}
        look |= {"fillstyle": "none", "markeredgewidth": 1.8, "zorder": 5}
        for ax, y in ((top, auc[i]), (bottom, np.exp(lift[i]))):
            ax.axvline(EPSILONS[i], color=VERMILLION, linewidth=0.8, alpha=0.6)
            ax.plot(EPSILONS[i], y, **look)
        rings.append(Line2D([], [], label=f"{name}: ε = {EPSILONS[i]:g}", **look))
    for ax in (top, bottom):
        tidy(ax)
        epsilon_axis(ax, EPSILONS)
    top.legend(loc="lower right")
    bottom.legend(loc="upper left")
    figure.legend(handles=rings, loc="outside lower center", ncols=2, frameon=False)
    return figure


# %%
# The two columns are one joint symbol, so they are protected together. A rare pair of values
# that is missing from a fold is replaced by a random draw.
adult = load_adult().sample(8000, random_state=0)
learner = (OneHotEncoder(handle_unknown="ignore"), LogisticRegression(max_iter=500))
sanitizer = SubsetMergingSanitizer(SENSITIVE, USEFUL, handle_unknown="resample", random_state=0)
capped = best_score_with_leakage_below(float(np.log(TIMES)), score="auc")
search = GridSearchCV(
    make_pipeline(sanitizer, *learner),
    {"subsetmergingsanitizer__epsilon": EPSILONS},
    scoring={"auc": "roc_auc", "max_log_lift": max_log_lift_scorer},
    refit=capped,
    cv=CV,
    n_jobs=2,
)
search.fit(adult[[SENSITIVE, *USEFUL]], adult["income"])
raw = cross_val_score(
    make_pipeline(*learner), adult[USEFUL], adult["income"], scoring="roc_auc", cv=CV
)

# %%
# A rule is a function of the results, so several rules can use one search.
found = search.cv_results_
folds = np.array([found[f"split{i}_test_auc"] for i in range(CV.n_splits)])
auc, error = folds.mean(axis=0), folds.std(axis=0, ddof=1) / np.sqrt(len(folds))
lift = np.max([found[f"split{i}_test_max_log_lift"] for i in range(CV.n_splits)], axis=0)
chosen = {
    f"best AUC with lift below {TIMES:g}": search.best_index_,
    "most private within one standard error": smallest_epsilon_within_one_se("auc")(found),
}

# %%
# What the search measured, and what each rule chose:
print("epsilon   AUC ± standard error   largest factor on the probability of a relationship")
for i, epsilon in enumerate(EPSILONS):
    print(f"{epsilon:7g}   {auc[i]:.3f} ± {error[i]:.3f}          {np.exp(lift[i]):.2f}")
print(f"   none   {raw.mean():.3f}, for the columns as they are")
for name, i in chosen.items():
    lost = raw.mean() - auc[i]
    print(f"\n{name}: epsilon = {EPSILONS[i]:g}")
    print(f"    AUC {auc[i]:.3f}, {lost:.3f} below raw; factor at most {np.exp(lift[i]):.2f}")

figure = draw(auc, error, lift, float(raw.mean()), chosen)
save(figure)
