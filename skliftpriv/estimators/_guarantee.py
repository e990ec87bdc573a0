"""What is promised, in words and as data."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from .._format import html_card, html_table, number
from ..notions import Notion

__all__ = ["Guarantee"]

_CHECKED = "checked in exact arithmetic on what is sampled"


@dataclass(frozen=True)
class Guarantee:
    """What a fitted sanitiser promises, and what the promise rests on.

    Attributes
    ----------
    promise : Notion
        The privacy notion with its budget.
    notion : str
        The same in words.
    budget, achieved : dict
        Budget of each side in nats, and the level that what is sampled reaches.
    holds : bool
        Whether the budget holds, decided in exact arithmetic on what is sampled.
    confidence : float or None
        Probability, over the rows seen at ``fit``, that the budget holds for the distribution
        they came from; None when the promise is for the estimated distribution.
    smoothing : float
        Pseudo-count that was added to every cell before the distribution was estimated.
    weighted : bool
        Whether rows counted by their ``sample_weight`` rather than equally.

        .. versionadded:: 0.2
    n_rows : int
        Number of rows it was estimated from.
    sensitive : str
        What is protected.
    columns : tuple of str
        Columns whose joint release is covered.
    unprotected : tuple of str
        What is released with these columns although nothing protects it: other columns, and an
        index or an order of rows that may give S away.

        .. versionadded:: 0.2
    handle_unknown : {"error", "resample"}
        Whether values that ``fit`` has not seen are refused, or replaced by a draw.

        .. versionadded:: 0.2
    single_release : bool
        Always True: a second release of the same rows, or of other columns, is not covered.
    randomized : bool
        Whether anything is drawn. False if equal values are always released alike.

        .. versionadded:: 0.2
    secret_randomness : bool
        False if the noise comes from a seed. Such a release is not private.
    """

    promise: Notion
    achieved: dict[str, float]
    holds: bool
    confidence: float | None
    smoothing: float
    weighted: bool
    n_rows: int
    sensitive: str
    columns: tuple[str, ...]
    unprotected: tuple[str, ...]
    handle_unknown: str
    randomized: bool
    secret_randomness: bool
    single_release: bool = True

    @property
    def notion(self) -> str:
        """The privacy notion with its budget, in words."""
        return str(self.promise)

    @property
    def budget(self) -> dict[str, float]:
        """Budget of each side in nats."""
        return dict(self.promise.budget)

    @property
    def basis(self) -> str:
        """For which distribution the promise is made, in a word or two."""
        if self.confidence is None:
            return "estimated distribution"
        return f"confidence {self.confidence:g}"

    @property
    def private(self) -> bool:
        """Whether what is released is private: the budget holds, and the noise is secret.

        .. versionadded:: 0.2
        """
        return self.holds and self.secret_randomness

    def to_dict(self) -> dict[str, Any]:
        """Return the guarantee as plain data."""
        plain = {name: value for name, value in asdict(self).items() if name != "promise"}
        said = {"notion": self.notion, "budget": self.budget}
        return {**said, **plain, "basis": self.basis, "private": self.private}

    @property
    def claim(self) -> str:
        """The promise in a sentence.

        .. versionadded:: 0.2
        """
        of = f"{self.notion} of {self.sensitive}"
        release = f"for one release of {', '.join(self.columns)}."
        if self.holds and not self.secret_randomness:
            return (
                "NOT PRIVATE: the noise comes from a seed (random_state). With random_state=None "
                f"{of} would hold {release}"
            )
        return f"{of} {'holds' if self.holds else 'does NOT hold'} {release}"

    @property
    def limits(self) -> list[str]:
        """What the promise rests on and what it leaves out, a sentence or two each.

        .. versionadded:: 0.2
        """
        lines = [f"Basis: {self.basis} ({self.n_rows:,} rows).", *self._estimate()]
        lines.append("Not covered: releasing the same rows again, or further columns about them.")
        if self.unprotected:
            lines.append(f"Released with it and not protected: {', '.join(self.unprotected)}.")
        if self.handle_unknown == "resample":
            lines.append(
                f"Values not seen at fit are replaced by a draw from P_Y: {self.with_new_values}."
            )
        return lines

    def _estimate(self) -> list[str]:
        if self.confidence is not None:
            return [
                "With this probability the budget holds for the distribution that the rows came "
                "from, if they are independent draws from one and show all of its values; levels "
                "are for the worst distribution that agrees with them."
            ]
        lines = []
        if self.weighted:
            lines.append(
                "Rows count by their weights (sample_weight): for the shares of the rows "
                "themselves the levels may be higher."
            )
        if self.smoothing:
            lines.append(
                f"The estimate counts {self.smoothing:g} more row(s) in every cell (smoothing): "
                "for the shares of the rows themselves the levels may be higher."
            )
        return lines

    @property
    def with_new_values(self) -> str:
        """What is left of the promise in a table where some values are drawn anew."""
        still = self.promise.when_resampled if self.confidence is None else None
        return still or "a table that holds such values is not covered"

    def __str__(self) -> str:
        sides = ", ".join(
            f"{side} {number(self.achieved[side])} (budget {number(bound)})"
            for side, bound in self.budget.items()
        )
        levels = f"Levels reached, in nats: {sides}; {_CHECKED}."
        return "\n".join([self.claim, levels, *self.limits])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        rows = [
            [self.promise.side(side).title, number(self.achieved[side]), number(bound)]
            for side, bound in self.budget.items()
        ]
        table = html_table([["level in nats", "reached", "budget"], *rows], [True] * len(rows))
        verdict = "Holds" if self.private else "Not private" if self.holds else "Does not hold"
        notes = [f"Levels are {_CHECKED}.", *self.limits]
        return html_card(self.private, verdict, self.claim, [], table, notes)
