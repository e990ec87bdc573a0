"""
Lift budgets, mechanisms and notions: what they keep and leak
=============================================================

How much of X the mechanisms keep for several notions and budgets, and what they leak.

Regenerates all 13 figures of Zarrabian, Ding and Sadeghi (2023), "On the Lift, Related Privacy
Measures, and Applications to Privacy-Utility Trade-Offs", and checks what the paper says about
them:

- figure 1: the min-lift has a far wider range than the max-lift;
- figures 2 and 3: the watchdog, on random joints and on the Adult table;
- figures 4 and 5: asymmetric optimal random response (AORR);
- figures 6 and 7: subset merging;
- figures 8 to 10: subset random response (SRR) against AORR and subset merging;
- figures 11 to 13: subset merging for l1-, chi2- and alpha-lift privacy;
- figures 14 and 15, which the paper does not have: the optimal random response for these notions,
  which it leaves open (docs/errata.md, 12), on random joints and on the Adult table.

Mechanisms are as published, with the corrections 1 to 3 of docs/errata.md, and are not repaired
where they miss their budget (erratum 10). Random joints are uniform cells, normalised, of 17 useful
and 5 sensitive symbols, in figure 10 of 200 and 15. The paper draws 1,000 of them, and 100 for
AORR; here figure 1 has 1,000, AORR 20, figure 10 (of which the paper does not say) 6, figure 14
has 5, and all others 120. Numbers that the paper states for random joints are compared with means
of 2,000. The Adult table has the training rows without Other-relative (erratum 7).

Run ``python examples/papers/lift.py`` (about ten minutes), with ``--quick`` for a small run.
Needs matplotlib: ``pip install "skliftpriv[plot]"``.

.. image:: /_static/papers/lift.png
   :alt: Utility and leakage of asymmetric optimal random response.
"""
# sphinx_gallery_thumbnail_path = "_static/papers/lift.png"

from __future__ import annotations

import sys
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from _common import (
    BLACK,
    BLUE,
    GREEN,
    ORANGE,
    PURPLE,
    VERMILLION,
    Checks,
    Instead,
    Options,
    listing,
    mean_and_error,
    parse_options,
    percent,
    save,
)
from _log_lifts import check_extremes, draw_extremes, log_lift_extremes
from _merging import nmi_of_groups
from _tradeoff import MAX_LIFT, MET, MIN_LIFT, NMI, SECONDS, Case, Study, draw_tradeoff
from matplotlib.figure import Figure

from skliftpriv.exceptions import BudgetWarning
from skliftpriv.mechanisms import subset_merging

PAPER = "Zarrabian, Ding and Sadeghi (2023)"
RANDOM, FEW, LARGE, ADULT = "random", "random, optimised", "large", "adult"
RANDOM_OPTIMUM, ADULT_OPTIMUM = "random, averaged", "adult, averaged"
VALUES = "random, values"
SPLITS = ("λ = 0.35", "λ = 0.5", "λ = 0.65")
ALIP = "ALIP, λ = 0.5"


def by_split(mechanism: str, with_ldp: bool) -> dict[str, Case]:
    """Return the curves of figures 2 to 7."""
    cases = {"LDP": Case(mechanism, "ldp")} if with_ldp else {}
    return cases | {f"λ = {lam:g}": Case(mechanism, lam=lam) for lam in (0.35, 0.5, 0.65)}


def by_mechanism(lam: float, *names: str) -> dict[str, Case]:
    """Return the curves of figures 8 to 10."""
    keys = {"AORR": "aorr", "SRR": "srr", "subset merging": "merging"}
    return {name: Case(keys[name], lam=lam) for name in names}


