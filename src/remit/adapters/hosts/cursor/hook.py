"""How Cursor speaks, as its documentation has it: the JSON of its hooks as an event, and a decision as its answer.

`preToolUse` is asked about every tool. A 2 denies, whatever was printed; with `failClosed` every other failure does.
It names no agent with a call, so every call is the main agent's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from remit.adapters.hosts.interface import Event, LastResort, Reply
from remit.adapters.hosts.payload import args_in, decoded, own_names, text_in, with_err
from remit.model.decision import Decision
from remit.model.errors import CallError
from remit.model.terms import ALLOW

if TYPE_CHECKING:
    from remit.adapters.hosts.cursor.setup import CursorSetup

NAME = "cursor"
BEFORE, AFTER, FAILED, END = "preToolUse", "postToolUse", "postToolUseFailure", "sessionEnd"
SILENCE = Reply(b"{}")
_WHY = b"Remit: {why}; nothing may run. Tell the person who runs you."
_REFUSAL = b'{"permission":"deny","user_message":"%b","agent_message":"%b"}' % (_WHY, _WHY)


def read_event(data: bytes) -> Event:
    """What the host says. Raises CallError for a question that can't be read."""
    found = decoded(data)
    name, session = text_in(found, "hook_event_name"), text_in(found, "conversation_id")
    use = found.get("tool_use_id")
    if name in (AFTER, FAILED):
        if not isinstance(use, str) or not use:
            return Event("other")
        return Event("after", session=session, use=use, failed="tool-failed" if name == FAILED else None)
    if name == END and "tool_input" not in found:
        return Event("end", session=session)
    if name != BEFORE:
        if "tool_input" in found:
            raise CallError("an event that no hook was installed for")  # it may be a question under a new name
        return Event("other")
    return Event(
        "before",
        session=session,
        tool=text_in(found, "tool_name"),
        args=args_in(found, "tool_input"),
        use=text_in(found, "tool_use_id"),
        cwd=_cwd(found),
        named=False,
    )


def _cwd(found: dict[str, Any]) -> str:
    """Where the call is made, else the only root of the workspace. Raises CallError."""
    cwd, roots = found.get("cwd"), found.get("workspace_roots")
    if not isinstance(cwd, str) and isinstance(roots, list) and len(roots) == 1:
        cwd = roots[0]
    if not isinstance(cwd, str) or not cwd.startswith("/"):
        raise CallError("`cwd` must be an absolute path")
    return cwd


class Cursor:
    """The host."""

    name = NAME
    last_resort = LastResort.by_event(
        Reply(_REFUSAL, b"Remit: {why}\n", 2),
        SILENCE,
        before=BEFORE,
        reports=(AFTER, END),
    )
    started_in = "CURSOR_PROJECT_DIR"
    can_change_args = True
    definition_endings = (".md",)
    read_event = staticmethod(read_event)

    def names_of(self, tool: str) -> tuple[str, ...]:
        """As the host says: a tool of any MCP server is `MCP:tool`."""
        return own_names(tool, "MCP:")

    def effective_args(self, tool: str, args: dict[str, Any]) -> dict[str, Any]:
        """As they are."""
        return args

    def answer(self, decision: Decision, changed: dict[str, Any] | None) -> Reply:
        """JSON on stdout; a deny ends with 2 as well."""
        if decision.would is not None:
            return SILENCE  # only observed: the host does what it would do without us
        if decision.verdict is not ALLOW:
            reason = f"Remit: {decision.reason} ({decision.code})"
            said = {"permission": "deny", "user_message": reason, "agent_message": reason}
            return Reply(msgspec.json.encode(said), with_err(reason), 2)
        more = {"updated_input": changed} if changed is not None else {}
        return Reply(msgspec.json.encode({"permission": "allow", **more}))

    def with_notice(self, reply: Reply, text: str) -> Reply:
        """What people see of an answer is `user_message`."""
        found = msgspec.json.decode(reply.out or b"{}")
        if "user_message" in found:
            return reply._replace(err=reply.err + with_err(f"Remit: {text}"))
        return reply._replace(out=msgspec.json.encode({**found, "user_message": f"Remit: {text}"}))

    def setup(self) -> CursorSetup:
        """Its files."""
        from remit.adapters.hosts.cursor.setup import CursorSetup  # here: a hook does without what installs

        return CursorSetup()
