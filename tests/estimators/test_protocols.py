import io
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn
from scipy.stats import chi2
from sklearn.pipeline import make_pipeline

from skliftpriv import (
    ConditionalReporting,
    GRRSanitizer,
    ORRSanitizer,
    OUESanitizer,
    SRRSanitizer,
    SubsetMergingSanitizer,
    WatchdogSanitizer,
)
from skliftpriv.exceptions import InvalidParameterError, UnknownCategoryError

from .samples import LETTERS, make_codes, make_frame

N = 4000
FRAME = make_frame(N)
S, X = make_codes(N)
NUMBERS = np.column_stack([S, X])
PAIR = FRAME.assign(z=np.array(["p", "q"])[np.random.default_rng(1).integers(0, 2, N)])
PROTOCOLS = [GRRSanitizer, ConditionalReporting, OUESanitizer]
ALL = [*PROTOCOLS, ORRSanitizer, SRRSanitizer, SubsetMergingSanitizer, WatchdogSanitizer]

each_protocol = pytest.mark.parametrize("protocol", PROTOCOLS)
each_estimator = pytest.mark.parametrize("estimator", ALL)


def chi_square_p_value(observed, expected):
    """P-value of a table of counts with given row sums; rows are independent multinomials."""
    possible = expected > 0
    assert (observed[~possible] == 0).all()
    statistic = ((observed - expected)[possible] ** 2 / expected[possible]).sum()
    degrees = possible.sum() - (expected.sum(axis=-1) > 0).sum()
    return chi2.sf(statistic, degrees)


def table_of(inputs, outputs, n_inputs, n_outputs):
    cells = np.bincount(inputs * n_outputs + outputs, minlength=n_inputs * n_outputs)
    return cells.reshape(n_inputs, n_outputs)


def released_codes(sanitizer, data):
    return sanitizer.set_params(output="code").transform(data).to_numpy().ravel()


@each_protocol
@pytest.mark.parametrize(
    ("notion", "epsilon"), [("lip", 0.5), ("alip", (0.4, 0.9)), ("ldp", 0.8)], ids=str
)
def test_budget_is_used_up_and_certified(protocol, notion, epsilon):
    sanitizer = protocol("s", "x", notion=notion, epsilon=epsilon).fit(FRAME)
    guarantee = sanitizer.guarantee_
    left = min(guarantee.budget[side] - guarantee.achieved[side] for side in guarantee.budget)
    assert guarantee.holds
    assert 0 <= left <= 1e-9
    assert 0 < sanitizer.alpha_ < np.inf


@each_protocol
def test_averaged_notions_are_refused(protocol):
    with pytest.raises(InvalidParameterError, match="notion"):
        protocol("s", "x", notion="l1").fit(FRAME)


@each_protocol
def test_no_noise_for_a_large_budget(protocol):
    full = FRAME[(X != 5)]
    sanitizer = protocol("s", "x", epsilon=20.0, random_state=0).fit(full)
    assert sanitizer.alpha_ == np.inf
    released = sanitizer.transform(full)
    if protocol is OUESanitizer:
        bits = released.to_numpy()
        own = pd.get_dummies(full["x"]).to_numpy()
        assert (bits <= own).all()
        assert bits.sum() / len(full) == pytest.approx(0.5, abs=0.05)
    else:
        assert (released["x"].to_numpy() == full["x"].to_numpy()).all()


def test_randomised_response_follows_its_channel():
    big = make_frame(100_000, seed=5)
    sanitizer = GRRSanitizer("s", "x", epsilon=0.5, random_state=0).fit(big)
    codes = pd.Categorical(big["x"], list(LETTERS)).codes.astype(int)
    observed = table_of(codes, released_codes(sanitizer, big), 6, 6)
    right = observed.sum(axis=1, keepdims=True) * sanitizer.channel_.matrix
    assert chi_square_p_value(observed, right) > 1e-4
    # The test can tell a channel that is a little off.
    wrong = 0.97 * right + 0.03 * observed.sum(axis=1, keepdims=True) / 6
    assert chi_square_p_value(observed, wrong) < 1e-4


