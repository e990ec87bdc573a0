"""Damaged, altered and hostile files are refused by the package's own error, or do no harm."""

import copy
import hashlib
import json
import os
import re
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone

from skliftpriv import load, save
from skliftpriv.certificate import TOTAL
from skliftpriv.exceptions import (
    InvalidParameterError,
    SavedFileError,
    SizeLimitError,
    SkliftprivError,
)
from skliftpriv.files import _document, _save_load
from skliftpriv.files._seal import sealed

from .samples import (
    KEY,
    body_of,
    fitted_samples,
    garbled,
    generator,
    resealed,
    saved_samples,
    tampered,
)
from .test_save_load import rows_for

ORR = "ORRSanitizer"


@pytest.fixture
def path(tmp_path):
    return tmp_path / "mechanism.json"


@pytest.fixture
def refused(path):
    """Load bytes that must be refused, and return why."""

    def call(data, key=None):
        path.write_bytes(data)
        with pytest.raises(SavedFileError) as error:
            load(path, key=key)
        assert str(error.value).startswith(str(path))
        return str(error.value)

    return call


@pytest.fixture
def edited(refused):
    """Change a document and seal it again; return why it is refused."""

    def call(change, name=ORR):
        document = copy.deepcopy(body_of(saved_samples()[name]))
        change(document)
        return refused(resealed(document))

    return call


# ---- the seal


