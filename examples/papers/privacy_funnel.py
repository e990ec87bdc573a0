"""
Explicit protocols compared with the best possible
==================================================

How much of X explicit protocols keep, compared with the best possible.

Regenerates figures 3 to 8 of Lopuhaa-Zwakenberg, Tong and Skoric (2020), "Data Sanitisation
Protocols for the Privacy Funnel with Differential Privacy Guarantees", and checks what the paper
says about them:

- figure 3: optimal protocols for LDP and LIP, and how long it takes to find them;
- figure 4: several attributes, LIP against side-channel resistant LIP (SRLIP);
- figure 5: I(X;Y) against epsilon on the Adult table, also where the paper could not compute it
  (OUE for education, the optimum for S = occupation), and next to Conditional Reporting the best
  mechanism that sees S as it does;
- figure 6: mean and spread of NMI on random joints, GRR against Conditional Reporting (CR);
- figure 7: the difference in alpha explains the difference in utility; other properties do not;
- figure 8: alpha against epsilon on the Adult table.

Figures 1 and 2 of the paper are diagrams without data.

The paper ends with the remark that CR is not consistently better than GRR and OUE, and hopes for
improved protocols where it is not. Figure 5 answers the second part: the optimum of all protocols
P(Y|S,X) that see S, of which CR is one, is found by the same optimisation with pairs (s, x) as
inputs. It keeps far more than CR, GRR and OUE, whichever of them is better. It is certified where
S has few values or X has two; for S = occupation with the other X a search of a few seconds ends
with a wide gap, which is shaded. Which property of a distribution makes CR fail remains open.

Run ``python examples/papers/privacy_funnel.py`` (about ten minutes), with ``--quick`` for a small
run. Needs matplotlib: ``pip install "skliftpriv[plot]"``.

.. image:: /_static/papers/privacy_funnel.png
   :alt: Information kept by each protocol against epsilon.
"""
# sphinx_gallery_thumbnail_path = "_static/papers/privacy_funnel.png"

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from _common import (
    BLACK,
    BLUE,
    GREEN,
    PURPLE,
    VERMILLION,
    Checks,
    Instead,
    Options,
    add_legend,
    label_outer,
    listing,
    parallel_map,
    parse_options,
    save,
)
from _funnel_speed import (
    SpeedScale,
    check_attributes,
    check_notions,
    draw_attributes,
    draw_notions,
    run_attributes,
    run_notions,
)
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from skliftpriv import LIP, JointDistribution
from skliftpriv.datasets import load_adult, make_joint
from skliftpriv.measures import entropy, mutual_information
from skliftpriv.mechanisms import (
    conditional_reporting,
    generalized_randomized_response,
    optimal_random_response,
    optimized_unary_encoding,
)

PAPER = "Lopuhaä-Zwakenberg, Tong and Škorić (2020)"
SENSITIVE = ["marital-status", "occupation"]
USEFUL = ["education", "relationship", "sex"]
SIZES = [(5, 5), (15, 5), (5, 15), (15, 15)]  # (a, c) = (|X|, |S|)
# The text of the paper does not give the three epsilons of figure 7. Those that match its
# correlations were chosen from this sweep, all of which is printed.
SWEEP = (0.25, 0.5, 1.0, 1.5, 2.0, 3.0)
PAPER_CORRELATIONS = {1.0: 0.9815, 1.5: 0.9889, 2.0: 0.9731}
CERTIFIED = 1e-3  # gap of an optimum, in NMI, with which others are compared
PROPERTIES = ("I(X;S)", "max p(x,s)", "max p(x)", "max p(s)")

# Where the larger alpha does not go with the larger utility: first and last epsilon.
SIGNS_DIFFER = {
    ("marital-status", "education"): (0.1, 0.25),
    ("marital-status", "relationship"): (0.1, 0.5),
    ("occupation", "education"): (0.1, 0.25),
    ("occupation", "relationship"): (0.75, 0.75),
    ("occupation", "sex"): (1.5, 4.0),
}