PAIR = ("l1", "chi2")
AVERAGED = {ALIP: Case("merging")} | {
    f"{name}, λ = {lam:g}": Case("merging", name, lam) for name in PAIR for lam in (0.5, 0.65)
}
ORDERS = {
    f"alpha-lift, α = {alpha:g}": Case("merging", "alpha", alpha=alpha)
    for alpha in (2.0, 10.0, 100.0)
} | {ALIP: Case("merging")}
OPTIMA = {
    f"{name}, {mechanism}": Case(key, notion)
    for name, notion in (("l1", "l1"), ("chi2", "chi2"), ("α = 2", "alpha"))
    for mechanism, key in (("optimum", "optimum"), ("merging", "merging"))
}


@dataclass(frozen=True)
class Spec:
    """What a figure shows."""

    data: str
    cases: dict[str, Case]
    subject: str
    quantities: tuple[int, ...] = (NMI, MIN_LIFT, MAX_LIFT)


THREE = "three mechanisms, λ = 0.65"
WITH_TIME = (NMI, MIN_LIFT, MAX_LIFT, SECONDS)
FIGURES = {
    2: Spec(RANDOM, by_split("watchdog", True), "watchdog"),
    3: Spec(ADULT, by_split("watchdog", True), "watchdog"),
    4: Spec(FEW, by_split("aorr", False), "optimal random response for ALIP"),
    5: Spec(ADULT, by_split("aorr", False), "optimal random response for ALIP"),
    6: Spec(RANDOM, by_split("merging", True), "subset merging"),
    7: Spec(ADULT, by_split("merging", True), "subset merging"),
    8: Spec(FEW, by_mechanism(0.65, "AORR", "SRR", "subset merging"), THREE, WITH_TIME),
    9: Spec(ADULT, by_mechanism(0.65, "AORR", "SRR", "subset merging"), THREE),
    10: Spec(
        LARGE, by_mechanism(0.5, "SRR", "subset merging"), "two mechanisms, λ = 0.5", WITH_TIME
    ),
    11: Spec(RANDOM, AVERAGED, "subset merging for averaged lifts"),
    12: Spec(ADULT, AVERAGED, "subset merging for averaged lifts"),
    13: Spec(RANDOM, ORDERS, "subset merging for alpha-lift, λ = 0.5"),
    14: Spec(RANDOM_OPTIMUM, OPTIMA, "the optimum for averaged lifts, λ = 0.5"),
    15: Spec(ADULT_OPTIMUM, OPTIMA, "the optimum for averaged lifts, λ = 0.5"),
}
STYLES = {
    "LDP": {"color": BLACK, "ls": "-", "marker": "o"},
    "λ = 0.35": {"color": ORANGE, "ls": "-.", "marker": "^"},
    "λ = 0.5": {"color": BLUE, "ls": "--", "marker": "s"},
    "λ = 0.65": {"color": VERMILLION, "ls": "-", "marker": "D"},
    "AORR": {"color": BLACK, "ls": "-", "marker": "o"},
    "SRR": {"color": VERMILLION, "ls": "--", "marker": "D"},
    "subset merging": {"color": BLUE, "ls": "-.", "marker": "s"},
    ALIP: {"color": BLACK, "ls": "-", "marker": "o", "zorder": 1.9},
    "l1, λ = 0.5": {"color": BLUE, "ls": "--", "marker": "s"},
    "l1, λ = 0.65": {"color": BLUE, "ls": ":", "marker": "D", "mfc": "white"},
    "chi2, λ = 0.5": {"color": VERMILLION, "ls": "--", "marker": "^"},
    "chi2, λ = 0.65": {"color": VERMILLION, "ls": ":", "marker": "v", "mfc": "white"},
    "alpha-lift, α = 2": {"color": GREEN, "ls": "--", "marker": "D"},
    "alpha-lift, α = 10": {"color": PURPLE, "ls": "-.", "marker": "s"},
    "alpha-lift, α = 100": {"color": ORANGE, "ls": ":", "marker": "^"},
    "l1, optimum": {"color": BLUE, "ls": "-", "marker": "s"},
    "l1, merging": {"color": BLUE, "ls": ":", "marker": "s", "mfc": "white"},
    "chi2, optimum": {"color": VERMILLION, "ls": "-", "marker": "^"},
    "chi2, merging": {"color": VERMILLION, "ls": ":", "marker": "^", "mfc": "white"},
    "α = 2, optimum": {"color": GREEN, "ls": "-", "marker": "D"},
    "α = 2, merging": {"color": GREEN, "ls": ":", "marker": "D", "mfc": "white"},
}


