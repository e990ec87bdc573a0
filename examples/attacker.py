"""
Attack a release
================

**Question:** how much does an attacker gain, and how much does the budget allow?

A person's relationship in the household nearly determines their marital status. Mechanisms are
fitted to the training rows of Adult, the test rows are released, and an attacker who knows the
marital status of four fifths of them learns to guess the others. The gain is the share of right
guesses above that of always guessing the most frequent status.

The budget bounds that gain for every attacker and every column. For a given column most mechanisms
stay far below the bound, which assumes that every output uses the whole budget in the way that
helps guessing most.
"""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from _common import GREY, epsilon_axis, line_style, save, tidy
from matplotlib.figure import Figure

from skliftpriv import (
    ConditionalReporting,
    GRRSanitizer,
    ORRSanitizer,
    OUESanitizer,
    SubsetMergingSanitizer,
)
from skliftpriv.datasets import load_adult
from skliftpriv.metrics import attacker_advantage, attacker_advantage_bound

EPSILONS = [0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0]
SENSITIVE, USEFUL = "marital-status", "relationship"
MECHANISMS = {
    "ORR, optimal": ORRSanitizer,
    "GRR": GRRSanitizer,
    "OUE": OUESanitizer,
    "Conditional Reporting": ConditionalReporting,
    "subset merging": SubsetMergingSanitizer,
}


# %%
# Each mechanism is fitted to the training rows and attacked on the test rows.
def attack(train: pd.DataFrame, test: pd.DataFrame) -> tuple[pd.DataFrame, list[float]]:
    """Return the gain of the attacker by mechanism and epsilon, and its bound by epsilon."""
    gains = pd.DataFrame(index=list(MECHANISMS), columns=EPSILONS, dtype=float)
    bounds = []
    for epsilon in EPSILONS:
        for name, mechanism in MECHANISMS.items():
            # The seed makes the picture reproducible; a private release has none.
            sanitizer = mechanism(SENSITIVE, USEFUL, epsilon=epsilon, random_state=0).fit(train)
            released = sanitizer.transform(test)
            gains.loc[name, epsilon] = attacker_advantage(test[SENSITIVE], released, random_state=0)
        bounds.append(attacker_advantage_bound(sanitizer.notion_, sanitizer.joint_.p_s))
    return gains, bounds


# %%
# The picture has a line for each mechanism, and the bound for all of them.
def draw(gains: pd.DataFrame, bounds: list[float], raw: float) -> Figure:
    """Draw the gain of the attacker over epsilon."""
    figure, ax = plt.subplots(figsize=(8.5, 4.8), layout="constrained")
    ax.plot(EPSILONS, bounds, color="black", linewidth=2.2, label="bound for any attacker")
    ax.fill_between(EPSILONS, bounds, 1.0, color="black", alpha=0.07, linewidth=0)
    ax.axhline(raw, color=GREY, linestyle=":", linewidth=1.8, label=f"{USEFUL} as it is")
    for i, (name, gain) in enumerate(gains.iterrows()):
        ax.plot(EPSILONS, gain, label=name, **line_style(i))
    ax.set_ylim(-0.02, 1.12 * max(bounds))
    ax.set(
        xlabel="budget ε (nats)",
        ylabel="gain in right guesses, share of rows",
        title=f"Guessing {SENSITIVE} from released {USEFUL}, held-out rows",
    )
    epsilon_axis(ax, EPSILONS)
    tidy(ax)
    figure.legend(loc="outside right upper", frameon=False)
    return figure


# %%
# Without protection most guesses are right.
columns = [SENSITIVE, USEFUL]
train, test = (load_adult(split)[columns] for split in ("train", "test"))
raw = attacker_advantage(test[SENSITIVE], test[USEFUL], random_state=0)
prior = test[SENSITIVE].value_counts(normalize=True)
print(f"Without a release, {prior.index[0]!r} is right for {prior.iloc[0]:.1%} of {len(test):,}")
print(f"held-out rows; with {USEFUL} as it is, {prior.iloc[0] + raw:.1%} are guessed.")

# %%
# With protection the gain stays below the bound, usually far below.
gains, bounds = attack(train, test)
error = 1 / np.sqrt(len(test))
print(f"Gain in right guesses, by epsilon (standard error at most {error:.3f}):\n")
shown = gains.copy()
shown.loc["bound for any attacker"] = bounds
print(shown.to_string(float_format="{:.3f}".format))

above = int((gains.to_numpy() > np.array(bounds) + 2 * error).sum())
print(f"\n{above} of {gains.size} gains lie above the bound by more than two standard errors.")
share = gains[1.0] / bounds[EPSILONS.index(1.0)]
print(f"At epsilon = 1 they are {share.min():.0%} ({share.idxmin()}) to {share.max():.0%}")
print(f"({share.idxmax()}) of the bound; the column as it is gives {raw:.3f}.")

figure = draw(gains, bounds, raw)
save(figure)
