"""What the tests of saved files share: fitted sanitisers, and files that were tampered with."""

import copy
import json
import random
from functools import cache

import numpy as np
import pandas as pd
from sklearn.tree import DecisionTreeRegressor

from skliftpriv import ORRSanitizer, OUESanitizer, SubsetMergingSanitizer, WatchdogSanitizer
from skliftpriv.datasets import load_adult
from skliftpriv.files import saved_bytes
from skliftpriv.files._seal import sealed
from tests.estimators.samples import make_frame, make_sanitizers

FRAME = make_frame()
KEY = bytes(range(32))


def mixed_frame(n=400):
    """Two useful columns, numbers with gaps and dates with a zone, beside text."""
    rng = np.random.default_rng(1)
    s = rng.choice(["u", "v"], n, p=[0.4, 0.6])
    age = np.where(s == "u", rng.choice([20, 30], n), rng.choice([30, 40], n))
    days = pd.to_datetime(["2020-01-01", "2020-06-01"])[rng.choice(2, n)].tz_localize("Europe/Rome")
    return pd.DataFrame({"s": s, "age": pd.array(age, dtype="Int16"), "day": days}).assign(
        age=lambda frame: frame["age"].mask(rng.random(n) < 0.1)
    )


@cache
def fitted_samples():
    """Fitted sanitisers of every kind, with what save needs for them."""
    plain = [(one.fit(FRAME), False) for one in make_sanitizers(epsilon=0.5)]
    found = {type(one).__name__: (one, one.needs_sensitive) for one, _ in plain}
    mixed = mixed_frame()
    found["several columns"] = (
        ORRSanitizer("s", ["age", "day"], epsilon=0.3, handle_unknown="resample").fit(mixed),
        False,
    )
    found["confidence"] = (
        WatchdogSanitizer("s", "x", epsilon=1.5, confidence=0.9, smoothing=0.5).fit(FRAME),
        True,
    )
    found["relaxed"] = (
        WatchdogSanitizer("s", "x", epsilon=0.5, delta=0.1, epsilon_max=2.0).fit(FRAME),
        True,
    )
    letters = [*sorted(set(FRAME["x"])), "?"]
    found["lists"] = (ORRSanitizer("s", "x", epsilon=0.5, categories={"x": letters}), False)
    found["lists and confidence"] = (
        WatchdogSanitizer(
            "s",
            "x",
            epsilon=1.5,
            confidence=0.9,
            categories={"x": letters, "s": ["u", "v", "w"]},
            min_count=2,
        ),
        True,
    )
    found["lists and S"] = (
        ORRSanitizer(
            "s", "x", epsilon=0.5, use_sensitive=True, categories={"s": ["u", "v", "w", "t"]}
        ),
        True,
    )
    found["bits and confidence"] = (OUESanitizer("s", "x", epsilon=1.5, confidence=0.9), True)
    for name in [name for name in found if "lists" in name or "bits" in name]:
        found[name][0].fit(FRAME)
    adult = load_adult()[:3000][["sex", "age", "education", "hours-per-week", "income"]]
    tree = DecisionTreeRegressor(max_leaf_nodes=9, min_samples_leaf=30, random_state=0)
    for name, how in (("cells", 10), ("cells of a tree", tree)):
        sanitizer = SubsetMergingSanitizer("sex", ["age", "education"], epsilon=0.5, cells=how)
        found[name] = (sanitizer.fit(adult, adult["income"] == ">50K"), name == "cells")
    return found


def body_of(data):
    """Return the document of a file as plain data, without its seal."""
    document = json.loads(data)
    del document["seal"]
    return document


def resealed(document, key=None):
    """Write a document, whatever it holds, with a seal that is right."""
    sections = {name: json.dumps(part) for name, part in document.items()}
    del sections["format"], sections["version"]
    return sealed(sections, key)


#: Values that are wrong in most places.
STRANGE = [
    None, True, False, 0, 1, -1, 2, 3, 2**31, 2**62, 2**63, 10**40, -(2**62), 0.5, 1e308, 1e-320,
    "", "a", "inf", "nan", "\ud800", "x" * 300, "__class__", "$(touch hacked)", "os.system",
    "../../etc", [], [[]], {}, {"float": "nan"}, {"int": "9" * 5000}, {"tuple": []},
    {"decimal": "1e9999999999"},
    {"datetime": ["2020-01-01", "../../etc/passwd"]}, {"timestamp": [2**62, "s", None]},
    {"tuple": [{"tuple": [{"tuple": [{"tuple": [1]}]}]}]}, {"period": [1, "D"]}, {"bytes": "zz"},
    {"__reduce__": ["os.system", "touch hacked"]}, {"numpy": "O"}, {"name": "lip", "epsilon": -1},
]  # fmt: skip


def places(value, path=()):
    """Yield the path of every value in a document."""
    yield path
    if isinstance(value, dict | list):
        for name, child in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(child, (*path, name))


def tampered(document, rng):
    """Change a document at one to three places."""
    document = copy.deepcopy(document)
    for _ in range(rng.choice([1, 1, 2, 3])):
        path = rng.choice([path for path in places(document) if path])
        parent = document
        for name in path[:-1]:
            parent = parent[name]
        name = path[-1]
        kind = rng.randrange(7)
        value = parent[name]
        if kind == 0:
            del parent[name]
        elif kind == 1 and isinstance(parent, list):
            parent.insert(name, copy.deepcopy(value))
        elif kind == 2 and isinstance(parent, list):
            other = rng.randrange(len(parent))
            parent[name], parent[other] = parent[other], parent[name]
        elif kind == 3 and isinstance(value, int | float):
            parent[name] = value + rng.choice([1, -1, 0.5, 2**40, -value, value])
        elif kind == 4 and isinstance(parent, dict):
            parent[rng.choice(["more", "kind", "name"])] = value
        elif kind == 5 and isinstance(value, str) and value:
            cut = rng.randrange(len(value))
            parent[name] = value[:cut] + rng.choice("az09 é\x00") + value[cut + 1 :]
        else:
            parent[name] = copy.deepcopy(rng.choice(STRANGE))
        if not isinstance(document, dict) or "format" not in document:
            break
    return document


def garbled(data, rng):
    """Change bytes of a file: flip, cut, repeat or move some of them."""
    data = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 5])):
        at, size = rng.randrange(len(data)), rng.choice([1, 1, 2, 8, 40])
        kind = rng.randrange(5)
        if kind == 0:
            data[at] ^= 1 << rng.randrange(8)
        elif kind == 1:
            del data[at : at + size]
        elif kind == 2:
            data[at:at] = data[at : at + size]
        elif kind == 3:
            data[at : at + size] = bytes(rng.randrange(256) for _ in range(size))
        else:
            del data[at:]
        if not data:
            break
    return bytes(data)


@cache
def saved_samples():
    """The bytes of all samples."""
    return {
        name: saved_bytes(sanitizer, include_joint=joint)
        for name, (sanitizer, joint) in fitted_samples().items()
    }


def generator(seed):
    return random.Random(seed)
