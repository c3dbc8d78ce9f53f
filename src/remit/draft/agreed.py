"""What all places that speak of an agent agree on: where it is denied a tool, and which limit holds everywhere.

A definition is exact: what it does not list, it does not grant. A document may name one tool of a kind for all of them.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from remit.draft.equivalents import is_whole, meanings
from remit.draft.limits import Command, covered, named
from remit.draft.packs import tools_for
from remit.scan.answers import ASK
from remit.scan.model import Account, Agent, Entry, Extent, Kind, Mark, Place
from remit.scan.vocabulary import capability, capability_word, tool_key

_CHANGES = ("write", "shell")
_MATTERS = (*_CHANGES, "network", "delegate", "mcp")


class Limit(msgspec.Struct, frozen=True):
    """The limit of a tool in words (None: without, empty: one that nobody names), and where it stands."""

    scope: str | None
    place: Place
    whole: bool = False
    """Whether a command without a star is all that may be run."""


def source_of(agent: Agent) -> Account:
    """The account that the draft starts from: a definition with a list, else a document with one, else the first."""
    ranked = [account for account in agent.accounts if account.kind is not Kind.SETTINGS and account.closed]
    lists = [account for account in ranked if account.extent is Extent.LIST]
    definition = next((one for one in lists if one.kind is Kind.DEFINITION), None)
    return definition or next(iter(lists), None) or next(iter(ranked), agent.accounts[0])


def refusal(agent: Agent, entry: Entry, own: Account, pack: str | None) -> Entry | None:
    """What a place says against a tool: a denial of it or of its kind, or a list that lacks it."""
    for account in agent.accounts:
        for other in account.entries:
            if other.mark is Mark.NO and _same(entry, other, pack) and not (other.scope and _exact(account)):
                return other
            if _denies_all(other) and not _exact(account) and not _names_it(account, entry, pack):
                return other
        if account is not own and _lacks(account, entry, own, pack):
            return Entry(entry.tool, Mark.NO, account.place)
        for right in account.rights:
            if right.kind == capability(entry.tool) and not right.granted:
                return Entry(entry.tool, Mark.NO, right.place)
    return None


def _denies_all(entry: Entry) -> bool:
    """Whether an entry denies every tool."""
    return entry.mark is Mark.NO and entry.scope is None and capability(entry.tool) == "everything"


def _names_it(account: Account, entry: Entry, pack: str | None) -> bool:
    """Whether a place grants the tool by name: then what it says of everything is about the others."""
    return any(_same(entry, other, pack) for other in account.allowed())


def claims_to_look(agent: Agent) -> bool:
    """Whether a place says that the agent only reads: its own text, or a document."""
    return any(
        account.read_only is not None or any(one.kind == "changes" and not one.granted for one in account.rights)
        for account in agent.accounts
    )


def _exact(account: Account) -> bool:
    return account.kind in (Kind.DEFINITION, Kind.SETTINGS)


def _same(entry: Entry, other: Entry, pack: str | None) -> bool:
    """Whether one entry is about the tool of the other. A word that names no tool, such as `Editar` or `run commands`,
    is about all tools of its kind."""
    if capability_word(other.tool) and not (pack is not None and tools_for(other.tool, pack)):
        return capability(other.tool) == capability(entry.tool)
    return bool(_keys(entry.tool, pack) & _keys(other.tool, pack))


def _means_all(word: str, tool: str, host: str | None) -> bool:
    """Whether a word of a document means all that a tool gives: `shell`, or `Terminal` where it names no tool."""
    given = meanings(word)
    return not given or meanings(tool, host) <= given


def _keys(tool: str, pack: str | None) -> set[str]:
    return {tool_key(tool), *(tool_key(name) for name in (tools_for(tool, pack) if pack is not None else ()))}


def _lacks(account: Account, entry: Entry, own: Account, pack: str | None) -> bool:
    """Whether a place that says all that the agent has does not say this."""
    kind = capability(entry.tool)
    if account.extent is Extent.UNCLEAR and account.kind is Kind.DEFINITION:
        return kind in _MATTERS
    if account.extent is not Extent.LIST or not account.closed:
        return False
    if _exact(account):
        given = {word for other in account.allowed() for word in meanings(other.tool, account.host)}
        keys = {key for other in account.allowed() for key in _keys(other.tool, pack)}
        means = meanings(entry.tool, own.host)
        return not (means and means <= given) and not _keys(entry.tool, pack) <= keys
    kinds = {capability(other.tool) for other in account.allowed()}
    if account.marks and not any(capability(other.tool) == kind for other in account.entries):
        return False  # without a row or column of the kind, it says nothing of it
    return kind in _MATTERS and kind not in kinds


def limit_of(agent: Agent, entry: Entry, own: Account) -> Limit | Entry:
    """The limit that lies within every other one; or the entry whose limit differs, if there is none."""
    limits = [(account, scoped) for account in agent.accounts if (scoped := _scoped(account, entry, own))]
    if entry.mark is Mark.YES and not any(_elsewhere(own, account, scoped) for account, scoped in limits):
        return Limit(None, entry.place)
    others = [(account, scoped) for account, scoped in limits if any(one.scope for one in scoped)]
    if entry.scope:
        candidates = [Limit(entry.scope, entry.place, is_whole(own.host))]
        others = [(account, scoped) for account, scoped in others if account is not own]
    else:
        candidates = [_joined(account, scoped) for account, scoped in others]
    for candidate in candidates:
        names = named(candidate.scope or "", whole=candidate.whole)
        if all(covered(names, _names(account, scoped)) for account, scoped in others):
            return candidate
    if not candidates:
        return Limit("", limits[0][1][0].place if limits else entry.place)
    return next(one for _, scoped in others for one in scoped if one.scope)


def _elsewhere(own: Account, account: Account, entries: Sequence[Entry]) -> bool:
    """Whether a place limits the tool by more than what the agent's section, beside the table, says of its calls."""
    beside = bool(own.terms or own.hands_to) and account.marks and account.place.file == own.place.file
    return not beside or any(one.scope for one in entries)


