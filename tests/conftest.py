import os

from hypothesis import settings

settings.register_profile("dev", deadline=None)
settings.register_profile("ci", derandomize=True, deadline=None)
settings.load_profile("ci" if os.environ.get("CI") else "dev")

# Pictures are drawn without a screen, in docstrings too.
os.environ.setdefault("MPLBACKEND", "Agg")
