"""Findings about MCP servers: tables that give one agent different ones, and lists that leave some out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache

from remit.scan.lint.counts import is_past_page
from remit.scan.lint.finding import finding, listing
from remit.scan.model import Account, Agent, Entry, Extent, Finding, Kind, Place
from remit.scan.names import key_of
from remit.scan.servers import Listing, Switched, Use
from remit.scan.vocabulary import capability, tool_key, words

_MOST = 6


def servers_of(accounts: Sequence[Account]) -> dict[str, dict[str, str]]:
    """The servers that each settings file declares, by their keys."""
    found: dict[str, dict[str, str]] = {}
    for one in accounts:
        for entry in one.entries if one.kind is Kind.SETTINGS else ():
            if entry.tool.startswith("mcp__") and entry.tool.endswith("__*"):
                name = entry.tool[len("mcp__") : -len("__*")]
                found.setdefault(one.place.file, {})[tool_key(name)] = name
    return found


def servers_used(accounts: Sequence[Account]) -> frozenset[str]:
    """The keys of servers that the tools of definitions belong to by their names."""
    entries = (entry for one in accounts if one.kind is Kind.DEFINITION for entry in one.entries)
    return frozenset(name for entry in entries if (name := _server(entry.tool)))


def server_findings(
    uses: Sequence[Use], listings: Sequence[Listing], declared: dict[str, dict[str, str]]
) -> Iterator[Finding]:
    """What tables and lists say of servers against each other, and against the settings."""
    yield from _differ([one for one in uses if not is_past_page(one.place.file)])
    for one in listings:
        whole = [(file, names) for file, names in declared.items() if one.names <= names.keys()]
        if is_past_page(one.place.file) or not whole:
            continue
        file, names = min(whole, key=lambda each: len(each[1]))
        if one.others:
            named = listing([name for name, _ in one.others], _MOST)
            text = f"among the servers, and declared by no settings here: {named}"
            yield finding("undefined-name/server", text, *(place for _, place in one.others[:_MOST]), Place(file, 1))
        absent = [name for key, name in names.items() if key not in one.names | one.spoken]
        if absent and len(one.names) >= 0.6 * len(names):
            text = f"a document lists the servers; not {listing(absent, _MOST)}"
            them = "it" if len(absent) == 1 else "them"
            yield finding("no-section/servers", text, one.place, Place(file, 1), file=one.place.file, them=them)


def switch_findings(tables: Sequence[Switched], settings: Sequence[dict[str, tuple[bool, Place]]]) -> Iterator[Finding]:
    """Servers that a table calls enabled and settings switch off, or the other way round, once for a document."""
    states: dict[str, dict[bool, tuple[str, Place]]] = {}
    for file in settings:
        for name, (on, place) in file.items():
            states.setdefault(tool_key(name), {}).setdefault(on, (name, place))
    by_file: dict[tuple[str, bool], list[tuple[str, Place, Place]]] = {}
    for one in tables:
        other = states.get(one.server, {})
        if not is_past_page(one.place.file) and one.on not in other and other:
            name, place = other[not one.on]
            by_file.setdefault((one.place.file, one.on), []).append((name, one.place, place))
    for (_, on), wrong in by_file.items():
        said, done = ("enabled", "switch {} off") if on else ("disabled", "have {} switched on")
        names = listing([name for name, _, _ in wrong], _MOST)
        text = f"a table calls {names} {said}, and the settings {done.format('it' if len(wrong) == 1 else 'them')}"
        yield finding("defined-twice/switch", text, *(p for _, one, other in wrong[:_MOST] for p in (one, other)))


def definition_findings(uses: Sequence[Use], agents: Sequence[Agent], declared: frozenset[str]) -> Iterator[Finding]:
    """What tables say of an agent's servers against the list of its definition, once for a document and direction.

    `declared` are the keys of servers that settings have: a table that lists what is granted means only these.
    """
    found: dict[tuple[str, bool], list[tuple[str, str, Place, Place]]] = {}
    for agent in agents:
        keys = {key_of(name) for name in agent.names} | {
            key_of(name) for one in agent.accounts if one.kind is Kind.DEFINITION for name in one.names
        }
        lists = [one for one in agent.accounts if one.kind is Kind.DEFINITION and one.extent is Extent.LIST]
        for use in uses:
            if use.agent not in keys or is_past_page(use.place.file) or not lists:
                continue
            for definition in lists[:1]:
                lacks, more = _against(use, definition, declared)
                for name in (*lacks, *more):
                    case = (agent.name, name, use.place, definition.place)
                    found.setdefault((use.place.file, name in lacks), []).append(case)
    for (_, lacking), cases in found.items():
        shown = ", ".join(f"`{name}` ({agent})" for agent, name, _, _ in cases[:_MOST])
        rest = f" and {len(cases) - _MOST} more" if len(cases) > _MOST else ""
        places = [place for _, _, *both in cases[:_MOST] for place in both]
        if lacking:
            text = f"a table gives agents servers that no tool of their definitions belongs to: {shown}{rest}"
            yield finding("definition-narrower/servers", text, *places)
        else:
            text = f"definitions grant tools of servers that a table does not give: {shown}{rest}"
            yield finding("definition-wider/servers", text, *places)


def _against(use: Use, definition: Account, declared: frozenset[str]) -> tuple[list[str], list[str]]:
    """The servers that a row grants and a definition's list lacks, and the other way round."""
    held = [tool_key(entry.tool) for entry in definition.allowed() if capability(entry.tool) in ("mcp", "unknown")]
    if any(one in ("mcp*", "mcp", "*") for one in held) or definition.recovered:
        return [], []
    lacks = sorted(name for name in use.granted if not any(_short(name) in one for one in held))
    known = {name: entry.tool for entry in definition.allowed() if (name := _server(entry.tool))}
    prefixed = {name for name, tool in known.items() if tool.startswith("mcp__") or name in declared}
    compared = use.told if use.told is not None else prefixed
    more = sorted(name for name in known if name in compared and name not in use.granted)
    return lacks, [name for name in more if not any(name in one or one in name for one in use.granted)]


