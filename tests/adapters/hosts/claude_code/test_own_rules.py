"""What Claude Code's own settings say about commands that Remit gives it another text for."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from remit.adapters.hooks.installed import Copy, Installed
from remit.adapters.hosts.claude_code import own_rules


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Installed:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    monkeypatch.setattr(own_rules, "MANAGED", (str(tmp_path / "managed" / "*.json"),))
    settings = str(tmp_path / "project" / ".claude" / "settings.json")
    user = Copy("user", str(tmp_path / "user" / "settings.json"), "remit-hook")
    return Installed(1, "claude-code", str(tmp_path / "project"), "remit.yaml", settings, "now", copies=(user,))


def put(tmp_path: Path, where: str, data: object) -> None:
    path = tmp_path / where
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(data if isinstance(data, str) else json.dumps(data), "utf-8")


FILES = [
    "project/.claude/settings.json",
    "project/.claude/settings.local.json",
    "user/settings.json",
    ".claude/settings.json",
    "managed/a.json",
]


@pytest.mark.parametrize("where", FILES)
def test_a_sandbox_of_the_hosts_own_is_found_in_every_file(tmp_path: Path, installed: Installed, where: str):
    assert own_rules.sandboxed(installed) is None
    put(tmp_path, where, {"sandbox": {"enabled": True}})
    assert str(tmp_path / where) in (own_rules.sandboxed(installed) or "")
    put(tmp_path, where, {"sandbox": {"enabled": False}, "more": "text"})
    assert own_rules.sandboxed(installed) is None


@pytest.mark.parametrize(
    ("rule", "command", "bars"),
    [
        ("Bash(rm:*)", "rm -rf x", True),
        ("Bash(rm:*)", "cd a && rm x", True),
        ("Bash(rm *)", "echo $(rm x)", True),
        ("Bash(rm:*)", "echo 'rm'", True),
        ("Bash(rm:*)", "term x; ./rm2", False),
        ("Bash(git push:*)", "git   push\torigin", True),
        ("Bash(git push:*)", "git status", False),
        ("Bash(npm run build)", "npm run build --x", True),
        ("Bash(git * main)", "git checkout main", True),
        ("Bash(*)", "ls", True),
        ("Bash(curl:*)", "ls", False),
        ("Write(rm:*)", "rm x", False),
        ("Bash", "rm x", False),
    ],
)
@pytest.mark.parametrize("where", FILES)
def test_a_deny_rule_counts_by_its_words(
    tmp_path: Path, installed: Installed, where: str, rule: str, command: str, bars: bool
):
    put(tmp_path, where, {"permissions": {"deny": ["Read(/x)", 7, rule], "allow": ["Bash(ls:*)"]}})
    assert own_rules.barring(installed, "Bash", command) == (rule if bars else None)


@pytest.mark.parametrize(
    "data", ["", "{}", '{"permissions": 3}', '{"permissions": {"deny": "Bash(ls)"}}', '{"sandbox": []}']
)
def test_files_that_say_nothing_are_no_obstacle(tmp_path: Path, installed: Installed, data: str):
    put(tmp_path, FILES[0], data)
    assert own_rules.sandboxed(installed) is None
    assert own_rules.barring(installed, "Bash", "ls") is None


@pytest.mark.parametrize("data", ["junk", "[]", '{"permissions": {"deny": ["Bash(rm:*)"]}', "\0"])
def test_files_that_nobody_can_read_keep_commands_from_running_confined(
    tmp_path: Path, installed: Installed, data: str
):
    put(tmp_path, FILES[0], data)
    assert "can't be read" in str(own_rules.sandboxed(installed))
