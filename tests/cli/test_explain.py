"""explain: every mechanism is tried in its time, or the reason is told."""

import os
from math import nan

import pytest

from skliftpriv.cli import _explain
from skliftpriv.cli._advice import Trial, advise, recommended
from skliftpriv.cli._explain import Patience
from skliftpriv.cli._in_time import InTime, OutOfTime

WHICH = ["--sensitive", "relationship", "--useful", "occupation", "--epsilon", "0.5"]
ALL = {"watchdog", "subset-merging", "orr", "srr", "grr", "oue", "conditional"}


def test_every_mechanism_is_tried(run_json, run, small, here):
    here()
    command = ["explain", small, *WHICH, "--time-limit", "0.05"]
    status, facts = run_json(*command)
    assert status == 0
    assert facts["data"]["rows"] == 2000
    assert facts["data"]["useful_values"] == 15
    tried = {trial["mechanism"]: trial["nmi"] for trial in facts["mechanisms"]}
    assert set(tried) == ALL
    assert tried["srr"] > tried["subset-merging"] > tried["watchdog"]
    assert facts["recommended"] in tried
    done = run(*command)
    assert "Recommended: " in done.out
    assert done.err == ""


def test_another_process_tells_the_same_or_why_not(run_json, small, monkeypatch):
    monkeypatch.setattr(_explain, "_TOTAL", 2.0)
    status, facts = run_json("explain", small, *WHICH, "--useful", "sex")
    assert status == 0
    assert {trial["mechanism"] for trial in facts["mechanisms"]} == {*ALL, "srlip"}
    for trial in facts["mechanisms"]:
        assert (trial["nmi"] is None) == bool(trial["problem"])


def test_what_cannot_be_built_is_told(run, small, here):
    here()
    done = run(
        "explain", small, *WHICH, "--useful", "sex", "--notion", "l1", "--time-limit", "0.05"
    )
    assert done.status == 0
    assert "not supported" in done.out
    assert "srlip" in done.out
    assert "has its own notion, not l1" in done.out


# ---- time


def test_limits_are_passed_on(run, small, here):
    found = here()
    assert run("explain", small, *WHICH, "--time-limit", "0.05").status == 0
    assert {name for name, *_ in found.asked} == ALL
    for name, parameters, seconds in found.asked:
        assert seconds == 0.1
        if name in ("orr", "srr"):
            assert parameters["time_limit"] == 0.05
    *tries, careful = found.asked
    assert careful[1]["confidence"] == 0.95
    assert all(parameters.get("confidence") is None for _, parameters, _ in tries)


def test_all_mechanisms_share_a_total(run, small, here, monkeypatch):
    monkeypatch.setattr(_explain, "_TOTAL", 0.2)
    found = here()
    assert run("explain", small, *WHICH).status == 0
    for name, parameters, seconds in found.asked:
        assert 0 <= seconds <= 0.2
        if name in ("orr", "srr"):
            assert parameters["time_limit"] == max(seconds / 2, 1e-3)


def test_what_is_not_used_is_left_for_the_others():
    patience = Patience(8.0, None, ["grr", "srr", "orr", "oue", "careful"])
    assert patience.share() == 1.0
    patience.took(0.0)
    assert patience.share() == pytest.approx(8 * 2 / 7)
    patience.took(3.0)
    assert patience.share() == 5 * 3 / 5
    patience.took(99.0)
    assert patience.share() == 0.0
    each = Patience(8.0, 60.0, ["grr", "orr"])
    assert each.share() == 120.0
    each.took(1000.0)
    assert each.share() == 120.0


def test_what_took_too_long_is_told(run, small, here):
    here("orr", "conditional")
    done = run("explain", small, *WHICH, "--time-limit", "0.05")
    assert done.status == 0
    assert done.out.count("not built in 0.1 s: increase --time-limit") == 2
    assert "orr, which keeps the most given time, was not built in time" in done.out
    here(*ALL)
    done = run("explain", small, *WHICH, "--time-limit", "0.05")
    assert "No mechanism was built in time: increase --time-limit." in done.out


def test_a_time_limit_must_be_positive(refused, small):
    assert "--time-limit must be positive" in refused("explain", small, *WHICH, "--time-limit", "0")


def forever():
    while True:
        pass


def test_a_call_without_end_is_ended_and_the_next_one_is_made():
    with InTime() as elsewhere:
        other = elsewhere.call(os.getpid, seconds=600)
        assert other != os.getpid()
        assert elsewhere.call(os.getpid, seconds=600) == other
        with pytest.raises(OutOfTime):
            elsewhere.call(forever, seconds=0.01)
        assert elsewhere.call(os.getpid, seconds=600) != other
        assert elsewhere.call(sum, [1, 2], seconds=600) == 3
        with pytest.raises(OutOfTime):  # a process that is ended from outside
            elsewhere.call(os._exit, 1, seconds=600)
        assert elsewhere.call(sum, [1, 2], seconds=600) == 3
        process = elsewhere._process
    assert not process.is_alive()


# ---- advice


FACTS = {"rare_values": []}


def test_merging_is_recommended_where_nothing_keeps_much_more():
    merging, orr = Trial("subset-merging", 0.80, nan, 0.1), Trial("orr", 0.81, 0.0, 0.1)
    assert recommended([merging, orr]) == "subset-merging"
    assert recommended([merging, Trial("orr", 0.83, 0.0, 0.1)]) == "orr"


def test_an_optimum_that_was_stopped_early_is_said_to_be_one():
    merging, stopped = Trial("subset-merging", 0.6, nan, 0.1), Trial("orr", 0.03, 0.9, 0.1)
    assert any(
        "may keep up to 93%" in line for line in advise([merging, stopped], FACTS, False, None)
    )
    done = Trial("orr", 0.61, 0.001, 0.1)
    assert not any("more time" in line for line in advise([merging, done], FACTS, False, None))


def test_a_promise_for_the_true_distribution_that_was_not_tried_is_told():
    merging = Trial("subset-merging", 0.6, nan, 0.1)
    careful = Trial("subset-merging", nan, nan, 1.0, "not built in 1.0 s", out_of_time=True)
    assert "gave no result (not built in 1.0 s)." in advise([merging], FACTS, False, careful)[-1]


@pytest.mark.parametrize(
    ("srlip", "said"),
    [
        (Trial("srlip", 0.3, 0.0, 0.1), True),
        (Trial("srlip", nan, nan, 0.1, "not built", out_of_time=True), True),
        (Trial("srlip", nan, nan, 0.1, "too much"), False),
    ],
)
def test_srlip_is_advised_only_where_it_can_be_built(srlip, said):
    advice = advise([Trial("subset-merging", 0.6, nan, 0.1), srlip], FACTS, True, None)
    assert any("Use srlip" in line for line in advice) is said


def test_the_budget_is_not_blamed_for_what_was_not_built_in_time():
    little = Trial("grr", 0.04, nan, 0.1)
    late = Trial("subset-merging", nan, nan, 0.8, "not built in 0.8 s", out_of_time=True)
    facts = {"rare_values": []}
    blamed = "Almost nothing is kept at this budget"
    assert any(blamed in line for line in advise([little], facts, False, None))
    assert not any(blamed in line for line in advise([little, late], facts, False, None))
