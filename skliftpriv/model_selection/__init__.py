"""Choose a mechanism and a budget: trade-off curves and refit rules for GridSearchCV."""

from ._refit import best_score_with_leakage_below, smallest_epsilon_within_one_se
from ._tradeoff import tradeoff_curve

__all__ = [
    "best_score_with_leakage_below",
    "smallest_epsilon_within_one_se",
    "tradeoff_curve",
]