class Result:
    """The curves of one figure: arrays (joint, epsilon, quantity) by name."""

    def __init__(self, study: Study, number: int) -> None:
        self.spec = FIGURES[number]
        found = study.curves(self.spec.data, list(self.spec.cases.values()), f"figure {number}")
        self.curves = {name: found[case] for name, case in self.spec.cases.items()}
        self.epsilons = study.epsilons[self.spec.data]
        self.joints = len(study.joints[self.spec.data])

    def at(self, name: str, epsilon: float, quantity: int = NMI) -> np.ndarray:
        """Return one quantity at one epsilon for all joints."""
        return self.curves[name][:, np.flatnonzero(self.epsilons == epsilon)[0], quantity]

    def mean(self, name: str, quantity: int = NMI) -> np.ndarray:
        """Return the mean over the joints, by epsilon."""
        return self.curves[name][..., quantity].mean(axis=0)

    @property
    def title(self) -> str:
        """What the data are."""
        if self.spec.data in (ADULT, ADULT_OPTIMUM):
            return "Adult without Other-relative, S = relationship (5), X = occupation (15)"
        size = "|X| = 200, |S| = 15" if self.spec.data == LARGE else "|X| = 17, |S| = 5"
        return f"means of {self.joints} random joints, {size}"

    def table(self) -> None:
        """Print the utility at some budgets."""
        shown = [i for i, epsilon in enumerate(self.epsilons) if epsilon in (0.25, 0.5, 1, 2, 4, 8)]
        print("  NMI at ε =" + " " * 12 + "".join(f"{self.epsilons[i]:8g}" for i in shown))
        for name in self.curves:
            print(f"  {name:<22}" + "".join(f"{self.mean(name)[i]:8.3f}" for i in shown))


def order(
    checks: Checks,
    text: str,
    epsilons: np.ndarray,
    gains: Mapping[str, np.ndarray],
    *,
    each: bool = False,
    but: tuple[str, float] | None = None,
) -> None:
    """Check that gains, arrays (joint, epsilon), are not negative: on average, or each of them.

    A mean counts as negative when it is so by more than three standard errors. ``but`` records an
    exception, a curve and an epsilon; next to it there may be one more of the same curve.
    """
    bad, doubtful, where_bad = [], [], []
    for name, gain in gains.items():
        worst = gain.min(axis=0) if each else gain.mean(axis=0)
        sure = each or len(gain) == 1
        error = 0.0 if sure else gain.std(axis=0, ddof=1) / np.sqrt(len(gain))
        for i in np.flatnonzero(worst < -1e-9):
            point = f"{name} at ε = {epsilons[i]:g} ({worst[i]:+.3f})"
            if (worst < -1e-9 - 3 * error)[i]:
                bad.append(point)
                where_bad.append((name, float(epsilons[i])))
            else:
                doubtful.append(point)
    mean = np.mean([gain.mean() for gain in gains.values()])
    joints = {len(gain) for gain in gains.values()}.pop()
    where = "at the only budget" if epsilons.size == 1 else f"at all {epsilons.size} budgets"
    scope = f" on all {joints} joints" if each and joints > 1 else ""
    ours = f"{where}{scope}, on average by {mean:.3f}"
    if bad or doubtful:
        shown = f"not for {len(bad + doubtful)} of {len(gains) * epsilons.size} points"
        ours = f"{shown}: {listing(bad + doubtful)}; on average {mean:+.3f}"
    if doubtful:
        ours += f"; {len(doubtful)} of them are within three standard errors"
    instead = None
    if but is not None:
        name, epsilon = but
        instead = Instead(
            f"it holds except for {name} at ε = {epsilon:g} and at most one budget more",
            but in where_bad and len(bad) <= 2 and {curve for curve, _ in where_bad} == {name},
            "on one table the curves have few, large steps, and cross",
        )
    checks.claim(text, not bad, ours, instead=instead)


