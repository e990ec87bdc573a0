"""Which lift budgets, mechanisms and notions keep how much of X, and what they leak.

Regenerates all 13 figures of Zarrabian, Ding and Sadeghi (2023), "On the Lift, Related Privacy
Measures, and Applications to Privacy-Utility Trade-Offs", and checks what the paper says of them:

- figure 1: the min-lift spreads far wider than the max-lift;
- figures 2 and 3: the watchdog, on random joints and on the Adult table;
- figures 4 and 5: asymmetric optimal random response (AORR);
- figures 6 and 7: subset merging;
- figures 8 to 10: subset random response (SRR) against AORR and subset merging;
- figures 11 to 13: subset merging for l1-, chi2- and alpha-lift privacy.

Mechanisms are as published, with the corrections 1 to 3 of docs/errata.md, and are not repaired
where they miss their budget (correction 8). Random joints are uniform cells, normalised, |X| = 17
and |S| = 5, in figure 10 200 and 15. The paper draws 1,000 of them, and 100 for AORR; here figure 1
has 1,000, AORR 20, figure 10 (of which the paper does not say) 6, and all others 120.

Run ``python examples/papers/lift.py`` (about ten minutes), with ``--quick`` for a small run.
Needs matplotlib: ``pip install "skliftpriv[plot]"``.
"""

from __future__ import annotations

import sys
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
    Options,
    listing,
    parse_options,
    percent,
    save,
)
from _log_lifts import check_extremes, draw_extremes, log_lift_extremes
from _tradeoff import MAX_LIFT, MET, MIN_LIFT, NMI, SECONDS, Case, Study, draw_tradeoff
from matplotlib.figure import Figure

PAPER = "Zarrabian, Ding and Sadeghi (2023)"
RANDOM, FEW, LARGE, ADULT = "random", "random, optimised", "large", "adult"
SPLITS = ("λ = 0.35", "λ = 0.5", "λ = 0.65")
ALIP = "ALIP, λ = 0.5"
SIX_VALUES = (
    "the paper counts five relationships, Adult has six. Ours are all 32,561 training rows; no "
    "reading of the data that we tried gives the paper's values (errata, 7)."
)
FEW_STEPS = "on one table the curves have few and large steps."


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
        if self.spec.data == ADULT:
            return "Adult, S = relationship (6), X = occupation (15)"
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
    because: str | None = None,
    *,
    each: bool = False,
) -> None:
    """Check that gains, arrays (joint, epsilon), are not negative: on average, or each of them.

    A mean counts as negative when it is so by more than three standard errors.
    """
    bad, doubtful = [], []
    for name, gain in gains.items():
        worst = gain.min(axis=0) if each else gain.mean(axis=0)
        sure = each or len(gain) == 1
        error = 0.0 if sure else gain.std(axis=0, ddof=1) / np.sqrt(len(gain))
        for i in np.flatnonzero(worst < -1e-9):
            point = f"{name} at ε = {epsilons[i]:g} ({worst[i]:+.3f})"
            (bad if (worst < -1e-9 - 3 * error)[i] else doubtful).append(point)
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
    checks.claim(text, not bad, ours, because)


def gain_of(result: Result, more: str, less: str, quantity: int = NMI) -> np.ndarray:
    """Return by how much one curve is above another: array (joint, epsilon)."""
    return (result.curves[more] - result.curves[less])[..., quantity]


def check_splits(result: Result, checks: Checks, because: str | None) -> None:
    """Check what is said of λ in figures 2 to 5."""
    above = result.epsilons > 1
    gain = {"ALIP": gain_of(result, SPLITS[2], SPLITS[1])[:, above]}
    text = "λ = 0.65 has more utility than 0.5 for ε > 1"
    order(checks, text, result.epsilons[above], gain, because)
    gain = {"ALIP": gain_of(result, SPLITS[1], SPLITS[0])}
    order(checks, "λ = 0.35 has less utility than 0.5", result.epsilons, gain, because)


