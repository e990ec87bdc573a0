"""Imports go downward only. The table of rooms below is docs/architecture.md as code."""

import ast
import shutil
import sys
from functools import cache
from pathlib import Path

import pytest

import skliftpriv

PACKAGE = Path(skliftpriv.__file__).parent

# Floors from the bottom up; a module belongs to the room that its file or folder is named after.
FLOORS = [
    ["exceptions", "_start"],
    ["_arrays", "_format", "_lattice", "_limits", "_progress", "secret"],
    ["labels"],
    ["distribution", "channel", "_independence"],
    ["measures"],
    ["notions"],
    ["confidence"],
    ["certificate", "sampling"],
    ["report", "frequencies"],
    ["solvers"],
    ["mechanisms"],
    # ---- the line: below it only the libraries of CORE_LIBRARIES
    ["frames", "datasets"],
    ["cells"],
    ["estimators"],
    ["files"],
    ["metrics", "model_selection"],
    ["views"],
    ["plotting", "html", "cli"],
    ["__init__"],
    ["__main__"],
]
LAST_CORE_ROOM = "mechanisms"
CORE_LIBRARIES = {"numpy", "scipy", "highspy", "cdd"}
# Rooms on one floor do not know each other, except for these (importer, imported).
NEIGHBOURS = {
    ("sampling", "certificate"),
    ("model_selection", "metrics"),
    ("cli", "plotting"),
    ("cli", "html"),
}
# Libraries that one place only may import: a path inside the package, or the start of one.
ONLY_IN = {
    "cdd": "solvers/_vertices.py",
    "highspy": "solvers/",
    "matplotlib": "plotting/_matplotlib.py",
}

FLOOR_OF = {room: number for number, rooms in enumerate(FLOORS) for room in rooms}
LINE = FLOOR_OF[LAST_CORE_ROOM]


def check_layers(package):
    """Return what is wrong with the imports of the package in this folder, one line each."""
    problems = []
    for path in sorted(package.rglob("*.py")):
        place = path.relative_to(package)
        room = room_of(place.with_suffix("").parts)
        if room not in FLOOR_OF:
            problems.append(
                f"{place}: the room {room!r} is unknown; give it one in FLOORS of {__name__}"
            )
            continue
        for line, target in imports(path, package):
            complaint = complain(place, room, target, package.name)
            if complaint:
                problems.append(f"{place}:{line}: {complaint}")
        if FLOOR_OF[room] > FLOOR_OF["estimators"]:
            problems.extend(f"{place}:{line}: uses {name}" for line, name in private_names(path))
    return problems


def complain(place, room, target, package_name):
    top, *rest = target
    if top == package_name:
        other = rest[0] if rest else "__init__"
        if other not in FLOOR_OF:
            return f"imports the unknown room {other!r}; give it one in FLOORS"
        if other == room or (room, other) in NEIGHBOURS:
            return None
        if FLOOR_OF[other] == FLOOR_OF[room]:
            return f"{room} imports {other} on its own floor"
        if FLOOR_OF[other] > FLOOR_OF[room]:
            return f"{room} imports {other} above it"
        if FLOOR_OF[room] > LINE and any(part.startswith("_") for part in rest[1:]):
            return f"imports {'.'.join(rest)}, which is private to {other}"
        return None
    if top in sys.stdlib_module_names:
        return None
    if FLOOR_OF[room] <= LINE and top not in CORE_LIBRARIES:
        return f"{room} lies below the line and imports {top}"
    if top in ONLY_IN and not place.as_posix().startswith(ONLY_IN[top]):
        return f"imports {top}, which only {ONLY_IN[top]} may"
    return None


def room_of(parts):
    return parts[0]


def imports(path, package):
    """Yield (line, dotted name as a tuple) of every import in a file, lazy ones too."""
    here = (package.name, *path.relative_to(package).parent.parts)
    for node in nodes(path.read_text(encoding="utf-8")):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, tuple(alias.name.split("."))
        elif isinstance(node, ast.ImportFrom):
            base = here[: len(here) - node.level + 1] if node.level else ()
            base += tuple(node.module.split(".")) if node.module else ()
            for alias in node.names:
                # "from . import measures" names a module; "from . import __version__" does not.
                whole = is_module(package, (*base, alias.name))
                yield node.lineno, (*base, alias.name) if whole else base
        elif isinstance(node, ast.Call) and called_name(node) in {"import_module", "__import__"}:
            argument = node.args[0] if node.args else None
            if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
                name = argument.value
                absolute = f"{package.name}{name}" if name.startswith(".") else name
                yield node.lineno, tuple(part for part in absolute.split(".") if part)


@cache  # most files are read many times below
def nodes(code):
    return [
        node
        for node in ast.walk(ast.parse(code))
        if isinstance(node, ast.Import | ast.ImportFrom | ast.Call | ast.Attribute)
    ]


def private_names(path):
    """Yield (line, expression) of every private attribute of something else than self."""
    for node in nodes(path.read_text(encoding="utf-8")):
        if isinstance(node, ast.Attribute) and node.attr.startswith("_"):
            own = isinstance(node.value, ast.Name) and node.value.id in {"self", "cls"}
            if not own and not node.attr.startswith("__"):
                yield node.lineno, ast.unparse(node)