STYLES = {
    "best": {"color": PURPLE, "marker": "v", "linestyle": "-"},
    "ORR": {"color": BLACK, "marker": "o", "linestyle": "-"},
    "CR": {"color": VERMILLION, "marker": "s", "linestyle": "-"},
    "GRR": {"color": BLUE, "marker": "^", "linestyle": "--"},
    "OUE": {"color": GREEN, "marker": "D", "linestyle": ":"},
}
NAMES = {
    "best": "best found that sees S",
    "ORR": "ORR: optimum that does not see S",
    "CR": "CR (sees S)",
    "GRR": "GRR",
    "OUE": "OUE",
}


@dataclass(frozen=True)
class Scale:
    """How much is computed."""

    epsilons: np.ndarray
    joints: int
    synthetic_epsilons: np.ndarray
    correlated_joints: int
    time_limit: float  # of one optimum, in seconds

    @classmethod
    def of(cls, quick: bool) -> Scale:
        """Return the small or the full run."""
        if quick:
            return cls(np.array([0.25, 0.75, 1, 2, 4]), 10, np.array([0.5, 1, 2]), 50, 0.7)
        epsilons = np.array([0.1, 0.25, 0.5, 0.75, 1, 1.25, 1.5, 2, 2.5, 3, 3.5, 4])
        return cls(epsilons, 100, np.array([0.5, 1, 1.5, 2, 3]), 100, 6.0)


@dataclass(frozen=True)
class PairResult:
    """What the protocols reach on one pair of columns: arrays over epsilon."""

    sensitive: str
    useful: str
    shape: tuple[int, int]
    entropy: float
    epsilons: np.ndarray
    utility: dict[str, np.ndarray]
    alpha: dict[str, np.ndarray]
    bound: dict[str, np.ndarray]

    @property
    def title(self) -> str:
        """S and X with their sizes."""
        return f"S = {self.sensitive} ({self.shape[0]}), X = {self.useful} ({self.shape[1]})"

    def gap(self, name: str) -> np.ndarray:
        """Largest possible distance of an optimum from what was found, in NMI."""
        return (self.bound[name] - self.utility[name]) / self.entropy


def run_budget(joint: JointDistribution, eps: float, time_limit: float) -> dict[str, tuple]:
    """Run all protocols at one budget: (I(X;Y), alpha or bound of I(X;Y)) by protocol."""
    notion = LIP(eps)
    tuned = {
        "CR": conditional_reporting(joint, notion),
        "GRR": generalized_randomized_response(joint, notion),
        "OUE": optimized_unary_encoding(joint, notion),
    }
    found = {name: (r.report.mutual_information, r.alpha) for name, r in tuned.items()}
    # A 15 x 16 problem has too many vertices to list; column generation has a time limit.
    blind = optimal_random_response(
        joint, notion, method="column-generation", time_limit=time_limit
    )
    seeing = optimal_random_response(joint, notion, use_sensitive=True, time_limit=time_limit)
    kept = entropy(joint.p_x)
    found["ORR"] = blind.report.mutual_information, blind.upper_bound * kept
    # What does not look at S is allowed here, too, and may be better if time was short.
    most = max(seeing.report.mutual_information, blind.report.mutual_information)
    found["best"] = most, seeing.upper_bound * kept
    return found


