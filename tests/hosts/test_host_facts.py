"""What Remit takes for granted about Claude Code, seen in the program itself; a new version meets these first."""

from __future__ import annotations

import pytest

from tests.hosts.claude import Claude, decided, logged
from tests.hosts.fake_model import Script, Use
from tests.hosts.terminal import QUESTION, in_terminal

pytestmark = pytest.mark.hosts

MODES = ["default", "acceptEdits", "plan", "bypassPermissions", "dontAsk"]


def write(claude: Claude, path: str = "made.txt") -> Use:
    return Use("Write", {"file_path": str(claude.project / path), "content": "x"})


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("word", "runs_in"),
    [("allow", {"default", "acceptEdits", "bypassPermissions", "dontAsk"}), ("ask", set()), ("deny", set())],
)
def test_what_a_decision_does_without_a_terminal(claude: Claude, word: str, runs_in: set[str], mode: str):
    log = claude.hook(answer=decided(word))
    run = claude.run({"main": [write(claude), "done"]}, mode=mode)
    assert (claude.project / "made.txt").exists() == (mode in runs_in)
    (told,) = logged(log)
    assert (told["permission_mode"], told["tool_name"], "agent_type" in told) == (mode, "Write", False)
    if word == "deny":
        assert run.said == ["PreToolUse:Write hook error: because deny"]


@pytest.mark.parametrize("mode", ["default", "bypassPermissions"])
def test_in_a_terminal_an_ask_is_put_to_the_person_in_every_mode(claude: Claude, mode: str):
    claude.hook(answer=decided("ask"))
    touch = Use("Bash", {"command": "touch made.txt"})
    session = in_terminal(claude, {"main": [touch, "done"]}, [(QUESTION, ["\x1b"])], mode=mode)
    assert session.steps == 2
    assert "because ask" in session.screen
    assert not (claude.project / "made.txt").exists()


DENY = '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny"}}'


@pytest.mark.parametrize(
    ("answer", "status", "runs"),
    [
        ("", 1, False),
        ("", 2, False),
        (DENY, 0, False),
        (DENY, 1, False),
        (DENY.replace("deny", "allow"), 2, False),
        (DENY.replace("deny", "denied"), 0, False),
        ("", 0, True),
        ("junk", 0, True),
        (f"a warning\n{DENY}", 0, True),
        (f"{DENY}\na warning", 0, True),
        ('{"continue": false}', 0, True),
    ],
)
def test_what_a_broken_hook_lets_through_although_failures_block(claude: Claude, answer: str, status: int, runs: bool):
    claude.hook(answer=answer, status=status)
    claude.run({"main": [write(claude), "done"]}, mode="acceptEdits")
    assert (claude.project / "made.txt").exists() == runs


def test_a_subagents_calls_name_it_but_not_who_started_it(claude: Claude):
    log = claude.hook("PreToolUse", "SubagentStart", answer="{}")
    for name in ("outer", "inner"):
        claude.agent(name)
    hand = {"description": "d", "prompt": "p", "run_in_background": False}
    look = Use("Bash", {"command": "pwd"})
    script: Script = {
        "main": [Use("Agent", {**hand, "subagent_type": "Outer "}), "done"],
        "outer": [Use("Task", {**hand, "subagent_type": "inner"}), "done"],
        "inner": [look, "done"],
    }
    claude.run(script)
    told = [(t["hook_event_name"], t.get("tool_name"), t.get("agent_type")) for t in logged(log)]
    assert told == [
        ("PreToolUse", "Agent", None),
        ("SubagentStart", None, "outer"),
        ("PreToolUse", "Agent", "outer"),
        ("SubagentStart", None, "inner"),
        ("PreToolUse", "Bash", "inner"),
    ]
    assert not any("parent" in key for t in logged(log) for key in t)


def test_the_hook_runs_where_the_agent_is_and_knows_the_project(claude: Claude):
    (claude.project / "below").mkdir()
    claude.env["PYTHONPATH"] = "/elsewhere"
    claude.hook(answer="{}")
    log = claude.home / "seen"
    (claude.home / "hook.sh").write_text(
        f"#!/bin/sh\necho $PWD $CLAUDE_PROJECT_DIR $PYTHONPATH >> '{log}'\necho '{{}}'\n", "utf-8"
    )
    claude.run({"main": [Use("Bash", {"command": "cd below"}), Use("Bash", {"command": "pwd"}), "done"]})
    project = str(claude.project)
    assert [line.split() for line in log.read_text("utf-8").splitlines()] == [
        [project, project, "/elsewhere"],
        [f"{project}/below", project, "/elsewhere"],
    ]


def test_project_hooks_are_not_read_from_a_directory_below(claude: Claude):
    claude.hook(answer=decided("deny"))
    below = claude.project / "below"
    below.mkdir()
    claude.run({"main": [write(claude, "below/made.txt"), "done"]}, mode="acceptEdits", cwd=below)
    assert (below / "made.txt").exists()


def test_a_path_rule_binds_only_when_it_is_spelled_edit(claude: Claude):
    claude.settings({"permissions": {"deny": ["Write(/a/**)", "Edit(/b/**)"]}})
    claude.agent("worker")
    hand = {"description": "d", "prompt": "p", "run_in_background": False, "subagent_type": "worker"}
    script: Script = {
        "main": [write(claude, "a/made.txt"), write(claude, "b/made.txt"), Use("Agent", hand), "done"],
        "worker": [write(claude, "b/made.txt"), "done"],
    }
    claude.run(script, mode="bypassPermissions")
    assert (claude.project / "a/made.txt").exists()
    assert not (claude.project / "b/made.txt").exists()
