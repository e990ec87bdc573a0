"""Keyed releases: a record has the same value at every call, and nobody can tell the key."""

import math
import traceback
import warnings
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.stats import chi2_contingency, chisquare
from sklearn.base import clone

from skliftpriv import (
    Channel,
    ConditionalReporting,
    GRRSanitizer,
    JointDistribution,
    ORRSanitizer,
    OUESanitizer,
    Secret,
    SRLIPSanitizer,
    SRRSanitizer,
    SubsetMergingSanitizer,
    WatchdogSanitizer,
    load,
    measures,
    save,
)
from skliftpriv.estimators import BitReleaser, SymbolSanitizer
from skliftpriv.exceptions import (
    InvalidParameterError,
    SeededReleaseWarning,
    UnprotectedColumnsWarning,
)
from skliftpriv.frames import RecordIds, record_bits
from skliftpriv.html import report_page
from skliftpriv.mechanisms import ChannelResult
from skliftpriv.mechanisms._unary_encoding import bit_weights

from .samples import LETTERS, make_frame

KEY = b"c0ffee3b1f9ad2c47e805516f2d1e9aa"
FRAME = make_frame(600).assign(id=np.random.default_rng(3).permutation(600) + 10**6)
KINDS = [
    WatchdogSanitizer("s", "x", epsilon=0.5, randomization="uniform"),
    SubsetMergingSanitizer("s", "x", epsilon=0.5),
    ORRSanitizer("s", "x", epsilon=0.5),
    SRRSanitizer("s", "x", epsilon=0.5),
    GRRSanitizer("s", "x", epsilon=0.5),
    ConditionalReporting("s", "x", epsilon=0.5),
]


def keyed(sanitizer, secret=KEY, record_id="id"):
    return clone(sanitizer).set_params(record_id=record_id, secret=secret)


def grr(**options):
    keys = {"epsilon": 0.5, "record_id": "id", "secret": KEY}
    return GRRSanitizer("s", "x", **(keys | options))


# ---- the hazard, and the remedy


class Example(SymbolSanitizer):
    """The mechanism of docs/limits.md: one release says nothing about S, and two of them do."""

    def _build(self, joint, notion, over):
        channel = Channel([[0.0, 1.0], [0.5, 0.5], [1.0, 0.0]], joint.useful_labels, ["a", "b"])
        return ChannelResult.of(joint, notion, channel, status="by hand")


def lifts_of_two_releases(sanitizer, frame):
    first, second = (sanitizer.transform(frame)["x"] for _ in range(2))
    pairs = pd.crosstab(frame["s"], first + second)
    return measures.lift(JointDistribution.from_counts(pairs.to_numpy()).matrix)


def test_two_releases_reveal_s_without_keys_and_nothing_with_them():
    rows = 500
    counts = {(0, "0"): 2, (0, "2"): 2, (1, "0"): 1, (1, "1"): 2, (1, "2"): 1}
    pairs = [pair for pair, n in counts.items() for _ in range(n * rows)]
    frame = pd.DataFrame(pairs, columns=["s", "x"])
    frame = frame.sample(frac=1, random_state=0, ignore_index=True).rename_axis("id").reset_index()
    plain = Example("s", "x", epsilon=0.01).fit(frame.drop(columns="id"))
    assert plain.report_.max_log_lift == 0
    lift = lifts_of_two_releases(plain, frame)
    # Two draws that differ rule out s = 0, as in the theory: lifts 0 and 2.
    assert lift.min() == 0
    assert lift.max() == pytest.approx(2)
    with_key = keyed(Example("s", "x", epsilon=0.01)).fit(frame)
    assert np.abs(np.log(lifts_of_two_releases(with_key, frame))).max() < 0.15


# ---- the same record has the same value


@pytest.mark.parametrize("sanitizer", KINDS, ids=lambda one: type(one).__name__)
def test_a_record_is_released_alike_whatever_comes_with_it(sanitizer):
    sanitizer = keyed(sanitizer).fit(FRAME)
    released = sanitizer.transform(FRAME)
    assert list(released.columns) == ["x"]
    shuffled = FRAME.sample(frac=1, random_state=1)
    pd.testing.assert_frame_equal(sanitizer.transform(shuffled), released.loc[shuffled.index])
    pd.testing.assert_frame_equal(sanitizer.transform(FRAME[40:41]), released[40:41])
    assert (sanitizer.sample_outputs(FRAME) == sanitizer.sample_outputs(FRAME)).all()
    pd.testing.assert_frame_equal(clone(sanitizer).fit_transform(FRAME), released)
    parts = sanitizer.transform_batches(FRAME[i : i + 100] for i in range(0, 600, 100))
    pd.testing.assert_frame_equal(pd.concat(parts), released)