def run_pairs(scale: Scale) -> list[PairResult]:
    """Run all protocols on all six pairs of columns of the Adult table."""
    adult = load_adult()
    pairs = [(s, x) for s in SENSITIVE for x in USEFUL]
    joints = [JointDistribution.from_frame(adult, s, x) for s, x in pairs]
    tasks = [(joint, float(eps), scale.time_limit) for joint in joints for eps in scale.epsilons]
    rows = parallel_map(run_budget, tasks, "figures 5 and 8")
    results = []
    for i, (pair, joint) in enumerate(zip(pairs, joints, strict=True)):
        part = rows[i * scale.epsilons.size : (i + 1) * scale.epsilons.size]
        values = {name: np.array([row[name] for row in part]).T for name in STYLES}
        utility = {name: value[0] for name, value in values.items()}
        alpha = {name: values[name][1] for name in ("GRR", "CR", "OUE")}
        kept = float(entropy(joint.p_x))
        bound = {name: values[name][1] for name in ("best", "ORR")}
        for name in bound:
            # A mechanism also meets all larger budgets, and a bound holds for all smaller ones.
            utility[name] = np.maximum.accumulate(utility[name])
            bound[name] = np.minimum.accumulate(bound[name][::-1])[::-1]
        results.append(PairResult(*pair, joint.shape, kept, scale.epsilons, utility, alpha, bound))
    return results


def draw_utility(results: Sequence[PairResult]) -> Figure:
    """Draw figure 5."""
    figure, axes = plt.subplots(2, 3, figsize=(13, 7.5), sharex=True, layout="constrained")
    for ax, result in zip(axes.flat, results, strict=True):
        for name, style in STYLES.items():
            ax.plot(result.epsilons, result.utility[name], label=NAMES[name], ms=5, **style)
        for name, bound in result.bound.items():
            style = {"color": STYLES[name]["color"], "alpha": 0.15, "lw": 0}
            ax.fill_between(result.epsilons, result.utility[name], bound, **style)
        for level, text, place in ((1.0, "H(X)", 0.05), (0.5, "H(X)/2", 0.79)):
            ax.axhline(level * result.entropy, color="#999999", lw=0.8, zorder=0)
            ax.annotate(
                text,
                (place, level * result.entropy),
                xycoords=("axes fraction", "data"),
                xytext=(0, 2),
                textcoords="offset points",
                ha="center",
                fontsize=8,
                color="#555555",
            )
        ax.set_title(result.title, fontsize=10)
        ax.set_ylim(0, 1.1 * result.entropy)
        ax.set_xlim(0, 1.03 * result.epsilons[-1])
    label_outer(axes, "epsilon (LIP), nats", "I(X;Y) in nats")
    add_legend(figure, axes.flat[0])
    figure.suptitle(
        f"{PAPER}, figure 5: utility on the Adult table\n(shaded: up to the certified bound)",
        fontsize=13,
    )
    return figure


def draw_alphas(results: Sequence[PairResult]) -> Figure:
    """Draw figure 8, for all six pairs rather than two."""
    figure, axes = plt.subplots(2, 3, figsize=(13, 7.5), sharex=True, layout="constrained")
    for ax, result in zip(axes.flat, results, strict=True):
        for name in ("CR", "GRR"):
            # Where no noise is needed alpha is infinite, and the line ends.
            shown = np.where(np.isfinite(result.alpha[name]), result.alpha[name], np.nan)
            ax.plot(result.epsilons, shown, label=NAMES[name], ms=5, **STYLES[name])
        free = result.epsilons[np.isinf(result.alpha["GRR"])]
        right = 1.03 * result.epsilons[-1]
        if free.size:
            ax.axvspan(free[0], right, color="#EEEEEE", zorder=0)
            ax.text(
                (free[0] + right) / 2,
                0.5,
                "no noise needed:\nalpha infinite",
                transform=ax.get_xaxis_transform(),
                ha="center",
                va="center",
                fontsize=9,
                color="#555555",
            )
        ax.set_title(result.title, fontsize=10)
        ax.set_ylim(bottom=0)
        ax.set_xlim(0, right)
    label_outer(axes, "epsilon (LIP), nats", "alpha")
    add_legend(figure, axes.flat[0])
    figure.suptitle(f"{PAPER}, figure 8: alpha on the Adult table", fontsize=13)
    return figure


