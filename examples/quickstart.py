"""Sanitise a column, and read what is protected and what it costs.

Question: how do I release an occupation that tells little about the relationship in a household?

In the Adult census an occupation makes some relationships several times as probable, and rules
others out. Three lines release
an occupation that does neither by more than the factor exp(0.5), and most of the information in
the column survives: only occupations that tell too much are merged, with others that tell the
opposite. (Subset merging draws nothing at random, so that every run releases the same.)
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from _common import run
from matplotlib.figure import Figure

from skliftpriv import SubsetMergingSanitizer
from skliftpriv.datasets import load_adult
from skliftpriv.plotting import LiftDisplay


def main() -> Figure:
    """Sanitise occupation against relationship, and show what that does."""
    adult = load_adult()[["relationship", "occupation"]]

    sanitizer = SubsetMergingSanitizer("relationship", "occupation", epsilon=0.5)
    released = sanitizer.fit_transform(adult)

    print("The first rows, and what is released of them:\n")
    rows = pd.concat([adult, released["occupation"].rename("released")], axis=1).head(6)
    print(rows.to_string(index=False))

    report = sanitizer.report_
    print(f"\nWhat the release leaks and keeps:\n\n{report}")
    print(f"\nWhat is promised:\n\n{sanitizer.guarantee_}")
    least, most = np.exp([report.min_log_lift, report.max_log_lift])
    print(
        f"\nIn short: whoever sees a released occupation finds no relationship less than "
        f"{least:.2f} or more\nthan {most:.2f} times as probable as before; {report.nmi:.0%} of "
        "the information in occupation is kept."
    )
    return LiftDisplay.from_estimator(sanitizer).figure_


if __name__ == "__main__":
    run(main, __file__, __doc__)
