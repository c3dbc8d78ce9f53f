"""Claude Code's settings: our hooks and deny rules put in, brought up to date, and taken out again.

Everything else in the file stays as it is, to the byte. Our hooks are known by the program that they run; the deny
rules that are ours are remembered by the caller, since a rule doesn't tell who wrote it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from remit.adapters.hooks.command import is_hook_command
from remit.adapters.hosts.claude_code.catalog import catalog
from remit.adapters.hosts.claude_code.hook import AFTER, BEFORE, END, FAILED, NAME
from remit.adapters.hosts.interface import OWN_SERVER
from remit.exchange import json_text
from remit.exchange.json_text import JsonError
from remit.model.text import shown

EVENTS = (BEFORE, AFTER, FAILED, END)
TIMEOUT = 30
EMPTY = "{}\n"
_TYPES = {"object": dict, "text": str, "flag": bool}


def is_ours(command: object) -> bool:
    """True for a command that runs Remit's hook for this host, from wherever it is installed."""
    return is_hook_command(command, NAME)


def group(command: str) -> dict[str, Any]:
    """What stands under one event: every tool, and no tool if the hook fails."""
    entry = {"type": "command", "command": command, "timeout": TIMEOUT, "onFailure": "block"}
    return {"matcher": "*", "hooks": [entry]}


def install(
    text: str, command: str | None, rules: Sequence[str], ours: Sequence[str] = ()
) -> tuple[str, tuple[str, ...]]:
    """The settings with our hooks and these deny rules, and which of the rules are ours.

    Without a command there are no hooks of ours in them. `ours` are the deny rules that an earlier installation added:
    those no longer wanted go. Raises JsonError.
    """
    check(text)
    for event in json_text.get(text, ("hooks",)) or {}:
        if command is None or event not in EVENTS:
            text = _drop_event(text, event)
    if command is not None:
        for event in EVENTS:
            text = _put_hook(text, event, group(command))
    for key in catalog().wanted if rules else ():  # no rules: whoever only observes blocks nothing
        if json_text.get(text, (key,)) is None:
            text = json_text.put(text, (key,), True)
    return _put_rules(text, rules, ours)


def uninstall(text: str, ours: Sequence[str], before: str) -> str:
    """The settings without our hooks and rules, and without what got empty by that and was not there `before`.

    Raises JsonError only for what is not JSON.
    """
    hooks = json_text.get(text, ("hooks",))
    for event in hooks if isinstance(hooks, dict) else ():
        without = _drop_hooks(text, event)
        text = text if without == text else _prune(without, ("hooks", event), before)
    text = _prune(text, ("hooks",), before)
    text = _drop_rules(text, set(ours))
    text = _prune(text, ("permissions", "deny"), before)
    for key in catalog().wanted:
        if json_text.get(text, (key,)) is True and _before(before, (key,)) is None:
            text = json_text.remove(text, (key,))
    return _prune(text, ("permissions",), before)


def holds_hooks(text: str) -> bool:
    """True if a hook of ours stands in these settings, from wherever it is installed. Raises JsonError."""
    return uninstall(text, (), text) != text


def switched_off(text: str) -> bool:
    """True if these settings switch all hooks off. Raises JsonError."""
    return json_text.get(text, ("disableAllHooks",)) is True


def servers(text: str) -> list[str]:
    """The MCP servers that a file names under `mcpServers`. Raises JsonError."""
    found = json_text.get(text, ("mcpServers",))
    return list(found) if isinstance(found, dict) else []


def project_servers(text: str, root: str) -> list[str]:
    """The same for one project, in the host's file of all projects. Raises JsonError."""
    found = json_text.get(text, ("projects", root, "mcpServers"))
    return list(found) if isinstance(found, dict) else []


def put_server(text: str, root: str, command: Sequence[str]) -> tuple[str, int]:
    """The host's file of all projects with our server for this one, and how many objects were made. Raises JsonError.

    `alwaysLoad`: its tools are offered without a search for them.
    """
    wanted = {"type": "stdio", "command": command[0], "args": list(command[1:]), "env": {}, "alwaysLoad": True}
    made = 0
    for path in _server_holders(root):
        found = json_text.get(text, path)
        if found is None:
            text, made = json_text.put(text, path, {}), made + 1
        elif not isinstance(found, dict):
            raise JsonError(f"`{shown(path[-1], 300)}` is not an object")
    place = (*_server_holders(root)[-1], OWN_SERVER)
    return (text if json_text.get(text, place) == wanted else json_text.put(text, place, wanted)), made


def take_server(text: str, root: str, made: int) -> str:
    """The same without it, and without those objects, where they are empty. Raises JsonError."""
    holders = _server_holders(root)
    place = (*holders[-1], OWN_SERVER)
    if json_text.get(text, place) is None:
        return text
    text = json_text.remove(text, place)
    for path in reversed(holders[len(holders) - made :]):
        if json_text.get(text, path) == {}:
            text = json_text.remove(text, path)
    return text


