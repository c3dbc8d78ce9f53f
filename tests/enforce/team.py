"""A guard over a scratch folder, for tests: a policy, functions that say when they ran, and a look into the ledger."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import msgspec

from remit.enforce.guard import Guard
from remit.record.reader import entries

POLICY: dict[str, Any] = {
    "remit": 1,
    "use": ["remit"],
    "agents": {
        "lead": {
            "may": ["read", "write", "outer", "remit_why", "remit_delegate", "remit_acknowledge"],
            "delegates_to": ["worker"],
            "acknowledges": True,
        },
        "worker": {
            "may": [
                "read",
                "write",
                {"create": {"path": {"allow": ["research/**", "sub/**"], "new_only": True}}},
                "deploy",
                "adeploy",
                "outer",
                "fail",
                "aread",
                "remit_request",
            ]
        },
        "idle": {"may": []},
    },
}


class Team:
    """The guard, and what ran under it."""

    def __init__(self, folder: Path, **more: Any) -> None:
        self.root = folder / "root"
        self.root.mkdir(exist_ok=True)
        self.ran: list[Any] = []
        self.lock = threading.Lock()
        self.guard = Guard(more.pop("policy", POLICY), root=self.root, state=folder / "state", **more)
        self._declare()

    def mark(self, *what: Any) -> None:
        with self.lock:
            self.ran.append(what)

    def _declare(self) -> None:
        guard, mark = self.guard, self.mark

        def name(path: Path) -> str:
            """Functions get absolute paths."""
            return str(path.relative_to(self.root.resolve()))

        @guard.tool(does={"read": "path"})
        def read(path: Path) -> str:
            mark("read", name(path))
            return name(path)

        @guard.tool(does={"write": "path"}, tier=1)
        def write(path: Path, content: str = "") -> str:
            mark("write", name(path))
            return name(path)

        @guard.tool(does={"write": "path"}, tier=1)
        def create(path: Path, content: str = "x") -> str:
            mark("create", name(path), content)
            (self.root / path).write_text(content)
            return name(path)

        @guard.tool(does={"deploy": "https://prod.example/**"})
        def deploy(version: str) -> str:
            mark("deploy", version)
            return f"deployed {version}"

        @guard.tool(does={"deploy": "https://prod.example/**"})
        async def adeploy(version: str) -> str:
            mark("adeploy", version)
            return f"deployed {version}"

        @guard.tool(does={"read": "path"})
        async def aread(path: Path) -> str:
            mark("aread", name(path))
            return name(path)

        @guard.tool(does="nothing")
        def outer(version: str) -> str:
            mark("outer", version)
            return deploy(version)

        @guard.tool(does={"write": "path"}, tier=1)
        def fail(path: Path) -> None:
            mark("fail", name(path))
            raise RuntimeError("it does")

        self.read, self.write, self.create, self.deploy, self.outer = read, write, create, deploy, outer
        self.adeploy, self.aread, self.fail = adeploy, aread, fail

    def said(self) -> list[dict[str, Any]]:
        """What stands in the ledger."""
        self.guard.flush()
        with self.guard.authority.store.read() as view:
            return [msgspec.json.decode(entry.body) for entry in entries(view)]

    def outcomes(self) -> list[str]:
        return [entry["result"] for entry in self.said() if entry["type"] == "outcome"]

    def approve(self, call: Any) -> str:
        """Asks for the call, and approves it as a person does."""
        from remit.enforce.errors import CallPending

        try:
            call()
        except CallPending as pending:
            name = pending.approval
        if name is None:
            raise AssertionError("nothing was asked")
        self.guard.authority.answer(name, "approve", by="ann")
        return name
