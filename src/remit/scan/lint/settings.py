"""Findings about the settings of hosts, which bind every agent at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from remit.scan.files import Text
from remit.scan.lint.finding import finding
from remit.scan.model import Account, Entry, Extent, Finding, Kind, Mark, Place
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
