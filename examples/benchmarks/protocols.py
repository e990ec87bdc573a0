"""How many records randomised response draws a second, against other packages in the same run.

Run ``python examples/benchmarks/protocols.py [--quick]``. The other packages are optional:
``pip install "skliftpriv[benchmark]"``. All draw generalised randomised response with alpha = 1
over 16 symbols, from integer codes to integer codes.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from importlib.metadata import PackageNotFoundError, version

import numpy as np

from skliftpriv import Channel
from skliftpriv.certificate import quantize
from skliftpriv.sampling import Sampler

N_SYMBOLS = 16
ALPHA = 1.0
TRUE_SHARE = np.exp(ALPHA) / (np.exp(ALPHA) + N_SYMBOLS - 1)

Draw = Callable[[np.ndarray], np.ndarray]


def our_sampler() -> Sampler:
    matrix = np.full((N_SYMBOLS, N_SYMBOLS), (1 - TRUE_SHARE) / (N_SYMBOLS - 1))
    np.fill_diagonal(matrix, TRUE_SHARE)
    return Sampler(quantize(Channel(matrix)))


def textbook(codes: np.ndarray) -> np.ndarray:
    """Draw as one would write it in NumPy: fast, seeded and not exact."""
    rng = np.random.default_rng(0)
    other = rng.integers(0, N_SYMBOLS - 1, codes.size)
    other += other >= codes
    return np.where(rng.random(codes.size) < TRUE_SHARE, codes, other)


def multi_freq_ldpy() -> Iterator[tuple[str, Draw]]:
    from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Client
    from numba import njit

    def documented(codes: np.ndarray) -> np.ndarray:
        return np.array([GRR_Client(code, N_SYMBOLS, ALPHA) for code in codes.tolist()])

    @njit
    def compiled(codes: np.ndarray) -> np.ndarray:
        result = np.empty_like(codes)
        for i in range(codes.size):
            result[i] = GRR_Client(codes[i], N_SYMBOLS, ALPHA)
        return result

    yield "multi-freq-ldpy, called per record as documented", documented
    yield "multi-freq-ldpy, loop compiled with numba", compiled


def pure_ldp() -> Iterator[tuple[str, Draw]]:
    from pure_ldp.frequency_oracles.direct_encoding import DEClient

    client = DEClient(epsilon=ALPHA, d=N_SYMBOLS, index_mapper=lambda code: code)

    def documented(codes: np.ndarray) -> np.ndarray:
        return np.array([client.privatise(code) for code in codes.tolist()])

    yield "pure-ldp, called per record as documented", documented


def rate(draw: Draw, codes: np.ndarray, repeats: int) -> float:
    """Return records per second in the best of several runs; check the draw too."""
    released = draw(codes[:100_000])  # compiles what is compiled when first called
    error = np.sqrt(TRUE_SHARE * (1 - TRUE_SHARE) / released.size)
    share = (released == codes[: released.size]).mean()
    assert abs(share - TRUE_SHARE) < 6 * error, f"{share} instead of {TRUE_SHARE}"
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        draw(codes)
        seconds.append(time.perf_counter() - start)
    return codes.size / min(seconds)


def show(name: str, value: float, reference: float) -> None:
    print(f"{name:<52}{value / 1e6:>9.2f}{reference / value:>10.1f}", flush=True)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the records")
    n = 1_000_000 if parser.parse_args().quick else 10_000_000
    codes = np.random.default_rng(1).integers(0, N_SYMBOLS, n)
    sampler = our_sampler()
    print(f"{n:,} codes of {N_SYMBOLS} symbols (other packages: at most 1,000,000);")
    print("times: how many times as fast our default is")
    print(f"{'':<52}{'million/s':>9}{'times':>10}")
    ours = rate(sampler.sample, codes, 3)
    show("skliftpriv, system generator (default)", ours, ours)
    show("skliftpriv, seeded", rate(lambda c: sampler.sample(c, 0), codes, 3), ours)
    show("NumPy, two draws in floating point", rate(textbook, codes, 3), ours)
    for package, draws in (("multi-freq-ldpy", multi_freq_ldpy), ("pure-ldp", pure_ldp)):
        try:
            installed = version(package)
            for name, draw in draws():
                show(name, rate(draw, codes[:1_000_000], 2), ours)
            print(f"  ({package} {installed})")
        except (PackageNotFoundError, ImportError) as error:
            print(f"{package}: not installed ({error})")


if __name__ == "__main__":
    main()
