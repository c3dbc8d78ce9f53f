"""Whether the host works and the ledger is silent: what ran by the host's own word, and no hook was asked about.

A hook can't tell of a session that runs without it. So the next one does: at most every few minutes, and at the end of
a session, a hook looks at what the host wrote down, and so does a daemon by itself. What is found is recorded, and said
to people in every session for a day.
"""

from __future__ import annotations

import os
import time
from collections.abc import Container, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from remit.adapters.hooks.call_ids import call_id
from remit.adapters.hooks.installed import Installed
from remit.adapters.hosts import registry
from remit.model.decoding import Decoding
from remit.model.errors import RemitError
from remit.store.interface import Store

if TYPE_CHECKING:
    from remit.adapters.hosts.setup import Ran

EVERY = 300.0
"""Seconds between two looks of hooks."""
SLACK = 600.0
"""Seconds that a use may take from its beginning to its end."""
BACK = 20_000
SAID_FOR = 86_400.0


class _Line(msgspec.Struct):
    type: str = ""
    at: str = ""
    call: str | None = None


_LINE = Decoding(_Line)


def unseen(setup: object, root: Path, since: str, calls: Container[str]) -> list[Ran]:
    """What ran in the project since then, by the host's own word, and is none of these calls."""
    from datetime import datetime  # here, as below: few hooks look

    from remit.adapters.hosts.setup import KeepsTranscripts

    if not isinstance(setup, KeepsTranscripts):
        return []
    begun = datetime.fromisoformat(since.replace("Z", "+00:00")).timestamp()
    return [one for one in setup.ran(root, begun) if one.at > since and call_id(one.session, one.use) not in calls]


def look(state: Path, installed: Installed, store: Store, *, every: float = EVERY) -> list[Ran]:
    """The first use of each session that ran without a hook and was not told of yet; none if others looked just now.

    Never raises RemitError: what is wrong with the store is said where it is needed.
    """
    mark, now = state / "hooks" / f"{installed.host}.looked", time.time()
    with suppress(RemitError, OSError):
        last = _written(mark)
        if last is not None and 0 <= now - last < every:
            return []
        from remit.model.moments import moment

        mark.touch(mode=0o600)
        os.utime(mark, (now, now))
        from remit.adapters.hosts.setup import KeepsTranscripts

        setup = registry.find(installed.host).setup()
        if not isinstance(setup, KeepsTranscripts):
            return []
        since = installed.at if last is None else max(installed.at, moment(last - SLACK))
        calls, since = _calls(store, since)
        told = dict(_told(state, installed.host))
        found: dict[str, Ran] = {}
        for one in unseen(setup, Path(installed.root), since, calls):
            if one.session not in told:
                found.setdefault(one.session, one)
        if found:
            lines = "".join(f"{one.session} {one.tool} {one.at}\n" for one in found.values())
            with open(_path(state, installed.host), "a", opener=_private, encoding="utf-8") as file:
                file.write(lines)
        return list(found.values())
    return []


def sessions(state: Path, host: str) -> list[str]:
    """The sessions that ran without a hook, as far as that was found within a day."""
    path = _path(state, host)
    last = _written(path)
    if last is None or not 0 <= time.time() - last < SAID_FOR:
        return []
    return [session for session, _ in _told(state, host)]


def _calls(store: Store, since: str) -> tuple[set[str], str]:
    """The ids of the calls since then; later, if there are too many. Raises StoreError and LedgerError."""
    from remit.record.append import head_of
    from remit.record.reader import entries

    found: set[str] = set()
    with store.read() as view:
        size = head_of(view).size
        first = max(0, size - BACK)
        for stored in entries(view, first, size):
            line: Any = None
            with suppress(msgspec.MsgspecError, UnicodeError):
                line = _LINE.decode(stored.body)
            if line is None:
                continue
            if stored.seq == first and first > 0:
                since = max(since, line.at)
            if line.type == "intent" and line.call is not None:
                found.add(line.call)
    return found, since


def _told(state: Path, host: str) -> Iterator[tuple[str, str]]:
    with suppress(OSError, UnicodeDecodeError):
        for line in _path(state, host).read_text("utf-8").splitlines():
            session, _, rest = line.partition(" ")
            yield session, rest


def _path(state: Path, host: str) -> Path:
    return state / "hooks" / f"{host}.silent"


def _private(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW, 0o600)


def _written(path: Path) -> float | None:
    try:
        return path.stat().st_mtime
    except OSError:
        return None