def run_joint(a: int, c: int, seed: int, epsilons: np.ndarray) -> np.ndarray:
    """NMI of GRR and CR on one Jeffreys joint: array (protocol, epsilon)."""
    joint = make_joint(c, a, kind="dirichlet", random_state=seed)
    notions = [LIP(float(eps)) for eps in epsilons]
    protocols = (generalized_randomized_response, conditional_reporting)
    return np.array([[protocol(joint, n).nmi for n in notions] for protocol in protocols])


def run_sizes(scale: Scale) -> dict[tuple[int, int], dict[str, np.ndarray]]:
    """NMI of GRR and CR on Jeffreys joints: arrays (joint, epsilon) by size and protocol."""
    epsilons = scale.synthetic_epsilons
    tasks = [(a, c, seed, epsilons) for a, c in SIZES for seed in range(scale.joints)]
    rows = np.array(parallel_map(run_joint, tasks, "figure 6"))
    parts = rows.reshape(len(SIZES), scale.joints, 2, epsilons.size)
    return {
        size: {"GRR": part[:, 0], "CR": part[:, 1]} for size, part in zip(SIZES, parts, strict=True)
    }


def draw_sizes(found: dict[tuple[int, int], dict[str, np.ndarray]], scale: Scale) -> Figure:
    """Draw figure 6."""
    figure, axes = plt.subplots(2, 2, figsize=(9, 7.5), sharex=True, sharey=True)
    figure.set_layout_engine("constrained")
    for ax, ((a, c), values) in zip(axes.flat, found.items(), strict=True):
        for shift, (name, rows) in zip((-0.02, 0.02), values.items(), strict=True):
            ax.errorbar(
                scale.synthetic_epsilons + shift,
                rows.mean(axis=0),
                yerr=rows.std(axis=0),
                label=NAMES[name],
                capsize=3,
                ms=5,
                **STYLES[name],
            )
        ax.set_title(f"a = |X| = {a}, c = |S| = {c}", fontsize=10)
        ax.set_ylim(0, 1)
        ax.set_xticks(scale.synthetic_epsilons)
    label_outer(axes, "epsilon (LIP), nats", "NMI, mean ± standard deviation")
    add_legend(figure, axes.flat[0])
    figure.suptitle(f"{PAPER}, figure 6\n{scale.joints} random joints per size", fontsize=12)
    return figure


def run_difference(seed: int, eps: float) -> tuple[float, ...]:
    """Difference CR - GRR in alpha and in I(X;Y) on one joint, a = c = 5, and its properties."""
    joint = make_joint(5, 5, kind="dirichlet", random_state=seed)
    mine = conditional_reporting(joint, LIP(eps))
    other = generalized_randomized_response(joint, LIP(eps))
    # Without noise both alphas are infinite, and there is nothing to compare.
    if not (np.isfinite(mine.alpha) and np.isfinite(other.alpha)):
        return (np.nan,) * (2 + len(PROPERTIES))
    gained = mine.report.mutual_information - other.report.mutual_information
    shared = float(mutual_information(joint.matrix))
    largest = (float(p.max()) for p in (joint.matrix, joint.p_x, joint.p_s))
    return mine.alpha - other.alpha, gained, shared, *largest


def run_differences(scale: Scale) -> dict[float, np.ndarray]:
    """Differences and properties of all joints: array (quantity, joint) by epsilon."""
    tasks = [(seed, eps) for eps in SWEEP for seed in range(scale.correlated_joints)]
    rows = np.array(parallel_map(run_difference, tasks, "figure 7"))
    parts = rows.reshape(len(SWEEP), scale.correlated_joints, -1)
    return {eps: part[~np.isnan(part[:, 0])].T for eps, part in zip(SWEEP, parts, strict=True)}


