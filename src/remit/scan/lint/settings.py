"""Findings about the settings of hosts, which bind every agent at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from remit.scan.files import Text
from remit.scan.model import Account, Entry, Extent, Finding, Kind, Mark, Place, Weight
from remit.scan.settings import EVERYBODY
from remit.scan.vocabulary import capability


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
            yield Finding(
                code="settings-allow-everything",
                weight=Weight.WARNING,
                agent=None,
                text=f"{account.host} runs `{wide.tool if wide else 'every tool'}` without asking, for every agent",
                places=(wide.place if wide else account.place,),
                why="whatever else a document says, any command runs",
                fix="allow named commands, or let Remit decide each call",
            )
        if wide is not None:
            yield from _moot(account, wide)


def _moot(account: Account, shell: Entry) -> Iterator[Finding]:
    files = [e for e in account.entries if e.mark is Mark.NO and e.scope and capability(e.tool) in ("read", "write")]
    if files:
        first = files[0]
        yield Finding(
            code="moot-scope",
            weight=Weight.WARNING,
            agent=None,
            text=f"`{first.tool}({first.scope})` is denied, but `{shell.tool}` is allowed without a scope",
            places=(first.place, shell.place),
            why="a command reads and writes the same files",
            fix=f"allow named commands instead of `{shell.tool}`",
        )


def unreadable(text: Text, why: str) -> Finding:
    """A settings file that can't be parsed."""
    return Finding(
        code="unreadable-settings",
        weight=Weight.WARNING,
        agent=None,
        text=f"can't be read: {why[:120]}",
        places=(Place(text.path, 1),),
        why="the host may ignore the whole file, its prohibitions too",
        fix="correct it",
    )
