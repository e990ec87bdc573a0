import numpy as np
import pytest

from skliftpriv import LIP, Channel, JointDistribution, frequencies, mechanisms
from skliftpriv.datasets import make_joint
from skliftpriv.exceptions import InvalidDistributionError, InvalidParameterError
from skliftpriv.frequencies import estimate_frequencies, estimate_unary_frequencies

JOINT = make_joint(4, 8, random_state=3)
P_X = JOINT.p_x
CHANNELS = {
    function.__name__: function(JOINT, LIP(0.4)).channel
    for function in (
        mechanisms.generalized_randomized_response,
        mechanisms.conditional_reporting,
        mechanisms.optimal_random_response,
    )
}
METHODS = ["least_squares", "ibu"]

each_method = pytest.mark.parametrize("method", METHODS)


def draw_counts(channel, p_x, n_rows, rng):
    p_y = channel.p_y(p_x)
    return rng.multinomial(n_rows, p_y / p_y.sum()).astype(float)


def draw_bits(p_x, noise, n_rows, rng):
    """Bits of unary encoding."""
    true = rng.choice(p_x.size, n_rows, p=p_x)
    bits = rng.random((n_rows, p_x.size)) < noise
    bits[np.arange(n_rows), true] = rng.random(n_rows) < 0.5
    return bits


def log_likelihood(counts, channel, estimate):
    return counts @ np.log(channel.p_y(estimate))


@each_method
@pytest.mark.parametrize("name", CHANNELS)
def test_errors_are_as_large_as_stated(name, method):
    rng = np.random.default_rng(0)
    channel, repeats = CHANNELS[name], 80
    scores = np.empty((repeats, P_X.size))
    for row in scores:
        found = estimate_frequencies(draw_counts(channel, P_X, 200_000, rng), channel, P_X, method)
        assert found.estimate.sum() == pytest.approx(1.0)
        row[:] = (found.estimate - P_X) / found.standard_error
    # The standard deviation of 80 scores has an error of 0.08, their mean one of 0.11.
    assert scores.std(axis=0) == pytest.approx(1.0, abs=0.3)
    assert scores.mean(axis=0) == pytest.approx(0.0, abs=0.45)


@each_method
@pytest.mark.parametrize(
    ("alpha", "n"),
    [(1.0, 6), *(pytest.param(alpha, 16, marks=pytest.mark.slow) for alpha in (2.0, 5.0))],
)
def test_errors_of_unary_encoding_are_as_large_as_stated(alpha, n, method):
    # One frequent symbol: scaling the estimates to sum to 1 would make its error 30 % larger.
    rng = np.random.default_rng(1)
    p_x = np.array([0.4, *np.full(n - 1, 0.6 / (n - 1))])
    noise, repeats, n_rows = 1 / (np.exp(alpha) + 1), 100, 20_000
    scores = np.empty((repeats, n))
    for row in scores:
        bits = draw_bits(p_x, noise, n_rows, rng)
        found = estimate_unary_frequencies(bits, tuple(range(n)), noise, p_x, method)
        assert found.estimate.sum() == pytest.approx(1.0)
        row[:] = (found.estimate - p_x) / found.standard_error
    # The errors are those of least squares; the maximum likelihood may do better.
    assert (scores.std(axis=0) < 1.3).all()
    if method == "least_squares":
        assert scores.std(axis=0) == pytest.approx(1.0, abs=0.3)
    assert scores.mean(axis=0) == pytest.approx(0.0, abs=0.45)


@each_method
def test_exact_shares_give_exact_frequencies(method):
    truth = np.array([0.5, 0.2, 0.1, 0.05, 0.05, 0.04, 0.03, 0.03])
    channel = CHANNELS["generalized_randomized_response"]
    found = estimate_frequencies(1e9 * channel.p_y(truth), channel, P_X, method)
    assert found.estimate == pytest.approx(truth, abs=1e-6)
    assert found.n_rows == pytest.approx(1e9, abs=1)
    assert found.symbols == channel.inputs


@each_method
def test_merged_symbols_have_infinite_errors_and_the_right_total(method):
    channel = Channel.merging([["a"], ["b", "c"], ["d"]])
    prior = np.array([0.25, 0.3, 0.1, 0.35])
    found = estimate_frequencies([500, 300, 200], channel, prior, method)
    assert np.isinf(found.standard_error).tolist() == [False, True, True, False]
    assert found.estimate[[0, 3]] == pytest.approx([0.5, 0.2], abs=1e-6)
    assert found.estimate[[1, 2]].sum() == pytest.approx(0.3, abs=1e-6)
    assert found.standard_error[0] == pytest.approx(np.sqrt(0.25 / 1000), rel=1e-6)


