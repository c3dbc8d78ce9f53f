"""How Claude Code speaks: the JSON of its hooks as an event, and a decision as the JSON that it obeys.

A hook's `allow` skips the host's own question, except in plan mode, which still
refuses to write; no decision leaves the call to the host's own rules.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from remit.adapters.hosts.interface import Event, LastResort, Reply
from remit.adapters.hosts.payload import server_names
from remit.model.decision import Decision
from remit.model.decoding import Decoding
from remit.model.errors import CallError
from remit.model.terms import ALLOW, ASK, DENY
from remit.model.text import shown
from remit.model.wire import decode_json

if TYPE_CHECKING:
    from pathlib import Path

    from remit.adapters.hooks.installed import Installed
    from remit.adapters.hosts.claude_code.setup import ClaudeSetup

NAME = "claude-code"
BEFORE, AFTER, FAILED, END = "PreToolUse", "PostToolUse", "PostToolUseFailure", "SessionEnd"
LIMIT = 32 * 1024 * 1024
_PARTS = re.compile(rb'"(?:[^"\\]|\\.)*+"|[][{}]|[^][{}"]+|"', re.DOTALL)
PERSON = frozenset({"default", "acceptEdits", "plan"})
"""Permission modes in which the host puts a question to somebody. In the others it was told not to ask."""


def read_event(data: bytes) -> Event:
    """What the host says. Raises CallError for a question that can't be read; a report is read as far as it goes."""
    try:
        plain = _reports.decode(data)
        event = _after(plain.hook_event_name, plain.session_id, plain.tool_use_id, plain.is_interrupt)
        return msgspec.structs.replace(event, output=bytes(plain.tool_response or plain.error))
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        pass  # a question, or an odd report
    try:
        found = decode_json(data, limit=LIMIT)
    except CallError:
        report = _report(data)
        if report is None:
            raise
        found = report
    if not isinstance(found, dict):
        raise CallError("expected an object")
    name = _text(found, "hook_event_name")
    if name == BEFORE:
        return _question(found)
    if name in (AFTER, FAILED):
        return _after(name, found.get("session_id"), found.get("tool_use_id"), found.get("is_interrupt"))
    if name == END and "tool_input" not in found:
        return Event("end", session=str(found.get("session_id") or ""))
    if "tool_input" in found:
        raise CallError("an event that no hook was installed for")  # it may be a question under a new name
    return Event("other")


class _Report(msgspec.Struct, frozen=True):
    """A report, without what the tool was given, and with what it answered unread: that may be huge."""

    hook_event_name: Literal["PostToolUse", "PostToolUseFailure"]
    session_id: str
    tool_use_id: str
    is_interrupt: bool = False
    tool_response: msgspec.Raw = msgspec.Raw()
    error: msgspec.Raw = msgspec.Raw()


_reports = Decoding(_Report)


def _after(name: str, session: object, use: object, interrupted: object) -> Event:
    if not (isinstance(session, str) and isinstance(use, str) and session and use):
        return Event("other")  # of a call that nobody can name
    failed = None if name == AFTER else "interrupted" if interrupted is True else "tool-failed"
    return Event("after", session=session, use=use, failed=failed)


def _question(found: dict[str, Any]) -> Event:
    args = found.get("tool_input")
    if not isinstance(args, dict):
        raise CallError("`tool_input` must be an object")
    agent = found.get("agent_type")
    handed = found.get("agent_id") is not None
    if agent is None and handed:
        raise CallError("`agent_id` comes without `agent_type`")
    cwd = _text(found, "cwd")
    if not cwd.startswith("/"):
        raise CallError("`cwd` must be an absolute path")
    if agent is not None and (not isinstance(agent, str) or not agent):
        raise CallError("`agent_type` must be text")
    return Event(
        "before",
        session=_text(found, "session_id"),
        tool=_text(found, "tool_name"),
        args=args,
        use=_text(found, "tool_use_id"),
        agent=agent,
        handed=handed,
        cwd=cwd,
        person=found.get("permission_mode") in PERSON,
    )


def _text(found: dict[str, Any], name: str) -> str:
    value = found.get(name)
    if not isinstance(value, str) or not value:
        raise CallError(f"`{name}` must be text")
    return value


def _report(data: bytes) -> dict[str, Any] | None:
    """A report that is too deep, or has odd texts or numbers in what the tool answered: only its own fields count."""
    if len(data) > LIMIT:
        return None
    depth, kept = 0, []
    for part in _PARTS.findall(data):
        depth += part in b"{["
        if depth <= 1:
            kept.append(part)
        elif part in b"]}" and depth == 2:
            kept.append(b"null")
        depth -= part in b"]}"
    try:
        pairs = json.loads(b"".join(kept).decode("utf-8", "replace"), object_pairs_hook=list)
    except ValueError:
        return None
    if not isinstance(pairs, list) or not all(isinstance(pair, tuple) for pair in pairs):
        return None
    names = [value for key, value in pairs if key == "hook_event_name"]
    return dict(pairs) if names in ([AFTER], [FAILED]) else None


