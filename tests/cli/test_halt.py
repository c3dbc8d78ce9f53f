"""`remit halt`, `resume` and `incidents`, as people type them."""

from __future__ import annotations

import json

import pytest

from tests.cli.living_kit import FREE, POLICY, Team

HALTING = "on_violation: {halt: {after: 1}}\n"


@pytest.fixture
def halting(free: Team) -> Team:
    free.write("remit.yaml", FREE + HALTING)
    ran = free("activate", "--yes")
    assert ran.code == 0, ran.err
    return free


def test_a_violation_its_incident_and_what_a_person_does(halting: Team) -> None:
    assert halting("incidents").out == "nobody is halted, and no incident is open\n"
    assert halting.call("read", file="a") == "text"
    assert halting.call("write", file="other/a", text="x") == "not-permitted"
    assert halting.call("read", file="a") == "halted"
    ran = halting("incidents")
    assert ran.code == 1
    lines = ran.out.splitlines()
    assert lines[0].startswith("✋ dev: halted since ")
    assert lines[0].endswith(" by remit (I-1)")
    assert lines[2].split("  ")[2:] == ["dev", "write", "not-permitted", "open"]
    shown = halting("incidents", "show", "I-1")
    assert shown.code == 0
    assert "dev called write: not-permitted (tier 1)" in shown.out
    assert "the call with its arguments: remit ledger show " in shown.out
    seq = shown.out.partition("remit ledger show ")[2].split()[0]
    assert "other/a" in halting("ledger", "show", seq, "--values").out
    assert [line.split("  ")[2] for line in shown.out.splitlines()[-2:]] == ["allow", "deny"]
    done = halting("resume", "dev", "--because", "a typo", "--yes")
    assert done.code == 0
    assert done.out.splitlines()[-1].startswith("✅ dev: resumed, by ")
    assert halting.call("read", file="a") == "text"
    assert halting("incidents", "close", "I-1", "--because", "a typo", "--yes").code == 0
    assert halting("incidents").code == 0
    every = json.loads(halting("incidents", "--all", "--json").out)
    assert [(one["id"], one["state"], one["because"]) for one in every["incidents"]] == [("I-1", "closed", "a typo")]
    assert every["halts"] == []


def test_everybody_an_agent_a_task(free: Team) -> None:
    free.new()
    assert free("halt", "--all", "--because", "stop").code == 0
    assert free.call("read", file="a") == free.call("read", file="a", agent="tester") == "halted"
    assert free("halt", "--all", "--because", "stop").out == "everybody: halted already\n"
    assert free("resume", "--all", "--because", "over", "--yes").code == 0
    assert free("halt", "tester", "--because", "x").code == 0
    assert (free.call("read", file="a"), free.call("read", file="a", agent="tester")) == ("text", "halted")
    assert free("halt", "--capsule", "TASK-12", "--because", "x").code == 0
    assert (free.call("read", "TASK-12", file="src/a"), free.call("read", file="a")) == ("halted", "text")
    assert free("resume", "--capsule", "TASK-12", "--because", "x", "--yes").code == 0
    assert free.call("read", "TASK-12", file="src/a") == "text"


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("halt", "--because", "x"), "say whom"),
        (("halt", "dev", "--all", "--because", "x"), "say whom"),
        (("halt", "dve", "--because", "x"), "unknown agent `dve`; did you mean `dev`?"),
        (("halt", "dev", "--because", " "), "--because: say why"),
        (("halt", "--capsule", "NONE", "--because", "x"), "NONE"),
        (("resume", "dev", "--because", "x", "--yes"), "dev: not halted"),
        (("incidents", "show", "I-7"), "there is no incident `I-7`"),
        (("incidents", "close", "I-7", "--because", "x", "--yes"), "there is no incident `I-7`"),
    ],
)
def test_what_is_wrong_is_said(free: Team, args: tuple[str, ...], words: str) -> None:
    free.call("read", file="a")
    ran = free(*args)
    assert ran.code == 2
    assert words in ran.err


def test_resuming_needs_the_passphrase(team: Team) -> None:
    team.policy(POLICY)
    team.passphrase()
    assert team("halt", "dev", "--because", "stop").code == 0
    ran = team("resume", "dev", "--because", "x", "--yes")
    assert ran.code == 2
    assert "terminal" in ran.err
    assert team.call("read", file="a") == "halted"
    typed = team.type("resume", "dev", "--because", "x", question="passphrase, to resume dev: ")
    assert typed.code == 0
    assert team.call("read", file="a") == "text"


def test_status_says_who_is_halted(free: Team) -> None:
    free.call("read", file="a")
    assert "is halted" not in free("status").out
    free("halt", "dev", "--because", "odd invoices")
    assert " is halted since " in free("status").out
    assert ": odd invoices\n" in free("status").out
