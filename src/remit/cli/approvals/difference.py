"""What a call that writes or edits files would change: what is on disk now against what would be there.

Which arguments say so is told by the tool's declaration (a path that it writes) and by the names that such tools use.
INVARIANT: every line is marked, and how much is left out is said.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from difflib import unified_diff
from pathlib import Path
from typing import Any

import msgspec

from remit.explain.visible import BAR, bounded, marked
from remit.model.policy import Tool

MOST_BYTES = 256 * 1024
MOST_LINES = 60
_OLD = frozenset({"oldstring", "oldstr", "oldtext", "old", "search"})
_NEW = frozenset({"newstring", "newstr", "newtext", "new", "replace", "replacement"})
_WHOLE = frozenset({"content", "contents", "text", "filetext", "newcontent", "body", "data"})
_ALL = frozenset({"replaceall", "all"})


class Difference(msgspec.Struct, frozen=True):
    """Of one file: the lines of a unified difference, or why there are none."""

    path: str
    lines: tuple[str, ...] = ()
    problem: str | None = None


def differences(tool: Tool, args: Any, root: Path, cwd: str | None) -> list[Difference]:
    """One for each file that the arguments say something about."""
    if not isinstance(args, dict):
        return []
    written = {does.arg for does in tool.does if does.effect == "write" and does.arg is not None}
    names = [name for name, argument in tool.args.items() if argument.kind == "path" and name in written]
    found: list[Difference] = []
    for name in names:
        holder, _, key = name.rpartition(".")
        for one in _holders(holder, args):
            path = one.get(key)
            if isinstance(path, str):
                found.extend(_of_file(path, one, tool, holder, os.path.join(root, cwd or "", path)))
    return found


def lines_of(found: list[Difference], *, full: bool) -> Iterator[str]:
    """For people."""
    for one in found:
        if one.problem is not None:
            yield f"  what it would change in {bounded(one.path, 300)} can't be shown: {bounded(one.problem, 200)}"
            continue
        if not one.lines:
            yield f"  it would change nothing in {bounded(one.path, 300)}"
            continue
        yield f"  what it would change in {bounded(one.path, 300)}, as the file is now"
        kept = one.lines if full else one.lines[:MOST_LINES]
        yield from (f"    {BAR}{marked(line)}" for line in kept)
        if len(kept) < len(one.lines):
            yield f"    [{len(one.lines) - len(kept)} more lines are hidden; --full shows them]"


def _holders(name: str, args: dict[str, Any]) -> list[dict[str, Any]]:
    """The objects that hold an argument: the arguments themselves, or the elements of `edits[]`."""
    found: list[Any] = [args]
    for part in name.split(".") if name else ():
        key, many = part.removesuffix("[]"), part.endswith("[]")
        found = [one[key] for one in found if isinstance(one, dict) and key in one]
        if many:
            found = [item for one in found if isinstance(one, list) for item in one]
    return [one for one in found if isinstance(one, dict)]


def _of_file(path: str, one: dict[str, Any], tool: Tool, holder: str, place: str) -> Iterator[Difference]:
    edits = [_edit(element) for element in (one, *_elements(one))]
    known = [edit for edit in edits if edit is not None]
    whole = [value for key, value in one.items() if _plain(key) in _WHOLE and isinstance(value, str)]
    if not known and len(whole) != 1:
        return
    try:
        old = _on_disk(place)
    except (OSError, ValueError) as error:
        yield Difference(path, problem=error.strerror or "not read" if isinstance(error, OSError) else str(error))
        return
    new = whole[0] if not known else old or ""
    for before, after, every in known:
        if before and before not in new:
            yield Difference(path, problem="the text that it would replace is not in the file")
            return
        new = new.replace(before, after, -1 if every else 1) if before else after + new
    name = "there is no such file yet" if old is None else "now"
    rows = unified_diff((old or "").splitlines(), new.splitlines(), name, "then", lineterm="", n=3)
    yield Difference(path, tuple(rows))


def _elements(one: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for value in one.values():
        if isinstance(value, list):
            yield from (item for item in value if isinstance(item, dict))


def _edit(one: dict[str, Any]) -> tuple[str, str, bool] | None:
    old = [value for key, value in one.items() if _plain(key) in _OLD and isinstance(value, str)]
    new = [value for key, value in one.items() if _plain(key) in _NEW and isinstance(value, str)]
    if len(old) != 1 or len(new) != 1:
        return None
    return old[0], new[0], any(value is True for key, value in one.items() if _plain(key) in _ALL)


def _plain(name: str) -> str:
    return name.replace("_", "").replace("-", "").lower()


def _on_disk(place: str) -> str | None:
    """The text of a file; None if there is none. Raises OSError, and ValueError for what is no text to compare."""
    try:
        descriptor = os.open(place, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except FileNotFoundError:
        return None
    with os.fdopen(descriptor, "rb") as file:
        about = os.fstat(file.fileno())
        if not stat.S_ISREG(about.st_mode):
            raise ValueError("it is not a regular file")
        if about.st_size > MOST_BYTES:
            raise ValueError(f"it has more than {MOST_BYTES} bytes")
        data = file.read(MOST_BYTES + 1)
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise ValueError("it is not UTF-8 text") from None
