"""What is loaded releases, audits and reports like what was saved, and holds no more."""

import copy
import io
import json
import pickle
import pickletools
import subprocess
import sys
import textwrap
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import skliftpriv
from skliftpriv import (
    LIP,
    GRRSanitizer,
    ORRSanitizer,
    OUESanitizer,
    SRLIPSanitizer,
    SubsetMergingSanitizer,
    WatchdogSanitizer,
    audit,
    joint_leakage,
    load,
    save,
)
from skliftpriv.confidence import _intervals
from skliftpriv.datasets import load_adult
from skliftpriv.exceptions import (
    InvalidParameterError,
    SavedFileError,
    SeededReleaseWarning,
    UnknownCategoryError,
)
from skliftpriv.files import LoadedSanitizer
from skliftpriv.html import report_page
from skliftpriv.mechanisms import _unary_worst
from skliftpriv.plotting import ChannelDisplay

from .samples import FRAME, KEY, body_of, fitted_samples, mixed_frame, resealed, saved_samples

NAMES = list(fitted_samples())
SAMPLES = pytest.mark.parametrize("name", NAMES)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "mechanism.json"


def rows_for(name):
    if "cells" in name:
        return load_adult()[3000:3300][["sex", "age", "education", "hours-per-week", "income"]]
    if name in ("lists", "lists and confidence"):
        return pd.concat([FRAME, FRAME.assign(x="?")[:5]], ignore_index=True)
    return mixed_frame() if name == "several columns" else FRAME


def seeded(sanitizer, seed=5):
    """A copy that draws from a seed."""
    twin = pickle.loads(pickle.dumps(sanitizer))
    twin.random_state = seed
    if "_parameters" in twin.__dict__:
        twin._parameters["random_state"] = seed
    return twin


def loaded_sample(name, path):
    path.write_bytes(saved_samples()[name])
    return load(path)


@pytest.mark.filterwarnings("ignore::skliftpriv.exceptions.SeededReleaseWarning")
@SAMPLES
def test_a_loaded_sanitiser_releases_the_same_in_every_form(name, path):
    sanitizer, joint = fitted_samples()[name]
    loaded = seeded(loaded_sample(name, path))
    twin, rows = seeded(sanitizer), rows_for(name)
    forms = sorted(set(loaded.release_.releaser.forms))
    if name == "SRLIPSanitizer":
        forms.remove("typical")  # which is no parameter of it
    for output in forms:
        loaded.set_params(output=output)
        twin.set_params(output=output)
        pd.testing.assert_frame_equal(loaded.transform(rows), twin.transform(rows))
        assert list(loaded.get_feature_names_out()) == list(twin.get_feature_names_out())
    np.testing.assert_array_equal(loaded.encode(rows), twin.encode(rows))
    np.testing.assert_array_equal(loaded.sample_outputs(rows), twin.sample_outputs(rows))
    form = "bits" if "bits" in forms else "label"
    released = twin.set_params(output=form).transform(rows)
    loaded.set_params(output=form)
    pd.testing.assert_frame_equal(
        loaded.estimate_frequencies(released), twin.estimate_frequencies(released)
    )
    assert hasattr(loaded, "joint_") == joint


def checked_here(guarantee):
    """A guarantee as if it had not been read from a file."""
    return replace(guarantee, stated_by=None)


def test_a_loaded_guarantee_says_who_checked_it(path):
    sanitizer = fitted_samples()["GRRSanitizer"][0]
    here = "checked in exact arithmetic on what is sampled"
    for options, said in (
        ({}, "stated by an unsigned file without counts, and not checked here"),
        ({"key": KEY}, "stated by a signed file without counts, and not checked here"),
        ({"include_joint": True}, here),
    ):
        save(sanitizer, path, **options)
        loaded = load(path, key=options.get("key"))
        guarantee = loaded.guarantee_
        for text in (str(guarantee), guarantee._repr_html_(), report_page(loaded)):
            assert said in text
            assert (here in text) == (said == here)


