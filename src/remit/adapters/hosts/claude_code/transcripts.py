"""What Claude Code wrote down about its sessions in a project: which tools ran, whether or not a hook saw them."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from remit.adapters.hosts.setup import Ran

MOST_FILES = 50
MOST_BYTES = 8 * 1024 * 1024
"""Of each file, from its end."""


def ran(user: Path, root: Path, since: float) -> Iterator[Ran]:
    """The uses of tools that came to something, in sessions in the project that wrote after this moment."""
    start = re.sub(r"[^A-Za-z0-9]", "-", str(root))
    files = [path for path in _files(user / "projects", start) if _written(path) > since]
    for path in sorted(files, key=_written, reverse=True)[:MOST_FILES]:
        yield from _ran_in(path, str(root))


def _files(folder: Path, start: str) -> Iterator[Path]:
    """The transcripts of sessions that were started in the project, or below it; others may have such a name too."""
    try:
        names = [name for name in sorted(os.listdir(folder)) if name == start or name.startswith(f"{start}-")]
    except OSError:
        return
    for name in names:
        yield from (folder / name).glob("*.jsonl")


def _written(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def _ran_in(path: Path, root: str) -> Iterator[Ran]:
    uses: dict[str, Ran] = {}
    for line in _lines(path):
        if b'"tool_use"' not in line and b'"tool_result"' not in line:
            continue
        try:
            said = json.loads(line)
        except (ValueError, RecursionError):
            continue
        for block in _blocks(said):
            kind, cwd = block.get("type"), said.get("cwd")
            if kind == "tool_use" and isinstance(cwd, str) and f"{os.path.realpath(cwd)}/".startswith(f"{root}/"):
                session, use = said.get("sessionId"), block.get("id")
                if isinstance(session, str) and isinstance(use, str):
                    name, at = str(block.get("name")), str(said.get("timestamp"))
                    uses[use] = Ran(session, use, name, at)
            elif kind == "tool_result" and block.get("is_error") is not True:
                found = uses.pop(str(block.get("tool_use_id")), None)
                if found is not None:
                    yield found


def _lines(path: Path) -> list[bytes]:
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - MOST_BYTES))
            return file.read(MOST_BYTES).splitlines()
    except OSError:
        return []


def _blocks(said: Any) -> list[dict[str, Any]]:
    message = said.get("message") if isinstance(said, dict) else None
    content = message.get("content") if isinstance(message, dict) else None
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
