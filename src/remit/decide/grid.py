"""A cell: all that a rulebook says about one caller and one tool, made on first use and kept."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

import msgspec

from remit.decide.index import Index
from remit.decide.intake import Intake
from remit.decide.selection import names_tool, selects_caller, selects_tool
from remit.model.call import Context
from remit.model.facts import Capsule
from remit.model.policy import Caller, Confine, Reserved, Rule, Tool
from remit.model.rulebook import Book, Rulebook
from remit.model.trace import Used
from remit.scopes.glob import Glob, fold
from remit.scopes.globset import GlobSet
from remit.scopes.judge import Judge

if TYPE_CHECKING:
    from remit.model.profile import Profile
    from remit.scopes.url import UrlSet

T = TypeVar("T")


class Bound:
    """A rule with its judge, ready to be asked."""

    __slots__ = ("judge", "line", "origin", "rule", "until", "used")

    def __init__(self, rule: Rule, *, origin: str = "", until: str | None = None, used: Used | None = None) -> None:
        self.rule = rule
        self.judge = Judge(rule.scope)
        self.until = until
        self.used = used
        self.origin = origin
        scope = self.judge.describe()
        at = f"{rule.at}: " if rule.at else ""  # what a task brings stands in no file
        self.line = f"{at}{rule.verb}{f' ({origin})' if origin else ''}{f': {scope}' if scope else ''}"

    def given(self, context: Context, values: dict[str, list[Any]]) -> Bound:
        """The same with what the call's task and context tell filled in."""
        found = self
        if self.judge.open:
            from copy import copy  # here: few rules leave anything to the call

            found = copy(self)
            found.judge = self.judge.given(context, values)
        return found

    def held(self, *, read: bool) -> Bound:
        """The same for a command that runs confined: what the text doesn't tell is held by the kernel."""
        from copy import copy

        found = copy(self)
        found.judge = self.judge.held(read=read)
        return found

    @property
    def order(self) -> tuple[bool, str, str, int, bool]:
        """Rules without side conditions first; never by their place in the file."""
        rule = self.rule
        return (self.judge.obliges, self.judge.describe(), rule.ask or "", rule.approvals, rule.separate)


def bind(rules: Iterable[Rule], tool: str, verb: str, *, origin: str = "", until: str | None = None) -> list[Bound]:
    """The rules of one verb that are about this tool, or about any tool."""
    mine = [rule for rule in rules if rule.verb == verb and (rule.tools is None or tool in rule.tools)]
    return sorted([Bound(rule, origin=origin, until=until) for rule in mine], key=lambda bound: bound.order)


def bind_entries(capsule: Capsule, part: Literal["grants", "plan"], tool: str, *, origin: str = "") -> list[Bound]:
    """The entries of a capsule's plan or grants that are about this tool, or about any tool."""
    rules: tuple[Rule, ...] = getattr(capsule, part)
    mine = [
        Bound(rule, origin=origin, used=Used(capsule.id, part, index))
        for index, rule in enumerate(rules)
        if rule.verb == "may" and (rule.tools is None or tool in rule.tools)
    ]
    return sorted(mine, key=lambda bound: bound.order)


def _texts(data: Any) -> Iterator[str]:
    """Every text in plain data."""
    if isinstance(data, str):
        yield data
    elif isinstance(data, dict):
        yield from (text for pair in data.items() for part in pair for text in _texts(part))
    elif isinstance(data, list | tuple):
        yield from (text for part in data for text in _texts(part))


class Cell:
    """For one caller and one tool."""

    __slots__ = (
        "access",
        "apis",
        "asks",
        "caller",
        "confine",
        "final",
        "grants",
        "grid",
        "index",
        "intake",
        "locks",
        "may",
        "nots",
        "profile",
        "reserved",
        "reserved_programs",
        "reserved_urls",
        "rulebook",
        "tool",
    )

    def __init__(self, grid: Grid, row: Row, tool: Tool) -> None:
        book, caller = grid.rulebook.book, row.caller
        self.grid = grid
        self.rulebook = grid.rulebook
        self.caller = caller
        self.tool = tool
        self.index = row.index
        self.intake = Intake(tool)
        rules = row.rules_for(tool.name)
        self.may = bind(rules, tool.name, "may")
        self.asks = bind(rules, tool.name, "must_ask")
        self.nots = bind(rules, tool.name, "may_not")
        self.grants = [
            bound
            for grant in book.grants
            if grant.agent == caller.name or grant.agent in caller.roles
            for bound in bind(grant.rules, tool.name, "may", origin="standing grant", until=grant.until)
        ]
        self.access: bool | None = None
        """Whether the tool's own `accessible_by` names the caller; None where it names nobody in particular."""
        if tool.accessible_by is not None:
            self.access = not row.names.isdisjoint(tool.accessible_by)
        self.reserved: Reserved | None = None
        self.reserved_urls: list[Any] = []
        self.reserved_programs: list[Reserved] = []
        self.final = any(selects_caller(s, caller) and selects_tool(book, s, tool) for s in book.never)
        """A `never` statement is about this cell: no grant from outside the policy counts."""
        for entry, urls in row.index.reserved:
            if entry.runner == caller.name:
                continue
            if any(names_tool(pattern, tool) for pattern in entry.tools):
                self.reserved = entry
            if urls:
                self.reserved_urls.append((entry, urls))
            if entry.programs or entry.modules:
                self.reserved_programs.append(entry)
        self.locks, self.apis = row.locks, row.apis
        self.confine: Confine = (caller.confine or "off") if "shell" in tool.kinds else "off"
        self.profile: Profile | None = None
        """What its commands may touch, where that is the same in every call; made on first use."""

    def names_file(self, name: str) -> bool:
        """Whether a rule that could let the tool run spells this name of a file, folded, at the end of a pattern."""
        rules = [bound.rule.scope for bound in (*self.may, *self.grants, *self.asks)]
        return any(fold(text.rpartition("/")[2]) == name for text in _texts(msgspec.to_builtins(rules)))

    @property
    def rules(self) -> list[Bound]:
        """Every rule of the policy that bears on the cell."""
        return [*self.may, *self.grants, *self.asks, *self.nots]


