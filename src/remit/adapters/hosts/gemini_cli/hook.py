"""How Gemini CLI speaks: the JSON of its hooks as an event, and a decision as the answer that it obeys.

The host runs the tool if a hook ends with another code than 2, prints junk or nothing, or hangs; a session without a
terminal never goes on after an `ask`. So a deny is JSON, with a 2 and the reason on stderr besides, and nobody is
asked: a question waits in the inbox. It does not say which agent calls, so every call is the main agent's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from remit.adapters.hosts.interface import OWN_SERVER, Event, LastResort, Reply
from remit.adapters.hosts.payload import alike, args_in, cwd_of, decoded, own_names, text_in, with_err
from remit.model.decision import Decision
from remit.model.errors import CallError
from remit.model.terms import ALLOW

if TYPE_CHECKING:
    from remit.adapters.hosts.gemini_cli.setup import GeminiSetup

NAME = "gemini-cli"
BEFORE, AFTER, END = "BeforeTool", "AfterTool", "SessionEnd"
SHELL = "run_shell_command"
SILENCE = Reply(b"{}")
_REFUSAL = b'{"decision":"deny","reason":"Remit: {why}; nothing may run. Tell the person who runs you."}'


def read_event(data: bytes) -> Event:
    """What the host says. Raises CallError for a question that can't be read."""
    found = decoded(data)
    name, session = text_in(found, "hook_event_name"), text_in(found, "session_id")
    if name == END and "tool_input" not in found:
        return Event("end", session=session)
    if name not in (BEFORE, AFTER):
        if "tool_input" in found:
            raise CallError("an event that no hook was installed for")  # it may be a question under a new name
        return Event("other")
    tool, args = text_in(found, "tool_name"), args_in(found, "tool_input")
    same = alike(tool, args)
    if name == AFTER:
        response = found.get("tool_response")
        failed = isinstance(response, dict) and bool(response.get("error"))
        return Event("after", session=session, alike=same, failed="tool-failed" if failed else None)
    moment = "".join(sign for sign in text_in(found, "timestamp") if sign.isdigit())
    cwd = cwd_of(found, args.get("dir_path") if tool == SHELL else None)
    return Event("before", session=session, tool=tool, args=args, use=f"{same}.{moment or 0}", cwd=cwd, named=False)


class GeminiCli:
    """The host."""

    name = NAME
    last_resort = LastResort.by_event(
        Reply(_REFUSAL, b"Remit: {why}\n", 2),
        SILENCE,
        before=BEFORE,
        reports=(AFTER, END),
    )
    started_in = "GEMINI_PROJECT_DIR"
    can_change_args = True
    definition_endings = (".md",)
    read_event = staticmethod(read_event)

    def names_of(self, tool: str) -> tuple[str, ...]:
        """As the host says: a tool of an MCP server is `mcp_server_tool`."""
        return own_names(tool, f"mcp_{OWN_SERVER}_")

    def effective_args(self, tool: str, args: dict[str, Any]) -> dict[str, Any]:
        """Where a command starts is the call's own directory."""
        if tool == SHELL and "dir_path" in args:
            return {name: value for name, value in args.items() if name != "dir_path"}
        return args

    def answer(self, decision: Decision, changed: dict[str, Any] | None) -> Reply:
        """JSON on stdout; a deny ends with 2 as well."""
        if decision.would is not None:
            return SILENCE  # only observed: the host does what it would do without us
        if decision.verdict is not ALLOW:
            reason = f"Remit: {decision.reason} ({decision.code})"
            return Reply(msgspec.json.encode({"decision": "deny", "reason": reason}), with_err(reason), 2)
        said: dict[str, Any] = {"decision": "allow"}
        if changed is not None:
            said["hookSpecificOutput"] = {"hookEventName": BEFORE, "tool_input": changed}
        return Reply(msgspec.json.encode(said))

    def with_notice(self, reply: Reply, text: str) -> Reply:
        """What people see of an answer is `systemMessage`."""
        found = msgspec.json.decode(reply.out or b"{}")
        return reply._replace(out=msgspec.json.encode({**found, "systemMessage": f"Remit: {text}"}))

    def setup(self) -> GeminiSetup:
        """Its files."""
        from remit.adapters.hosts.gemini_cli.setup import GeminiSetup  # here: a hook does without what installs

        return GeminiSetup()
