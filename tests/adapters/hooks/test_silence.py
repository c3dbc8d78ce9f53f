"""What ran in the host without a hook: found by the next hook, by the end of a session, by the daemon."""

from __future__ import annotations

import json
import os
import re
import time
from pathlib import Path

import pytest

from tests.adapters.hooks.project import Project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def ran(project: Project, session: str, use: str = "toolu_1") -> None:
    """The host wrote down that a tool ran."""
    at = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime())
    about = {"cwd": str(project.root), "sessionId": session, "timestamp": at}
    call = {"type": "tool_use", "id": use, "name": "Bash", "input": {}}
    result = {"type": "tool_result", "tool_use_id": use, "content": "x"}
    lines = ({**about, "message": {"content": [block]}} for block in (call, result))
    folder = project.home / ".claude" / "projects" / re.sub(r"[^A-Za-z0-9]", "-", str(project.root))
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{session}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))


def forget_the_last_look(project: Project) -> None:
    mark = project.state / "hooks" / "claude-code.looked"
    if mark.exists():
        os.utime(mark, (time.time() - 1000, time.time() - 1000))


def told(project: Project, session: str) -> bool:
    args = {"file_path": str(project.root / "README.md")}
    said = project.run(project.question("Read", args, session_id=session))
    return "no hook was asked about" in json.loads(said.stdout).get("systemMessage", "")


def alarms(project: Project) -> list[str]:
    return [one["session"] for one in project.entries() if one.get("what") == "ledger-silent"]


def test_the_next_hook_says_it_to_each_session_and_records_it_once(project: Project):
    assert not told(project, "one")
    ran(project, "hidden")
    assert not told(project, "one")  # somebody has just looked
    forget_the_last_look(project)
    assert told(project, "one")
    assert not told(project, "one")
    assert told(project, "two")
    forget_the_last_look(project)
    assert not told(project, "two")
    assert alarms(project) == ["hidden"]
    project.verify()


def test_what_a_hook_was_asked_about_is_no_alarm(project: Project):
    question = project.question("Read", {"file_path": str(project.root / "README.md")})
    project.run(question)
    ran(project, question["session_id"], question["tool_use_id"])
    forget_the_last_look(project)
    assert not told(project, "other")
    assert alarms(project) == []


def test_the_end_of_a_session_looks_at_once(project: Project):
    assert not told(project, "one")
    ran(project, "hidden")
    project.run({"hook_event_name": "SessionEnd", "session_id": "one", "cwd": str(project.root), "reason": "other"})
    assert alarms(project) == ["hidden"]


def test_a_daemon_looks_by_itself(project: Project, monkeypatch: pytest.MonkeyPatch):
    from remit.service.daemon import Daemon

    monkeypatch.setenv("HOME", str(project.home))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    ran(project, "hidden")
    with Daemon(project.root, lambda *_: None, on_fault=lambda _: None, state=project.state) as daemon:
        daemon.look()
    assert alarms(project) == ["hidden"]
