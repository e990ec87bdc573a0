"""Certification: a channel is rounded to integers, and these are checked in exact arithmetic.

A channel that a solver returns in floating point usually exceeds its bound by about 1e-14. It is
therefore rounded to integer weights, and the lifts of these integers are computed exactly as
rational numbers. If they exceed the budget, the channel is mixed with a small share of a constant
channel until they meet it. The integers that pass are the ones that are sampled.
"""

from ._certified import CertifiedChannel, certified_by, certified_for
from ._exact import certify, certify_over, exact_lifts, worst_levels_over
from ._mend import Check as Check
from ._mend import first_mixture_that_meets, mixed_until_met
from ._weights import TOTAL, TOTAL_BITS, drawn_weights, quantize, without_common
from ._weights import Weights as Weights

__all__ = [
    "TOTAL",
    "TOTAL_BITS",
    "CertifiedChannel",
    "certified_by",
    "certified_for",
    "certify",
    "certify_over",
    "drawn_weights",
    "exact_lifts",
    "first_mixture_that_meets",
    "mixed_until_met",
    "quantize",
    "without_common",
    "worst_levels_over",
]
