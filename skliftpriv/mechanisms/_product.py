"""One protocol per attribute, with budgets for which their product resists side channels."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._arrays import FloatArray, Label
from .._limits import FEWER, MOST_CHANNEL_CELLS, refuse_beyond
from .._progress import Progress
from ..channel import Channel
from ..distribution import JointDistribution
from ..exceptions import InvalidParameterError
from ..labels import as_parts
from ..measures import entropy
from ..notions import SRLIP
from ._side_check import refuse_many_terms
from ._single_attribute import SingleAttribute

__all__ = ["best_product", "product_channel"]

_ROUNDING = 1e-9
_GRID, _BISECTIONS = 6, 4
#: Factors by which the search varies the budget of a single attribute.
_FACTORS = (0.5, 2.0)


class ProductLimits(NamedTuple):
    """What limits the search for a product.

    Attributes
    ----------
    time_limit : float or None
        Seconds.
    verbose : bool or None
        Whether progress is shown.
    exceeds : callable or None
        Tells whether a channel exceeds a level for some distribution other than ``joint``.
    """

    time_limit: float | None = None
    verbose: bool | None = False
    exceeds: Callable[[FloatArray, float], bool] | None = None


def best_product(
    joint: JointDistribution,
    notion: SRLIP,
    attributes: NDArray[np.intp],
    limits: ProductLimits | None = None,
) -> tuple[Channel, tuple[float, ...]]:
    """Find per-attribute protocols whose product meets a budget and keeps much of X.

    The budgets start equal and are scaled up as far as the product meets the notion. Then each
    budget in turn is made larger or smaller relative to the others if this keeps more of X. After
    the time limit the best product so far is returned.

    Returns
    -------
    channel : Channel
        The product, with tuples as outputs.
    budgets : tuple of float
        LIP budget of each attribute.
    """
    search = _ProductSearch(joint, notion, attributes, limits or ProductLimits())
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
    search.report(last=True)
    return product_channel(joint, best.protocols), tuple(float(b) for b in best.budgets)


class _Product(NamedTuple):
    """Protocols for given budgets, with the level and mutual information of their product."""

    budgets: FloatArray
    protocols: list[Channel]
    level: float
    information: float


class _ProductSearch:
    """Build and evaluate products for vectors of budgets."""

    def __init__(
        self,
        joint: JointDistribution,
        notion: SRLIP,
        attributes: NDArray[np.intp],
        limits: ProductLimits,
    ) -> None:
        _refuse_large_product(joint, attributes)
        self._start = time.monotonic()
        self._limit = math.inf if limits.time_limit is None else limits.time_limit
        self._progress = Progress(limits.verbose)
        self._exceeds, self._symbols = limits.exceeds, joint
        self._epsilon = notion.epsilon
        self._single = [SingleAttribute(joint, attributes, j) for j in range(attributes.shape[1])]
        # P(s, x^1, ..., x^m), with zeros for combinations that do not occur.
        self._joint = np.zeros((joint.shape[0], *(single.size for single in self._single)))
        self._joint[:, *attributes.T] = joint.matrix
        self._entropy = float(entropy(joint.p_x))
        self._n_products, self._most = 0, 0.0

    @property
    def _left(self) -> float:
        return self._limit - (time.monotonic() - self._start)

    @property
    def out_of_time(self) -> bool:
        """Whether the time limit is reached, or the keyboard has ended the search."""
        return self._left <= 0 or any(single.interrupted for single in self._single)

    def scaled(self, shares: FloatArray) -> _Product:
        """Scale budgets with these proportions as far as the product meets the notion."""
        # The level jumps where a protocol changes its support, so a grid comes before bisection.
        # No attribute may exceed the whole budget. Where all else fails, nothing is released.
        # Just below the budget, certification need not correct an excess by rounding.
        scales = self._epsilon * (1 - _ROUNDING) * np.linspace(0, 1, _GRID + 1)
        shares = shares / shares.max()
        low, best = 0.0, self._product(0.0 * shares, [single.constant for single in self._single])
        for scale in scales[1:]:  # small budgets, which are private, come first
            found = self._in_time(scale * shares)
            if found is not None and found.information > best.information:
                low, best = scale, found
        high = min(low + scales[1], scales[-1])
        for _ in range(_BISECTIONS):
            middle = (low + high) / 2
            found = self._in_time(middle * shares)
            if found is not None and found.information >= best.information:
                low, best = middle, found
            else:
                high = middle
        return best

    def _in_time(self, budgets: FloatArray) -> _Product | None:
        """Build a product; None if there is no time for it or it does not meet the notion."""
        protocols = []
        for single, budget in zip(self._single, budgets, strict=True):
            if self.out_of_time:
                return None
            protocols.append(single.protocol(budget, self._left))
        found = self._product(budgets, protocols)
        self._n_products += 1
        # Certification corrects an excess by rounding.
        most = self._epsilon + _ROUNDING
        met = found.level <= most
        if met and self._exceeds is not None:
            met = not self._exceeds(product_channel(self._symbols, protocols).matrix, most)
        if met:
            self._most = max(self._most, found.information)
        self.report()
        return found if met else None

    def _product(self, budgets: FloatArray, protocols: list[Channel]) -> _Product:
        matrices = [protocol.matrix for protocol in protocols]
        level = 0.0
        for of_y, hidden in _views(self._joint, matrices):
            level = max(level, _view_level(of_y, hidden))
        # Y has independent parts given X, so I(X;Y) = H(Y) - sum of H(Y^j | X^j).
        noise = sum(one.p @ entropy(m) for one, m in zip(self._single, matrices, strict=True))
        information = float(entropy(of_y.sum(axis=0).ravel()) - noise)
        return _Product(budgets, protocols, level, information)

    def report(self, last: bool = False) -> None:
        """Update the progress line."""
        seconds = time.monotonic() - self._start
        nmi = self._most / (self._entropy or 1.0)
        self._progress.line(
            f"{seconds:8.1f} s  NMI {nmi:.6f}  products {self._n_products}", last=last
        )


def _views(
    masses: FloatArray, protocols: Sequence[FloatArray], axis: int = 1, hidden: tuple[int, ...] = ()
) -> Iterator[tuple[FloatArray, tuple[int, ...]]]:
    """Yield what attackers see of a row: each attribute as it is, or the output of its protocol.

    The outputs of known attributes are left out. They do not depend on S given what is known, so
    they change nothing, and without them the sums are short.

    Parameters
    ----------
    masses : ndarray
        Joint distribution of S and the attributes, one axis each.
    protocols : sequence of ndarray
        Protocol of each attribute.
    axis : int
        Attributes before this axis are decided.
    hidden : tuple of int
        Those of them that are replaced by their outputs.

    Yields
    ------
    masses, hidden
        For every set of attributes; the last one hides all of them.
    """
    if axis == masses.ndim:
        yield masses, hidden
        return
    yield from _views(masses, protocols, axis + 1, hidden)
    sent = np.moveaxis(np.tensordot(masses, protocols[axis - 1], axes=(axis, 0)), -1, axis)
    yield from _views(sent, protocols, axis + 1, (*hidden, axis))


def _view_level(masses: FloatArray, hidden: tuple[int, ...]) -> float:
    """Largest ``|log P(y | s, x^J) / P(y | x^J)|`` of one view."""
    known_s = masses.sum(axis=hidden, keepdims=True)
    of_y, known = masses.sum(axis=0), known_s.sum(axis=0)
    possible = (known_s > 0) & (of_y > 0)
    ratio = np.divide(masses * known, known_s * of_y, out=np.ones_like(masses), where=possible)
    with np.errstate(divide="ignore"):
        return float(max(np.log(ratio.max()), -np.log(ratio.min())))


def _refuse_large_product(joint: JointDistribution, attributes: NDArray[np.intp]) -> None:
    """Raise an error if a product is too large to store or to certify."""
    n_symbols = attributes.shape[0]
    n_outputs = math.prod(int(size) for size in attributes.max(axis=0) + 1)
    cells = n_symbols * n_outputs
    what = f"{n_symbols:,} combinations of attributes occur, and the product channel has"
    refuse_beyond(MOST_CHANNEL_CELLS, cells, f"{what} up to {cells:,} cells", FEWER)
    refuse_many_terms(joint, attributes, n_outputs)


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
