"""Findings about rights that texts give or deny in words of their own, against what definitions grant."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from remit.scan.lint.agents import creates
from remit.scan.lint.finding import finding, listing
from remit.scan.model import Account, Agent, Entry, Extent, Finding, Kind, Mark, Right
from remit.scan.vocabulary import can_write, capability, tool_key

_WRITING = {"write", "edit", "multiedit", "createfile", "editfiles"}
"""What a definition that starts from everything must take away to write no file."""


_MODES = ("primary", "subagent")


def right_findings(agents: Sequence[Agent]) -> Iterator[Finding]:
    """Each agent whose definition grants what a text rules out, or lacks what a text gives."""
    for agent in agents:
        if any(one.kind is Kind.POLICY for one in agent.accounts):
            continue  # the policy is compared with documents elsewhere
        rights = [right for one in agent.accounts for right in one.rights]
        definitions = [one for one in agent.accounts if one.kind is Kind.DEFINITION]
        claimed = any(one.read_only is not None for one in agent.accounts)
        told: set[tuple[bool, bool]] = set()
        for right in rights:
            for definition in definitions:
                found = (
                    _against(agent, definition, right, claimed=claimed)
                    if (right.granted, right.kind in _MODES) not in told
                    else None
                )
                if found is not None:
                    told.add((right.granted, right.kind in _MODES))
                    yield found


def _against(agent: Agent, definition: Account, right: Right, *, claimed: bool) -> Finding | None:
    if right.kind in _MODES:
        if definition.mode not in _MODES or definition.mode == right.kind:
            return None
        text = f"the text says “{right.text}”, and the definition's mode is {definition.mode}"
        return finding("defined-twice/mode", text, right.place, definition.place, agent=agent.name)
    if right.granted:
        return _lacks(agent, definition, right)
    changing = right.kind in ("write", "changes")
    if changing and (claimed or definition.gated):
        return None  # said already: the agent calls itself read-only; or the host asks before anything changes
    held = [e for e in definition.allowed() if _is_of(e, right.kind)]
    if changing and definition.reports:
        held = [e for e in held if not creates(e.tool)]
    if definition.extent is Extent.EVERYTHING:
        if _is_taken(definition, right.kind):
            return None
        what, place = "every tool, since it has no tool list", definition.place
    elif held:
        what, place = listing(list(dict.fromkeys(e.tool for e in held))), held[0].place
    else:
        return None
    text = f"the text says “{right.text}”, and the definition grants {what}"
    return finding("definition-wider/right", text, right.place, place, agent=agent.name)


def _is_of(entry: Entry, kind: str) -> bool:
    """Whether an entry grants a kind of tool whole."""
    found = capability(entry.tool)
    if kind in ("write", "changes"):
        return can_write(entry) and found in ("write", "everything", *(("shell",) if kind == "changes" else ()))
    return found == kind and entry.mark is Mark.YES and entry.scope is None


def _is_taken(definition: Account, kind: str) -> bool:
    """Whether a definition that starts from everything takes a kind away, or may."""
    refused = {tool_key(e.tool) for e in definition.entries if e.mark is not Mark.YES}
    return bool(refused & _WRITING) if kind in ("write", "changes") else any(capability(one) == kind for one in refused)


def _lacks(agent: Agent, definition: Account, right: Right) -> Finding | None:
    """A right that no tool of the definition's list can be."""
    kinds = {capability(e.tool) for e in definition.allowed()}
    means = {right.kind, "everything", "unknown", "mcp"} | ({"shell"} if right.kind in ("write", "network") else set())
    if definition.extent is not Extent.LIST or definition.recovered or not kinds or kinds & means:
        return None
    text = f"the text says “{right.text}”, and no tool of the definition's list can do that"
    return finding("definition-narrower/right", text, right.place, definition.place, agent=agent.name)