def check_watchdog(result: Result, checks: Checks) -> None:
    """Check what is said of figures 2 and 3."""
    adult = result.spec.data == ADULT
    gain = {name: gain_of(result, "LDP", name) for name in SPLITS}
    text = "LDP has more utility than ALIP (Proposition 2)"
    order(checks, text, result.epsilons, gain, each=True)
    reason = "more symbols in the merged set need not lower its leakage."
    for side, what in ((MIN_LIFT, "min-lift"), (MAX_LIFT, "max-lift")):
        gain = {name: gain_of(result, "LDP", name, side) for name in SPLITS}
        text = f"LDP has more {what} leakage than ALIP"
        order(checks, text, result.epsilons, gain, reason)
    check_splits(result, checks, FEW_STEPS if adult else None)
    values, reason = ((0.28, 0.73), SIX_VALUES) if adult else ((0.17, 0.52), None)
    for epsilon, value in zip((1, 2), values, strict=True):
        kept = result.at(SPLITS[1], epsilon)
        checks.value(f"λ = 0.5, ε = {epsilon}: NMI", value, kept, because=reason)
    checks.note(missed(result) or "all budgets are met")


def check_optimum(result: Result, checks: Checks, plain: Result) -> None:
    """Check what is said of figures 4 and 5, against the watchdog of figures 2 and 3."""
    adult = result.spec.data == ADULT
    reason = "these are certified optima; on one table there is no averaging." if adult else None
    check_splits(result, checks, reason)
    value, reason = (0.96, SIX_VALUES) if adult else (0.94, None)
    checks.value("λ = 0.5, ε = 2: NMI", value, result.at(SPLITS[1], 2), because=reason)
    gain = {}
    for name in SPLITS:
        other = plain.curves[name][: result.joints]
        # Only where the watchdog keeps its promise is it a competitor. Optima are within 1e-6.
        more = result.curves[name][..., NMI] - other[..., NMI] + 1e-6
        gain[name] = np.where(other[..., MET] == 1, more, 0)
    text = "AORR keeps more than the watchdog (here: where that meets its budget)"
    order(checks, text, result.epsilons, gain, each=True)
    check_met(result, checks)


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


def check_met(result: Result, checks: Checks) -> None:
    """Check that all budgets are met."""
    text = missed(result)
    reason = "what is high-risk may miss the budget even when all of it is merged (errata, 8)"
    if result.joints > 1:
        reason += ", most often when a single symbol is, with nothing to merge it with. The means "
        reason += "in the picture hide that"
    reason += ". The package repairs it unless told not to."
    ours = text or "all, in exact arithmetic"
    checks.claim("all privacy constraints are satisfied", not text, ours, reason)


def check_merging(result: Result, checks: Checks, plain: Result) -> None:
    """Check what is said of figures 6 and 7, against the watchdog of figures 2 and 3."""
    adult = result.spec.data == ADULT
    gain = {name: (curve - plain.curves[name])[..., NMI] for name, curve in result.curves.items()}
    text = "subset merging keeps more than complete merging"
    order(checks, text, result.epsilons, gain, each=True)
    reason = SIX_VALUES if adult else None
    merged, complete = result.at(SPLITS[1], 1), plain.at(SPLITS[1], 1)
    # "Around 0.73" is said of both data sets at once.
    checks.value("λ = 0.5, ε = 1: NMI around", 0.73, merged, rounding=0.01, because=reason)
    if not adult:
        text = "λ = 0.5, ε = 2 (earlier version of the paper): NMI around"
        checks.value(text, 0.83, result.at(SPLITS[1], 2), rounding=0.01)
    more, paper = merged.mean() / complete.mean() - 1, 1.6 if adult else 3.2
    # Two digits, as in 0.17 and 0.28, leave an error of three and two per cent.
    error = 0.0 if adult else complete.std(ddof=1) / complete.mean() / np.sqrt(complete.size)
    near = abs(more - paper) <= (1 + paper) * ((0.02 if adult else 0.03) + 3 * error)
    ours = f"{more:.0%}" + ("" if adult else f" ± {(1 + more) * error:.0%}")
    checks.claim(f"ε = 1: almost {paper:.0%} more than complete merging", near, ours, reason)
    check_met(result, checks)


