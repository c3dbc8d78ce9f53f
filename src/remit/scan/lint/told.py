"""Findings about tools that a definition's own text tells its agent to use, and that its list lacks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from remit.scan.lint.finding import finding, listing
from remit.scan.model import Account, Extent, Finding, Place
from remit.scan.told import SCRIPT, Told
from remit.scan.vocabulary import capability, tool_key, words


def told_findings(told: Sequence[Told]) -> Iterator[Finding]:
    """Each definition whose text uses what its list does not grant, once."""
    by_file: dict[str, list[Told]] = {}
    for one in told:
        program = (one.command or "").partition(" ")[0]
        meant = one.command is None or (
            one.run and (program in words("told_programs", "") or SCRIPT.fullmatch(program))
        )
        if meant and one.definition.extent is Extent.LIST and _lacks(one.definition, one.tool):
            by_file.setdefault(one.place.file, []).append(one)
    for uses in by_file.values():
        definition = uses[0].definition
        first: dict[str, Place] = {}
        for one in uses:
            first.setdefault(one.command or one.named or one.tool, one.place)
        names = list(first)
        lacks = "it" if len(names) == 1 else "them"
        if all(one.command is not None for one in uses):
            text = f"its text tells it to run {listing(names)}; its list has no tool that runs commands"
        else:
            text = f"its text tells it to use {listing(names)}; its list lacks {lacks}"
        places = (*list(first.values())[:4], definition.place)
        yield finding("definition-narrower/told", text, *places, agent=definition.agent)


def _lacks(definition: Account, tool: str) -> bool:
    """Whether no tool of a list can be the one that is meant."""
    held = [tool_key(one.tool) for one in definition.allowed()]
    kinds = {capability(one.tool) for one in definition.allowed()}
    kind = capability(tool)
    if "everything" in kinds or any(one.startswith("mcp") and len(one) <= 5 for one in held):
        return False
    if kind == "mcp":
        _, server, name = tool.split("__", 2)
        return not any(tool_key(server) in one or tool_key(name) in one for one in held)
    return kind not in kinds and "unknown" not in kinds and not (kind in ("read", "search") and "shell" in kinds)
