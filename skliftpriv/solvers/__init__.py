"""Optimal posteriors under linear privacy rows, with certificates.

This layer knows nothing of joint distributions, budgets or mechanisms: it takes P_X and
rows A, and returns posteriors v with A v <= 0 that keep the most information.
"""

from ._problem import PosteriorProblem, PosteriorSolution
from ._solve import solve

__all__ = ["PosteriorProblem", "PosteriorSolution", "solve"]
