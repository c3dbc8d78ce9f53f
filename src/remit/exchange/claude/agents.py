"""What Claude Code has, what the policy gives to its agents, and what the policy doesn't know.

The tools that an agent could ever be allowed, what nobody may use, and the lines to paste for what is missing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from remit.declare.load import read_pack
from remit.exchange.claude.host import HOST, host_data
from remit.explain.matrix import callers_of, cell_for, tools_of
from remit.forms.shapes import NAME
from remit.model.policy import Caller
from remit.model.rulebook import Rulebook
from remit.model.text import shown


def built_in_agents() -> list[str]:
    """The agents that need no definition."""
    return list(host_data()["agents"])


@cache
def pack_tools() -> tuple[str, ...]:
    """The host's tools; the pack names them as the host does."""
    return tuple(read_pack(HOST))


def observed(caller: Caller, now: str) -> bool:
    """True while the caller is only observed."""
    until = caller.enforce.observe_until if caller.enforce is not None else None
    return until is not None and now < until


def agents_of(rulebook: Rulebook) -> list[str]:
    """Whom the host could name as an agent: the policy's agents and roles."""
    return [name for name, caller in rulebook.book.callers.items() if caller.kind in ("agent", "role")]


def usable_tools(rulebook: Rulebook, agent: str, now: str) -> list[str]:
    """The host's tools that the agent could be allowed to use, asked or not."""
    mine = [name for name in tools_of(rulebook) if name in pack_tools() or name.startswith("mcp__")]
    return [name for name in mine if cell_for(rulebook, agent, name, now).verdict != "deny"]


def unusable_tools(rulebook: Rulebook, now: str) -> list[str]:
    """The host's tools that nobody in the policy may use."""
    everyone = callers_of(rulebook, everyone=True)
    return [
        tool for tool in pack_tools() if all(cell_for(rulebook, name, tool, now).verdict == "deny" for name in everyone)
    ]


def deny_rules(rulebook: Rulebook, now: str) -> list[str]:
    """What no agent at all may do, in the host's own words; nothing while anybody is only observed."""
    if only_observed(rulebook, now):
        return []
    return [*unusable_tools(rulebook, now), *_path_rules(rulebook)]


def left_out(rulebook: Rulebook, now: str) -> list[str]:
    """Why deny rules are missing that one would expect."""
    watched = only_observed(rulebook, now)
    if watched:
        return [f"no deny rules, since they would bind {', '.join(watched)}, who is only observed"]
    return [] if _path_rules(rulebook) else ["no deny rules for paths, since the policy lifts some or sets a `root`"]


def only_observed(rulebook: Rulebook, now: str) -> list[str]:
    """Whom the host could name as an agent and who is only observed."""
    return [name for name in agents_of(rulebook) if observed(rulebook.book.callers[name], now)]


def _path_rules(rulebook: Rulebook) -> list[str]:
    """The protected paths that the host itself can refuse; none if the policy lifts some, or has another root."""
    book = rulebook.book
    if book.protected.lifted or book.root not in (".", "./"):
        return []
    inside = [source for source in book.sources if re.fullmatch(r"[A-Za-z0-9_./ -]+", source) and ".." not in source]
    edits = [f"Edit(/{path})" for path in (".remit/**", ".claude/**", *inside)]
    return [*edits, "Read(/.remit/**)"]


def unknown_agents(rulebook: Rulebook, defined: Iterable[str]) -> list[str]:
    """The host's agents that the policy doesn't know."""
    known = rulebook.book.callers
    return [name for name in dict.fromkeys([*defined, *built_in_agents()]) if name not in known]


def undefined_agents(rulebook: Rulebook, defined: Iterable[str], main: str | None) -> list[str]:
    """The policy's agents that the host has no definition of."""
    there = {*defined, *built_in_agents(), main}
    return [name for name, caller in rulebook.book.callers.items() if caller.kind == "agent" and name not in there]


def unknown_tools(rulebook: Rulebook, servers: Iterable[str]) -> list[str]:
    """The host's tools that the policy doesn't know; those of an MCP server as one pattern."""
    known = {*tools_of(rulebook), *rulebook.book.aliases}
    found = [name for name in pack_tools() if name not in known]
    for server in dict.fromkeys(servers):
        start = f"mcp__{re.sub(r'[^A-Za-z0-9_-]', '_', server)}__"
        if not any(name.startswith(start) for name in known):
            found.append(f"{start}*")
    return found


def lines_for_agents(names: Iterable[str]) -> list[str]:
    """What to paste for agents that the policy doesn't know."""
    able = [name for name in names if NAME.fullmatch(name)]
    return ["agents:", *(f"  {name}: {{may: []}}" for name in able)] if able else []


def lines_for_tools(names: Iterable[str]) -> list[str]:
    """What to paste for tools that the policy doesn't know."""
    names = list(names)
    lines = [f"use: [{HOST}]"] if any(not name.startswith("mcp__") for name in names) else []
    patterns = [name for name in names if name.startswith("mcp__")]
    if patterns:
        lines.append("tools:    # one for each tool of the server, with its own arguments")
        lines.extend(f"  {shown(name[:-1])}NAME: {{args: {{}}, does: nothing}}" for name in patterns)
    return lines
