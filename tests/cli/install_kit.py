"""A project with a host's files, an activated rulebook, and a command line in it."""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from remit.cli.main import run
from tests.activated import activate
from tests.adapters.hooks.speech import CLAUDE, Speech
from tests.cli.kit import Ran

POLICY = """\
remit: 1
name: demo
use: [claude-code]
agents:
  boss:
    may: [Read, Task]
    delegates_to: [reviewer]
  reviewer:
    may: [Read, {Bash: {shell: {run: [git]}}}]
    must_ask: [{Edit: {path: "docs/**"}}]
  writer: {may: [Read, Write]}
  idle: {may: []}
hosts: {claude-code: {main: boss}}
"""
SETTINGS = """\
{
    "model": "opus",
    "hooks": {
        "Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]
    },
    "permissions": {"deny": ["Bash(rm:*)"]}
}
"""
REVIEWER = "---\nname: reviewer\ndescription: Reviews\ntools: Read, Write\n---\nYou review.\n"
TOY_SETTINGS = "# mine\ncolour blue\nblock NotebookEdit\nstart say hello\n"
INSTALL = ("install", "claude-code")
UNINSTALL = ("uninstall", "claude-code")


class Project:
    """A folder with a policy, with its state and the user's configuration beside it."""

    def __init__(self, base: Path, host: Speech = CLAUDE) -> None:
        self.host = host
        self.root, self.state, self.user = base / "project", base / "state", base / "user"
        for folder in (self.root, self.state, self.user):
            folder.mkdir(mode=0o700)
        self.settings = self.root / host.settings
        self.hooked = self.user / Path(host.settings).name
        """The user's settings, where the hooks stand."""
        self.settings_text = SETTINGS if host is CLAUDE else TOY_SETTINGS

    def put(self, path: str, text: str | bytes) -> Path:
        """Writes a file of the project."""
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text if isinstance(text, bytes) else text.encode())
        return target

    def definition(self, name: str) -> str:
        """Where an agent of the project is defined."""
        return f"{self.host.folder}/{name}{self.host.ending}"

    def of_user(self, name: str) -> Path:
        """Where an agent of all projects is defined."""
        path = self.user / Path(self.host.folder).name / f"{name}{self.host.ending}"
        path.parent.mkdir(exist_ok=True)
        return path

    def install(self, *options: str) -> Ran:
        """`remit install`."""
        return self("install", self.host.name, *options)

    def uninstall(self, *options: str) -> Ran:
        """`remit uninstall`."""
        return self("uninstall", self.host.name, *options)

    def policy(self, text: str = POLICY) -> str:
        """The policy with this host in it."""
        return text.replace("hosts: {claude-code:", f"hosts: {{{self.host.name}:")

    def activate(self, policy: str = POLICY) -> None:
        """The policy is in force."""
        path = self.put("remit.yaml", self.policy(policy))
        with here(self):
            activate(path)

    def files(self) -> dict[str, tuple[bytes, int]]:
        """Every file and directory of the project and of the user, with its bytes and mode."""
        return {
            os.path.relpath(path, self.root): (path.read_bytes() if path.is_file() else b"", path.lstat().st_mode)
            for path in sorted([*self.root.rglob("*"), *self.user.rglob("*")])
        }

    def hooks(self) -> dict[str, Any]:
        """The hooks in the user's settings."""
        found: dict[str, Any] = json.loads(self.hooked.read_bytes())["hooks"]
        return found

    def deny(self) -> list[str]:
        """The deny rules in the settings."""
        found: list[str] = json.loads(self.settings.read_bytes())["permissions"]["deny"]
        return found

    def kept(self) -> list[str]:
        """What lies in the state directory, besides what an activation leaves there."""
        files = (path for path in self.state.rglob("*") if path.is_file() and path.parent.name != "keys")
        return sorted(path.name for path in files if not path.name.startswith(("remit.db", "activating", "beginning")))

    def record(self) -> dict[str, Any]:
        """The record of the installation."""
        (path,) = self.state.rglob(f"{self.host.name}.json")
        found: dict[str, Any] = json.loads(path.read_bytes())
        return found

    def __call__(self, *args: str) -> Ran:
        """One command, without a terminal."""
        with here(self), _caught() as (out, err):
            code = run(list(args))
        return Ran(code, out.buffer.getvalue().decode(), err.buffer.getvalue().decode())  # type: ignore[attr-defined]

    @property
    def environment(self) -> dict[str, str]:
        """What a command needs to stay inside."""
        return {"XDG_STATE_HOME": str(self.state), "CLAUDE_CONFIG_DIR": str(self.user), "TOY_HOME": str(self.user)}


@contextlib.contextmanager
def here(project: Project) -> Iterator[None]:
    """Inside of the project."""
    with project.host.available(), pytest.MonkeyPatch.context() as patch:
        for key, value in project.environment.items():
            patch.setenv(key, value)
        patch.delenv("REMIT_STORE", raising=False)
        patch.delenv("REMIT_DEBUG", raising=False)
        patch.chdir(project.root)
        yield


@contextlib.contextmanager
def _caught() -> Iterator[tuple[io.TextIOWrapper, io.TextIOWrapper]]:
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdout", out)
        patch.setattr(sys, "stderr", err)
        patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO()))
        yield out, err
