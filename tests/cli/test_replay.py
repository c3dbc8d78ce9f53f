"""`remit replay`: the ledger's calls under a policy that is not in force yet; `remit activate` shows the same."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.cli.living_kit import FREE, Team

TASK = "id: TASK-12\nagent: dev\ngoal: docs\ngrants: [{write: {path: 'notes/**'}}]\nexpires: 2099-01-01\n"
NARROW = FREE.replace('{write: {path: "src/**"}}', '{write: {path: "src/*.py"}}')
WIDE = FREE.replace('{write: {path: "src/**"}}', "write").replace('    must_ask: [{write: {path: "docs/**"}}]\n', "")


@pytest.fixture
def worked(free: Team) -> Team:
    """Calls that were allowed, asked about and denied, with a task and without."""
    free.new(TASK)
    assert free.call("write", file="src/a.py", text="x") == "None"
    assert free.call("write", file="src/deep/b.py", text="x") == "None"
    assert free.call("write", file="src/deep/c.py", text="x") == "None"
    assert free.call("write", "TASK-12", file="notes/a", text="x") == "None"
    assert free.call("write", file="docs/a.md", text="x") == "must-ask"
    assert free.call("write", file="elsewhere/a", text="x") == "not-permitted"
    assert free.call("read", file="src/a.py") == "text"
    assert free("capsule", "end", "TASK-12", "--yes").code == 0
    return free


def turns(found: dict[str, Any]) -> list[tuple[str, str, str, str, int]]:
    return [(one["agent"], one["tool"], one["was"], one["now"], one["times"]) for one in found["changes"]]


def test_nothing_changes_under_what_is_in_force(worked: Team) -> None:
    ran = worked("replay")
    assert ran.code == 0
    assert "✅ replayed 7 calls since 30d: nothing would change\n" in ran.out
    assert worked("replay", "--json").json["changes"] == []


def test_a_narrower_policy_denies_what_was_done(worked: Team) -> None:
    worked.write("remit.yaml", NARROW)
    ran = worked("replay", "--json")
    assert (ran.code, turns(ran.json)) == (0, [("dev", "write", "allow", "deny", 2)])
    [change] = ran.json["changes"]
    assert change["code"] == "not-permitted"
    assert change["examples"] == ["text: x; file: src/deep/c.py", "text: x; file: src/deep/b.py"]
    assert worked("replay", "--fail-on", "deny").code == 3
    assert worked("replay", "--agent", "lead", "--fail-on", "ask").code == 0
    text = worked("replay").out
    assert "  allow → deny  dev write, 2 times, last 20" in text
    assert "      e.g. text: x; file: src/deep/c.py\n" in text


def test_a_wider_policy_allows_what_was_not(worked: Team) -> None:
    worked.write("remit.yaml", WIDE)
    found = worked("replay", "--json").json
    assert turns(found) == [("dev", "write", "ask", "allow", 1), ("dev", "write", "deny", "allow", 1)]
    assert worked("replay", "--fail-on", "ask").code == 0


def test_the_tasks_that_ended_since_still_count(worked: Team) -> None:
    worked.write(
        "remit.yaml",
        NARROW.replace("data_tiers: [0, 1]", "data_tiers: [0, 1]\n    may_not: [{write: {path: 'notes/**'}}]"),
    )
    found = worked("replay", "--json").json
    assert turns(found) == [("dev", "write", "allow", "deny", 1), ("dev", "write", "allow", "deny", 2)]
    assert {one["code"] for one in found["changes"]} == {"may-not", "not-permitted"}


def test_activate_shows_it_before_it_asks(worked: Team) -> None:
    worked.write("remit.yaml", NARROW)
    dry = worked("activate", "--dry-run")
    assert (
        "replayed 7 calls of the ledger's end: 2 would be decided differently\n  allow → deny  dev write, 2 times"
        in dry.out
    )
    assert worked("activate", "--dry-run", "--json").json["replay"]["calls"] == 7
    ran = worked("activate", "--yes")
    assert (ran.code, "2 would be decided differently" in ran.out) == (0, True)
    assert worked("replay", "--json").json["changes"] == []
    assert "replayed" not in worked("activate", "--yes").out


def test_activate_says_nothing_of_calls_where_there_are_none(free: Team) -> None:
    free.write("remit.yaml", NARROW)
    assert "replayed" not in free("activate", "--dry-run").out


def test_what_was_erased_is_left_out_and_said(worked: Team) -> None:
    lines = worked("ledger", "show", "--type", "intent", "--limit", "0", "--json").out.splitlines()
    assert worked("ledger", "erase", "--seq", str(json.loads(lines[1])["seq"]), "--yes").code == 0
    worked.write("remit.yaml", NARROW)
    found = worked("replay", "--json").json
    assert (found["calls"], found["left_out"]) == (6, 1)
    assert turns(found) == [("dev", "write", "allow", "deny", 1)]
    assert "1 call can't be replayed" in worked("replay").out


def test_the_directory_of_a_call_counts(free: Team) -> None:
    (free.root / "src").mkdir()
    with free.guard() as guard, guard.agent("dev", cwd="src"):
        guard.call("write", {"file": "a.py", "text": "x"})
    assert free("replay", "--json").json["changes"] == []
    free.write("remit.yaml", FREE.replace('{write: {path: "src/**"}}', '{write: {path: "lib/**"}}'))
    assert turns(free("replay", "--json").json) == [("dev", "write", "allow", "deny", 1)]


def test_nothing_is_there_to_replay(team: Team) -> None:
    team.write("remit.yaml", FREE)
    ran = team("replay")
    assert (ran.code, "nothing has been recorded yet" in ran.err) == (2, True)


def test_a_bad_time(worked: Team) -> None:
    assert worked("replay", "--since", "yesterday").code == 2
    assert worked("replay", "--since", "2099-01-01", "--json").json["calls"] == 0


def test_a_policy_that_does_not_load_is_not_replayed(worked: Team) -> None:
    worked.write("remit.yaml", FREE.replace("may: [read]", "may: [raed]"))
    assert worked("replay").code == 1
