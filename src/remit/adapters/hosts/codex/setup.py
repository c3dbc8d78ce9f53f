"""The files of Codex CLI: where they are, how they are edited, how they stand.

Hooks stand in the user's `config.toml`, in a block of ours at its end, with the mark by which a person would say that
they trust them: the host runs no hook without it, and says nothing about that.
"""

from __future__ import annotations

import hashlib
import json
import os
import tomllib
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Literal

from remit.adapters.hooks.command import is_hook_command
from remit.adapters.hosts import json_hooks
from remit.adapters.hosts.catalog import HostCatalog, built_in_catalog
from remit.adapters.hosts.codex.hook import AFTER, BEFORE, END, NAME
from remit.adapters.hosts.interface import OWN_SERVER, Where
from remit.adapters.hosts.plain_setup import PlainSetup, from_env, home, said_in
from remit.adapters.hosts.setup import Act, Finding, HookRun, Said, Seen
from remit.model.errors import RemitError
from remit.model.text import shown

FOLDER = ".codex"
_OPENS = "# >>> Remit: written by `remit install codex`, removed by `remit uninstall codex`\n"
_CLOSES = "# <<< Remit\n"
_EVENTS = {BEFORE: ("pre_tool_use", 30), AFTER: ("post_tool_use", 30), END: ("session_end", 3)}
"""The events, each with its name in the mark of trust, and how many seconds the host waits at most."""


