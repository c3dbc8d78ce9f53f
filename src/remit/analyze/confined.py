"""What confinement makes of a rulebook: effects that no command can have, and globs that mounts hold narrower."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from remit.decide.grid import Cell, grid_of
from remit.decide.profile import profile_of, shell_argument
from remit.model.facts import Facts
from remit.model.profile import Profile
from remit.model.rulebook import Rulebook
from remit.model.text import shown
from remit.scopes.glob import Glob

_GRANTED = Facts(now="0001-01-01T00:00:00Z")
"""Every standing grant is in time."""
REMOTE = frozenset(("network", "publish", "deploy", "message", "pay"))
"""Effects that need the network."""


def holds(rulebook: Rulebook, cell: Cell, effects: Iterable[str]) -> bool:
    """Whether every command of the cell runs confined, and can't have these effects whatever its text says."""
    if cell.confine != "required" or not cell.tool.does_nothing_else(effects):
        return False
    if any(rule.scope.when for rule in cell.caller.rules):
        return False  # in some context it may be wider
    profile = profile_of(rulebook, cell.caller.name, cell.tool.name, facts=_GRANTED)
    held = {"system"}  # nothing outside the root is written, and nobody is root
    if profile.network.mode == "none":
        held |= REMOTE
    if not profile.git and any(not region.may for region in profile.write):
        held |= {"write", "delete"}
    return held.issuperset(effects)


def usable(cell: Cell) -> bool:
    """Whether it takes a text for a shell, and some rule lets it be used."""
    if shell_argument(cell) is None:
        return False
    return bool(cell.access) or (cell.access is None and bool(cell.may or cell.asks or cell.grants))


def notices(rulebook: Rulebook) -> Iterator[str]:
    """For the author: where commands run confined and mounts hold less than the rules say."""
    grid = grid_of(rulebook)
    for caller in rulebook.book.callers.values():
        row = grid.row(caller.name) if caller.kind != "role" and caller.confine not in (None, "off") else None
        if row is None:
            continue
        names = dict.fromkeys((*rulebook.book.tools, *caller.tools))
        cells = [grid.cell(row, tool) for name in names if (tool := row.tool(name)) is not None]
        found: dict[str, None] = {}
        for cell in filter(usable, cells):
            profile = profile_of(rulebook, caller.name, cell.tool.name)
            found.update(dict.fromkeys(map(why_narrow, narrow(profile))))
            found.update(dict.fromkeys(_only_deleted(cell)))
        yield from (f"{caller.at}: confined, {text}" for text in found)


def narrow(profile: Profile) -> list[str]:
    """The globs of what it may write that mounts can't hold as they are: they hold less."""
    globs = dict.fromkeys(text for region in profile.write for text in region.may)
    return [text for text in globs if not _is_tree(text)]


def why_narrow(text: str) -> str:
    """What that means, for people."""
    return (
        f"mounts can enforce `{shown(text)}` only in part: existing files that it matches can be changed but not"
        " replaced, and no new ones created; a whole folder (`dir/**`) has no such limit, and neither has the overlay"
    )


def _is_tree(text: str) -> bool:
    """`**`, or a folder with all below it."""
    return text == "**" or (text.endswith("/**") and Glob.parse(text).base == text.removesuffix("/**"))


def _only_deleted(cell: Cell) -> Iterator[str]:
    """Globs that commands may delete and not write: the kernel does not tell the two apart."""
    for bound in (*cell.may, *cell.asks):
        paths = bound.rule.scope.parts.get("shell", {}).get("path") or {}
        writes = paths.get("write", ())
        for text in paths.get("delete", ()):
            if text not in writes and "**" not in writes:
                yield f"`{shown(text)}` may be deleted but not written, so commands can do neither"