def listed(column):
    return column.to_pylist() if isinstance(column, pa.ChunkedArray) else list(column)


def test_all_kinds_of_tables_agree():
    sanitizer = grr().fit(FRAME)
    released = sanitizer.transform(FRAME)["x"].tolist()
    as_text = FRAME.assign(id=FRAME["id"].astype(str))
    tables = [
        FRAME.assign(id=FRAME["id"].astype(float)),
        as_text,
        FRAME.set_index("id"),
        FRAME.set_index(["id", "s"]),
        pl.from_pandas(FRAME),
        pl.from_pandas(as_text),
        pa.Table.from_pandas(as_text),
        pa.Table.from_pandas(FRAME.assign(id=FRAME["id"].astype(float))),
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnprotectedColumnsWarning)
        for table in tables:
            assert listed(sanitizer.transform(table)["x"]) == released
        # Tables that are fitted by themselves agree, too.
        for table in (pl.from_pandas(as_text), pa.Table.from_pandas(FRAME)):
            assert listed(clone(sanitizer).fit_transform(table)["x"]) == released
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        assert list(sanitizer.transform(FRAME.to_numpy())[:, 0]) == released


def test_times_with_a_zone_keep_it_and_agree_in_all_kinds_of_tables_and_zones():
    # Two of these have the same text in Berlin, where the clock was set back.
    moments = pd.date_range("2020-10-25", periods=6, freq="30min", tz="UTC")
    moments = moments.tz_convert("Europe/Berlin").as_unit("us")
    frame = FRAME.assign(x=moments[FRAME["x"].map(sorted(set(FRAME["x"])).index)])
    expected = keyed(GRRSanitizer("s", "x")).fit_transform(frame)["x"]
    assert expected.dtype == frame["x"].dtype
    assert expected.nunique() == frame["x"].nunique()
    there = frame.assign(x=frame["x"].dt.tz_convert("Asia/Tokyo"))
    for table in (
        pl.from_pandas(frame),
        pa.Table.from_pandas(frame, preserve_index=False),
        pl.from_pandas(there),
        there,
    ):
        released = nw.from_native(keyed(GRRSanitizer("s", "x")).fit_transform(table))["x"]
        assert released.dtype == nw.from_native(table)["x"].dtype
        # Python calls a time that occurs twice unequal to itself in other zones.
        assert list(map(pd.Timestamp, released.to_list())) == expected.tolist()


def test_decimals_and_spans_of_time_agree_in_all_kinds_of_tables():
    codes = FRAME["x"].map(sorted(set(FRAME["x"])).index)
    quarters = FRAME.assign(x=codes / 4)
    spans = FRAME.assign(x=codes.to_numpy() * np.timedelta64(90, "m"))
    decimals = pa.Table.from_pandas(quarters, preserve_index=False)
    decimals = decimals.set_column(1, "x", decimals["x"].cast(pa.decimal128(6, 3)))
    for frame, tables in (
        (quarters, [decimals, pl.from_arrow(decimals), decimals.to_pandas()]),
        (spans, [pl.from_pandas(spans), pa.Table.from_pandas(spans, preserve_index=False)]),
    ):
        expected = grr().fit(frame)
        for table in tables:
            found = grr().fit(table)
            assert found.release_.fingerprint == expected.release_.fingerprint
            assert (found.sample_outputs(table) == expected.sample_outputs(frame)).all()


def test_arrays_have_ids_in_a_column_by_number():
    array = FRAME.to_numpy()
    sanitizer = GRRSanitizer(0, 1, epsilon=0.5, record_id=2, secret=KEY).fit(array)
    released = sanitizer.transform(array)
    assert released.shape == (600, 1)
    assert (sanitizer.transform(array[::-1])[::-1] == released).all()
    by_number = GRRSanitizer("s", "x", epsilon=0.5, record_id=-1, secret=KEY).fit(FRAME)
    pd.testing.assert_frame_equal(by_number.transform(FRAME), grr().fit_transform(FRAME))
    assert by_number.guarantee_.record_id == "id"


def released_elsewhere(release, frame):
    table = release.table(frame)
    return release.sample_keyed(table, release.codes(table), Secret(KEY))