def gain_of(result: Result, more: str, less: str, quantity: int = NMI) -> np.ndarray:
    """Return by how much one curve is above another: array (joint, epsilon)."""
    first, second = result.curves[more][..., quantity], result.curves[less][..., quantity]
    with np.errstate(invalid="ignore"):
        return np.where(first == second, 0.0, first - second)  # two infinite leakages are equal


def check_splits(
    result: Result,
    checks: Checks,
    more_but: tuple[str, float] | None = None,
    less_but: tuple[str, float] | None = None,
) -> None:
    """Check what is said about λ in figures 2 to 5."""
    above = result.epsilons > 1
    gain = {"ALIP": gain_of(result, SPLITS[2], SPLITS[1])[:, above]}
    text = "λ = 0.65 has more utility than 0.5 for ε > 1"
    order(checks, text, result.epsilons[above], gain, but=more_but)
    gain = {"ALIP": gain_of(result, SPLITS[1], SPLITS[0])}
    text = "λ = 0.35 has less utility than 0.5"
    order(checks, text, result.epsilons, gain, but=less_but)


def check_watchdog(result: Result, checks: Checks, study: Study) -> None:
    """Check what is said about figures 2 and 3."""
    adult = result.spec.data == ADULT
    gain = {name: gain_of(result, "LDP", name) for name in SPLITS}
    text = "LDP has more utility than ALIP (Proposition 2)"
    order(checks, text, result.epsilons, gain, each=True)
    # Fewer symbols are high-risk for LDP, so what ALIP releases is a function of what LDP does.
    for side, what in ((MIN_LIFT, "min-lift"), (MAX_LIFT, "max-lift")):
        gain = {name: gain_of(result, "LDP", name, side) for name in SPLITS}
        text = f"LDP has more {what} leakage than ALIP"
        order(checks, text, result.epsilons, gain, each=True)
    if adult:
        check_splits(result, checks, ("ALIP", 1.5), ("ALIP", 1.25))
    else:
        check_splits(result, checks)
    # The values for Adult seem to be read off the curves: 0.2868 is stated as 0.28.
    values, rounding = ((0.28, 0.73), 0.01) if adult else ((0.17, 0.52), 0.005)
    for epsilon, value in zip((1, 2), values, strict=True):
        kept = result.at(SPLITS[1], epsilon) if adult else stated(study, "watchdog", epsilon)
        checks.value(f"λ = 0.5, ε = {epsilon}: NMI", value, kept, rounding=rounding)
    checks.note(missed(result) or "all budgets are met")


def stated(study: Study, mechanism: str, epsilon: float) -> np.ndarray:
    """Return the NMI of many random joints at a budget for which the paper states it."""
    cases = [Case(name) for name in ("watchdog", "merging")]
    found = study.curves(VALUES, cases, "stated values")[Case(mechanism)]
    return found[:, np.flatnonzero(study.epsilons[VALUES] == epsilon)[0], NMI]


def check_optimum(result: Result, checks: Checks, plain: Result) -> None:
    """Check what is said about figures 4 and 5, against the watchdog of figures 2 and 3."""
    adult = result.spec.data == ADULT
    check_splits(result, checks, ("ALIP", 1.25) if adult else None)
    value = 0.96 if adult else 0.94
    checks.value("λ = 0.5, ε = 2: NMI", value, result.at(SPLITS[1], 2))
    gain = {}
    for name in SPLITS:
        other = plain.curves[name][: result.joints]
        # Compared only where the watchdog meets its budget. Optima are within 1e-6.
        more = result.curves[name][..., NMI] - other[..., NMI] + 1e-6
        gain[name] = np.where(other[..., MET] == 1, more, 0)
    text = "AORR keeps more than the watchdog (here: where that meets its budget)"
    order(checks, text, result.epsilons, gain, each=True)
    text = "all privacy constraints are satisfied"
    checks.claim(text, not missed(result), missed(result) or "all, in exact arithmetic")


