"""What is promised, in words and as data."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from .._format import html_card, html_table, number
from ..report import side_title

__all__ = ["Guarantee"]

_CHECKED = "checked in exact arithmetic on what is sampled"


@dataclass(frozen=True)
class Guarantee:
    """What a fitted sanitiser promises, and what the promise rests on.

    Attributes
    ----------
    notion : str
        The privacy notion with its budget.
    budget, achieved : dict
        Budget of each side in nats, and the level that what is sampled reaches.
    holds : bool
        Whether the budget holds, decided in exact arithmetic on what is sampled.
    confidence : float or None
        Probability, over the rows seen at ``fit``, that the budget holds for the distribution
        they came from; None when the promise is for the estimated distribution.
    smoothing : float
        Pseudo-count that was added to every cell before the distribution was estimated.
    n_rows : int
        Number of rows it was estimated from.
    sensitive : str
        What is protected.
    columns : tuple of str
        Columns whose joint release is covered.
    single_release : bool
        Always True: a second release of the same rows, or of other columns, is not covered.
    secret_randomness : bool
        False with a seed: whoever knows the seed may undo the randomisation.
    """

    notion: str
    budget: dict[str, float]
    achieved: dict[str, float]
    holds: bool
    confidence: float | None
    smoothing: float
    n_rows: int
    sensitive: str
    columns: tuple[str, ...]
    secret_randomness: bool
    single_release: bool = True

    @property
    def basis(self) -> str:
        """For which distribution the promise is made, in a word or two."""
        if self.confidence is None:
            return "estimated distribution"
        return f"confidence {self.confidence:g}"

    def to_dict(self) -> dict[str, Any]:
        """Return the guarantee as plain data."""
        return {**asdict(self), "basis": self.basis}

    def _claim(self) -> str:
        verb = "holds" if self.holds else "does NOT hold"
        columns = ", ".join(self.columns)
        return f"{self.notion} of {self.sensitive} {verb} for one release of {columns}."

    def _limits(self) -> list[str]:
        """Say what the promise rests on and what it leaves out, a sentence each."""
        meaning = ""
        if self.confidence is not None:
            meaning = (
                " With this probability the budget holds for the distribution that the rows came "
                "from, if they are independent draws from one and show all of its values; levels "
                "are for the worst distribution that agrees with them."
            )
        lines = [
            f"Basis: {self.basis} ({self.n_rows:,} rows).{meaning}",
            "Not covered: releasing the same rows again, or further columns about them.",
        ]
        if self.smoothing and self.confidence is None:
            lines.insert(
                1,
                f"The estimate counts {self.smoothing:g} more row(s) in every cell (smoothing): "
                "for the shares of the rows themselves the levels may be higher.",
            )
        if not self.secret_randomness:
            lines.append("The randomness comes from a seed: void against whoever knows it.")
        return lines

    def __str__(self) -> str:
        sides = ", ".join(
            f"{side} {number(self.achieved[side])} (budget {number(bound)})"
            for side, bound in self.budget.items()
        )
        levels = f"Levels reached, in nats: {sides}; {_CHECKED}."
        return "\n".join([self._claim(), levels, *self._limits()])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        rows = [
            [side_title(side), number(self.achieved[side]), number(bound)]
            for side, bound in self.budget.items()
        ]
        table = html_table([["level in nats", "reached", "budget"], *rows], [True] * len(rows))
        verdict = "Holds" if self.holds else "Does not hold"
        notes = [f"Levels are {_CHECKED}.", *self._limits()]
        return html_card(self.holds, verdict, self._claim(), [], table, notes)
