"""``skliftpriv demo``: the embedded Adult table, before and after."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..datasets import load_adult
from ..estimators import SubsetMergingSanitizer
from ..html import report_page
from ._console import Console
from ._errors import safe_text
from ._outputs import OutputFiles
from ._releasing import fitted_facts

__all__ = ["add_demo", "run_demo"]

_TABLE, _PAGE = "adult_sanitised.csv", "report.html"


def add_demo(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument(
        "--output",
        "-o",
        metavar="DIR",
        help=f"folder for {_PAGE} and {_TABLE}, created if needed; by default nothing is written",
    )


def run_demo(args: argparse.Namespace, console: Console) -> int:
    """Protect relationship in a release of occupation, and report what that costs."""
    adult = load_adult()[["relationship", "occupation"]]
    sanitizer = SubsetMergingSanitizer("relationship", "occupation", notion="lip", epsilon=0.5)
    released = sanitizer.fit_transform(adult)
    lines = [
        f"Adult census table: {len(adult):,} rows.",
        "Sensitive: relationship. Useful: occupation. Mechanism: subset merging.\n",
        "The first rows, before and after:",
    ]
    for before, after in zip(adult["occupation"][:5], released["occupation"][:5], strict=True):
        lines.append(f"  {before:<18} -> {after}")
    lines.append(f"\n{sanitizer.report_}\n\n{sanitizer.guarantee_}")
    written: list[str] = []
    if args.output is not None:
        folder = Path(args.output)
        folder.mkdir(parents=True, exist_ok=True)
        with OutputFiles() as files:
            released.to_csv(files.place(folder / _TABLE), index=False)
            page = report_page(sanitizer, title="Adult: occupation without relationship")
            files.place(folder / _PAGE).write_text(page, encoding="utf-8")
        written = [str(folder / name) for name in (_PAGE, _TABLE)]
        lines.append(f"\nWritten: {safe_text(', '.join(written))}")
    facts = {"rows": len(adult), "written": written, **fitted_facts(sanitizer)}
    console.tell("\n".join(lines), facts)
    return 0
