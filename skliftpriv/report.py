"""What a release leaks and keeps, before and after, against its budget."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.special import entr

from . import measures
from ._arrays import FloatArray
from ._format import html_card, html_table, number, share, text_table
from .channel import Channel
from .distribution import JointDistribution
from .notions import Notion

__all__ = [
    "LeakageSummary",
    "PrivacyReport",
    "TargetSummary",
    "privacy_report",
    "target_summary",
    "worst_levels",
]


@dataclass(frozen=True)
class LeakageSummary:
    """Leakage about S and utility about X of one release, in nats where not a share."""

    max_log_lift: float
    min_log_lift: float
    ldp: float
    leakage_mutual_information: float
    maximal_leakage: float
    min_entropy_leakage: float
    total_variation: float
    chi2_divergence: float
    mutual_information: float
    nmi: float

    @classmethod
    def of(
        cls,
        joint: JointDistribution,
        channel: Channel | None = None,
        p_sy: FloatArray | None = None,
    ) -> LeakageSummary:
        """Measure a release of Y, by default of X itself.

        Parameters
        ----------
        joint : JointDistribution
            Distribution of S and X.
        channel : Channel, optional
            P(Y|X); None for Y = X.
        p_sy : ndarray, optional
            Joint distribution of S and Y, where it does not follow from the channel because the
            mechanism saw S too.
        """
        total = float(measures.entropy(joint.p_x))
        if channel is None:
            return cls.of_release(joint.matrix, total, 1.0)
        # I(X;Y) = H(Y) - H(Y|X), from the few outputs that each input has.
        rows = np.add.reduceat(entr(channel.sparse.data), channel.sparse.indptr[:-1])
        kept = float(measures.entropy(channel.p_y(joint.p_x)) - joint.p_x @ rows)
        kept = min(max(kept, 0.0), total)
        p_sy = joint.released(channel.sparse) if p_sy is None else p_sy
        return cls.of_release(p_sy, kept, kept / total if total > 0 else 1.0)

    @classmethod
    def of_release(cls, p_sy: FloatArray, mutual_information: float, nmi: float) -> LeakageSummary:
        """Measure a release by the joint distribution of (S, Y) and the utility it has."""
        logs = measures.log_lift(p_sy)
        with np.errstate(divide="ignore"):
            ratio = np.log(measures.ldp_ratio(p_sy))
        values = {
            "max_log_lift": logs.max(),
            "min_log_lift": logs.min(),
            "ldp": ratio.max(),
            "leakage_mutual_information": measures.mutual_information(p_sy),
            "maximal_leakage": measures.maximal_leakage(p_sy),
            "min_entropy_leakage": measures.min_entropy_leakage(p_sy),
            "total_variation": measures.total_variation(p_sy),
            "chi2_divergence": measures.chi2_divergence(p_sy),
            "mutual_information": mutual_information,
            "nmi": nmi,
        }
        return cls(**{name: float(value) for name, value in values.items()})


#: What the measures of a report are called.
TITLES = {
    "max_log_lift": "max log-lift",
    "min_log_lift": "min log-lift",
    "ldp": "LDP level of S",
    "leakage_mutual_information": "I(S;Y), leakage",
    "maximal_leakage": "maximal leakage",
    "min_entropy_leakage": "min-entropy leakage",
    "total_variation": "total variation",
    "chi2_divergence": "chi2-divergence",
    "mutual_information": "I(X;Y), utility",
    "nmi": "NMI, share of X kept",
}
#: The same if there is a target.
TARGET_TITLES = {
    "target_information": "I(T;Y), about the target",
    "target_kept": "share of the target kept",
}
_ABOUT_TARGET = (
    "the share of the target is that of what the input of the mechanism tells about it; "
)
#: Information below this is due to rounding.
_NOTHING = 1e-12


@dataclass(frozen=True)
class TargetSummary:
    """What is known about a target T, in nats.

    .. versionadded:: 0.2

    Attributes
    ----------
    before, after : float
        I(T;X) and I(T;Y).
    input : float
        What the input of the mechanism tells about T: I(T;X), or I(T;S,X) if it sees S.
    """

    before: float
    after: float
    input: float

    @property
    def kept(self) -> float:
        """Share of what the input tells about T that Y keeps; 1 if it tells nothing."""
        return self._share(self.after)

    @property
    def kept_by_x(self) -> float:
        """The same share for X itself."""
        return self._share(self.before)

    def _share(self, information: float) -> float:
        return min(information / self.input, 1.0) if self.input > _NOTHING else 1.0


@dataclass(frozen=True)
class PrivacyReport:
    """Leakage and utility of a release, before and after sanitising, against the budget.

    The values after sanitising are attributes of the report itself (``report.nmi``,
    ``report.max_log_lift``, ...); those before are on ``report.before``.

    Attributes
    ----------
    notion : Notion
        The promise, with its budget.
    satisfied : bool
        Whether what is sampled meets it, decided in exact arithmetic.
    before, after : LeakageSummary
        The release of X as it is, and of Y.
    levels_before, levels_after : dict
        Largest level of each side of the notion over all outputs; compare with ``notion.budget``.
    levels_worst : dict or None
        The same for the worst distribution of the confidence set that the promise is made for.
    target : TargetSummary or None
        What is known about the target that was to be kept, if there was one.
    """

    notion: Notion
    satisfied: bool
    before: LeakageSummary
    after: LeakageSummary
    levels_before: dict[str, float]
    levels_after: dict[str, float]
    levels_worst: dict[str, float] | None = None
    target: TargetSummary | None = None

    # Attached by skliftpriv.frames, which knows about data frames; this module does not.
    to_frame: ClassVar[Callable[..., Any]]

    def __getattr__(self, name: str) -> float:
        # The fields of the summary after sanitising are the report's own.
        if name in TITLES:
            return float(getattr(self.after, name))
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    @property
    def levels_promised(self) -> dict[str, float]:
        """The levels that the promise is about: worst ones of a confidence set, if there is one."""
        return self.levels_after if self.levels_worst is None else self.levels_worst

    @property
    def utility_kept(self) -> float:
        """Share that is kept of what was to be kept: of X, or of what is known about a target.

        .. versionadded:: 0.2
        """
        return self.nmi if self.target is None else self.target.kept

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *TITLES]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain numbers: notion, verdict, before, after, levels, budget."""
        return {
            "notion": str(self.notion),
            "satisfied": self.satisfied,
            "budget": dict(self.notion.budget),
            "levels_before": dict(self.levels_before),
            "levels_after": dict(self.levels_after),
            "levels_worst": None if self.levels_worst is None else dict(self.levels_worst),
            "before": asdict(self.before),
            "after": asdict(self.after),
            "target": None if self.target is None else asdict(self.target),
            "utility_kept": self.utility_kept,
        }

    def rows(self) -> list[tuple[str, float, float, float | None]]:
        """Return one row (name, before, after, budget or None) per measure."""
        bounds: dict[str, float] = {}
        others: list[tuple[str, float, float, float | None]] = []
        for name, budget in self.notion.budget.items():
            side = self.notion.side(name)
            if side.measure is None:
                others.append((name, self.levels_before[name], self.levels_after[name], budget))
            else:
                bounds[side.measure] = side.sign * budget
        before, after = asdict(self.before), asdict(self.after)
        found = [(name, before[name], after[name], bounds.get(name)) for name in TITLES]
        if self.target is not None:
            known, kept = self.target, (self.target.kept_by_x, self.target.kept)
            found.append(("target_information", known.before, known.after, None))
            found.append(("target_kept", *kept, None))
        return found + others

    def cells(self) -> list[list[str]]:
        """Return the rows as text, below a header."""
        cells = [["", "before", "after", "budget"]]
        for name, before, after, budget in self.rows():
            bound = "" if budget is None else number(budget)
            title = (TITLES | TARGET_TITLES).get(name) or self.notion.side(name).title
            cells.append([title, number(before), number(after), bound])
        return cells

    def _in_words(self) -> str:
        raw, safe = self.before, self.after
        now, earlier = (
            f"{np.exp(of.min_log_lift):.3g} to {np.exp(of.max_log_lift):.3g}" for of in (safe, raw)
        )
        target = ""
        if self.target is not None:
            target = f", {share(self.target.kept)} of what is known about the target"
        return (
            f"Seeing Y makes a value of S {now} times as probable (X itself: {earlier}); "
            f"{share(self.nmi)} of X kept{target}"
        )

    def _worst_in_words(self) -> list[str]:
        if self.levels_worst is None:
            return []
        levels = (
            f"{self.notion.side(name).title} {number(level)}"
            for name, level in self.levels_worst.items()
        )
        return [f"Worst case over the confidence set: {', '.join(levels)}"]

    def __repr__(self) -> str:
        # Pages of scikit-learn show the two ends only: the verdict, and what was kept.
        verdict = f"{self.notion} {'met' if self.satisfied else 'MISSED'}"
        lines = [f"{verdict} ({type(self).__name__})", *text_table(self.cells())]
        return "\n".join([*lines, *self._worst_in_words(), self._in_words()])

    def _repr_html_(self) -> str:
        verdict = "Budget met" if self.satisfied else "Budget missed"
        table = html_table(self.cells(), [budget is not None for *_, budget in self.rows()])
        lead = [f"{line}." for line in (self._in_words(), *self._worst_in_words())]
        about_target = "" if self.target is None else _ABOUT_TARGET
        notes = [
            "Rows with a budget are bold. NMI is the share of the information in X that Y keeps; "
            f"{about_target}total variation and chi2-divergence are plain numbers, the rest is in "
            "nats."
        ]
        return html_card(self.satisfied, verdict, str(self.notion), lead, table, notes)