@pytest.mark.parametrize("how", ["fork", pytest.param("spawn", marks=pytest.mark.slow)])
def test_other_processes_release_the_same(how):
    sanitizer = grr().fit(FRAME)
    expected = sanitizer.sample_outputs(FRAME)
    with ProcessPoolExecutor(1, mp_context=get_context(how)) as pool:
        whole = pool.submit(sanitizer.sample_outputs, FRAME)
        # A worker that holds no counts of S does as well.
        bare = pool.submit(released_elsewhere, sanitizer.release_, FRAME)
        assert (whole.result() == expected).all()
        assert (bare.result() == expected).all()


def test_a_changed_value_has_an_unrelated_draw():
    sanitizer = grr().fit(FRAME)
    n = 20_000
    ids = {"id": range(n), "s": "u"}
    first, second = (sanitizer.sample_outputs(pd.DataFrame({**ids, "x": x})) for x in "ab")
    assert chi2_contingency(pd.crosstab(first, second)).pvalue > 1e-4


def many(n=60_000, **options):
    """A release of n records with each value, and the channel that it should follow."""
    sanitizer = grr(**options).fit(FRAME)
    codes = np.repeat(np.arange(6), n // 6)
    frame = pd.DataFrame({"id": range(n), "s": "u", "x": np.array(list(LETTERS))[codes]})
    return codes, sanitizer.sample_outputs(frame), sanitizer.channel_.matrix


def p_value(codes, drawn, matrix):
    observed = np.zeros(matrix.shape)
    np.add.at(observed, (codes, drawn), 1)
    expected = matrix * np.bincount(codes)[:, None]
    assert expected.min() > 5
    return chisquare(observed.ravel(), expected.ravel(), ddof=len(matrix) - 1).pvalue


def test_keyed_draws_follow_the_channel_and_the_test_has_power():
    codes, drawn, matrix = many(600_000)
    assert p_value(codes, drawn, matrix) > 1e-4
    # The same test rejects a channel that is three percent off.
    wrong = matrix * np.where(np.eye(6), 1.03, 1.0)
    assert p_value(codes, drawn, wrong / wrong.sum(axis=1, keepdims=True)) < 1e-6


def test_two_keys_and_two_columns_have_unrelated_noise():
    # Kept values tell of the noise: with the same noise they would be the same rows.
    codes, drawn, _ = many()
    kept = drawn == codes
    _, other, _ = many(secret=KEY[::-1])
    columns = FRAME.rename(columns={"x": "z"})
    renamed = GRRSanitizer("s", "z", epsilon=0.5, record_id="id", secret=KEY).fit(columns)
    frame = pd.DataFrame({"id": range(codes.size), "s": "u", "z": np.array(list(LETTERS))[codes]})
    third = renamed.sample_outputs(frame)
    assert (renamed.channel_.matrix == grr().fit(FRAME).channel_.matrix).all()
    for found in (other, third):
        assert abs(np.corrcoef(kept, found == codes)[0, 1]) < 5 / math.sqrt(codes.size)
    # The test has power: neighbouring budgets under one key would share noise without fingerprints.
    near = grr(epsilon=0.51).fit(FRAME)
    bits = np.random.default_rng(0).integers(0, 2**64, codes.size, dtype=np.uint64)
    shared = [
        one.release_.releaser.sample_at(codes, bits) == codes for one in (near, grr().fit(FRAME))
    ]
    assert np.corrcoef(*shared)[0, 1] > 0.5
    assert near.release_.fingerprint != grr().fit(FRAME).release_.fingerprint


def test_a_fingerprint_is_that_of_columns_values_and_weights():
    def fingerprint(frame, **options):
        options = {"useful": "x", "epsilon": 9.0, **options}
        return SubsetMergingSanitizer("s", **options).fit(frame).release_.fingerprint

    frame = FRAME.loc[FRAME["x"] != "f", ["s", "x"]]  # f never occurs with one of the values
    same = fingerprint(frame)
    # The budget allows to release X as it is: S does not matter, and nor do types of numbers.
    assert fingerprint(frame.assign(s=frame["s"].to_numpy()[::-1])) == same
    numbers = frame.assign(x=frame["x"].map(LETTERS.index))
    assert fingerprint(numbers) == fingerprint(numbers.astype({"x": float}))
    others = [
        fingerprint(numbers),
        fingerprint(frame.rename(columns={"x": "z"}), useful="z"),
        fingerprint(frame.replace({"x": {"a": "A"}})),
        fingerprint(frame, epsilon=0.5),
    ]
    assert len({same, *others}) == 5


def test_values_that_fit_has_not_seen_are_drawn_once_too():
    sanitizer = grr(handle_unknown="resample").fit(FRAME)
    frame = pd.DataFrame({"id": range(30_000), "s": "u", "x": "new"})
    drawn = sanitizer.sample_outputs(frame)
    assert (drawn == sanitizer.sample_outputs(frame.assign(x="newer"))).all()
    p_y = sanitizer.channel_.p_y(sanitizer.joint_.p_x)
    assert chisquare(np.bincount(drawn, minlength=6), p_y * 30_000).pvalue > 1e-4
    some = frame[:4].assign(x=["a", "new", "b", "new"])
    assert (sanitizer.sample_outputs(some)[[1, 3]] == drawn[[1, 3]]).all()


# ---- rules


def test_ids_that_repeat():
    sanitizer = grr().fit(FRAME)
    twice = pd.DataFrame({"id": [5, 5, "5", 5.0] * 50, "s": "u", "x": "a"})
    assert sanitizer.transform(twice)["x"].nunique() == 1
    apart = twice.assign(x=["a"] * 199 + ["b"])
    message = r"record_id='id': the rows of '5' differ in x \(rows 0 and 199\)"
    with pytest.raises(InvalidParameterError, match=message):
        sanitizer.transform(apart)


def test_without_a_secret_every_call_has_its_own_key():
    sanitizer = grr(secret=None).fit(FRAME)
    twins = pd.concat([FRAME, FRAME])
    first, second = (sanitizer.transform(twins)["x"].to_numpy() for _ in range(2))
    assert (first[:600] == first[600:]).all()
    assert (first != second).any()
    parts = list(sanitizer.transform_batches([FRAME, FRAME]))
    pd.testing.assert_frame_equal(*parts)
    (again,) = sanitizer.transform_batches([FRAME])
    assert not again.equals(parts[0])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"record_id": None}, "secret= needs record_id="),
        ({"random_state": 0}, "leave out random_state"),
        ({"groups": "id"}, "use groups= if a person"),
        ({"record_id": "no"}, "record_id='no' is not a column of X, nor the name of the index"),
        ({"record_id": "x"}, "'x' is named by record_id, and is a sensitive or useful column"),
        ({"record_id": "s"}, "'s' is named by record_id, and is a sensitive or useful column"),
        ({"record_id": 9}, "record_id=9 is out of range"),
        ({"record_id": True}, "must be a column name or index"),
        ({"record_id": ["id"]}, "The 'record_id' parameter"),
        ({"record_id": None, "secret": None, "groups": "no"}, "groups='no' is not a column"),
    ],
)
def test_parameters_that_do_not_go_together_are_refused_at_fit(options, message):
    with pytest.raises(ValueError, match=message):
        grr(**options).fit(FRAME)


