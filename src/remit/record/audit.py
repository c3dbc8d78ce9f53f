"""The whole verification of a stored log: entries, tree, checkpoints, values, keys, the signer's memory, anchors.

The state is verified too that follows from the entries: authority, calls that run, values that were erased.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

from remit.model.policy import LedgerSettings
from remit.record.anchor import AnchorError, configured
from remit.record.append import SAYS_STATE, head_of
from remit.record.continuity import check_continuity
from remit.record.cosigned import check_witnesses
from remit.record.errors import LedgerError
from remit.record.fault import Fault
from remit.record.fields import digest_of
from remit.record.log import Log
from remit.record.reader import Archive, Stored, archive_said, checkpoints, commitments, entries
from remit.record.rotate import check_rotations
from remit.record.running import listed, unlisted
from remit.record.signer import CheckpointSigner
from remit.record.stamp import CALLS, is_stamped
from remit.record.startup import AnchorReply, ask_anchors, compare
from remit.record.state_audit import StateAudit
from remit.record.verify import Report, parse_keys, verify_stream
from remit.store.interface import Transaction

NO_SETTINGS = LedgerSettings()
Progress = Callable[[int], object]
MOST = 100
"""Faults of the state that are named; where there are more, the last says so."""
_STOPS = {
    "ledger-truncated": "ledger-truncated",
    "shorter-than-checkpoint": "ledger-truncated",
    "shorter-than-anchor": "ledger-truncated",
    "ledger-forked": "ledger-forked",
    "checkpoint-root": "ledger-forked",
    "not-an-extension": "ledger-forked",
}
"""Findings after which nobody may write, as the stop mark names them."""
_ROTATION = b'"type":"rotation"'
_ERASURE = b'"type":"erasure"'
_OUTCOME = b'"type":"outcome"'
_INTENT = b'"type":"intent"'
_TYPE = b'"type":"'
_VALUE = b'{"$c":"'
_ANSWERS = re.compile(rb'"intent":([0-9]+)')
_ARCHIVE = b'"type":"archive"'


class Audit(NamedTuple):
    """What came of it. It is verified if there is no problem."""

    report: Report
    values: int
    """Values that were compared with what their entries committed to."""
    problems: tuple[Fault, ...]
    asked: tuple[AnchorReply, ...]
    archived: int = 0
    """Entries of which only the hash is here."""
    archives: tuple[Archive, ...] = ()

    @property
    def verified(self) -> bool:
        return not self.problems

    @property
    def stops(self) -> LedgerError | None:
        """What stops the log for everybody: it was found cut or forked. None for lesser findings."""
        for one in self.problems:
            code = _STOPS.get(one.code)
            if code is not None:
                return LedgerError(one.message, code=code)
        return None


class _Pass:
    """One run over the entries."""

    def __init__(self, view: Transaction, progress: Progress | None) -> None:
        self.view, self.progress = view, progress
        self.rotations: list[dict[str, Any]] = []
        self.erased: list[tuple[int, int]] = []
        """Entries whose values were erased."""
        self.valueless: list[tuple[int, int, int]] = []
        """Entries with fewer values than they commit to, and how many there are."""
        self.running: set[int] = set()
        """Intents without an outcome."""
        self.stateful = 0
        """Entries that say a state."""
        self.misplaced: list[Fault] = []
        self.forged: list[Fault] = []
        """Entries that Remit did not write."""
        self.archives: list[Archive] = []
        self.missing: list[list[int]] = []
        """Runs of entries without a body: first and last."""

    def notes(self) -> Iterator[bytes]:
        for size, note in checkpoints(self.view):
            if note.split(b"\n", 2)[1:2] != [str(size).encode()]:
                self.misplaced = [
                    Fault("checkpoint-malformed", f"the checkpoint kept for size {size} is of another size")
                ]
            yield note

    @property
    def archived(self) -> int:
        return sum(last - first + 1 for first, last in self.missing)

    def not_archived(self) -> list[Fault]:
        """Entries without a body, of which no entry says that they were archived."""
        for first, last in self.missing:
            at = first
            for one in self.archives:  # they follow each other
                at = one.end if one.first <= at < one.end else at
            if at <= last:
                message = f"entries {first} to {last} are gone, and no entry says that they were archived"
                return [Fault("body-missing", message, first, last)]
        return []

    def rows(self) -> Iterator[tuple[int, bytes, bytes]]:
        values = self._values()
        at, count = next(values, (-1, 0))
        for stored in entries(self.view, archived=True):
            seq, _, body = stored
            if not body:
                if self.missing and self.missing[-1][1] == seq - 1:
                    self.missing[-1][1] = seq
                else:
                    self.missing.append([seq, seq])
                yield stored
                continue
            if not _is_call(stored) and not is_stamped(self.view, seq):
                what = f"entry {seq} is not one that Remit wrote: it counts for nothing"
                self.forged.append(Fault("state-forged", what, seq, seq))
            elif _ROTATION in body or _ERASURE in body or _ARCHIVE in body:
                self._special(stored)
            if self.progress is not None and not seq % 1024:
                self.progress(seq)
            if SAYS_STATE in body:
                self.stateful += 1
            if _INTENT in body:
                if b'"decision":"allow"' in body or b'"approval":"host"' in body:
                    self.running.add(seq)
            elif _OUTCOME in body and (answers := _ANSWERS.search(body)) is not None:
                self.running.discard(int(answers[1]))
            while -1 < at < seq:
                at, count = next(values, (-1, 0))
            kept = count if at == seq else 0
            if body.count(_VALUE) > kept:
                self._without_values(seq, kept)
            yield stored

    def _values(self) -> Iterator[tuple[int, int]]:
        """How many values are kept for each entry that has any."""
        query = "SELECT seq, count(*) FROM secret WHERE value IS NOT NULL GROUP BY seq ORDER BY seq"
        for seq, count in self.view.each(query):
            yield int(seq), int(count)

    def _without_values(self, seq: int, kept: int) -> None:
        if self.valueless and self.valueless[-1][1] == seq - 1 and self.valueless[-1][2] == kept == 0:
            self.valueless[-1] = (self.valueless[-1][0], seq, 0)
        else:
            self.valueless.append((seq, seq, kept))

    def _special(self, stored: Stored) -> None:
        try:
            data = stored.data
        except LedgerError:
            return  # the entry is no entry: `verify_stream` finds that
        if data.get("type") == "rotation":
            self.rotations.append(data)
        elif data.get("type") == "archive":
            self.archives.append(archive_said(stored.seq, data))
        elif data.get("type") == "erasure":
            self.erased += [(int(first), int(last)) for first, last in data.get("entries", ())]


def _is_call(stored: Stored) -> bool:
    """True for the two types of entries without a stamp; what only has such a type somewhere within is another."""
    if _INTENT not in stored.body and _OUTCOME not in stored.body:
        return False
    if stored.body.count(_TYPE) == 1:
        return True
    try:
        return stored.data.get("type") in CALLS
    except LedgerError:
        return False


def audit(
    log: Log,
    signer: CheckpointSigner | None,
    *,
    keys: Sequence[str] | None = None,
    anchors: Sequence[bytes] = (),
    settings: LedgerSettings = NO_SETTINGS,
    canonical: bool = False,
    progress: Progress | None = None,
) -> Audit:
    """Verifies all. `keys` are trusted instead of those beside the log, `anchors` are checkpoints from elsewhere,
    `settings` what the policy says, and `canonical` also checks the form of each entry.

    Raises Unusable for keys that are none, and StoreError if the store can't be read.
    """
    trusted = parse_keys(keys or [verifier.vkey for verifier in log.verifiers])
    problems: list[Fault] = []
    with log.store.read() as view:
        run = _Pass(view, progress)
        report = verify_stream(run.rows(), run.notes(), trusted, anchors, entries=canonical, archived=True)
        problems += run.misplaced
        problems += _attempt(lambda: _check_places(view))
        wrong = report.problem
        if wrong is not None:
            problems.append(Fault(wrong.kind, str(wrong), wrong.first, wrong.last))
        else:
            problems += _attempt(lambda: _check_head(view, report))
            problems += _attempt(lambda: check_rotations(run.rotations, list(log.verifiers)))
            problems += _bounded(_check_state(view, run))
            problems += run.not_archived()
        problems += _bounded(run.forged)
        values, changed = _check_values(view)
        problems += changed
        specs = list(dict.fromkeys((*configured(view), *settings.anchors)))
    if signer is not None:
        state = signer.keys.folder.parent
        problems += _attempt(lambda: check_continuity(log.store, state, despite_mark=True))
    asked = ask_anchors(log, specs)
    for found in asked:
        problems += _check_anchor(log, found)
    with log.store.read() as view:
        problems += [Fault(one.code, str(one)) for one in check_witnesses(view, log, settings)]
    return Audit(report, values, tuple(problems), tuple(asked), run.archived, tuple(run.archives))


def state_faults(view: Transaction) -> list[Fault]:
    """What is wrong with the state alone, if the log is right."""
    run = _Pass(view, None)
    for _ in run.rows():
        pass
    return _bounded(_check_state(view, run))


def _attempt(act: Callable[[], object]) -> list[Fault]:
    try:
        act()
    except LedgerError as error:
        return [Fault(error.code, str(error))]
    return []


def _check_head(view: Transaction, report: Report) -> None:
    head = head_of(view)
    if (head.size, head.root) != (report.size, report.root):
        raise LedgerError("the stored head is not that of the entries", code="ledger-corrupt")


def _bounded(faults: Iterable[Fault]) -> list[Fault]:
    found = list(islice(faults, MOST + 1))
    return found if len(found) <= MOST else [*found[:MOST], Fault("and-more", f"there are more than {MOST} faults")]


def _check_state(view: Transaction, run: _Pass) -> Iterator[Fault]:
    """That the tables are what the entries say."""
    state = StateAudit(view)
    yield from state.faults()
    if state.subjects != run.stateful:
        message = f"{run.stateful} entries say a state, and {state.subjects} can be found by it"
        yield Fault("subject-wrong", message)
    for first, last, kept in run.valueless:
        for start, end in _outside(first, last, run.erased if not kept else ()):
            what = f"of entry {start}" if start == end else f"of the entries {start} to {end}"
            yield Fault("value-missing", f"values {what} are gone, and no entry says that they were erased", start, end)
    yield from _check_running(view, run.running)
    yield from _check_vault(view)


def _check_places(view: Transaction) -> None:
    """That no entry stands before the first. Raises LedgerError."""
    if view.row("SELECT 1 FROM leaf WHERE seq < 0 LIMIT 1") is not None:
        raise LedgerError("there are entries before the first one", code="ledger-corrupt")


def _outside(first: int, last: int, ranges: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """What of a range lies in none of the others."""
    for start, end in sorted(ranges):
        if end < first or start > last:
            continue
        if start > first:
            yield first, start - 1
        first = end + 1
    if first <= last:
        yield first, last


def _check_running(view: Transaction, running: set[int]) -> Iterator[Fault]:
    """That calls without an outcome are known as such, so that one is written for them."""
    kept = {one.seq: one.call for one in listed(view)}
    told = {one.seq for one in unlisted(view)} if running.difference(kept) else set()
    for seq in sorted(running.symmetric_difference(kept) - told):
        if view.row("SELECT 1 FROM leaf WHERE seq = ? AND length(body) = 0", seq) is not None:
            continue  # archived: whether it was answered can't be told from here
        what = "has no outcome, and nobody is to write one" if seq in running else "waits for no outcome"
        yield Fault("running-wrong", f"the call of entry {seq} {what}", seq, seq, "running", (seq,))
    for seq in sorted(running.intersection(kept)):
        row = view.row("SELECT body FROM leaf WHERE seq = ?", seq)
        if row is not None and Stored(seq, b"", bytes(row[0])).data.get("call") != kept[seq]:
            yield Fault("running-wrong", f"entry {seq} is of another call", seq, seq, "running", (seq,), "call")


def _check_vault(view: Transaction) -> Iterator[Fault]:
    """That the arguments of every open question, and no others, are sealed."""
    asked = {f"A-{row[0]}" for row in view.rows("SELECT seq FROM ask WHERE state = 'open'")}
    sealed = {str(row[0]) for row in view.rows("SELECT id FROM sealed")}
    for name in sorted(asked - sealed):
        yield Fault("value-missing", f"the arguments of {name} are gone from the vault", table="sealed", key=(name,))
    for name in sorted(sealed - asked):
        yield Fault("state-unexplained", f"the vault keeps {name[:40]}, which is not open", table="sealed", key=(name,))


def _check_anchor(log: Log, found: AnchorReply) -> list[Fault]:
    if found.error is not None:
        is_warning = isinstance(found.error, AnchorError)
        return [] if is_warning else [Fault(found.error.code, str(found.error))]
    kept = found.checkpoint
    if kept is None:
        return []
    with log.store.read() as view:
        return _attempt(lambda: compare(view, log, kept, found.anchor, full=True))


def _check_values(view: Transaction) -> tuple[int, list[Fault]]:
    """Compares the values that are still there with the commitments; the first wrong one is named."""
    count, at, known = 0, -1, dict[str, bytes]()
    rows = view.each(
        "SELECT secret.seq, secret.path, secret.salt, secret.value, leaf.body FROM secret"
        " LEFT JOIN leaf ON leaf.seq = secret.seq ORDER BY secret.seq, secret.path"
    )
    for seq, path, salt, value, body in rows:
        try:
            if not body:
                raise LedgerError(f"there is a value for entry {seq}, which does not exist", code="ledger-corrupt")
            if seq != at:
                at, known = seq, dict(commitments(Stored(seq, b"", bytes(body)).data))
            if path not in known:
                raise LedgerError(f"entry {seq} does not commit to the value that is stored", code="value-changed")
            if value is None:
                continue  # counted as missing
            if digest_of(path, bytes(salt), bytes(value)) != known[path]:
                raise LedgerError(f"a value of entry {seq} is not what it committed to", code="value-changed")
        except LedgerError as error:
            return count, [Fault(error.code, str(error), seq, seq)]
        count += 1
    return count, []
