"""How many rows a keyed release draws a second, against fresh noise and other packages.

Run ``python examples/benchmarks/keyed_release.py [--quick]``. The other packages are optional:
``pip install "skliftpriv[benchmark]"``. All release generalised randomised response over 16 values
with the same probabilities. Ours release whole data frames, from text to text, with everything that
``transform`` checks; the others draw codes, and have no keyed noise. Below, what the hash functions
alone take for a text id, as a reason for the one that is used. Seconds are those of the processor.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from hashlib import blake2b
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
import pandas as pd

from skliftpriv import GRRSanitizer
from skliftpriv.exceptions import UnprotectedColumnsWarning
from skliftpriv.frames import RecordIds, record_bits

N_SYMBOLS = 16
KEY = bytes(range(32))

Run = Callable[[], Any]


def make_frame(n: int) -> pd.DataFrame:
    """Make rows with a sensitive bit, a useful text column, and ids of two kinds."""
    rng = np.random.default_rng(1)
    codes = rng.integers(0, N_SYMBOLS, n)
    numbers = rng.permutation(n) * 7919
    return pd.DataFrame(
        {
            "s": (rng.random(n) < 0.3 + 0.02 * codes).astype(int),
            "x": np.array([f"value {i}" for i in range(N_SYMBOLS)], dtype=object)[codes],
            "number": numbers,
            "text": [f"person-{i}" for i in numbers.tolist()],
        }
    )


def rate(run: Run, n: int, repeats: int = 3) -> float:
    """Return rows per second of the processor in the best of several runs."""
    seconds = []
    for _ in range(repeats):
        start = time.process_time()
        run()
        seconds.append(time.process_time() - start)
    return n / min(seconds)


def ours(frame: pd.DataFrame) -> Iterator[tuple[str, Run]]:
    """Yield releases with fresh and with keyed noise, of several kinds of tables."""
    tables: dict[str, Any] = {"pandas": frame}
    try:
        import polars as pl
        import pyarrow as pa

        tables |= {"polars": pl.from_pandas(frame), "pyarrow": pa.Table.from_pandas(frame)}
    except ImportError:
        pass
    for kind, table in tables.items():
        fresh = GRRSanitizer("s", "x", epsilon=0.3).fit(table)
        yield f"skliftpriv, {kind}, fresh noise", lambda s=fresh, t=table: s.transform(t)
        for ids in ("number", "text"):
            keyed = GRRSanitizer("s", "x", epsilon=0.3, record_id=ids, secret=KEY).fit(table)
            once, again = (np.asarray(keyed.transform(table)["x"]) for _ in range(2))
            assert (once == again).all()
            yield f"skliftpriv, {kind}, keyed by {ids}", lambda s=keyed, t=table: s.transform(t)


def multi_freq_ldpy(codes: np.ndarray, alpha: float) -> Iterator[tuple[str, Run]]:
    """Yield a release with multi-freq-ldpy, called as its documentation does."""
    from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Client

    yield (
        "multi-freq-ldpy, per record as documented",
        lambda: [GRR_Client(code, N_SYMBOLS, alpha) for code in codes.tolist()],
    )


def pure_ldp(codes: np.ndarray, alpha: float) -> Iterator[tuple[str, Run]]:
    """Yield a release with pure-ldp, called as its documentation does."""
    from pure_ldp.frequency_oracles.direct_encoding import DEClient

    client = DEClient(epsilon=alpha, d=N_SYMBOLS, index_mapper=lambda code: code)
    yield (
        "pure-ldp, per record as documented",
        lambda: [client.privatise(code) for code in codes.tolist()],
    )


def hashes(frame: pd.DataFrame) -> Iterator[tuple[str, Run]]:
    """Yield hash functions of the same ids."""
    texts = frame["text"].to_numpy(dtype=object)
    codes = np.zeros(texts.size, dtype=np.intp)
    prefix = bytes(8)

    def siphash() -> Any:
        ids = RecordIds(texts, "text")
        return record_bits(ids, codes, KEY[:16], "x")

    def blake() -> Any:
        messages = [prefix + text.encode() for text in texts.tolist()]
        made = [blake2b(m, key=KEY, digest_size=8).digest() for m in messages]
        return np.frombuffer(b"".join(made), dtype=np.uint64)

    yield "SipHash-2-4 of pandas, with the search for repeated ids", siphash
    yield "keyed BLAKE2b of the standard library", blake


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows")
    n = 100_000 if parser.parse_args().quick else 1_000_000
    warnings.simplefilter("ignore", UnprotectedColumnsWarning)
    frame = make_frame(n)
    print(f"{n:,} rows; million rows per second of the processor")
    for name, run in ours(frame):
        print(f"{name:<58}{rate(run, n) / 1e6:>8.2f}", flush=True)
    codes = frame["x"].str.removeprefix("value ").astype(int).to_numpy()
    alpha = GRRSanitizer("s", "x", epsilon=0.3).fit(frame).alpha_
    for package, draws in (("multi-freq-ldpy", multi_freq_ldpy), ("pure-ldp", pure_ldp)):
        try:
            installed = version(package)
            for name, run in draws(codes, alpha):
                print(f"{name:<58}{rate(run, n, 2) / 1e6:>8.2f}  ({installed})", flush=True)
        except (PackageNotFoundError, ImportError) as error:
            print(f"{package}: not installed ({error})")
    print("\nHash functions alone, of text ids")
    for name, run in hashes(frame):
        print(f"{name:<58}{rate(run, n) / 1e6:>8.2f}", flush=True)


if __name__ == "__main__":
    main()
