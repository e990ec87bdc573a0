"""Measure leakage and utility on rows: scores of columns, audits, an attacker and scorers.

Scores of columns are plug-in estimates: they treat shares of rows as probabilities. See
:func:`max_log_lift_score` for what this means when there are few rows.
"""

from ._attack import attacker_advantage, attacker_advantage_bound
from ._audit import AuditedBound, AuditReport, audit, audit_columns, audit_counts
from ._columns import (
    ldp_score,
    leakage_mutual_information_score,
    max_log_lift_score,
    maximal_leakage_score,
    min_log_lift_score,
    nmi_score,
)
from ._joint import joint_leakage
from ._scorers import (
    attacker_advantage_scorer,
    ldp_scorer,
    max_log_lift_scorer,
    maximal_leakage_scorer,
    nmi_scorer,
)
from ._target import target_kept

__all__ = [
    "AuditReport",
    "AuditedBound",
    "attacker_advantage",
    "attacker_advantage_bound",
    "attacker_advantage_scorer",
    "audit",
    "audit_columns",
    "audit_counts",
    "joint_leakage",
    "ldp_score",
    "ldp_scorer",
    "leakage_mutual_information_score",
    "max_log_lift_score",
    "max_log_lift_scorer",
    "maximal_leakage_score",
    "maximal_leakage_scorer",
    "min_log_lift_score",
    "nmi_score",
    "nmi_scorer",
    "target_kept",
]