def test_a_file_that_was_cut_or_altered_is_refused(refused):
    data = saved_samples()[ORR]
    for end in (0, 1, 30, 60, 200, len(data) // 2, len(data) - 2, len(data) - 1):
        why = refused(data[:end])
        assert "does not begin like" in why or "end is missing" in why or "altered" in why
    for at in range(0, len(data), 97):
        changed = bytearray(data)
        changed[at] ^= 1
        refused(bytes(changed))
    assert "altered" in refused(data.replace(b'"holds"', b'"h0lds"').replace(b"0.5", b"0.4", 1))
    assert "end is missing" in refused(data + b" ")
    assert "does not begin like" in refused(b"\xef\xbb\xbf" + data)


def test_files_of_later_versions_are_refused_before_anything_else(refused):
    data = saved_samples()[ORR].replace(b'"version": 1', b'"version": 2')
    assert "version 2" in refused(data)
    assert "update skliftpriv" in refused(data[:100])
    assert "altered" in refused(saved_samples()[ORR].replace(b'"version": 1,', b'"version": 01,'))


@pytest.mark.parametrize("data", [b"", b"{}", b"a,b\n1,2\n", b"\x80\x04K\x01.", bytes(1000)])
def test_other_files_are_refused(data, refused):
    assert "does not begin like a file that skliftpriv.save wrote" in refused(data)


def test_rules_of_keys(path, refused):
    sanitizer = fitted_samples()[ORR][0]
    save(sanitizer, path, key=KEY)
    signed = path.read_bytes()
    assert load(path, key=KEY).channel_ == sanitizer.channel_
    (path.parent / "key").write_bytes(KEY + b"\n")
    assert load(path, key=path.parent / "key").channel_ == sanitizer.channel_
    assert "it is signed: pass its key" in refused(signed)
    assert "the key is not that of the file, or it was altered" in refused(signed, KEY[::-1])
    assert "it is not signed" in refused(saved_samples()[ORR], KEY)
    changed = signed.replace(b'"epsilon": 0.5', b'"epsilon": 0.7')
    assert "the key is not that of the file, or it was altered" in refused(changed, KEY)
    # Whoever alters a file without the key can only make it one that is not signed.
    assert "it is not signed" in refused(resealed(body_of(signed)), KEY)
    for wrong in (b"short", b"0" * 32, 5):
        with pytest.raises(InvalidParameterError):
            save(sanitizer, path, key=wrong)


def test_the_seal_is_checked_before_the_rest_is_parsed(refused, monkeypatch):
    monkeypatch.setattr(_save_load, "parsed", lambda text: pytest.fail("parsed"))
    refused(saved_samples()[ORR].replace(b"0.5", b"0.6", 1))
    refused(saved_samples()[ORR], KEY)


# ---- JSON that is none, or too much of it


@pytest.mark.parametrize(
    ("part", "why"),
    [
        ("[" * 100_000, "nested too deeply|not JSON"),
        ("[" * 100_000 + "]" * 100_000, "nested too deeply"),
        ('{"a": ' * 50_000 + "1" + "}" * 50_000, "nested too deeply"),
        # Not too deep to be parsed, but to be shown.
        *[('{"a": ' * n + "1" + "}" * n, "nested too deeply|must be") for n in range(700, 1000, 9)],
        ("[" + "[]," * 4_100_000 + "[]]", "more than 8,000,000 values"),
        ("NaN", "NaN is no number"),
        ("-Infinity", "Infinity is no number"),
        ('{"a": 1, "a": 2}', "a key occurs twice"),
        ("9" * 5000, "not JSON"),
        ("1e999", "must be"),
        ("1" + "0" * 4000, "must be"),
        ('"\\ud800"', "must be"),
        ("'single'", "not JSON"),
        ('"' + "x" * (1 << 21) + '"', "must be"),
        ("1, 2", "not JSON"),
        ('1, "report": 2', "a key occurs twice"),
        ("\x00", "not JSON"),
    ],
    ids=lambda part: part[:20],
)
@pytest.mark.parametrize("section", ["report", "channel", "mechanism"])
def test_strange_json_is_refused(part, why, section, refused):
    sections = {name: json.dumps(v) for name, v in body_of(saved_samples()[ORR]).items()}
    del sections["format"], sections["version"]
    sections[section] = part
    assert re.search(why, refused(sealed(sections, None)))


def test_bytes_that_are_no_text_are_refused(refused):
    data = saved_samples()[ORR].partition(b',\n"seal"')[0].replace(b'"a"', b'"\xff"', 1)
    assert "not JSON" in refused(sealed_bytes(data))


def test_sizes_are_bounded(path, monkeypatch):
    monkeypatch.setattr(_save_load, "MOST_SAVED_BYTES", 1000)
    path.write_bytes(saved_samples()[ORR])
    with pytest.raises(SavedFileError, match="which no file of"):
        load(path)
    monkeypatch.setattr(_document, "MOST_SAVED_BYTES", 1000)
    with pytest.raises(SizeLimitError, match="The saved file would have"):
        save(fitted_samples()[ORR][0], path)
    assert path.read_bytes() == saved_samples()[ORR]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names")
def test_a_pipe_that_nobody_writes_to_is_refused_at_once(path):
    os.mkfifo(path)
    with pytest.raises(SavedFileError, match="not a regular file"):
        load(path)


def test_paths_that_are_no_files(tmp_path):
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "none.json")
    with pytest.raises((SavedFileError, OSError)):
        load(tmp_path)
    with pytest.raises(SavedFileError, match="not a regular file"):
        load("/dev/null")
    for path in (5, None, b"x", "a\0b"):
        with pytest.raises(InvalidParameterError, match="name of a file"):
            load(path)


# ---- values that do not fit together


def test_weights_must_be_probabilities_of_all_outputs(edited):
    def weights(change):
        return lambda document: change(document["channel"])

    assert "sum to 2^62" in edited(weights(lambda c: c["weight_of_entry"].__setitem__(0, 5)))
    many = [TOTAL] * len(body_of(saved_samples()[ORR])["channel"]["weight_of_entry"])
    assert "sum to 2^62" in edited(weights(lambda c: c.update(weight_of_entry=many)))
    assert "integers from 1" in edited(weights(lambda c: c["weight_of_entry"].__setitem__(0, 0)))
    assert "integers from 1" in edited(weights(lambda c: c["weight_of_entry"].__setitem__(0, -4)))
    assert "integers from 1" in edited(weights(lambda c: c["weight_of_entry"].__setitem__(0, 1.5)))
    assert "each output once" in edited(weights(lambda c: c["output_of_entry"].__setitem__(1, 0)))
    assert "every output occurs" in edited(weights(lambda c: c["outputs"].append("more")))
    assert "different labels" in edited(weights(lambda c: c["inputs"].__setitem__(1, "a")))
    assert "sum to 1" in edited(weights(lambda c: c["p_x"].__setitem__(1, 0.5)))
    assert "list of 5 items" in edited(weights(lambda c: c["inputs"].pop()))


