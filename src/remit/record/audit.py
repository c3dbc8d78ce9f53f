"""The whole verification of a stored log: entries, tree, checkpoints, values, keys, the signer's memory, anchors."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from remit.record.anchor import AnchorError, configured
from remit.record.append import head_of
from remit.record.errors import LedgerError
from remit.record.fields import digest_of
from remit.record.log import Log
from remit.record.reader import Stored, checkpoints, commitments, entries
from remit.record.rotate import check_rotations
from remit.record.signer import CheckpointSigner
from remit.record.startup import AnchorReply, ask_anchors, compare
from remit.record.verify import Report, parse_keys, verify_stream
from remit.store.interface import Transaction

Progress = Callable[[int], object]
_ROTATION = b'"type":"rotation"'


class Fault(NamedTuple):
    """One thing that is wrong, and the entries among which it lies where that is known."""

    code: str
    message: str
    first: int | None = None
    last: int | None = None


class Audit(NamedTuple):
    """What came of it. It is verified if there is no problem."""

    report: Report
    values: int
    """Values that were compared with what their entries committed to."""
    problems: tuple[Fault, ...]
    asked: tuple[AnchorReply, ...]

    @property
    def verified(self) -> bool:
        return not self.problems


class _Pass:
    """One run over the entries."""

    def __init__(self, view: Transaction, progress: Progress | None) -> None:
        self.view, self.progress = view, progress
        self.rotations: list[dict[str, Any]] = []
        self.misplaced: list[Fault] = []

    def notes(self) -> Iterator[bytes]:
        for size, note in checkpoints(self.view):
            if note.split(b"\n", 2)[1:2] != [str(size).encode()]:
                self.misplaced = [
                    Fault("checkpoint-malformed", f"the checkpoint kept for size {size} is of another size")
                ]
            yield note

    def rows(self) -> Iterator[tuple[int, bytes, bytes]]:
        for stored in entries(self.view):
            if _ROTATION in stored.body:
                self._rotation(stored)
            if self.progress is not None and not stored.seq % 1024:
                self.progress(stored.seq)
            yield stored

    def _rotation(self, stored: Stored) -> None:
        try:
            if stored.data.get("type") == "rotation":
                self.rotations.append(stored.data)
        except LedgerError:
            return  # the entry is no entry: `verify_stream` finds that


def audit(
    log: Log,
    signer: CheckpointSigner | None,
    *,
    keys: Sequence[str] | None = None,
    anchors: Sequence[bytes] = (),
    canonical: bool = False,
    progress: Progress | None = None,
) -> Audit:
    """Verifies all. `keys` are trusted instead of those beside the log, `anchors` are checkpoints from elsewhere,
    and `canonical` also checks the form of each entry.

    Raises Unusable for keys that are none, and StoreError if the store can't be read.
    """
    trusted = parse_keys(keys or [verifier.vkey for verifier in log.verifiers])
    problems: list[Fault] = []
    with log.store.read() as view:
        run = _Pass(view, progress)
        report = verify_stream(run.rows(), run.notes(), trusted, anchors, entries=canonical)
        problems += run.misplaced
        wrong = report.problem
        if wrong is not None:
            problems.append(Fault(wrong.kind, str(wrong), wrong.first, wrong.last))
        else:
            problems += _attempt(lambda: _check_head(view, report))
            problems += _attempt(lambda: check_rotations(run.rotations, list(log.verifiers)))
        values, changed = _check_values(view)
        problems += changed
        specs = configured(view)
    if signer is not None:
        problems += _attempt(signer.check)
    asked = ask_anchors(log, specs)
    for found in asked:
        problems += _check_anchor(log, found)
    return Audit(report, values, tuple(problems), tuple(asked))


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
            if body is None:
                raise LedgerError(f"there is a value for entry {seq}, which does not exist", code="ledger-corrupt")
            if seq != at:
                at, known = seq, dict(commitments(Stored(seq, b"", bytes(body)).data))
            if path not in known:
                raise LedgerError(f"entry {seq} does not commit to the value that is stored", code="value-changed")
            if value is None:
                continue  # a secret was blotted out: nothing can be compared
            if digest_of(path, bytes(salt), bytes(value)) != known[path]:
                raise LedgerError(f"a value of entry {seq} is not what it committed to", code="value-changed")
        except LedgerError as error:
            return count, [Fault(error.code, str(error), seq, seq)]
        count += 1
    return count, []