def check_response(result: Result, checks: Checks) -> None:
    """Check what is said of figures 8 to 10."""
    gain = {"SRR": gain_of(result, "SRR", "subset merging")}
    order(checks, "SRR has more utility than subset merging", result.epsilons, gain, each=True)
    for side, what in ((MIN_LIFT, "min-lift"), (MAX_LIFT, "max-lift")):
        gain = {"SRR": gain_of(result, "SRR", "subset merging", side)}
        text = f"SRR has more {what} leakage than subset merging"
        order(checks, text, result.epsilons, gain, "it may use more of the budget, but need not.")
    if "AORR" in result.curves:
        gap = gain_of(result, "AORR", "SRR").mean(axis=0)
        worst = int(np.abs(gap).argmax())
        checks.claim(
            "SRR is very close to AORR (here: within 0.05)",
            bool(np.abs(gap).max() <= 0.05),
            f"mean distance {gap.mean():.3f}, largest {gap[worst]:.3f} at ε = "
            f"{result.epsilons[worst]:g}",
            because="small budgets make small groups costly, and where the high-risk symbols "
            "cannot meet the budget among themselves SRR falls back to subset merging.",
        )
    check_met(result, checks)
    if SECONDS in result.spec.quantities:
        check_times(result, checks)


def check_times(result: Result, checks: Checks) -> None:
    """Compare the times of figures 8 and 10: of our solvers here, not of the paper's."""
    mean = {name: 1000 * result.mean(name, SECONDS) for name in result.curves}
    merging = mean["subset merging"]
    slow = np.min([mean[name] for name in mean if name != "subset merging"], axis=0)
    shown = ", ".join(f"{name} {values.mean():.0f} ms" for name, values in mean.items())
    reason = "times depend on solver and machine."
    text = "subset merging is much faster than the others"
    checks.claim(text, bool((slow > merging).all()), f"on average {shown}", reason)
    if "AORR" not in mean:
        return
    ratio = mean["AORR"] / mean["SRR"]
    middle = (result.epsilons >= 1) & (result.epsilons <= 2.5)
    text = "SRR is faster than AORR for ε < 1 and ε > 2.5"
    checks.claim(
        text, bool((ratio[~middle] > 1).all()), f"{ratio[~middle].mean():.1f} times as fast", reason
    )
    text = "and slower in between"
    checks.claim(
        text,
        bool((ratio[middle] < 1).all()),
        f"{ratio[middle].mean():.1f} times as fast",
        reason,
    )


def check_averages(result: Result, checks: Checks) -> None:
    """Check what is said of figures 11 and 12."""
    above, below = result.epsilons > 1, result.epsilons < 1
    reason = FEW_STEPS if result.spec.data == ADULT else None
    text = "for λ = 0.5, l1- and chi2-privacy have more utility than ALIP"
    gain = {name: gain_of(result, f"{name}, λ = 0.5", ALIP) for name in PAIR}
    order(checks, text, result.epsilons, gain, reason)
    gain = {n: gain_of(result, f"{n}, λ = 0.65", f"{n}, λ = 0.5") for n in PAIR}
    text = "λ = 0.65 has more utility than 0.5 for ε > 1"
    order(checks, text, result.epsilons[above], {k: v[:, above] for k, v in gain.items()}, reason)
    text = "and less for ε < 1"
    order(checks, text, result.epsilons[below], {k: -v[:, below] for k, v in gain.items()}, reason)
    checks.note(missed(result) or "all budgets are met")


def check_orders(result: Result, checks: Checks) -> None:
    """Check what is said of figure 13."""
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


def draw(result: Result, number: int) -> Figure:
    """Draw one of the figures 2 to 13."""
    title = f"{PAPER}, figure {number}: {result.spec.subject}\n{result.title}"
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
    """Compute, draw, check; exit code 1 if a claim that has to hold does not."""
    options = parse_options(__doc__, range(1, 14))
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
            check_watchdog(result, checks)
        elif number in (4, 5):
            check_optimum(result, checks, Result(study, number - 2))
        elif number in (6, 7):
            check_merging(result, checks, Result(study, number - 4))
        elif number in (8, 9, 10):
            check_response(result, checks)
        elif number in (11, 12):
            check_averages(result, checks)
        else:
            check_orders(result, checks)
    return checks.exit_code()


if __name__ == "__main__":
    sys.exit(main())
