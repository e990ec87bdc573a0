"""What is promised, in words and as data."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

__all__ = ["Guarantee"]


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
    basis : str
        For which distribution the promise is made.
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
    basis: str
    n_rows: int
    sensitive: str
    columns: tuple[str, ...]
    secret_randomness: bool
    single_release: bool = True

    def to_dict(self) -> dict[str, Any]:
        """Return the guarantee as plain data."""
        return asdict(self)

    def __str__(self) -> str:
        columns = ", ".join(self.columns)
        verb = "holds" if self.holds else "does NOT hold"
        sides = ", ".join(
            f"{side} {self.achieved[side]:.4f} (budget {bound:.4f})"
            for side, bound in self.budget.items()
        )
        lines = [
            f"{self.notion} of {self.sensitive} {verb} for one release of {columns}.",
            f"Levels reached, in nats: {sides}; checked in exact arithmetic on what is sampled.",
            f"Basis: {self.basis} ({self.n_rows:,} rows).",
            "Not covered: releasing the same rows again, or further columns about them.",
        ]
        if not self.secret_randomness:
            lines.append("The randomness comes from a seed: void against whoever knows it.")
        return "\n".join(lines)

    __repr__ = __str__