def test_trees_must_be_trees(edited):
    def tree(name, place, value):
        def change(document):
            document["cells"]["tree"][name][place] = value

        return change

    assert "a binary tree" in edited(tree("left", 1, 0), "cells")
    assert "a binary tree" in edited(tree("right", 0, 1), "cells")
    assert "integers from -1" in edited(tree("left", 0, 10_000), "cells")
    assert "finite numbers" in edited(tree("threshold", 0, "inf"), "cells")
    assert "feature of each split" in edited(tree("feature", 0, -2), "cells")


def test_a_joint_that_does_not_meet_the_budget_is_found(edited):
    def less(document):
        document["notion"]["epsilon"] = 0.1

    assert "does NOT meet 0.1-LIP" in edited(less, "ConditionalReporting")

    def boast(document):
        document["report"]["levels_after"]["max_lift"] = 0.0

    assert "its report says 0 for the level max_lift" in edited(boast, "ConditionalReporting")

    def others(document):
        rows = document["joint"]["counts"]
        rows[0][0] -= 9  # the shares of X stay the same
        rows[1][0] += 9

    for name in ("ConditionalReporting", "relaxed", "confidence"):
        assert "do not use it" in edited(others, name)


def test_a_report_that_contradicts_its_budget_is_found_without_the_joint(edited):
    def less(document):
        document["notion"]["epsilon"] = 0.1

    def more(document):
        document["report"]["levels_after"]["max_lift"] = 0.7

    assert "says that 0.1-LIP is met, and 0.5 for the level" in edited(less)
    assert "0.7 for the level max_lift, which exceeds the budget" in edited(more)


def test_facts_must_fit_the_rest_of_the_file(edited):
    def change(section, **values):
        return lambda document: document[section].update(values)

    joint = "confidence"
    assert "guarantee.groups must be the column of" in edited(change("guarantee", groups="id"))
    ids = {"parameter": "groups", "column": "id"}
    assert "guarantee.groups must be" in edited(lambda document: document.update(records=ids))
    for column in ("s", "x"):
        ids = {"parameter": "record_id", "column": column}
        why = edited(lambda document, ids=ids: document.update(records=ids))
        assert "records.column must be a column that is neither sensitive nor useful" in why
    assert "counts of 5 rows" in edited(change("guarantee", n_rows=5), joint)
    assert "n_sensitive must be" in edited(lambda document: document.update(n_sensitive=7), joint)
    order = {"categories": None}
    assert "order must be null" in edited(lambda document: document.update(order=order), joint)

    def passing(document):
        document["mechanism"]["remainder"] = "passthrough"
        names = document["columns"]["names"]
        document["columns"]["rest"].append(len(names))
        names.append("zip")

    assert "names all columns that are released unprotected" in edited(passing)
    for facts, why in (({"gap_": "small"}, "a number"), ({"status_": 1}, "text")):
        assert f"must be {why}" in edited(change("mechanism", facts=facts))


def test_cells_that_join_others_have_no_place_in_a_confidence_set(path, refused):
    sanitizer, _ = fitted_samples()["cells"]
    surer = clone(sanitizer).set_params(confidence=0.9, cells=3, epsilon=2.0)
    surer.fit(rows_for("cells"))
    save(surer, path)
    document = body_of(path.read_bytes())
    document["cells"]["settled"][0] = document["cells"]["settled"][-1]
    assert "cells must be cells with rows" in refused(resealed(document))