def missed(result: Result) -> str:
    """Say how often each mechanism misses its budget; empty if none does."""
    shares = []
    for name, curve in result.curves.items():
        share = (curve[..., MET] == 0).mean(axis=0)
        if share.any() and result.joints == 1:
            shares.append(f"{name} at {share.sum():.0f} of {share.size} ε")
        elif share.any():
            where = result.epsilons[share.argmax()]
            shares.append(f"{name} {share.mean():.1%} (most at ε = {where:g}: {share.max():.0%})")
    return f"as published the budget is missed by {listing(shares)}" if shares else ""


def check_met(result: Result, checks: Checks, plain: Result) -> None:
    """Check that all budgets are met, or find that complete merging misses the same ones."""
    text = missed(result)
    same = all(
        np.array_equal(curve[..., MET], plain.curves[split][: result.joints, :, MET])
        for name, curve in result.curves.items()
        for split in [name if name in plain.curves else f"λ = {result.spec.cases[name].lam:g}"]
        if name != "AORR"
    )
    checks.claim(
        "all privacy constraints are satisfied",
        not text,
        text or "all, in exact arithmetic",
        instead=Instead(
            "they are missed exactly where all high-risk symbols merged into one also miss them",
            same,
            "the groups are joined until they meet the budget or are one (errata, 10)"
            + (". The means in the picture do not show that" if result.joints > 1 else ""),
        ),
    )


def check_merging(result: Result, checks: Checks, plain: Result, study: Study) -> None:
    """Check what is said about figures 6 and 7, against the watchdog of figures 2 and 3."""
    adult = result.spec.data == ADULT
    gain = {name: (curve - plain.curves[name])[..., NMI] for name, curve in result.curves.items()}
    text = "subset merging keeps more than complete merging"
    order(checks, text, result.epsilons, gain, each=True)
    merged, complete = result.at(SPLITS[1], 1), plain.at(SPLITS[1], 1)
    if not adult:
        merged, complete = stated(study, "merging", 1), stated(study, "watchdog", 1)
        text = "λ = 0.5, ε = 2 (earlier version of the paper): NMI around"
        checks.value(text, 0.83, stated(study, "merging", 2), rounding=0.01)
    # "Around 0.73" is said of both data sets at once. On Adult, which has empty cells, the order
    # of the occupations decides between 0.715 and 0.734.
    checks.value("λ = 0.5, ε = 1: NMI around", 0.73, merged, rounding=0.015 if adult else 0.01)
    more, paper = merged.mean() / complete.mean() - 1, 1.6 if adult else 3.2
    # Two digits, as in 0.17 and 0.28, leave an error of three and two per cent.
    error = mean_and_error(complete)[1] / complete.mean()
    near = abs(more - paper) <= (1 + paper) * ((0.02 if adult else 0.03) + 3 * error)
    ours = f"{more:.0%}" + ("" if adult else f" ± {(1 + more) * error:.0%}")
    checks.claim(f"ε = 1: almost {paper:.0%} more than complete merging", near, ours)
    check_refinement(study, result.spec.data, checks)
    check_met(result, checks, plain)


def check_refinement(study: Study, data: str, checks: Checks) -> None:
    """Check eq. 13 and Definition 4: a refinement of the groups keeps more."""
    apart, gain, count = 0.0, np.inf, 0
    for joint in study.joints[data]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", BudgetWarning)
            result = subset_merging(joint, Case("merging").budget(1.0), repair=False)
        groups = [[joint.useful_labels.index(x) for x in group] for group in result.partition]
        kept = nmi_of_groups(joint.p_x, groups)
        apart = max(apart, abs(kept - result.nmi))
        count += len(groups) > 2
        for first, second in pairwise(groups):
            rest = [group for group in groups if group not in (first, second)]
            gain = min(gain, kept - nmi_of_groups(joint.p_x, [*rest, first + second]))
    checks.claim(
        "eq. 13 gives the utility of several groups",
        apart < 1e-9,
        f"λ = 0.5, ε = 1: the package's NMI, up to {apart:.0e}; {count} of "
        f"{len(study.joints[data])} with more than two groups",
    )
    text = "groups that are a refinement keep more (after Definition 4)"
    checks.claim(text, bool(gain > 0), f"joining two loses {gain:.3f} or more")


