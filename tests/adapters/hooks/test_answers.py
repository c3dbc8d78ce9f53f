"""What Claude Code is told: its own payloads in, through the real process, with a daemon and without."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.adapters.hooks.project import Project
from tests.adapters.hooks.speech import TOY

pytestmark = pytest.mark.sample(2)  # of what runs on each host, with a daemon and without
READ = {"file_path": "README.md"}


def draft(name: str) -> dict[str, str]:
    return {"file_path": name, "content": "x"}


def test_the_main_agent(either: Project):
    question = either.question("Read", READ)
    said = either.run(question)
    assert (said.code, said.answer) == (
        0,
        {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow"}},
    )
    found = either.intent()
    assert (found["agent"], found["tool"], found["decision"], found["chain"]) == ("lead", "Read", "allow", [])
    assert found["call"] == f"{question['session_id']}/{question['tool_use_id']}"
    assert found["point"] == "claude-code"
    assert found["session"] == question["session_id"]


def test_arguments_that_are_null_count_as_absent(either: Project):
    said = either.ask("Read", {**READ, "offset": None, "limit": 3, "pages": None})
    assert said.answer["hookSpecificOutput"]["updatedInput"] == {**READ, "limit": 3}
    either.ask("Read", {"file_path": None}).denied("(mistyped-argument)")


def test_null_needs_a_host_that_can_change_arguments(tmp_path: Path):
    """Otherwise the tool would get what was not judged."""
    project = Project(tmp_path, host=TOY)
    project.ask("Read", {**READ, "limit": None}).denied("(obligation-unsupported)")
    assert project.ask("Read", {**READ, "limit": 3}).decision == "allow"


def test_a_subagent(shared: Project):
    assert shared.ask("Write", draft("research/one.md"), "researcher").decision == "allow"
    found = shared.intent()
    assert (found["agent"], found["chain"]) == ("researcher", ["lead"])
    shared.ask("Write", draft("docs/one.md"), "researcher").denied("(not-permitted)")
    shared.ask("Bash", {"command": "ls"}, "researcher").denied("(not-permitted)")
    assert shared.intent()["decision"] == "deny"


def test_a_session_of_an_agent(either: Project):
    """`--agent researcher`: a type without an id. It was handed its work by nobody."""
    assert either.ask("Read", READ, agent_type="researcher").decision == "allow"
    assert (either.intent()["agent"], either.intent()["chain"]) == ("researcher", [])
    either.ask("Bash", {"command": "ls"}, agent_type="researcher").denied("(not-permitted)")


def test_who_is_nobody(either: Project):
    either.ask("Read", READ, agent_id="a0").denied("agent_type", "(malformed-call)")
    either.ask("Read", READ, agent_type="").denied("(malformed-call)")
    either.ask("Read", READ, agent_type=["lead"]).denied("(malformed-call)")
    either.ask("Read", READ, "general-purpose").denied("(unpinned)")
    either.ask("Read", READ, "unpinned").denied("(unpinned)")
    either.ask("Read", READ, "lead").denied("(unpinned)")


def test_what_it_may_not(shared: Project):
    shared.ask("Write", draft("../x"), "lead").denied()
    shared.ask("NoSuchTool", {}).denied("(unknown-tool)")
    shared.ask("Read", {**READ, "more": 1}).denied("(undeclared-argument)")
    shared.ask("Task", {"description": "d", "prompt": "p", "subagent_type": "Explore"}).denied(
        "(delegation-not-allowed)"
    )
    assert shared.ask("Agent", {"description": "d", "prompt": "p", "subagent_type": "researcher"}).decision == "allow"


def test_a_link_is_resolved_for_the_host(either: Project):
    link = either.root / "linked.md"
    link.unlink(missing_ok=True)
    link.symlink_to("docs/a.md")
    said = either.ask("Edit", {"file_path": "linked.md", "old_string": "A", "new_string": "B"})
    words = said.answer["hookSpecificOutput"]
    assert words["permissionDecision"] == "allow"
    real = str(either.root / "docs" / "a.md")
    assert words["updatedInput"] == {"file_path": real, "old_string": "A", "new_string": "B"}
    elsewhere = either.ask("Read", {"file_path": "../linked.md", "limit": 1}, cwd=str(either.root / "research"))
    assert elsewhere.answer["hookSpecificOutput"]["updatedInput"] == {"file_path": real, "limit": 1}
    either.ask("Write", draft("linked.md"), "asker").denied("(obligation-unsupported)")
    link.unlink()
    link.symlink_to("/etc/passwd")
    either.ask("Read", {"file_path": "linked.md"}).denied("(outside-root)")
    link.unlink()
    link.symlink_to("remit.yaml")
    either.ask("Edit", {"file_path": "linked.md", "old_string": "A", "new_string": "B"}).denied("(protected)")


@pytest.mark.parametrize(
    ("mode", "decision"),
    [
        ("default", "ask"),
        ("acceptEdits", "ask"),
        ("plan", "ask"),
        ("bypassPermissions", "deny"),
        ("dontAsk", "deny"),
        ("auto", "deny"),
        ("new mode", "deny"),
        (None, "deny"),
        (..., "deny"),
    ],
)
def test_a_question_by_mode(either: Project, mode, decision):
    said = either.ask("Write", draft("docs/new.md"), "asker", permission_mode=mode)
    assert said.decision == decision
    found = either.intent()
    if decision == "ask":
        assert said.reason.startswith("Remit asks: ")
        assert (found["decision"], found["approval"], found["code"]) == ("ask", "host", "must-ask")
        assert found["call"] in either.running()
    else:
        said.denied("it waits as", "(ask-pending)")
        assert (found["decision"], found["approval"]) == ("deny", None)
        assert found["call"] not in either.running()


def test_a_question_that_nobody_attends(shared: Project):
    said = shared.ask("Write", draft("docs/new.md"), "asker")
    assert said.decision == "ask"
    assert shared.intent()["approval"] == "host"
    alone = shared.environment(**shared.host.unattended)
    shared.run(shared.question("Write", draft("docs/new.md"), "asker"), env=alone).denied("(ask-pending)")


def test_a_host_that_says_that_somebody_attends(either: Project):
    question = either.question("Write", draft("docs/new.md"), "asker")
    assert either.run(question, env=either.environment(CLAUDE_CODE_SESSION_ATTENDED="1")).decision == "ask"


def test_a_link_needs_a_host_that_can_change_arguments(tmp_path: Path):
    """Otherwise the tool would follow the link again, to wherever it leads by then."""
    project = Project(tmp_path, host=TOY)
    (project.root / "linked.md").symlink_to("docs/a.md")
    project.ask("Read", {"file_path": "linked.md"}).denied("(obligation-unsupported)")


def test_each_host_writes_under_its_own_name(shared: Project):
    assert shared.ask("Read", READ).decision == "allow"
    found = shared.intent()
    assert (found["agent"], found["tool"], found["decision"], found["chain"]) == ("lead", "Read", "allow", [])
    assert found["call"] == shared.call_id(shared.asked)
    assert (found["point"], found["session"]) == (shared.host.name, shared.host.ids(shared.asked)[0])
    shared.ask("Read", READ, "unpinned").denied("(unpinned)")
    shared.ask("Read", READ, "lead").denied("(unpinned)")


def test_only_new_files(shared: Project):
    there = shared.root / "research" / "there.md"
    there.write_text("x")
    shared.ask("Write", draft("research/there.md"), "researcher").denied("(not-new)")
    shared.ask("Write", draft(str(there)), "researcher").denied("(not-new)")
    shared.ask("Write", draft("there.md"), "researcher", cwd=str(there.parent)).denied("(not-new)")
    there.unlink()
    there.symlink_to("nowhere.md")
    shared.ask("Write", draft("research/there.md"), "researcher").denied()
    there.unlink()
    assert shared.ask("Write", draft("research/there.md"), "researcher").decision == "allow"


def test_observing(shared: Project):
    shared.ask("Write", draft("docs/new.md"), "watcher").nothing()
    found = shared.intent()
    assert (found["decision"], found["would"], found["code"]) == ("allow", "deny", "not-permitted")
    assert shared.ask("Read", READ, "watcher").decision == "allow"
    shared.ask("Write", draft("remit.yaml"), "watcher").denied("(protected)")


def test_other_events_are_nothing_to_us(either: Project):
    count = len(either.entries())
    names = ("SessionStart", "UserPromptSubmit", "Stop", "SubagentStop", "PermissionRequest")
    for name in names:
        event = {**either.question("Read", READ), "hook_event_name": name}
        either.run(event).denied("(malformed-call)")  # it has a call in it, so it may be a question under a new name
        del event["tool_input"]
        either.run(event).nothing()
    found = [one["decision"] for one in either.entries()[count:] if one["type"] in ("intent", "outcome")]
    assert found == ["deny"] * len(names)


# --- outcomes ---

BASH = {"stdout": "x", "stderr": "", "interrupted": False, "isImage": False, "noOutputExpected": False}
DEEP = b"[" * 10_000 + b"]" * 10_000
ODD = [
    b"NaN",
    b"1e999",
    b"9" * 5000,
    rb'"\ud800"',
    b'"\xff\xfe"',
    b'{"a":1,"a":2}',
    DEEP,
    b'{"hook_event_name":"PreToolUse"}',
]


def test_outcomes(shared: Project):
    question = shared.question("Bash", {"command": "ls"})
    name = shared.call_id(question)
    assert shared.run(question).decision == "allow"
    assert name in shared.running()
    shared.run(shared.report(question, BASH)).nothing()
    assert (shared.outcome()["call"], shared.outcome()["result"]) == (name, "done")
    assert name not in shared.running()


@pytest.mark.parametrize(("interrupted", "error"), [(False, "tool-failed"), (True, "interrupted")])
def test_failures(either: Project, interrupted, error):
    question = either.question("Bash", {"command": "ls"})
    either.run(question)
    either.run(either.report(question, failed=True, is_interrupt=interrupted)).nothing()
    assert (either.outcome()["result"], either.outcome()["error"]) == ("failed", error)


@pytest.mark.sample(6)
@pytest.mark.parametrize("response", ODD, ids=lambda data: repr(data[:20]))
def test_odd_responses_are_joined_all_the_same(either: Project, response):
    question = either.question("Bash", {"command": "ls"})
    either.run(question)
    data = json.dumps(either.report(question, "HERE")).encode().replace(b'"HERE"', response)
    either.run(data).nothing()
    assert either.outcome()["result"] == "done"
    assert either.outcome()["call"] not in either.running()


def test_a_huge_response(either: Project):
    question = either.question("Bash", {"command": "ls"})
    either.run(question)
    said = either.run(either.report(question, [{"line": "x" * 90, "at": [1]}] * 200_000))
    said.nothing()
    assert either.outcome()["result"] == "done"


def test_reports_that_no_call_fits(either: Project):
    question = either.question("Bash", {"command": "ls"})
    either.run(either.report(question, BASH)).nothing()
    assert either.outcome()["intent"] is None
    for name in ("session_id", "tool_use_id"):
        report = either.report(question, BASH)
        del report[name]
        either.run(report).nothing()
        either.run({**report, name: 7}).nothing()


def test_ids_that_a_ledger_does_not_take(either: Project):
    question = either.question("Bash", {"command": "ls"}, tool_use_id="with space and ümlaut")
    assert either.run(question).decision == "allow"
    opened = either.intent()["call"]
    assert opened.startswith("hook-")
    either.run(either.report(question, BASH)).nothing()
    assert (either.outcome()["call"], either.outcome()["result"]) == (opened, "done")


def test_tools_of_servers(either: Project):
    either.ask("mcp__github__create_issue", {"title": "x"}).denied("(unknown-tool)")