@SAMPLES
def test_a_loaded_sanitiser_says_the_same(name, path):
    sanitizer, joint = fitted_samples()[name]
    loaded = loaded_sample(name, path)
    assert loaded.channel_ == sanitizer.channel_
    assert loaded.notion_ == sanitizer.notion_
    assert loaded.report_ == sanitizer.report_
    assert checked_here(loaded.guarantee_) == sanitizer.guarantee_
    assert loaded.guarantee_.stated_by == (None if joint else "an unsigned file")
    assert (loaded.layout_, loaded.n_sensitive_) == (sanitizer.layout_, sanitizer.n_sensitive_)
    assert loaded.n_features_in_ == sanitizer.n_features_in_
    assert list(loaded.feature_names_in_) == list(sanitizer.feature_names_in_)
    assert loaded.needs_sensitive == sanitizer.needs_sensitive
    assert getattr(loaded, "alpha_", None) == getattr(sanitizer, "alpha_", None)
    assert loaded.release_.fingerprint == sanitizer.release_.fingerprint
    if joint:
        assert loaded.joint_ == sanitizer.joint_
        assert (loaded.joint_.masses == sanitizer.joint_.masses).all()
    assert type(sanitizer).__name__ in repr(loaded)
    assert "LoadedSanitizer" in loaded._repr_html_()


@SAMPLES
def test_a_loaded_sanitiser_is_saved_as_the_same_file(name, path):
    joint = fitted_samples()[name][1]
    loaded = loaded_sample(name, path)
    save(loaded, path, include_joint=joint)
    assert path.read_bytes() == saved_samples()[name]


@SAMPLES
def test_pages_and_audits_need_no_table_of_the_fit(name, path):
    sanitizer, joint = fitted_samples()[name]
    loaded = loaded_sample(name, path)
    page, known = report_page(loaded), report_page(sanitizer)
    assert page.startswith("<!doctype html>")
    if joint and not name.startswith("cells"):
        assert page == known
    elif not joint:
        assert "without counts" in page
        assert "What an observer believes" not in page
        with pytest.raises(InvalidParameterError, match="include_joint=True"):
            ChannelDisplay.from_estimator(loaded)
    if isinstance(loaded.notion_, LIP):
        assert audit(loaded, rows_for(name)).notion == loaded.notion_


def test_leakage_of_loaded_sanitisers_together(path):
    save(fitted_samples()["ORRSanitizer"][0], path)
    found = joint_leakage([load(path), load(path)], FRAME)
    assert found == joint_leakage([fitted_samples()["ORRSanitizer"][0]] * 2, FRAME)


# ---- what the file holds, and what it does not


def counts_in(pickled):
    names = (
        "JointDistribution",
        "CountedRows",
        "ContingencyTable",
        "ConfidenceSet",
        "sklearn.tree",
    )
    texts = [str(argument) for _, argument, _ in pickletools.genops(pickled)]
    return [text for text in texts if any(name in text for name in names)]


@SAMPLES
def test_without_the_joint_nothing_that_counts_s_is_loaded(name, path):
    joint = fitted_samples()[name][1]
    pickled = pickle.dumps(loaded_sample(name, path))
    assert bool(counts_in(pickled)) == joint
    pd.testing.assert_frame_equal(
        pickle.load(io.BytesIO(pickled)).set_params(random_state=1).transform(rows_for(name)),
        loaded_sample(name, path).set_params(random_state=1).transform(rows_for(name)),
    )


def test_neither_labels_of_s_nor_seeds_nor_secrets_are_written(path):
    frame = FRAME.assign(s=FRAME["s"].map({c: f"hidden-{c}" for c in "uvw"}), id=range(len(FRAME)))
    seed = 918_273_645
    sanitizer = GRRSanitizer("s", "x", epsilon=0.5, random_state=seed).fit(frame)
    save(sanitizer, path)
    assert b"hidden" not in path.read_bytes()
    assert str(seed).encode() not in path.read_bytes()
    keyed = GRRSanitizer("s", "x", epsilon=0.5, record_id="id", secret=KEY).fit(frame)
    save(keyed, path, key=KEY[::-1])
    held = path.read_bytes()
    for secret in (KEY, KEY[::-1], keyed.secret._digest):
        assert secret not in held
        assert secret.hex().encode() not in held
    assert b"secret" not in held
    save(sanitizer, path, include_joint=True)
    assert b"hidden-u" in path.read_bytes()


