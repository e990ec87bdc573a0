"""The released rows in random order: every order is equally likely, and no row is lost."""

from collections import Counter
from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chisquare

from skliftpriv.cli import _shuffle
from skliftpriv.cli._shuffle import ShuffledWriter, random_order
from skliftpriv.frames import _index
from skliftpriv.sampling import word_source

TEXT = {"dtype": str, "keep_default_na": False}


class Collector:
    def __init__(self):
        self.frames = []

    def write(self, frame):
        self.frames.append(frame)


def shuffled(n, words, *, part=2):
    with ShuffledWriter(words, 1000) as writer:
        for start in range(0, n, part):
            writer.write(pd.DataFrame({"row": range(start, min(start + part, n))}))
        collector = Collector()
        writer.finish(collector)
    return tuple(pd.concat(collector.frames)["row"])


def p_value(orders, n):
    counts = Counter(orders)
    return chisquare([counts[order] for order in permutations(range(n))]).pvalue


@pytest.mark.slow
def test_every_order_is_equally_likely(monkeypatch):
    monkeypatch.setattr(_shuffle, "_N_HEAPS", 4)
    words = word_source(7)
    assert p_value([shuffled(3, words) for _ in range(600)], 3) > 1e-3
    assert p_value([tuple(random_order(4, words)) for _ in range(2400)], 4) > 1e-3


@pytest.mark.slow
def test_the_test_would_notice_heaps_without_order(monkeypatch):
    # Rows scattered over heaps, but in their old order within: not uniform.
    monkeypatch.setattr(_shuffle, "_N_HEAPS", 4)
    monkeypatch.setattr(_shuffle, "random_order", lambda n, words: np.arange(n))
    words = word_source(7)
    assert p_value([shuffled(3, words) for _ in range(600)], 3) < 1e-9


def test_the_test_would_notice_one_order_that_is_a_third_too_frequent():
    words, rng = word_source(7), np.random.default_rng(0)
    orders = [
        (0, 1, 2, 3) if rng.random() < 1 / 72 else tuple(random_order(4, words))
        for _ in range(24_000)
    ]
    assert p_value(orders, 4) < 1e-3


def test_equal_keys_are_drawn_again():
    drawn = []

    def words(n):
        drawn.append(n)
        return np.zeros(n, np.uint32) if len(drawn) < 3 else np.arange(n, dtype=np.uint32)

    assert sorted(random_order(5, words)) == list(range(5))
    assert len(drawn) == 3


def test_large_heaps_are_scattered_again(monkeypatch):
    monkeypatch.setattr(_shuffle, "_MOST_BYTES", 4000)
    monkeypatch.setattr(_shuffle, "_N_HEAPS", 4)
    held = []
    joined = _shuffle.joined

    def watched(frames):
        held.append(sum(map(len, frames)))
        return joined(frames)

    monkeypatch.setattr(_shuffle, "joined", watched)
    rows = shuffled(20_000, word_source(1), part=5000)
    assert sorted(rows) == list(range(20_000))
    assert max(held) < 2_000
    place = np.argsort(rows)
    assert abs(np.corrcoef(place, np.arange(20_000))[0, 1]) < 0.05


@pytest.mark.parametrize("suffix", ["csv", "tsv.gz", "parquet"])
def test_the_release_holds_the_same_rows(run, folder, adult, suffix):
    pytest.importorskip("pyarrow")
    # Sorted by S, so that the order tells it.
    adult = adult.sort_values("relationship").assign(note=[f"n{i}" for i in range(len(adult))])
    if suffix == "parquet":
        adult.to_parquet("in.parquet", index=False)
    else:
        adult.to_csv(f"in.{suffix}", index=False, sep="\t" if "tsv" in suffix else ",")
    command = ["sanitize", f"in.{suffix}", "--sensitive", "relationship", "--useful", "occupation"]
    command += ["--keep-other-columns", "--chunk-rows", "5000"]
    frames = []
    for name, end in (("plain", []), ("mixed", ["--shuffle"]), ("other", ["--shuffle"])):
        assert run(*command, "-o", f"{name}.{suffix}", *end).status == 0
        if suffix == "parquet":
            frames.append(pd.read_parquet(f"{name}.parquet"))
        else:
            sep = "\t" if "tsv" in suffix else ","
            frames.append(pd.read_csv(f"{name}.{suffix}", sep=sep, **TEXT))
    plain, mixed, other = frames
    assert list(mixed["note"]) != list(plain["note"])
    assert list(mixed["note"]) != list(other["note"])
    pd.testing.assert_frame_equal(
        mixed.set_index("note").loc[plain["note"]], plain.set_index("note")
    )
    place = mixed["note"].str[1:].astype(int)
    assert abs(np.corrcoef(place, np.arange(len(place)))[0, 1]) < 0.03


def test_shuffled_rows_on_standard_output(run, folder):
    (folder / "in.csv").write_text("s,x\n" + "a,1\n" * 100 + "b,1\n" * 90 + "b,2\n" * 10)
    end = ["--sensitive", "s", "--useful", "x", "--epsilon", "9", "--shuffle", "--smoothing", "1"]
    done = run("sanitize", "in.csv", "-o", "-", *end)
    assert done.status == 0
    header, *rows = done.out.splitlines()
    assert header == "x"
    assert Counter(rows) == {"1": 190, "2": 10}
    assert rows[-10:] != ["2"] * 10


def test_an_order_that_tells_s_is_warned_of(run, folder, adult, monkeypatch):
    monkeypatch.setattr(_index, "_HELD_ROWS", 700)  # the sample is thinned while the file is read
    rows = adult.head(3000)
    rows.to_csv("mixed.csv", index=False)
    rows.sort_values("sex").to_csv("sorted.csv", index=False)
    command = ["--sensitive", "sex", "--useful", "occupation", "--chunk-rows", "500", "-o", "o.csv"]
    done = run("sanitize", "sorted.csv", *command, "--report", "page.html")
    assert done.status == 0
    assert "the order of the rows, which is associated with the sensitive values" in done.err
    assert "--shuffle" in done.err
    assert "order of the rows, which is associated" in (folder / "page.html").read_text()
    for file, end in (
        ("mixed.csv", []),
        ("sorted.csv", ["--shuffle"]),
        ("mixed.csv", ["--fit-on", "sorted.csv"]),
    ):
        done = run("sanitize", file, *command, *end)
        assert done.status == 0
        assert "order" not in done.err