def draw_differences(found: dict[float, np.ndarray]) -> Figure:
    """Draw figure 7."""
    figure, axes = plt.subplots(1, 3, figsize=(13, 4.5), sharey=True, layout="constrained")
    for ax, eps in zip(axes, PAPER_CORRELATIONS, strict=True):
        alpha, utility = found[eps][:2]
        ax.axhline(0, color="#999999", lw=0.8, zorder=0)
        ax.axvline(0, color="#999999", lw=0.8, zorder=0)
        ax.scatter(alpha, utility, s=22, color=BLUE, edgecolor="white", linewidth=0.4)
        ax.set_title(f"epsilon = {eps:g}, correlation {correlation(alpha, utility):.4f}")
        ax.set_xlabel("alpha of CR minus alpha of GRR")
    axes[0].set_ylabel("I(X;Y) of CR minus that of GRR, nats")
    figure.suptitle(f"{PAPER}, figure 7: random joints with a = c = 5", fontsize=13)
    return figure


def correlation(first: np.ndarray, second: np.ndarray) -> float:
    return float(np.corrcoef(first, second)[0, 1])


def print_pairs(results: Sequence[PairResult]) -> None:
    """Print the numbers of figures 5 and 8."""
    print("\nFigure 5 and 8: I(X;Y) in nats and alpha, Adult table, 32,561 rows")
    for result in results:
        print(f"\n{result.title}, H(X) = {result.entropy:.4f}")
        print(
            "  epsilon  sees S  at most     ORR  at most      CR     GRR     OUE  alpha CR  "
            "alpha GRR  alpha OUE"
        )
        for i, eps in enumerate(result.epsilons):
            optima = "".join(
                f"{result.utility[name][i]:8.4f}{bound[i]:9.4f}"
                for name, bound in result.bound.items()
            )
            values = "".join(f"{result.utility[name][i]:8.4f}" for name in ("CR", "GRR", "OUE"))
            alphas = "".join(f"{result.alpha[name][i]:11.3f}" for name in ("CR", "GRR", "OUE"))
            print(f"  {eps:7.2f}{optima}{values}{alphas}")


def check_utility(results: Sequence[PairResult], checks: Checks) -> None:
    """Check what is said about figure 5."""
    checks.heading("What the paper says about figure 5")
    above, below, impossible = [], [], []
    for result in results:
        for i, eps in enumerate(result.epsilons):
            value = {name: result.utility[name][i] for name in STYLES}
            where = f"{result.sensitive}/{result.useful} at {eps:g}"
            certified = result.bound["ORR"][i] + 1e-9
            if max(value["GRR"], value["OUE"]) > certified:
                impossible.append(where)
            if value["CR"] > certified:
                above.append(where)
            if min(value["CR"], value["GRR"]) < value["OUE"]:
                below.append(where)
    points = sum(result.epsilons.size for result in results)
    shown = f"{points} points" if not impossible else listing(impossible)
    checks.claim("GRR and OUE never exceed the certified optimum", not impossible, shown)
    checks.claim(
        "CR performs below the optimum",
        not above,
        f"not for {len(above)} of {points} points: {listing(above)}",
        instead=Instead(
            "it keeps more at small budgets where X is sex",
            {"marital-status/sex at 0.25", "occupation/sex at 0.25"} <= set(above)
            and all("/sex at 0" in where for where in above),
            "CR sees S, and the optimum of P(Y|X) does not",
        ),
    )
    checks.claim(
        "GRR and CR perform above OUE",
        not below,
        f"not for {len(below)} of {points} points: {listing(below)}",
        instead=Instead(
            "OUE keeps more than one of them at ε = 0.25 for both S with X = education, and never "
            "above ε = 1.5",
            {f"{s}/education at 0.25" for s in SENSITIVE} <= set(below)
            and all(float(where.split()[-1]) <= 1.5 for where in below),
            "the paper says so from its curves; these points are ours",
        ),
    )
    excess = max(float((r.utility["OUE"] - r.entropy / 2).max()) for r in results)
    checks.claim("OUE never exceeds H(X)/2", excess <= 1e-9)
    checks.note("OUE for education (2^16 outputs), infeasible in the paper, is exact here")
    worst = {s: max(r.gap("ORR").max() for r in results if r.sensitive == s) for s in SENSITIVE}
    checks.note(
        "the optimum for S = occupation, in part infeasible in the paper, is certified here with "
        f"an NMI gap of at most {worst['occupation']:.1e} "
        f"(marital-status: {worst['marital-status']:.1e})"
    )
    check_seeing(results, checks)


