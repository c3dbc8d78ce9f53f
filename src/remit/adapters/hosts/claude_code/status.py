"""Whether the settings really have our hooks, complete, and nothing in any of them switches these off."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from remit.adapters.hooks.command import LONGEST
from remit.adapters.hosts.claude_code.catalog import catalog
from remit.adapters.hosts.claude_code.hook import BEFORE, NAME
from remit.adapters.hosts.claude_code.settings import EVENTS, check, is_ours
from remit.adapters.hosts.setup import Finding
from remit.exchange import json_text
from remit.exchange.json_text import JsonError
from remit.model.text import counted, shown

_MAX_SIZE = json_text.MAX_SIZE
_KEYS = frozenset({"type", "command", "timeout", "onFailure", "statusMessage"})
"""What may stand in our entry: anything else could keep it from running, or from being waited for."""


class Settings:
    """One settings file of the host, as it is now."""

    def __init__(self, path: Path, whose: str) -> None:
        self.path, self.whose = path, whose
        self.data: dict[str, Any] | None = None
        """None: there is none, or the host would not take it."""
        self.there = os.path.lexists(path)
        self.problem: str | None = None
        try:
            if self.there:
                text = _text(path)
                check(text)
                self.data = json_text.parse(text).plain()
        except (OSError, JsonError, RecursionError) as error:
            self.problem = getattr(error, "strerror", None) or str(error)

    @property
    def name(self) -> str:
        """For people."""
        return shown(self.path, 300)


def all_settings(root: Path, user: Path) -> list[Settings]:
    """Every settings file that the host would read, whether it is there or not."""
    files = catalog().files
    found = [Settings(user / name, "user") for name in files.user]
    found += [Settings(root / name, "project") for name in files.project]
    for pattern in files.managed:
        found += [Settings(Path(name), "managed") for name in sorted(glob.glob(pattern))]
    return found


def handlers(data: dict[str, Any] | None, event: str) -> list[tuple[Any, dict[str, Any]]]:
    """The hooks of an event, each with its matcher."""
    groups = (data or {}).get("hooks", {}).get(event, [])
    return [(group.get("matcher"), handler) for group in groups for handler in group["hooks"]]


def hook_faults(settings: Settings, command: str) -> Iterator[Finding]:
    """What is wrong with our hooks in the file that they were put into."""
    again = f"run `remit install {NAME}` again"
    if not settings.there:
        yield Finding("fault", "settings-gone", f"{settings.name} is gone: no hook runs", again)
    elif settings.data is None:
        text = f"{settings.name} can't be used by the host, so no hook runs: {shown(settings.problem, 200)}"
        yield Finding("fault", "settings-invalid", text, "correct it; the host does not report this")
    if settings.data is None:
        return
    for event in EVENTS:
        there = handlers(settings.data, event)
        mine = [(matcher, one) for matcher, one in there if one.get("command") == command]
        if not mine:
            other = any(is_ours(one.get("command")) for _, one in there)
            what = "runs a command other than this Remit would write" if other else "is not there"
            code = "hook-other-command" if other else "hook-missing"
            yield Finding("fault", code, f"{settings.name}: the hook for {event} {what}", again)
            continue
        wrong = [list(_entry_faults(matcher, one)) for matcher, one in mine]
        if all(wrong):
            yield from (
                Finding("fault", "hook-incomplete", f"{settings.name}: the hook for {event} {text}", again)
                for text in wrong[0]
            )


def _entry_faults(matcher: Any, entry: dict[str, Any]) -> Iterator[str]:
    if matcher not in (None, "", "*"):
        yield f"is asked only about {shown(matcher)}, not about every tool (`matcher`)"
    if entry.get("type") != "command":
        yield "is not of the type `command`"
    if entry.get("onFailure") != "block":
        yield "lets the tool run if it fails (`onFailure` is not `block`)"
    timeout = entry.get("timeout")
    if isinstance(timeout, bool) or not isinstance(timeout, int | float) or timeout <= LONGEST:
        yield f"may be ended before it has answered: `timeout` must be more than {LONGEST:.0f} seconds"
    for key in sorted(entry.keys() - _KEYS):
        yield f"has `{shown(key)}`, which could keep the host from running it or waiting for it"


def switch_faults(files: list[Settings], installed: Path) -> Iterator[Finding]:
    """What switches hooks off or gets at them, in any of the files that the host reads, and in this environment."""
    known = catalog()
    managed = [one.data for one in files if one.whose == "managed" and one.data is not None]
    fixed = {key for key in known.switches if any(data.get(key) is False for data in managed)}
    for key, why in known.wanted.items():
        said = [one.data[key] for one in files if one.data is not None and key in one.data]
        if not said or said[-1] is not True:
            yield Finding("note", "unset", why, f"set `{key}: true` in {shown(installed, 300)}")
    for one in files:
        if one.problem is not None and one.path != installed:
            text = f"{one.name} can't be used: {shown(one.problem, 200)}; the host ignores it"
            yield Finding("note", "settings-invalid", text)
        data = one.data if one.data is not None else _anyway(one)
        for key, places in known.switches.items():
            if one.whose in places and data.get(key) is True and not (one.whose != "managed" and key in fixed):
                text = f"{one.name}: `{key}` is true, so the hook does not run"
                yield Finding("fault", "hooks-disabled", text, f"remove `{key}`")
        sandbox = data.get("sandbox")
        if isinstance(sandbox, dict) and sandbox.get("enabled") is True:
            text = f"{one.name}: the host's own sandbox is on, and inside it Remit can't confine commands"
            yield Finding("note", "host-sandbox", text, "set `sandbox.enabled: false` where the policy says `confine`")
        env = data.get("env")
        for name in sorted(set(known.injected).intersection(env if isinstance(env, dict) else ())):
            text = f"{one.name}: `env` sets {name}, which can load any program into the hook"
            yield Finding("fault", "hook-injected", text, f"remove {name} from `env`")
        others = [h for _, h in handlers(one.data, BEFORE) if not is_ours(h.get("command"))]
        if others:
            many = counted(len(others), "other hook")
            text = f"{one.name}: {many} before tool calls; one may change arguments that were judged"
            yield Finding("note", "other-hooks", text)
    for name, why in known.variables.items():
        if os.environ.get(name):
            text = f"{name} is set here: {why}, if a session is started like this"
            yield Finding("fault", "hooks-disabled", text, f"unset {name}")


def _anyway(one: Settings) -> dict[str, Any]:
    """What a file says that the host should ignore, to be on the safe side."""
    try:
        found = json_text.parse(_text(one.path)).plain() if one.there else {}
    except (OSError, JsonError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _text(path: Path) -> str:
    """The text of a small, plain file. Raises OSError and JsonError."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    with os.fdopen(descriptor, "rb") as file:
        data = file.read(_MAX_SIZE + 1)
    if len(data) > _MAX_SIZE:
        raise JsonError("it is too large")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise JsonError("it is not UTF-8") from None
