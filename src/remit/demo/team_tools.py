"""The team's tools: plain functions on a workspace with real files, git and SQLite, put behind a guard."""

from __future__ import annotations

import os
import sqlite3
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from remit import Guard, Shell, Sql

_QUIET = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_AUTHOR_DATE": "2026-11-15T12:00:00Z",
    "GIT_COMMITTER_DATE": "2026-11-15T12:00:00Z",
    "LC_ALL": "C",
}
_START = {
    "src/app.py": 'def main() -> None:\n    print("hello")\n',
    "src/legacy/billing.py": "# nobody dares to touch this\n",
    "data/customers/complaints.txt": "ann@example.org: I am logged out every morning\n",
    "README.md": "# The app\n",
}


class Tools(NamedTuple):
    """The tools as the agents call them: each call passes the guard."""

    read_file: Callable[[Path], str]
    write_file: Callable[[Path, str], str]
    list_files: Callable[[Path], list[str]]
    run: Callable[[str], str]
    query: Callable[[str], list[Any]]


def make_workspace(root: Path, remote: Path) -> None:
    """A repository with one commit, a remote to push to, and a database. Raises OSError and CalledProcessError."""
    for name, text in _START.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    for command in (
        f'git init -q --bare -b main "{remote}" && git init -q -b main',
        f'git config user.name team && git config user.email team@example.org && git remote add origin "{remote}"',
        "git add -A && git commit -q -m start",
    ):
        subprocess.run(["bash", "-c", command], cwd=root, env={**os.environ, **_QUIET}, check=True, capture_output=True)
    with sqlite3.connect(root / "team.db") as database:
        database.execute("CREATE TABLE findings (topic TEXT, text TEXT)")
    database.close()


def declare(guard: Guard, root: Path) -> Tools:
    """Puts the functions behind the guard."""

    @guard.tool(does={"read": "path"})
    def read_file(path: Path) -> str:
        """Reads a file."""
        return (root / path).read_text(encoding="utf-8")

    @guard.tool(does={"write": "path"}, tier=1)
    def write_file(path: Path, content: str) -> str:
        """Writes a file, with the folders it lies in."""
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(content, encoding="utf-8")
        return f"{len(content)} characters"

    @guard.tool(does={"read": "path"})
    def list_files(path: Path) -> list[str]:
        """Names what lies in a folder."""
        return sorted(one.name for one in (root / path).iterdir() if one.name != ".git")

    @guard.tool(tier=2)
    def run(command: Shell) -> str:
        """Runs a command with bash, in the workspace."""
        found = subprocess.run(
            ["bash", "-c", command],
            cwd=root,
            env={**os.environ, **_QUIET},
            capture_output=True,
            text=True,
            timeout=30,
            check=True,
        )
        return found.stdout.strip()

    @guard.tool(dialect="sqlite", tier=1)
    def query(sql: Sql) -> list[Any]:
        """Runs SQL in the team's database."""
        database = sqlite3.connect(root / "team.db")
        try:
            with database:
                return database.execute(sql).fetchall()
        finally:
            database.close()

    return Tools(read_file, write_file, list_files, run, query)
