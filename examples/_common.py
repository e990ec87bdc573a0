"""Shared by the examples: the command line, the picture file, and line styles."""

from __future__ import annotations

import argparse
import sys
import warnings
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from skliftpriv.exceptions import SeededReleaseWarning

# Okabe and Ito's colours, which colour-blind readers can distinguish; markers and dashes help.
BLUE, VERMILLION, GREEN, ORANGE = "#0072B2", "#D55E00", "#009E73", "#E69F00"
PURPLE, SKY, GREY = "#CC79A7", "#56B4E9", "#6f6f6f"
_COLOURS = (BLUE, VERMILLION, GREEN, ORANGE, PURPLE, SKY)
_MARKERS = "osD^vP"
_DASHES: tuple[Any, ...] = ("-", (0, (5, 2)), (0, (2, 1.5)), (0, (6, 2, 1.5, 2)))


def line_style(i: int) -> dict[str, Any]:
    """Colour, marker and dashes of the i-th line."""
    return {
        "color": _COLOURS[i % len(_COLOURS)],
        "marker": _MARKERS[i % len(_MARKERS)],
        "linestyle": _DASHES[i % len(_DASHES)],
        "markersize": 5.5,
        "linewidth": 1.6,
    }


def tidy(ax: Axes) -> None:
    """Add a light grid and remove the upper and right spines."""
    ax.grid(alpha=0.25, linewidth=0.6)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)


def epsilon_axis(ax: Axes, epsilons: list[float]) -> None:
    """Make the x axis logarithmic, with a tick at each epsilon."""
    ax.set_xscale("log")
    ax.set_xticks(epsilons, labels=[f"{epsilon:g}" for epsilon in epsilons])
    ax.minorticks_off()


def output_folder() -> Path:
    """Read ``--output`` from the command line."""
    parser = argparse.ArgumentParser(
        description=sys.modules["__main__"].__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    default = Path(__file__).parent / "output"
    parser.add_argument("--output", type=Path, default=default, help="folder for the picture")
    return parser.parse_args().output


def save(figure: Figure) -> None:
    """Write the picture of an example to the folder given by ``--output``, under its name.

    The gallery of the site, which runs examples without a file, takes the picture by itself.
    """
    if not hasattr(sys.modules["__main__"], "__file__"):
        return
    OUTPUT.mkdir(parents=True, exist_ok=True)
    path = OUTPUT / f"{Path(sys.argv[0]).stem}.png"
    figure.savefig(path, dpi=130)
    print(f"\nThe picture is in {path}")


OUTPUT = output_folder()
# The examples publish nothing; seeds make their pictures reproducible.
warnings.simplefilter("ignore", SeededReleaseWarning)
