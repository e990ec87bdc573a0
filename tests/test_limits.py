"""What is too large is refused before anything is allocated, and the message says what to do."""

import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import skliftpriv
from skliftpriv import ALIP, LDP, LIP, Channel, Chi2Lift, ConfidenceSet, JointDistribution
from skliftpriv import mechanisms as m
from skliftpriv._limits import refuse_beyond
from skliftpriv.certificate import quantize
from skliftpriv.exceptions import InvalidParameterError, SizeLimitError
from skliftpriv.frames import ContingencyTable
from skliftpriv.frequencies import estimate_frequencies
from skliftpriv.sampling import Sampler

# Two gigabytes of memory, and what libraries reserve without using it.
ADDRESS_SPACE = 3 * 2**30

CHILD = """
import json, resource, sys
resource.setrlimit(resource.RLIMIT_AS, ({limit}, {limit}))
import numpy as np, pandas as pd, skliftpriv
n_values, n_sensitive = {shape}
n = max(n_values, n_sensitive)
rows = np.arange(n)
frame = pd.DataFrame({{"s": rows % n_sensitive, "x": rows % n_values}}).astype(str)
frame.loc[frame.index % 3 == 0, "s"] = "0"
answers = {{}}
for name in {names}:
    try:
        sanitizer = getattr(skliftpriv, name)("s", "x", epsilon=0.5)
        answers[name] = str(len(sanitizer.fit(frame).transform(frame)))
    except skliftpriv.exceptions.SizeLimitError as error:
        answers[name] = str(error)
print(json.dumps(answers))
"""

ALL = [name for name in skliftpriv.__all__ if name.endswith(("Sanitizer", "Reporting"))]


def answers(names, n_values, n_sensitive=2):
    """What sanitisers answer, or how they refuse, in a process with little address space."""
    script = CHILD.format(limit=ADDRESS_SPACE, shape=(n_values, n_sensitive), names=tuple(names))
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.slow
def test_a_million_values_are_answered_by_the_watchdog_and_refused_by_the_others():
    found = answers(ALL, 1_000_000)
    assert found.pop("WatchdogSanitizer") == "1000000"
    for name, message in found.items():
        assert "the limit is" in message, name
        assert "pool rare values" in message, name


@pytest.mark.slow
@pytest.mark.parametrize("shape", [(20_000, 2), (100_000, 2), (2, 100_000)])
def test_every_sanitizer_answers_or_refuses_within_little_memory(shape):
    n_rows = str(max(shape))
    for name, answer in answers(ALL, *shape).items():
        assert answer == n_rows or "the limit is" in answer, name


@pytest.mark.slow
def test_a_table_of_all_distinct_pairs_is_refused_before_it_is_counted():
    found = answers(["WatchdogSanitizer", "OUESanitizer"], 10_000, 10_000)
    for message in found.values():
        assert "has" in message
        assert "66,670,000 cells; the limit is 10,000,000" in message
        assert "Pool rare values of both columns" in message


def test_adding_tables_refuses_what_counting_would():
    one = ContingencyTable(np.ones((1, 4000)), ["s"], range(4000), 4000)
    other = ContingencyTable(np.ones((4000, 1)), range(4000), [-1], 4000)
    with pytest.raises(SizeLimitError, match="4,001 sensitive and 4,001 useful values"):
        one + other


def alternating(n_values, n_sensitive=2):
    """A joint distribution in which every useful symbol gives its sensitive one away."""
    table = np.zeros((n_sensitive, n_values))
    table[np.arange(n_values) % n_sensitive, np.arange(n_values)] = 1.0
    return JointDistribution.from_counts(table)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda j: m.generalized_randomized_response(j, LIP(0.5)), "any of 20,000 values of X"),
        (lambda j: m.conditional_reporting(j, LIP(0.5)), "any of 40,000 pairs of values"),
        (lambda j: m.optimized_unary_encoding(j, LIP(0.5)), "a bit for each of 20,000 values"),
        (lambda j: m.optimal_random_response(j, LIP(0.5)), "20,000 values of X as inputs"),
        (lambda j: m.subset_random_response(j, LIP(0.5)), "20,000 values of X are high-risk"),
        (lambda j: m.subset_merging(j, LIP(0.5)), "800,000,000 comparisons"),
        (lambda j: m.side_channel_resistant(j, 0.5), "400,000,000 entries"),
        (lambda j: m.side_channel_resistant(j, 0.5, strategy="product"), "400,000,000 cells"),
        (lambda j: m.watchdog(j, LIP(0.5), randomization="uniform"), "randomization='merge'"),
        (lambda j: m.watchdog(j, LIP(0.5), delta=0.1), "Use delta=0"),
    ],
)
def test_mechanisms_name_what_is_too_large_and_what_to_do(build, message):
    joint = alternating(20_000)
    with pytest.raises(SizeLimitError, match="the limit is") as error:
        build(joint)
    assert message in str(error.value)


def test_a_mechanism_that_sees_s_counts_pairs():
    joint = JointDistribution.from_counts(np.ones((3, 1000)))
    assert m.optimal_random_response(joint, LIP(50.0), time_limit=1).report.satisfied
    with pytest.raises(SizeLimitError, match="3,000 pairs of values") as error:
        m.optimal_random_response(joint, LIP(0.5), use_sensitive=True)
    assert "Use the mechanism that does not see S" in str(error.value)
    with pytest.raises(SizeLimitError, match="20,000 values of X as inputs"):
        m.optimal_random_response(alternating(20_000), LIP(0.5))