def test_conditional_reporting_follows_its_channel_given_both_s_and_x():
    big = make_frame(100_000, seed=6)
    sanitizer = ConditionalReporting("s", "x", epsilon=0.5, random_state=0).fit(big)
    s = pd.Categorical(big["s"], list("uvw")).codes.astype(int)
    x = pd.Categorical(big["x"], list(LETTERS)).codes.astype(int)
    released = released_codes(sanitizer, big)
    observed = table_of(6 * s + x, released, 18, 6)
    sizes = observed.sum(axis=1, keepdims=True)
    assert sanitizer.conditional_channel_.matrix.shape == (18, 6)
    assert chi_square_p_value(observed, sizes * sanitizer.conditional_channel_.matrix) > 1e-4
    # P(Y|X) alone is another matter: it holds on average over S, and not given S.
    marginal = np.tile(sanitizer.channel_.matrix, (3, 1))
    assert chi_square_p_value(observed, sizes * marginal) < 1e-4
    averaged = table_of(x, released, 6, 6)
    right = averaged.sum(axis=1, keepdims=True) * sanitizer.channel_.matrix
    assert chi_square_p_value(averaged, right) > 1e-4


def test_bits_follow_their_probabilities_and_are_independent():
    big = make_frame(60_000, seed=7)
    sanitizer = OUESanitizer("s", "x", epsilon=0.5, random_state=0).fit(big)
    bits = sanitizer.transform(big).to_numpy()
    own = pd.get_dummies(big["x"]).to_numpy()
    noise = 1 / (np.exp(sanitizer.alpha_) + 1)
    assert bits[own].mean() == pytest.approx(0.5, abs=5 * np.sqrt(0.25 / own.sum()))
    assert bits[~own].mean() == pytest.approx(noise, abs=5 * np.sqrt(0.25 / (~own).sum()))
    x = pd.Categorical(big["x"], list(LETTERS)).codes.astype(int)
    sets = bits @ (1 << np.arange(6))
    observed = table_of(x, sets, 6, 64)
    expected = observed.sum(axis=1, keepdims=True) * sanitizer.channel_.matrix
    assert chi_square_p_value(observed, expected) > 1e-4


def test_unary_columns_are_bits_named_after_their_values():
    sanitizer = OUESanitizer("s", "x", epsilon=0.5, random_state=0).fit(FRAME)
    released = sanitizer.transform(FRAME)
    assert list(released.columns) == [f"x_{letter}" for letter in LETTERS]
    assert list(sanitizer.get_feature_names_out()) == list(released.columns)
    assert set(np.unique(released.to_numpy())) == {0, 1}


def test_unary_labels_are_the_sets_of_the_bits():
    sanitizer = OUESanitizer("s", "x", epsilon=0.5, random_state=0).fit(FRAME)
    bits = sanitizer.transform(FRAME).to_numpy().astype(bool)
    labels = sanitizer.set_params(output="label").transform(FRAME)
    expected = ["{" + ", ".join(np.array(list(LETTERS))[row]) + "}" for row in bits]
    assert labels["x"].tolist() == expected


@pytest.mark.parametrize("epsilon", [0.5, 20.0])
def test_unary_posteriors_are_those_of_the_channel(epsilon):
    rows = FRAME[X != 5]
    sanitizer = OUESanitizer("s", "x", epsilon=epsilon, random_state=0).fit(rows)
    bits = sanitizer.transform(rows).to_numpy()
    posterior = sanitizer.set_params(output="posterior").transform(rows).to_numpy()
    assert posterior.sum(axis=1) == pytest.approx(1.0)
    exact = sanitizer.channel_.posterior(sanitizer.joint_.p_x)
    assert posterior == pytest.approx(exact[bits @ (1 << np.arange(5))], abs=1e-12)


@pytest.mark.parametrize("protocol", [GRRSanitizer, ConditionalReporting])
def test_posterior_rows_sum_to_one(protocol):
    sanitizer = protocol("s", "x", epsilon=0.5, output="posterior").fit(FRAME)
    assert sanitizer.transform(FRAME).sum(axis=1).to_numpy() == pytest.approx(1.0)


