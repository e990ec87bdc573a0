"""Every sanitiser can be drawn, from what it really releases."""

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline

import skliftpriv
from skliftpriv import (
    ConditionalReporting,
    GRRSanitizer,
    ORRSanitizer,
    OUESanitizer,
    SRLIPSanitizer,
    SRRSanitizer,
    SubsetMergingSanitizer,
    WatchdogSanitizer,
    mechanisms,
)
from skliftpriv.exceptions import InvalidParameterError
from skliftpriv.notions import SRLIP
from skliftpriv.plotting import ChannelDisplay, LiftDisplay, PosteriorDisplay, ReleaseView

from ..estimators.samples import make_frame
from .pictures import joint_with_zeros

FRAME = make_frame().assign(t=lambda frame: np.where(frame.index % 3 == 0, "low", "high"))
SANITIZERS = [
    WatchdogSanitizer("s", "x", epsilon=0.6),
    WatchdogSanitizer("s", "x", epsilon=0.6, delta=0.2),
    SubsetMergingSanitizer("s", "x", epsilon=0.6, notion="alip", lam=0.6),
    SubsetMergingSanitizer("s", "x", epsilon=0.9, notion="chi2"),
    ORRSanitizer("s", "x", epsilon=0.6),
    SRRSanitizer("s", "x", epsilon=0.6, notion="ldp"),
    GRRSanitizer("s", "x", epsilon=0.6),
    OUESanitizer("s", "x", epsilon=0.6),
    ConditionalReporting("s", "x", epsilon=0.6),
    ORRSanitizer("s", "x", epsilon=0.6, utility="target", use_sensitive=True),
    SRLIPSanitizer("s", ["x", "t"], epsilon=0.6, time_limit=1.0),
    SRLIPSanitizer("s", ["x", "t"], epsilon=0.6, strategy="product"),
]


def name(sanitizer):
    return type(sanitizer).__name__


@pytest.mark.parametrize("sanitizer", SANITIZERS, ids=name)
def test_every_sanitiser_is_drawn(sanitizer):
    several = isinstance(sanitizer, SRLIPSanitizer)
    frame = FRAME[FRAME["x"] < "d"] if several else FRAME[["s", "x"]]
    fitted = sanitizer.fit(frame, FRAME["t"])
    lift = LiftDisplay.from_estimator(fitted)
    assert f"{fitted.notion_} met" in lift.ax_[1].get_title(loc="left")
    assert "about s" in lift.ax_[0].get_title(loc="left")
    PosteriorDisplay.from_estimator(fitted)
    channel = ChannelDisplay.from_estimator(fitted)
    title = channel.ax_.get_title(loc="left")
    assert ("averaged over s" in title) == fitted.needs_sensitive
    if not isinstance(fitted, OUESanitizer):
        flow = ChannelDisplay.from_estimator(fitted, kind="flow")
        assert flow.flows_.sum() == pytest.approx(1)
        assert lift.log_lift_after.max() == pytest.approx(fitted.report_.max_log_lift)
        assert lift.log_lift_after.min() == pytest.approx(fitted.report_.min_log_lift)
    assert lift.log_lift_after.max() <= fitted.report_.max_log_lift + 1e-9
    plt.close("all")


def test_every_public_sanitiser_is_tested_here():
    public = {
        n for n in skliftpriv.__all__ if n.endswith("Sanitizer") or n == "ConditionalReporting"
    }
    assert public == {name(sanitizer) for sanitizer in SANITIZERS}


def test_a_mechanism_that_sees_s_is_drawn_with_what_it_knows_of_s():
    result = mechanisms.conditional_reporting(joint_with_zeros(), skliftpriv.LIP(0.5))
    data = ReleaseView.of_result(result)
    assert data.log_lift.max() == pytest.approx(result.report.max_log_lift)
    # The averaged channel alone would show another leakage.
    averaged = ReleaseView.of_channel(result.joint, result.channel)
    assert averaged.log_lift.max() != pytest.approx(result.report.max_log_lift, abs=1e-3)
    estimator = ConditionalReporting("s", "x", epsilon=0.5).fit(FRAME[["s", "x"]])
    drawn = ReleaseView.of_estimator(estimator)
    assert drawn.log_lift.min() == pytest.approx(estimator.report_.min_log_lift)


def test_single_bits_are_named_so_and_all_bits_are_reported():
    fitted = OUESanitizer("s", "x", epsilon=0.6).fit(FRAME[["s", "x"]])
    display = LiftDisplay.from_estimator(fitted)
    after = display.ax_[1]
    assert "single bits" in after.get_title(loc="left")
    low = f"{-fitted.report_.min_log_lift:.2f}"
    assert f"all bits: log-lift −{low}" in after.get_title(loc="left")
    assert all(label.get_text().startswith("bit ") for label in after.get_yticklabels())
    released = fitted.transform(pd.concat([FRAME[["s", "x"]]] * 200))
    np.testing.assert_allclose(released.mean(), display.release.p_y, atol=0.01)


def test_columns_lend_their_names_and_results_do_without():
    fitted = SubsetMergingSanitizer("s", "x").fit(FRAME[["s", "x"]])
    assert ReleaseView.of_estimator(fitted).useful_name == "x"
    result = mechanisms.watchdog(joint_with_zeros(), skliftpriv.LIP(1.0))
    assert ReleaseView.of_result(result).useful_name == "X"


def test_what_cannot_be_drawn_is_refused():
    with pytest.raises(NotFittedError):
        LiftDisplay.from_estimator(SubsetMergingSanitizer("s", "x"))
    pipeline = make_pipeline(SubsetMergingSanitizer("s", "x")).fit(FRAME[["s", "x"]])
    with pytest.raises(InvalidParameterError, match=r"pipeline\[0\]"):
        LiftDisplay.from_estimator(pipeline)
    joint = joint_with_zeros()
    identity = skliftpriv.Channel.identity(joint.useful_labels)
    with pytest.raises(InvalidParameterError, match="does not show whether it is met"):
        ReleaseView.of_channel(joint, identity, SRLIP(1.0))
