"""How Codex CLI speaks: the JSON of its hooks as an event, and a decision as the answer that it obeys.

The host runs the tool whenever a hook fails: a code other than 0 and 2, a 2 with nothing on stderr, junk on stdout, an
`ask`. So a deny is a 2 with the reason on stderr, and nobody is asked: a question waits in the inbox.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from remit.adapters.hosts.interface import Event, LastResort, Reply
from remit.adapters.hosts.patches import files_of
from remit.adapters.hosts.payload import args_in, cwd_in, decoded, server_names, text_in, with_err
from remit.model.decision import Decision
from remit.model.errors import CallError
from remit.model.terms import ALLOW

if TYPE_CHECKING:
    from remit.adapters.hosts.codex.setup import CodexSetup

NAME = "codex"
BEFORE, AFTER, END = "PreToolUse", "PostToolUse", "SessionEnd"
SILENCE = Reply(b"{}")


def read_event(data: bytes) -> Event:
    """What the host says. Raises CallError for a question that can't be read."""
    found = decoded(data)
    name, session = text_in(found, "hook_event_name"), text_in(found, "session_id")
    if name == AFTER:
        use = found.get("tool_use_id")
        return Event("after", session=session, use=use) if isinstance(use, str) and use else Event("other")
    if name == END and "tool_input" not in found:
        return Event("end", session=session)
    if name != BEFORE:
        if "tool_input" in found:
            raise CallError("an event that no hook was installed for")  # it may be a question under a new name
        return Event("other")
    agent, handed = found.get("agent_type"), found.get("agent_id") is not None
    if agent is None and handed:
        raise CallError("`agent_id` comes without `agent_type`")
    if agent is not None and (not isinstance(agent, str) or not agent):
        raise CallError("`agent_type` must be text")
    return Event(
        "before",
        session=session,
        tool=text_in(found, "tool_name"),
        args=args_in(found, "tool_input"),
        use=text_in(found, "tool_use_id"),
        agent=agent,
        handed=handed,
        cwd=cwd_in(found),
    )


class Codex:
    """The host."""

    name = NAME
    last_resort = LastResort.by_event(
        Reply(b"", b"Remit: {why}; nothing may run. Tell the person who runs you.\n", 2),
        SILENCE,
        before=BEFORE,
        reports=(AFTER, END),
    )
    started_in = None
    can_change_args = True
    definition_endings = (".toml",)
    read_event = staticmethod(read_event)

    def names_of(self, tool: str) -> tuple[str, ...]:
        """As the host says, or `server/tool` for one of an MCP server."""
        return server_names(tool)

    def effective_args(self, tool: str, args: dict[str, Any]) -> dict[str, Any]:
        """A patch is told by the files that it names."""
        if tool == "apply_patch" and isinstance(args.get("command"), str):
            return {**args, **(files_of(args["command"]) or {})}
        return args

    def answer(self, decision: Decision, changed: dict[str, Any] | None) -> Reply:
        """JSON on stdout for an allow, the reason on stderr for everything else."""
        if decision.would is not None:
            return SILENCE  # only observed: the host does what it would do without us
        if decision.verdict is not ALLOW:
            return Reply(b"", with_err(f"Remit: {decision.reason} ({decision.code})"), 2)
        said: dict[str, Any] = {"hookEventName": BEFORE, "permissionDecision": "allow"}
        if changed is not None:
            said["updatedInput"] = changed
        return Reply(msgspec.json.encode({"hookSpecificOutput": said}))

    def with_notice(self, reply: Reply, text: str) -> Reply:
        """What people see of an answer is `systemMessage`; beside a refusal it is the next line."""
        if reply.code != 0:
            return reply._replace(err=reply.err + with_err(f"Remit: {text}"))
        found = msgspec.json.decode(reply.out or b"{}")
        return reply._replace(out=msgspec.json.encode({**found, "systemMessage": f"Remit: {text}"}))

    def setup(self) -> CodexSetup:
        """Its files."""
        from remit.adapters.hosts.codex.setup import CodexSetup  # here: a hook does without what installs

        return CodexSetup()