def test_unary_encoding_of_many_values_has_no_channel_yet_works():
    rng = np.random.default_rng(0)
    rows = np.column_stack([rng.integers(0, 3, 5000), rng.integers(0, 60, 5000)])
    sanitizer = OUESanitizer(0, epsilon=0.5, random_state=0).fit(rows)
    assert sanitizer.channel_ is None
    assert sanitizer.report_.satisfied
    assert sanitizer.transform(rows).shape == (5000, 60)


def test_unary_encoding_resamples_unseen_values():
    sanitizer = OUESanitizer("s", "x", epsilon=0.5, random_state=0).fit(FRAME)
    strange = pd.DataFrame({"x": ["new"] * 20_000})
    with pytest.raises(UnknownCategoryError, match="'new'"):
        sanitizer.transform(strange)
    bits = sanitizer.set_params(handle_unknown="resample").fit(FRAME).transform(strange)
    noise = 1 / (np.exp(sanitizer.alpha_) + 1)
    expected = noise + (0.5 - noise) * sanitizer.joint_.p_x
    assert bits.mean().to_numpy() == pytest.approx(expected, abs=0.02)


def test_conditional_reporting_needs_s_at_transform():
    sanitizer = ConditionalReporting("s", "x", epsilon=0.5).fit(FRAME)
    with pytest.raises(InvalidParameterError, match="X lacks 's'"):
        sanitizer.transform(FRAME[["x"]])


def test_conditional_reporting_takes_a_missing_column_of_s_on_its_own():
    sanitizer = ConditionalReporting("s", "x", epsilon=0.5, random_state=0).fit(FRAME)
    released = sanitizer.transform(FRAME[["x"]], sensitive_features=FRAME["s"])
    assert released.equals(sanitizer.transform(FRAME))


def test_s_given_at_fit_must_be_given_at_transform():
    rows = FRAME[["x"]]
    sanitizer = ConditionalReporting(useful="x", epsilon=0.5, random_state=0)
    first = sanitizer.fit_transform(rows, sensitive_features=FRAME["s"])
    again = sanitizer.transform(rows, sensitive_features=FRAME["s"].to_numpy(object))
    assert first.equals(again)
    with pytest.raises(InvalidParameterError, match="pass sensitive_features="):
        sanitizer.transform(rows)
    with pytest.raises(InvalidParameterError, match="has 3 rows, but X has 4000"):
        sanitizer.transform(rows, sensitive_features=["u", "v", "w"])


def test_several_sensitive_columns_are_one_symbol():
    sensitive = PAIR[["s", "z"]]
    sanitizer = ConditionalReporting(useful="x", epsilon=0.5, random_state=0)
    released = sanitizer.fit_transform(FRAME[["x"]], sensitive_features=sensitive)
    assert sanitizer.joint_.shape == (6, 6)
    assert released.shape == (N, 1)


def test_unseen_s_is_refused_or_resampled():
    sanitizer = ConditionalReporting("s", "x", epsilon=0.5, random_state=0).fit(FRAME)
    strange = pd.DataFrame({"s": ["new"] * 20_000, "x": ["a"] * 20_000})
    with pytest.raises(UnknownCategoryError, match=r"s: 1 value.*'new'"):
        sanitizer.transform(strange)
    released = sanitizer.set_params(handle_unknown="resample").fit(FRAME).transform(strange)
    shares = released["x"].value_counts(normalize=True).reindex(list(LETTERS)).to_numpy()
    assert shares == pytest.approx(sanitizer.channel_.p_y(sanitizer.joint_.p_x), abs=0.02)


def test_missing_s_is_a_value_of_its_own():
    rows = FRAME.assign(s=FRAME["s"].mask(FRAME["s"] == "w"))
    sanitizer = ConditionalReporting("s", "x", epsilon=0.5, random_state=0).fit(rows)
    assert sanitizer.joint_.sensitive_labels == ("u", "v", None)
    assert sanitizer.transform(rows).shape == (N, 1)


def test_pair_that_never_occurred_together_is_released():
    # Nobody with s = u had x = f; the channel still knows what to do with such a row.
    sanitizer = ConditionalReporting("s", "x", epsilon=0.5, random_state=0).fit(FRAME)
    assert sanitizer.joint_.matrix[0, 5] == 0
    released = sanitizer.transform(pd.DataFrame({"s": ["u"] * 50, "x": ["f"] * 50}))
    assert set(released["x"]) <= set(LETTERS)