SILENCE = Reply(b"{}")
"""The answer to a report."""
_REFUSAL = (
    b'{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny",'
    b'"permissionDecisionReason":"Remit: {why}; nothing may run. Tell the person who runs you."}}'
)


class ClaudeCode:
    """The host."""

    name = NAME
    last_resort = LastResort.by_event(
        Reply(_REFUSAL),
        SILENCE,
        before=BEFORE,
        reports=(AFTER, END),
        unattended=("CLAUDE_CODE_SESSION_ATTENDED", "0"),
    )

    started_in = "CLAUDE_PROJECT_DIR"
    can_change_args = True
    definition_endings = (".md", ".markdown", ".mdc")
    read_event = staticmethod(read_event)

    def names_of(self, tool: str) -> tuple[str, ...]:
        """As the host says, or `server/tool` for one of an MCP server."""
        return server_names(tool)

    def effective_args(self, tool: str, args: dict[str, Any]) -> dict[str, Any]:
        """The host strips blanks and slashes from the name of a skill."""
        skill = args.get("skill") if tool == "Skill" else None
        return {**args, "skill": skill.strip().lstrip("/").strip()} if isinstance(skill, str) else args

    def answer(self, decision: Decision, changed: dict[str, Any] | None) -> Reply:
        """The decision as JSON on stdout."""
        if decision.would is not None:
            return SILENCE  # only observed: the host does what it would do without us
        said: dict[str, Any] = {"hookEventName": BEFORE, "permissionDecision": decision.verdict.word}
        if decision.verdict is not ALLOW:
            who = "Remit asks" if decision.verdict is ASK else "Remit"
            said["permissionDecisionReason"] = f"{who}: {decision.reason} ({decision.code})"
        if changed is not None and decision.verdict is not DENY:
            said["updatedInput"] = changed
        return Reply(msgspec.json.encode({"hookSpecificOutput": said}))

    def with_notice(self, reply: Reply, text: str) -> Reply:
        """What people see of it is `systemMessage`."""
        try:
            found = json.loads(reply.out)
        except ValueError:
            return reply
        return reply._replace(out=msgspec.json.encode({**found, "systemMessage": f"Remit: {text}"}))

    def reads_after(self, tool: str, args: dict[str, Any], cwd: str | None) -> list[tuple[str, dict[str, Any]]]:
        """A memory file that is written may import others."""
        if tool not in ("Write", "Edit") or not str(args.get("file_path", "")).lower().endswith(".md"):
            return []
        from remit.adapters.hosts.claude_code import memory  # here: few calls write memory

        return [("Read", {"file_path": path}) for path in memory.written(tool, args, cwd)]

    def reads_now(self, root: Path) -> Iterator[tuple[str, str, tuple[str, dict[str, Any]]]]:
        """What memory files import."""
        from remit.adapters.hosts.claude_code import memory  # here: a hook does without

        for file, target in memory.imported(root):
            yield file, target, ("Read", {"file_path": target})

    def confined_args(self, args: dict[str, Any], arg: str, text: str, *, asks: bool) -> dict[str, Any]:
        """The permission dialog shows what will run, and the description: in that the person reads the command."""
        if not asks:
            return {**args, arg: text}
        return {**args, arg: text, "description": f"Runs confined: {shown(args.get(arg), 2000)}"}

    def unconfinable(self, installed: Installed) -> str | None:
        """Where the host's own sandbox is on, no other starts inside it."""
        from remit.adapters.hosts.claude_code import own_rules  # here: few calls are confined

        return own_rules.sandboxed(installed)

    def bars(self, installed: Installed, tool: str, command: str) -> str | None:
        """The host compares its deny rules with what it runs, which is not the command."""
        from remit.adapters.hosts.claude_code import own_rules  # here: few calls are confined

        return own_rules.barring(installed, tool, command)

    def output(self, event: Event) -> str:
        """Of a command that succeeded both streams, perhaps as one; of one that failed what the model is told."""
        try:
            found = msgspec.json.decode(event.output)
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            return ""
        parts = [found.get("stdout"), found.get("stderr")] if isinstance(found, dict) else [found]
        return "\n".join(part for part in parts if isinstance(part, str))

    def tell(self, text: str, failed: str | None) -> Reply:
        """The model sees it beside what the tool answered."""
        said = {"hookEventName": AFTER if failed is None else FAILED, "additionalContext": text}
        return Reply(msgspec.json.encode({"hookSpecificOutput": said}))

    def setup(self) -> ClaudeSetup:
        """Its files."""
        from remit.adapters.hosts.claude_code.setup import ClaudeSetup  # here: a hook does without what installs

        return ClaudeSetup()
