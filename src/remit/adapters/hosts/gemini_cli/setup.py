"""The files of Gemini CLI: where they are, how they are edited, how they stand."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from remit.adapters.hosts import json_hooks
from remit.adapters.hosts.catalog import HostCatalog, built_in_catalog
from remit.adapters.hosts.gemini_cli.hook import AFTER, BEFORE, END, NAME
from remit.adapters.hosts.interface import Where
from remit.adapters.hosts.plain_setup import JsonSetup, from_env, home, said_in
from remit.adapters.hosts.setup import Act, Finding, Said
from remit.model.text import shown

FOLDER = ".gemini"
TIMEOUT = 30


class GeminiCatalog(HostCatalog, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The file says what each of these is for."""

    managed: str
    settings: tuple[str, ...]


@cache
def catalog() -> GeminiCatalog:
    """The data. Raises CatalogError."""
    return built_in_catalog(NAME, GeminiCatalog)


def _user() -> Path:
    return from_env("GEMINI_CLI_HOME", home()) / FOLDER


class GeminiSetup(JsonSetup):
    """The other half of the host."""

    host = NAME
    places: tuple[Where, ...] = ("user", "managed", "project")
    events = (BEFORE, AFTER, END)
    before, failed = BEFORE, AFTER

    @property
    def catalog(self) -> HostCatalog:
        """What ships as data about it."""
        return catalog()

    def settings_path(self, root: Path, where: Where) -> Path:
        """Raises RemitError."""
        if where == "user":
            return _user() / "settings.json"
        if where == "managed":
            return Path(catalog().managed)
        if where == "project":
            return root / FOLDER / "settings.json"
        raise self.none_there(where)

    def definition_folders(self, root: Path) -> tuple[str, ...]:
        """The project's, and the user's."""
        return str(root / FOLDER / "agents"), str(_user() / "agents")

    def entry(self, event: str, command: str) -> dict[str, Any]:
        """Every tool; the hook ends long before the host would stop waiting."""
        handler = {"type": "command", "name": "remit", "command": command, "timeout": TIMEOUT * 1000}
        return {"matcher": "*", "hooks": [handler]}

    def command_in(self, entry: Any) -> tuple[str | None, float | None]:
        """In the list of handlers."""
        handler = entry["hooks"][0] if isinstance(entry.get("hooks"), list) and entry["hooks"] else {}
        command, limit = handler.get("command"), handler.get("timeout")
        seconds = float(limit) / 1000 if isinstance(limit, int | float) else None
        return command if isinstance(command, str) else None, seconds

    def environment(self, root: Path) -> dict[str, str]:
        """Where the session was started is in it."""
        return {**os.environ, "GEMINI_CWD": str(root), "GEMINI_PROJECT_DIR": str(root)}

    def servers_path(self, root: Path) -> Path:
        """Where hooks stand, too."""
        return _user() / "settings.json"

    def servers(self, root: Path) -> list[str]:
        """Those of the user and of the project."""
        return json_hooks.servers_in((_user() / "settings.json", root / FOLDER / "settings.json"))

    def switches(self, root: Path, settings: Path) -> Iterator[Finding]:
        """`hooksConfig` can switch all hooks off, or those of a name."""
        for name in catalog().settings:
            path = Path(name.replace("{user}", str(_user())).replace("{root}", str(root)))
            data = json_hooks.read_json(path)
            found = data.get("hooksConfig") if isinstance(data, dict) else None
            if not isinstance(found, dict):
                continue
            if found.get("enabled") is False or found.get("disabled"):
                text = f"{shown(path, 300)}: `hooksConfig` switches hooks off"
                yield Finding(
                    "fault", "hooks-disabled", text, "remove `hooksConfig.enabled` and `hooksConfig.disabled`"
                )

    # Probes

    def sample(self, act: Act, target: str) -> tuple[str, dict[str, Any]]:
        """A call of one of its tools."""
        if act == "read":
            return "read_file", {"file_path": target}
        if act == "write":
            return "write_file", {"file_path": target, "content": "remit probe\n"}
        if act == "edit":
            return "replace", {"file_path": target, "instruction": "x", "old_string": "a", "new_string": "b"}
        return "run_shell_command", {"command": target}

    def question(
        self, *, session: str, root: Path, tool: str, args: dict[str, Any], use: str, agent: str | None
    ) -> bytes:
        """What its first hook is told; the moment makes it unique. It names no agent."""
        said = {"session_id": session, "transcript_path": os.devnull, "cwd": str(root), "hook_event_name": BEFORE}
        moment = datetime.now(UTC).isoformat()
        return json.dumps({**said, "timestamp": moment, "tool_name": tool, "tool_input": args}).encode()

    def not_run(self, question: bytes) -> bytes:
        """What its second hook is told of a call that failed."""
        more = {"hook_event_name": AFTER, "tool_response": {"error": {"message": "probe"}}}
        return json.dumps(json.loads(question) | more).encode()

    def understood(self, code: int, out: bytes, err: bytes) -> Said:
        """JSON on stdout counts; without it, a 2 blocks only with something on stderr."""
        found = said_in(out)
        if isinstance(found, Said):
            return found if code == 0 else Said(None, alarm=f"it ended with {code} and no decision")
        decision, reason = found.get("decision"), found.get("reason", "")
        if decision not in ("allow", "deny") or not isinstance(reason, str) or code not in (0, 2):
            return Said(None, alarm="the host does not know its decision")
        return Said(decision, reason)