class Row:
    """One caller of a rulebook: its rules by tool."""

    __slots__ = ("any_tool", "apis", "book", "by_tool", "caller", "index", "locks", "names", "tools")

    def __init__(self, book: Book, caller: Caller, index: Index) -> None:
        self.book = book
        self.caller = caller
        self.index = index
        self.names = frozenset({caller.name, *caller.roles})
        self.locks: tuple[GlobSet, GlobSet] | None = None
        self.apis: UrlSet | None = None
        if caller.locks is not None:
            may = GlobSet(Glob.parse(text) for text in caller.locks.may)
            self.locks = (may, GlobSet(Glob.parse(text).folded() for text in caller.locks.except_))
        if caller.apis is not None:
            from remit.scopes.url import UrlPattern, UrlSet  # here: few callers have some, and paths need no URLs

            self.apis = UrlSet(UrlPattern.parse(text) for text in caller.apis)
        own = caller.tools
        self.tools = {alias: tool for tool in reversed(own.values()) for alias in tool.aliases} | dict(own)
        """Its own declarations, under each of their names."""
        self.any_tool: list[Rule] = []
        self.by_tool: dict[str, list[Rule]] = {}
        for rule in caller.rules:
            if rule.tools is None:
                self.any_tool.append(rule)
                continue
            for tool in rule.tools:
                self.by_tool.setdefault(tool, []).append(rule)

    def rules_for(self, tool: str) -> list[Rule]:
        """The caller's rules about one tool, those about any tool included."""
        return self.by_tool.get(tool, []) + self.any_tool

    def tool(self, name: str) -> Tool | None:
        """The declaration that counts for this caller, under whichever of its names."""
        canonical = self.book.aliases.get(name, name)
        return self.tools.get(name) or self.caller.tools.get(canonical) or self.book.tools.get(canonical)


class Grid:
    """The rows and cells of a rulebook, made as they are needed."""

    __slots__ = ("cells", "index", "rows", "rulebook")

    def __init__(self, rulebook: Rulebook) -> None:
        # Its own, or the rulebook that it was made for would live as long as it does, and it as long as that.
        self.rulebook = Rulebook(rulebook.book, rulebook.hash)
        self.index = Index(rulebook.book)
        self.rows: dict[str, Row] = {}
        self.cells: dict[tuple[str, str], Cell] = {}

    def row(self, name: str) -> Row | None:
        """The caller's row, or None for a name that the policy doesn't know."""
        row = self.rows.get(name)
        if row is None:
            caller = self.rulebook.book.callers.get(name)
            if caller is None:
                return None
            row = self.rows[name] = Row(self.rulebook.book, caller, self.index)
        return row

    def knows(self, agent: str, tool: str) -> bool:
        """True if the policy declares the caller, and the tool for it."""
        row = self.row(agent)
        return row is not None and row.tool(tool) is not None

    def cell(self, row: Row, tool: Tool) -> Cell:
        """The cell of a caller and a tool, which may be another caller's own declaration where a chain binds."""
        key = (row.caller.name, tool.name)
        cell = self.cells.get(key)
        if cell is None or cell.tool is not tool:
            cell = Cell(self, row, tool)
            self.cells.setdefault(key, cell)
        return cell


class PerRulebook(Generic[T]):
    """What is made once for each rulebook, and goes when that goes: the rulebook itself is only data."""

    __slots__ = ("_alive", "_make", "by_id")

    def __init__(self, make: Callable[[Rulebook], T]) -> None:
        self._make = make
        self.by_id: dict[int, T] = {}
        """By `id` of the rulebook, which is its own as long as it lives."""
        self._alive: dict[int, weakref.ref[Rulebook]] = {}

    def __call__(self, rulebook: Rulebook) -> T:
        place = id(rulebook)
        found = self.by_id.get(place)
        if found is None:
            found = self._make(rulebook)
            self._alive[place] = weakref.ref(rulebook, lambda _: self._forget(place))
            self.by_id[place] = found
        return found

    def _forget(self, place: int) -> None:
        self.by_id.pop(place, None)
        self._alive.pop(place, None)


grid_of = PerRulebook(Grid)
"""The grid of a rulebook, made once."""