def _short(server: str) -> str:
    """A server's key without "mcp" and "server", which one place may add and another leave out."""
    found = re.sub(r"^mcp|(?:mcp)?(?:server)?$", "", server)
    return found if len(found) > 2 else server


def _server(tool: str) -> str:
    """The key of the server that a tool belongs to by its name: `mcp__github__search`, `github/search`."""
    parts = tool.split("__")
    if parts[0] == "mcp" and len(parts) > 1 and parts[1] not in ("", "*"):
        return tool_key(parts[1])
    if capability(tool) != "mcp" or "/" not in tool or tool.lower().startswith("mcp"):
        return ""
    first = tool.partition("/")[0]  # what has a dot is a program's extension, or a name in a registry
    return tool_key(first) if "." not in first and not first.startswith("@") else ""


def undeclared_findings(agents: Sequence[Agent], accounts: Sequence[Account]) -> Iterator[Finding]:
    """Servers whose tools definitions list, and that no settings declare, where the settings have the others."""
    for host in sorted({one.host for one in accounts if one.kind is Kind.DEFINITION and one.host is not None}):
        own = servers_of([one for one in accounts if one.host == host])
        if own:
            yield from _undeclared(agents, host, own)


def _undeclared(agents: Sequence[Agent], host: str, own: dict[str, dict[str, str]]) -> Iterator[Finding]:
    declared = {key for names in own.values() for key in names}
    absent: dict[str, list[tuple[str, Entry]]] = {}
    found: set[str] = set()
    for agent in agents:
        for one in agent.accounts:
            for entry in one.allowed() if one.kind is Kind.DEFINITION and one.host == host else ():
                key = _server(entry.tool)
                if key and any(key in other or other in key for other in declared):
                    found.add(key)
                elif key and key not in _brought():
                    absent.setdefault(key, []).append((agent.name, entry))
    if len(found) < max(1, len(absent)):
        return  # they are declared elsewhere
    for cases in absent.values():
        (agent_name, entry), file = cases[0], min(own)
        who = agent_name if len({name for name, _ in cases}) == 1 else None
        text = f"`{entry.tool}` is a tool of a server that no settings here declare"
        yield finding(
            "undefined-name/server", text, *(one.place for _, one in cases[:_MOST]), Place(file, 1), agent=who
        )


@cache
def _brought() -> frozenset[str]:
    """Servers that hosts bring along, or that a person adds to a host."""
    return frozenset(tool_key(one) for one in words("builtin_servers", ""))


def _differ(uses: Sequence[Use]) -> Iterator[Finding]:
    """Two tables that give an agent different servers, once for two documents."""
    by_agent: dict[str, list[Use]] = {}
    for use in uses:
        by_agent.setdefault(use.agent, []).append(use)
    found: dict[tuple[str, str], list[tuple[str, Place, Place]]] = {}
    for agent, rows in by_agent.items():
        for at, one in enumerate(rows):
            for other in rows[at + 1 :]:
                if one.place.file != other.place.file and _contradict(one, other):
                    found.setdefault((one.place.file, other.place.file), []).append((agent, one.place, other.place))
    cases = [case for several in found.values() for case in several]
    if cases:
        who = (
            "two tables" if len(found) == 1 else f"tables in {len({file for pair in found for file in pair})} documents"
        )
        text = f"{who} give different servers to {listing(list(dict.fromkeys(agent for agent, _, _ in cases)), _MOST)}"
        places = dict.fromkeys(place for _, *both in cases for place in both)
        yield finding("tables-differ/servers", text, *list(places)[: 2 * _MOST])


def _contradict(one: Use, other: Use) -> bool:
    """Whether a server is granted by one row and, as far as it can be told, not by the other."""
    compared = one.granted | other.granted
    for told in (one.told, other.told):
        compared = compared & told if told is not None else compared
    return bool(compared & (one.granted ^ other.granted))
