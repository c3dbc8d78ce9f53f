"""A project with a small team, for the commands of living authority: real files, a real store, a real terminal."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from remit.enforce.errors import CallRefused
from remit.enforce.guard import Guard
from remit.grant.credential import set_passphrase
from remit.model.call import Statement
from remit.record.open import open_ledger, open_log
from tests.cli.kit import Ran, Remit
from tests.cli.terminal import Typed, at_terminal
from tests.record.stores import said

RIGHT = "correct horse battery"
POLICY = """\
remit: 1
name: team
gates: [demo]
tools:
  read: {args: {file: path}, does: {read: file}}
  write: {args: {file: path, text: text}, does: {write: file}, tier: 1}
  term: {args: {command: shell}, tier: 2}
  query: {args: {sql: sql}, dialect: sqlite}
  deploy: {args: {version: text, notes: json}, optional: [notes], does: {deploy: "https://prod.example/**"}}
agents:
  lead: {may: [read], delegates_to: [dev, tester], acknowledges: true}
  dev:
    may: [read, {write: {path: "src/**"}}, term, query, deploy]
    must_ask: [{write: {path: "docs/**"}}]
    data_tiers: [0, 1]
    data_tiers_with_grant: [2]
  tester: {may: [read]}
labels:
  data: {2: {path: ["reports/**"]}}
"""
FREE = POLICY + "unsafe_no_credential: true\n"
TASK = """\
id: TASK-12
agent: dev
goal: store sessions in SQLite
constraints: [no new services]
may_not: [{effect: publish}]
scope: ["src/**", "docs/**"]
plan:
  - term: {shell: {run: [{pip: [install]}]}}
  - write: {path: "docs/**"}
grants:
  - write: {path: "notes/**"}
  - read
data_tiers: [2]
gates: [demo]
budget: {calls: 20, writes: 5, tools: {write: 4}}
expires: 2099-01-01
"""
SAID = Statement("put it in force", "it is finished", "users see it")


class Team:
    """A folder with the policy of a team."""

    def __init__(self, folder: Path, remit: Remit) -> None:
        self.root, self.remit = folder, remit

    def __call__(self, *args: str, stdin: bytes | None = b"") -> Ran:
        """A command in this process, where there is no terminal to ask."""
        return self.remit(*args, stdin=stdin)

    def policy(self, text: str) -> None:
        """Writes the policy and puts it in force; without a passphrase this works once."""
        self.write("remit.yaml", text)
        ran = self("activate", "--yes")
        assert ran.code == 0, ran.err

    def passphrase(self) -> None:
        with open_ledger(self.root, point="test") as opened:
            set_passphrase(opened.store, RIGHT)

    def write(self, name: str, text: str) -> str:
        (self.root / name).write_text(text, "utf-8")
        return name

    def new(self, text: str = TASK) -> Ran:
        """A task, issued where no passphrase is needed."""
        return self("capsule", "new", self.write("task.yaml", text), "--yes")

    def type(self, *args: str, question: str, passphrase: str = RIGHT) -> Typed:
        """A command at a terminal, and the passphrase when it is asked for."""
        return at_terminal(*args, cwd=self.root, answers=[(question, f"{passphrase}\n")])

    def guard(self) -> Guard:
        """The program that runs the agents, under what is in force."""
        guard = Guard(self.root / "remit.yaml")

        @guard.tool("read", does={"read": "file"})
        def read(file: Path) -> str:
            return "text"

        @guard.tool("write", does={"write": "file"}, tier=1)
        def write(file: Path, text: str) -> None:
            path = self.root / file
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)

        @guard.tool("term", kinds={"command": "shell"})
        def term(command: str) -> str:
            return "ran"

        @guard.tool("query", kinds={"sql": "sql"}, dialect="sqlite")
        def query(sql: str) -> str:
            return "rows"

        @guard.tool("deploy", does={"deploy": "https://prod.example/**"}, kinds={"notes": "json"})
        def deploy(version: str, notes: Any = None) -> str:
            return f"deployed {version}"

        return guard

    def call(self, tool: str, capsule: str | None = None, agent: str = "dev", **args: Any) -> str:
        """What came of one call: its result, or the code by which it was refused."""
        with self.guard() as guard, guard.agent(agent, capsule=capsule):
            try:
                return str(guard.call(tool, args, statement=SAID))
            except CallRefused as refused:
                return refused.code

    def ledger(self, kind: str) -> list[dict[str, Any]]:
        with open_log(self.root) as opened:
            return [entry for entry in said(opened.store) if entry["type"] == kind]
