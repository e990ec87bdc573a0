"""
Train a classifier on a private one-hot encoding
================================================

**Question:** does it predict better than a plain one-hot encoding of the released labels?

A released label stands for a distribution over the true values. ``output="posterior"`` releases
that distribution: one column P(X=x | Y=y) for each value x, where a plain one-hot has zeros and a
one. Here income is predicted from the occupation, with a budget on what it reveals about sex.

If the classifier is trained on released rows, both encodings predict about equally well for ORR,
where a weight per output can express both. The posterior helps a little for OUE, unless there is
hardly any noise, because it combines all noisy bits. It has another advantage: its columns are
those of the raw one-hot, so a model trained on raw rows can score released ones, and does so as
well as a model trained on them.

To be quick, this example uses 3,000 training and 5,000 test rows in each of 6 random splits.
"""

from __future__ import annotations

import warnings
from itertools import product

import matplotlib.pyplot as plt
import pandas as pd
from _common import GREY, epsilon_axis, line_style, save, tidy
from joblib import Parallel, delayed
from matplotlib.figure import Figure
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from skliftpriv import ORRSanitizer, OUESanitizer
from skliftpriv.datasets import load_adult
from skliftpriv.exceptions import SeededReleaseWarning

EPSILONS = [0.1, 0.25, 0.5, 1.0, 2.0]
MECHANISMS = {"ORR, optimal": ORRSanitizer, "OUE, a noisy bit per value": OUESanitizer}
LABELS = {ORRSanitizer: "label", OUESanitizer: "bits"}
PLAIN, PRIVATE, READY = (
    "plain one-hot of what is released",
    "private one-hot",
    "private one-hot, model of raw rows",
)
CV = StratifiedShuffleSplit(6, train_size=3000, test_size=5000, random_state=0)


# %%
# One split: fit every mechanism at every budget, and score the three encodings on test rows.
def learner() -> LogisticRegression:
    """Make the classifier."""
    return LogisticRegression(max_iter=500)


def one_split(train: pd.DataFrame, test: pd.DataFrame) -> list[dict[str, object]]:
    """Return the AUC on test rows of all mechanisms, budgets and encodings."""
    warnings.simplefilter("ignore", SeededReleaseWarning)  # this may be a worker process
    target, truth = train["income"], test["income"]
    raw = make_pipeline(OneHotEncoder(handle_unknown="ignore"), learner())
    raw.fit(train[["occupation"]], target)
    score = roc_auc_score(truth, raw.decision_function(test[["occupation"]]))
    rows: list[dict[str, object]] = [{"encoding": "raw", "auc": score}]
    for (name, mechanism), epsilon in product(MECHANISMS.items(), EPSILONS):
        # With a seed both encodings get the same draws; a private release has none.
        sanitizer = mechanism(
            "sex", "occupation", epsilon=epsilon, handle_unknown="resample", random_state=0
        )
        sanitizer.set_params(output=LABELS[mechanism])
        plain = make_pipeline(sanitizer, OneHotEncoder(handle_unknown="ignore"), learner())
        found = {PLAIN: plain.fit(train, target).decision_function(test)}
        sanitizer.set_params(output="posterior")
        private = make_pipeline(sanitizer, learner())
        found[PRIVATE] = private.fit(train, target).decision_function(test)
        # The columns have the names of the raw one-hot.
        posterior = sanitizer.transform(test)[raw[0].get_feature_names_out()]
        found[READY] = raw[-1].decision_function(posterior.to_numpy())
        for encoding, values in found.items():
            case = {"mechanism": name, "epsilon": epsilon, "encoding": encoding}
            rows.append({**case, "auc": roc_auc_score(truth, values)})
    return rows


# %%
# The picture has a panel for each mechanism.
def draw(found: pd.DataFrame, raw: float) -> Figure:
    """Draw the AUC over epsilon, a panel per mechanism."""
    figure, axes = plt.subplots(1, 2, figsize=(10, 4.6), sharey=True, layout="constrained")
    for ax, name in zip(axes, MECHANISMS, strict=True):
        ax.axhline(raw, color=GREY, linestyle=":", linewidth=1.8, label="raw one-hot, no privacy")
        for i, encoding in enumerate((PLAIN, PRIVATE, READY)):
            chosen = found[(found["mechanism"] == name) & (found["encoding"] == encoding)]
            auc = chosen.groupby("epsilon")["auc"].agg(["mean", "sem"])
            # Shifted a little, so that equal values can be seen.
            x = auc.index.to_numpy() * 1.05 ** (i - 1)
            ax.errorbar(x, auc["mean"], auc["sem"], capsize=3, label=encoding, **line_style(i))
        epsilon_axis(ax, EPSILONS)
        tidy(ax)
        ax.set(title=name, xlabel="budget ε on sex (nats)")
    figure.suptitle("Predicting income from a sanitised occupation")
    axes[0].set_ylabel("AUC of predicting income, ± s.e.")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2, frameon=False)
    return figure


# %%
# All splits, and the mean score of each encoding:
adult = load_adult()[["sex", "occupation", "income"]]
splits = CV.split(adult, adult["income"])
parts = Parallel(n_jobs=2)(
    delayed(one_split)(adult.iloc[train], adult.iloc[test]) for train, test in splits
)
found = pd.concat([pd.DataFrame(part).assign(split=i) for i, part in enumerate(parts)])
raw = float(found.loc[found["encoding"] == "raw", "auc"].mean())
found = found[found["encoding"] != "raw"]

keys = ["mechanism", "epsilon"]
table = found.pivot_table(index=keys, columns="encoding", values="auc", sort=False)
print(f"AUC of predicting income (raw one-hot of occupation: {raw:.3f}):\n")
short = {PLAIN: "plain", PRIVATE: "private", READY: "private, model of raw rows"}
print(table.rename(columns=short).to_string(float_format="{:.3f}".format))

# %%
# Is the difference between the two encodings more than chance?
wide = found.pivot(index=[*keys, "split"], columns="encoding", values="auc")
print("Private minus plain one-hot, mean over the splits ± standard error:\n")
gain = (wide[PRIVATE] - wide[PLAIN]).groupby(level=keys, sort=False).agg(["mean", "sem"])
for (name, epsilon), (mean, error) in gain.iterrows():
    verdict = "better" if mean > 2 * error else "worse" if mean < -2 * error else "no difference"
    print(f"{name:26} epsilon {epsilon:<4g}  {mean:+.4f} ± {error:.4f}  {verdict}")

ready = table[READY] - table[PRIVATE]
print(f"\nThe model of raw rows differs by {ready.min():+.3f} to {ready.max():+.3f} from one")
print("trained on the private one-hot.")

# %%
figure = draw(found, raw)
save(figure)
