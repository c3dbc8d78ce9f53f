"""What Claude Code reads to its model without a call: memory files, and what these import with `@path`."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

NAMES = frozenset(("claude.md", "claude.local.md", "agents.md"))
DEEP = 5
"""So many imports one behind the other are followed."""
MOST = 200
_IMPORT = re.compile(r"(?:^|\s)@((?:[^\s\\]|\\ )+)")
_CODE = re.compile(r"^(```|~~~).*?^\1|`[^`\n]*`", re.DOTALL | re.MULTILINE)
_MAX = 1024 * 1024
_SKIPPED = frozenset((".git", "node_modules", ".venv", "__pycache__"))


def written(tool: str, args: dict[str, Any], cwd: str | None) -> list[str]:
    """The files that a memory file would import after this call, absolute."""
    name = args.get("file_path")
    if tool not in ("Write", "Edit") or not isinstance(name, str) or os.path.basename(name).lower() not in NAMES:
        return []
    path = os.path.join(cwd or "/", name)
    if tool == "Write":
        return imports(path, str(args.get("content", "")))
    old, new = str(args.get("old_string", "")), str(args.get("new_string", ""))
    before = _text(Path(path))
    return imports(path, before.replace(old, new) if before is not None and old and old in before else new)


def imports(path: str, text: str) -> list[str]:
    """What a memory file with this text imports, absolute; code is left out, as the host does."""
    found = []
    for match in _IMPORT.finditer(_CODE.sub("", text)):
        name = match[1].replace("\\ ", " ").partition("#")[0].rstrip(".,;:)'\"")
        if name.startswith("~/"):
            name = os.path.expanduser(name)
        if name:
            found.append(os.path.normpath(os.path.join(os.path.dirname(path), name)))
    return list(dict.fromkeys(found))[:MOST]


def imported(root: Path) -> Iterator[tuple[str, str]]:
    """Each memory file of a project that imports something, with what, also by other imports; only what is there."""
    for file in _memory_files(root):
        seen, left = {str(file)}, [(str(file), 0)]
        while left:
            path, depth = left.pop(0)
            text = _text(Path(path))
            for target in imports(path, text) if text is not None and depth < DEEP else ():
                if target not in seen and os.path.isfile(target):
                    seen.add(target)
                    left.append((target, depth + 1))
                    yield str(file), target


def _memory_files(root: Path) -> Iterator[Path]:
    count = 0
    for folder, below, files in os.walk(root):
        below[:] = sorted(name for name in below if name not in _SKIPPED)
        for name in sorted(files):
            if name.lower() in NAMES:
                count += 1
                if count > MOST:
                    return
                yield Path(folder, name)


def _text(path: Path) -> str | None:
    try:
        with path.open("rb") as file:
            return file.read(_MAX).decode("utf-8", "replace")
    except OSError:
        return None
