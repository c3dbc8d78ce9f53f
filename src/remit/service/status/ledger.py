"""The ledger at a glance: its head, its newest entry and signature, and whom it has seen lately."""

from __future__ import annotations

import msgspec

from remit.model.call import is_probe
from remit.model.decoding import Decoding
from remit.model.errors import RemitError
from remit.model.rulebook import Rulebook
from remit.record.anchor import configured
from remit.record.append import head_of
from remit.record.continuity import check_key
from remit.record.errors import LedgerError
from remit.record.log import cosigned, newest_checkpoint
from remit.record.open import OpenLog
from remit.record.reader import all_said, archives, entries, entry_at, said
from remit.record.stream import backlogs
from remit.service.status.model import LedgerState, Looked, Seen, StreamState

BACK = 100_000
"""So many entries are looked through, from the newest back."""
MAX_NAMES = 10_000
NO_ACTIVATION = "unsafe-no-activation"
"""What a guard records that uses another policy than the activated one."""


class _Line(msgspec.Struct):
    """What counts of an entry."""

    type: str = ""
    at: str = ""
    agent: str | None = None
    point: str | None = None
    session: str | None = None
    call: str | None = None
    what: str | None = None
    policy: str | None = None
    """Empty where nothing was decided: what the call needs was missing."""


def ledger_state(opened: OpenLog) -> LedgerState:
    """What the head tells. Never raises RemitError: what can't be read is a problem."""
    store = opened.store.describe()
    try:
        with opened.store.read() as view:
            size = head_of(view).size
            newest = newest_checkpoint(view)
            last = said(view, entry_at(view, size - 1)).get("at") if size else None
            signed = opened.log.read(newest[1]).size if newest is not None else None
            return LedgerState(
                store,
                True,
                None,
                opened.origin,
                size,
                last,
                signed,
                cosigned(view) is not None,
                tuple(configured(view)),
                unsigned_since=said(view, entry_at(view, signed or 0)).get("at") if (signed or 0) < size else None,
            )
    except RemitError as error:
        return LedgerState(store, False, _why(opened, error), opened.origin)


def _why(opened: OpenLog, error: RemitError) -> str:
    """What is wrong with a ledger that can't be read: its keys or its name, if that is it."""
    try:
        check_key(opened.state, opened.origin)
    except LedgerError as deeper:
        error = deeper
    return f"{error}; {error.help}" if error.help else str(error)


def with_sizes(state: LedgerState, opened: OpenLog) -> LedgerState:
    """The same with what it takes up and how old it is. Raises StoreError and LedgerError."""
    if not state.reachable:
        return state
    with opened.store.read() as view:
        known = archives(view)
        end = known[-1].end if known else 0
        oldest = next((data.get("at") for _, data in all_said(view, end)), None)
    return msgspec.structs.replace(state, bytes=opened.store.size(), oldest=oldest, archived=end)


def with_streams(state: LedgerState, opened: OpenLog, rulebook: Rulebook | None) -> LedgerState:
    """The same with the streams of the policy. Raises StoreError and LedgerError."""
    settings = rulebook.book.ledger if rulebook is not None else None
    if settings is None or not state.reachable:
        return state
    with opened.store.read() as view:
        found = backlogs(view, settings.streams)
    streams = tuple(StreamState(one.name, one.to, one.waiting, one.at, one.error) for one in found)
    return msgspec.structs.replace(state, streams=streams)


_LINE = Decoding(_Line)


def seen(opened: OpenLog, back: int = BACK) -> tuple[dict[str, tuple[Seen, ...]], Looked, dict[str, str]]:
    """By agent, its calls at each point; how far back that looks; and the ids of all calls. Raises StoreError and
    LedgerError."""
    calls: dict[str, str] = {}
    found: dict[tuple[str, str], tuple[int, str]] = {}
    unsafe: dict[str, tuple[int, str]] = {}
    with opened.store.read() as view:
        size = head_of(view).size
        first = max(0, size - back)
        for stored in entries(view, first, size):
            try:
                line = _LINE.decode(stored.body)
            except (msgspec.MsgspecError, UnicodeError):
                continue  # verifying tells what it is; here it only counts for nobody
            if line.type == "unsafe" and line.what == NO_ACTIVATION and len(unsafe) < MAX_NAMES:
                point = line.point or "?"
                unsafe[point] = (unsafe.get(point, (0, ""))[0] + 1, line.at)
            if line.type == "intent" and line.call is not None:
                calls[line.call] = line.at
            if line.type != "intent" or not line.agent or not line.policy or is_probe(line.session):
                continue
            key = (line.agent, line.point or "?")
            if key in found or len(found) < MAX_NAMES:
                found[key] = (found.get(key, (0, ""))[0] + 1, line.at)
    by: dict[str, list[Seen]] = {}
    for (agent, point), (number, last) in sorted(found.items()):
        by.setdefault(agent, []).append(Seen(point, number, last))
    without = tuple(Seen(point, *times) for point, times in sorted(unsafe.items()))
    return {agent: tuple(list_) for agent, list_ in by.items()}, Looked(size - first, first == 0, without), calls
