"""What releases rows holds no counts of S, and releases the same in another process."""

import io
import pickle
import pickletools

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

from skliftpriv import ORRSanitizer, SubsetMergingSanitizer
from skliftpriv.datasets import load_adult

from .samples import make_frame, make_sanitizers

FRAME = make_frame()
SANITIZERS = make_sanitizers(epsilon=0.5)
KINDS = pytest.mark.parametrize("sanitizer", SANITIZERS, ids=lambda one: type(one).__name__)
#: Classes that hold counts of S, or a joint distribution with it.
COUNTING = ("JointDistribution", "CountedRows", "ContingencyTable", "ConfidenceSet", "sklearn.tree")


def mentioned(pickled):
    """Return every text in a pickle, among them the names of all classes."""
    return {
        str(argument) for _, argument, _ in pickletools.genops(pickled) if isinstance(argument, str)
    }


@KINDS
def test_a_release_holds_nothing_that_counts_s(sanitizer):
    sanitizer.fit(FRAME)
    sanitizer.transform(FRAME)  # which may compute and keep more
    texts = mentioned(pickle.dumps(sanitizer.release_))
    assert not [text for text in texts if any(name in text for name in COUNTING)]
    # The search finds what is looked for.
    assert "JointDistribution" in mentioned(pickle.dumps(sanitizer))


@pytest.mark.parametrize("how", [20, DecisionTreeClassifier(max_leaf_nodes=20)])
def test_cells_of_a_tree_hold_no_counts_of_s(how):
    adult = load_adult()[:5000]
    columns = ["sex", "age", "education", "hours-per-week"]
    sanitizer = SubsetMergingSanitizer("sex", columns[1:], epsilon=0.5, cells=how)
    sanitizer.fit(adult[columns], adult["income"])
    texts = mentioned(pickle.dumps(sanitizer.release_))
    assert not [text for text in texts if any(name in text for name in COUNTING)]


def test_a_release_is_the_same_for_all_tables_with_the_same_channel():
    # The tables differ in S, but not in P(X), and the budget allows to release X as it is.
    rng = np.random.default_rng(0)
    first = pd.DataFrame({"s": rng.integers(2, size=200), "x": list("aaab" * 50)})
    second = first.assign(s=rng.integers(2, size=200))
    fitted = [SubsetMergingSanitizer("s", "x", epsilon=9).fit(table) for table in (first, second)]
    assert fitted[0].joint_ != fitted[1].joint_
    assert fitted[0].channel_ == fitted[1].channel_
    assert pickle.dumps(fitted[0].release_) == pickle.dumps(fitted[1].release_)


@KINDS
def test_a_copy_of_a_release_draws_and_writes_the_same(sanitizer):
    sanitizer.fit(FRAME)
    copy = pickle.load(io.BytesIO(pickle.dumps(sanitizer.release_)))
    for release in (copy, sanitizer.release_):
        table = release.table(FRAME)
        codes = release.codes(table)
        assert np.array_equal(codes, sanitizer.encode(FRAME))
        drawn = release.sample(codes, 7)
        assert np.array_equal(drawn, sanitizer.release_.sample(codes, 7))
        columns = release.columns(table, drawn, sanitizer.output)
        assert list(columns) == list(sanitizer.get_feature_names_out())


def test_the_splits_of_a_tree_put_rows_where_the_tree_does():
    from skliftpriv.cells._splits import Splits

    rng = np.random.default_rng(0)
    matrix = rng.normal(size=(3000, 4)).astype(np.float32)
    matrix[rng.random(matrix.shape) < 0.1] = np.nan
    target = rng.integers(3, size=3000)
    for n_leaves in (2, 40):
        tree = DecisionTreeClassifier(max_leaf_nodes=n_leaves, random_state=0).fit(matrix, target)
        assert np.array_equal(Splits.of(tree.tree_).apply(matrix), tree.apply(matrix))
    alone = DecisionTreeClassifier().fit(matrix, np.zeros(3000))
    assert not Splits.of(alone.tree_).apply(matrix).any()


def test_a_release_names_what_it_releases():
    sanitizer = ORRSanitizer("s", "x", epsilon=1.0).fit(
        pd.DataFrame({"s": [0, 1, 1, 0], "x": list("abab")})
    )
    assert repr(sanitizer.release_) == "Release(x by ORRSanitizer)"