def test_a_seed_is_not_loaded(path):
    sanitizer = GRRSanitizer("s", "x", epsilon=0.5, random_state=3).fit(FRAME)
    assert not sanitizer.guarantee_.private
    save(sanitizer, path)
    loaded = load(path)
    assert loaded.random_state is None
    assert loaded.guarantee_.private
    loaded.set_params(random_state=3)
    assert not loaded.guarantee_.private
    # Without ids a secret cannot be used, and nothing is promised for it.
    assert not load(path).set_params(secret=KEY).guarantee_.keyed
    with pytest.warns(SeededReleaseWarning):
        released = loaded.transform(FRAME)
    with pytest.warns(SeededReleaseWarning):
        pd.testing.assert_frame_equal(released, sanitizer.transform(FRAME))


def test_a_mechanism_that_sees_s_is_saved_only_with_the_joint(path):
    for kind in (
        fitted_samples()["ConditionalReporting"][0],
        ORRSanitizer("s", "x", epsilon=0.5, use_sensitive=True).fit(FRAME),
    ):
        with pytest.raises(SavedFileError, match="pass include_joint=True if whoever gets the"):
            save(kind, path)
        assert not path.exists()
        save(kind, path, include_joint=True)
        loaded = load(path)
        path.unlink()
        assert loaded.conditional_channel_ == kind.conditional_channel_
        with pytest.raises(InvalidParameterError, match="pass sensitive_features="):
            loaded.transform(FRAME[["x"]])
        assert len(loaded.transform(FRAME[["x"]], sensitive_features=FRAME["s"])) == len(FRAME)


def test_other_sanitisers_can_be_fitted_to_the_joint_of_a_file(path):
    save(fitted_samples()["GRRSanitizer"][0], path, include_joint=True)
    counted = load(path).counted_
    refitted = WatchdogSanitizer("s", "x", epsilon=0.5, randomization="uniform").fit(counted)
    assert refitted.channel_ == fitted_samples()["WatchdogSanitizer"][0].channel_


# ---- tables


def tables():
    frame = FRAME.assign(x=FRAME["x"].map(dict(zip("abcdef", range(6), strict=True))))
    yield frame
    yield frame.astype({"x": "Int8"})
    yield frame.astype({"x": "category"})
    yield frame.assign(x=frame["x"] / 3)
    yield frame.assign(x=pd.to_timedelta(frame["x"], unit="h"))
    yield frame.assign(x=pd.Timestamp("2020-01-01", tz="UTC") + pd.to_timedelta(frame["x"], "D"))
    yield pl.from_pandas(frame)
    yield pl.from_pandas(frame).with_columns(x=pl.col("x").cast(pl.Float32))
    yield pa.Table.from_pandas(frame)
    yield pa.Table.from_pandas(frame.assign(x=pd.to_datetime("2020-01-01") + pd.to_timedelta(1)))
    yield frame.assign(s=frame["s"].eq("u").astype(int)).to_numpy()
    yield FRAME.to_numpy(dtype=object)


@pytest.mark.filterwarnings("ignore::skliftpriv.exceptions.SeededReleaseWarning")
@pytest.mark.parametrize("table", list(tables()), ids=lambda table: type(table).__module__)
@pytest.mark.parametrize("output", ["label", "typical"])
def test_released_columns_have_the_same_types(table, output, path):
    columns = (0, 1) if isinstance(table, np.ndarray) else ("s", "x")
    options = {"epsilon": 1.0, "output": output, "random_state": 0}
    sanitizer = GRRSanitizer(*columns, **options).fit(table)
    save(sanitizer, path)
    loaded = load(path).set_params(random_state=0)
    assert loaded.output == output
    found, expected = loaded.transform(table), sanitizer.transform(table)
    assert type(found) is type(expected)
    if isinstance(found, pd.DataFrame):
        pd.testing.assert_frame_equal(found, expected)
    elif isinstance(found, pl.DataFrame | pa.Table):
        assert found.equals(expected)
        assert found.schema == expected.schema
    else:
        assert found.dtype == expected.dtype
        assert (found == expected).all()


