"""Sanitise useful columns and bound what they reveal about a sensitive one by a lift budget."""

from . import _start  # noqa: F401

# isort: split
from . import datasets, measures, mechanisms, metrics, model_selection
from .channel import Channel
from .confidence import ConfidenceSet
from .distribution import JointDistribution
from .estimators import (
    ConditionalReporting,
    CountedRows,
    GRRSanitizer,
    ORRSanitizer,
    OUESanitizer,
    SRLIPSanitizer,
    SRRSanitizer,
    SubsetMergingSanitizer,
    WatchdogSanitizer,
)
from .files import load, save
from .frames import shuffle_rows
from .metrics import audit, joint_leakage
from .notions import ALIP, LDP, LIP, AlphaLift, Chi2Lift, L1Lift
from .secret import Secret

__version__ = "0.2.0.dev0"

__all__ = [
    "ALIP",
    "AlphaLift",
    "Channel",
    "Chi2Lift",
    "ConditionalReporting",
    "ConfidenceSet",
    "CountedRows",
    "GRRSanitizer",
    "JointDistribution",
    "L1Lift",
    "LDP",
    "LIP",
    "ORRSanitizer",
    "OUESanitizer",
    "SRLIPSanitizer",
    "SRRSanitizer",
    "Secret",
    "SubsetMergingSanitizer",
    "WatchdogSanitizer",
    "__version__",
    "audit",
    "datasets",
    "joint_leakage",
    "load",
    "measures",
    "mechanisms",
    "metrics",
    "model_selection",
    "save",
    "shuffle_rows",
]
