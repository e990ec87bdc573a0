"""Every test that the page on the threat model names exists, and is a test."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "threat-model.md").read_text(encoding="utf-8")
NAMED = sorted(set(re.findall(r"`(tests/[\w/]+\.py::\w+)`", PAGE)))


def functions_of(path):
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize("test", NAMED)
def test_a_test_that_the_page_names_exists(test):
    path, _, name = test.partition("::")
    assert name in functions_of(path)


def test_every_promise_names_a_test():
    for title in ("## What is promised", "## What is not promised"):
        section = PAGE.partition(title)[2].partition("\n## ")[0]
        rows = [row for row in section.splitlines() if row.startswith("| ")][1:]
        assert len(rows) > 10
        without = [row for row in rows if "tests/" not in row and "timing.py" not in row]
        # No option of the package is about membership.
        assert all("Membership" in row for row in without)
    for file in re.findall(r"`(examples/[\w/]+\.py)`|python (examples/[\w/]+\.py)", PAGE):
        assert (ROOT / "".join(file)).is_file()
    assert len(NAMED) > 25