def test_columns_that_pass_through_do_so_after_loading(path):
    frame = FRAME.assign(other=range(len(FRAME)))
    with pytest.warns(UserWarning, match="passthrough"):
        sanitizer = WatchdogSanitizer("s", "x", epsilon=0.5, remainder="passthrough").fit(frame)
    save(sanitizer, path)
    loaded = load(path)
    assert list(loaded.transform(frame)) == ["x", "other"]
    assert loaded.guarantee_.unprotected == sanitizer.guarantee_.unprotected
    assert list(loaded.set_output(transform="polars").transform(frame).columns) == ["x", "other"]


# ---- a transformer of scikit-learn


def test_a_loaded_sanitiser_stands_in_a_pipeline(path):
    adult = load_adult()[:500]
    income = adult["income"] == ">50K"
    columns = adult[["sex", "occupation"]]
    save(SubsetMergingSanitizer("sex", "occupation", epsilon=0.5).fit(columns), path)
    encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    model = make_pipeline(load(path), encoder, LogisticRegression(C=0.1))
    chance = model.fit(columns, income).predict_proba(columns)
    assert (clone(model).fit(columns, income).predict_proba(columns) == chance).all()
    assert (pickle.loads(pickle.dumps(model)).predict_proba(columns) == chance).all()


def test_clones_release_by_the_same_mechanism_and_have_their_own_parameters(path):
    save(fitted_samples()["ORRSanitizer"][0], path)
    loaded = load(path)
    twin = clone(loaded).set_params(output="code")
    assert twin.release_ is loaded.release_
    assert loaded.output == "label"
    assert twin.fit(FRAME.head(1)).channel_ == loaded.channel_
    assert twin.transform(FRAME).dtypes.tolist() == [np.dtype("int64")]


def test_wrong_parameters_are_refused(path):
    save(fitted_samples()["ORRSanitizer"][0], path)
    loaded = load(path)
    for name, value in {"output": "bits", "index": "none", "random_state": "seed"}.items():
        with pytest.raises(ValueError, match=f"'{name}' parameter of LoadedSanitizer"):
            clone(loaded).set_params(**{name: value}).transform(FRAME)
    with pytest.raises(InvalidParameterError, match="secret= needs record_id="):
        clone(loaded).set_params(secret=KEY).transform(FRAME)
    with pytest.raises(NotFittedError, match=r"skliftpriv\.load"):
        LoadedSanitizer().transform(FRAME)
    with pytest.raises(AttributeError):
        loaded.remainder = "passthrough"
    assert repr(LoadedSanitizer()) == "LoadedSanitizer()"
    assert loaded.fitted_parameters()["epsilon"] == 0.5


# ---- keyed releases


KEYED = pytest.mark.parametrize("parameter", ["record_id", "groups"])


def keyed_sanitizer(parameter):
    frame = FRAME.assign(id=[f"person {i}" for i in range(len(FRAME))])
    options = {parameter: "id", "secret": KEY, "epsilon": 0.5}
    return ORRSanitizer("s", "x", **options).fit(frame), frame


@KEYED
def test_a_secret_is_passed_again_after_loading(parameter, path):
    sanitizer, frame = keyed_sanitizer(parameter)
    save(sanitizer, path, key=KEY)
    loaded = load(path, key=KEY)
    assert loaded.secret is None
    assert not loaded.guarantee_.keyed
    assert (loaded.transform(frame) != loaded.transform(frame)).any(axis=None)
    assert checked_here(loaded.set_params(secret=KEY).guarantee_) == sanitizer.guarantee_
    assert "hidden" in str(loaded.get_params())
    assert loaded.transform(frame).equals(sanitizer.transform(frame))
    # The channel draws: another secret gives other outputs.
    loaded.set_params(secret=KEY[::-1])
    assert not loaded.transform(frame).equals(sanitizer.transform(frame))


def test_the_same_secret_gives_the_same_outputs_in_a_fresh_process(tmp_path):
    sanitizer, frame = keyed_sanitizer("record_id")
    save(sanitizer, tmp_path / "mechanism.json", key=KEY)
    (tmp_path / "key").write_bytes(KEY)
    shuffled = frame.sample(frac=1, random_state=0)
    shuffled.to_csv(tmp_path / "rows.csv", index=False)
    code = """
        import pandas as pd, skliftpriv
        loaded = skliftpriv.load("mechanism.json", key="key")
        loaded.secret = "key"
        loaded.transform(pd.read_csv("rows.csv")).to_csv("released.csv", index=False)
    """
    command = [sys.executable, "-c", textwrap.dedent(code)]
    subprocess.run(command, check=True, timeout=300, cwd=tmp_path)
    found = pd.read_csv(tmp_path / "released.csv")["x"].to_numpy()
    assert (found == sanitizer.transform(frame)["x"].loc[shuffled.index].to_numpy()).all()


