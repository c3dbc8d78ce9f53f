"""How hosts speak, as their own programs do it: what they send to a hook, and what they make of its answer."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol

from tests.toy_host import package

JSON = dict[str, Any]
SESSION = "5f0c1e9a-7d5b-4a86-9d6e-0c8f3f1c2b7d"


class Speech(Protocol):
    """One host."""

    name: str
    settings: str
    folder: str
    """Where agents are defined, below the project, and by `user` below the home directory."""
    user: str
    ending: str
    begun: bytes
    """How a question begins, and a report."""
    ended: bytes
    unattended: Mapping[str, str]

    def available(self) -> AbstractContextManager[None]:
        """Inside, the host is known."""

    def question(self, number: int, root: Path, tool: str, args: Any, agent: str | None, more: JSON) -> JSON:
        """What it asks."""

    def report(self, question: JSON, response: Any, failed: bool, more: JSON) -> JSON:
        """What it tells afterwards."""

    def ids(self, question: JSON) -> tuple[str, str]:
        """Its session and the id of the use."""

    def understood(self, code: int, out: bytes, err: str) -> tuple[str, str]:
        """`allow`, `ask`, `deny`, or `-` for no decision, and the reason. Fails for what it would not understand."""

    def environment(self, root: Path) -> dict[str, str]:
        """What it gives to its hooks."""

    def junk(self) -> Iterator[tuple[str, bytes]]:
        """What is no question of it."""


class ClaudeSpeech:
    """Claude Code."""

    name = "claude-code"
    settings = ".claude/settings.json"
    folder, user, ending = ".claude/agents", ".claude/agents", ".md"
    begun, ended = b'{"hook_event_name":"PreToolUse",', b'{"hook_event_name":"PostToolUse",'
    unattended: Mapping[str, str] = MappingProxyType({"CLAUDE_CODE_SESSION_ATTENDED": "0"})

    def available(self) -> AbstractContextManager[None]:
        return nullcontext()

    def question(self, number: int, root: Path, tool: str, args: Any, agent: str | None, more: JSON) -> JSON:
        inside = {} if agent is None else {"agent_id": f"a{number:016x}", "agent_type": agent}
        return {
            "session_id": SESSION,
            "transcript_path": f"/nowhere/{SESSION}.jsonl",
            "cwd": str(root),
            "prompt_id": "0f1d7f9e-0a3b-4f57-8f67-6d0f4c5c4f39",
            "permission_mode": "default",
            **inside,
            "effort": {"level": "high"},
            "hook_event_name": "PreToolUse",
            "tool_name": tool,
            "tool_input": args,
            "tool_use_id": f"toolu_{number:024d}",
            **more,
        }

    def report(self, question: JSON, response: Any, failed: bool, more: JSON) -> JSON:
        name = "PostToolUseFailure" if failed else "PostToolUse"
        result: JSON = {"error": "it failed", "is_interrupt": False} if failed else {"tool_response": response}
        return {**question, "hook_event_name": name, **result, "duration_ms": 12, **more}

    def ids(self, question: JSON) -> tuple[str, str]:
        return question["session_id"], question["tool_use_id"]

    def understood(self, code: int, out: bytes, err: str) -> tuple[str, str]:
        assert code == 0
        found = json.loads(out)
        if found == {}:
            return "-", ""
        assert set(found) == {"hookSpecificOutput"}
        words = found["hookSpecificOutput"]
        assert words["hookEventName"] == "PreToolUse"
        return words["permissionDecision"], words.get("permissionDecisionReason", "")

    def environment(self, root: Path) -> dict[str, str]:
        return {
            "CLAUDECODE": "1",
            "CLAUDE_CODE_ENTRYPOINT": "cli",
            "CLAUDE_CODE_SESSION_ID": SESSION,
            "CLAUDE_PROJECT_DIR": str(root),
        }

    def junk(self) -> Iterator[tuple[str, bytes]]:
        yield "half", b'{"hook_event_name": "PreToolUse", "tool_name":'
        yield "another host's", b'{"event": "tool.before", "run": "r", "step": "s"}'


class ToySpeech:
    """The toy host."""

    name = "toy"
    settings = "toyrc"
    folder, user, ending = ".toy/roles", ".toy/roles", ".role.md"
    begun, ended = b'{"event": "tool.before",', b'{"event": "tool.after",'
    unattended: Mapping[str, str] = MappingProxyType({"TOY_ALONE": "yes"})

    def available(self) -> AbstractContextManager[None]:
        return package.installed()

    def question(self, number: int, root: Path, tool: str, args: Any, agent: str | None, more: JSON) -> JSON:
        more = dict(more)
        place, call = more.pop("cwd", str(root)), {"name": tool, "with": args}
        said = {"event": "tool.before", "run": "run-1", "step": f"step-{number}", "who": agent}
        return {**said, "dir": place, "call": call, **more}

    def report(self, question: JSON, response: Any, failed: bool, more: JSON) -> JSON:
        return {**question, "event": "tool.failed" if failed else "tool.after", "result": response, **more}

    def ids(self, question: JSON) -> tuple[str, str]:
        return question["run"], question["step"]

    def understood(self, code: int, out: bytes, err: str) -> tuple[str, str]:
        assert out == b""
        if (code, err) == (0, ""):
            return "-", ""
        said = json.loads(err)
        assert {"allow": 0, "deny": 2, "ask": 3}[said["verdict"]] == code
        return said["verdict"], said.get("why", "")

    def environment(self, root: Path) -> dict[str, str]:
        return {}

    def junk(self) -> Iterator[tuple[str, bytes]]:
        yield "half", b'{"event": "tool.before", "run":'
        yield "another host's", b'{"hook_event_name": "PreToolUse", "tool_name": "Read", "tool_input": {}}'


CLAUDE: Speech = ClaudeSpeech()
TOY: Speech = ToySpeech()
SPEECHES = (CLAUDE, TOY)
