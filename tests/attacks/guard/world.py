"""A project with something to protect, an agent with little to do in it, and tools that really write."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from remit.enforce.errors import CallRefused, GuardError
from remit.enforce.guard import Guard

AGENT: dict[str, Any] = {
    "may": ["tool"],
    "may_not": [{"path": "src/secret/**"}],
    "locks": {"may": ["src/**"], "except": ["src/generated/**"]},
}
POLICY: dict[str, Any] = {"remit": 1, "agents": {"a": AGENT}, "protect": ["src/kept/**"]}
OUT_OF_BOUNDS = (
    ".git/hooks/pre-commit",
    "remit.yaml",
    "docs/a",
    "src/secret/key",
    "src/kept/a",
    "src/generated/a",
    "../up",
    "src/../../up",
    "src/../remit.yaml",
    "SRC/../Remit.yaml",
)
"""Below the root by their text or not: none of them may be written."""


class World:
    """A folder `root` beside a folder `outside`, and a guard over it."""

    def __init__(self, folder: Path, policy: dict[str, Any] | None = None, **more: Any) -> None:
        self.root, self.outside = folder / "root", folder / "outside"
        for name in ("src/secret", "src/kept", "src/generated", "src/ok", "docs", ".git/hooks"):
            (self.root / name).mkdir(parents=True, exist_ok=True)
        self.outside.mkdir(exist_ok=True)
        (self.root / "remit.yaml").write_text("remit: 1\n")
        (self.root / "src/link").symlink_to(self.outside)
        (self.root / "src/hooks").symlink_to(self.root / ".git/hooks")
        self.before = self.files(folder)
        self.folder = folder
        self.guard = Guard(policy or POLICY, root=self.root, state=folder / "remit" / "kept" / "state", **more)
        self.ran: list[Any] = []

    def write(self, *paths: Any) -> None:
        """What a tool does with its paths: relative ones are below the root."""
        for path in paths:
            self.ran.append(path)
            full = os.path.join(self.root, path)
            os.makedirs(os.path.dirname(full), exist_ok=True)
            with open(full, "w") as file:
                file.write("x")

    @staticmethod
    def files(folder: Path) -> frozenset[str]:
        found = (os.path.join(at, name) for at, _, names in os.walk(folder) for name in names)
        return frozenset(path for path in found if f"{folder}/remit/" not in path)

    def written(self) -> list[str]:
        """What is there now and was not before, and what changed, by its real place below the folder."""
        news = self.files(self.folder) - self.before
        if (self.root / "remit.yaml").read_text() != "remit: 1\n":
            news |= {str(self.root / "remit.yaml")}
        return sorted(os.path.relpath(os.path.realpath(path), self.folder) for path in news)

    def harm(self) -> list[str]:
        """What was written and may not be."""
        allowed = "root/src/"
        bad = ("root/src/secret/", "root/src/kept/", "root/src/generated/")
        return [path for path in self.written() if not path.startswith(allowed) or path.startswith(bad)]

    def attempt(self, call: Callable[[], Any]) -> str:
        """`ran`, or the code of the refusal."""
        with self.guard.agent("a"):
            try:
                call()
            except (CallRefused, GuardError) as refused:
                return refused.code
        return "ran"
