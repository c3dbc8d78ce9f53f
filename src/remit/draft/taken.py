"""What settings and definitions take away again: denials and questions of a host, as rules of the draft.

A denied path becomes a `may_not`. A denied command becomes a `must_ask`: as a `may_not` it would also refuse every
command that Remit does not understand, and the host refuses it anyway.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set

import msgspec

from remit import catalog
from remit.draft.equivalents import counts_last, gives, meanings, stands_for
from remit.draft.limits import Command, commands_of, denied_globs, runs_of, sites_of, skills_of
from remit.draft.packs import names_of, shell_argument, skill_argument, tools_for
from remit.scan.answers import ASK, is_pattern, matches
from remit.scan.model import Account, Entry, Mark, Place
from remit.scan.vocabulary import capability, pack_of_host

_CHANGES = ("write", "shell", "network")
DENIES = "denies it"


class Rule(msgspec.Struct, frozen=True):
    """One line of a draft: a tool, its scope as YAML or the commands that it may run, and where it comes from."""

    tool: str
    place: Place
    scope: str | None = None
    note: str | None = None
    runs: tuple[str, ...] = ()
    host: str | None = None
    """The host that runs these commands by rules of its own."""
    part: str | None = None
    values: tuple[str, ...] = ()
    """The part of the scope, if it is a list: `path` or `url`, and what is in it."""
    ask: bool = False
    """Among what takes away: whether a person is asked, rather than the call denied."""

    @property
    def whole(self) -> bool:
        """Whether it is about every call of the tool."""
        return self.scope is None and not self.runs and not self.values


def asks(entry: Entry) -> bool:
    """Whether a host asks a person before every call that the entry is about."""
    return entry.asked or entry.scope == ASK


def meant(entry: Entry, account: Account, pack: str) -> list[str]:
    """The tools of a pack that a rule of a host is about: its own, else all that do anything of the kind."""
    own = pack_of_host(account.host) if account.host is not None else pack
    names = _matched(entry.tool, account, own) if is_pattern(entry.tool) else stands_for(entry.tool, account.host)
    if own == pack:
        return list(dict.fromkeys(tool for name in names for tool in tools_for(name, pack)))
    words = {word for name in names for word in meanings(name, account.host)}
    return [tool for tool, given in gives(pack) if given & words]


def _matched(pattern: str, account: Account, pack: str) -> list[str]:
    """The tools of a host that a pattern is about: where the last answer counts, those that nothing else answers."""
    every = names_of(pack).values() if pack in catalog.packs() else ()
    others = [one.tool for one in account.entries if not is_pattern(one.tool)] if counts_last(account.host) else []
    answered = {tool for other in others for name in stands_for(other, account.host) for tool in tools_for(name, pack)}
    return sorted({tool for tool in every if matches(pattern, tool)} - answered)


def takes(accounts: Iterable[Account], held: Set[str], pack: str, left: list[tuple[Entry, Account]]) -> Iterator[Rule]:
    """The rules for what these accounts deny or ask about of the tools that an agent holds; to `left` goes what no
    rule can say."""
    for account in accounts:
        for entry in account.entries:
            about = meant(entry, account, pack) if _takes(entry) else []
            tools = [tool for tool in about if tool in held]
            if (
                entry.scope not in (None, ASK) and len(tools) > 1
            ):  # a search would be denied wherever it might meet such a file
                tools = [tool for tool in tools if capability(tool) != "search"]
            rules = [rule for tool in tools if (rule := _rule(tool, entry, account, pack)) is not None]
            lost = not about and _takes(entry) and account.host is not None and pack_of_host(account.host) != pack
            if (lost or len(rules) < len(tools)) and (entry, account) not in left:
                left.append((entry, account))
            yield from rules


def _takes(entry: Entry) -> bool:
    if entry.mark is Mark.NO:
        return entry.scope is not None and capability(entry.tool) != "delegate"  # `delegates_to` says it
    return entry.asked or (entry.scope == ASK and capability(entry.tool) in _CHANGES)


def _rule(tool: str, entry: Entry, account: Account, pack: str) -> Rule | None:
    ask = entry.mark is not Mark.NO
    own = account.host is None or pack_of_host(account.host) == pack
    host = "its host" if own else account.host
    if entry.scope in (None, ASK):
        return Rule(tool, entry.place, note=f"{host} asks", ask=True)
    if skill_argument(tool, pack) is not None:
        skills = skills_of(entry.scope or "")
        return Rule(tool, entry.place, part="skill", values=tuple(skills), ask=ask) if skills else None
    kind = capability(entry.tool)
    if kind == "shell":
        if shell_argument(tool, pack) is None:
            return Rule(tool, entry.place, note=f"{host} denies some of it", ask=True)
        runs = runs_of([_wide(one) for one in commands_of(entry.scope or "", whole=True)])
        note = f"{host} asks" if ask else f"{host} {DENIES}"
        return Rule(tool, entry.place, None, note, tuple(runs), ask=True) if runs else None
    values = sites_of(entry.scope or "") if kind == "network" else denied_globs(entry.scope or "")
    part = "url" if kind == "network" else "path"
    if not values or kind not in ("read", "search", "write", "network"):
        return None
    return Rule(tool, entry.place, part=part, values=tuple(values), ask=ask)


def _wide(command: Command) -> Command:
    """All that begins like a command: options, and what follows them, may stand elsewhere."""
    first = next((n for n, word in enumerate(command.words) if n and word.startswith("-")), len(command.words))
    words = command.words[:first]
    while len(words) > 1 and (found := runs_of([Command(words)])) is not None and found[0].startswith('"'):
        words = words[:-1]  # the words as they stand are no beginning
    return Command(words)


def allowed_runs(settings: Sequence[Account], pack: str) -> list[str]:
    """The commands that settings let every agent run without a question."""
    found = [
        command
        for account in settings
        for entry in account.entries
        if entry.mark is Mark.SCOPED and not asks(entry) and capability(entry.tool) == "shell" and entry.scope
        if any(shell_argument(tool, pack) for tool in meant(entry, account, pack))
        for command in commands_of(entry.scope, whole=True)
    ]
    return list(dict.fromkeys(run for command in found for run in runs_of([command]) or ()))
