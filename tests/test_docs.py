"""Every example that a reader can see runs: docstrings, README.md and docs/*.md."""

import doctest
import importlib
import re
from pathlib import Path

import pytest

import skliftpriv

PACKAGE = Path(skliftpriv.__file__).parent
ROOT = Path(__file__).parents[1]
PAGES = [*ROOT.glob("README.md"), *sorted((ROOT / "docs").glob("*.md"))]
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def modules_with_examples():
    for path in sorted(PACKAGE.rglob("*.py")):
        if ">>> " in path.read_text(encoding="utf-8"):
            parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
            yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def run_page(text, name):
    """Run the examples of a page; a closing fence is no expected output."""
    plain = re.sub(r"^\s*```.*$", "", text, flags=re.MULTILINE)
    test = doctest.DocTestParser().get_doctest(plain, {"__name__": "__main__"}, name, name, 0)
    said = []
    results = doctest.DocTestRunner(optionflags=FLAGS).run(test, out=said.append)
    return results, "".join(said)


@pytest.mark.parametrize("name", list(modules_with_examples()))
def test_examples_of_the_module_run(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    module = importlib.import_module(name)
    results = doctest.testmod(module, optionflags=FLAGS)
    assert results.failed == 0
    assert results.attempted > 0


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_examples_of_the_page_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = page.read_text(encoding="utf-8")
    results, said = run_page(text, page.name)
    assert results.failed == 0, said
    assert results.attempted == len(re.findall(r"^\s*>>> ", text, flags=re.MULTILINE))


def test_a_wrong_example_is_found():
    page = "Sum:\n\n```pycon\n>>> 1 + 1\n{}\n```\n"
    assert run_page(page.format(2), "right")[0].failed == 0
    results, said = run_page(page.format(3), "wrong")
    assert results.failed == 1
    assert "Expected" in said