def test_ids_are_neither_useful_nor_released_by_default():
    everything = GRRSanitizer("s", epsilon=0.5, record_id="id").fit(FRAME)
    assert everything.layout_.useful_names == ["x"]
    assert everything.transform(FRAME).columns.tolist() == ["x"]
    with pytest.warns(UnprotectedColumnsWarning, match="'passthrough' releases id unchanged"):
        passing = grr(remainder="passthrough").fit(FRAME)
    assert passing.guarantee_.unprotected == ("id",)
    assert passing.transform(FRAME)["id"].equals(FRAME["id"])


def test_a_name_of_a_column_and_of_the_index_is_refused():
    sanitizer = grr().fit(FRAME)
    both = FRAME.rename_axis("id")
    with (
        pytest.warns(UnprotectedColumnsWarning),
        pytest.raises(InvalidParameterError, match="a column of X and the name of its index"),
    ):
        sanitizer.transform(both)
    with pytest.raises(InvalidParameterError, match="record_id='id' is not a column of X"):
        sanitizer.transform(FRAME.drop(columns="id"))
    levels = pd.MultiIndex.from_arrays([FRAME["id"], FRAME["id"]], names=["id", "id"])
    with (
        pytest.warns(UnprotectedColumnsWarning),
        pytest.raises(InvalidParameterError, match="the name of several levels of the index"),
    ):
        sanitizer.transform(FRAME[["x"]].set_axis(levels))


def test_counted_rows_need_no_ids_until_they_are_released():
    from skliftpriv import CountedRows

    rows = CountedRows.of(FRAME[["s", "x"]], "s", "x")
    sanitizer = grr().fit(rows)
    pd.testing.assert_frame_equal(sanitizer.transform(FRAME), grr().fit_transform(FRAME))


