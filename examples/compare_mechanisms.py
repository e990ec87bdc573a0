"""
Compare all mechanisms
======================

**Question:** which mechanism keeps most of a column for the same budget?

Left: one column, the occupation, with a budget on what it reveals about the relationship. The
optimal mechanism (ORR) keeps most, by definition. Those that form groups (SRR, subset merging)
follow. Where they merge all high-risk values, they keep no more than the watchdog, so their curves
may fall while the budget grows. Those designed for other purposes keep least for small budgets: GRR
and OUE add noise to every value, and Conditional Reporting masks S rather than X.

Right: SRLIP is for two or more columns and also protects against an attacker who already knows some
of them. So it has a panel of its own: sex and race, with a budget on what they reveal about income,
with and without side-channel resistance.
"""

from __future__ import annotations

import matplotlib.pyplot as plt
import pandas as pd
from _common import save

from skliftpriv import (
    ConditionalReporting,
    GRRSanitizer,
    ORRSanitizer,
    OUESanitizer,
    SRLIPSanitizer,
    SRRSanitizer,
    SubsetMergingSanitizer,
    WatchdogSanitizer,
)
from skliftpriv.datasets import load_adult
from skliftpriv.model_selection import tradeoff_curve
from skliftpriv.plotting import TradeoffDisplay

EPSILONS = [0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 2.5]
ONE = {"sensitive": "relationship", "useful": "occupation"}
TWO = {"sensitive": "income", "useful": ["sex", "race"]}
SINGLE_COLUMN = {
    "ORR, optimal": ORRSanitizer(**ONE, gap=1e-4),
    "SRR": SRRSanitizer(**ONE, gap=1e-4),
    "subset merging": SubsetMergingSanitizer(**ONE),
    "watchdog": WatchdogSanitizer(**ONE),
    "GRR": GRRSanitizer(**ONE),
    "OUE": OUESanitizer(**ONE),
    "Conditional Reporting": ConditionalReporting(**ONE),
}
TWO_COLUMNS = {
    "ORR, not side-channel resistant": ORRSanitizer(**TWO, gap=1e-4),
    "SRLIP, optimal": SRLIPSanitizer(**TWO, gap=1e-4),
    "SRLIP, column by column": SRLIPSanitizer(**TWO, strategy="product"),
}


# %%
# Two helpers turn a trade-off curve into a table and a ranking.
def table(curve: pd.DataFrame) -> pd.DataFrame:
    """Return the share of X kept, a row per mechanism and a column per epsilon."""
    names = curve["mechanism"].unique()
    return curve.pivot(index="mechanism", columns="epsilon", values="nmi").loc[names]


def ranking(shares: pd.Series) -> str:
    """Write names from the largest to the smallest share, with = where they hardly differ."""
    shares = shares.sort_values(ascending=False, kind="stable")
    signs = ["", *(" = " if step > -5e-4 else " > " for step in shares.diff().iloc[1:])]
    return "".join(sign + name for sign, name in zip(signs, shares.index, strict=True))


# %%
# One column: all mechanisms at the same budgets.
adult = load_adult()
one = tradeoff_curve(SINGLE_COLUMN, adult, EPSILONS)
kept = table(one)
print("Share of the occupation kept (NMI), by the budget on relationship:\n")
print(kept.to_string(float_format="{:.2f}".format))

# %%
# Two columns: what resistance to side channels costs.
two = tradeoff_curve(TWO_COLUMNS, adult, EPSILONS)
print("Share of sex and race kept, by the budget on income:\n")
print(table(two).to_string(float_format="{:.2f}".format))

# %%
# How the mechanisms rank, and where their curves fall:
met = pd.concat([one, two])["satisfied"]
print(f"{met.sum()} of {met.size} releases meet their budget.")
for epsilon in (0.5, 1.0):
    print(f"At epsilon = {epsilon:g}: {ranking(kept[epsilon])}.")
falling = kept.diff(axis=1).lt(-1e-3)
for name in falling.index[falling.any(axis=1)]:
    at = ", ".join(f"{epsilon:g}" for epsilon in EPSILONS if falling.loc[name, epsilon])
    print(f"{name} keeps less than at the next smaller budget for epsilon = {at}.")

# %%
# The picture draws both curves side by side.
figure, axes = plt.subplots(1, 2, figsize=(11, 5.6), sharey=True)
figure.subplots_adjust(left=0.07, right=0.98, top=0.93, bottom=0.3, wspace=0.08)
titles = (
    "One column: occupation, protecting relationship",
    "Two columns: sex and race, protecting income",
)
for ax, curve, title in zip(axes, (one, two), titles, strict=True):
    # The gap is left out: for optimal curves its band is thinner than a line.
    display = TradeoffDisplay.from_curve(curve.drop(columns="gap"), ax=ax)
    ax.set(ylim=(-0.02, 1.03), title=title)
    handles = list(display.lines_.values())
    ax.legend(
        handles=handles,
        loc="upper center",
        bbox_to_anchor=(0.5, -0.14),
        ncols=1 if len(handles) < 4 else 2,
        frameon=False,
    )
axes[1].set_ylabel("")
save(figure)
