"""The files of OpenCode: where they are, how they are edited, how they stand.

A plugin that fails to load lets everything run, without a word. So the user's settings have a rule that denies every
tool (`FLOOR`), and the plugin, once it is loaded, lifts it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Literal

from remit.adapters.hooks.command import is_hook_command
from remit.adapters.hosts import json_hooks
from remit.adapters.hosts.catalog import HostCatalog, built_in_catalog
from remit.adapters.hosts.interface import Where
from remit.adapters.hosts.opencode.hook import NAME
from remit.adapters.hosts.plain_setup import PlainSetup, from_env, home, said_in
from remit.adapters.hosts.setup import Act, Finding, HookRun, Said, Seen
from remit.exchange import frontmatter, json_text
from remit.exchange.json_text import JsonError
from remit.model.errors import RemitError
from remit.model.text import shown

PLUGIN = Path(__file__).with_name("remit.mjs")
FLOOR = "**"
"""The rule of ours: it means every tool, and nobody writes `*` in this way."""
_FILES = ("opencode.json", "opencode.jsonc", "config.json")


class OpenCodeCatalog(HostCatalog, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The file says what each of these is for."""

    managed: str
    variables: dict[str, str]


@cache
def catalog() -> OpenCodeCatalog:
    """The data. Raises CatalogError."""
    return built_in_catalog(NAME, OpenCodeCatalog)


def _user() -> Path:
    return from_env("XDG_CONFIG_HOME", home() / ".config") / "opencode"