class CodexCatalog(HostCatalog, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The file says what each of these is for."""

    features: tuple[str, ...]


@cache
def catalog() -> CodexCatalog:
    """The data. Raises CatalogError."""
    return built_in_catalog(NAME, CodexCatalog)


class TomlError(RemitError):
    """Settings that can't be read or edited."""

    code = "bad-toml"


def _user() -> Path:
    return from_env("CODEX_HOME", home() / FOLDER)


class CodexSetup(PlainSetup):
    """The other half of the host."""

    host = NAME
    places: tuple[Where, ...] = ("user",)

    @property
    def catalog(self) -> HostCatalog:
        """What ships as data about it."""
        return catalog()

    def settings_path(self, root: Path, where: Where) -> Path:
        """Only those of the user: hooks of a project run when a person has trusted them."""
        if where != "user":
            raise self.none_there(where)
        return _user() / "config.toml"

    def definition_folders(self, root: Path) -> tuple[str, ...]:
        """The project's, and the user's."""
        return str(root / FOLDER / "agents"), str(_user() / "agents")

    def name_in(self, text: str) -> str | None:
        """A definition is TOML."""
        try:
            name = tomllib.loads(text).get("name")
        except tomllib.TOMLDecodeError:
            return None
        return name if isinstance(name, str) else None

    # Settings

    def put_hooks(
        self, text: str | None, command: str | None, rules: Sequence[str], ours: Sequence[str]
    ) -> tuple[str, tuple[str, ...]]:
        """Raises TomlError."""
        rest = _without(text or "")
        data = _parsed(rest)
        if command is None:
            return rest, ()
        hooks = data.get("hooks", {})
        if not isinstance(hooks, dict):
            raise TomlError("`hooks` is not a table")
        path = str(self.settings_path(Path("/"), "user"))
        lines = [_OPENS]
        for event, (_, limit) in _EVENTS.items():
            lines.append(f'[[hooks.{event}]]\n[[hooks.{event}.hooks]]\ntype = "command"\n')
            lines.append(f"command = {_quoted(command)}\ntimeout = {limit}\n\n")
        for event, (short, limit) in _EVENTS.items():
            there = hooks.get(event, [])
            number = len(there) if isinstance(there, list) else 0
            lines.append(f"[hooks.state.{_quoted(f'{path}:{short}:{number}:0')}]\n")
            lines.append(f"trusted_hash = {_quoted(_trust(short, command, limit))}\n\n")
        lines[-1] = lines[-1].removesuffix("\n")
        joint = "" if not rest or rest.endswith("\n") else "\n"
        whole = rest + joint + "".join([*lines, _CLOSES])
        try:
            tomllib.loads(whole)
        except tomllib.TOMLDecodeError as error:
            reason = f"hooks can't be added at its end: {error}"
            raise TomlError(reason, help="write `hooks` as tables, [[hooks.PreToolUse]], or leave it out") from None
        return whole, ()

    def take_hooks(self, text: str, ours: Sequence[str], before: str | None) -> str:
        """Our block is gone. Raises TomlError for one that was cut off."""
        return _without(text)

    def is_empty(self, text: str) -> bool:
        """No line is left."""
        return not text.strip()

    # Remit's own MCP server

    def servers_path(self, root: Path) -> Path:
        """Where hooks stand, too."""
        return self.settings_path(root, "user")

    def put_server(self, text: str | None, root: Path, command: Sequence[str]) -> tuple[str, int]:
        """In our block. Raises TomlError."""
        text = text or ""
        if OWN_SERVER in _servers(_parsed(_without(text))):
            raise TomlError(f"it has its own MCP server `{OWN_SERVER}`", help="give that one another name")
        lines = f"[mcp_servers.{OWN_SERVER}]\ncommand = {_quoted(command[0])}\n"
        lines += f"args = [{', '.join(map(_quoted, command[1:]))}]\n"
        if lines in text:
            return text, 0
        start, end = text.find(_OPENS), text.find(_CLOSES)
        if start < 0 or end < start:
            raise TomlError("there is no block of Remit's for its server")
        old = text[start:end].find(f"[mcp_servers.{OWN_SERVER}]\n")
        kept = text[:end] if old < 0 else text[: start + old]
        joint = "\n" if old < 0 else ""
        whole = kept + joint + lines + text[end:]
        _parsed(whole)
        return whole, 0

    def take_server(self, text: str, root: Path, made: int) -> str:
        """It goes with our block. Raises TomlError."""
        return _without(text)

    # How it stands

    def survey(self, root: Path) -> Seen:
        """Its settings, and where it keeps servers."""
        path = self.settings_path(root, "user")
        text = json_hooks.read_text(path) or ""
        servers: list[str] = []
        warnings = []
        for one in (path, root / FOLDER / "config.toml"):
            try:
                servers += _servers(_parsed(json_hooks.read_text(one) or ""))
            except TomlError as error:
                warnings.append(f"{shown(one, 300)}: {error}")
        return Seen(tuple(dict.fromkeys(servers)), (path,) if _OPENS in text else (), tuple(warnings))

    def hook_faults(self, root: Path, settings: Path, command: str) -> Iterator[Finding]:
        """Each hook must be there, as it was written, and trusted."""
        again = f"run `remit install {NAME}` again"
        name = shown(settings, 300)
        text = json_hooks.read_text(settings)
        if text is None:
            yield Finding("fault", "settings-gone", f"{name} is gone or can't be read: no hook runs", again)
            return
        try:
            hooks = _parsed(text).get("hooks", {})
        except TomlError as error:
            yield Finding("fault", "settings-invalid", f"{name}: {error}", again)
            return
        states = hooks.get("state", {}) if isinstance(hooks, dict) else {}
        path = str(self.settings_path(root, "user"))
        for event, (short, limit) in _EVENTS.items():
            handlers = list(_handlers(hooks, event))
            mine = [(key, one) for key, one in handlers if one.get("command") == command]
            if not mine:
                other = any(is_hook_command(one.get("command"), NAME) for _, one in handlers)
                what = "runs a command other than this Remit would write" if other else "is not there"
                code = "hook-other-command" if other else "hook-missing"
                yield Finding("fault", code, f"{name}: the hook for {event} {what}", again)
                continue
            (group, number, matcher), one = mine[0]
            if matcher not in (None, "", "*") or one.get("timeout") != limit or one.get("type") != "command":
                text = f"{name}: the hook for {event} is not as this Remit would write it"
                yield Finding("fault", "hook-incomplete", text, again)
            state = states.get(f"{path}:{short}:{group}:{number}", {}) if isinstance(states, dict) else {}
            if not isinstance(state, dict) or state.get("trusted_hash") != _trust(short, command, limit):
                text = f"{name}: the hook for {event} is not trusted, so the host does not run it"
                yield Finding("fault", "hook-incomplete", text, again)
            elif state.get("enabled") is False:
                yield Finding("fault", "hooks-disabled", f"{name}: the hook for {event} is switched off", again)

    def switches(self, root: Path, settings: Path) -> Iterator[Finding]:
        """Features that switch hooks off."""
        for path in dict.fromkeys((_user() / "config.toml", root / FOLDER / "config.toml")):
            try:
                found = _parsed(json_hooks.read_text(path) or "").get("features")
            except TomlError:
                continue
            off = found if isinstance(found, dict) else {}
            for key in catalog().features:
                if off.get(key) is False:
                    text = f"{shown(path, 300)}: `features.{key}` is false, so no hook runs"
                    yield Finding("fault", "hooks-disabled", text, f"remove `features.{key}`")

    # Probes

    def sample(self, act: Act, target: str) -> tuple[str, dict[str, Any]] | None:
        """It reads by commands, and writes by patches."""
        if act == "read":
            return "view_image", {"path": target}
        if act == "write":
            patch = f"*** Begin Patch\n*** Add File: {target}\n+remit probe\n*** End Patch\n"
            return "apply_patch", {"command": patch}
        if act == "edit":
            patch = f"*** Begin Patch\n*** Update File: {target}\n@@\n-a\n+b\n*** End Patch\n"
            return "apply_patch", {"command": patch}
        return "Bash", {"command": target}

    def question(
        self, *, session: str, root: Path, tool: str, args: dict[str, Any], use: str, agent: str | None
    ) -> bytes:
        """The payload of PreToolUse."""
        said = {"session_id": session, "turn_id": "probe", "transcript_path": None, "cwd": str(root), "model": "probe"}
        said |= {"hook_event_name": BEFORE, "permission_mode": "default"}
        more: dict[str, Any] = {"tool_name": tool, "tool_input": args, "tool_use_id": use}
        if agent is not None:
            more |= {"agent_id": use, "agent_type": agent}
        return json.dumps({**said, **more}).encode()

    def not_run(self, question: bytes) -> bytes:
        """The payload of PostToolUse: it has no other for a call that did not run."""
        return json.dumps(json.loads(question) | {"hook_event_name": AFTER, "tool_response": "probe"}).encode()

    def hooks(self, root: Path, settings: Path, when: Literal["before", "failed"], tool: str | None) -> list[HookRun]:
        """Raises RemitError if it would run none."""
        try:
            found = _parsed(json_hooks.read_text(settings) or "").get("hooks", {})
        except TomlError:
            found = {}
        mine = [one for _, one in _handlers(found, BEFORE if when == "before" else AFTER)]
        mine = [one for one in mine if is_hook_command(one.get("command"), NAME)]
        if when == "before" and not mine:
            raise RemitError(f"{shown(settings, 300)} has no hook of ours before tool calls", code="no-hook")
        env = dict(os.environ)
        return [HookRun(("/bin/sh", "-c", one["command"]), env, float(one.get("timeout", 600))) for one in mine]

    def understood(self, code: int, out: bytes, err: bytes) -> Said:
        """A 2 with a reason on stderr blocks; otherwise one JSON object counts."""
        if code == 2 and err.strip():
            return Said("deny", err.decode("utf-8", "replace").strip())
        if code != 0:
            return Said(None, alarm=f"it ended with {code}")
        found = said_in(out)
        if isinstance(found, Said):
            return found
        words = found.get("hookSpecificOutput")
        if not isinstance(words, dict) or words.get("hookEventName") != BEFORE:
            return Said(None, alarm="its answer is for another event")
        decision, reason = words.get("permissionDecision"), words.get("permissionDecisionReason", "")
        if decision not in ("allow", "deny") or not isinstance(reason, str):
            return Said(None, alarm="the host does not know its decision")
        return Said(decision, reason)


def _servers(data: dict[str, Any]) -> list[str]:
    found = data.get("mcp_servers")
    return list(found) if isinstance(found, dict) else []


def _handlers(hooks: Any, event: str) -> Iterator[tuple[tuple[int, int, Any], dict[str, Any]]]:
    """The hooks of an event, each with its places and its matcher."""
    groups = hooks.get(event, []) if isinstance(hooks, dict) else []
    for n, group in enumerate(groups if isinstance(groups, list) else []):
        handlers = group.get("hooks") if isinstance(group, dict) else None
        for m, one in enumerate(handlers if isinstance(handlers, list) else []):
            if isinstance(one, dict):
                yield (n, m, group.get("matcher")), one


def _trust(event: str, command: str, timeout: int) -> str:
    """The mark by which the host knows a hook that a person has trusted."""
    handler = {"type": "command", "command": command, "timeout": timeout, "async": False}
    said = json.dumps(
        {"event_name": event, "hooks": [handler]}, sort_keys=True, separators=(",", ":"), ensure_ascii=False
    )
    return f"sha256:{hashlib.sha256(said.encode()).hexdigest()}"


def _without(text: str) -> str:
    """The text without our block. Raises TomlError for one that has no end."""
    start = text.find(_OPENS)
    if start < 0:
        return text
    end = text.find(_CLOSES, start)
    if end < 0:
        raise TomlError("the end of the block that Remit wrote is gone", help=f"put the line `{_CLOSES.strip()}` back")
    return text[:start] + text[end + len(_CLOSES) :]


def _parsed(text: str) -> dict[str, Any]:
    """Raises TomlError."""
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise TomlError(f"it is not TOML: {error}") from None


def _quoted(text: str) -> str:
    """As a basic string: those of JSON are, except that TOML knows no surrogates."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007F")