def test_pipelines_route_s_to_transform():
    rows = FRAME[["x"]]
    with sklearn.config_context(enable_metadata_routing=True):
        pipeline = make_pipeline(ConditionalReporting(useful="x", epsilon=0.5, random_state=0))
        pipeline.fit(rows, sensitive_features=FRAME["s"])
        released = pipeline.transform(rows, sensitive_features=FRAME["s"])
    alone = ConditionalReporting(useful="x", epsilon=0.5, random_state=0)
    assert released.equals(alone.fit_transform(rows, sensitive_features=FRAME["s"]))


@each_protocol
def test_seeded_protocols_survive_pickling(protocol):
    sanitizer = protocol("s", "x", epsilon=0.5, random_state=3).fit(FRAME)
    again = pickle.loads(pickle.dumps(sanitizer))
    assert again.transform(FRAME).equals(sanitizer.transform(FRAME))


@each_protocol
def test_no_rows_give_no_rows(protocol):
    sanitizer = protocol("s", "x", epsilon=0.5).fit(FRAME)
    assert len(sanitizer.transform(FRAME.iloc[:0])) == 0


KINDS = {
    "pandas": lambda frame: frame,
    "polars": lambda frame: pl.from_pandas(frame),
    "pyarrow": lambda frame: pa.Table.from_pandas(frame),
}


@each_estimator
@pytest.mark.parametrize("kind", KINDS)
def test_frequencies_from_every_kind_of_frame(estimator, kind):
    rows = KINDS[kind](FRAME)
    sanitizer = estimator("s", "x", epsilon=0.5, random_state=0).fit(rows)
    found = sanitizer.estimate_frequencies(sanitizer.transform(rows))
    assert list(found.index) == list(LETTERS)
    known = np.isfinite(found["standard_error"])
    error = (found["estimate"] - sanitizer.joint_.p_x) / found["standard_error"]
    assert error[known].abs().max() < 4 if known.any() else True
    assert found["estimate"].sum() == pytest.approx(1.0)


@each_estimator
@pytest.mark.parametrize("dtype", [int, float, object])
def test_frequencies_from_arrays(estimator, dtype):
    rows = NUMBERS.astype(dtype)
    sanitizer = estimator(0, epsilon=0.5, random_state=0).fit(rows)
    found = sanitizer.estimate_frequencies(sanitizer.transform(rows))
    assert list(found.index) == [0, 1, 2, 3, 4, 5]
    assert found["estimate"].to_numpy() == pytest.approx(sanitizer.joint_.p_x, abs=0.08)


@each_estimator
def test_frequencies_of_several_useful_columns(estimator):
    sanitizer = estimator("s", ["x", "z"], epsilon=0.5, random_state=0).fit(PAIR)
    found = sanitizer.estimate_frequencies(sanitizer.transform(PAIR))
    assert found.index[0] == ("a", "p")
    assert len(found) == 12
    assert found["estimate"].to_numpy() == pytest.approx(sanitizer.joint_.p_x, abs=0.1)


@each_estimator
def test_frequencies_from_tables_that_changed_their_kind(estimator):
    rows = pd.DataFrame(NUMBERS, columns=["s", "x"])
    sanitizer = estimator("s", "x", epsilon=0.5, random_state=0).fit(rows)
    released = sanitizer.transform(rows)
    wanted = sanitizer.estimate_frequencies(released)
    written = pd.read_csv(io.StringIO(released.to_csv(index=False)))
    for table in (released.to_numpy(), written, pl.from_pandas(released)):
        pd.testing.assert_frame_equal(sanitizer.estimate_frequencies(table), wanted)


@each_estimator
@pytest.mark.parametrize("container", ["pandas", "polars"])
def test_frequencies_after_set_output(estimator, container):
    sanitizer = estimator(0, epsilon=0.5, random_state=0).fit(NUMBERS)
    wanted = sanitizer.estimate_frequencies(sanitizer.transform(NUMBERS))
    released = sanitizer.set_output(transform=container).transform(NUMBERS)
    pd.testing.assert_frame_equal(sanitizer.estimate_frequencies(released), wanted)


