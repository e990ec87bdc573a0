"""Shared by the scripts of the papers: options, progress, pictures, and checks of claims."""

from __future__ import annotations

import argparse
import sys
import textwrap
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import matplotlib as mpl
import numpy as np

mpl.use("Agg")
import matplotlib.pyplot as plt
from joblib import Parallel, delayed
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from skliftpriv.exceptions import BudgetWarning

# Okabe and Ito's colours, which colour-blind readers can distinguish; markers and dashes help.
BLACK, ORANGE, SKY, GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
BLUE, VERMILLION, PURPLE, GREY = "#0072B2", "#D55E00", "#CC79A7", "#999999"
WORKERS = 2


@dataclass(frozen=True)
class Options:
    """Options of the command line."""

    quick: bool
    output: Path
    only: frozenset[int]

    def wants(self, *numbers: int) -> bool:
        """Tell whether one of these figures is to be drawn."""
        return not self.only.isdisjoint(numbers)


def parse_options(description: str | None, figures: Sequence[int]) -> Options:
    """Read ``--quick``, ``--only`` and ``--output``, and create the folder for the pictures."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="a small run, below 40 seconds")
    parser.add_argument("--only", metavar="5,6", help="figures to draw, by default all")
    default = Path(__file__).parents[1] / "output"
    parser.add_argument("--output", type=Path, default=default, help="folder for the pictures")
    given = parser.parse_args()
    only = _numbers(parser, given.only, figures) if given.only else frozenset(figures)
    given.output.mkdir(parents=True, exist_ok=True)
    return Options(given.quick, given.output, only)


def _numbers(parser: argparse.ArgumentParser, text: str, figures: Sequence[int]) -> frozenset[int]:
    known = ", ".join(map(str, figures))
    try:
        numbers = frozenset(int(part) for part in text.split(","))
    except ValueError:
        parser.error(f"--only takes numbers such as 5,6, not {text!r}; there are {known}.")
    if not numbers <= set(figures):
        parser.error(f"--only {text}: this script draws the figures {known}.")
    return numbers


class Progress:
    """A progress bar on standard error, with the time that is left.

    In a terminal the bar moves; otherwise, as in a log, a line is written at every quarter.
    """

    def __init__(self, text: str, total: int) -> None:
        self.text, self.total, self.done = text, total, 0
        self._moving = sys.stderr.isatty()
        self._start = self._shown = time.perf_counter()
        self._quarter = 0

    def __enter__(self) -> Self:
        self._write()
        return self

    def __exit__(self, *_: object) -> None:
        if self._moving:
            self._write()
            print(file=sys.stderr)

    def step(self, count: int = 1) -> None:
        """Count finished work."""
        self.done += count
        now = time.perf_counter()
        if self._moving:
            if now - self._shown > 0.1 or self.done == self.total:
                self._shown = now
                self._write()
        elif 4 * self.done // self.total > self._quarter:
            self._quarter = 4 * self.done // self.total
            self._write()

    def _write(self, width: int = 24) -> None:
        share = self.done / self.total if self.total else 1.0
        passed = time.perf_counter() - self._start
        left = f", {passed * (1 - share) / share:.0f} s left" if 0 < share < 1 else ""
        bar = ("#" * int(share * width)).ljust(width, ".")
        line = f"{self.text:<26.26} [{bar}] {share:4.0%} {passed:.0f} s{left}"
        end = "" if self._moving else "\n"
        print(f"\r{line:<78}" if self._moving else line, end=end, file=sys.stderr, flush=True)


def parallel_map(
    function: Callable[..., Any], tasks: Iterable[tuple[Any, ...]], text: str
) -> list[Any]:
    """Call a function for many argument tuples on two processes, with a progress bar."""
    tasks = list(tasks)
    pool = Parallel(n_jobs=WORKERS if len(tasks) > 1 else 1, return_as="generator")
    found = []
    with Progress(text, len(tasks)) as progress:
        for result in pool(delayed(_quietly)(function, task) for task in tasks):
            found.append(result)
            progress.step()
    return found


def _quietly(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    # The papers' mechanisms may miss their budget; the scripts count that.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BudgetWarning)
        return function(*arguments)


def chunks(count: int, size: int) -> Iterator[range]:
    """Cut the seeds 0 ... count - 1 into ranges of at most ``size``."""
    for start in range(0, count, size):
        yield range(start, min(start + size, count))


@dataclass(frozen=True)
class Instead:
    """What is found where a paper's claim does not hold.

    Parameters
    ----------
    text : str
        What holds instead.
    holds : bool
        Whether it does in this run.
    why : str
        Why the paper's claim does not hold, as far as that is known.
    """

    text: str
    holds: bool
    why: str = ""


@dataclass
class Checks:
    """Prints for each claim of a paper whether it holds, and collects failures.

    Every claim can fail. One without ``instead`` has to hold. One with ``instead`` is a recorded
    discrepancy: the paper's claim must not hold, and what is recorded in its place must.
    """

    failures: list[str] = field(default_factory=list)

    def heading(self, text: str) -> None:
        """Start the claims about one figure."""
        print(f"\n{text}")

    def claim(
        self, text: str, holds: bool, ours: str = "", *, instead: Instead | None = None
    ) -> None:
        """Print one claim.

        Parameters
        ----------
        text : str
            What the paper says.
        holds : bool
            Whether it holds for our numbers.
        ours : str
            Our numbers.
        instead : Instead, optional
            What holds in place of the claim.
        """
        parts = [f"{text}" + (f"; ours: {ours}" if ours else "")]
        if instead is None:
            verdict = "holds" if holds else "FAILS"
        else:
            verdict = "differs" if instead.holds and not holds else "FAILS"
            parts.append(f"Instead: {instead.text}")
            if holds:
                parts.append("But the claim holds here, so it must not be recorded as different")
            elif not instead.holds:
                parts.append("But that does not hold here either")
            elif instead.why:
                parts.append(f"Why: {instead.why}")
        if verdict == "FAILS":
            self.failures.append(text)
        say(f"{verdict}: " + ". ".join(parts) + ".")

    def value(
        self,
        text: str,
        paper: float,
        sample: np.ndarray,
        *,
        rounding: float = 0.005,
    ) -> None:
        """Compare a number of the paper with the mean of a sample.

        It holds when the two differ by no more than the paper's rounding and three standard
        errors of our mean.
        """
        mean, error = mean_and_error(sample)
        near = abs(mean - paper) <= rounding + 3 * error + 1e-12
        shown = f"{mean:.3f}" + (f" ± {error:.3f}" if np.size(sample) > 1 else "")
        self.claim(f"{text} {paper:g}", near, shown)

    def note(self, text: str) -> None:
        """Print something that the paper does not say, or that depends on the machine."""
        say(f"note: {text}.")

    def exit_code(self) -> int:
        """Return 1 if a claim or a recorded discrepancy does not hold."""
        if self.failures:
            print(f"\n{len(self.failures)} claims or recorded discrepancies do not hold.")
        return 1 if self.failures else 0


def mean_and_error(sample: np.ndarray) -> tuple[float, float]:
    """Return the mean of a sample and its standard error, 0 for a single number."""
    sample = np.asarray(sample, dtype=float)
    error = sample.std(ddof=1) / np.sqrt(sample.size) if sample.size > 1 else 0.0
    return float(sample.mean()), float(error)


def say(text: str) -> None:
    """Print one item of a list, wrapped."""
    print(textwrap.fill(text, 98, initial_indent="- ", subsequent_indent="  "))


def percent(values: np.ndarray) -> str:
    """Write the share of true values."""
    return f"{float(np.mean(values)):.1%}"


def save(figure: Figure, options: Options, paper: str, number: int) -> None:
    """Write a picture and close it."""
    path = options.output / f"{paper}_figure_{number:02d}.png"
    figure.savefig(path, dpi=130)
    plt.close(figure)
    print(f"wrote {path}", file=sys.stderr, flush=True)


def cumulative(ax: Axes, values: np.ndarray, **style: Any) -> None:
    """Draw the cumulative distribution of a sample, with a few markers on it."""
    values = np.sort(values)
    shares = np.arange(1, values.size + 1) / values.size
    ax.plot(values, shares, drawstyle="steps-post", markevery=max(values.size // 6, 1), **style)


def label_outer(axes: np.ndarray, x: str, y: str) -> None:
    """Put axis titles on the lowest row and the leftmost column of a grid of panels."""
    for ax in axes[-1]:
        ax.set_xlabel(x)
    for ax in axes[:, 0]:
        ax.set_ylabel(y)


def add_legend(figure: Figure, ax: Axes, columns: int | None = None) -> None:
    """Put the legend of one panel below all of them."""
    handles, labels = ax.get_legend_handles_labels()
    columns = len(labels) if columns is None else columns
    figure.legend(handles, labels, loc="outside lower center", ncols=columns, frameon=False)


def listing(items: Sequence[str], most: int = 6) -> str:
    """Join a list, shortened."""
    more = f" and {len(items) - most} more" if len(items) > most else ""
    return ", ".join(items[:most]) + more if items else "none"
