"""What a `never` statement is about: which callers, and which of their tools."""

from __future__ import annotations

from fnmatch import fnmatchcase

from remit.model.policy import Caller, Never, Tool
from remit.model.rulebook import Book
from remit.scopes.kinds import kind_of


def names_tool(pattern: str, tool: Tool) -> bool:
    """True if a pattern such as `git_*` matches one of the tool's names."""
    return any(fnmatchcase(name, pattern) for name in (tool.name, *tool.aliases))


def selects_caller(statement: Never, caller: Caller) -> bool:
    """True if the statement is about the caller: by its name, one of its roles, or because it names nobody."""
    wanted = {*statement.agent, *statement.role}
    return not wanted or caller.name in wanted or not wanted.isdisjoint(caller.roles)


def selects_tool(book: Book, statement: Never, tool: Tool) -> bool:
    """True if the statement is about the tool."""
    if statement.tool and not any(names_tool(pattern, tool) for pattern in statement.tool):
        return False
    if statement.toolset and not any(tool.name in book.toolsets.get(name, ()) for name in statement.toolset):
        return False
    for key in ("layer", "category", "risk"):
        wanted = getattr(statement, key)
        if wanted and getattr(tool, key) not in wanted:
            return False
    if statement.kind and tool.kinds.isdisjoint(statement.kind):
        return False
    return not statement.effect or _may_have(tool, statement.effect)


def _may_have(tool: Tool, effects: tuple[str, ...]) -> bool:
    return any(does.effect in effects for does in tool.does) or any(kind_of(kind).language for kind in tool.kinds)
