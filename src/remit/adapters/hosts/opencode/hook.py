"""How OpenCode speaks: its hooks are functions of a plugin, and ours (`remit.mjs`) asks the same program as all hosts.

So both sides of this are ours. The plugin throws, which blocks the call, for every answer but one that allows it.

    {"event": "before", "session": …, "call": …, "tool": …, "args": {…}, "agent": …, "parent": …, "root": …,
     "cwd": …}
    {"verdict": "allow", "args": {…}}
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from remit.adapters.hosts.interface import OWN_SERVER, Event, LastResort, Reply
from remit.adapters.hosts.patches import files_of
from remit.adapters.hosts.payload import args_in, cwd_of, decoded, own_names, text_in
from remit.model.decision import Decision
from remit.model.errors import CallError
from remit.model.terms import ALLOW

if TYPE_CHECKING:
    from remit.adapters.hosts.opencode.setup import OpenCodeSetup

NAME = "opencode"
MAIN = ("build", "plan")
"""Its own two modes: both are the main agent."""
SHELL = "bash"
SILENCE = Reply(b"{}")
_REFUSAL = b'{"verdict":"deny","reason":"Remit: {why}; nothing may run. Tell the person who runs you."}'


def read_event(data: bytes) -> Event:
    """What the plugin says. Raises CallError for a question that can't be read."""
    found = decoded(data)
    name, session, use = text_in(found, "event"), text_in(found, "session"), text_in(found, "call")
    if name == "after":
        return Event("after", session=session, use=use)
    if name != "before":
        raise CallError("not an event of this host")
    agent, parent, root = text_in(found, "agent"), found.get("parent"), found.get("root")
    handed = isinstance(parent, str) and bool(parent)
    tool, args = text_in(found, "tool"), args_in(found, "args")
    return Event(
        "before",
        session=session,
        tool=tool,
        args=args,
        use=use,
        agent=agent if handed or agent not in MAIN else None,
        handed=handed,
        launched_in=parent if isinstance(parent, str) else "",
        within=root if isinstance(root, str) else "",
        cwd=cwd_of(found, args.get("workdir") if tool == SHELL else None),
    )


class OpenCode:
    """The host."""

    name = NAME
    last_resort = LastResort(
        Reply(_REFUSAL, b"Remit: {why}\n", 2),
        SILENCE,
        questions=('"event":"before"',),
        reports=('"event":"after"',),
    )
    started_in = "REMIT_OPENCODE_DIRECTORY"  # the plugin sets it
    can_change_args = True
    definition_endings = (".md",)
    read_event = staticmethod(read_event)

    def names_of(self, tool: str) -> tuple[str, ...]:
        """As the host says: a tool of an MCP server is `server_tool`."""
        return own_names(tool, f"{OWN_SERVER}_")

    def effective_args(self, tool: str, args: dict[str, Any]) -> dict[str, Any]:
        """A patch is told by the files that it names, and where a command starts is the call's own directory."""
        if tool == SHELL and "workdir" in args:
            return {name: value for name, value in args.items() if name != "workdir"}
        if tool == "apply_patch" and isinstance(args.get("patchText"), str):
            return {**args, **(files_of(args["patchText"]) or {})}
        return args

    def answer(self, decision: Decision, changed: dict[str, Any] | None) -> Reply:
        """JSON on stdout; a deny ends with 2 as well."""
        if decision.would is not None:
            return SILENCE  # only observed: the host does what it would do without us
        if decision.verdict is not ALLOW:
            said = {"verdict": "deny", "reason": f"Remit: {decision.reason} ({decision.code})"}
            return Reply(msgspec.json.encode(said), code=2)
        return Reply(msgspec.json.encode({"verdict": "allow", **({"args": changed} if changed is not None else {})}))

    def with_notice(self, reply: Reply, text: str) -> Reply:
        """The plugin shows it."""
        found = msgspec.json.decode(reply.out or b"{}")
        return reply._replace(out=msgspec.json.encode({**found, "notice": text}))

    def setup(self) -> OpenCodeSetup:
        """Its files."""
        from remit.adapters.hosts.opencode.setup import OpenCodeSetup  # here: a hook does without what installs

        return OpenCodeSetup()
