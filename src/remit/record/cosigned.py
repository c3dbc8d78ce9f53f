"""What the witnesses of a log have cosigned: how far a quorum of them vouches for it, and what time they say it is.

A witness cosigns a checkpoint only if it goes on from the last one that it saw. So one that has cosigned a checkpoint
vouches for all entries before it, and k of them vouch for the k-th largest size. Each cosignature carries the time of
the witness: a source of time that this machine does not set.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from statistics import median
from typing import NamedTuple

import msgspec

from remit.model.policy import LedgerSettings
from remit.record.anchors import parse_witness
from remit.record.append import head_of
from remit.record.checkpoint import Checkpoint, open_checkpoint
from remit.record.errors import LedgerError
from remit.record.log import Log
from remit.record.note import Verifier, add_lines
from remit.record.reader import entry_at
from remit.record.startup import compare
from remit.store.interface import Transaction

_META = "cosigned by "
_HELP = "look at `remit ledger anchor push`; see that the witnesses run and can be reached"


class Cosigned(NamedTuple):
    """The newest checkpoint that one witness has cosigned."""

    witness: str
    checkpoint: Checkpoint
    time: int
    """By the clock of the witness, in seconds since 1970."""
    received: int
    """By the clock of this machine, when it came."""


def keep(log: Log, witness: Verifier, note: bytes, line: str, received: float) -> None:
    """Keeps a cosignature, unless one over more entries is there. Raises LedgerError and StoreError."""
    value = msgspec.json.encode({"note": add_lines(note.decode(), [line]), "received": int(received)})
    size, name = log.read(note).size, _META + witness.vkey
    with log.store.write() as change:
        there = read(change, log, witness)
        if there is None:
            change.run("DELETE FROM meta WHERE name = ?", name)
            change.run("INSERT INTO meta (name, value) VALUES (?, ?)", name, value)
        elif there.checkpoint.size <= size:
            change.run("UPDATE meta SET value = ? WHERE name = ?", value, name)


def read(view: Transaction, log: Log, witness: Verifier) -> Cosigned | None:
    """What a witness cosigned last, if that is stored and both signatures are right. Raises StoreError."""
    row = view.row("SELECT value FROM meta WHERE name = ?", _META + witness.vkey)
    if row is None:
        return None
    try:
        kept = msgspec.json.decode(bytes(row[0] or b""))
        checkpoint, note = open_checkpoint(kept["note"], [*log.verifiers, witness])
        times = [one.time for one in note.signatures if one.by == witness and one.time is not None]
        if checkpoint.origin != log.origin:
            return None
        return Cosigned(witness.name, checkpoint, max(times), int(kept["received"]))
    except (LedgerError, msgspec.DecodeError, ValueError, KeyError, TypeError, RecursionError):
        return None


def witnesses(settings: LedgerSettings) -> list[Verifier]:
    """The witnesses among the anchors of a policy, each once. Raises LedgerError."""
    return list(dict.fromkeys(found[1] for spec in settings.anchors if (found := parse_witness(spec)) is not None))


def check_witnesses(
    view: Transaction, log: Log, settings: LedgerSettings, now: float | None = None
) -> Iterator[LedgerError]:
    """What is wrong with the quorum that a policy demands, and with the clock here. Raises LedgerError, StoreError."""
    wanted = settings.witnesses
    if wanted is None:
        return
    now = time.time() if now is None else now
    asked = witnesses(settings)
    found = [one for witness in asked if (one := read(view, log, witness)) is not None]
    for one in found:
        try:
            compare(view, log, one.checkpoint, f"the witness {one.witness}", full=False)
        except LedgerError as error:
            yield error
            return
    sizes = sorted((one.checkpoint.size for one in found), reverse=True)
    vouched = sizes[wanted.quorum - 1] if len(sizes) >= wanted.quorum else 0
    if vouched < head_of(view).size:
        at = _at(view, vouched)
        if at is None or now - at > wanted.grace * 60:
            have = sum(size > vouched for size in sizes)
            what = f"of {len(asked)} witnesses, {have} have cosigned entry {vouched}, and {wanted.quorum} must"
            yield LedgerError(f"{what} within {wanted.grace} minutes", code="quorum-missing", help=_HELP)
    yield from _check_clock(view, found, wanted.clock * 60)


def _check_clock(view: Transaction, found: Sequence[Cosigned], tolerance: int) -> Iterator[LedgerError]:
    for one in found:
        last = one.checkpoint.size - 1
        at = _at(view, last) if last >= 0 else None
        if at is not None and at - one.time > tolerance:
            what = f"entry {last} says {_said(at)}, and {one.witness} cosigned it at {_said(one.time)}, before that"
            yield LedgerError(f"{what}: the clock here was ahead", code="clock-ahead")
            break
    if found:
        off = median(one.received - one.time for one in found)
        if abs(off) > tolerance:
            which = "ahead of" if off > 0 else "behind"
            what = f"the clock here is {abs(off) / 60:.0f} minutes {which} that of the witnesses"
            yield LedgerError(what, code="clock-differs", help="set the clock of this machine")


def _at(view: Transaction, seq: int) -> float | None:
    """When an entry was written, as it says."""
    try:
        return datetime.fromisoformat(str(entry_at(view, seq).data.get("at")).replace("Z", "+00:00")).timestamp()
    except (LedgerError, ValueError):
        return None


def _said(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