def check_seeing(results: Sequence[PairResult], checks: Checks) -> None:
    """Compare CR with the best mechanism that sees S, the paper's last question."""
    checks.heading("The paper's last question: are there better protocols where CR is not better?")
    kept = {name: np.array([r.utility[name] / r.entropy for r in results]) for name in STYLES}
    limit = np.array([r.bound["best"] / r.entropy for r in results])
    checks.claim(
        "nothing exceeds the certified bound of mechanisms that see S",
        all(bool((values <= limit + 1e-9).all()) for values in kept.values()),
    )
    explicit = np.maximum(kept["GRR"], kept["OUE"])
    fails = kept["CR"] < explicit
    # What a search with a time limit finds depends on the machine; what is certified does not.
    known = (limit - kept["best"] < CERTIFIED) & (kept["CR"] < 1 - 1e-9)
    checks.claim(
        f"the optimum that sees S, where it is certified to {CERTIFIED:g} and CR needs noise, "
        "keeps more than CR, GRR and OUE",
        bool((kept["best"] > np.maximum(kept["CR"], explicit))[known].all()),
        f"{known.sum()} of {known.size} points, at {(known & fails).sum()} of which CR is not the "
        "best of the three",
    )
    small = np.array([r.epsilons <= 1 for r in results])
    shown = ", ".join(f"{NAMES[name]} {kept[name][small].mean():.2f}" for name in STYLES)
    checks.note(f"mean NMI over the points with ε at most 1: {shown}")
    for result in results:
        gap = result.gap("best")
        text = f"{result.title}: NMI gap of the optimum that sees S at most {gap.max():.3f}"
        checks.note(f"{text}, median {np.median(gap):.3f}")


def check_signs(results: Sequence[PairResult], checks: Checks) -> None:
    """Check what is said about figure 8."""
    checks.heading("What the paper says about figure 8, of two pairs: larger alpha, larger utility")
    for result in results:
        tuned = np.isfinite(result.alpha["CR"]) & np.isfinite(result.alpha["GRR"])
        alpha = result.alpha["CR"][tuned] - result.alpha["GRR"][tuned]
        gained = (result.utility["CR"] - result.utility["GRR"])[tuned]
        agree = np.sign(alpha) == np.sign(gained)
        epsilons = result.epsilons[tuned]
        apart = epsilons[~agree]
        ours = f"{agree.sum()} of {agree.size} points" + (
            f", not {listing([f'{eps:g}' for eps in apart])}" if apart.size else ""
        )
        known = SIGNS_DIFFER.get((result.sensitive, result.useful))
        instead = None
        if known:
            low, high = known
            instead = Instead(
                f"the signs differ for ε from {low:g} to {high:g} and nowhere else",
                np.array_equal(~agree, (low <= epsilons) & (epsilons <= high)),
                "the two alphas are on different scales; CR releases some of X even at alpha = 0",
            )
        checks.claim(result.title, bool(agree.all()), ours, instead=instead)


def check_sizes(
    found: dict[tuple[int, int], dict[str, np.ndarray]], scale: Scale, checks: Checks
) -> None:
    """Print the numbers of figure 6 and check what is said about it."""
    checks.heading(f"Figure 6: NMI, mean ± standard deviation of {scale.joints} joints")
    print("    a   c  epsilon            GRR             CR  CR - GRR")
    for (a, c), values in found.items():
        for i, eps in enumerate(scale.synthetic_epsilons):
            first, second = values["GRR"][:, i], values["CR"][:, i]
            print(
                f"  {a:3d} {c:3d}  {eps:7.2f}  {first.mean():.3f} ± {first.std():.3f}"
                f"  {second.mean():.3f} ± {second.std():.3f}  {(second - first).mean():+8.3f}"
            )
    gain = {size: float((v["CR"] - v["GRR"]).mean()) for size, v in found.items()}
    shown = ", ".join(f"(a={a}, c={c}) {value:+.3f}" for (a, c), value in gain.items())
    largest = gain[15, 5] > max(gain[5, 5], gain[15, 15])
    text = "the larger a is compared to c, the more utility CR provides compared to GRR"
    checks.claim(text, largest, shown)


