"""What Claude Code's own settings say about commands, as far as it matters when Remit gives it another one to run."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from contextlib import suppress
from fnmatch import translate
from glob import glob
from pathlib import Path
from typing import Any

from remit.adapters.hooks.installed import Installed
from remit.model.text import shown

MANAGED = ("/etc/claude-code/managed-settings.json", "/etc/claude-code/managed-settings.d/*.json")
_RULE = re.compile(r"(\w+)\((.*)\)", re.DOTALL)
_MAX_SIZE = 4 * 1024 * 1024
_known: dict[str, tuple[tuple[int, int, int], Any]] = {}


def sandboxed(installed: Installed) -> str | None:
    """Why nothing can be confined: the host's own sandbox is on, or nobody can tell what its settings forbid."""
    for path, data in _settings(installed):
        if data is None:
            return f"Claude Code's settings in {shown(path, 300)} can't be read, so nobody can tell what they forbid"
        sandbox = data.get("sandbox")
        if isinstance(sandbox, dict) and sandbox.get("enabled") is True:
            return (
                f"Claude Code's own sandbox is on, and inside it Remit can't confine commands; "
                f"a person sets `sandbox.enabled: false` in {shown(path, 300)}"
            )
    return None


def barring(installed: Installed, tool: str, command: str) -> str | None:
    """The first deny rule whose words stand in the command, wherever: the host itself may be less strict."""
    text = " ".join(command.split())
    for _, data in _settings(installed):
        permissions = data.get("permissions") if data is not None else None
        rules = permissions.get("deny") if isinstance(permissions, dict) else None
        for rule in rules if isinstance(rules, list) else ():
            found = _RULE.fullmatch(rule) if isinstance(rule, str) else None
            if found is not None and found[1] == tool and _matches(found[2], text):
                return str(rule)
    return None


def _matches(pattern: str, text: str) -> bool:
    """`rm:*` and `rm *` are every command that begins with it, `git * main` has a `*` for anything."""
    pattern = " ".join(pattern.removesuffix(":*").removesuffix(" *").split())
    middle = translate(pattern).removesuffix(r"\Z").removeprefix("(?s:").removesuffix(")")
    return re.search(rf"(?<![\w./-]){middle}", text, re.DOTALL) is not None or pattern in ("", "*")


def _settings(installed: Installed) -> Iterator[tuple[str, dict[str, Any] | None]]:
    """Every settings file that the host reads in this project; None for one that is there and can't be read."""
    project = Path(installed.settings).parent
    user = os.environ.get("CLAUDE_CONFIG_DIR") or os.path.expanduser("~/.claude")
    files = [project / "settings.json", project / "settings.local.json", Path(user) / "settings.json"]
    paths = [*map(str, files), *(copy.path for copy in installed.copies)]
    paths += [path for pattern in MANAGED for path in sorted(glob(pattern))]
    for path in dict.fromkeys(paths):
        if os.path.lexists(path):
            data = _read(path)
            yield path, data if isinstance(data, dict) else None


def _read(path: str) -> Any:
    """What a file says; the same object as long as it is the same file. None if it can't be read."""
    with suppress(OSError, ValueError, RecursionError):
        about = os.stat(path)
        mark = (about.st_ino, about.st_mtime_ns, about.st_size)
        if path in _known and _known[path][0] == mark:
            return _known[path][1]
        if about.st_size > _MAX_SIZE:
            return None
        found = json.loads(Path(path).read_bytes() or b"{}")
        _known[path] = (mark, found)
        return found
    return None