@pytest.mark.parametrize(
    ("name", "side"),
    [
        ("OUESanitizer", "min_lift"),
        ("bits and confidence", "max_lift"),
        ("SRLIPSanitizer", "srlip"),
    ],
)
def test_levels_of_bits_and_of_side_channels_are_compared(name, side, path, refused):
    save(fitted_samples()[name][0], path, include_joint=True)
    document = body_of(path.read_bytes())
    report = document["report"]
    levels = report["levels_worst"] or report["levels_after"]
    levels[side] /= 2
    assert f"for the level {side}, but" in refused(resealed(document))


@pytest.mark.parametrize("kind", ["OUESanitizer", "SRLIPSanitizer"])
def test_bits_and_side_channels_are_certified_again(kind, path, refused):
    save(fitted_samples()[kind][0], path, include_joint=True)
    document = body_of(path.read_bytes())
    load(path)
    document["notion"]["epsilon"] = 0.05
    assert "does NOT meet 0.05" in refused(resealed(document))


def test_a_mechanism_that_sees_s_needs_the_joint(edited):
    def without(document):
        document["joint"] = None

    assert "because the mechanism sees S" in edited(without, "ConditionalReporting")


# ---- fuzzing


def check_harmless(path, name):
    """Load a file that may be wrong; what is loaded must be usable."""
    try:
        loaded = load(path)
    except SavedFileError:
        return "refused"
    weights = getattr(loaded.release_.releaser, "weights", None)
    if weights is not None:
        assert (np.add.reduceat(weights.data, weights.indptr[:-1]) == TOTAL).all()
    with suppress(SkliftprivError):  # other labels, or columns
        loaded.transform(rows_for(name).head(20))
    repr(loaded), str(loaded.guarantee_), repr(loaded.report_)
    guarantee = loaded.guarantee_
    if guarantee.holds:
        for side, bound in guarantee.budget.items():
            assert guarantee.achieved[side] <= bound or np.isclose(guarantee.achieved[side], bound)
    assert (guarantee.stated_by is None) == hasattr(loaded, "joint_")
    return "loaded"


def fuzz(n_files, seed, path):
    """Load files that were tampered with: a third with a seal that is wrong."""
    rng = generator(seed)
    names = list(saved_samples())
    documents = {name: body_of(data) for name, data in saved_samples().items()}
    found = {"refused": 0, "loaded": 0, "equivalent": 0}
    for i in range(n_files):
        name = names[i % len(names)]
        data = saved_samples()[name]
        if i % 3 == 0:
            changed = garbled(data, rng)
            path.write_bytes(changed)
            if changed == data:
                found["equivalent"] += 1
                continue
            with pytest.raises(SavedFileError):
                load(path)
            found["refused"] += 1
        elif i % 3 == 1:
            body = garbled(data.partition(b',\n"seal"')[0], rng)
            path.write_bytes(sealed_bytes(body))
            found[check_harmless(path, name)] += 1
        else:
            document = tampered(documents[name], rng)
            if not {"format", "version"} <= set(document):
                continue
            path.write_bytes(resealed(document))
            found[check_harmless(path, name)] += 1
    return found


def sealed_bytes(body):
    """Put a seal that is right behind any bytes."""
    digest = hashlib.sha256(body).hexdigest()
    return body + f',\n"seal": {{"kind": "sha256", "value": "{digest}"}}}}\n'.encode()


def check_fuzz(n_files, path, monkeypatch):
    monkeypatch.chdir(path.parent)
    found = fuzz(n_files, n_files, path)
    assert sum(found.values()) > 0.95 * n_files
    assert found["refused"] > 0.8 * n_files
    assert found["loaded"] > 0  # changes of labels and figures can be valid
    # Nothing was executed, and nothing written.
    assert os.listdir(path.parent) == [path.name]
    assert not Path("hacked").exists()


@pytest.mark.filterwarnings("ignore")
def test_files_that_were_tampered_with(path, monkeypatch):
    check_fuzz(300, path, monkeypatch)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_ten_thousand_files_that_were_tampered_with(path, monkeypatch):
    check_fuzz(10_000, path, monkeypatch)
