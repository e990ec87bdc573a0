"""Small integer solutions of linear equations with integer coefficients.

The integers h with sum_i h_i v_i = t, for given integer vectors v_i and t, form a grid. The LLL
algorithm of Havas, Majewski and Matthews (1998) finds one such h and short vectors between the
points of the grid: for k vectors of r numbers with b bits they have about r b / (k - r) bits.
"""

from __future__ import annotations

from math import ceil

import numpy as np

__all__ = ["Lattice", "TooManyStepsError"]

# Longer numbers take noticeably longer to multiply.
_FEW_BITS = 1000


class TooManyStepsError(Exception):
    """A lattice was not reduced, because that takes too long."""


class Lattice:
    """Integer combinations of vectors, prepared for finding small coefficients.

    Parameters
    ----------
    size : int
        How many numbers a vector has.
    most_steps : int
        Work after which TooManyStepsError is raised: a million take about two seconds.
    """

    def __init__(self, size: int, most_steps: int) -> None:
        self._reduction = _Reduction(size, most_steps)

    @property
    def steps(self) -> int:
        """Work that was done."""
        return ceil(self._reduction.steps)

    def add(self, vectors: np.ndarray) -> None:
        """Add vectors, shape (n_vectors, size), of integers; they may depend on each other."""
        reduction = self._reduction
        reduction.run(vectors.tolist())
        free = reduction.leads.count(reduction.end)
        combinations = np.array(reduction.combinations, dtype=object)
        images = np.array(reduction.images, dtype=object)
        # The first combinations are 0; the leading numbers of the others form a staircase.
        self._relations = combinations[:free]
        self._stairs = list(zip(reduction.leads, images, combinations, strict=True))[free:]

    @property
    def reach(self) -> int:
        """About the largest coefficient that rounding alone needs."""
        return int(abs(self._relations).sum(axis=0).max(initial=0)) // 2

    def contains(self, targets: np.ndarray) -> np.ndarray:
        """Return for each column of ``targets`` whether it is an integer combination."""
        _, rest = self._any_coefficients(targets)
        return np.asarray(~(rest != 0).any(axis=0))

    def coefficients(self, targets: np.ndarray) -> np.ndarray:
        """Return small integers, shape (n_vectors, n_targets), that combine to the targets.

        Every column of ``targets`` must be an integer combination of the vectors.
        """
        found, _ = self._any_coefficients(targets)
        return self._shortened(found)

    def _any_coefficients(self, targets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Coefficients of any size, and what is left of targets that are no combinations."""
        rest = targets.copy()
        found = np.zeros((self._relations.shape[1], targets.shape[1]), dtype=object)
        for lead, image, combination in reversed(self._stairs):
            times = rest[lead] // image[lead]
            rest -= np.multiply.outer(image, times)
            found += np.multiply.outer(combination, times)
        return found, rest

    def _shortened(self, found: np.ndarray) -> np.ndarray:
        """Subtract relations to come close to 0, one direction after the other (Babai 1986)."""
        volumes, projections = self._reduction.volumes, self._reduction.projections
        heights: list[np.ndarray] = []
        for i, relation in enumerate(self._relations):
            height = relation @ found
            for j, earlier in enumerate(heights):
                height = (volumes[j + 1] * height - projections[i][j] * earlier) // volumes[j]
            heights.append(height)
        for i in reversed(range(len(heights))):
            times = (2 * heights[i] + volumes[i + 1]) // (2 * volumes[i + 1])
            found = found - np.multiply.outer(self._relations[i], times)
            for j in range(i):
                heights[j] = heights[j] - times * projections[i][j]
        return found


class _Reduction:
    """The reduction in place: combinations of the vectors, and their images.

    Gram-Schmidt coefficients of the combinations are kept as integers (de Weger 1987):
    ``volumes[i]`` is the squared volume of the first i combinations, and ``projections[k][i]``
    the coefficient of combination k along i times ``volumes[i + 1]``.
    """

    def __init__(self, size: int, most_steps: int) -> None:
        self.end = size
        self.images: list[list[int]] = []
        self.combinations: list[list[int]] = []
        self.leads: list[int] = []
        self.volumes = [1]
        self.projections: list[list[int]] = []
        self.steps = 0.0
        self._most_steps = most_steps

    def run(self, vectors: list[list[int]]) -> None:
        """Reduce vectors together with those that are reduced already."""
        k = max(len(self.images), 1)
        self._append(vectors)
        while k < len(self.images):
            self._reduce(k, k - 1)
            if self._out_of_order(k):
                self._swap(k)
                k = max(k - 1, 1)
            else:
                for i in reversed(range(k - 1)):
                    self._reduce(k, i)
                k += 1

    def _append(self, vectors: list[list[int]]) -> None:
        old, size = len(self.images), len(self.images) + len(vectors)
        for rows in (self.combinations, self.projections):
            rows[:] = [row + [0] * len(vectors) for row in rows]
        self.combinations += [[int(i == j) for j in range(size)] for i in range(old, size)]
        self.projections += [[0] * size for _ in vectors]
        self.volumes += [1] * len(vectors)
        self.images += vectors
        self.leads += map(self._lead, vectors)
        bits = max(number.bit_length() for image in self.images for number in image)
        self._cost = size * (1 + (self.end * bits / _FEW_BITS) ** 2)

    def _lead(self, image: list[int]) -> int:
        """Position of the first number other than 0."""
        return next((j for j, number in enumerate(image) if number), self.end)

    def _out_of_order(self, k: int) -> bool:
        above, here = self.leads[k - 1], self.leads[k]
        if above < self.end:
            return above <= here
        volumes = self.volumes
        shorter = volumes[k - 1] * volumes[k + 1] + self.projections[k][k - 1] ** 2
        return here == self.end and 4 * shorter < 3 * volumes[k] ** 2

    def _reduce(self, k: int, i: int) -> None:
        """Subtract row i from row k as often as leaves the least."""
        lead = self.leads[i]
        if lead < self.end:
            times = _nearest(self.images[k][lead], self.images[i][lead])
        else:
            times = _nearest(self.projections[k][i], self.volumes[i + 1])
        if not times:
            return
        self._count()
        if lead < self.end:
            self.images[k] = _minus(self.images[k], times, self.images[i])
            self.leads[k] = self._lead(self.images[k])
        self.combinations[k] = _minus(self.combinations[k], times, self.combinations[i])
        self.projections[k][:i] = _minus(self.projections[k][:i], times, self.projections[i][:i])
        self.projections[k][i] -= times * self.volumes[i + 1]

    def _swap(self, k: int) -> None:
        self._count()
        for rows in (self.images, self.combinations):
            rows[k - 1], rows[k] = rows[k], rows[k - 1]
        self.leads[k - 1], self.leads[k] = self.leads[k], self.leads[k - 1]
        volumes, projections = self.volumes, self.projections
        middle = projections[k][k - 1]
        upper, lower = projections[k - 1], projections[k]
        upper[: k - 1], lower[: k - 1] = lower[: k - 1], upper[: k - 1]
        for row in projections[k + 1 :]:
            first, second = row[k - 1], row[k]
            row[k - 1] = (first * middle + second * volumes[k - 1]) // volumes[k]
            row[k] = (first * volumes[k + 1] - second * middle) // volumes[k]
        volumes[k] = (volumes[k - 1] * volumes[k + 1] + middle**2) // volumes[k]

    def _count(self) -> None:
        self.steps += self._cost
        if self.steps > self._most_steps:
            raise TooManyStepsError


def _nearest(number: int, divisor: int) -> int:
    """Quotient of two integers rounded to the nearest one."""
    if divisor < 0:
        number, divisor = -number, -divisor
    return (2 * number + divisor) // (2 * divisor)


def _minus(row: list[int], times: int, other: list[int]) -> list[int]:
    return [a - times * b for a, b in zip(row, other, strict=True)]
