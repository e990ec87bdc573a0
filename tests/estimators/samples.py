"""What the tests of the estimators share: rows with three sensitive values, all sanitisers."""

import numpy as np
import pandas as pd

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

LETTERS = "abcdef"


def make_codes(n=400, seed=0):
    """Codes of S (three values) and X (six values), dependent, with one empty cell."""
    rng = np.random.default_rng(seed)
    x = rng.choice(6, n, p=[0.3, 0.25, 0.2, 0.1, 0.1, 0.05])
    shares = np.array([[8, 1, 1], [5, 3, 2], [3, 4, 3], [2, 5, 3], [1, 3, 6], [0, 2, 8]]) / 10
    s = (rng.random(n)[:, None] > shares[x].cumsum(axis=1)[:, :2]).sum(axis=1)
    return s, x


def make_frame(n=400, seed=0):
    """The same rows as a data frame with the text columns s and x."""
    s, x = make_codes(n, seed)
    return pd.DataFrame({"s": np.array(["u", "v", "w"])[s], "x": np.array(list(LETTERS))[x]})


def group_of(sanitizer):
    """Outputs that each input may be released as, read from the channel alone."""
    channel = sanitizer.channel_
    return {
        symbol: {channel.outputs[y] for y in np.flatnonzero(row)}
        for symbol, row in zip(channel.inputs, channel.matrix, strict=True)
    }


def make_sanitizers(**options):
    """One unfitted sanitiser of each kind, for the columns s and x."""
    kinds = [
        SubsetMergingSanitizer,
        ORRSanitizer,
        SRRSanitizer,
        GRRSanitizer,
        OUESanitizer,
        ConditionalReporting,
        SRLIPSanitizer,
    ]
    # Merging draws nothing, so that a watchdog that does is of more use.
    watchdog = WatchdogSanitizer("s", "x", randomization="uniform", **options)
    return [watchdog, *(kind("s", "x", **options) for kind in kinds)]
