"""Which tools each caller can use, for programs that show their models nothing else: distributed access control.

access = ToolAccess("remit.yaml")
access.get_available_tools("specialist:content", "fr_writer")
access.validate_access("specialist:content", "writeFile", "fr_writer")      # False
access.register_tool("preview", {"args": {"path": "path"}, "does": {"read": "path"}, "accessible_by": ["fr_writer"]})

It answers what a caller may see. Whether a call may run, with these arguments and now, is Guard's to decide.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from remit.compile import build_rulebook, load_rulebook
from remit.enforce.errors import GuardError
from remit.enforce.schema import tool_schema
from remit.explain.access import Report, make_report, report_text
from remit.explain.matrix import tool_for
from remit.model.arguments import check_arguments
from remit.model.rulebook import Rulebook
from remit.model.text import shown, suggestion

Registered = dict[str, Mapping[str, Any]]


class AvailableTool(msgspec.Struct, frozen=True):
    """A tool that a caller can use."""

    name: str
    layer: str | None
    category: str | None
    risk: str | None
    verdict: str
    """`allow`, or `ask` where somebody is asked first."""
    scopes: tuple[str, ...]
    """What limits it."""
    definition: str
    """Its name, description and arguments for a model, in JSON."""


class AccessStats(msgspec.Struct, frozen=True):
    """How much of all the tools a caller can use."""

    total: int
    accessible: int
    denied: int
    percentage: float
    by_layer: dict[str, int]


class _Seen(msgspec.Struct, frozen=True):
    report: Report | None
    tools: tuple[AvailableTool, ...]


class ToolAccess:
    """The tools and callers of a policy, and those that a program registers while it runs.

    A registration goes through the same checks as the policy: an unknown key, a duplicate tool name, or a `never`
    that would no longer hold raises PolicyError, and nothing changes. Threads may share one.
    """

    def __init__(self, policy: str | os.PathLike[str] | Mapping[str, Any]) -> None:
        if not isinstance(policy, Mapping):
            check_arguments("ToolAccess", {"policy": "path"}, policy=policy)
        self._policy = policy
        self._lock = threading.Lock()
        self._tools: Registered = {}
        self._agents: Registered = {}
        self._rulebook = self._compiled(self._tools, self._agents)
        self._cache: dict[tuple[str, str | None], _Seen] = {}

    @property
    def rulebook(self) -> Rulebook:
        """What counts now."""
        return self._rulebook

    # What a caller can use

    def get_available_tools(self, caller: str, specialist_id: str | None = None) -> tuple[AvailableTool, ...]:
        """The tools of a caller: an agent or role, or the specialist of that role. None for nobody we know."""
        return self._seen(caller, specialist_id).tools

    def get_tool_definitions(self, caller: str, specialist_id: str | None = None) -> list[dict[str, Any]]:
        """The same as JSON Schema, for a model's list of tools."""
        return [json.loads(tool.definition) for tool in self.get_available_tools(caller, specialist_id)]

    def validate_access(self, caller: str, tool_name: str, specialist_id: str | None = None) -> bool:
        """Whether the caller can use the tool at all, by its name or an alias."""
        name = self._rulebook.book.aliases.get(tool_name, tool_name)
        return any(tool.name == name for tool in self.get_available_tools(caller, specialist_id))

    def get_access_stats(self, caller: str, specialist_id: str | None = None) -> AccessStats:
        """How many tools there are, how many of them the caller can use, also in percent, and by layer."""
        report = self._known(caller, specialist_id)
        found, total = len(report.accessible), len(report.entries)
        return AccessStats(total, found, total - found, report.percentage, report.by_layer)

    def generate_access_report(self, caller: str, specialist_id: str | None = None) -> str:
        """The same for people, in Markdown, tool by tool."""
        return report_text(self._known(caller, specialist_id))

    # What is registered while the program runs

    def register_tool(self, name: str, definition: Mapping[str, Any]) -> None:
        """Adds a tool, in the format of `tools`. Raises PolicyError."""
        self._change(lambda tools, agents: tools.update({name: dict(definition)}))

    def unregister_tool(self, name: str) -> None:
        """Takes a tool away that was registered. Raises GuardError for any other."""
        self._change(lambda tools, agents: _remove(tools, name, "tool"))

    def register_specialist(self, name: str, role: str) -> None:
        """Adds an agent of a role. Raises PolicyError."""
        self._change(lambda tools, agents: agents.update({name: {"roles": [role], "may": []}}))

    def unregister_specialist(self, name: str) -> None:
        """Takes an agent away that was registered. Raises GuardError for any other."""
        self._change(lambda tools, agents: _remove(agents, name, "specialist"))

    def reload(self) -> None:
        """Reads the policy again, such as a file that has changed. Raises PolicyError."""
        self._change(lambda tools, agents: None)

    @property
    def cached(self) -> int:
        """For how many callers the answer is kept. A change of tools, specialists or policy forgets all."""
        return len(self._cache)

    def _change(self, edit: Callable[[Registered, Registered], None]) -> None:
        with self._lock:
            tools, agents = dict(self._tools), dict(self._agents)
            edit(tools, agents)
            compiled = self._compiled(tools, agents)
            self._tools, self._agents, self._rulebook, self._cache = tools, agents, compiled, {}

    def _compiled(self, tools: Registered, agents: Registered) -> Rulebook:
        more = {key: value for key, value in (("tools", tools), ("agents", agents)) if value}
        if isinstance(self._policy, Mapping):
            return build_rulebook(self._policy, more=more)
        return load_rulebook(self._policy, more=more)

    def _seen(self, caller: str, specialist_id: str | None) -> _Seen:
        cache, rulebook = self._cache, self._rulebook  # of one moment: a change replaces both
        key = (caller, specialist_id)
        found = cache.get(key)
        if found is None:
            found = _look(rulebook, caller, specialist_id)
            with self._lock:
                if cache is self._cache and rulebook is self._rulebook and found.report is not None:
                    cache[key] = found
        return found

    def _known(self, caller: str, specialist_id: str | None) -> Report:
        report = self._seen(caller, specialist_id).report
        if report is None:
            named = f"`{specialist_id}` of `{caller}`" if specialist_id is not None else f"`{caller}`"
            callers = self._rulebook.book.callers
            raise GuardError(
                f"the policy knows no caller {shown(named, 160)}{suggestion(caller, callers)}", code="unknown-agent"
            )
        return report


def _look(rulebook: Rulebook, caller: str, specialist_id: str | None) -> _Seen:
    """A specialist counts only under a role that it has: its name alone gives nothing."""
    callers = rulebook.book.callers
    found = callers.get(caller if specialist_id is None else specialist_id)
    if found is None or (specialist_id is not None and caller not in (*found.roles, found.name)):
        return _Seen(None, ())
    report = make_report(rulebook, found.name)
    tools = []
    for entry in report.accessible if found.enabled else ():
        tool = tool_for(rulebook, found.name, entry.tool)
        if tool is not None:
            definition = json.dumps(tool_schema(tool), ensure_ascii=False)
            cell = entry.cell
            tools.append(
                AvailableTool(
                    entry.tool, entry.layer, entry.category, entry.risk, cell.verdict, cell.scopes, definition
                )
            )
    return _Seen(report, tuple(tools))


def _remove(found: Registered, name: str, kind: str) -> None:
    if name not in found:
        raise GuardError(f"no {kind} `{name[:80]}` was registered", code="not-registered")
    del found[name]
