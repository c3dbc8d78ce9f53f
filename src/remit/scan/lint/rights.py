"""Findings about rights that texts give or deny in words of their own, against what definitions grant."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from remit.scan.commands import Ban, lets_through, merged
from remit.scan.lint.agents import creates, definitions_of, holds, is_about, program_folder
from remit.scan.lint.finding import finding, listing
from remit.scan.model import Account, Agent, Entry, Extent, Finding, Kind, Mark, Right
from remit.scan.vocabulary import can_write, capability, tool_key

_MODES = ("primary", "subagent")
_PAPERS = (Kind.MATRIX, Kind.SECTION, Kind.RECORD)


def right_findings(agents: Sequence[Agent]) -> Iterator[Finding]:
    """Each agent whose definition grants what a text rules out, or lacks what a text gives; and texts that differ."""
    for agent in agents:
        if any(one.kind is Kind.POLICY for one in agent.accounts):
            continue  # the policy is compared with documents elsewhere
        said = [(one, right) for one in agent.accounts for right in one.rights]
        definitions = definitions_of(agent)
        told: dict[tuple[bool, bool], list[Finding]] = {}
        for account, right in said:
            meant = [one for one in definitions if is_about(account, one, definitions)]
            found = [_against(agent, one, right) for one in meant]
            if len({one.host for one in meant}) > 1 and None in found:
                continue  # it may speak of the program that agrees
            told.setdefault((right.granted, right.kind in _MODES), []).extend(one for one in found if one is not None)
        for several in told.values():
            yield from several[:1]
        yield from _texts_differ(agent, said)


def command_findings(agents: Sequence[Agent], bans: Sequence[Ban]) -> Iterator[Finding]:
    """Commands that a text rules out, for an agent or for all, and a definition's pattern lets through."""
    for agent in agents:
        for definition in definitions_of(agent) if not any(one.kind is Kind.POLICY for one in agent.accounts) else ():
            own = [one for one in bans if one.agent is not None and one.place.file == definition.place.file]
            for verb, ban in merged([*own, *(one for one in bans if one.agent is None)]).items():
                found = lets_through(definition, verb)
                if found is not None:
                    pattern, command, place = found
                    text = f"the text says “{ban.text}”, and the definition allows `{pattern}`, and so `{command}`"
                    yield finding("definition-wider/command", text, ban.place, place, agent=agent.name)
                    break


def _texts_differ(agent: Agent, said: Sequence[tuple[Account, Right]]) -> Iterator[Finding]:
    """Two texts, one of which gives the agent what the other denies it."""
    given = [(right.kind, right.text, right.place) for _, right in said if right.granted]
    given += [
        (capability(entry.tool), f"grants {listing([entry.tool])}", entry.place)
        for one in agent.accounts
        if one.kind in _PAPERS and one.limits and not one.most
        for entry in one.allowed()
        if entry.mark is Mark.YES and entry.scope is None
    ]
    refused = [right for _, right in said if not right.granted and right.kind not in _MODES]
    refused += [
        Right("shell", granted=False, text=f"denies {listing([entry.tool])}", place=entry.place)
        for one in agent.accounts
        if one.kind in _PAPERS and not one.closed
        for entry in one.entries
        if entry.mark is Mark.NO and entry.scope is None and tool_key(entry.tool) in _SHELLS
    ]
    for right in refused:
        denied = ("write", "shell") if right.kind == "changes" else (right.kind,)
        for kind, text, place in given:
            if (
                kind in denied
                and place != right.place
                and program_folder(place.file) == program_folder(right.place.file)
            ):
                differ = f"one text {_spoken(right.text)}, another {_spoken(text)}"
                yield finding("tables-differ/right", differ, right.place, place, agent=agent.name)
                return


_SHELLS = {"bash", "shell", "runshellcommand", "runinterminal", "runterminalcmd", "runcommands", "execute"}
"""The tools without which an agent of their host runs no command."""


def _spoken(text: str) -> str:
    return text if text.startswith(("grants `", "denies `")) else f"says “{text}”"


def _against(agent: Agent, definition: Account, right: Right) -> Finding | None:
    if right.kind in _MODES:
        if definition.mode not in _MODES or definition.mode == right.kind:
            return None
        text = f"the text says “{right.text}”, and the definition's mode is {definition.mode}"
        return finding("defined-twice/mode", text, right.place, definition.place, agent=agent.name)
    if right.granted:
        return _lacks(agent, definition, right)
    changing = right.kind in ("write", "changes")
    if definition.extent is Extent.UNCLEAR or (changing and (definition.read_only is not None or definition.gated)):
        return None  # said already: the agent calls itself read-only; or the host asks before anything changes
    kinds = ("write", "shell") if right.kind == "changes" else (right.kind,)
    by_kind = {kind: holds(definition, kind) for kind in kinds}
    held = [e for e in definition.allowed() if _is_of(e, right.kind)]
    if changing and definition.reports:
        held = [e for e in held if not creates(e.tool)]
    if definition.extent is Extent.EVERYTHING and by_kind[kinds[0]] is None:
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


def _lacks(agent: Agent, definition: Account, right: Right) -> Finding | None:
    """A right that no tool of the definition's list can be, or whose tools the definition takes away."""
    taken = _taken(definition, right.kind) if definition.extent is Extent.EVERYTHING else []
    if taken:
        text = f"the text says “{right.text}”, and the definition takes {listing(taken)} away"
        return finding("definition-narrower/right", text, right.place, definition.place, agent=agent.name)
    kinds = {capability(e.tool) for e in definition.allowed()}
    means = {right.kind, "everything", "unknown", "mcp"} | ({"shell"} if right.kind in ("write", "network") else set())
    if definition.extent is not Extent.LIST or definition.recovered or not kinds or kinds & means:
        return None
    text = f"the text says “{right.text}”, and no tool of the definition's list can do that"
    return finding("definition-narrower/right", text, right.place, definition.place, agent=agent.name)


def _taken(definition: Account, kind: str) -> list[str]:
    """The tools of a kind that a definition takes away, if it leaves none, and no shell for what a shell can do."""
    left = {capability(e.tool) for e in definition.entries if e.mark is Mark.YES}
    taken = {capability(e.tool): e.tool for e in definition.entries if e.mark is Mark.NO and e.scope is None}
    told = {tool_key(e.tool) for e in definition.entries if e.mark is Mark.NO and e.scope is None}
    if kind in left or kind not in taken or "shell" not in {capability(e.tool) for e in definition.entries}:
        return []
    if kind == "write" and (not {"edit", "write"} <= told or "shell" in left):
        return []
    return list(dict.fromkeys(e.tool for e in definition.entries if e.mark is Mark.NO and capability(e.tool) == kind))