def test_ibu_divides_a_merged_group_by_the_prior():
    channel = Channel.merging([["a"], ["b", "c"]])
    found = estimate_frequencies([500, 500], channel, np.array([0.6, 0.3, 0.1]), "ibu")
    assert found.estimate == pytest.approx([0.5, 0.375, 0.125])


@each_method
def test_a_constant_channel_returns_the_prior(method):
    channel = Channel(np.tile([0.3, 0.7], (3, 1)))
    prior = np.array([0.5, 0.3, 0.2])
    found = estimate_frequencies([40, 60], channel, prior, method)
    assert found.estimate == pytest.approx(prior, abs=0.1)
    assert np.isinf(found.standard_error).all()


@each_method
def test_estimates_stay_in_the_simplex(method):
    # A single output seen is far outside of what the channel can give on average.
    channel = CHANNELS["generalized_randomized_response"]
    counts = np.eye(8)[2] * 5
    found = estimate_frequencies(counts, channel, P_X, method)
    assert (found.estimate >= 0).all()
    assert found.estimate.sum() == pytest.approx(1.0)
    assert found.estimate.argmax() == 2


def test_every_bayesian_update_increases_the_likelihood(monkeypatch):
    rng = np.random.default_rng(2)
    channel = CHANNELS["conditional_reporting"]
    counts = draw_counts(channel, rng.dirichlet(np.ones(8)), 10_000, rng)
    values = [log_likelihood(counts, channel, P_X)]
    for steps in (1, 2, 3, 5, 10, 100, 1000):
        monkeypatch.setattr(frequencies, "_IBU_STEPS", steps)
        values.append(
            log_likelihood(
                counts, channel, estimate_frequencies(counts, channel, P_X, "ibu").estimate
            )
        )
    assert (np.diff(values) > -1e-9).all()
    assert values[1] > values[0]


def test_bayesian_update_is_at_least_as_likely_as_least_squares():
    rng = np.random.default_rng(3)
    for channel in CHANNELS.values():
        for _ in range(5):
            counts = draw_counts(channel, rng.dirichlet(np.ones(8)), 300, rng)
            best, other = (
                log_likelihood(
                    counts, channel, estimate_frequencies(counts, channel, P_X, method).estimate
                )
                for method in ("ibu", "least_squares")
            )
            assert best >= other - 1e-3


@pytest.mark.parametrize(
    ("counts", "prior", "method", "error"),
    [
        ([0, 0], [0.5, 0.5], "ibu", InvalidParameterError),
        ([1, 2, 3], [0.5, 0.5], "least_squares", InvalidParameterError),
        ([1, 2], [0.5, 0.3, 0.2], "ibu", InvalidParameterError),
        ([[1, 2]], [0.5, 0.5], "ibu", InvalidDistributionError),
        ([1, -2], [0.5, 0.5], "ibu", InvalidDistributionError),
        ([1, np.nan], [0.5, 0.5], "ibu", InvalidDistributionError),
        ([1, 2], [0.5, 0.5], "inversion", InvalidParameterError),
    ],
)
def test_bad_input_is_refused(counts, prior, method, error):
    channel = Channel.identity(["a", "b"])
    with pytest.raises(error):
        estimate_frequencies(counts, channel, prior, method)


@pytest.mark.parametrize("shape", [(0, 2), (9, 3)])
def test_bits_of_the_wrong_shape_are_refused(shape):
    with pytest.raises(InvalidParameterError):
        estimate_unary_frequencies(np.zeros(shape, bool), ("a", "b"), 0.1, np.array([0.5, 0.5]))


@each_method
def test_bits_of_pure_noise_return_the_prior(method):
    prior = np.array([0.7, 0.3])
    bits = np.random.default_rng(0).random((10, 2)) < 0.5
    found = estimate_unary_frequencies(bits, ("a", "b"), 0.5, prior, method)
    assert found.estimate.tolist() == prior.tolist()
    assert np.isinf(found.standard_error).all()


@each_method
@pytest.mark.parametrize("row", [[0, 0, 0], [1, 0, 0], [1, 1, 1]])
def test_few_bits_still_give_a_distribution(row, method):
    bits = np.array([row], dtype=bool)
    found = estimate_unary_frequencies(bits, ("a", "b", "c"), 0.2, np.full(3, 1 / 3), method)
    assert np.isfinite(found.estimate).all()
    assert (found.estimate >= 0).all()
    assert found.estimate.sum() == pytest.approx(1.0)


def test_mechanisms_that_drop_no_symbol_identify_all_of_them():
    joint = JointDistribution.from_counts([[3, 0, 2], [1, 4, 5]])
    for function in (
        mechanisms.generalized_randomized_response,
        mechanisms.conditional_reporting,
    ):
        channel = function(joint, LIP(0.3)).channel
        found = estimate_frequencies(1000 * channel.p_y(joint.p_x), channel, joint.p_x)
        assert np.isfinite(found.standard_error).all()
