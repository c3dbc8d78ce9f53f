"""The files of Cursor, as its documentation has them: where they are, how they are edited, how they stand."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from remit.adapters.hosts import json_hooks
from remit.adapters.hosts.catalog import HostCatalog, built_in_catalog
from remit.adapters.hosts.cursor.hook import AFTER, BEFORE, END, FAILED, NAME
from remit.adapters.hosts.interface import Where
from remit.adapters.hosts.plain_setup import JsonSetup, home, said_in
from remit.adapters.hosts.setup import Act, Finding, Said
from remit.model.text import shown

FOLDER = ".cursor"
TIMEOUT = 30


class CursorCatalog(HostCatalog, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The file says what each of these is for."""

    managed: str


@cache
def catalog() -> CursorCatalog:
    """The data. Raises CatalogError."""
    return built_in_catalog(NAME, CursorCatalog)


class CursorSetup(JsonSetup):
    """The other half of the host."""

    host = NAME
    places: tuple[Where, ...] = ("user", "managed", "project")
    events = (BEFORE, AFTER, FAILED, END)
    before, failed = BEFORE, FAILED
    fixed = MappingProxyType({"version": 1})

    @property
    def catalog(self) -> HostCatalog:
        """What ships as data about it."""
        return catalog()

    def settings_path(self, root: Path, where: Where) -> Path:
        """Raises RemitError."""
        if where == "user":
            return home() / FOLDER / "hooks.json"
        if where == "managed":
            return Path(catalog().managed)
        if where == "project":
            return root / FOLDER / "hooks.json"
        raise self.none_there(where)

    def definition_folders(self, root: Path) -> tuple[str, ...]:
        """The project's, and the user's."""
        return str(root / FOLDER / "agents"), str(home() / FOLDER / "agents")

    def entry(self, event: str, command: str) -> dict[str, Any]:
        """Every tool, and none if the hook fails; the hook ends long before the host would stop waiting."""
        return {"command": command, "timeout": TIMEOUT, **({"failClosed": True} if event == BEFORE else {})}

    def command_in(self, entry: Any) -> tuple[str | None, float | None]:
        """Under `command`."""
        command, limit = entry.get("command"), entry.get("timeout")
        return command if isinstance(command, str) else None, float(limit) if isinstance(limit, int | float) else None

    def environment(self, root: Path) -> dict[str, str]:
        """Where the session was started is in it."""
        return {**os.environ, "CURSOR_PROJECT_DIR": str(root)}

    def servers_path(self, root: Path) -> Path:
        """A file of its own."""
        return home() / FOLDER / "mcp.json"

    def servers(self, root: Path) -> list[str]:
        """Those of the user and of the project."""
        return json_hooks.servers_in((self.servers_path(root), root / FOLDER / "mcp.json"))

    def switches(self, root: Path, settings: Path) -> Iterator[Finding]:
        """Other hooks, which may change arguments."""
        data = json_hooks.read_json(root / FOLDER / "hooks.json")
        hooks = data.get("hooks", {}) if isinstance(data, dict) else {}
        there = hooks.get(BEFORE, []) if isinstance(hooks, dict) else []
        if isinstance(there, list) and len(there) > len(json_hooks.ours_in(there, NAME)):
            text = f"{shown(root / FOLDER / 'hooks.json', 300)}: another hook may change arguments that were judged"
            yield Finding("note", "other-hooks", text)

    # Probes

    def sample(self, act: Act, target: str) -> tuple[str, dict[str, Any]]:
        """A call of one of its tools."""
        if act == "read":
            return "Read", {"path": target}
        if act == "write":
            return "Write", {"path": target, "contents": "remit probe\n"}
        if act == "edit":
            return "StrReplace", {"path": target, "old_string": "a", "new_string": "b"}
        return "Shell", {"command": target}

    def question(
        self, *, session: str, root: Path, tool: str, args: dict[str, Any], use: str, agent: str | None
    ) -> bytes:
        """The payload of preToolUse. It names no agent."""
        said = {"conversation_id": session, "generation_id": "probe", "hook_event_name": BEFORE, "cwd": str(root)}
        more = {"tool_name": tool, "tool_input": args, "tool_use_id": use, "workspace_roots": [str(root)]}
        return json.dumps({**said, **more}).encode()

    def not_run(self, question: bytes) -> bytes:
        """The payload of postToolUseFailure."""
        return json.dumps(json.loads(question) | {"hook_event_name": FAILED, "error_message": "probe"}).encode()

    def understood(self, code: int, out: bytes, err: bytes) -> Said:
        """A 2 denies; otherwise one JSON object counts."""
        found = said_in(out)
        if isinstance(found, Said):
            return found if code == 0 else Said(None, alarm=f"it ended with {code} and no reason")
        decision, reason = found.get("permission"), found.get("agent_message", "")
        if decision not in ("allow", "deny") or not isinstance(reason, str) or (code != 0) != (decision == "deny"):
            return Said(None, alarm="the host does not know its decision")
        return Said(decision, reason)
