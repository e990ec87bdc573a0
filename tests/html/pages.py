"""Fitted sanitisers of all kinds, and their pages."""

from functools import cache

from skliftpriv import (
    ConditionalReporting,
    GRRSanitizer,
    ORRSanitizer,
    OUESanitizer,
    SRLIPSanitizer,
    SRRSanitizer,
    SubsetMergingSanitizer,
    WatchdogSanitizer,
)
from skliftpriv.datasets import load_adult
from skliftpriv.html import report_page

PAIR = ("relationship", "occupation")
SANITIZERS = {
    "watchdog": WatchdogSanitizer(*PAIR, epsilon=0.5, delta=0.05),
    "subset-merging": SubsetMergingSanitizer(
        "race", ["occupation", "education"], notion="chi2", remainder="passthrough"
    ),
    "orr": ORRSanitizer(*PAIR, epsilon=0.5),
    "srr": SRRSanitizer(*PAIR, epsilon=0.8, confidence=0.9),
    "grr": GRRSanitizer("relationship", "native-country", notion="ldp", random_state=1),
    "oue": OUESanitizer("marital-status", "education"),
    "conditional": ConditionalReporting("marital-status", "education"),
    "target": ORRSanitizer(*PAIR, epsilon=0.5, utility="target"),
    "sees": ORRSanitizer(*PAIR, epsilon=0.5, use_sensitive=True),
    "both": ORRSanitizer("sex", "education", epsilon=0.2, utility="target", use_sensitive=True),
    "srlip": SRLIPSanitizer("income", ["sex", "race"], epsilon=0.5),
    "missed": SubsetMergingSanitizer(*PAIR, epsilon=0.05, repair=False),
}


@cache
def fitted(name):
    adult = load_adult()
    return SANITIZERS[name].fit(adult, adult["income"])


@cache
def page(name):
    return report_page(fitted(name))
