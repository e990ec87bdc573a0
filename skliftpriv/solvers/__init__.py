"""Optimal posteriors under linear privacy rows or bounded averages, with certified bounds.

This package does not depend on joint distributions, budgets or mechanisms: it takes P_X and
rows A, and returns posteriors v with A v <= 0 that keep the most information. In place of rows it
takes averages of functions of the lift (``_averages``, with ``_lift_lp`` and ``_lift_boxes``).

``_solve`` is the entry point and chooses among ``_column_generation`` (with ``_pair_columns``,
``_pricing``, ``_column_pool``, and ``_bound`` over ``_partition`` and ``_boxes``, or ``_planes``
over ``_envelope`` for few parts of the image), ``_blocks`` (thousands of inputs),
``_cutting_planes`` (rows on demand), ``_vertices`` (enumeration) and ``_exact_pricing`` (with
``_pairs`` for one range, ``_levels`` for two parts of the image, and ``_couplings`` for few classes
of inputs). ``_coarse`` finds a first solution for many inputs. ``_image`` says what is to be kept.
``_presolve`` runs before and ``_polish`` after; ``_state`` has the clock and the best bounds.
"""

from ._averages import Averages
from ._problem import PosteriorProblem, PosteriorSolution
from ._solve import solve

__all__ = ["Averages", "PosteriorProblem", "PosteriorSolution", "solve"]
