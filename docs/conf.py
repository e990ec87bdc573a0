"""How the documentation is built: ``sphinx-build -W --keep-going -b html docs docs/_build/html``.

The site needs no network: formulas become MathML while it is built, fonts are those of the
system, and figures are drawn by the examples that a reader sees.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from docutils.nodes import SkipNode
from latex2mathml.converter import convert
from numpydoc import xref
from sphinx.application import Sphinx
from sphinx.ext.autodoc import Options

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import skliftpriv  # noqa: E402  # found beside this folder, installed or not

project = "skliftpriv"
author = "the skliftpriv developers"
release = skliftpriv.__version__
copyright = f"2026, {author}"

extensions = [
    "matplotlib.sphinxext.plot_directive",
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build"]
root_doc = "index"
smartquotes = False  # what is quoted is often code

# Pages
myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 3
highlight_language = "python"
pygments_style = "tango"

# Docstrings: classes say what their attributes are, and methods are listed where they are defined.
autosummary_generate = False
autodoc_member_order = "bysource"
autodoc_typehints = "none"
maximum_signature_line_length = 80
numpydoc_show_class_members = False
numpydoc_xref_param_type = True
xref.DEFAULT_LINKS.clear()  # they lead to other sites
numpydoc_xref_ignore = "all"  # but for these, which become links
numpydoc_xref_aliases = {
    **{
        name: f"skliftpriv.{name}"
        for name in skliftpriv.__all__
        if isinstance(getattr(skliftpriv, name), type)
    },
    **{name: f"skliftpriv.mechanisms.{name}" for name in skliftpriv.mechanisms.__all__},
    "Cells": "skliftpriv.cells.Cells",
    "CellsSummary": "skliftpriv.cells.CellsSummary",
    "FrequencyEstimate": "skliftpriv.frequencies.FrequencyEstimate",
    "Guarantee": "skliftpriv.estimators.Guarantee",
    "LeakageSummary": "skliftpriv.report.LeakageSummary",
    "LiftSanitizer": "skliftpriv.estimators.LiftSanitizer",
    "Notion": "skliftpriv.notions.Notion",
    "PrivacyReport": "skliftpriv.report.PrivacyReport",
    "ReleaseView": "skliftpriv.plotting.ReleaseView",
    "AuditReport": "skliftpriv.metrics.AuditReport",
    "ImpliedBounds": "skliftpriv.notions.ImpliedBounds",
    "SRLIP": "skliftpriv.notions.SRLIP",
}
python_use_unqualified_type_names = True

# Figures
plot_html_show_source_link = False
plot_html_show_formats = False
plot_formats = [("svg", 100)]
plot_rcparams = {"svg.fonttype": "path", "savefig.bbox": "tight"}
plot_include_source = True
plot_pre_code = ""

# Examples: those of the first folder run, those of papers/ take minutes and are only shown.
# An example and a benchmark may have the same name: benchmarks are not part of the gallery.
suppress_warnings = ["sphinx_gallery.duplicate_filename"]

sphinx_gallery_conf = {
    "examples_dirs": str(ROOT / "examples"),
    "gallery_dirs": "gallery",
    "filename_pattern": r"examples/\w+\.py$",
    "ignore_pattern": r"(^|/)_",
    "image_scrapers": ("matplotlib",),
    "capture_repr": (),
    "abort_on_example_error": True,
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_signature": False,
    "notebook_extensions": set(),
    "write_computation_times": False,
    "min_reported_time": float("inf"),
    "thumbnail_size": (560, 392),
}

# Looks
html_theme = "furo"
html_title = "skliftpriv"
html_static_path = ["_static"]
html_css_files = ["custom.css"]
html_copy_source = False
html_show_sourcelink = False
html_math_renderer = "mathml"

MATHML = "{http://www.w3.org/1998/Math/MathML}"
ElementTree.register_namespace("", MATHML[1:-1])


def show_inline_math(translator: Any, node: Any) -> None:
    """Write a formula of a line as MathML."""
    translator.body.append(f'<span class="math">{convert(node.astext())}</span>')
    raise SkipNode


def show_block_math(translator: Any, node: Any) -> None:
    """Write a formula that stands by itself as MathML."""
    formula = ElementTree.fromstring(convert(node.astext(), display="block"))
    for script in formula.iter(f"{MATHML}msub"):
        if script[0].text in ("max", "min"):  # what is minimised over stands below
            script.tag = f"{MATHML}munder"
    html = ElementTree.tostring(formula, encoding="unicode")
    translator.body.append(f'<div class="math">{html}</div>\n')
    raise SkipNode


def skip_member(
    app: Sphinx, what: str, name: str, member: Any, skip: bool, options: Options
) -> bool | None:
    """Leave out the methods with which scikit-learn routes metadata: they are its own."""
    return True if name.startswith("set_") and name.endswith("_request") else None


def setup(app: Sphinx) -> dict[str, bool]:
    """Register what is above."""
    app.add_html_math_renderer("mathml", (show_inline_math, None), (show_block_math, None))
    app.connect("autodoc-skip-member", skip_member)
    return {"parallel_read_safe": True}
