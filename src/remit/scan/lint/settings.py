"""Findings about the settings of hosts, which bind every agent at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from remit.scan.commands import Ban, covers
from remit.scan.files import Text
from remit.scan.lint.finding import finding, listing
from remit.scan.model import Account, Entry, Extent, Finding, Kind, Mark, Place
from remit.scan.settings import EVERYBODY
from remit.scan.told import Told
from remit.scan.vocabulary import capability, tool_key, words

_MOST = 6


def settings_findings(accounts: Sequence[Account]) -> Iterator[Finding]:
    """Settings that allow everything, and prohibitions that an allowed shell walks around."""
    for account in accounts:
        if account.kind is not Kind.SETTINGS or account.agent != EVERYBODY:
            continue
        wide = next(
            (
                entry
                for entry in account.entries
                if entry.mark is Mark.YES and capability(entry.tool) in ("shell", "everything") and entry.scope is None
            ),
            None,
        )
        if account.extent is Extent.EVERYTHING or wide is not None:
            yield finding(
                "settings-allow-everything",
                f"{account.host} runs `{wide.tool if wide else 'every tool'}` without asking, for every agent",
                wide.place if wide else account.place,
            )
        if wide is not None:
            yield from _moot(account, wide)


def _moot(account: Account, shell: Entry) -> Iterator[Finding]:
    files = [e for e in account.entries if e.mark is Mark.NO and e.scope and capability(e.tool) in ("read", "write")]
    if files:
        first = files[0]
        yield finding(
            "moot-scope/moot",
            f"`{first.tool}({first.scope})` is denied, but `{shell.tool}` is allowed without a scope",
            first.place,
            shell.place,
            tool=shell.tool,
        )


def unreadable(text: Text, why: str) -> Finding:
    """A settings file that can't be parsed."""
    return finding("unreadable-settings", f"can't be read: {why[:120]}", Place(text.path, 1))


def denied_findings(accounts: Sequence[Account], told: Sequence[Told]) -> Iterator[Finding]:
    """What settings deny every agent, and a definition lists, a text tells its agent to run, or settings allow."""
    settings = [one for one in accounts if one.kind is Kind.SETTINGS and one.agent == EVERYBODY]
    for one in settings:
        definitions = [each for each in accounts if each.kind is Kind.DEFINITION and _binds(one, each)]
        for entry in one.entries:
            if entry.mark is Mark.NO and entry.scope is None:
                yield from _listed(one, entry, definitions)
            elif entry.mark is Mark.NO and capability(entry.tool) == "shell":
                yield from _run(entry, [each for each in told if each.definition in definitions])
        yield from _allowed(one, [other for other in settings if _together(one, other)])


def forbidden_findings(accounts: Sequence[Account], rules: Sequence[Ban]) -> Iterator[Finding]:
    """Commands that a page of rules forbids, and that settings run without a question."""
    settings = [one for one in accounts if one.kind is Kind.SETTINGS and one.agent == EVERYBODY]
    for one in settings:
        shells = [each for each in one.entries if capability(each.tool) == "shell" and each.scope]
        others = [other for other in settings if _together(one, other)]
        held = [e for other in others for e in other.entries if capability(e.tool) == "shell" and _stops(e)]
        for ban in rules:
            if any(not each.scope or covers(each.scope, ban.verb) for each in held):
                continue
            open_to = next((e for e in shells if not _stops(e) and covers(e.scope or "", ban.verb)), None)
            if open_to is not None and _same_root(one.place.file, ban.place.file):
                pattern = f"{open_to.tool}({open_to.scope})"
                text = f"the rules say “{ban.text}”, and the settings allow `{pattern}`, and so `{ban.verb}`"
                yield finding("definition-wider/rules", text, ban.place, open_to.place)
                break


def _stops(entry: Entry) -> bool:
    return entry.asked or entry.mark is Mark.NO


def _same_root(settings: str, page: str) -> bool:
    """Whether settings lie in a program's folder of the tree that a page of rules speaks of."""
    root = page.rpartition("/")[0].partition("/.")[0]
    return settings.startswith(f"{root}/" if root and not root.startswith(".") else "")


def _binds(settings: Account, definition: Account) -> bool:
    """Whether a host that takes these settings' prohibitions above all reads the definition with them."""
    root = settings.place.file.rpartition("/")[0].rpartition("/")[0]
    below = definition.place.file.startswith(f"{root}/" if root else "")
    return below and settings.host == definition.host and settings.host in words("deny_first", "")


def _listed(settings: Account, entry: Entry, definitions: Sequence[Account]) -> Iterator[Finding]:
    holding = [
        (one, each)
        for one in definitions
        for each in one.allowed()
        if tool_key(each.tool) == tool_key(entry.tool) and each.mark is Mark.YES
    ]
    if holding:
        names = listing(list(dict.fromkeys(one.agent for one, _ in holding)), _MOST)
        text = f"`{entry.tool}` is denied to every agent in the settings, and in the tools of {names}"
        places = (entry.place, *(each.place for _, each in holding[:_MOST]))
        yield finding(
            "defined-twice/everybody", text, *places, agent=holding[0][0].agent if len(holding) == 1 else None
        )


def _run(entry: Entry, told: Sequence[Told]) -> Iterator[Finding]:
    """A text that tells its agent to run what a pattern such as `Bash(curl:*)` denies."""
    prefix = (entry.scope or "").removesuffix("*").rstrip(": ")
    if not prefix or "*" in prefix:
        return
    runs = [one for one in told if one.command is not None and f"{one.command} ".startswith(f"{prefix} ")]
    for file in dict.fromkeys(one.place.file for one in runs):
        own = [one for one in runs if one.place.file == file]
        command = (own[0].command or "")[:60]
        text = f"the settings deny `{entry.tool}({entry.scope})`, and its text tells it to run `{command}`"
        places = (entry.place, *(one.place for one in own[:_MOST]))
        yield finding("defined-twice/told", text, *places, agent=own[0].definition.agent)


def _together(one: Account, other: Account) -> bool:
    """Whether two files of settings bind the same agents; each pair counts once, and a file with itself."""
    folders = [each.place.file.rpartition("/")[0] for each in (one, other)]
    return one.host == other.host and folders[0] == folders[1]


def _allowed(settings: Account, others: Sequence[Account]) -> Iterator[Finding]:
    """What one list denies and another allows, word for word."""
    allowed = {
        (tool_key(each.tool), each.scope): each
        for other in others
        for each in other.entries
        if each.mark in (Mark.YES, Mark.SCOPED) and not each.asked
    }
    both = [
        (entry, allowed[tool_key(entry.tool), entry.scope])
        for entry in settings.entries
        if entry.mark is Mark.NO and (tool_key(entry.tool), entry.scope) in allowed
    ]
    if both:
        names = [f"{entry.tool}({entry.scope})" if entry.scope else entry.tool for entry, _ in both]
        text = f"{listing(names)} {'is' if len(both) == 1 else 'are'} both denied and allowed in settings"
        yield finding(
            "defined-twice/both", text, *(place for pair in both[:_MOST] for place in (pair[0].place, pair[1].place))
        )