def is_module(package, parts):
    if parts[:1] != (package.name,):
        return False
    path = package.joinpath(*parts[1:])
    return path.is_dir() or path.with_suffix(".py").is_file()


def called_name(node):
    return getattr(node.func, "attr", getattr(node.func, "id", None))


def test_imports_of_the_package_go_downward():
    problems = check_layers(PACKAGE)
    assert not problems, "\n".join(problems)


def test_every_room_is_on_one_floor_only():
    rooms = [room for floor in FLOORS for room in floor]
    assert len(rooms) == len(set(rooms))


# ---- the rule itself is tested: each offence must be found in a copy that was clean


@pytest.fixture
def copy(tmp_path):
    target = tmp_path / PACKAGE.name
    shutil.copytree(PACKAGE, target, ignore=shutil.ignore_patterns("__pycache__", "data"))
    return target


@pytest.mark.parametrize(
    ("file", "code", "complaint"),
    [
        ("measures/_lift.py", "from ..notions import LIP", "measures imports notions above"),
        ("measures/_lift.py", "from .. import notions", "measures imports notions above"),
        ("measures/_lift.py", "import skliftpriv.notions", "measures imports notions above"),
        ("measures/_lift.py", "from skliftpriv import notions", "measures imports notions above"),
        ("measures/_lift.py", "def f():\n    from ..notions import LIP", "imports notions above"),
        ("measures/_lift.py", "if 0:\n    import skliftpriv.notions as n", "imports notions above"),
        ("measures/_lift.py", "from .. import __version__", "measures imports __init__ above"),
        ("measures/_lift.py", "import skliftpriv", "measures imports __init__ above"),
        (
            "measures/_lift.py",
            "from importlib import import_module\nimport_module('skliftpriv.notions')",
            "measures imports notions above",
        ),
        ("distribution.py", "from .channel import Channel", "imports channel on its own floor"),
        ("distribution.py", "from .measures import lift", "distribution imports measures above"),
        ("notions/_base.py", "import pandas as pd", "lies below the line and imports pandas"),
        ("notions/_base.py", "from sklearn.base import clone", "below the line and imports skl"),
        ("notions/_base.py", "def f():\n    import narwhals", "below the line and imports narwha"),
        ("notions/_base.py", "import cdd", r"imports cdd, which only solvers/_vertices\.py may"),
        ("solvers/_pricing.py", "import cdd", r"imports cdd, which only solvers/_vertices\.py may"),
        ("mechanisms/new.py", "import highspy", "imports highspy, which only solvers/ may"),
        ("datasets/new.py", "import highspy", "imports highspy, which only solvers/ may"),
        ("mechanisms/new.py", "from ..estimators import X", "mechanisms imports estimators above"),
        ("cli/new.py", "from ..metrics._audit import x", r"metrics\._audit, which is private"),
        ("cli/new.py", "from ..metrics import _audit", r"metrics\._audit, which is private"),
        ("estimators/new.py", "from ..frames._table import x", r"frames\._table, which is priv"),
        ("metrics/new.py", "x = sanitizer._layout", r"uses sanitizer\._layout"),
        ("model_selection/new.py", "sanitizer._fit(1)", r"uses sanitizer\._fit"),
        ("__init__.py", "from . import __main__", "__init__ imports __main__ above it"),
        ("novelty.py", "", "the room 'novelty' is unknown; give it one in FLOORS"),
        ("novelty/inner.py", "", "the room 'novelty' is unknown; give it one in FLOORS"),
    ],
)
def test_an_offence_is_found(copy, file, code, complaint):
    before = check_layers(copy)
    path = copy / file
    path.parent.mkdir(exist_ok=True)
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    path.write_text(f"{text}\n{code}\n", encoding="utf-8")
    new = [problem for problem in check_layers(copy) if problem not in before]
    assert len(new) == 1
    assert new[0].startswith(file)
    with pytest.raises(AssertionError, match=complaint):
        raise AssertionError(new[0])


@pytest.mark.parametrize(
    ("file", "code"),
    [
        ("solvers/_vertices.py", "def f():\n    import cdd"),
        ("solvers/_pricing.py", "import highspy"),
        ("sampling.py", "from .certificate import x"),
        ("measures/_lift.py", "from ._average import entropy"),
        ("notions/_base.py", "import fractions, scipy.special\nfrom ..measures import lift"),
        ("datasets/new.py", "import pandas\nfrom ..mechanisms import watchdog"),
        ("metrics/new.py", "from ._audit import x\nself._layout\nx.__name__"),
        ("cli/new.py", "from .._format import number"),
    ],
)
def test_what_is_allowed_is_not_reported(copy, file, code):
    before = check_layers(copy)
    path = copy / file
    path.parent.mkdir(exist_ok=True)
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    path.write_text(f"{text}\n{code}\n", encoding="utf-8")
    assert check_layers(copy) == before
