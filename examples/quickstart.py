"""
Sanitise a column
=================

**Question:** how do I release an occupation that reveals little about the relationship in a
household?

In the Adult census an occupation makes some relationships several times as probable, and rules
others out. After sanitising, no relationship becomes more or less probable by more than a factor of
exp(0.5). Most of the information in the column is kept: only occupations that reveal too much are
merged, with others that reveal the opposite. (Subset merging draws nothing at random, so every run
releases the same.)
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from _common import save

from skliftpriv import SubsetMergingSanitizer
from skliftpriv.datasets import load_adult
from skliftpriv.plotting import LiftDisplay

# %%
# Three lines sanitise a column of a data frame. The sensitive column is left out of the result.
adult = load_adult()[["relationship", "occupation"]]
sanitizer = SubsetMergingSanitizer("relationship", "occupation", epsilon=0.5)
released = sanitizer.fit_transform(adult)

rows = pd.concat([adult, released["occupation"].rename("released")], axis=1).head(6)
print(rows.to_string(index=False))

# %%
# The report says what the release leaks and keeps.
report = sanitizer.report_
print(report)

# %%
# The guarantee says what is guaranteed, and for which distribution.
print(sanitizer.guarantee_)

# %%
# In short:
least, most = np.exp([report.min_log_lift, report.max_log_lift])
print(
    f"A released occupation makes every relationship {least:.2f} to {most:.2f} times as probable;\n"
    f"{report.nmi:.0%} of the information in occupation is kept."
)

# %%
# The picture shows the lift of every relationship before and after, with the budget.
figure = LiftDisplay.from_estimator(sanitizer).figure_
save(figure)