def _names(account: Account, entries: Sequence[Entry]) -> frozenset[Command | str]:
    """What the entries of one place name together."""
    found = (named(one.scope, whole=is_whole(account.host)) for one in entries if one.scope)
    return frozenset(name for names in found for name in names)


def _joined(account: Account, entries: Sequence[Entry]) -> Limit:
    """What the entries of one place admit together."""
    scope = ", ".join(one.scope for one in entries if one.scope)
    place = next(one.place for one in entries if one.scope)
    return Limit(scope, place, is_whole(account.host))


def _scoped(account: Account, entry: Entry, own: Account) -> list[Entry]:
    """The entries by which a place limits a tool; none if it does not. A limit on writing limits every tool that
    writes and is not named: `Edit` would write where its `Write` may not."""
    alike = [one for one in account.allowed() if capability(one.tool) == capability(entry.tool)]
    same = [one for one in alike if tool_key(one.tool) == tool_key(entry.tool)]
    words = [one for one in alike if capability_word(one.tool) and _means_all(one.tool, entry.tool, own.host)]
    if words and not same:  # each of them is about this tool: `Escribir`, `Editar`
        scoped = [one for one in words if one.mark is Mark.SCOPED and not (one.scope == ASK and _exact(account))]
        differ = len({one.scope for one in scoped}) > 1
        return [msgspec.structs.replace(scoped[0], scope=None)] if differ else scoped
    free = [one for one in same if one.mark is Mark.YES or (one.scope == ASK and _exact(account))]
    if capability(entry.tool) == "write" and account.closed and account is not own:
        writes = [one for one in account.allowed() if capability(one.tool) == "write"]
        given = {word for one in writes if one.mark is Mark.YES for word in meanings(one.tool, account.host)}
        if not same or (free and not meanings(entry.tool, own.host) <= given):
            return [one for one in writes if one.mark is Mark.SCOPED]
    return [] if free else same
