"""One protocol per attribute, with budgets for which their product resists side channels."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from functools import reduce
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._arrays import FloatArray, Label
from .._limits import MOST_CHANNEL_CELLS, refuse_beyond
from ..channel import Channel, as_parts
from ..distribution import JointDistribution
from ..exceptions import InvalidParameterError
from ..measures import entropy, srlip_level
from ..measures._side_channel import side_groups
from ..notions import SRLIP
from ..solvers import PosteriorProblem, solve
from ._inputs import posterior_labels, refuse_many_rows

__all__ = ["best_product", "product_channel"]

#: Advice if there are more combinations of attributes than can be certified.
_INSTEAD = "use fewer columns, or pool rare values of each before fit"
_ROUNDING = 1e-9
#: Gap and seconds at which the solver of a protocol stops; the search builds hundreds of them.
_GAP, _SECONDS = 1e-4, 0.15
_GRID, _BISECTIONS = 6, 4
#: Factors by which the search varies the budget of a single attribute.
_FACTORS = (0.5, 2.0)


def best_product(
    joint: JointDistribution,
    notion: SRLIP,
    attributes: NDArray[np.intp],
    time_limit: float | None = None,
) -> tuple[Channel, tuple[float, ...]]:
    """Find per-attribute protocols whose product meets a budget and keeps much of X.

    The budgets start equal and are scaled up as far as the product meets the notion. Then each
    budget in turn is made larger or smaller relative to the others if this keeps more of X. After
    ``time_limit`` seconds the best product so far is returned.

    Returns
    -------
    channel : Channel
        The product, with tuples as outputs.
    budgets : tuple of float
        LIP budget of each attribute.
    """
    search = _ProductSearch(joint, notion, attributes, time_limit)
    shares = np.ones(attributes.shape[1])
    best = search.scaled(shares)
    for j, factor in product(range(shares.size), _FACTORS):
        if search.out_of_time:
            break
        trial = shares.copy()
        trial[j] *= factor
        found = search.scaled(trial)
        if found.information > best.information + 1e-9:
            best, shares = found, trial
    return best.channel, tuple(float(b) for b in best.budgets)


class _Product(NamedTuple):
    """A product for given budgets, with its level and mutual information."""

    budgets: FloatArray
    channel: Channel
    level: float
    information: float


class _ProductSearch:
    """Build and evaluate products for vectors of budgets."""

    def __init__(
        self,
        joint: JointDistribution,
        notion: SRLIP,
        attributes: NDArray[np.intp],
        time_limit: float | None,
    ) -> None:
        _refuse_large_product(attributes)
        self._end = math.inf if time_limit is None else time.monotonic() + time_limit
        self._joint = joint
        self._epsilon = notion.epsilon
        self._attributes = attributes
        self._single = [_SingleAttribute(joint, attributes, j) for j in range(attributes.shape[1])]

    @property
    def out_of_time(self) -> bool:
        """Whether the time limit is reached."""
        return time.monotonic() >= self._end

    def scaled(self, shares: FloatArray) -> _Product:
        """Scale budgets with these proportions as far as the product meets the notion."""
        # The level jumps where a protocol changes its support, so a grid comes before bisection.
        # No attribute may exceed the whole budget; with a budget of 0 nothing leaks.
        scales = self._epsilon * np.linspace(0, 1, _GRID + 1)
        shares = shares / shares.max()
        found = []
        for scale in scales[1:]:  # small budgets, which are private, come first
            if self.out_of_time:
                break
            found.append(self._at(scale * shares))
        private = [k for k, candidate in enumerate(found) if self._met(candidate)]
        if not private:
            low, best = 0.0, self._at(1e-6 * scales[1] * shares)
        else:
            k = max(private, key=lambda k: found[k].information)
            low, best = scales[k + 1], found[k]
        high = min(low + scales[1], self._epsilon)
        for _ in range(_BISECTIONS):
            if self.out_of_time:
                break
            middle = (low + high) / 2
            candidate = self._at(middle * shares)
            if self._met(candidate) and candidate.information >= best.information:
                low, best = middle, candidate
            else:
                high = middle
        return best

    def _met(self, candidate: _Product) -> bool:
        # Certification corrects an excess by rounding.
        return candidate.level <= self._epsilon + _ROUNDING

    def _at(self, budgets: FloatArray) -> _Product:
        protocols = [s.protocol(b) for s, b in zip(self._single, budgets, strict=True)]
        channel = product_channel(self._joint, protocols)
        level = srlip_level(self._joint.matrix, channel.matrix, self._attributes).level
        joint = channel.joint(self._joint.p_x)
        information = float(
            entropy(joint.sum(axis=0)) + entropy(self._joint.p_x) - entropy(joint.ravel())
        )
        return _Product(budgets, channel, level, information)


def _refuse_large_product(attributes: NDArray[np.intp]) -> None:
    """Raise an error if a product is too large to certify."""
    n_symbols = attributes.shape[0]
    cells = n_symbols * math.prod(int(size) for size in attributes.max(axis=0) + 1)
    what = f"{n_symbols:,} combinations of attributes occur, and the product channel has"
    refuse_beyond(MOST_CHANNEL_CELLS, cells, f"{what} up to {cells:,} cells", _INSTEAD)


class _SingleAttribute:
    """One attribute and its distributions given what an attacker may know."""

    def __init__(
        self, joint: JointDistribution, attributes: NDArray[np.intp], position: int
    ) -> None:
        codes = attributes[:, position]
        self.size = int(codes.max()) + 1
        labels: dict[int, Label] = {}
        for code, label in zip(codes, joint.useful_labels, strict=True):
            labels.setdefault(int(code), as_parts(label)[position])
        self.labels = [labels[code] for code in range(self.size)]
        own = np.eye(self.size)[codes]
        self.p = joint.p_x @ own
        others = np.delete(attributes, position, axis=1)
        self._given, self._given_s = self._conditionals(joint, own, others)

    def _conditionals(
        self, joint: JointDistribution, own: FloatArray, others: NDArray[np.intp]
    ) -> tuple[FloatArray, FloatArray]:
        """P(x^j | x^J) and P(x^j | s, x^J) for every J without j and all x^J and s that occur."""
        everything = np.unique(others, axis=0, return_inverse=True)[1].reshape(-1)
        full = np.zeros((everything.max() + 1, everything.size))
        full[everything, np.arange(everything.size)] = 1.0
        known = list(side_groups(others))
        n_groups = sum(len(groups.values) for groups in known) + len(full)
        refuse_many_rows(2 * joint.shape[0] * n_groups, self.size, _INSTEAD)
        members = np.vstack([*(groups.indicator.toarray() for groups in known), full])
        given, given_s = [], []
        of_group = (members * joint.p_x) @ own
        for row in joint.matrix:
            of_s = (members * row) @ own
            seen = of_s.sum(axis=1) > 0
            given.append(of_group[seen] / of_group[seen].sum(axis=1, keepdims=True))
            given_s.append(of_s[seen] / of_s[seen].sum(axis=1, keepdims=True))
        return np.vstack(given), np.vstack(given_s)

    def protocol(self, budget: float) -> Channel:
        """Solve for the best channel that is LIP for all these distributions."""
        high, low = np.exp(budget), np.exp(-budget)
        rows = np.vstack([self._given_s - high * self._given, low * self._given - self._given_s])
        solution = solve(PosteriorProblem(self.p, rows / self.p), gap=_GAP, time_limit=_SECONDS)
        names = posterior_labels(self.labels, solution.posteriors)
        matrix = solution.channel_matrix
        return Channel(matrix / matrix.sum(axis=1, keepdims=True), self.labels, names)


def product_channel(joint: JointDistribution, protocols: Sequence[Channel]) -> Channel:
    """Return the channel that sends every attribute through its own protocol independently.

    Parameters
    ----------
    joint : JointDistribution
        Its useful labels are tuples with one value per protocol, or single values for one.
    protocols : sequence of Channel
        One per attribute; their inputs are the values of the attribute.
    """
    labels = [as_parts(label) for label in joint.useful_labels]
    rows = []
    for protocol, values in zip(protocols, zip(*labels, strict=True), strict=True):
        place = {value: i for i, value in enumerate(protocol.inputs)}
        unknown = [value for value in values if value not in place]
        if unknown:
            raise InvalidParameterError(f"{unknown[0]!r} is not an input of its protocol.")
        rows.append(protocol.matrix[[place[value] for value in values]])
    matrix = reduce(lambda a, b: (a[:, :, None] * b[:, None, :]).reshape(a.shape[0], -1), rows)
    outputs: list[Label] = list(product(*(protocol.outputs for protocol in protocols)))
    if len(protocols) == 1:
        outputs = list(protocols[0].outputs)
    return Channel(matrix / matrix.sum(axis=1, keepdims=True), joint.useful_labels, outputs)
