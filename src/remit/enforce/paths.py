"""Looking up where paths really lead, before a decision that itself never touches the disk."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import msgspec

from remit.decide.grid import grid_of
from remit.enforce.refusal import own_places
from remit.model.call import Call
from remit.model.errors import RemitError
from remit.model.facts import Facts
from remit.model.rulebook import Rulebook
from remit.scopes.interface import Kind
from remit.scopes.kinds import kind_of
from remit.scopes.path import relative_to

if TYPE_CHECKING:
    from pathlib import Path

MAX_PATHS = 10_000


def open_root(root: Path | None, policy: Path, facts: Facts, *, policy_root: str = ".") -> tuple[Path, Facts]:
    """The root to judge paths against, and facts that know it. Raises RemitError for a root that is a file."""
    from pathlib import Path  # here: `look_up` alone does without

    chosen = root if root is not None else policy.parent / policy_root
    absolute = Path(os.path.abspath(chosen))
    if absolute.exists():
        if not absolute.is_dir():
            raise RemitError(f"the root {absolute} is not a directory", code="bad-root")
        real = Path(os.path.realpath(absolute))
        return real, msgspec.structs.replace(facts, root=str(real), resolved={})
    note = "the root does not exist: paths are judged by their text"
    return absolute, msgspec.structs.replace(facts, root=str(absolute), notes=(*facts.notes, note))


def facts_at(root: Path, state: Path) -> Facts:
    """What an enforcement point knows before any call: the root of paths, and the places that are Remit's own.

    Raises RemitError for a root that is a file.
    """
    base = Facts(store=True, guarded=(os.path.realpath(state),), sealed=own_places())
    return open_root(root, root, base)[1]


def look_up(rulebook: Rulebook, call: Call, facts: Facts) -> Facts:
    """The facts with every path of the call, as an argument or in a command, resolved below an existing root."""
    root = facts.root
    if facts.resolved is None or root is None:
        return facts
    row = grid_of(rulebook).row(call.agent)
    tool = row.tool(call.tool) if row is not None else None
    if tool is None or not isinstance(call.args, dict):
        return facts
    kinds = {name: kind_of(argument.kind) for name, argument in tool.args.items()}
    texts_in = {name: kind for name, kind in kinds.items() if kind.language}
    if texts_in:
        facts = msgspec.structs.replace(facts, links=_links(call, texts_in, root))
    names = [name for name, kind in kinds.items() if kind.on_disk]
    if not names:
        return facts
    resolved: dict[str, str] = {}
    base = os.path.join(root, call.context.cwd or ".")
    defaults = [argument.default for argument in tool.args.values() if argument.default is not None]
    texts = [*defaults, *(text for name in names for text in texts_at(call.args, name.split(".")))]
    for text in texts[:MAX_PATHS]:
        where = _real(os.path.join(base, text))
        if where is not None:
            resolved[text] = where
    return msgspec.structs.replace(facts, resolved=resolved)


def _links(call: Call, kinds: dict[str, Kind], root: str) -> dict[str, str]:
    """What the paths in the call's commands lead to, where symlinks make that something else."""
    texts = [(kind, text) for name, kind in kinds.items() for text in texts_at(call.args, name.split("."))]
    paths = sorted({path for kind, text in texts for path in kind.paths(text, call.context.cwd, root)})
    found = {path: _real(os.path.join(root, path)) for path in paths[:MAX_PATHS]}
    return {path: to for path, real in found.items() if real is not None and (to := relative_to(real, root)) != path}


def _real(path: str) -> str | None:
    """The path with symlinks followed, also through what doesn't exist yet; None for a loop or a bad name."""
    try:
        real = os.path.realpath(path)
        parts = real.split("/")
        loop = any(os.path.islink("/".join(parts[:count])) for count in range(2, len(parts) + 1))
        return None if loop else real
    except (OSError, ValueError):
        return None


def texts_at(value: Any, parts: list[str]) -> list[str]:
    """The texts at a declared name such as `replacements[].filePath`; anything else is left to the decision."""
    if not parts:
        return [value] if isinstance(value, str) else []
    head, rest = parts[0], parts[1:]
    if not isinstance(value, dict) or head.removesuffix("[]") not in value:
        return []
    found = value[head.removesuffix("[]")]
    if not head.endswith("[]"):
        return texts_at(found, rest)
    return [text for item in found for text in texts_at(item, rest)] if isinstance(found, list) else []