def test_bits_of_a_record_are_the_same_and_follow_the_channel(tmp_path):
    options = {"epsilon": 0.5, "record_id": "id", "secret": KEY, "handle_unknown": "resample"}
    sanitizer = OUESanitizer("s", "x", **options).fit(FRAME)
    released = sanitizer.transform(FRAME)
    shuffled = FRAME.sample(frac=1, random_state=1)
    pd.testing.assert_frame_equal(sanitizer.transform(shuffled), released.loc[shuffled.index])
    assert sanitizer.transform(pl.from_pandas(FRAME)).rows() == list(
        released.itertuples(index=False, name=None)
    )
    save(sanitizer, tmp_path / "mechanism.json")
    loaded = load(tmp_path / "mechanism.json").set_params(secret=KEY)
    pd.testing.assert_frame_equal(loaded.transform(FRAME), released)
    other = clone(sanitizer).set_params(secret=KEY[::-1]).fit(FRAME)
    assert not other.transform(FRAME).equals(released)
    # Many records with one value: the right shares of ones, and no two bits that depend.
    n = 20_000
    for x, code in (("a", 0), ("new", None)):
        bits = sanitizer.sample_outputs(pd.DataFrame({"id": range(n), "s": "u", "x": x}))
        noise = sanitizer.result_.noise_weight / 2**62
        p = np.full(6, noise) if code is not None else noise + sanitizer.joint_.p_x * (0.5 - noise)
        if code is not None:
            p[code] = 0.5
        assert (np.abs(bits.mean(axis=0) - p) < 5 * np.sqrt(p * (1 - p) / n)).all()
        if code is not None:
            assert np.abs(np.corrcoef(bits.T) - np.eye(6)).max() < 5 / math.sqrt(n)
    with pytest.raises(InvalidParameterError, match="the rows of '5' differ in x"):
        sanitizer.transform(pd.DataFrame({"id": [5, 5], "s": "u", "x": ["a", "b"]}))
    visits = FRAME.loc[np.repeat(FRAME.index, 2)]
    persons = OUESanitizer("s", "x", epsilon=0.5, groups="id").fit(visits)
    assert persons.guarantee_.n_rows == 600
    assert (persons.transform(visits).groupby(visits["id"]).nunique() == 1).all(axis=None)


@pytest.mark.parametrize("strategy", ["optimal", "product"])
def test_records_of_several_columns_are_released_alike(strategy, tmp_path):
    frame = FRAME.assign(t=np.arange(600) % 2)
    sanitizer = SRLIPSanitizer("s", ["x", "t"], strategy=strategy, record_id="id", secret=KEY)
    released = sanitizer.fit(frame).transform(frame)
    assert sanitizer.release_.releaser.draws
    shuffled = frame.sample(frac=1, random_state=1)
    pd.testing.assert_frame_equal(sanitizer.transform(shuffled), released.loc[shuffled.index])
    assert not sanitizer.guarantee_.single_release
    save(sanitizer, tmp_path / "mechanism.json")
    loaded = load(tmp_path / "mechanism.json").set_params(secret=KEY)
    pd.testing.assert_frame_equal(loaded.transform(frame), released)
    visits = frame.loc[np.repeat(frame.index, 2)]
    persons = SRLIPSanitizer("s", ["x", "t"], strategy=strategy, groups="id").fit(visits)
    assert persons.guarantee_.n_rows == 600
    assert (persons.transform(visits).groupby(visits["id"]).nunique() == 1).all(axis=None)


def test_a_seed_repeats_a_keyed_release_and_is_not_private():
    sanitizer = grr(secret=None, random_state=3).fit(FRAME)
    with pytest.warns(SeededReleaseWarning):
        first = sanitizer.transform(FRAME)
    with pytest.warns(SeededReleaseWarning):
        second = sanitizer.transform(FRAME[::-1])
    pd.testing.assert_frame_equal(second[::-1], first)
    assert not sanitizer.guarantee_.private
    assert "Covered: releasing the same rows again" not in str(sanitizer.guarantee_)


# ---- words


