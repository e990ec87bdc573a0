"""Fitted sanitisers, alone and in models, go to files and to other processes and stay the same."""

import copy
import pickle
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import joblib
import pandas as pd
import pytest
from sklearn.base import clone

from skliftpriv import GRRSanitizer

from .income import ADULT, COLUMNS, INCOME, make_model
from .samples import make_frame, make_sanitizers

FRAME = make_frame()
SANITIZERS = make_sanitizers(epsilon=0.5, random_state=0)


def through_file(model, path):
    joblib.dump(model, path / "model.joblib", compress=3)
    return joblib.load(path / "model.joblib")


@pytest.mark.parametrize("sanitizer", SANITIZERS, ids=lambda one: type(one).__name__)
def test_copies_of_a_fitted_sanitizer_release_and_say_the_same(sanitizer, tmp_path):
    sanitizer.fit(FRAME)
    released = sanitizer.transform(FRAME)
    for twin in (
        pickle.loads(pickle.dumps(sanitizer)),
        copy.deepcopy(sanitizer),
        through_file(sanitizer, tmp_path),
        clone(sanitizer).fit(FRAME),
    ):
        assert twin.channel_ == sanitizer.channel_
        pd.testing.assert_frame_equal(twin.transform(FRAME), released)
        assert twin.report_ == sanitizer.report_
        assert twin.guarantee_ == sanitizer.guarantee_
        pd.testing.assert_frame_equal(
            twin.estimate_frequencies(released), sanitizer.estimate_frequencies(released)
        )
        # What is needed to learn from a further batch is there too.
        assert twin.partial_fit(FRAME).guarantee_.n_rows == 2 * len(FRAME)


def test_other_processes_release_the_same():
    fitted = [sanitizer.fit(FRAME) for sanitizer in SANITIZERS]
    model = make_model().fit(ADULT[COLUMNS], INCOME)
    # Spawned, so that nothing is there but what was sent.
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        tasks = [pool.submit(sanitizer.transform, FRAME) for sanitizer in fitted]
        chance = pool.submit(model.predict_proba, ADULT[COLUMNS]).result()
        released = [task.result() for task in tasks]
    for sanitizer, found in zip(fitted, released, strict=True):
        pd.testing.assert_frame_equal(found, sanitizer.transform(FRAME))
    assert (chance == model.predict_proba(ADULT[COLUMNS])).all()


def test_copies_of_a_fitted_model_predict_the_same(tmp_path):
    # GRR draws for every row, so that predictions are equal only if the draws are.
    sanitizer = GRRSanitizer(*COLUMNS, epsilon=0.5, random_state=0)
    model = make_model(sanitizer).fit(ADULT[COLUMNS], INCOME)
    chance = model.predict_proba(ADULT[COLUMNS])
    for twin in (pickle.loads(pickle.dumps(model)), through_file(model, tmp_path)):
        assert (twin.predict_proba(ADULT[COLUMNS]) == chance).all()
    model.set_params(sanitizer__random_state=1).fit(ADULT[COLUMNS], INCOME)
    assert (model.predict_proba(ADULT[COLUMNS]) != chance).any()