def check_response(result: Result, checks: Checks, plain: Result | None) -> None:
    """Check what is said about figures 8 to 10, against the watchdog of figures 2 and 3."""
    gain = {"SRR": gain_of(result, "SRR", "subset merging")}
    order(checks, "SRR has more utility than subset merging", result.epsilons, gain, each=True)
    # What subset merging releases is a function of what SRR does: the group.
    for side, what in ((MIN_LIFT, "min-lift"), (MAX_LIFT, "max-lift")):
        gain = {"SRR": gain_of(result, "SRR", "subset merging", side)}
        text = f"SRR has more {what} leakage than subset merging"
        order(checks, text, result.epsilons, gain, each=True)
    if "AORR" in result.curves:
        gap = gain_of(result, "AORR", "SRR").mean(axis=0)
        worst = int(np.abs(gap).argmax())
        checks.claim(
            "SRR is very close to AORR (here: on average over the budgets within 0.03)",
            bool(np.abs(gap).mean() <= 0.03),
            f"mean distance {np.abs(gap).mean():.3f}, largest {gap[worst]:.3f} at ε = "
            f"{result.epsilons[worst]:g}",
        )
    if plain is None:
        text = "leakage is below the budgets"
        checks.claim(text, not missed(result), missed(result) or "always, in exact arithmetic")
    else:
        check_met(result, checks, plain)
    if SECONDS in result.spec.quantities:
        note_times(result, checks)


def note_times(result: Result, checks: Checks) -> None:
    """Print the times of figures 8 and 10, which depend on solver and machine."""
    mean = {name: 1000 * result.mean(name, SECONDS) for name in result.curves}
    shown = ", ".join(f"{name} {values.mean():.0f} ms" for name, values in mean.items())
    checks.note(
        "times depend on the machine and are not checked. The paper: subset merging is much "
        f"faster; ours: on average {shown}"
    )
    if "AORR" in mean:
        ratio = mean["AORR"] / mean["SRR"]
        middle = (result.epsilons >= 1) & (result.epsilons <= 2.5)
        checks.note(
            "the paper: SRR is faster than AORR for ε < 1 and ε > 2.5, and slower in between; "
            f"ours: {ratio[~middle].mean():.1f} and {ratio[middle].mean():.1f} times as fast"
        )


def check_averages(result: Result, checks: Checks) -> None:
    """Check what is said about figures 11 and 12."""
    above, below = result.epsilons > 1, result.epsilons < 1
    adult = result.spec.data == ADULT
    text = "for λ = 0.5, l1- and chi2-privacy have more utility than ALIP"
    gain = {name: gain_of(result, f"{name}, λ = 0.5", ALIP) for name in PAIR}
    if adult:
        # With empty cells the order of the occupations decides at some budgets.
        ours = ", ".join(f"{name} {values.mean():+.3f}" for name, values in gain.items())
        checks.claim(
            f"{text} (here: on average over the budgets)",
            bool(min(values.mean() for values in gain.values()) > 0),
            ours,
        )
    else:
        order(checks, text, result.epsilons, gain)
    gain = {n: gain_of(result, f"{n}, λ = 0.65", f"{n}, λ = 0.5") for n in PAIR}
    for text, where, sign, epsilon in (
        ("λ = 0.65 has more utility than 0.5 for ε > 1", above, 1, 1.25),
        ("and less for ε < 1", below, -1, 0.5),
    ):
        part = {name: sign * values[:, where] for name, values in gain.items()}
        order(checks, text, result.epsilons[where], part, but=("chi2", epsilon) if adult else None)
    checks.note(missed(result) or "all budgets are met")