def _server_holders(root: str) -> tuple[tuple[str, ...], ...]:
    """The objects that hold it, the outermost first."""
    return (("projects",), ("projects", root), ("projects", root, "mcpServers"))


def check(text: str) -> None:
    """Raises JsonError if the host would ignore these settings, hooks and all, because something has another type."""
    data = json_text.parse(text).plain()
    known = catalog()
    for key, type_ in known.settings.items():
        if key in data and not isinstance(data[key], _TYPES[type_]):
            raise JsonError(f"`{key}` is not of type {type_}, so the host would ignore the file")
    for key in known.permissions:
        rules = data.get("permissions", {}).get(key, [])
        if not isinstance(rules, list) or not all(isinstance(rule, str) for rule in rules):
            raise JsonError(f"`permissions.{key}` is not a list of texts, so the host would ignore the file")
    for event, groups in data.get("hooks", {}).items():
        if not isinstance(groups, list) or not all(_is_group(entry) for entry in groups):
            raise JsonError(f"`hooks.{shown(event)}` is not a list of hooks, so the host would ignore the file")


def _is_group(entry: Any) -> bool:
    """True for `{matcher, hooks: [{type, …}]}`."""
    handlers = entry.get("hooks") if isinstance(entry, dict) else None
    return isinstance(handlers, list) and all(
        isinstance(handler, dict) and handler.get("type") in catalog().handlers for handler in handlers
    )


def _ours_in(entry: Any) -> list[int]:
    """Which handlers of a group are ours."""
    handlers = entry.get("hooks") if isinstance(entry, dict) else None
    if not isinstance(handlers, list):
        return []
    return [n for n, item in enumerate(handlers) if isinstance(item, dict) and is_ours(item.get("command"))]


def _put_hook(text: str, event: str, wanted: dict[str, Any]) -> str:
    if not isinstance(json_text.get(text, ("hooks",)), dict):
        text = json_text.put(text, ("hooks",), {})
    groups = json_text.get(text, ("hooks", event))
    if groups is None:
        return json_text.put(text, ("hooks", event), [wanted])
    mine = [n for n, entry in enumerate(groups) if _ours_in(entry)]
    if len(mine) == 1:
        found = groups[mine[0]]
        if found == wanted:
            return text
        if len(_ours_in(found)) == len(found["hooks"]):
            return json_text.put(text, ("hooks", event, mine[0]), wanted)
    return json_text.append(_drop_hooks(text, event), ("hooks", event), wanted)


def _drop_event(text: str, event: str) -> str:
    """Our handlers are gone from an event, with what got empty by that."""
    without = _drop_hooks(text, event)
    if without == text:
        return text
    for path in (("hooks", event), ("hooks",)):
        if json_text.get(without, path) in ({}, []):
            without = json_text.remove(without, path)
    return without


def _drop_hooks(text: str, event: str) -> str:
    """Our handlers are gone from an event, and the groups that held nothing else."""
    groups = json_text.get(text, ("hooks", event))
    if not isinstance(groups, list):
        return text
    for n in reversed(range(len(groups))):
        mine = _ours_in(groups[n])
        if mine and len(mine) == len(groups[n]["hooks"]):
            text = json_text.remove(text, ("hooks", event, n))
            continue
        for index in reversed(mine):
            text = json_text.remove(text, ("hooks", event, n, "hooks", index))
    return text


def _put_rules(text: str, rules: Sequence[str], ours: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    text = _drop_rules(text, set(ours) - set(rules))
    there = json_text.get(text, ("permissions", "deny")) or []
    missing = [rule for rule in dict.fromkeys(rules) if rule not in there]
    if missing and json_text.get(text, ("permissions",)) is None:
        text = json_text.put(text, ("permissions",), {})
    if missing and json_text.get(text, ("permissions", "deny")) is None:
        text = json_text.put(text, ("permissions", "deny"), [])
    text = json_text.append(text, ("permissions", "deny"), *missing) if missing else text
    return text, tuple(rule for rule in dict.fromkeys(rules) if rule in missing or rule in ours)


def _drop_rules(text: str, gone: set[str]) -> str:
    there = json_text.get(text, ("permissions", "deny"))
    if isinstance(there, list):
        for n in reversed(range(len(there))):
            if isinstance(there[n], str) and there[n] in gone:
                text = json_text.remove(text, ("permissions", "deny", n))
    return text


def _prune(text: str, path: tuple[str, ...], before: str) -> str:
    """Without a container that is empty, unless it was there before."""
    if json_text.get(text, path) not in ({}, []) or _before(before, path) is not None:
        return text
    return json_text.remove(text, path)


def _before(text: str, path: tuple[str, ...]) -> Any:
    """What stood there; nothing in what could not be read."""
    try:
        return json_text.get(text, path)
    except JsonError:
        return None
