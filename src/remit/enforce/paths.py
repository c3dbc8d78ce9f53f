"""Looking up where paths really lead, before a decision that itself never touches the disk."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import msgspec

from remit.decide.plan import desk
from remit.model.call import Call
from remit.model.errors import RemitError
from remit.model.facts import Facts
from remit.model.rulebook import Rulebook

MAX_PATHS = 10_000


def open_root(root: Path | None, policy: Path, facts: Facts, *, policy_root: str = ".") -> tuple[Path, Facts]:
    """The root to judge paths against, and facts that know it. Raises RemitError for a root that is a file."""
    chosen = root if root is not None else policy.parent / policy_root
    absolute = Path(os.path.abspath(chosen))
    if absolute.exists():
        if not absolute.is_dir():
            raise RemitError(f"the root {absolute} is not a directory", code="bad-root")
        real = Path(os.path.realpath(absolute))
        return real, msgspec.structs.replace(facts, root=str(real), resolved={})
    note = "the root does not exist: paths are judged by their text"
    return absolute, msgspec.structs.replace(facts, root=str(absolute), notes=(*facts.notes, note))


def look_up(rulebook: Rulebook, call: Call, facts: Facts) -> Facts:
    """The facts with every path argument of the call resolved below an existing root."""
    if facts.resolved is None or facts.root is None:
        return facts
    row = desk(rulebook).row(call.agent)
    tool = row.tool(call.tool) if row is not None else None
    if tool is None or not isinstance(call.args, dict):
        return facts
    names = [name for name, argument in tool.args.items() if argument.kind == "path"]
    if not names:
        return facts
    resolved: dict[str, str] = {}
    base = os.path.join(facts.root, call.context.cwd or ".")
    defaults = [argument.default for argument in tool.args.values() if argument.default is not None]
    texts = [*defaults, *(text for name in names for text in _texts(call.args, name.split(".")))]
    for text in texts[:MAX_PATHS]:
        where = _real(os.path.join(base, text))
        if where is not None:
            resolved[text] = where
    return msgspec.structs.replace(facts, resolved=resolved)


def _real(path: str) -> str | None:
    """The path with symlinks followed, also through what doesn't exist yet; None for a loop or a bad name."""
    try:
        real = os.path.realpath(path)
        parts = real.split("/")
        loop = any(os.path.islink("/".join(parts[:count])) for count in range(2, len(parts) + 1))
        return None if loop else real
    except (OSError, ValueError):
        return None


def _texts(value: Any, parts: list[str]) -> list[str]:
    """The texts at a declared name such as `replacements[].filePath`; anything else is left to the decision."""
    if not parts:
        return [value] if isinstance(value, str) else []
    head, rest = parts[0], parts[1:]
    if not isinstance(value, dict) or head.removesuffix("[]") not in value:
        return []
    found = value[head.removesuffix("[]")]
    if not head.endswith("[]"):
        return _texts(found, rest)
    return [text for item in found for text in _texts(item, rest)] if isinstance(found, list) else []
