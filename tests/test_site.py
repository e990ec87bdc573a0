"""The documentation site builds without a warning, is complete, and no link in it is dead."""

import importlib
import os
import pkgutil
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from types import UnionType
from urllib.parse import unquote, urlsplit

import pytest

ROOT = Path(__file__).parents[1]
DOCS, EXAMPLES = ROOT / "docs", ROOT / "examples"
PACKAGE = "skliftpriv"
ROOMS = [module.name for module in pkgutil.iter_modules([ROOT / PACKAGE])]
MODULES = [PACKAGE, *(f"{PACKAGE}.{room}" for room in ROOMS if not room.startswith("_"))]
NEEDED = ("furo", "latex2mathml", "myst_parser", "numpydoc", "sphinx", "sphinx_gallery")

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Build the site from a copy, so that nothing is written into the tree."""
    for name in NEEDED:
        pytest.importorskip(name, reason=f'{name} is not installed; pip install ".[docs]"')
    folder = tmp_path_factory.mktemp("site")
    source, target = folder / "docs", folder / "html"
    shutil.copytree(DOCS, source, ignore=shutil.ignore_patterns("_build", "gallery"))
    shutil.copytree(EXAMPLES, folder / "examples", ignore=shutil.ignore_patterns("output"))
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html"]
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    done = subprocess.run(
        [*command, source, target],
        env={**os.environ, "MPLBACKEND": "Agg", "PYTHONPATH": os.pathsep.join(paths)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return target


class _Page(HTMLParser):
    """What a page links to, and what can be linked to in it."""

    def __init__(self, path):
        super().__init__()
        self.links, self.anchors, self.formulas = [], set(), 0
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.anchors.update(filter(None, [attributes.get("id"), attributes.get("name")]))
        self.formulas += tag == "math"
        name = {"a": "href", "img": "src", "script": "src", "link": "href"}.get(tag)
        if attributes.get(name):
            self.links.append(attributes[name])


@pytest.fixture(scope="module")
def pages(site):
    return {path.resolve(): _Page(path) for path in sorted(site.rglob("*.html"))}


def test_every_source_has_a_page(site):
    sources = [*DOCS.glob("*.md"), *DOCS.glob("reference/*.rst")]
    names = {path.relative_to(DOCS).with_suffix(".html") for path in sources}
    assert len(names) > 20
    assert not [name for name in names if not (site / name).is_file()]


def test_every_page_is_in_the_navigation(site, pages):
    home = pages[(site / "index.html").resolve()]
    listed = {unquote(urlsplit(link).path) for link in home.links}
    assert {path.with_suffix(".html").name for path in DOCS.glob("*.md")} <= listed | {"index.html"}


def test_every_internal_link_leads_somewhere(site, pages):
    dead = []
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not target.is_file():
                dead.append(f"{path.name}: {link}")
            elif parts.fragment and target in pages:
                known = pages[target].anchors
                if unquote(parts.fragment) not in known and parts.fragment not in ("", "#"):
                    dead.append(f"{path.name}: {link}")
    assert not dead


def test_no_page_loads_anything_from_the_network(site):
    for path in site.rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        parts = [*text.split("<script")[1:], *text.split("<link")[1:], *text.split("<img")[1:]]
        loaded = [part.split(">")[0] for part in parts]
        assert not [part for part in loaded if "//" in part and "w3.org" not in part], path.name


def test_the_architecture_page_lists_every_room():
    page = (DOCS / "architecture.md").read_text(encoding="utf-8")
    assert not [room for room in ROOMS if f"`{room}`" not in page and f"`{room}/`" not in page]


EXECUTED = sorted(path.stem for path in EXAMPLES.glob("[!_]*.py"))
SHOWN = sorted(f"papers/{path.stem}" for path in EXAMPLES.glob("papers/[!_]*.py"))


def test_the_gallery_shows_every_example_by_a_picture(site, pages):
    gallery = (site / "gallery" / "index.html").resolve()
    pictures = [Path(link).stem for link in pages[gallery].links if link.endswith(".png")]
    names = [name.rpartition("/")[2] for name in (*EXECUTED, *SHOWN)]
    assert sorted(pictures) == sorted(f"sphx_glr_{name}_thumb" for name in names)
    links = {urlsplit(link).path for link in pages[gallery].links}
    assert {f"{name}.html" for name in (*EXECUTED, *SHOWN)} <= links


@pytest.mark.parametrize("name", [*EXECUTED, *SHOWN])
def test_the_page_of_an_example_has_its_picture(site, pages, name):
    page = (site / "gallery" / f"{name}.html").resolve()
    images = [link for link in pages[page].links if link.endswith(".png")]
    assert len(images) == 1
    assert (page.parent / images[0]).stat().st_size > 10_000
    printed = "sphx-glr-script-out" in page.read_text(encoding="utf-8")
    assert printed == (name in EXECUTED)


def test_formulas_are_written_out(site, pages):
    assert pages[(site / "guide-random-response.html").resolve()].formulas > 10
    for path in site.rglob("guide-*.html"):
        assert "$$" not in path.read_text(encoding="utf-8"), path.name


@pytest.fixture(scope="module")
def inventory(site):
    """Names in the reference, by kind."""
    reader = importlib.import_module("sphinx.util.inventory").InventoryFile
    with (site / "objects.inv").open("rb") as stream:
        return reader.load(stream, "", lambda base, name: name)


def test_every_public_module_is_in_the_reference(inventory):
    assert len(MODULES) > 15
    assert set(MODULES) <= set(inventory["py:module"])


@pytest.mark.parametrize("module", MODULES)
def test_every_public_name_is_in_the_reference(inventory, module):
    kinds = ("py:class", "py:function", "py:exception", "py:data")
    objects = {id(_resolve(name)) for kind in kinds for name in inventory[kind]}
    public = importlib.import_module(module)
    missing = [
        name
        for name in public.__all__
        if not name.startswith("__")
        and not isinstance(getattr(public, name), type(sys) | int | UnionType)
        and id(getattr(public, name)) not in objects
    ]
    assert not missing


def _resolve(name):
    """Return the object with this dotted name."""
    parts = name.split(".")
    for end in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:end]))
        except ImportError:
            continue
        for part in parts[end:]:
            found = getattr(found, part)
        return found
    raise AssertionError(name)
