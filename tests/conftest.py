import os
import time

import pytest
from hypothesis import settings

settings.register_profile("dev", deadline=None)
settings.register_profile("ci", derandomize=True, deadline=None)
settings.load_profile("ci" if os.environ.get("CI") else "dev")

# Pictures are drawn without a screen, in docstrings too.
os.environ.setdefault("MPLBACKEND", "Agg")

#: Time of day, in seconds, after which no slow test starts; .ci/run has a limit of its own.
SLOW_UNTIL = float(os.environ.get("SKLIFTPRIV_SLOW_UNTIL", "inf"))


def pytest_runtest_setup(item):
    if item.get_closest_marker("slow") and time.time() > SLOW_UNTIL:
        pytest.skip("no time left for slow tests in this run (SKLIFTPRIV_SLOW_UNTIL)")