def check_differences(found: dict[float, np.ndarray], checks: Checks) -> None:
    """Print the correlations of figure 7 and check that the drawn ones are above 0.95."""
    checks.heading("Figure 7: correlation of the difference in alpha with that in I(X;Y)")
    for eps, values in found.items():
        if eps not in PAPER_CORRELATIONS:
            value = correlation(*values[:2])
            checks.note(f"epsilon {eps:g}: {value:.4f} over {values.shape[1]} joints, not drawn")
            continue
        value = correlation(*values[:2])
        text = f"epsilon {eps:g}: {PAPER_CORRELATIONS[eps]:.4f} (here: above 0.95)"
        checks.claim(text, value > 0.95, f"{value:.4f} over {values.shape[1]} joints")
    checks.note(
        "the paper's text does not say which three epsilons it drew; 1, 1.5 and 2 were chosen "
        "after seeing the sweep, because they match its values. For small budgets alpha explains "
        "less, presumably because CR releases some of X even at alpha = 0; for large ones also, "
        "presumably because alpha grows without bound where hardly any noise is needed"
    )
    check_properties(found, checks)


def check_properties(found: dict[float, np.ndarray], checks: Checks) -> None:
    """Check that simple properties of a joint do not explain what CR gains over GRR."""
    for eps in PAPER_CORRELATIONS:
        _, gained, *properties = found[eps]
        values = [correlation(gained, values) for values in properties]
        error = 1 / np.sqrt(gained.size)
        shown = ", ".join(f"{name} {v:+.2f}" for name, v in zip(PROPERTIES, values, strict=True))
        checks.claim(
            f"epsilon {eps:g}: {', '.join(PROPERTIES)} do not appear to have an impact on the "
            "difference in utility (here: each explains less than a tenth of its variance)",
            bool(np.abs(values).max() < np.sqrt(0.1) + 2 * error),
            f"correlations {shown} (standard error {error:.2f})",
        )


def optimal_figures(options: Options, checks: Checks) -> None:
    """Draw and check figures 3 and 4."""
    scale = SpeedScale.of(options.quick)
    if options.wants(3):
        found = run_notions(scale)
        save(draw_notions(found, PAPER), options, "funnel", 3)
        check_notions(found, checks)
    if options.wants(4):
        found = run_attributes(scale)
        save(draw_attributes(found, scale, PAPER), options, "funnel", 4)
        check_attributes(found, checks)


def adult_figures(options: Options, scale: Scale, checks: Checks) -> None:
    """Draw and check figures 5 and 8."""
    results = run_pairs(scale)
    print_pairs(results)
    if options.wants(5):
        save(draw_utility(results), options, "funnel", 5)
        check_utility(results, checks)
    if options.wants(8):
        save(draw_alphas(results), options, "funnel", 8)
        check_signs(results, checks)


def main() -> int:
    """Compute, draw, check; exit code 1 if a claim or a recorded discrepancy does not hold."""
    options = parse_options(__doc__, range(3, 9))
    scale, checks = Scale.of(options.quick), Checks()
    print(PAPER)
    optimal_figures(options, checks)
    if options.wants(5, 8):
        adult_figures(options, scale, checks)
    if options.wants(6):
        sizes = run_sizes(scale)
        save(draw_sizes(sizes, scale), options, "funnel", 6)
        check_sizes(sizes, scale, checks)
    if options.wants(7):
        differences = run_differences(scale)
        save(draw_differences(differences), options, "funnel", 7)
        check_differences(differences, checks)
    return checks.exit_code()


if __name__ == "__main__":
    sys.exit(main())