@pytest.mark.parametrize("estimator", [e for e in ALL if e is not OUESanitizer])
def test_frequencies_from_codes_and_by_bayesian_update(estimator):
    sanitizer = estimator("s", "x", epsilon=0.5, random_state=0).fit(FRAME)
    labels = sanitizer.transform(FRAME)
    wanted = sanitizer.estimate_frequencies(labels)
    other = sanitizer.estimate_frequencies(labels, method="ibu")
    assert other["estimate"].to_numpy() == pytest.approx(wanted["estimate"].to_numpy(), abs=0.01)
    sanitizer.set_params(output="code")
    found = sanitizer.estimate_frequencies(sanitizer.transform(FRAME))
    pd.testing.assert_frame_equal(found, wanted)


def test_rows_of_other_data_give_their_own_frequencies():
    sanitizer = GRRSanitizer("s", "x", epsilon=0.5, random_state=0).fit(FRAME)
    other = pd.DataFrame({"x": ["f"] * 15_000 + ["e"] * 5_000})
    found = sanitizer.estimate_frequencies(sanitizer.transform(other))
    truth = np.array([0, 0, 0, 0, 0.25, 0.75])
    assert ((found["estimate"] - truth).abs() < 5 * found["standard_error"]).all()


def test_frequencies_of_what_was_not_released_are_refused():
    sanitizer = GRRSanitizer("s", "x", epsilon=0.5).fit(FRAME)
    with pytest.raises(InvalidParameterError, match="'nobody' is not an output"):
        sanitizer.estimate_frequencies(pd.DataFrame({"x": ["a", "nobody"]}))
    with pytest.raises(InvalidParameterError, match="not a column"):
        sanitizer.estimate_frequencies(FRAME[["s"]])
    with pytest.raises(InvalidParameterError, match="method must be"):
        sanitizer.estimate_frequencies(sanitizer.transform(FRAME), method="guess")
    sanitizer.set_params(output="posterior")
    with pytest.raises(InvalidParameterError, match="posterior"):
        sanitizer.estimate_frequencies(sanitizer.transform(FRAME))


@pytest.mark.parametrize("value", [2, -1, 0.5, np.nan, "1", None])
def test_frequencies_of_what_are_no_bits_are_refused(value):
    sanitizer = OUESanitizer("s", "x", epsilon=0.5).fit(FRAME)
    bits = sanitizer.transform(FRAME).astype(object)
    bits.iloc[7, 2] = value
    with pytest.raises(InvalidParameterError, match="x_c must hold bits"):
        sanitizer.estimate_frequencies(bits)


def test_unary_frequencies_come_from_bits():
    sanitizer = OUESanitizer("s", "x", epsilon=0.5).fit(FRAME)
    bits = sanitizer.transform(FRAME)
    for method in ("least_squares", "ibu"):
        assert sanitizer.estimate_frequencies(bits, method)["estimate"].sum() == pytest.approx(1.0)
    with pytest.raises(InvalidParameterError, match="least_squares"):
        sanitizer.estimate_frequencies(bits, method="inversion")
    sanitizer.set_params(output="label")
    with pytest.raises(InvalidParameterError, match='output="bits"'):
        sanitizer.estimate_frequencies(sanitizer.transform(FRAME))


@pytest.mark.slow
@each_estimator
def test_frequencies_from_a_million_rows_are_within_their_errors(estimator):
    rows = make_frame(1_000_000, seed=11)
    sanitizer = estimator("s", "x", epsilon=0.5, random_state=4).fit(rows)
    found = sanitizer.estimate_frequencies(sanitizer.transform(rows))
    known = np.isfinite(found["standard_error"])
    truth = rows["x"].value_counts(normalize=True).reindex(found.index)
    scores = (found["estimate"] - truth)[known] / found["standard_error"][known]
    assert scores.abs().max() < 3.5 if known.any() else True
    if estimator in PROTOCOLS:
        assert known.all()
        assert found["standard_error"].max() < 0.005
    # Symbols that the release merges are known by their total.
    assert found["estimate"][~known].sum() == pytest.approx(truth[~known].sum(), abs=0.005)
