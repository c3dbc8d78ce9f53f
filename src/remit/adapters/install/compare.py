"""What a host has, what the policy gives to its agents, and what the policy doesn't know.

The tools that an agent could ever be allowed, what nobody may use, and the lines to paste for what is missing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from remit.adapters.hosts.interface import OWN_SERVER
from remit.adapters.hosts.setup import Setup
from remit.declare.load import read_pack
from remit.enforce.own_names import OWN_IN_HOST
from remit.explain.matrix import callers_of, cell_for, tools_of
from remit.forms.shapes import NAME
from remit.model.policy import Caller
from remit.model.rulebook import Rulebook
from remit.model.text import shown


def tools_of_host(setup: Setup) -> tuple[str, ...]:
    """The host's tools, by the names that it has for them."""
    return tuple(read_pack(setup.catalog.pack)) if setup.catalog.pack is not None else setup.catalog.tools


def observed(caller: Caller, now: str) -> bool:
    """True while the caller is only observed."""
    until = caller.enforce.observe_until if caller.enforce is not None else None
    return until is not None and now < until


def agents_of(rulebook: Rulebook) -> list[str]:
    """Whom the host could name as an agent: the policy's agents and roles."""
    return [name for name, caller in rulebook.book.callers.items() if caller.kind in ("agent", "role")]


def usable_tools(setup: Setup, rulebook: Rulebook, agent: str, now: str) -> list[str]:
    """The host's tools that the agent could be allowed to use, asked or not."""
    own, of_servers = tools_of_host(setup), (setup.catalog.server_tools or "").partition("{")[0]
    ours = own_names(setup)
    mine = [
        name
        for name in tools_of(rulebook)
        if name in own or name in ours or (of_servers and name.startswith(of_servers))
    ]
    return [ours.get(name, name) for name in mine if cell_for(rulebook, agent, name, now).verdict != "deny"]


def own_names(setup: Setup) -> dict[str, str]:
    """By its name in the policy: what the host calls a tool of Remit's own server; empty if it can have none."""
    start = setup.catalog.server_tools
    if start is None:
        return {}
    return {name: start.replace("{server}", OWN_SERVER) + name for name in sorted(OWN_IN_HOST)}


def unusable_tools(setup: Setup, rulebook: Rulebook, now: str) -> list[str]:
    """The host's tools that nobody in the policy may use."""
    everyone = callers_of(rulebook, everyone=True)
    return [
        tool
        for tool in tools_of_host(setup)
        if all(cell_for(rulebook, name, tool, now).verdict == "deny" for name in everyone)
    ]


def deny_rules(setup: Setup, rulebook: Rulebook, now: str) -> list[str]:
    """What no agent at all may do, in rules of the host's own; nothing while anybody is only observed."""
    if only_observed(rulebook, now):
        return []
    return setup.native_rules(unusable_tools(setup, rulebook, now), _own_paths(rulebook))


def left_out(rulebook: Rulebook, now: str) -> list[str]:
    """Why deny rules are missing that one would expect."""
    watched = only_observed(rulebook, now)
    if watched:
        return [f"no deny rules, since they would bind {', '.join(watched)}, who is only observed"]
    unruled = _own_paths(rulebook) is None
    return ["no deny rules for paths, since the policy lifts some or sets a `root`"] if unruled else []


def only_observed(rulebook: Rulebook, now: str) -> list[str]:
    """Whom the host could name as an agent and who is only observed."""
    return [name for name in agents_of(rulebook) if observed(rulebook.book.callers[name], now)]


def _own_paths(rulebook: Rulebook) -> list[str] | None:
    """The policy's own files, which the host itself can refuse to edit; None if the policy lifts protection, or has
    another root."""
    book = rulebook.book
    if book.protected.lifted or book.root not in (".", "./"):
        return None
    return [source for source in book.sources if re.fullmatch(r"[A-Za-z0-9_./ -]+", source) and ".." not in source]


def unknown_agents(setup: Setup, rulebook: Rulebook, defined: Iterable[str]) -> list[str]:
    """The host's agents that the policy doesn't know."""
    known = rulebook.book.callers
    return [name for name in dict.fromkeys([*defined, *setup.catalog.agents]) if name not in known]


def undefined_agents(setup: Setup, rulebook: Rulebook, defined: Iterable[str], main: str | None) -> list[str]:
    """The policy's agents that the host has no definition of."""
    there = {*defined, *setup.catalog.agents, main}
    return [name for name, caller in rulebook.book.callers.items() if caller.kind == "agent" and name not in there]


def unknown_tools(setup: Setup, rulebook: Rulebook, servers: Iterable[str]) -> list[str]:
    """The host's tools that the policy doesn't know; those of an MCP server as one pattern."""
    known = {*tools_of(rulebook), *rulebook.book.aliases}
    found = [name for name in tools_of_host(setup) if name not in known]
    for server in dict.fromkeys(servers if setup.catalog.server_tools is not None else ()):
        start = (setup.catalog.server_tools or "").replace("{server}", re.sub(r"[^A-Za-z0-9_-]", "_", server))
        if server == OWN_SERVER and OWN_IN_HOST & known:
            continue
        if not any(name.startswith(start) for name in known):
            found.append(f"{start}*")
    return found


def lines_for_agents(names: Iterable[str]) -> list[str]:
    """What to paste for agents that the policy doesn't know."""
    able = [name for name in names if NAME.fullmatch(name)]
    return ["agents:", *(f"  {name}: {{may: []}}" for name in able)] if able else []


def lines_for_tools(setup: Setup, names: Iterable[str]) -> list[str]:
    """What to paste for tools that the policy doesn't know."""
    names = list(names)
    patterns = [name for name in names if name.endswith("*")]
    bare = [name for name in names if name not in patterns]
    lines = []
    if setup.catalog.pack is not None and bare:
        lines, bare = [f"use: [{setup.catalog.pack}]"], []
    if patterns or bare:
        lines.append("tools:    # each tool with its own arguments, and what it does with them: Remit does not know it")
        lines.extend(f"  {shown(name)}: {{args: {{ARGUMENT: KIND}}, does: {{EFFECT: ARGUMENT}}}}" for name in bare)
        lines.extend(
            f"  {shown(name[:-1])}NAME: {{args: {{ARGUMENT: KIND}}, does: {{EFFECT: ARGUMENT}}}}" for name in patterns
        )
    return lines