def privacy_report(
    joint: JointDistribution,
    notion: Notion,
    channel: Channel,
    *,
    satisfied: bool,
    p_sy: FloatArray | None = None,
    levels_worst: dict[str, float] | None = None,
    target: TargetSummary | None = None,
) -> PrivacyReport:
    """Report on what is sampled.

    Parameters
    ----------
    joint : JointDistribution
        Distribution of S and X.
    notion : Notion
        The promise.
    channel : Channel
        P(Y|X) as it is sampled.
    satisfied : bool
        The verdict of the certificate.
    p_sy : ndarray, optional
        Joint distribution of S and Y, where it does not follow from the channel.
    levels_worst : dict, optional
        Levels of the worst distribution of a confidence set.
    target : TargetSummary, optional
        What is known about a target.
    """
    p_sy = joint.released(channel.sparse) if p_sy is None else p_sy
    return PrivacyReport(
        notion=notion,
        satisfied=satisfied,
        before=LeakageSummary.of(joint),
        after=LeakageSummary.of(joint, channel, p_sy),
        levels_before=worst_levels(notion, joint.lift, joint.p_s),
        levels_after=worst_levels(notion, measures.lift(p_sy), joint.p_s),
        levels_worst=levels_worst,
        target=target,
    )


def target_summary(joint: JointDistribution, target: FloatArray, channel: Channel) -> TargetSummary:
    """Measure what a release tells about a target.

    Parameters
    ----------
    joint : JointDistribution
        Distribution of S and X.
    target : ndarray of shape (n_targets, n_useful) or (n_targets, n_sensitive, n_useful)
        P(T|X) or P(T|S,X).
    channel : Channel
        P(Y|X), or P(Y|S,X) with all pairs (s, x) as inputs, x varying fastest.
    """
    sees_sensitive = channel.sparse.shape[0] != joint.shape[1]
    of_pairs = joint.matrix * (target[:, None, :] if target.ndim == 2 else target)
    of_x = of_pairs.sum(axis=1)
    of_input = of_pairs.reshape(len(target), -1) if sees_sensitive else of_x
    known = (of_x, of_input @ channel.sparse, of_input)
    return TargetSummary(*(float(measures.mutual_information(of)) for of in known))


def worst_levels(notion: Notion, lift: FloatArray, p_s: FloatArray) -> dict[str, float]:
    """Largest level of each side of a notion over all outputs."""
    # Added to 0.0 the level -0.0 of a constant loses its sign.
    return {side: 0.0 + float(level.max()) for side, level in notion.levels(lift, p_s).items()}