# ---- what cannot be saved


def test_a_sanitiser_that_cannot_release_is_not_saved(path):
    sanitizer = GRRSanitizer("s", "x", epsilon=0.5).fit(FRAME)
    for change in ({"output": "no"}, {"epsilon": 0.1}, {"remainder": "passthrough"}):
        wrong = copy.deepcopy(sanitizer).set_params(**change)
        with pytest.raises(ValueError, match=r"changed after fit|must be a str among"):
            save(wrong, path)
    assert not path.exists()


class OwnLIP(LIP):
    key = "own"


def test_code_cannot_be_saved(path):
    adult = load_adult()[:500]
    columns = adult[["sex", "age", "hours-per-week"]]
    clusters = SubsetMergingSanitizer("sex", cells=KMeans(4, n_init=1, random_state=0))
    with pytest.raises(SavedFileError, match=r"made by KMeans.*use cells of a decision tree"):
        save(clusters.fit(columns), path)
    own = WatchdogSanitizer("s", "x", notion=OwnLIP, epsilon=0.5).fit(FRAME)
    with pytest.raises(SavedFileError, match="a notion of your own, OwnLIP"):
        save(own, path)
    with pytest.raises(NotFittedError):
        save(ORRSanitizer("s", "x"), path)
    with pytest.raises(InvalidParameterError, match=r"save the step that sanitises"):
        save(make_pipeline(own), path)
    odd = FRAME.assign(x=[complex(ord(x), 1) for x in FRAME["x"]])
    with pytest.raises(SavedFileError, match=r"The label \(\d+\+1j\) of type builtins.complex"):
        save(GRRSanitizer("s", "x").fit(odd), path)
    save(fitted_samples()["ORRSanitizer"][0], path)
    with pytest.raises(InvalidParameterError, match="loaded from has none"):
        save(load(path), path, include_joint=True)


def test_pooled_values_are_not_saved(path):
    rare = pd.concat([FRAME, FRAME.assign(x=[f"r{i}" for i in range(len(FRAME))])[:3]])
    with pytest.raises(SavedFileError, match=r"pools 4 rare values.*may identify people"):
        save(WatchdogSanitizer("s", "x", epsilon=0.5, min_count=20).fit(rare), path)
    assert not path.exists()


def test_listed_values_are_known_after_loading(path):
    sanitizer = fitted_samples()["lists"][0]
    loaded = loaded_sample("lists", path)
    assert loaded.fitted_parameters()["categories"] == sanitizer.categories
    assert "Listed values of x without rows at fit (1)" in str(loaded.guarantee_)
    loaded.transform(FRAME.assign(x="?")[:5])
    with pytest.raises(UnknownCategoryError, match="not listed in categories"):
        loaded.transform(FRAME.assign(x="!")[:5])


def test_listed_values_with_a_place_are_placed_and_not_drawn(path):
    frame = FRAME.assign(x=[ord(x) for x in FRAME["x"]])
    listed = range(min(frame["x"]), max(frame["x"]) + 9)
    for categories, drawn in (([*listed], 0), ([*listed, None], 1)):
        merging = SubsetMergingSanitizer(
            "s", "x", epsilon=0.5, order="preserve", categories={"x": categories}
        ).fit(frame)
        save(merging, path)
        loaded = load(path)
        assert merging.guarantee_.values.useful_unseen == drawn
        assert merging.guarantee_.randomized == bool(drawn)
        assert checked_here(loaded.guarantee_) == merging.guarantee_
        new = frame.assign(x=max(listed))[:5]
        pd.testing.assert_frame_equal(loaded.transform(new), merging.transform(new))


