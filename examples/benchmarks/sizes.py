"""What every sanitiser does with many distinct values: an answer or a refusal, and its cost.

    python examples/benchmarks/sizes.py --values 20000 100000 1000000
    python examples/benchmarks/sizes.py --estimators WatchdogSanitizer --sensitive 10000

Each case runs in a process of its own whose address space is limited, so that a case that takes
too much memory fails there instead of slowing down the machine. Printed are the seconds of fit
and transform together, by the clock and of the processor, the peak of resident memory, and what
came out.
"""

import argparse
import json
import resource
import subprocess
import sys
import time

ESTIMATORS = (
    "WatchdogSanitizer",
    "SubsetMergingSanitizer",
    "ORRSanitizer",
    "SRRSanitizer",
    "GRRSanitizer",
    "OUESanitizer",
    "ConditionalReporting",
    "SRLIPSanitizer",
)


UNKNOWN = [float("nan"), float("nan")]


def make_rows(n_values, n_sensitive, n_rows):
    """Rows in which every value of both columns occurs, and X tells something about S."""
    import numpy as np
    import pandas as pd

    rng = np.random.default_rng(0)
    every_x = np.arange(n_values)
    x = np.concatenate([every_x, rng.integers(n_values, size=max(n_rows - n_values, 0))])
    skew = rng.uniform(0.5, 2.0, size=n_values)
    s = (rng.random(x.size) ** skew[x] * n_sensitive).astype(int)
    s[:n_sensitive] = np.arange(n_sensitive)
    return pd.DataFrame({"s": [f"s{i}" for i in s], "x": [f"value {i}" for i in x]})


def run_one(name, n_values, n_sensitive, n_rows, parameters):
    """Fit and transform; return what came out, in words, and the seconds it took, both kinds."""
    import numpy as np

    import skliftpriv

    frame = make_rows(n_values, n_sensitive, n_rows)
    sanitizer = getattr(skliftpriv, name)("s", "x", **parameters)
    start = np.array([time.perf_counter(), time.process_time()])
    try:
        released = sanitizer.fit(frame).transform(frame)
        kept = f"{sanitizer.report_.nmi:.3f} of X kept"
        answer = f"released {released.shape[0]:,} x {released.shape[1]:,}, {kept}"
    except skliftpriv.exceptions.SkliftprivError as error:
        answer = f"{type(error).__name__}: {error}"
    seconds = np.array([time.perf_counter(), time.process_time()]) - start
    return answer, seconds.tolist()


def child(arguments):
    """Run one case within the limits and print it as JSON."""
    limit = int(arguments["gigabytes"] * 2**30)
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    try:
        answer, seconds = run_one(*arguments["case"])
    except Exception as error:
        answer, seconds = f"RAW {type(error).__name__}: {error}", UNKNOWN
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"answer": answer, "seconds": seconds, "peak_mb": peak}))


def measure(case, gigabytes, timeout):
    """Run one case in a process of its own."""
    arguments = json.dumps({"case": case, "gigabytes": gigabytes})
    command = [sys.executable, __file__, "--child", arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout)
    except subprocess.TimeoutExpired:
        return {"answer": f"NO END in {timeout:g} s", "seconds": UNKNOWN, "peak_mb": float("nan")}
    lines = done.stdout.splitlines()
    if done.returncode or not lines:
        last = done.stderr.strip().splitlines()[-1:] or [f"exit {done.returncode}"]
        return {"answer": f"DIED: {last[0]}", "seconds": UNKNOWN, "peak_mb": float("nan")}
    return json.loads(lines[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--values", type=int, nargs="+", default=[20_000, 100_000, 1_000_000])
    parser.add_argument("--sensitive", type=int, default=2, help="distinct sensitive values")
    parser.add_argument("--rows", type=int, help="rows, by default as many as values")
    parser.add_argument("--estimators", nargs="+", default=ESTIMATORS, choices=ESTIMATORS)
    parser.add_argument("--parameters", type=json.loads, default={}, help="as JSON")
    parser.add_argument("--gigabytes", type=float, default=3.0, help="limit of address space")
    parser.add_argument("--timeout", type=float, default=120.0)
    parser.add_argument("--child", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child(json.loads(options.child))
        return
    print(f"{'estimator':24}{'values':>10}{'rows':>10}{'s':>7}{'cpu s':>7}{'MB':>7}  what came out")
    for n_values in options.values:
        n_rows = max(options.rows or n_values, n_values, options.sensitive)
        for name in options.estimators:
            case = [name, n_values, options.sensitive, n_rows, options.parameters]
            found = measure(case, options.gigabytes, options.timeout)
            clock, cpu = found["seconds"]
            numbers = f"{clock:7.1f}{cpu:7.1f}{found['peak_mb']:7.0f}"
            print(f"{name:24}{n_values:10}{n_rows:10}{numbers}  {found['answer']}", flush=True)


if __name__ == "__main__":
    main()
