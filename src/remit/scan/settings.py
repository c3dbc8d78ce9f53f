"""Settings of hosts: what they let every agent of the project do, and which servers they start."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import islice
from typing import Any

from remit.scan.answers import answers, settled
from remit.scan.files import Text
from remit.scan.model import Account, Agent, Entry, Extent, Kind, Mark, Place
from remit.scan.vocabulary import layouts, split_scope

EVERYBODY = "(every agent)"
SANDBOX_READS, SANDBOX_WRITES = "sandboxed: read-only", "sandboxed: the workspace is writable"
"""The limits of a shell that its host keeps to looking, or to the workspace."""
_MOST = 2_000
"""Names that are read of one list or mapping: no person writes more."""
_SERVER_HEAD = re.compile(r"""\s*\[?\s*mcp_servers\.(["']?)([^"'\].]+)\1\s*[\].]""")


def is_everybody(agent: Agent) -> bool:
    """Whether it stands for all agents, by settings alone; a definition may choose any name, even this one."""
    return all(one.kind is Kind.SETTINGS and one.agent == EVERYBODY for one in agent.accounts)


class Unreadable(ValueError):
    """A settings file that can't be read; `str(error)` says why."""


def read_settings(text: Text) -> list[Account]:
    """What a settings file says of every agent. Raises Unreadable."""
    layout = next((one for one in layouts("settings") if one.path.search(f"/{text.path}")), None)
    if layout is None:
        return []
    found = _toml(text) if layout.form == "sandbox" else _json(text)
    return list(_FORMS[layout.form](text, found, layout.host))


def _json(text: Text) -> dict[str, Any]:
    plain = re.sub(r'("(?:\\.|[^"\\])*")|//[^\n]*|/\*.*?\*/', lambda found: found[1] or "", text.text, flags=re.DOTALL)
    plain = re.sub(r'("(?:\\.|[^"\\])*")|,(?=\s*[}\]])', lambda found: found[1] or "", plain)
    try:
        found = json.loads(plain)
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"not JSON: {error}") from None
    if not isinstance(found, dict):
        raise Unreadable("not an object")
    return found


def _line(text: Text, word: str, behind: str = "") -> int:
    """The line where a text stands in quotes, behind another one."""
    lines = _quoted(text.text)
    start = lines.get(json.dumps(behind, ensure_ascii=False), [(0, 1)])[0][0] if behind else 0
    found = lines.get(json.dumps(word, ensure_ascii=False), [])
    return next((line for at, line in found if at >= start), 1)


@lru_cache(maxsize=2)
def _quoted(text: str) -> dict[str, list[tuple[int, int]]]:
    """Where each text in quotes stands: its place in the file, and its line."""
    found: dict[str, list[tuple[int, int]]] = {}
    line, seen = 1, 0
    for match in re.finditer(r'"(?:\\.|[^"\\\n])*"', text):
        line, seen = line + text.count("\n", seen, match.start()), match.start()
        found.setdefault(match[0], []).append((match.start(), line))
    return found


def _named(found: Any) -> list[str]:
    """The texts of a list, or the keys of a mapping; a file that has more than a person writes is cut."""
    return [one for one in islice(found, _MOST) if isinstance(one, str)] if isinstance(found, (list, dict)) else []


def _account(
    text: Text,
    entries: list[Entry],
    host: str,
    *,
    agent: str = EVERYBODY,
    extent: Extent = Extent.LIST,
    mode: str | None = None,
    closed: bool = False,
) -> Account:
    line = min((entry.place.line for entry in entries), default=1)
    return Account(
        agent=agent,
        kind=Kind.SETTINGS,
        place=Place(text.path, line),
        extent=extent,
        entries=tuple(entries),
        closed=closed,
        host=host,
        mode=mode,
    )


def _permissions(text: Text, found: dict[str, Any], host: str) -> Iterator[Account]:
    permissions = found.get("permissions")
    if not isinstance(permissions, dict):
        return
    entries: list[Entry] = []
    for key, mark in (("allow", Mark.YES), ("ask", Mark.SCOPED), ("deny", Mark.NO)):
        for rule in _named(permissions.get(key)):
            tool, scope = split_scope(rule)
            place = Place(text.path, _line(text, rule, key))
            said = Mark.SCOPED if mark is Mark.YES and scope is not None else mark
            asked = key == "ask"
            entries.append(Entry(tool, said, place, "ask" if asked and scope is None else scope, asked))
    extent = Extent.EVERYTHING if permissions.get("defaultMode") == "bypassPermissions" else Extent.LIST
    if entries or extent is Extent.EVERYTHING:
        yield _account(text, entries, host, extent=extent)


def _servers(text: Text, found: dict[str, Any], host: str) -> Iterator[Account]:
    servers = found.get("mcpServers") or found.get("servers")
    if isinstance(servers, dict) and servers:
        entries = [Entry(f"mcp__{name}__*", Mark.YES, Place(text.path, _line(text, name))) for name in _named(servers)]
        yield _account(text, entries, host)


def _lists(text: Text, found: dict[str, Any], host: str) -> Iterator[Account]:
    tools = found.get("tools") if isinstance(found.get("tools"), dict) else {}
    entries: list[Entry] = []
    core: list[Entry] = []
    for names, mark, limit, into in (
        (_list(tools, "allowed"), Mark.YES, None, entries),
        ([*_list(tools, "core"), *_list(found, "coreTools")], Mark.SCOPED, "ask", core),  # there, and asked about
        ([*_list(tools, "exclude"), *_list(found, "excludeTools")], Mark.NO, None, entries),
    ):
        for name in names:
            tool, scope = split_scope(name)
            said = Mark.SCOPED if mark is Mark.YES and scope else mark
            into.append(Entry(tool, said, Place(text.path, _line(text, name)), scope or limit))
    servers = found.get("mcpServers")
    if isinstance(servers, dict):
        entries += [Entry(f"mcp__{name}__*", Mark.YES, Place(text.path, _line(text, name))) for name in _named(servers)]
    if entries:
        yield _account(text, entries, host)
    if core:  # there is no other tool of the host
        yield _account(text, core, host, closed=True)


def _list(found: Any, *keys: str) -> list[str]:
    if not isinstance(found, dict):
        return []
    return [name for key in keys if isinstance(found.get(key), list) for name in _named(found[key])]


def _by_tool(text: Text, found: dict[str, Any], host: str) -> Iterator[Account]:
    agents = found.get("agent") or found.get("mode")
    for name, value in [(EVERYBODY, found), *(islice(agents.items(), _MOST) if isinstance(agents, dict) else ())]:
        entries: list[Entry] = []
        own = "" if name == EVERYBODY else str(name)
        for key in ("tools", "permission"):
            group = value.get(key) if isinstance(value, dict) else None
            for tool, setting in islice(group.items(), _MOST) if isinstance(group, dict) else ():
                entries += answers(str(tool), setting, Place(text.path, _line(text, str(tool), own)))
        entries = settled(entries)
        servers = value.get("mcp") if name == EVERYBODY else None
        if isinstance(servers, dict):
            entries += [
                Entry(f"mcp__{one}__*", Mark.YES, Place(text.path, _line(text, one))) for one in _named(servers)
            ]
        if name != EVERYBODY:
            mode = value.get("mode") if isinstance(value, dict) else None
            mode = mode if isinstance(mode, str) else None
            yield _account(text, entries, host, agent=str(name), extent=Extent.EVERYTHING, mode=mode)
        elif entries:
            yield _account(text, entries, host)


def switched(text: Text) -> dict[str, tuple[bool, Place]]:
    """The servers of a settings file that may be switched off there, each with whether it is on. Raises Unreadable."""
    layout = next((one for one in layouts("settings") if one.path.search(f"/{text.path}")), None)
    servers = _json(text).get("mcp") if layout is not None and layout.form == "by tool" else None
    found: dict[str, tuple[bool, Place]] = {}
    if not isinstance(servers, dict):
        return {}
    for name in _named(servers):
        value = servers[name]
        if isinstance(value, dict) and isinstance(value.get("enabled", True), bool):
            found[name] = (value.get("enabled", True), Place(text.path, _line(text, name)))
    return found


def _toml(text: Text) -> dict[str, Any]:
    try:
        return tomllib.loads(text.text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise Unreadable(f"not TOML: {error}") from None


def _sandbox(text: Text, found: dict[str, Any], host: str) -> Iterator[Account]:
    entries: list[Entry] = []

    def at(key: str) -> Place:
        match = re.search(rf"^\s*(?:\[.*)?{re.escape(key)}", text.text, re.MULTILINE)
        return Place(text.path, text.text.count("\n", 0, match.start()) + 1 if match else 1)

    mode = found.get("sandbox_mode")
    if mode == "danger-full-access":
        entries.append(Entry("shell", Mark.YES, at("sandbox_mode")))
    elif mode == "workspace-write":
        entries.append(Entry("shell", Mark.SCOPED, at("sandbox_mode"), SANDBOX_WRITES))
    elif mode == "read-only":
        entries.append(Entry("shell", Mark.SCOPED, at("sandbox_mode"), SANDBOX_READS))
    servers = found.get("mcp_servers")
    if isinstance(servers, dict):
        first = at("mcp_servers").line
        heads = {m[2]: n for n, row in enumerate(text.text.split("\n"), 1) if (m := _SERVER_HEAD.match(row[:200]))}
        places = {name: Place(text.path, heads.get(name, first)) for name in _named(servers)}
        entries += [Entry(f"mcp__{name}__*", Mark.YES, place) for name, place in places.items()]
    name = found.get("name")
    own = isinstance(name, str) and "/agents/" in text.path
    if entries or own:
        yield _account(text, entries, host, agent=str(name) if own else EVERYBODY)


_FORMS: dict[str, Callable[[Text, dict[str, Any], str], Iterator[Account]]] = {
    "permissions": _permissions,
    "servers": _servers,
    "lists": _lists,
    "by tool": _by_tool,
    "sandbox": _sandbox,
}