def test_side_channels_with_confidence_are_certified_again(path):
    frame = mixed_frame().dropna()
    sanitizer = SRLIPSanitizer(
        "s", ["age", "day"], epsilon=4.0, confidence=0.9, strategy="product"
    ).fit(frame)
    save(sanitizer, path, include_joint=True)
    loaded = load(path)
    assert loaded.report_ == sanitizer.report_
    assert loaded.result_.certified.satisfied
    document = copy.deepcopy(body_of(path.read_bytes()))
    document["notion"]["epsilon"] = 0.01
    path.write_bytes(resealed(document))
    with pytest.raises(SavedFileError, match="does NOT meet"):
        load(path)


@pytest.mark.parametrize("name", ["confidence", "lists and confidence", "bits and confidence"])
@pytest.mark.parametrize("sign", [-1, 1])
def test_other_versions_of_libraries_certify_the_same_files(name, sign, path, monkeypatch):
    """Quantiles and multipliers of linear programs differ in their last digits."""
    path.write_bytes(saved_samples()[name])
    expected = load(path).report_
    rng = np.random.default_rng(0)

    def inverse(function):
        def other(*args):
            found = function(*args)
            return found * (1 + sign * 1e-12 * rng.random(np.shape(found)))

        return other

    for one in ("betaincinv", "betainccinv"):
        monkeypatch.setattr(_intervals, one, inverse(getattr(_intervals, one)))

    def program(*args, solve=_unary_worst.linprog, **options):
        found = solve(*args, **options)
        for part in (found.ineqlin, found.eqlin):
            part.marginals = part.marginals + 1e-9 * rng.normal(size=part.marginals.shape)
        return found

    monkeypatch.setattr(_unary_worst, "linprog", program)
    assert load(path).report_ == expected


def test_bits_without_noise_are_certified_again(path):
    frame = pd.DataFrame({"s": ["u", "v"] * 4000, "x": list("aabb") * 2000})
    sanitizer = OUESanitizer("s", "x", epsilon=1.0, confidence=0.9).fit(frame)
    assert sanitizer.alpha_ == np.inf
    save(sanitizer, path, include_joint=True)
    assert load(path).result_.noise_weight == 0
    document = body_of(path.read_bytes())
    document["notion"]["epsilon"] = 0.01
    path.write_bytes(resealed(document))
    with pytest.raises(SavedFileError, match="does NOT meet"):
        load(path)


def test_bits_with_less_noise_than_a_confidence_set_needs_are_refused(path):
    document = copy.deepcopy(body_of(saved_samples()["bits and confidence"]))
    document["channel"]["noise_weight"] -= document["channel"]["noise_weight"] >> 10
    path.write_bytes(resealed(document))
    with pytest.raises(SavedFileError, match="does NOT meet"):
        load(path)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"useful": []}, "values.useful"),
        ({"useful": [["a"]]}, "all values of the mechanism"),
        ({"sensitive": [["u"]]}, "at least 3"),
        ({"min_count": 0}, "values.min_count"),
        ({"min_count": 200}, "at least values.min_count rows|pools all"),
    ],
)
def test_lists_that_do_not_fit_the_mechanism_are_refused(change, why, path):
    document = copy.deepcopy(body_of(saved_samples()["lists and confidence"]))
    document["values"] |= change
    path.write_bytes(resealed(document))
    with pytest.raises(SavedFileError, match=why):
        load(path)


def test_a_notion_by_its_class_can_be_saved(path):
    save(WatchdogSanitizer("s", "x", notion=LIP, epsilon=0.5).fit(FRAME), path)
    assert load(path).notion_ == LIP(0.5)
    assert load(path).fitted_parameters()["notion"] == "LIP"


def test_the_file_is_json_that_others_can_read(path):
    save(fitted_samples()["ORRSanitizer"][0], path)
    document = json.loads(path.read_text(encoding="utf-8"))
    assert (document["format"], document["version"]) == ("skliftpriv-mechanism", 1)
    assert document["joint"] is None
    weights, entries = document["channel"]["weight_of_entry"], document["channel"]["entries"]
    ends = np.cumsum([0, *entries])
    assert {sum(weights[a:b]) for a, b in pairwise(ends)} == {2**62}
    assert document["made_with"] == f"skliftpriv {skliftpriv.__version__}"
    assert body_of(path.read_bytes()) == {k: v for k, v in document.items() if k != "seal"}
