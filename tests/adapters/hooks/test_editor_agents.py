"""Agents of VS Code, which names none: a hook in a definition says whose call it is, beside the user's own hook."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

POLICY = """\
remit: 1
name: editor
use: [vscode]
hosts: {copilot-cli: {main: lead}}
agents:
  lead: {may: [read_file, {create_file: {path: ["notes/**", "docs/**"]}}], delegates_to: [researcher]}
  researcher: {may: [{create_file: {path: "notes/**"}}]}
  other: {may: [{create_file: {path: "notes/**"}}]}
"""
COMMAND = "remit-hook copilot-cli --agent NAME"
DEFINITION = f"---\nname: researcher\nhooks:\n  PreToolUse:\n    - {{type: command, command: {COMMAND}}}\n---\nFind.\n"


class Editor:
    """A project that is installed by its commands, and what VS Code runs in it."""

    def __init__(self, base: Path) -> None:
        self.root, self.count = base / "proj", 0
        self.definition = self.root / ".github" / "agents" / "researcher.agent.md"
        self.definition.parent.mkdir(parents=True)
        self.definition.write_text(DEFINITION.replace("NAME", "researcher"))
        (self.root / "remit.yaml").write_text(POLICY)
        (base / "home").mkdir()
        path = f"{Path(sys.executable).parent}:/usr/bin:/bin"
        self.env = {"HOME": str(base / "home"), "PATH": path, "REMIT_DAEMON": "0"}
        self.remit("activate", "--yes")
        self.remit("install", "copilot-cli", "--yes")
        hooks = json.loads((base / "home" / ".copilot" / "hooks" / "remit.json").read_text())
        self.user: str = hooks["hooks"]["preToolUse"][0]["bash"]

    def remit(self, *words: str) -> str:
        command = [sys.executable, "-m", "remit", *words]
        return subprocess.run(command, cwd=self.root, env=self.env, check=True, capture_output=True, text=True).stdout

    def ask(self, command: str, path: str, **more: Any) -> tuple[int, str]:
        """The exit code and the decision; the count makes each a call of its own."""
        self.count += 1
        said: dict[str, Any] = {
            "hookEventName": "PreToolUse",
            "sessionId": "s",
            "tool_use_id": f"u{self.count}",
            "cwd": str(self.root),
        }
        said |= {"tool_name": "create_file", "tool_input": {"filePath": str(self.root / path), "content": "x"}, **more}
        done = subprocess.run(
            ["/bin/sh", "-c", command],
            input=json.dumps(said).encode(),
            capture_output=True,
            cwd=self.root,
            env=self.env,
            check=False,
            timeout=120,
        )
        found = json.loads(done.stdout)["hookSpecificOutput"] if done.stdout else {}
        return done.returncode, found.get("permissionDecision", "") + done.stderr.decode()


@pytest.fixture
def editor(tmp_path: Path) -> Editor:
    os.makedirs(tmp_path, exist_ok=True)
    return Editor(tmp_path)


def test_each_agent_has_its_own_rules_below_those_of_the_main_agent(editor: Editor):
    own = COMMAND.replace("NAME", "researcher")
    assert editor.ask(own, "notes/a.md") == (0, "allow")
    assert editor.ask(editor.user, "notes/a.md") == (0, "allow")
    assert editor.ask(editor.user, "docs/a.md") == (0, "allow")
    code, said = editor.ask(own, "docs/a.md")
    assert (code, said[:4]) == (2, "deny")
    listed = [json.loads(line)["entry"] for line in editor.remit("ledger", "show", "--json").splitlines()]
    agents = [one["agent"] for one in listed if one.get("type") == "intent"]
    assert agents == ["researcher", "lead", "lead", "researcher"]
    editor.remit("ledger", "verify")


def test_one_call_is_judged_for_both(editor: Editor):
    for command in (editor.user, COMMAND.replace("NAME", "researcher")):
        assert editor.ask(command, "notes/a.md", tool_use_id="same") == (0, "allow")
    listed = [json.loads(line)["entry"] for line in editor.remit("ledger", "show", "--json").splitlines()]
    calls = [one["call"] for one in listed if one.get("type") == "intent"]
    assert len(calls) == len(set(calls)) == 2


def test_only_a_pinned_agent_counts(editor: Editor):
    for name in ("other", "nobody"):
        code, said = editor.ask(COMMAND.replace("NAME", name), "notes/a.md")
        assert (code, said[:4]) == (2, "deny")
    editor.definition.write_text(editor.definition.read_text() + "More.\n")
    code, said = editor.ask(COMMAND.replace("NAME", "researcher"), "notes/a.md")
    assert code == 2
    assert "unpinned" in said


@pytest.mark.parametrize("name", ["a b", '"x"', "", "x/y", "ü"])
def test_an_odd_name_is_refused(editor: Editor, name: str):
    assert editor.ask(f"remit-hook copilot-cli --agent '{name}'", "notes/a.md")[0] == 2


def test_in_another_program_nothing_is_known_by_it(editor: Editor):
    own = COMMAND.replace("NAME", "researcher")
    code, said = editor.ask(own, "notes/a.md", hookEventName=None)
    assert code == 2
    assert "malformed" in said or "can't be read" in said
