"""confidence=: what the six sanitisers promise, refuse and warn about."""

import pickle
import re
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from skliftpriv import (
    ConditionalReporting,
    GRRSanitizer,
    JointDistribution,
    ORRSanitizer,
    OUESanitizer,
    SRLIPSanitizer,
    SRRSanitizer,
    SubsetMergingSanitizer,
    WatchdogSanitizer,
)
from skliftpriv.exceptions import (
    InvalidParameterError,
    SampleSizeWarning,
    SkliftprivError,
)

from .samples import make_frame

KINDS = [
    ORRSanitizer,
    SRRSanitizer,
    SubsetMergingSanitizer,
    WatchdogSanitizer,
    GRRSanitizer,
    ConditionalReporting,
]
FRAME = make_frame(3000)
BUDGETS = {"lip": 0.8, "alip": (1.0, 0.7), "ldp": 1.0}
each_kind = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)


def sanitizer_of(kind, **options):
    if kind in (ORRSanitizer, SRRSanitizer):
        options = {"gap": 1e-3, "time_limit": 0.3, **options}
    return kind("s", "x", **options)


def fitted(kind, data=FRAME, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SampleSizeWarning)
        return sanitizer_of(kind, **{"confidence": 0.95, **options}).fit(data)


@each_kind
@pytest.mark.parametrize("notion", BUDGETS)
def test_the_guarantee_is_for_the_true_distribution(kind, notion):
    sanitizer = fitted(kind, notion=notion, epsilon=BUDGETS[notion])
    guarantee = sanitizer.guarantee_
    assert guarantee.basis == "confidence 0.95"
    assert (guarantee.holds, guarantee.confidence, guarantee.n_rows) == (True, 0.95, len(FRAME))
    for side, budget in guarantee.budget.items():
        assert 0 <= guarantee.achieved[side] <= budget + 1e-12
        # The worst distribution is worse than the estimated one.
        assert sanitizer.report_.levels_after[side] <= guarantee.achieved[side] + 1e-12
    assert "distribution that the rows came from" in str(guarantee)
    assert "confidence 0.95" in guarantee._repr_html_()


@each_kind
def test_by_default_the_promise_is_for_the_estimate(kind):
    sanitizer = sanitizer_of(kind).fit(FRAME)
    assert sanitizer.guarantee_.basis == "estimated distribution"
    assert sanitizer.report_.levels_worst is None


# Greedy groups, those of merging, may change either way.
@pytest.mark.parametrize("kind", [ORRSanitizer, SRRSanitizer, GRRSanitizer, ConditionalReporting])
def test_more_confidence_keeps_less(kind):
    kept = [fitted(kind, confidence=c).report_.nmi for c in (0.5, 0.999)]
    assert kept[0] > kept[1]


@pytest.mark.parametrize("kind", [SubsetMergingSanitizer, WatchdogSanitizer])
@pytest.mark.parametrize("notion", ["l1", "chi2", "alpha"])
def test_averaged_notions_are_refused(kind, notion):
    sanitizer = kind("s", "x", notion=notion, confidence=0.95)
    with pytest.raises(InvalidParameterError, match="'lip', 'alip', 'ldp'"):
        sanitizer.fit(FRAME)
    assert_unfitted(sanitizer)


@pytest.mark.parametrize("confidence", [0, 1, 95, -1.0, "high"])
@each_kind
def test_confidence_must_be_a_probability(kind, confidence):
    sanitizer = sanitizer_of(kind, confidence=confidence)
    with pytest.raises(ValueError, match="confidence"):
        sanitizer.fit(FRAME)
    assert_unfitted(sanitizer)


def test_delta_is_refused():
    sanitizer = WatchdogSanitizer("s", "x", delta=0.1, confidence=0.95)
    with pytest.raises(InvalidParameterError, match="delta"):
        sanitizer.fit(FRAME)
    assert_unfitted(sanitizer)


@each_kind
def test_weights_must_count_rows(kind):
    sanitizer = sanitizer_of(kind, confidence=0.95)
    with pytest.raises(SkliftprivError, match=r"not whole.*confidence=None"):
        sanitizer.fit(FRAME, sample_weight=np.full(len(FRAME), 0.3))
    assert_unfitted(sanitizer)


def test_whole_weights_stand_for_so_many_rows():
    few = FRAME.iloc[:1000]
    weighted = fitted_with_weights(few, np.full(1000, 3))
    repeated = fitted(GRRSanitizer, pd.concat([few] * 3))
    assert weighted.alpha_ == repeated.alpha_


def fitted_with_weights(data, weights):
    return sanitizer_of(GRRSanitizer, confidence=0.95).fit(data, sample_weight=weights)


def assert_unfitted(sanitizer):
    assert not [name for name in vars(sanitizer) if name.endswith("_") or name.startswith("_")]
    with pytest.raises(NotFittedError):
        sanitizer.transform(FRAME)


@pytest.mark.parametrize("kind", [OUESanitizer, SRLIPSanitizer])
def test_bits_and_side_channels_take_confidence(kind):
    sanitizer = fitted(kind, epsilon=1.0)
    assert sanitizer.guarantee_.holds
    assert sanitizer.guarantee_.basis == "confidence 0.95"
    assert sanitizer.guarantee_.achieved == sanitizer.report_.levels_worst
    assert sanitizer.report_.nmi < fitted(kind, epsilon=1.0, confidence=None).report_.nmi


