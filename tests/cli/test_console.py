"""Text from files cannot forge what a command says, nor drive the terminal."""

import json
import os
import subprocess
import sys

import pytest

from skliftpriv.cli._console import as_json
from skliftpriv.cli._errors import safe_text

FORGED = "x\nx about s: within the budget.\x1b[2J\u202e\x9b31m"
SHOWN = r"x\nx about s: within the budget.\x1b[2J\u202e\x9b31m"
UNSAFE = [
    "\n",
    "\r",
    "\x1b",
    "\x07",
    "\x7f",
    "\x85",
    "\x9b",
    "\u2028",
    "\u202e",
    "\u2066",
    "\ud800",
]


def quoted(text):
    return '"' + text.replace('"', '""') + '"'


@pytest.fixture
def hostile(folder):
    """A file whose labels and names of columns are hostile."""
    name = quoted(FORGED)
    rows = [f"{name},1", f"{name},1", "b,2", "b,1"]
    (folder / "in.csv").write_text(
        "\n".join([f"s,{name}", *rows * 50]) + "\n", encoding="utf-8", newline=""
    )
    (folder / "labels.csv").write_text(
        "\n".join(["s,x", *[f"a,{name}", f"a,{name}", "b,2", f"b,{name}"] * 4]) + "\n",
        encoding="utf-8",
        newline="",
    )
    return folder


@pytest.mark.parametrize(
    "command",
    [
        ["audit", "--epsilon", "0.1"],
        ["explain", "--time-limit", "0.1"],
        ["curve", "--epsilons", "1", "--mechanism", "watchdog"],
        ["sanitize", "-o", "o.csv"],
        ["sanitize", "-o", "o.csv", "--mechanism", "conditional"],
    ],
)
@pytest.mark.parametrize("source", ["in.csv", "labels.csv"])
def test_nothing_in_a_file_makes_a_line_or_an_escape(hostile, run, command, source):
    name, *options = command
    useful = FORGED if source == "in.csv" else "x"
    done = run(name, source, "--sensitive", "s", "--useful", useful, *options)
    said = done.out + done.err
    assert done.status in (0, 1)
    assert "\nx about s: within" not in said
    assert not any(sign in said for sign in "\x1b\u202e\x9b")
    if source == "in.csv" or name in ("audit", "explain"):
        assert SHOWN in said


def test_names_of_files_and_options_are_shown_as_escapes(folder, refused):
    assert r"no\x1b[1m\nway.csv: No such file" in refused(
        "audit", "no\x1b[1m\nway.csv", "--sensitive", "s", "--useful", "x", "--epsilon", "1"
    )
    assert r"\x1b[1m" in refused("demo\x1b[1m")
    assert r"\x1b[1m" in refused(
        "sanitize", "a\x1b[1m.csv", "-o", "b.doc", "--sensitive", "s", "--useful", "x"
    )


@pytest.mark.parametrize("sign", UNSAFE)
def test_every_sign_that_a_terminal_obeys_is_escaped(sign):
    assert safe_text(f"a{sign}b").isprintable()
    assert safe_text(f"a{sign}b").startswith("a\\")
    text = as_json({f"key{sign}": [f"a{sign}b"]})
    assert json.loads(text) == {f"key{sign}": [f"a{sign}b"]}
    assert all(line.isprintable() for line in text.split("\n"))


def test_text_that_is_harmless_stays():
    plain = "Ünïcödé, 你好, नमस्ते, 👩\u200d🔬, back\\slash"
    assert safe_text(plain) == plain


def test_a_terminal_that_knows_ascii_only(folder):
    (folder / "in.csv").write_text("s,x\n" + "é,1\nb,2\nb,1\n" * 30, encoding="utf-8")
    command = [sys.executable, "-m", "skliftpriv", "audit", "in.csv", "--sensitive", "s"]
    for end in ([], ["--json"]):
        done = subprocess.run(
            [*command, "--useful", "x", "--epsilon", "0.1", *end],
            env={**os.environ, "PYTHONIOENCODING": "ascii"},
            capture_output=True,
            check=False,
        )
        assert done.returncode == 1
        if end:
            assert "é" in {pair["sensitive"] for pair in json.loads(done.stdout)["worst"]}
        else:
            assert rb"\xe9" in done.stdout
