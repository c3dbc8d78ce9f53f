"""A witness (C2SP tlog-witness): a second host that cosigns a checkpoint only if it goes on from the last it has seen.

A witness can't be asked for what it has seen. It is shown the newest stored checkpoint instead: it answers with its own
size if that is another one, and refuses what does not go on from there.
"""

from __future__ import annotations

import base64
import time

from remit.record.anchor import AnchorError, AnchorMalformed
from remit.record.anchors.http import Response, Server
from remit.record.checkpoint import Checkpoint, CheckpointError, parse_number
from remit.record.cosigned import keep
from remit.record.errors import LedgerError
from remit.record.log import Log, consistency, keep_cosigned, newest_checkpoint
from remit.record.note import NoteError, Verifier, add_lines, open_note

SIZE_TYPE = "text/x.tlog.size"


class WitnessAnchor:
    """One witness, with the key that it cosigns with."""

    def __init__(self, url: str, verifier: Verifier, log: Log) -> None:
        self.url, self.verifier, self.log = url, verifier, log
        self.server = Server(url)

    def describe(self) -> str:
        return f"witness:{self.url} ({self.verifier.name})"

    def push(self, note: bytes) -> None:
        head = self.log.read(note)
        answer = self._submit(head, note, 0)
        if answer.status == 409 and answer.type == SIZE_TYPE:
            seen = self._size(answer)
            if seen > head.size:
                raise LedgerError(
                    f"{self.describe()} has seen {seen} entries, and the log was signed for {head.size}: it was cut",
                    code="ledger-truncated",
                )
            if seen:
                answer = self._submit(head, note, seen)
        if answer.status in (409, 422):
            raise LedgerError(f"{self.describe()} says that this is not the log it has seen", code="ledger-forked")
        if answer.status != 200:
            reason = {403: "it does not know the log's key", 404: "it does not know the log"}.get(answer.status, "")
            raise AnchorError(f"{self.describe()} answered {answer.status}{': ' if reason else ''}{reason}")
        self._keep(note, answer.body)

    def last(self) -> Checkpoint | None:
        with self.log.store.read() as view:
            newest = newest_checkpoint(view)
        if newest is None:
            return None
        self.push(newest[1])
        return self.log.read(newest[1])

    def _submit(self, head: Checkpoint, note: bytes, old: int) -> Response:
        with self.log.store.read() as view:
            proof = consistency(view, old, head.size)
        lines = [f"old {old}", *(base64.b64encode(part).decode() for part in proof), "", ""]
        return self.server.ask("POST", "/add-checkpoint", "\n".join(lines).encode() + note)

    def _size(self, answer: Response) -> int:
        try:
            return parse_number(answer.body.decode("ascii").removesuffix("\n"))
        except (UnicodeDecodeError, CheckpointError):
            raise AnchorMalformed(f"{self.describe()} gives a size that is not a number") from None

    def _keep(self, note: bytes, body: bytes) -> None:
        """Its signature is checked before it is stored; other lines that it sends are dropped."""
        try:
            longer = add_lines(note.decode(), [body.decode()])
            lines = [f"{s.line}\n" for s in open_note(longer, [self.verifier]).signatures]
        except (NoteError, UnicodeDecodeError) as error:
            raise AnchorMalformed(f"{self.describe()} gave no cosignature: {error}") from None
        keep_cosigned(self.log, note, lines)
        keep(self.log, self.verifier, note, lines[-1], time.time())
