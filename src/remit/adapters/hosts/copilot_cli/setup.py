"""The files of GitHub Copilot CLI: where they are, how they are edited, how they stand.

Hooks have a file of their own among those of the user, or in the project, where the host reads them only once a person
trusts the folder.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from remit.adapters.hosts import json_hooks
from remit.adapters.hosts.catalog import HostCatalog, built_in_catalog
from remit.adapters.hosts.copilot_cli.hook import NAME
from remit.adapters.hosts.interface import Where
from remit.adapters.hosts.plain_setup import JsonSetup, from_env, home, said_in
from remit.adapters.hosts.setup import Act, Finding, Said
from remit.model.text import shown

BEFORE, AFTER, FAILED, END = "preToolUse", "postToolUse", "postToolUseFailure", "sessionEnd"
TIMEOUT = 30


class CopilotCatalog(HostCatalog, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The file says what each of these is for."""

    managed: str
    switches: tuple[str, ...]
    settings: tuple[str, ...]


@cache
def catalog() -> CopilotCatalog:
    """The data. Raises CatalogError."""
    return built_in_catalog(NAME, CopilotCatalog)


def _user() -> Path:
    return from_env("COPILOT_HOME", home() / ".copilot")


class CopilotSetup(JsonSetup):
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
            return _user() / "hooks" / "remit.json"
        if where == "managed":
            return Path(catalog().managed)
        if where == "project":
            return root / ".github" / "hooks" / "remit.json"
        raise self.none_there(where)

    def definition_folders(self, root: Path) -> tuple[str, ...]:
        """The project's, those for Claude Code, which it reads too, and the user's."""
        folders = [root / ".github" / "agents", root / ".claude" / "agents", _user() / "agents"]
        return tuple(map(str, folders))

    def entry(self, event: str, command: str) -> dict[str, Any]:
        """Every tool; the hook ends long before the host would stop waiting."""
        return {"type": "command", "bash": command, "timeoutSec": TIMEOUT}

    def command_in(self, entry: Any) -> tuple[str | None, float | None]:
        """Under `bash`."""
        command, limit = entry.get("bash"), entry.get("timeoutSec")
        return command if isinstance(command, str) else None, float(limit) if isinstance(limit, int | float) else None

    def environment(self, root: Path) -> dict[str, str]:
        """As in a terminal: a question must show as one."""
        return {**os.environ, "COPILOT_CLI": "1", "COPILOT_LOADER_PID": "1", "COPILOT_PROJECT_DIR": str(root)}

    def servers_path(self, root: Path) -> Path:
        """A file of its own."""
        return _user() / "mcp-config.json"

    def server_entry(self, command: Sequence[str]) -> dict[str, Any]:
        """All of its tools are offered."""
        return {"type": "local", "command": command[0], "args": list(command[1:]), "tools": ["*"]}

    def servers(self, root: Path) -> list[str]:
        """Those of the user and of the project."""
        return json_hooks.servers_in((self.servers_path(root), root / ".mcp.json", root / ".github" / "mcp.json"))

    def switches(self, root: Path, settings: Path) -> Iterator[Finding]:
        """Keys of its settings, and files beside ours."""
        for name in catalog().settings:
            path = Path(name.replace("{user}", str(_user())).replace("{root}", str(root)))
            data = json_hooks.read_json(path)
            for key in catalog().switches if isinstance(data, dict) else ():
                if data.get(key):
                    text = f"{shown(path, 300)}: `{key}` is set, so the hook may not run"
                    yield Finding("fault", "hooks-disabled", text, f"remove `{key}`")
        for folder in (_user() / "hooks", root / ".github" / "hooks"):
            others = [one.name for one in sorted(folder.glob("*.json")) if one.name != "remit.json"]
            if others:
                text = f"{shown(folder, 300)}: other hooks ({shown(', '.join(others))}) may change arguments"
                yield Finding("note", "other-hooks", text)

    # Probes

    def sample(self, act: Act, target: str) -> tuple[str, dict[str, Any]]:
        """A call of one of its tools."""
        if act == "read":
            return "view", {"path": target}
        if act == "write":
            return "create", {"path": target, "file_text": "remit probe\n"}
        if act == "edit":
            return "edit", {"path": target, "old_str": "a", "new_str": "b"}
        return "bash", {"command": target, "description": "remit probe"}

    def question(
        self, *, session: str, root: Path, tool: str, args: dict[str, Any], use: str, agent: str | None
    ) -> bytes:
        """What its first hook is told; the moment makes it unique."""
        said: dict[str, Any] = {"sessionId": session, "timestamp": time.time_ns() // 1000, "cwd": str(root)}
        said |= {"toolName": tool, "toolArgs": args}
        if agent is not None:
            said |= {"agentId": use, "agentType": agent, "parentAgentId": session}
        return json.dumps(said).encode()

    def not_run(self, question: bytes) -> bytes:
        """What its hook for failures is told."""
        return json.dumps(json.loads(question) | {"error": "probe"}).encode()

    def understood(self, code: int, out: bytes, err: bytes) -> Said:
        """A 2 blocks, whatever was printed; otherwise one JSON object counts."""
        found = said_in(out)
        if isinstance(found, Said):
            return found if code == 0 else Said(None, alarm=f"it ended with {code} and no reason")
        decision, reason = found.get("permissionDecision"), found.get("permissionDecisionReason", "")
        if decision not in ("allow", "ask", "deny") or not isinstance(reason, str):
            return Said(None, alarm="the host does not know its decision")
        editor = found.get("hookSpecificOutput")
        if not isinstance(editor, dict) or editor.get("permissionDecision") != decision:
            return Said(None, alarm="it tells VS Code something else")
        if (code != 0) != (decision == "deny") or code not in (0, 2):
            return Said(None, alarm=f"it ended with {code}")
        return Said(decision, reason)
