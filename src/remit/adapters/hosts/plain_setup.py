"""What the setups of several hosts share: definitions that stay as they are, a home, and the hooks of a JSON file."""

from __future__ import annotations

import json
import os
import pwd
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from remit.adapters.hosts import json_hooks
from remit.adapters.hosts.interface import Where
from remit.adapters.hosts.setup import UNDECIDED, Finding, HookRun, Said, Seen
from remit.exchange import frontmatter, json_text
from remit.model.errors import RemitError
from remit.model.text import shown


def home() -> Path:
    """The user's directory, as hosts find it: HOME, else the password database. Raises RemitError."""
    given = os.environ.get("HOME", "")
    if os.path.isabs(given):
        return Path(given)
    try:
        return Path(pwd.getpwuid(os.geteuid()).pw_dir)
    except KeyError:
        raise RemitError("this user has no entry in the password database, so no home directory") from None


def from_env(name: str, otherwise: Path) -> Path:
    """A directory that an environment variable may name."""
    given = os.environ.get(name, "")
    return Path(os.path.normpath(given)) if os.path.isabs(given) else otherwise


class PlainSetup:
    """The parts in which these hosts don't differ. Their agents' definitions are pinned, and not edited."""

    host: str
    places: tuple[Where, ...]

    def native_rules(self, tools: Sequence[str], paths: Sequence[str] | None) -> list[str]:
        """None: the hook is what binds."""
        return []

    def name_in(self, text: str) -> str | None:
        """Raises HeadError."""
        head = frontmatter.head_of(text)
        return frontmatter.name_of(head) if head is not None else None

    def set_tools(self, text: str, tools: Sequence[str]) -> str:
        """It stays as it is: what an agent is offered is not what it may use."""
        return text

    def restore_tools(self, text: str, before: str, ours: Sequence[str]) -> str:
        """It was not changed."""
        return text

    servers_are_shared = True

    def none_there(self, where: Where) -> RemitError:
        """That the host has no such settings."""
        return RemitError(f"{self.host} has no {where} settings that hooks can be put into", code="no-such-settings")


class JsonSetup(PlainSetup):
    """Of a host whose hooks stand in a JSON file."""

    events: tuple[str, ...]
    fixed: Mapping[str, Any] = MappingProxyType({})
    """Keys that the file must have besides."""
    before, failed = "", ""
    """The events of a question, and of a report."""

    servers_key = "mcpServers"
    """Where MCP servers stand in the file that the user registers them in."""

    def entry(self, event: str, command: str) -> dict[str, Any]:
        """What stands under an event."""
        raise NotImplementedError

    def server_entry(self, command: Sequence[str]) -> dict[str, Any]:
        """What stands under the name of a server."""
        return {"command": command[0], "args": list(command[1:])}

    def put_server(self, text: str | None, root: Path, command: Sequence[str]) -> tuple[str, int]:
        """Raises JsonError."""
        return json_hooks.put_server(text, self.servers_key, self.server_entry(command))

    def take_server(self, text: str, root: Path, made: int) -> str:
        """Raises JsonError."""
        return json_hooks.take_server(text, self.servers_key, self.host, None if made else text)

    def settings_path(self, root: Path, where: Where) -> Path:
        """Raises RemitError if it has none."""
        raise NotImplementedError

    def _wanted(self, command: str | None) -> dict[str, Any]:
        return {event: self.entry(event, command) for event in self.events} if command is not None else {}

    def put_hooks(
        self, text: str | None, command: str | None, rules: Sequence[str], ours: Sequence[str]
    ) -> tuple[str, tuple[str, ...]]:
        """Raises JsonError."""
        return json_hooks.put(text, self._wanted(command), self.host, self.fixed if command is not None else {}), ()

    def take_hooks(self, text: str, ours: Sequence[str], before: str | None) -> str:
        """Raises JsonError."""
        text = json_hooks.take(text, self.host, self.fixed, before)
        return json_hooks.take_server(text, self.servers_key, self.host, before)

    def is_empty(self, text: str) -> bool:
        """Raises JsonError."""
        return not text.strip() or not json_text.parse(text).data

    def servers(self, root: Path) -> list[str]:
        """The MCP servers that its files name."""
        return []

    def survey(self, root: Path) -> Seen:
        """Its settings, and where it keeps servers."""
        hooked, warnings = [], []
        for where in self.places:
            path = self.settings_path(root, where)
            text = json_hooks.read_text(path)
            try:
                if text is not None and json_hooks.holds(text, self.host):
                    hooked.append(path)
            except RemitError as error:
                warnings.append(f"{shown(path, 300)}: {error}; the host may ignore this file")
        return Seen(tuple(dict.fromkeys(self.servers(root))), tuple(hooked), tuple(warnings))

    def hook_faults(self, root: Path, settings: Path, command: str) -> Iterator[Finding]:
        """Only if it runs this command before every call, there are none."""
        yield from json_hooks.faults(settings, self._wanted(command), self.host)

    def command_in(self, entry: Any) -> tuple[str | None, float | None]:
        """The command of an entry, and its limit in seconds."""
        raise NotImplementedError

    def environment(self, root: Path) -> dict[str, str]:
        """What it would hand the hook."""
        return dict(os.environ)

    def hooks(self, root: Path, settings: Path, when: Literal["before", "failed"], tool: str | None) -> list[HookRun]:
        """Raises RemitError if it would run none."""
        data = json_hooks.read_json(settings)
        event = self.before if when == "before" else self.failed
        hooks = data.get("hooks", {}) if isinstance(data, dict) else {}
        found = hooks.get(event, []) if isinstance(hooks, dict) else []
        mine = json_hooks.ours_in(found, self.host)
        if when == "before" and not mine:
            raise RemitError(f"{shown(settings, 300)} has no hook of ours before tool calls", code="no-hook")
        runs = []
        for one in mine:
            command, timeout = self.command_in(one)
            env = self.environment(root)
            if command is None:
                runs.append(HookRun((), env, problem="the hook is not a command"))
            else:
                runs.append(HookRun(("/bin/sh", "-c", command), env, timeout))
        return runs


def said_in(out: bytes) -> dict[str, Any] | Said:
    """The one JSON object on stdout, or what is wrong with it."""
    try:
        found = json.loads(out.decode("utf-8"))
    except (ValueError, RecursionError):
        return Said(None, alarm="its answer is not JSON" if out.strip() else "it answered nothing")
    if not isinstance(found, dict):
        return Said(None, alarm="its answer is not an object")
    return found if found else Said(None, alarm=UNDECIDED)
