"""The contract of an agent when it is made: it gets no tool that is unknown, and none that it may not use.

class ImplementerAgent:
    def __init__(self, guard: Guard, allowed_tools: list[str]) -> None:
        guard.check_tools("ImplementerAgent", allowed_tools)         # raises InvalidToolError
"""

from __future__ import annotations

from collections.abc import Iterable

from remit.enforce.errors import GuardError, InvalidToolError
from remit.explain.cells import DENIED
from remit.explain.matrix import cell_for, tools_of
from remit.model.rulebook import Rulebook
from remit.model.text import shown, suggestion


def tools_within(rulebook: Rulebook, agent: str) -> list[str]:
    """The tools that an agent may use, asked or not, in the policy's order. Raises GuardError for nobody we know."""
    caller = rulebook.book.callers.get(agent)
    if caller is None:
        raise GuardError(
            f"the policy knows no agent `{shown(agent)}`{suggestion(agent, rulebook.book.callers)}",
            code="unknown-agent",
        )
    if not caller.enabled:
        return []
    return [name for name in tools_of(rulebook) if cell_for(rulebook, agent, name).symbol != DENIED]


def check_tools(rulebook: Rulebook, agent: str, tools: Iterable[str]) -> None:
    """Raises InvalidToolError for the first tool that is unknown, else for the first that the agent may not use.

    Raises GuardError for an unknown agent. Passing here is no permission: each call is still decided.
    """
    known, aliases, wanted = tools_of(rulebook), rulebook.book.aliases, list(tools)
    for tool in wanted:
        if aliases.get(tool, tool) not in known:
            raise InvalidToolError(tool, known)
    within = tools_within(rulebook, agent)
    for tool in wanted:
        if aliases.get(tool, tool) not in within:
            raise InvalidToolError(tool, known, agent=agent, within=within)
