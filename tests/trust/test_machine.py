"""Any order of calls with any tables: what is released is certified, and errors say what is wrong.

Invariants: a fitted sanitiser holds integers whose certificate is exact; outputs are those of the
channel; a failed call leaves a sanitiser as it was; errors are those of the package, or raised on
purpose, with a message; the secret is nowhere.
"""

import linecache
import pickle
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from sklearn.base import clone

from skliftpriv import (
    ConditionalReporting,
    GRRSanitizer,
    ORRSanitizer,
    OUESanitizer,
    Secret,
    SubsetMergingSanitizer,
    WatchdogSanitizer,
    load,
    save,
)
from skliftpriv.exceptions import SavedFileError, SkliftprivError
from skliftpriv.html import report_page
from skliftpriv.mechanisms import UnaryResult, recertified, unary_recertified

from .frames import KINDS, POOLS, SIZES, make_table

KEY = b"5ec2e7f00dc0ffee5ec2e7f00dc0ffee"
DIGEST = bytes(Secret(KEY)._digest)
GOOD = {"kind": "pandas", "size": 40, "s_pool": "text", "x_pool": "small integers", "seed": 0}
SANITIZERS = [
    (GRRSanitizer, {}),
    (GRRSanitizer, {"record_id": "id", "secret": KEY}),
    (GRRSanitizer, {"groups": "id", "secret": KEY, "handle_unknown": "resample"}),
    (WatchdogSanitizer, {"randomization": "uniform", "record_id": "id", "secret": KEY}),
    (WatchdogSanitizer, {"min_count": 3, "confidence": 0.9}),
    (SubsetMergingSanitizer, {"remainder": "passthrough"}),
    (SubsetMergingSanitizer, {"categories": {"x": ["a", "b", "c", "d", 0, 1, 2, 3, None]}}),
    (ORRSanitizer, {"time_limit": 0.2, "record_id": "id", "secret": KEY}),
    (OUESanitizer, {"confidence": 0.9}),
    (OUESanitizer, {"record_id": "id", "secret": KEY, "handle_unknown": "resample"}),
    (ConditionalReporting, {}),
]
#: Values of parameters, some of which are wrong.
PARAMETERS = [
    ("epsilon", 0.5), ("epsilon", 0.0), ("epsilon", -1.0), ("epsilon", float("nan")),
    ("epsilon", (0.1, 0.9)), ("epsilon", "a"), ("epsilon", 1e300), ("notion", "ldp"),
    ("notion", "alip"), ("notion", "chi2"), ("notion", "no"), ("output", "code"),
    ("output", "posterior"), ("output", "no"), ("smoothing", 0.5), ("smoothing", -1),
    ("useful", ["x"]), ("useful", "no"), ("useful", ["x", "x"]), ("sensitive", "x"),
    ("sensitive", 0), ("useful", 1), ("random_state", 0), ("random_state", "a"),
    ("secret", KEY[::-1]), ("secret", b"short"), ("secret", KEY.decode()), ("secret", None),
    ("record_id", "no"), ("record_id", None), ("handle_unknown", "resample"), ("index", "drop"),
    ("remainder", "passthrough"), ("min_count", 2), ("min_count", 0), ("confidence", 0.9),
    ("confidence", 2), ("no_such_parameter", 1),
]  # fmt: skip

tables = st.fixed_dictionaries(
    {
        "kind": st.sampled_from(KINDS),
        "size": st.sampled_from(SIZES),
        "s_pool": st.sampled_from(list(POOLS)),
        "x_pool": st.sampled_from(list(POOLS)),
        "seed": st.integers(0, 5),
    }
)
#: Half of the tables are fine, so that there is something to release.
any_table = st.one_of(
    tables,
    st.fixed_dictionaries({}, optional={"seed": st.integers(0, 5)}).map(lambda part: GOOD | part),
    st.sampled_from(list(POOLS)).map(lambda pool: GOOD | {"x_pool": pool}),
    st.sampled_from(KINDS).map(lambda kind: GOOD | {"kind": kind}),
)


def on_purpose(error):
    """Tell whether an error was raised for the caller to read."""
    if isinstance(error, SkliftprivError):
        return True
    trace = error.__traceback__
    while trace.tb_next is not None:
        trace = trace.tb_next
    code = trace.tb_frame.f_code.co_filename
    line = linecache.getline(code, trace.tb_lineno).strip()
    known = any(f"{name}/" in code.replace("\\", "/") for name in ("skliftpriv", "sklearn"))
    return isinstance(error, ValueError | TypeError) and known and line.startswith("raise")


def outcome(call):
    """Return what a call returns, and what it raises."""
    try:
        return call(), None
    except Exception as error:
        return None, error


def state(sanitizer):
    return dict(vars(sanitizer))


