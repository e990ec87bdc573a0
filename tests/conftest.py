import os
import sys
import time

from hypothesis import settings

import skliftpriv  # noqa: F401 (loads the modules below)

from .clock import WorkClock

# The same examples in every run; HYPOTHESIS_PROFILE=explore draws new ones, few draws fewer.
settings.register_profile("repeat", derandomize=True, deadline=None, max_examples=60)
settings.register_profile("few", derandomize=True, deadline=None, max_examples=15)
settings.register_profile("explore", deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeat"))

# Pictures are drawn without a screen, in docstrings too.
os.environ.setdefault("MPLBACKEND", "Agg")

# Time limits of searches are counted in steps, so that no test depends on how busy a machine is.
CLOCK = WorkClock()
for name, module in list(sys.modules.items()):
    searches = name.startswith(("skliftpriv.solvers.", "skliftpriv.mechanisms."))
    if searches and vars(module).get("time") is time:
        module.time = CLOCK
