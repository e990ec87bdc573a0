"""matplotlib is optional: nothing imports it before something is drawn."""

import subprocess
import sys

import pytest

from skliftpriv.exceptions import SkliftprivError
from skliftpriv.plotting import ChannelDisplay, LiftDisplay, MissingMatplotlibError, TradeoffDisplay

from .pictures import as_it_is, joint_with_zeros
from .test_tradeoff import make_curve


def test_importing_the_package_does_not_import_matplotlib():
    code = (
        "import sys, skliftpriv, skliftpriv.plotting\n"
        "sys.exit(any(name.split('.')[0] == 'matplotlib' for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize(
    "draw",
    [
        lambda: LiftDisplay.from_channel(*as_it_is(joint_with_zeros())),
        lambda: ChannelDisplay.from_channel(*as_it_is(joint_with_zeros()), kind="flow"),
        lambda: TradeoffDisplay.from_curve(make_curve()),
        # Said at once, not after the curve was computed.
        lambda: TradeoffDisplay.from_estimators("nothing to compute", None, []),
    ],
)
def test_without_matplotlib_the_error_says_what_to_install(monkeypatch, draw):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(MissingMatplotlibError, match=r'pip install "skliftpriv\[plot\]"') as caught:
        draw()
    assert isinstance(caught.value, ImportError)
    assert isinstance(caught.value, SkliftprivError)