@pytest.mark.parametrize(
    ("use_sensitive", "given"), [(False, "500 values of X"), (True, "1,000 pairs")]
)
def test_a_large_target_is_refused(use_sensitive, given):
    joint = JointDistribution.from_counts(np.ones((2, 500)))
    target = np.full((600, 500), 1 / 600)
    with pytest.raises(SizeLimitError, match=f"600 values of the target given {given}"):
        m.optimal_random_response(joint, LIP(0.5), target=target, use_sensitive=use_sensitive)


def test_many_sensitive_values_are_refused_where_inequalities_or_sets_are_listed():
    joint = alternating(400, 400)
    with pytest.raises(SizeLimitError, match="159,600 inequalities"):
        m.optimal_random_response(joint, LDP(0.5))
    with pytest.raises(SizeLimitError, match="400 sensitive values"):
        m.optimized_unary_encoding(joint, LDP(0.5))
    with pytest.raises(SizeLimitError, match="pairs"):
        m.conditional_reporting(joint, LIP(0.5))


def test_no_noise_needs_no_large_channel():
    joint = JointDistribution.from_counts(np.ones((2, 20_000)))
    for build in (m.generalized_randomized_response, m.conditional_reporting):
        result = build(joint, LIP(0.5))
        assert np.isinf(result.alpha)
        assert result.report.satisfied
        assert result.channel.sparse.nnz == 20_000


def test_few_high_risk_values_among_many_are_no_trouble():
    table = np.ones((2, 20_000))
    table[0, :3], table[1, 3:6] = 4.0, 4.0
    joint = JointDistribution.from_counts(table)
    for build in (m.subset_merging, m.subset_random_response, m.watchdog):
        result = build(joint, LIP(0.5))
        assert result.report.satisfied
        assert result.nmi > 0.999


@pytest.mark.slow
def test_repair_of_many_low_risk_values_ends():
    # The low-risk values are all alike: some three thousand must be taken in.
    table = np.repeat([[2.0], [1.0]], 100_000, axis=1)
    table[:, :1000] = [[1.0], [0.0]]
    result = m.watchdog(JointDistribution.from_counts(table), LIP(0.1))
    assert result.report.satisfied
    assert 3_000 < len(result.moved) < 3_200


def test_confidence_sets_of_many_cells_are_refused():
    with pytest.raises(SizeLimitError, match="confidence=None"):
        ConfidenceSet.from_counts(np.ones((2, 30_000)))
    with pytest.raises(SizeLimitError, match="worst lifts"):
        ConfidenceSet.from_counts(np.ones((200, 200)))


def test_a_dense_view_of_a_large_channel_is_refused_but_the_sparse_one_is_there():
    channel = Channel.identity(range(100_000))
    assert channel.sparse.nnz == 100_000
    for view in (lambda: channel.matrix, lambda: channel.posterior(np.full(100_000, 1e-5))):
        with pytest.raises(SizeLimitError, match=r"Use channel\.sparse"):
            view()


def test_many_sensitive_values_at_the_budget_are_refused_by_the_certificate():
    rng = np.random.default_rng(0)
    joint = JointDistribution.from_counts(rng.uniform(size=(250_000, 2)))
    with pytest.raises(SizeLimitError, match="lifts must be compared without rounding"):
        m.generalized_randomized_response(joint, LIP(0.5))


def test_a_sampler_of_one_long_row_among_many_is_refused():
    matrix = np.zeros((2, 5000))
    matrix[0], matrix[1, 0] = 1 / 5000, 1.0
    weights = quantize(Channel(matrix))
    many = weights[np.r_[0, np.ones(5000, dtype=int)]]
    with pytest.raises(SizeLimitError, match="5,001 inputs"):
        Sampler(many)


def test_frequencies_of_many_values_are_refused():
    with pytest.raises(SizeLimitError, match="Frequencies of 5,000 values"):
        estimate_frequencies(np.ones(5000), Channel.identity(range(5000)), np.full(5000, 2e-4))


def unary(n_values):
    frame = pd.DataFrame({"s": [0, 1] * n_values, "x": np.repeat(np.arange(n_values), 2)})
    return skliftpriv.OUESanitizer("s", "x").fit(frame), frame


@pytest.mark.parametrize(
    ("output", "n_rows", "what"),
    [
        ("bits", 2_000_000, "bits"),
        ("posterior", 600_000, "posterior probabilities"),
        ("label", 300_000, "bits to name sets of"),
    ],
)
def test_rows_of_unary_encoding_are_refused_by_what_they_would_release(output, n_rows, what):
    sanitizer, frame = unary(101)
    many = frame.iloc[np.zeros(n_rows, dtype=int)].reset_index(drop=True)
    with pytest.raises(SizeLimitError, match=f"{what}; the limit is") as error:
        sanitizer.set_params(output=output).transform(many)
    assert "fewer rows at a time" in str(error.value)


@pytest.mark.parametrize("notion", [LIP(0.5), ALIP(0.4, 0.6), LDP(1.0), Chi2Lift(0.3, 0.3)])
def test_certificates_of_many_alike_outputs_agree_with_one_by_one(notion):
    rng = np.random.default_rng(0)
    joint = JointDistribution.from_counts(rng.integers(1, 4, size=(2, 3000)))
    weights = quantize(Channel.identity(joint.useful_labels))
    met = skliftpriv.certificate.certify(joint.masses, weights, notion)
    lifts, p_s, p_y = skliftpriv.certificate.exact_lifts(joint.masses, weights)
    np.testing.assert_array_equal(met, notion.all_exactly_met(lifts, p_s, p_y))
    assert 0 < met.sum() < met.size


def test_the_error_is_one_of_the_family_and_says_three_things():
    refuse_beyond(5, 5, "it has 5 cells", "use less")
    with pytest.raises(InvalidParameterError) as error:
        refuse_beyond(5, 6_000, "it has 6,000 cells", "use less")
    assert str(error.value) == "It has 6,000 cells; the limit is 5. Use less."
