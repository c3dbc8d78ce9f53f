"""Hooks in settings that are JSON, `{"hooks": {EVENT: [ENTRY, …]}}`: put in, brought up to date, and taken out again.

Everything else in the file stays as it is, to the byte. An entry is ours if it runs Remit's hook, wherever in it that
stands: hosts have it under `command`, under `bash`, or in a list of handlers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from remit.adapters.hooks.command import is_hook_command
from remit.adapters.hosts.interface import OWN_SERVER
from remit.adapters.hosts.setup import Finding
from remit.exchange import json_text
from remit.exchange.json_text import JsonError
from remit.model.text import shown

EMPTY = "{}\n"
MAX_SIZE = 4 * 1024 * 1024


def put(text: str | None, wanted: Mapping[str, Any], host: str, fixed: Mapping[str, Any]) -> str:
    """The settings with these entries, one for each event, and no other of ours. `fixed` are keys that must be there.

    Raises JsonError.
    """
    text = text if text is not None and text.strip() else EMPTY
    if not wanted and not _may_hold(text, host):
        return text
    check(text)
    hooks = json_text.get(text, ("hooks",)) or {}
    for event in hooks:
        if ours_in(hooks[event], host) != [wanted.get(event)]:
            text = _drop(text, event, host)
    for key, value in fixed.items():
        if json_text.get(text, (key,)) is None:
            text = json_text.put(text, (key,), value)
    if wanted and json_text.get(text, ("hooks",)) is None:
        text = json_text.put(text, ("hooks",), {})
    for event, entry in wanted.items():
        there = json_text.get(text, ("hooks", event))
        if there is None:
            text = json_text.put(text, ("hooks", event), [entry])
        elif not ours_in(there, host):
            text = json_text.append(text, ("hooks", event), entry)
    return text


def take(text: str, host: str, fixed: Mapping[str, Any], before: str | None) -> str:
    """The settings without ours, and without what got empty by that and was not there `before`. Raises JsonError."""
    hooks = json_text.get(text, ("hooks",))
    ours = False
    for event in hooks if isinstance(hooks, dict) else ():
        without = _drop(text, event, host)
        ours = ours or without != text
        text = without if without == text else _prune(without, ("hooks", event), before)
    text = _prune(text, ("hooks",), before)
    for key, value in fixed.items():
        if ours and json_text.get(text, (key,)) == value and _before(before, (key,)) is None:
            text = json_text.remove(text, (key,))
    return text


def put_server(text: str | None, key: str, entry: dict[str, Any]) -> tuple[str, int]:
    """The file with our MCP server under `key`, and how many objects were made for it. Raises JsonError."""
    text = text if text is not None and text.strip() else EMPTY
    there, made = json_text.get(text, (key,)), 0
    if there is None:
        text, made = json_text.put(text, (key,), {}), 1
    elif not isinstance(there, dict):
        raise JsonError(f"`{key}` is not an object")
    same = json_text.get(text, (key, OWN_SERVER)) == entry
    return text if same else json_text.put(text, (key, OWN_SERVER), entry), made


def take_server(text: str, key: str, host: str, before: str | None) -> str:
    """The file without it, and without `key` if that got empty and was not there `before`. Raises JsonError."""
    if not _is_ours(json_text.get(text, (key, OWN_SERVER)), host):
        return text
    return _prune(json_text.remove(text, (key, OWN_SERVER)), (key,), before)


def servers_in(paths: Iterable[Path], key: str = "mcpServers") -> list[str]:
    """The names of the MCP servers that these files have under `key`."""
    found: list[str] = []
    for path in paths:
        data = read_json(path)
        servers = data.get(key) if isinstance(data, dict) else None
        found += list(servers) if isinstance(servers, dict) else []
    return found


def check(text: str) -> None:
    """Raises JsonError for settings that hooks can't be put into."""
    data = json_text.parse(text).plain()
    hooks = data.get("hooks", {}) if isinstance(data, dict) else None
    if not isinstance(hooks, dict) or not all(isinstance(entries, list) for entries in hooks.values()):
        raise JsonError("`hooks` has no lists of hooks in it")


def ours_in(entries: Any, host: str) -> list[Any]:
    """The entries that are ours."""
    return [one for one in entries if _is_ours(one, host)] if isinstance(entries, list) else []


def holds(text: str, host: str) -> bool:
    """Whether an entry of ours stands in these settings. Raises JsonError."""
    hooks = json_text.get(text, ("hooks",))
    return isinstance(hooks, dict) and any(ours_in(entries, host) for entries in hooks.values())


def _may_hold(text: str, host: str) -> bool:
    try:
        return holds(text, host)
    except JsonError:
        return False  # nobody could have put ours there, and it is not ours to judge


def faults(path: Path, wanted: Mapping[str, Any], host: str) -> Iterator[Finding]:
    """What is wrong with our hooks in the file that they were put into."""
    again = f"run `remit install {host}` again"
    name = shown(path, 300)
    text = read_text(path)
    if text is None:
        yield Finding("fault", "settings-gone", f"{name} is gone or can't be read: no hook runs", again)
        return
    try:
        check(text)
    except (JsonError, RecursionError) as error:
        yield Finding("fault", "settings-invalid", f"{name} can't be used by the host, so no hook runs: {error}", again)
        return
    hooks = json_text.get(text, ("hooks",)) or {}
    for event, entry in wanted.items():
        mine = ours_in(hooks.get(event), host)
        if not mine:
            yield Finding("fault", "hook-missing", f"{name}: the hook for {event} is not there", again)
        elif entry not in mine:
            what = "is not as this Remit would write it"
            yield Finding("fault", "hook-other-command", f"{name}: the hook for {event} {what}", again)


def read_text(path: Path) -> str | None:
    """The text of a small file; None if there is none or it can't be read."""
    try:
        if not path.is_file() or path.stat().st_size > MAX_SIZE:
            return None
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        return None


def read_json(path: Path) -> Any:
    """What a file says, as far as it is JSON; None if it is not."""
    text = read_text(path)
    try:
        return json_text.parse(text).plain() if text is not None else None
    except (JsonError, RecursionError):
        return None


def _is_ours(value: Any, host: str) -> bool:
    if isinstance(value, dict):
        return any(_is_ours(one, host) for one in value.values())
    if isinstance(value, list):
        return any(_is_ours(one, host) for one in value)
    return is_hook_command(value, host)


def _drop(text: str, event: str, host: str) -> str:
    entries = json_text.get(text, ("hooks", event))
    if isinstance(entries, list):
        for n in reversed(range(len(entries))):
            if _is_ours(entries[n], host):
                text = json_text.remove(text, ("hooks", event, n))
    return text


def _prune(text: str, path: tuple[str, ...], before: str | None) -> str:
    """Without a container that is empty, unless it was there before."""
    if json_text.get(text, path) not in ({}, []) or _before(before, path) is not None:
        return text
    return json_text.remove(text, path)


def _before(text: str | None, path: tuple[str, ...]) -> Any:
    try:
        return json_text.get(text, path) if text is not None else None
    except JsonError:
        return None