class Machine(RuleBasedStateMachine):
    """A sanitiser, and what became of it."""

    def __init__(self):
        super().__init__()
        self.sanitizer = None
        self.said = []

    @initialize(number=st.integers(0, len(SANITIZERS) - 1))
    def start(self, number):
        kind, options = SANITIZERS[number]
        self.sanitizer = kind("s", "x", epsilon=1.5, **options)

    def attempt(self, call):
        """Call; return the result, or None after an error that is clear and changed nothing."""
        before = state(self.sanitizer)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            result, raised = outcome(call)
        self.said += [str(warning.message) for warning in caught]
        if raised is not None:
            self.said.append(str(raised))
            assert on_purpose(raised), f"{type(raised).__name__}: {raised}"
            assert len(str(raised)) > 10
            now = state(self.sanitizer)
            assert now.keys() == before.keys()
            assert all(now[name] is value for name, value in before.items())
        return result

    @rule(table=any_table, batch=st.booleans())
    def fit(self, table, batch):
        table = make_table(**table)
        if table is not None:
            method = self.sanitizer.partial_fit if batch else self.sanitizer.fit
            self.attempt(lambda: method(table))

    @rule(table=any_table)
    def transform(self, table):
        table = make_table(**table)
        if table is None:
            return
        released = self.attempt(lambda: self.sanitizer.transform(table))
        if released is not None:
            assert len(released) == len(table)
            drawn = self.attempt(lambda: self.sanitizer.sample_outputs(table))
            self.check_outputs(drawn, released)

    def check_outputs(self, drawn, released):
        """Outputs belong to the channel, and keyed ones are the same at the second call."""
        if isinstance(self.sanitizer.result_, UnaryResult):
            assert np.isin(drawn, (0, 1)).all()
            return
        outputs = self.sanitizer.channel_.outputs
        assert ((drawn >= 0) & (drawn < len(outputs))).all()
        if self.sanitizer.output == "label" and isinstance(released, pd.DataFrame):
            column = released.iloc[:, 0].tolist()
            texts = {str(label) for label in outputs}
            assert all(str(v) in texts or not isinstance(v, str) for v in column)
            if self.sanitizer.secret is not None:
                named = [outputs[i] for i in drawn]
                assert all(v == n for v, n in zip(column, named, strict=True) if type(n) is str)

    @rule(change=st.sampled_from(PARAMETERS))
    def set_params(self, change):
        name, value = change
        before = self.sanitizer.get_params()
        if self.attempt(lambda: self.sanitizer.set_params(**{name: value})) is None:
            return
        # Most changes are undone, so that not everything ends with a wrong parameter.
        if name not in ("output", "random_state", "index"):
            self.attempt(lambda: self.sanitizer.fit(make_table(**GOOD)))
            if name in before:
                self.sanitizer.set_params(**{name: before[name]})

    @rule(signed=st.booleans(), joint=st.booleans())
    def save_and_load(self, signed, joint):
        with tempfile.TemporaryDirectory() as folder:
            path, key = Path(folder) / "mechanism.json", KEY if signed else None
            args = {"key": key, "include_joint": joint}
            self.attempt(lambda: save(self.sanitizer, path, **args) or True)
            if not path.exists():
                return
            self.said.append(path.read_bytes().decode())
            try:
                loaded = load(path, key=key)
            except SavedFileError as error:
                raise AssertionError("a file that was saved is not loaded") from error
            for file in Path(folder).iterdir():
                assert file == path
        self.check_loaded(loaded)

    def check_loaded(self, loaded):
        sanitizer = self.sanitizer
        assert loaded.channel_ == sanitizer.channel_
        assert loaded.report_.satisfied == sanitizer.report_.satisfied
        self.said.append(repr(loaded) + str(loaded.get_params()))
        if getattr(sanitizer, "secret", None) is None or sanitizer.secret is KEY.decode():
            return
        loaded.set_params(secret=sanitizer.secret)
        table = make_table(**GOOD)
        released = self.attempt(lambda: sanitizer.transform(table))
        if released is not None:
            loaded.set_params(output=sanitizer.output, index=sanitizer.index)
            pd.testing.assert_frame_equal(loaded.transform(table), released)

    @rule()
    def copy(self):
        self.said.append(repr(clone(self.sanitizer)))
        self.sanitizer = pickle.loads(pickle.dumps(self.sanitizer))

    @invariant()
    def what_is_sampled_is_certified(self):
        result = getattr(self.sanitizer, "result_", None)
        if result is None or getattr(self, "certified", None) is result:
            return
        self.certified = result
        if isinstance(result, UnaryResult):
            noise = result.noise_weight
            found = unary_recertified(result.joint, result.notion, noise, over=result.over)
        else:
            weights = result.certified.weights
            outputs, sees = result.channel.outputs, result.sees_sensitive
            outputs = getattr(result, "conditional", result.channel).outputs if sees else outputs
            again = recertified(
                result.joint, result.notion, weights, outputs, over=result.over, sees_sensitive=sees
            )
            found = again.satisfied
        assert found == self.sanitizer.report_.satisfied
        assert found or "not" in self.sanitizer.guarantee_.claim.lower()
        self.said.append(report_page(self.sanitizer) + str(self.sanitizer.guarantee_))

    @invariant()
    def the_secret_is_nowhere(self):
        if self.sanitizer is None:
            return
        text = self.sanitizer.secret if isinstance(self.sanitizer.secret, str) else ""
        if text != KEY.decode():  # not a secret, as text is the name of a file
            self.said += [repr(self.sanitizer), str(self.sanitizer.get_params())]
        for form in (KEY.decode(), KEY.hex(), repr(DIGEST)[2:-1], DIGEST.hex()):
            assert not any(form in said for said in self.said)
        self.said.clear()


# To shrink an example takes minutes; it is short anyway.
PHASES = [Phase.explicit, Phase.reuse, Phase.generate]
QUIET = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]
TestFew = Machine.TestCase
TestFew.settings = settings(
    max_examples=12, stateful_step_count=8, suppress_health_check=QUIET, phases=PHASES
)


@pytest.mark.slow
class TestMany(Machine.TestCase):
    """The same with more examples."""

    settings = settings(
        max_examples=120, stateful_step_count=12, suppress_health_check=QUIET, phases=PHASES
    )