def repeated(frame, n_rows):
    """A table of about so many rows in the proportions of another."""
    counts = frame.value_counts()
    copies = np.rint(counts * n_rows / len(frame)).astype(int)
    return pd.DataFrame(
        np.repeat(counts.index.to_frame().to_numpy(), copies, axis=0),
        columns=list(counts.index.names),
    )


@pytest.mark.parametrize("kind", [SubsetMergingSanitizer, WatchdogSanitizer])
@pytest.mark.parametrize("notion", BUDGETS)
def test_the_warning_says_how_many_rows_would_do(kind, notion):
    few = make_frame(120)
    few = few[few["x"].isin(list("abcd"))]
    with pytest.warns(SampleSizeWarning, match="says nothing about X") as caught:
        sanitizer = kind("s", "x", notion=notion, epsilon=BUDGETS[notion], confidence=0.95).fit(few)
    assert sanitizer.report_.nmi < 1e-6
    assert sanitizer.guarantee_.holds
    text = str(caught[0].message)
    assert f"{len(few):,} rows" in text
    assert caught[0].filename == __file__
    rows = int(re.search(r"about ([\d,]+) rows", text)[1].replace(",", ""))
    assert rows > len(few)
    with warnings.catch_warnings():
        warnings.simplefilter("error", SampleSizeWarning)
        # Counts are whole numbers, so that a table of just so many rows may fall short.
        enough = clone(sanitizer).fit(repeated(few, 1.05 * rows))
    assert enough.report_.nmi > 0.01


def test_the_warning_says_when_no_rows_would_do():
    apart = pd.DataFrame({"s": list("uv") * 200, "x": list("ab") * 200})
    with pytest.warns(SampleSizeWarning, match="raise epsilon"):
        SubsetMergingSanitizer("s", "x", epsilon=0.5, confidence=0.95).fit(apart)


@each_kind
def test_batches_add_up(kind):
    at_once = fitted(kind)
    in_batches = sanitizer_of(kind, confidence=0.95)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SampleSizeWarning)
        kept = []
        for start in range(0, len(FRAME), 1000):
            in_batches.partial_fit(FRAME.iloc[start : start + 1000])
            kept.append(in_batches.report_.nmi)
    assert in_batches.guarantee_.n_rows == len(FRAME)
    assert in_batches.joint_ == at_once.joint_
    # A time limit may stop the solver at another point.
    assert kept[-1] == pytest.approx(at_once.report_.nmi, abs=0.02)


@each_kind
def test_a_copy_keeps_the_promise(kind):
    sanitizer = fitted(kind, random_state=0)
    assert clone(sanitizer).confidence == 0.95
    copy = pickle.loads(pickle.dumps(sanitizer))
    assert copy.guarantee_ == sanitizer.guarantee_
    pd.testing.assert_frame_equal(copy.transform(FRAME), sanitizer.transform(FRAME))


@each_kind
def test_smoothing_does_not_touch_the_set(kind):
    plain, smooth = fitted(kind), fitted(kind, smoothing=5.0)
    assert smooth.guarantee_.holds
    assert smooth.joint_ != plain.joint_
    if kind is GRRSanitizer:
        assert smooth.alpha_ == plain.alpha_


@each_kind
def test_the_promise_holds_on_other_rows_of_the_same_kind(kind):
    sanitizer = fitted(kind, epsilon=0.8)
    truth = JointDistribution.from_frame(make_frame(200_000, seed=9), "s", "x")
    assert truth.useful_labels == sanitizer.joint_.useful_labels
    if kind is ConditionalReporting:
        return  # its channel needs S too; see the simulations of the mechanisms
    p_sy = truth.released(sanitizer.channel_)
    lift = p_sy / truth.p_s[:, None] / p_sy.sum(axis=0)
    assert np.abs(np.log(lift)).max() <= 0.8


def test_an_open_list_of_values_is_warned_of():
    rng = np.random.default_rng(0)
    values = np.where(rng.random(2000) < 0.05, rng.integers(10**6, size=2000), rng.integers(3))
    frame = pd.DataFrame({"s": rng.integers(2, size=2000), "x": values.astype(str)})
    with pytest.warns(SampleSizeWarning, match="occur once, so about .* closed list"):
        SubsetMergingSanitizer("s", "x", confidence=0.95).fit(frame)


def test_a_closed_list_with_a_rare_value_is_not_warned_of():
    frame = pd.DataFrame({"s": [0, 1] * 500, "x": ["a", "a", "b", "b"] * 250})
    frame.loc[0, "x"] = "rare"
    frame = frame.sample(frac=1, random_state=0, ignore_index=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SubsetMergingSanitizer("s", "x", confidence=0.95).fit(frame)


def test_weights_count_as_rows_in_the_guarantee():
    frame = make_frame()
    sanitizer = GRRSanitizer("s", "x", confidence=np.float32(0.95))
    sanitizer.fit(frame, sample_weight=np.full(len(frame), 3))
    assert sanitizer.guarantee_.n_rows == 3 * len(frame)
    with pytest.raises(SkliftprivError, match="more than are counted exactly"):
        sanitizer.fit(frame, sample_weight=np.full(len(frame), 1e300))