class OpenCodeSetup(PlainSetup):
    """The other half of the host."""

    host = NAME
    places: tuple[Where, ...] = ("user", "managed")

    @property
    def catalog(self) -> HostCatalog:
        """What ships as data about it."""
        return catalog()

    def settings_path(self, root: Path, where: Where) -> Path:
        """Raises RemitError."""
        if where == "user":
            return _user() / "opencode.json"
        if where == "managed":
            return Path(catalog().managed)
        raise self.none_there(where)

    def definition_folders(self, root: Path) -> tuple[str, ...]:
        """The project's, and the user's; it knows two names for each."""
        return tuple(str(place / name) for place in (root / ".opencode", _user()) for name in ("agent", "agents"))

    def name_in(self, text: str) -> str | None:
        """A definition is known by the name of its file; one that names itself is known by that too."""
        head = frontmatter.head_of(text)
        return frontmatter.name_of(head) if head is not None else None

    # Settings

    def put_hooks(
        self, text: str | None, command: str | None, rules: Sequence[str], ours: Sequence[str]
    ) -> tuple[str, tuple[str, ...]]:
        """Raises JsonError."""
        text = text if text is not None and text.strip() else json_hooks.EMPTY
        if command is None:
            return self.take_hooks(text, ours, text), ()
        _check(text)
        wanted = [str(PLUGIN), {"command": command}]
        plugins = json_text.get(text, ("plugin",))
        if plugins is None:
            text = json_text.put(text, ("plugin",), [wanted])
        elif [one for one in plugins if _is_ours(one)] != [wanted]:
            text = json_text.append(_drop(text), ("plugin",), wanted)
        said = json_text.get(text, ("permission",))
        if said is None:
            text = json_text.put(text, ("permission",), {FLOOR: "deny"})
        elif isinstance(said, str):
            text = json_text.put(text, ("permission",), {"*": said, FLOOR: "deny"})
        elif said.get(FLOOR) != "deny":
            text = json_text.put(text, ("permission", FLOOR), "deny")
        return text, ()

    def take_hooks(self, text: str, ours: Sequence[str], before: str | None) -> str:
        """Raises JsonError."""
        text = json_hooks.take_server(_drop(text), "mcp", NAME, before)
        if json_text.get(text, ("permission", FLOOR)) == "deny":
            text = json_text.remove(text, ("permission", FLOOR))
        said = json_text.get(text, ("permission",))
        was = _before(before, "permission")
        if isinstance(was, str) and said == {"*": was}:
            text = json_text.put(text, ("permission",), was)
        for key in ("permission", "plugin"):
            if json_text.get(text, (key,)) in ({}, []) and _before(before, key) is None:
                text = json_text.remove(text, (key,))
        return text

    def is_empty(self, text: str) -> bool:
        """Raises JsonError."""
        return not text.strip() or not json_text.parse(text).data

    # Remit's own MCP server

    def servers_path(self, root: Path) -> Path:
        """Where the plugin stands, too."""
        return _user() / "opencode.json"

    def put_server(self, text: str | None, root: Path, command: Sequence[str]) -> tuple[str, int]:
        """Raises JsonError."""
        return json_hooks.put_server(text, "mcp", {"type": "local", "command": list(command), "enabled": True})

    def take_server(self, text: str, root: Path, made: int) -> str:
        """Raises JsonError."""
        return json_hooks.take_server(text, "mcp", NAME, None if made else text)

    # How it stands

    def survey(self, root: Path) -> Seen:
        """Its settings, and where it keeps servers."""
        servers: list[str] = []
        hooked, warnings = [], []
        for path in [*(_user() / name for name in _FILES), *(root / name for name in _FILES[:2])]:
            text = json_hooks.read_text(path)
            if text is None:
                continue
            try:
                found = json_text.get(text, ("mcp",))
                servers += list(found) if isinstance(found, dict) else []
                hooked += [path] if any(map(_is_ours, _plugins(json_text.parse(text).plain()))) else []
            except RemitError as error:
                warnings.append(f"{shown(path, 300)}: {error}")
        return Seen(tuple(dict.fromkeys(servers)), tuple(hooked), tuple(warnings))

    def hook_faults(self, root: Path, settings: Path, command: str) -> Iterator[Finding]:
        """The plugin and the floor must be there."""
        again = f"run `remit install {NAME}` again"
        name = shown(settings, 300)
        data = json_hooks.read_json(settings)
        if not isinstance(data, dict):
            code = "settings-gone" if json_hooks.read_text(settings) is None else "settings-invalid"
            yield Finding("fault", code, f"{name} is gone or can't be read: no hook runs", again)
            return
        mine = [one for one in _plugins(data) if _is_ours(one)]
        if not mine:
            yield Finding("fault", "hook-missing", f"{name}: the plugin is not there", again)
        elif [str(PLUGIN), {"command": command}] not in mine:
            text = f"{name}: the plugin runs a command other than this Remit would write"
            yield Finding("fault", "hook-other-command", text, again)
        if not PLUGIN.is_file():
            yield Finding("fault", "client-gone", f"the plugin itself is not there: {shown(PLUGIN, 300)}")
        said = data.get("permission")
        if not isinstance(said, dict) or said.get(FLOOR) != "deny":
            text = f"{name}: nothing denies tools if the plugin does not load (`permission`)"
            yield Finding("fault", "hook-incomplete", text, again)
        elif list(said)[-1] != FLOOR:
            text = f"{name}: rules after `{FLOOR}` in `permission` would count if the plugin does not load"
            yield Finding("note", "floor-open", text, f"put `{FLOOR}` last")

    def switches(self, root: Path, settings: Path) -> Iterator[Finding]:
        """Other plugins, which may change arguments later, settings that open the floor, and the environment."""
        for path in [*(root / name for name in _FILES[:2]), root / ".opencode" / "opencode.json"]:
            data = json_hooks.read_json(path)
            if isinstance(data, dict) and _plugins(data):
                text = f"{shown(path, 300)}: plugins of the project run after ours, and may change arguments"
                yield Finding("note", "other-hooks", text)
            if isinstance(data, dict) and data.get("permission"):
                text = f"{shown(path, 300)}: `permission` may open tools if the plugin does not load"
                yield Finding("note", "floor-open", text)
        for folder in ("plugin", "plugins"):
            if any((root / ".opencode" / folder).glob("*.[jt]s")):
                text = (
                    f"{shown(root / '.opencode' / folder, 300)}: plugins there run after ours, and may change arguments"
                )
                yield Finding("note", "other-hooks", text)
        for name, why in catalog().variables.items():
            if os.environ.get(name):
                text = f"{name} is set here: {why}, if a session is started like this"
                yield Finding("fault", "hooks-disabled", text, f"unset {name}")

    # Probes

    def sample(self, act: Act, target: str) -> tuple[str, dict[str, Any]]:
        """A call of one of its tools."""
        if act == "read":
            return "read", {"filePath": target}
        if act == "write":
            return "write", {"filePath": target, "content": "remit probe\n"}
        if act == "edit":
            return "edit", {"filePath": target, "oldString": "a", "newString": "b"}
        return "bash", {"command": target}

    def question(
        self, *, session: str, root: Path, tool: str, args: dict[str, Any], use: str, agent: str | None
    ) -> bytes:
        """As the plugin asks."""
        said = {"event": "before", "session": session, "call": use, "tool": tool, "args": args}
        who = {"agent": agent or "build", "parent": session if agent is not None else None, "cwd": str(root)}
        return json.dumps({**said, **who}, separators=(",", ":")).encode()

    def not_run(self, question: bytes) -> bytes:
        """It reports only calls that ran."""
        asked = json.loads(question)
        said = {"event": "after", "session": asked["session"], "call": asked["call"]}
        return json.dumps(said, separators=(",", ":")).encode()

    def hooks(self, root: Path, settings: Path, when: Literal["before", "failed"], tool: str | None) -> list[HookRun]:
        """Raises RemitError if it would run none."""
        data = json_hooks.read_json(settings)
        mine = [one for one in _plugins(data) if _is_ours(one)] if isinstance(data, dict) else []
        if not mine or not PLUGIN.is_file():
            raise RemitError(f"{shown(settings, 300)} has no plugin of ours that would load", code="no-hook")
        env = {**os.environ, "REMIT_OPENCODE_DIRECTORY": str(root)}
        return [HookRun(("/bin/sh", "-c", one[1]["command"]), env, 30.0) for one in mine]

    def understood(self, code: int, out: bytes, err: bytes) -> Said:
        """As the plugin understands it: everything but an allow blocks."""
        found = said_in(out)
        if isinstance(found, Said):
            return found if code == 0 else Said(None, alarm=f"it ended with {code} and no reason")
        decision, reason = found.get("verdict"), found.get("reason", "")
        if decision not in ("allow", "deny") or not isinstance(reason, str) or (code != 0) != (decision == "deny"):
            return Said(None, alarm="the plugin does not know its decision")
        return Said(decision, reason)


def _check(text: str) -> None:
    """Raises JsonError for settings that can't be edited."""
    data = json_text.parse(text).plain()
    if not isinstance(data, dict) or not isinstance(data.get("plugin", []), list):
        raise JsonError("`plugin` is not a list")
    if not isinstance(data.get("permission", {}), dict | str):
        raise JsonError("`permission` is neither a word nor a table")


def _plugins(data: dict[str, Any]) -> list[Any]:
    found = data.get("plugin")
    return found if isinstance(found, list) else []


def _is_ours(plugin: Any) -> bool:
    """Whether an entry runs our plugin, from wherever it is installed."""
    if not isinstance(plugin, list) or len(plugin) != 2 or not isinstance(plugin[1], dict):
        return False
    return is_hook_command(plugin[1].get("command"), NAME)


def _drop(text: str) -> str:
    plugins = json_text.get(text, ("plugin",))
    for n in reversed(range(len(plugins))) if isinstance(plugins, list) else ():
        if _is_ours(plugins[n]):
            text = json_text.remove(text, ("plugin", n))
    return text


def _before(text: str | None, key: str) -> Any:
    try:
        return json_text.get(text, (key,)) if text is not None else None
    except JsonError:
        return None