def check_orders(result: Result, checks: Checks) -> None:
    """Check what is said about figure 13."""
    names = list(result.curves)
    gain = {f"{a} to {b}": gain_of(result, a, b) for a, b in pairwise(names)}
    order(checks, "utility falls from α = 2 to 10, 100 and ALIP", result.epsilons, gain)
    apart = [float(np.abs(result.mean(name) - result.mean(ALIP)).max()) for name in names[:3]]
    checks.claim(
        "the larger α, the closer to ALIP",
        apart[0] > apart[1] > apart[2],
        f"largest distances {apart[0]:.3f}, {apart[1]:.3f} and {apart[2]:.3f}",
    )
    checks.note(missed(result) or "all budgets are met")


def check_optima(result: Result, checks: Checks) -> None:
    """Check the optimum for averaged lifts against subset merging, where that meets the budget."""
    gain, least = {}, np.inf
    for name in ("l1", "chi2", "α = 2"):
        best, merged = result.curves[f"{name}, optimum"], result.curves[f"{name}, merging"]
        more = best[..., NMI] - merged[..., NMI] + 1e-6  # rounding
        gain[name] = np.where(merged[..., MET] == 1, more, 0)
        least = min(least, float(best[..., MET].min()))
    text = "the optimum keeps more than subset merging (where that meets its budget)"
    order(checks, text, result.epsilons, gain, each=True)
    checks.claim("all optima meet their budget", least == 1, "all, in exact arithmetic")


def draw(result: Result, number: int) -> Figure:
    """Draw one of the figures 2 to 15."""
    source = PAPER if number <= 13 else f"Beyond {PAPER}"
    title = f"{source}, figure {number}: {result.spec.subject}\n{result.title}"
    budgets = {}
    if number == 10:
        budgets = {MIN_LIFT: result.epsilons / 2, MAX_LIFT: result.epsilons / 2}
    return draw_tradeoff(
        title, result.epsilons, result.curves, STYLES, result.spec.quantities, budgets
    )


def first_figure(options: Options, checks: Checks) -> None:
    """Draw and check figure 1."""
    joints = 300 if options.quick else 1000
    found = log_lift_extremes(5, 17, joints)
    title = f"{PAPER}, figure 1\n{joints} random joints, |X| = 17, |S| = 5"
    save(draw_extremes(found, title), options, "lift", 1)
    checks.heading(f"Figure 1 ({joints} joints)")
    check_extremes(found, "[-12, -0.06]", "[0.02, 1.64]", checks)
    far = found[0] < -6
    checks.claim(
        "smallest log-lifts below -6 have probability near zero", far.mean() < 0.02, percent(far)
    )


def main() -> int:
    """Compute, draw, check; exit code 1 if a claim or a recorded discrepancy does not hold."""
    options = parse_options(__doc__, range(1, 16))
    checks, study = Checks(), Study.of(options.quick)
    print(PAPER)
    if options.wants(1):
        first_figure(options, checks)
    for number, spec in FIGURES.items():
        if not options.wants(number):
            continue
        result = Result(study, number)
        save(draw(result, number), options, "lift", number)
        checks.heading(f"Figure {number}: {spec.subject}, {result.title}")
        result.table()
        if number in (2, 3):
            check_watchdog(result, checks, study)
        elif number in (4, 5):
            check_optimum(result, checks, Result(study, number - 2))
        elif number in (6, 7):
            check_merging(result, checks, Result(study, number - 4), study)
        elif number in (8, 9):
            check_response(result, checks, Result(study, number - 6))
        elif number == 10:
            check_response(result, checks, None)
        elif number in (11, 12):
            check_averages(result, checks)
        elif number == 13:
            check_orders(result, checks)
        else:
            check_optima(result, checks)
    return checks.exit_code()


if __name__ == "__main__":
    sys.exit(main())
