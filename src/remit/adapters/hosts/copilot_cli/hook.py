"""How GitHub Copilot CLI speaks: the JSON of its hooks as an event, and a decision as the answer that it obeys.

The host runs the tool if a hook hangs, prints junk or says nothing; it blocks it if the hook ends with 2, whatever was
printed. So a deny is an answer and a 2. An `allow` skips the host's own question; no decision leaves the call to it.

VS Code runs the same hooks for its agents, with other fields and without the agent's name (`_from_editor`), and looks
for the decision elsewhere in the answer: both are written, and each program reads its own.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import msgspec

from remit.adapters.hooks.client import AGENT
from remit.adapters.hosts.interface import OWN_SERVER, Event, LastResort, Reply
from remit.adapters.hosts.patches import files_of
from remit.adapters.hosts.payload import alike, args_in, cwd_in, decoded, own_names, text_in, with_err
from remit.model.decision import Decision
from remit.model.errors import CallError
from remit.model.terms import ALLOW, ASK, DENY

if TYPE_CHECKING:
    from remit.adapters.hosts.copilot_cli.setup import CopilotSetup

NAME = "copilot-cli"
SILENCE = Reply(b"{}")
_WHY = (
    b'"permissionDecision":"deny",'
    b'"permissionDecisionReason":"Remit: {why}; nothing may run. Tell the person who runs you."'
)
_REFUSAL = b'{%b,"hookSpecificOutput":{"hookEventName":"PreToolUse",%b}}' % (_WHY, _WHY)


def read_event(data: bytes) -> Event:
    """What the host says: which fields are there tells what kind of event it is. Raises CallError."""
    found = decoded(data)
    if AGENT in found:
        return _from_definition(found)
    if "hookEventName" in found:
        return _from_editor(found)
    session = text_in(found, "sessionId")
    if "toolName" not in found:
        if "toolArgs" in found or "tool_input" in found:
            raise CallError("an event that no hook was installed for")
        return Event("end", session=session) if "reason" in found else Event("other")
    tool = text_in(found, "toolName")
    args = _args(found)
    same = alike(tool, args)
    if "toolResult" in found or "error" in found:
        return Event("after", session=session, alike=same, failed="tool-failed" if "error" in found else None)
    moment = found.get("timestamp")
    if not isinstance(moment, int):
        raise CallError("`timestamp` must be a number")
    agent, handed = found.get("agentType"), found.get("agentId") is not None
    if agent is None and handed:
        raise CallError("`agentId` comes without `agentType`")
    if agent is not None and (not isinstance(agent, str) or not agent):
        raise CallError("`agentType` must be text")
    parent = found.get("parentAgentId")
    return Event(
        "before",
        session=session,
        tool=tool,
        args=args,
        use=f"{same}.{moment}",
        agent=agent,
        handed=handed,
        launched_in=parent if isinstance(parent, str) else "",
        within=parent if isinstance(parent, str) else "",
        cwd=cwd_in(found),
        person=True,
    )


def _from_editor(found: dict[str, Any]) -> Event:
    """What VS Code says to the user's hook: every call is the main agent's. Raises CallError."""
    name, session = text_in(found, "hookEventName"), text_in(found, "sessionId")
    if name == "PostToolUse":
        use = found.get("tool_use_id")
        return Event("after", session=session, use=use) if isinstance(use, str) and use else Event("other")
    if name != "PreToolUse":
        if "tool_input" in found:
            raise CallError("an event that no hook was installed for")
        return Event("other")
    return Event(
        "before",
        session=session,
        tool=text_in(found, "tool_name"),
        args=args_in(found, "tool_input"),
        use=text_in(found, "tool_use_id"),
        cwd=cwd_in(found),
        named=False,
        person=True,
    )


def _from_definition(found: dict[str, Any]) -> Event:
    """What a hook in an agent's definition is told in VS Code: the call is that agent's. Raises CallError.

    The user's hook judges the same call as the main agent's, and the host obeys the stricter of the two. So each has an
    id of its own.
    """
    agent, said = text_in(found, AGENT), found.get("said")
    if not isinstance(said, dict) or "hookEventName" not in said:
        raise CallError("a hook in an agent's definition is for VS Code")
    event = _from_editor(said)
    if not event.use:
        return event
    return msgspec.structs.replace(event, agent=agent, named=True, use=f"{event.use}.{agent}")


def _args(found: dict[str, Any]) -> dict[str, Any]:
    """Some versions give them as JSON in a text; a tool that takes one text gives that."""
    said = found.get("toolArgs")
    if not isinstance(said, str):
        return args_in(found, "toolArgs")
    try:
        parsed = json.loads(said)
    except (ValueError, RecursionError):
        parsed = None
    return parsed if isinstance(parsed, dict) else {"input": said}


class CopilotCli:
    """The host."""

    name = NAME
    last_resort = LastResort(
        Reply(_REFUSAL, b"Remit: {why}\n", 2),
        SILENCE,
        questions=(),
        reports=('"toolResult":', '"error":', '"toolResult": ', '"error": '),
        unattended=("COPILOT_LOADER_PID", ""),  # only a session in a terminal has it
    )
    started_in = "COPILOT_PROJECT_DIR"
    can_change_args = True
    definition_endings = (".md", ".agent.md")
    read_event = staticmethod(read_event)

    def names_of(self, tool: str) -> tuple[str, ...]:
        """As the host says: a tool of an MCP server is `server-tool`."""
        return own_names(tool, f"{OWN_SERVER}-")

    def effective_args(self, tool: str, args: dict[str, Any]) -> dict[str, Any]:
        """One path may stand in the place of a list; a patch is told by the files that it names."""
        if tool in ("grep", "rg", "glob") and isinstance(args.get("paths"), str):
            return {**args, "paths": [args["paths"]]}
        if tool == "apply_patch" and isinstance(args.get("input"), str):
            return {**args, **(files_of(args["input"]) or {})}
        return args

    def answer(self, decision: Decision, changed: dict[str, Any] | None) -> Reply:
        """JSON on stdout; a deny ends with 2 as well."""
        if decision.would is not None:
            return SILENCE  # only observed: the host does what it would do without us
        said: dict[str, Any] = {"permissionDecision": decision.verdict.word}
        who = "Remit asks" if decision.verdict is ASK else "Remit"
        reason = f"{who}: {decision.reason} ({decision.code})"
        if decision.verdict is not ALLOW:
            said["permissionDecisionReason"] = reason
        editor = {"hookEventName": "PreToolUse", **said}
        if changed is not None and decision.verdict is ALLOW:
            said["modifiedArgs"] = editor["updatedInput"] = changed
        out = msgspec.json.encode({**said, "hookSpecificOutput": editor})
        return Reply(out) if decision.verdict is not DENY else Reply(out, with_err(reason), 2)

    def with_notice(self, reply: Reply, text: str) -> Reply:
        """It shows what a hook writes to stderr."""
        return reply._replace(err=reply.err + with_err(f"Remit: {text}"))

    def setup(self) -> CopilotSetup:
        """Its files."""
        from remit.adapters.hosts.copilot_cli.setup import CopilotSetup  # here: a hook does without what installs

        return CopilotSetup()
