"""Probes of Claude Code: its questions, the hooks that it would run for them, and what it makes of an answer."""

from __future__ import annotations

import json
import os
import re
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from remit.adapters.hosts.claude_code.hook import BEFORE, FAILED
from remit.adapters.hosts.claude_code.settings import is_ours
from remit.adapters.hosts.claude_code.status import Settings, handlers
from remit.adapters.hosts.setup import UNDECIDED, Act, HookRun, Said
from remit.model.errors import RemitError


def sample(act: Act, target: str) -> tuple[str, dict[str, Any]]:
    """A call of one of its tools."""
    if act == "read":
        return "Read", {"file_path": target}
    if act == "write":
        return "Write", {"file_path": target, "content": "remit probe\n"}
    if act == "edit":
        return "Edit", {"file_path": target, "old_string": "a", "new_string": "b"}
    return "Bash", {"command": target}


def question(*, session: str, root: Path, tool: str, args: dict[str, Any], use: str, agent: str | None) -> bytes:
    """The payload of its first event."""
    payload: dict[str, Any] = {
        "session_id": session,
        "transcript_path": os.devnull,
        "cwd": str(root),
        "permission_mode": "default",
        "hook_event_name": BEFORE,
        "tool_name": tool,
        "tool_input": args,
        "tool_use_id": use,
    }
    if agent is not None:
        payload |= {"agent_id": secrets.token_hex(8), "agent_type": agent}
    return json.dumps(payload).encode()


def not_run(question: bytes) -> bytes:
    """The payload of its event for a call that failed."""
    more = {"hook_event_name": FAILED, "error": "probe", "is_interrupt": True}
    return json.dumps(json.loads(question) | more).encode()


def hooks(root: Path, files: list[Settings], settings: Path, event: str, tool: str | None) -> list[HookRun]:
    """What it would run. Raises RemitError if it would run nothing, whatever the tool."""
    here = next((one for one in files if os.path.realpath(one.path) == os.path.realpath(settings)), None)
    here = here or Settings(settings, "elsewhere")
    if here.data is None:
        raise RemitError(f"{here.name}: {here.problem or 'it is gone'}; no hook would run", code="no-hook")
    found = handlers(here.data, event)
    if event == BEFORE and not found:
        raise RemitError(f"{here.name} has no hook before tool calls; every call would run", code="no-hook")
    ours = [(matcher, one) for matcher, one in found if is_ours(one.get("command"))]
    if event != BEFORE:
        found = ours
    env = _environment(root, files)
    return [_run(one, root, env) for matcher, one in ours or found if _matches(matcher, tool)]


def _run(entry: Mapping[str, Any], root: Path, env: dict[str, str]) -> HookRun:
    command, args, timeout = entry.get("command"), entry.get("args"), entry.get("timeout")
    if entry.get("type") != "command" or not isinstance(command, str):
        return HookRun((), env, problem="the hook is not a command")
    words = ["/bin/sh", "-c", command]
    if isinstance(args, list):
        words = [str(word).replace("${CLAUDE_PROJECT_DIR}", str(root)) for word in (command, *args)]
    return HookRun(tuple(words), env, float(timeout) if isinstance(timeout, int | float) else None)


def _matches(matcher: Any, tool: str | None) -> bool:
    if matcher in (None, "", "*") or tool is None:
        return True
    try:
        return isinstance(matcher, str) and re.fullmatch(matcher, tool) is not None
    except re.error:
        return False


def _environment(root: Path, files: list[Settings]) -> dict[str, str]:
    """What it would hand the hook: its own environment, and what settings add."""
    found = dict(os.environ)
    found.pop("CLAUDE_CODE_SESSION_ATTENDED", None)  # as if somebody sat there: a question must show as one
    for one in files:
        extra = (one.data or {}).get("env", {})
        found.update(
            {name: value for name, value in extra.items() if isinstance(value, str) and "\0" not in name + value}
        )
    return found | {"CLAUDE_PROJECT_DIR": str(root), "CLAUDECODE": "1"}


def understood(code: int, out: bytes) -> Said:
    """The answer: it takes anything but one such document for no decision."""
    if code != 0:
        return Said(None, alarm=f"it ended with {code}")
    try:
        found = json.loads(out.decode("utf-8"))
    except (ValueError, RecursionError):
        return Said(None, alarm="its answer is not JSON" if out.strip() else "it answered nothing")
    if not isinstance(found, dict):
        return Said(None, alarm="its answer is not an object")
    words = found.get("hookSpecificOutput")
    if words is None:
        return Said(None, alarm=UNDECIDED if found == {} else "its answer has no decision where the host looks")
    if not isinstance(words, dict) or words.get("hookEventName") != BEFORE:
        return Said(None, alarm="its answer is for another event")
    decision, reason = words.get("permissionDecision"), words.get("permissionDecisionReason", "")
    if decision not in ("allow", "ask", "deny") or not isinstance(reason, str) or found.get("continue") is False:
        return Said(None, alarm="the host does not know its decision")
    return Said(decision, reason)