def test_the_guarantee_says_what_is_covered():
    guarantee = grr().fit(FRAME).guarantee_
    assert not guarantee.single_release
    assert guarantee.to_dict()["single_release"] is False
    assert guarantee.claim.endswith(
        "for one release of x, which may be repeated with the same secret."
    )
    assert "Covered: releasing the same rows again by this mechanism with the same secret" in str(
        guarantee
    )
    assert "Whoever knows the secret" in str(guarantee)
    once = grr(secret=None).fit(FRAME).guarantee_
    assert once.single_release
    assert "Not covered: releasing the same rows again" in str(once)
    assert "with the same id and equal values have one output" in str(once)
    plain = GRRSanitizer("s", "x", epsilon=0.5).fit(FRAME).guarantee_
    assert plain.claim.endswith("for one release of x.")
    assert "id" not in str(plain).split()


def test_nothing_to_undo_where_nothing_is_drawn():
    merging = keyed(SubsetMergingSanitizer("s", "x", epsilon=0.5)).fit(FRAME)
    assert "undo" not in str(merging.guarantee_)
    assert "Nothing is drawn" in report_page(merging)
    page = report_page(grr().fit(FRAME))
    assert "decided by the secret, id and the value" in page
    assert "makes for every release" in report_page(grr(secret=None).fit(FRAME))


# ---- the secret is shown nowhere: tests/trust/test_secrets.py looks for it everywhere


def test_no_error_shows_the_secret():
    calls = [
        lambda: grr(record_id=None).fit(FRAME),
        lambda: grr(secret=KEY[:5]).fit(FRAME),
        lambda: grr(secret=list(KEY)).fit(FRAME),
        lambda: grr(secret=KEY.decode()).fit(FRAME).transform(FRAME),
        lambda: grr().fit(FRAME).set_params(secret=KEY[::-1]).transform(FRAME),
        lambda: grr().fit(FRAME).transform(FRAME.assign(id=None)),
        lambda: grr(epsilon=-1).fit(FRAME),
    ]
    for call in calls:
        with pytest.raises(ValueError) as caught:  # noqa: PT011
            call()
        shown = "".join(traceback.format_exception(caught.value))
        assert KEY.decode() not in shown
        assert KEY.hex() not in shown
        assert str(list(KEY)) not in shown
    assert repr(grr(secret=KEY[:5]).secret) == "Secret(hidden)"


def test_a_key_file_is_read_at_every_release(tmp_path):
    path = tmp_path / "key"
    path.write_bytes(KEY)
    sanitizer = grr(secret=str(path)).fit(FRAME)
    pd.testing.assert_frame_equal(sanitizer.transform(FRAME), grr().fit_transform(FRAME))
    path.write_bytes(KEY[::-1])
    assert not sanitizer.transform(FRAME).equals(grr().fit_transform(FRAME))
    path.unlink()
    with pytest.raises(InvalidParameterError, match="not the path of a key file"):
        sanitizer.transform(FRAME)


# ---- what must never change: other outputs would be second draws of all records


def test_outputs_of_earlier_versions_stay_the_same():
    class Mixing(SymbolSanitizer):
        """A channel whose probabilities are exact in floating point."""

        def _build(self, joint, notion, over):
            matrix = [[0.5, 0.25, 0.25], [0.125, 0.375, 0.5], [0.25, 0.25, 0.5]]
            channel = Channel(matrix, joint.useful_labels, joint.useful_labels)
            return ChannelResult.of(joint, notion, channel, status="by hand")

    frame = pd.DataFrame({"s": [0, 1] * 30, "x": list("abc") * 20, "id": range(60)})
    sanitizer = keyed(Mixing("s", "x", epsilon=5.0)).fit(frame)
    fingerprint = sanitizer.release_.fingerprint.hex()
    assert fingerprint == "9d6c620480b7e6d030df229ab9f29390512e540880ac0ab39ea783e91cf76ad5"
    assert (
        Secret(KEY).derive(b"release", b"fingerprint").hex() == "47c254fd28baf5ffc3974aeac6d40385"
    )
    outputs = "".join(map(str, sanitizer.sample_outputs(frame)))
    assert outputs == "021000212122011022210212222010020010000121212020002020111122"


def test_bits_of_earlier_versions_stay_the_same():
    releaser = BitReleaser(bit_weights(2**60), "abc", np.array([0.5, 0.25, 0.25]), None)
    codes = np.array([0, 1, 2, -1] * 4)
    ids = RecordIds(np.arange(16), "id")

    def bits(*purpose):
        return record_bits(
            ids, codes, Secret(KEY).derive(b"release", b"fingerprint", *purpose), "x"
        )

    rows = ["".join(map(str, row)) for row in releaser.sample_by(codes, bits)]
    assert " ".join(rows) == "010 010 111 001 001 010 000 000 001 101 010 000 000 110 111 010"
