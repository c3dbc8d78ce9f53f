"""A witness: remembers the last head of each log that it watches, and cosigns only what goes on from there.

Its folder holds `witness.key` (mode 0600), `logs` with one key of a log a line, and for each log the checkpoint that it
cosigned last. INVARIANT: that checkpoint is on the disk before its cosignature leaves `add`.
"""

from __future__ import annotations

import fcntl
import os
import socket
import threading
import time
from collections.abc import Callable, Iterable
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from remit.record.checkpoint import Checkpoint, CheckpointError, open_checkpoint, parse_hash, parse_number
from remit.record.errors import LedgerError
from remit.record.keys import parse_private, private_text
from remit.record.note import MAX_NOTE, KeyKind, NoteError, Signer, Verifier, cosign, split_note
from remit.record.tree import EMPTY_ROOT, verify_consistency
from remit.store.files import write_whole

MAX_HASHES = 63
MAX_REQUEST = MAX_NOTE + 64 * 64
MAX_LOGS = 10_000
SIZE_TYPE = "text/x.tlog.size"


class Reply(NamedTuple):
    """What a request gets."""

    status: int
    body: str
    type: str = "text/plain; charset=utf-8"


class Witness:
    """The state in one folder. One process at a time."""

    def __init__(self, folder: Path, name: str | None, clock: Callable[[], float] = time.time) -> None:
        """Opens the folder, and makes it with a new key if it is not there. Raises LedgerError."""
        self.folder, self.clock = folder, clock
        self._mutex = threading.Lock()
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._lock = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise LedgerError("another witness runs in this folder", code="witness-busy") from None
        except OSError as error:
            raise LedgerError(f"the witness can't use its folder: {error.strerror}", code="bad-witness") from None
        try:
            self.signer = self._open_key(name)
            self.logs = self._open_logs()
        except BaseException:
            self.close()
            raise

    @property
    def vkey(self) -> str:
        return self.signer.verifier.vkey

    def close(self) -> None:
        """Lets another one use the folder."""
        os.close(self._lock)

    def watch(self, vkeys: Iterable[str]) -> None:
        """Adds keys of logs, for good. Raises NoteError and LedgerError."""
        for vkey in vkeys:
            verifier = Verifier.parse(vkey)
            if verifier.kind is not KeyKind.ED25519:
                raise NoteError("the key is that of a witness, not of a log")
            known = self.logs.setdefault(verifier.name, [])
            if verifier not in known:
                known.append(verifier)
        if sum(map(len, self.logs.values())) > MAX_LOGS:
            raise LedgerError(f"more than {MAX_LOGS} logs", code="bad-witness")
        text = "".join(f"{key.vkey}\n" for keys in self.logs.values() for key in keys)
        self._write(self.folder / "logs", text)

    def add(self, request: bytes) -> Reply:
        """Answers an `add-checkpoint` request."""
        try:
            old, proof, note = parse_request(request)
            origin = Checkpoint.parse(split_note(note)[0]).origin
        except NoteError as error:
            return Reply(400, f"{error}\n")
        keys = self.logs.get(origin)
        if keys is None:
            return Reply(404, "this log is not known here\n")
        try:
            checkpoint, _ = open_checkpoint(note, keys)
        except NoteError:
            return Reply(403, "not signed by a key of this log that is known here\n")
        if old > checkpoint.size:
            return Reply(400, "the old size is beyond that of the checkpoint\n")
        with self._mutex:
            return self._judge(old, proof, note, checkpoint)

    def last(self, origin: str) -> Checkpoint | None:
        """What was cosigned last for a log. Raises LedgerError if that can't be read: then nothing is cosigned."""
        try:
            note = self._file(origin).read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise LedgerError(f"a witness's memory can't be read: {error.strerror}", code="bad-witness") from None
        try:
            found = Checkpoint.parse(split_note(note)[0])
        except NoteError:
            found = None
        if found is None or found.origin != origin:
            help_ = f"look at {self._file(origin)}"
            raise LedgerError("a witness's memory is malformed", code="bad-witness", help=help_)
        return found

    def _judge(self, old: int, proof: list[bytes], note: str, new: Checkpoint) -> Reply:
        seen = self.last(new.origin)
        size, root = (seen.size, seen.root) if seen is not None else (0, EMPTY_ROOT)
        if old != size:
            return Reply(409, f"{size}\n", SIZE_TYPE)
        if old == new.size and root != new.root:
            return Reply(409, f"{size}\n", SIZE_TYPE)
        if not verify_consistency(old, new.size, proof, root, new.root):
            return Reply(422, "the proof does not lead from the old size to the checkpoint\n")
        line = cosign(note, self.signer, int(self.clock()))
        self._write(self._file(new.origin), note)
        return Reply(200, line)

    def _file(self, origin: str) -> Path:
        return self.folder / f"log-{sha256(origin.encode('utf-8', 'surrogatepass')).hexdigest()[:32]}"

    def _write(self, path: Path, text: str) -> None:
        try:
            write_whole(path, text.encode())
        except OSError as error:
            raise LedgerError(f"the witness can't write to its folder: {error.strerror}", code="bad-witness") from None

    def _open_logs(self) -> dict[str, list[Verifier]]:
        found: dict[str, list[Verifier]] = {}
        try:
            text = (self.folder / "logs").read_text("utf-8")
        except FileNotFoundError:
            return found
        except (OSError, ValueError):
            raise LedgerError("the witness's list of logs can't be read", code="bad-witness") from None
        for line in text.splitlines():
            verifier = Verifier.parse(line)
            found.setdefault(verifier.name, []).append(verifier)
        return found

    def _open_key(self, name: str | None) -> Signer:
        path = self.folder / "witness.key"
        try:
            mode = os.lstat(path).st_mode
            text = path.read_text("utf-8").strip()
        except FileNotFoundError:
            return self._make_key(path, name)
        except (OSError, ValueError):
            raise LedgerError("the witness's key can't be read", code="key-unreadable") from None
        if mode & 0o077:
            raise LedgerError("others can read the witness's key", code="key-unsafe", help=f"chmod 600 {path}")
        try:
            signer = parse_private(text)
            if signer.kind is not KeyKind.COSIGNATURE:
                raise ValueError("not the key of a witness")
        except (ValueError, NoteError):
            raise LedgerError("the witness's key is malformed", code="key-malformed") from None
        if name is not None and name != signer.name:
            raise LedgerError("the witness's key has another name than the one given", code="bad-witness")
        return signer

    def _make_key(self, path: Path, name: str | None) -> Signer:
        chosen = name if name is not None else f"{socket.gethostname()}/witness-{os.urandom(4).hex()}"
        signer = Signer(chosen, Ed25519PrivateKey.generate(), KeyKind.COSIGNATURE)
        self._write(path, private_text(signer))
        return signer


def parse_request(request: bytes) -> tuple[int, list[bytes], str]:
    """The old size, the proof and the checkpoint of a request. Raises NoteError."""
    if len(request) > MAX_REQUEST:
        raise CheckpointError("the request is too long")
    try:
        text = request.decode()
    except UnicodeDecodeError:
        raise CheckpointError("the request is not UTF-8") from None
    head, blank, note = text.partition("\n\n")
    first, *lines = head.split("\n")
    if not blank or not first.startswith("old "):
        raise CheckpointError("not a request: an old size, a proof, an empty line, a checkpoint")
    if len(lines) > MAX_HASHES:
        raise CheckpointError(f"a proof of more than {MAX_HASHES} hashes")
    return parse_number(first.removeprefix("old ")), [parse_hash(line) for line in lines], note
