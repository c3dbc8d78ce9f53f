"""A project as people have one: a policy that was activated, hooks that were installed, and a command line in it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.adapters.hooks.speech import CLAUDE, Speech
from tests.cli.kit import Ran, Remit

POLICY = """\
remit: 1
name: docs-team
use: [claude-code]
hosts: {claude-code: {main: lead}}
agents:
  lead:
    may: [Read, Glob, Grep, Task, Bash]
    delegates_to: [researcher]
  researcher:
    may:
      - [Read, Glob, Grep]
      - Write: {path: "research/*.md"}
  ghost:
    may: [Read]
runners:
  Releases: {may: [Bash]}
"""
AGENT = "---\nname: researcher\ndescription: Looks things up.\n---\nYou look things up.\n"


class Hooked:
    """The project; everything that `remit status` looks at lies below one folder."""

    def __init__(self, folder: Path, remit: Remit, policy: str = POLICY, host: Speech = CLAUDE) -> None:
        self.host = host
        self.folder, self.remit, self.root = folder, remit, folder / "proj"
        self.rules = self.root / host.settings
        self.agent = self.root / host.folder / f"researcher{host.ending}"
        self.user = folder / "home" / host.folder.partition("/")[0]
        self.settings = self.user / self.rules.name
        """The user's, where the hooks stand; the project's have only rules."""
        for place in (self.agent.parent, self.user):
            place.mkdir(parents=True)
        self.agent.write_text(AGENT)
        remit.patch.setenv("XDG_STATE_HOME", str(folder / "state"))
        remit.patch.setenv("CLAUDE_CONFIG_DIR", str(self.user))
        remit.patch.setenv("TOY_HOME", str(self.user))
        for name in ("REMIT_STORE", "CLAUDE_CODE_SAFE_MODE", "CLAUDE_CODE_SIMPLE"):
            remit.patch.delenv(name, raising=False)
        remit.patch.chdir(self.root)
        remit.folder = self.root
        remit.policy(policy.replace("hosts: {claude-code:", f"hosts: {{{host.name}:"))

    @property
    def state(self) -> Path:
        [found] = (one for one in (self.folder / "state" / "remit").iterdir() if one.name != "hosts")
        return found

    def activated(self) -> Hooked:
        found = self.remit("activate", "--yes")
        assert found.code == 0, found
        return self

    def installed(self) -> Hooked:
        found = self.remit("install", self.host.name, "--yes")
        assert found.code == 0, found
        return self

    def change(self, edit: Callable[[Any], None], path: Path | None = None) -> None:
        """Changes a settings file as a person or a program would."""
        place = path if path is not None else self.settings
        data = json.loads(place.read_text()) if place.exists() else {}
        edit(data)
        place.write_text(json.dumps(data))

    def status(self, *more: str, code: int | None = None) -> Any:
        """What `remit status --json` says."""
        found = self.remit("status", "--json", *more)
        assert found.code in (0, 1), found
        assert found.err == ""
        assert found.code == (0 if found.json["fine"] else 1)
        assert code is None or found.code == code, found.out
        return found.json

    def text(self, *more: str) -> Ran:
        """Everything, for people."""
        return self.remit("status", "--all", *more)

    def short(self, *more: str) -> Ran:
        """The same on one screen."""
        return self.remit("status", *more)

    def faults(self) -> set[str]:
        """The codes of all faults."""
        found = self.status()
        every = [*found["findings"], *(one for host in found["hosts"] for one in host["findings"])]
        return {one["code"] for one in every if one["level"] == "fault"}

    def agents(self) -> dict[str, Any]:
        return {one["name"]: one for one in self.status()["agents"]}


def make(tmp_path: Path, capsys: pytest.CaptureFixture[str], patch: pytest.MonkeyPatch, policy: str = POLICY) -> Hooked:
    """A project that was neither activated nor installed yet."""
    return Hooked(tmp_path, Remit(tmp_path, capsys, patch), policy)
