"""Archives: old entries in a folder of their own, which is verified alone; the log keeps their hashes and its proofs.

DIR/000000000000-000000051199/
    manifest.json            which log, from where to where, and the hash of every file
    checkpoint               a signed head of the log, at or after the archive's end
    checkpoints/51200        the signed heads in between
    tile/entries/000         the entries, 256 in a file, as they were hashed (C2SP tlog-tiles)
    tile/0/000               their hashes
    values/000.jsonl         the values that they commit to: these can still be erased, so the manifest has no hash

The order makes every crash harmless: the folder is written under another name, on the disk, and verified; it gets its
name; an `archive` entry says what it holds; only then do the bodies go from the store, a few thousand at a time.
"""

from __future__ import annotations

import base64
import json
import os
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import msgspec

from remit.model.decoding import Decoding
from remit.model.moments import moment
from remit.record.append import append, head_of
from remit.record.checkpoint import open_checkpoint
from remit.record.entry import event_entry
from remit.record.errors import LedgerError
from remit.record.fields import digest_of
from remit.record.log import Log, consistency, newest_checkpoint
from remit.record.note import MAX_NOTE, NoteError, Verifier
from remit.record.reader import ARCHIVES, Archive, Stored, all_said, archives, commitments, entries, said
from remit.record.running import running_calls
from remit.record.tiles import WIDTH, TilesError, bundle_path, decode_bundle, encode_bundle, tile_path
from remit.record.tree import HASH_SIZE, CompactRange, TreeError, leaf_hash, verify_consistency
from remit.store.files import sync_folder, write_whole
from remit.store.interface import Store, Transaction

FORMAT = 1
WRITER = "archive"
PRUNING = "pruning"
"""In `meta`: the archive whose entries are being taken out of the store."""
CHUNK = 2_000
MAX_MANIFEST = 64 * 1024 * 1024
_PASSING = frozenset(("intent", "outcome", "heartbeat", "start", "stop"))
"""What an archive takes out of the store. All else says who may do what, or what was done to the log: it stays."""

_UNKNOWN = b'"unknown"'

Progress = Callable[[int], object]


class ArchiveError(LedgerError):
    """An archive that can't be made or read, or is not what it says."""

    code = "bad-archive"


class Manifest(msgspec.Struct, frozen=True):
    """What an archive holds."""

    remit_archive: int
    origin: str
    first: int
    end: int
    """The first entry after it."""
    left: list[str]
    """The roots of the subtrees before it, for computing on."""
    proof: list[str]
    """That the signed head goes on from its end."""
    keys: list[str]
    checkpoints: list[int]
    files: dict[str, str]
    """SHA-256 by path, of everything but values."""
    values: int
    made: str


_MANIFEST = Decoding(Manifest)


class Verified(NamedTuple):
    """An archive that holds."""

    origin: str
    first: int
    end: int
    root: bytes
    """Of the log at its end."""
    size: int
    """Of the signed head that is over it."""
    values: int
    folder: Path


class Archived(NamedTuple):
    """What was done."""

    first: int
    end: int
    folder: Path
    pruned: int
    kept: int


def end_for(view: Transaction, *, keep: int | None = None, before: str | None = None) -> int:
    """Where an archive ends that leaves so many entries, or those from a moment on: a multiple of 256."""
    size = head_of(view).size
    end = size if keep is None else max(0, size - keep)
    if before is not None:
        later = (stored.seq for stored, data in all_said(view) if str(data.get("at", "")) >= before)
        end = min(end, next(later, size))
    return end // WIDTH * WIDTH


def write_archive(view: Transaction, log: Log, to: Path, end: int, progress: Progress | None = None) -> Path:
    """The folder of an archive from the last one's end up to `end`, complete, on the disk and verified.

    Raises ArchiveError; then there is no folder of that name. One that is there already and holds is taken over.
    """
    first = archives(view)[-1].end if archives(view) else 0
    folder = to / f"{first:012d}-{end - 1:012d}"
    if folder.exists():
        verify_archive(folder, log.verifiers, log.origin)
        return folder
    try:
        to.mkdir(mode=0o700, parents=True, exist_ok=True)
        part = folder.with_name(folder.name + ".part")
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir(mode=0o700)
        _Writing(view, log, part, first, end).write(progress)
        verify_archive(part, log.verifiers, log.origin)
        os.rename(part, folder)
        sync_folder(to)
    except OSError as error:
        raise ArchiveError(f"{to} can't be written: {error.strerror or error}", code="archive-unwritable") from None
    return folder


class _Writing:
    """One archive on its way to the disk."""

    def __init__(self, view: Transaction, log: Log, folder: Path, first: int, end: int) -> None:
        self.view, self.log, self.folder, self.first, self.end = view, log, folder, first, end
        self.files: dict[str, str] = {}
        self.values = 0

    def write(self, progress: Progress | None) -> None:
        newest = newest_checkpoint(self.view)
        if newest is None or newest[0] < self.end:
            raise ArchiveError("only what is signed can be archived", code="not-signed")
        left = _range_at(self.view, self.first)
        for start in range(self.first, self.end, WIDTH):
            self._bundle(start)
            if progress is not None:
                progress(start + WIDTH - self.first)
        sizes = []
        for size, note in self.view.each("SELECT size, note FROM checkpoint WHERE size > ? ORDER BY size", self.first):
            if size <= self.end:
                self._put(f"checkpoints/{size}", bytes(note))
                sizes.append(int(size))
        self._put("checkpoint", newest[1])
        proof = consistency(self.view, self.end, newest[0])
        manifest = Manifest(
            FORMAT,
            self.log.origin,
            self.first,
            self.end,
            [_text(part) for part in left.hashes],
            [_text(part) for part in proof],
            [verifier.vkey for verifier in self.log.verifiers],
            sizes,
            self.files,
            self.values,
            moment(time.time()),
        )
        text = msgspec.json.format(msgspec.json.encode(manifest), indent=1)
        write_whole(self.folder / "manifest.json", text + b"\n")
        os.sync()

    def _bundle(self, start: int) -> None:
        rows = list(entries(self.view, start, start + WIDTH))
        if [stored.seq for stored in rows] != list(range(start, start + WIDTH)):
            raise ArchiveError(f"entries {start} to {start + WIDTH - 1} are not all there", code="ledger-corrupt")
        for stored in rows:
            if leaf_hash(stored.body) != stored.hash:
                raise ArchiveError(f"entry {stored.seq} was changed: it does not have its hash", code="ledger-corrupt")
        index = start // WIDTH
        self._put(bundle_path(index), encode_bundle(stored.body for stored in rows))
        self._put(tile_path(0, index), b"".join(stored.hash for stored in rows))
        lines = []
        for seq, path, salt, value in self.view.each(
            "SELECT seq, path, salt, value FROM secret WHERE seq >= ? AND seq < ? ORDER BY seq, path",
            start,
            start + WIDTH,
        ):
            if value is not None:
                line = {"seq": seq, "path": path, "salt": _text(bytes(salt)), "value": _text(bytes(value))}
                lines.append(json.dumps(line) + "\n")
        if lines:
            self._write(_values_path(index), "".join(lines).encode())
            self.values += len(lines)

    def _put(self, name: str, data: bytes) -> None:
        self._write(name, data)
        self.files[name] = sha256(data).hexdigest()

    def _write(self, name: str, data: bytes) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_whole(path, data, durable=False)


class Unsettled:
    """What stays in the store: entries that say how something stands, and both of a call whose outcome is unknown."""

    def __init__(self, first: int) -> None:
        """No entry before `first` is asked for."""
        self._intents: set[int] = set()
        """Those whose outcome is unknown, as far as the log was read."""
        self._first = self._next = first
        self._view: Transaction | None = None
        self._running: set[int] = set()
        """The calls that run in this view."""

    def read_on(self, view: Transaction) -> None:
        """Reads what was added to the log since the last time. Raises LedgerError and StoreError."""
        for stored in entries(view, self._next):
            self._next = stored.seq + 1
            if _UNKNOWN in stored.body and (data := said(view, stored)).get("type") == "outcome":
                self._intents.add(data.get("intent", stored.seq))

    def stays(self, view: Transaction, stored: Stored) -> bool:
        """Whether an entry stays, as the log stands in this view."""
        row = view.row("SELECT subject FROM leaf WHERE seq = ?", stored.seq)
        if row is not None and row[0] is not None:
            return True
        data = said(view, stored)
        if data.get("type") not in _PASSING or data.get("result") == "unknown" or stored.seq in self._intents:
            return True
        intent = data.get("intent")
        if data.get("type") == "outcome" and isinstance(intent, int) and intent < self._first:
            # the call ran when its intent was archived, so that stayed; without this it would seem to run for ever
            return view.row("SELECT 1 FROM leaf WHERE seq = ? AND length(body) > 0", intent) is not None
        if self._view is not view:
            self._view, self._running = view, {one.seq for one in running_calls(view)}
        return stored.seq in self._running


def prune(store: Store, log: Log, folder: Path, who: str, progress: Progress | None = None) -> Archived:
    """Writes down that a folder holds entries, and takes their bodies and values out of the store.

    The folder is verified first. Raises LedgerError and StoreError; what was begun goes on when it is done again.
    """
    found = verify_archive(folder, log.verifiers, log.origin)
    digest = sha256((folder / "manifest.json").read_bytes()).hexdigest()
    where = os.path.abspath(folder)
    looked = _drop_erased(store, folder, digest)
    with store.write() as change:
        known = archives(change)
        expected = known[-1].end if known else 0
        if not _is_known(known, digest):
            if any(data.get("type") == "erasure" for _, data in all_said(change, looked)):
                raise ArchiveError("values were erased meanwhile: archive again", code="erased-meanwhile")
            if found.first != expected:
                raise ArchiveError(f"the archive begins at {found.first}, and the next one must at {expected}")
            about = {
                "first": found.first,
                "end": found.end,
                "root": _text(found.root),
                "manifest": digest,
                "where": where,
                "who": who,
            }
            place = append(change, [event_entry("archive", time.time_ns(), WRITER, about, {})], WRITER).first
            data = msgspec.json.encode([*(one.seq for one in known), place])
            _keep(change, ARCHIVES, data)
            _keep(change, PRUNING, where.encode())
    pruned = kept = 0
    unsettled = Unsettled(found.first)
    for start in range(found.first, found.end, CHUNK):
        end = min(start + CHUNK, found.end)
        with store.write() as change:
            unsettled.read_on(change)
            going = [stored.seq for stored in entries(change, start, end) if not unsettled.stays(change, stored)]
            kept += end - start - len(going)
            change.run_many("UPDATE leaf SET body = ? WHERE seq = ?", [(b"", seq) for seq in going])
            change.run_many("DELETE FROM secret WHERE seq = ?", [(seq,) for seq in going])
            change.run("DELETE FROM checkpoint WHERE size > ? AND size <= ? AND size < ?", start, end, found.end)
            pruned += len(going)
        if progress is not None:
            progress(end - found.first)
    with store.write() as change:
        change.run("DELETE FROM meta WHERE name = ? AND value = ?", PRUNING, where.encode())
    return Archived(found.first, found.end, folder, pruned, kept)


def _is_known(known: Sequence[Archive], digest: str) -> bool:
    return any(one.manifest == digest for one in known)


def _drop_erased(store: Store, folder: Path, digest: str) -> int:
    """Takes those values out of an archive that no entry names yet which were erased after it was written; returns the
    size of the log up to which that holds. Raises LedgerError and StoreError."""
    with store.read() as view:
        size, manifest = head_of(view).size, read_manifest(folder)
        if _is_known(archives(view), digest):
            return size
        for start in range(manifest.first, manifest.end, WIDTH):
            held = {seq for seq, *_ in values_in(folder, start // WIDTH)}
            if held:
                there = view.rows("SELECT DISTINCT seq FROM secret WHERE seq >= ? AND seq < ?", start, start + WIDTH)
                erase_archived(folder, sorted(held - {int(row[0]) for row in there}))
    return size


def interrupted(view: Transaction) -> Path | None:
    """The archive whose entries were not all taken out of the store yet; None if there is none."""
    row = view.row("SELECT value FROM meta WHERE name = ?", PRUNING)
    return Path(os.fsdecode(bytes(row[0]))) if row is not None and row[0] is not None else None


def _keep(change: Transaction, name: str, data: bytes) -> None:
    if not change.run("UPDATE meta SET value = ? WHERE name = ?", data, name):
        change.run("INSERT INTO meta (name, value) VALUES (?, ?)", name, data)


def verify_archive(folder: Path, verifiers: Sequence[Verifier] = (), origin: str | None = None) -> Verified:
    """That an archive is whole: every file, every entry, every signed head and value. Raises ArchiveError.

    Without `verifiers` the keys beside it are believed.
    """
    manifest = read_manifest(folder)
    if origin is not None and manifest.origin != origin:
        raise ArchiveError(f"{folder} is the archive of another log, {manifest.origin}")
    if not 0 <= manifest.first < manifest.end or manifest.first % WIDTH or manifest.end % WIDTH:
        raise ArchiveError(f"{folder}: the manifest names no whole range of entries")
    keys = verifiers or [_verifier(folder, key) for key in manifest.keys]
    for name, digest in manifest.files.items():
        if name.startswith("/") or ".." in name.split("/") or sha256(_read(folder, name)).hexdigest() != digest:
            raise ArchiveError(f"{folder / name} was changed")
    try:
        tree = CompactRange(manifest.first, [base64.b64decode(part, validate=True) for part in manifest.left])
        proof = [base64.b64decode(part, validate=True) for part in manifest.proof]
    except (ValueError, TreeError):
        raise ArchiveError(f"{folder}: the manifest's hashes can't be read") from None
    heads = {size: _head(folder, f"checkpoints/{size}", keys, manifest.origin) for size in manifest.checkpoints}
    values = 0
    for start in range(manifest.first, manifest.end, WIDTH):
        bodies = bundle(folder, start // WIDTH)
        leaves = [leaf_hash(body) for body in bodies]
        stored = _read(folder, tile_path(0, start // WIDTH))
        for place, leaf in enumerate(leaves):
            if stored[HASH_SIZE * place : HASH_SIZE * (place + 1)] != leaf:
                raise ArchiveError(f"{folder}: entry {start + place} does not have its hash")
            tree.append(leaf)
            head = heads.get(start + place + 1)
            if head is not None and head != (tree.size, tree.root()):
                raise ArchiveError(f"{folder}: the head signed at {tree.size} entries is not that of the entries")
        values += _check_values(folder, start // WIDTH, bodies)
    size, root = _head(folder, "checkpoint", keys, manifest.origin)
    if not verify_consistency(manifest.end, size, proof, tree.root(), root):
        raise ArchiveError(f"{folder}: the entries are not those under the signed head of {size}")
    return Verified(manifest.origin, manifest.first, manifest.end, tree.root(), size, values, folder)


def verify_archives(folder: Path, verifiers: Sequence[Verifier] = ()) -> list[Verified]:
    """All archives of a folder, or the one that it is, in order and without a gap. Raises ArchiveError."""
    found = [verify_archive(one, verifiers) for one in segments(folder)]
    for before, after in pairwise(found):
        left = CompactRange(after.first, [base64.b64decode(part) for part in read_manifest(after.folder).left])
        if (before.end, before.origin, before.root) != (after.first, after.origin, left.root()):
            raise ArchiveError(f"{after.folder} does not continue where {before.folder} ends")
    return found


def segments(folder: Path) -> list[Path]:
    """The archives of a folder, in order; itself if it is one. Raises ArchiveError if there are none."""
    if (folder / "manifest.json").is_file():
        return [folder]
    try:
        found = sorted(path.parent for path in folder.glob("*-*/manifest.json") if path.parent.suffix != ".part")
    except OSError as error:
        raise ArchiveError(f"{folder} can't be read: {error.strerror}") from None
    if not found:
        raise ArchiveError(f"{folder} holds no archive")
    return found


def archived_entry(view: Transaction, folder: Path, seq: int) -> Stored:
    """An archived entry, from a folder with archives, compared with the hash that the log kept. Raises ArchiveError."""
    row = view.row("SELECT hash FROM leaf WHERE seq = ?", seq)
    if row is None:
        raise LedgerError(f"there is no entry {seq}", code="no-entry")
    for one in segments(folder):
        manifest = read_manifest(one)
        if manifest.first <= seq < manifest.end:
            body = bundle(one, seq // WIDTH)[seq % WIDTH]
            if leaf_hash(body) != bytes(row[0]):
                raise ArchiveError(f"entry {seq} in {one} is not the one of this log")
            return Stored(seq, bytes(row[0]), body)
    raise ArchiveError(f"no archive in {folder} has entry {seq}")


def archived_values(folder: Path, seq: int) -> dict[str, Any]:
    """The values of an archived entry, by path; missing where one was erased. Raises ArchiveError."""
    found = {}
    for one in segments(folder):
        for place, path, salt, value in values_in(one, seq // WIDTH):
            if place != seq:
                continue
            body = bundle(one, seq // WIDTH)[seq % WIDTH]
            if dict(commitments(Stored(seq, b"", body).data)).get(path) != digest_of(path, salt, value):
                raise ArchiveError(f"{one}: the value {path} of entry {seq} is not what it committed to")
            found[path] = msgspec.json.decode(value)
    return found


def erase_archived(folder: Path, seqs: Sequence[int]) -> int:
    """Deletes the values of entries from the archives of a folder; returns how many. Raises ArchiveError."""
    wanted, count = set(seqs), 0
    for one in segments(folder):
        for index in sorted({seq // WIDTH for seq in wanted}):
            path = one / _values_path(index)
            if not path.exists():
                continue
            lines = path.read_bytes().splitlines(keepends=True)
            left = [line for line in lines if msgspec.json.decode(line)["seq"] not in wanted]
            if len(left) < len(lines):
                with path.open("r+b") as old:
                    write_whole(path, b"".join(left))
                    _overwrite(old)
                count += len(lines) - len(left)
    return count


def read_manifest(folder: Path) -> Manifest:
    """What a folder says that it holds. Raises ArchiveError."""
    try:
        found = _MANIFEST.decode(_read(folder, "manifest.json", MAX_MANIFEST))
    except msgspec.MsgspecError as error:
        raise ArchiveError(f"{folder}: the manifest can't be read: {error}") from None
    if found.remit_archive != FORMAT:
        raise ArchiveError(f"{folder} was written by another version of Remit")
    return found


def bundle(folder: Path, index: int) -> list[bytes]:
    """256 entries. Raises ArchiveError."""
    try:
        return decode_bundle(_read(folder, bundle_path(index)), WIDTH)
    except TilesError as error:
        raise ArchiveError(f"{folder}: {error}") from None


def values_in(folder: Path, index: int) -> Iterator[tuple[int, str, bytes, bytes]]:
    """The values of 256 entries: number, path, salt, value. Raises ArchiveError."""
    if not (folder / _values_path(index)).exists():
        return
    try:
        for line in _read(folder, _values_path(index)).splitlines():
            one: Any = msgspec.json.decode(line)
            yield int(one["seq"]), one["path"], base64.b64decode(one["salt"]), base64.b64decode(one["value"])
    except (msgspec.DecodeError, KeyError, TypeError, ValueError):
        raise ArchiveError(f"{folder / _values_path(index)} can't be read") from None


def _check_values(folder: Path, index: int, bodies: list[bytes]) -> int:
    count = 0
    for seq, path, salt, value in values_in(folder, index):
        if seq // WIDTH != index:
            raise ArchiveError(f"{folder}: the values of entry {seq} stand in the wrong file")
        committed = dict(commitments(Stored(seq, b"", bodies[seq % WIDTH]).data))
        if committed.get(path) != digest_of(path, salt, value):
            raise ArchiveError(f"{folder}: the value {path} of entry {seq} is not what it committed to")
        count += 1
    return count


def _head(folder: Path, name: str, keys: Sequence[Verifier], origin: str) -> tuple[int, bytes]:
    try:
        checkpoint, _ = open_checkpoint(_read(folder, name, MAX_NOTE), keys)
    except NoteError as error:
        raise ArchiveError(f"{folder / name}: {error}") from None
    if checkpoint.origin != origin:
        raise ArchiveError(f"{folder / name} is of another log")
    return checkpoint.size, checkpoint.root


def _verifier(folder: Path, key: str) -> Verifier:
    try:
        return Verifier.parse(key)
    except NoteError as error:
        raise ArchiveError(f"{folder}: a key in the manifest: {error}") from None


def _range_at(view: Transaction, size: int) -> CompactRange:
    tree = CompactRange()
    tree.extend(bytes(leaf) for (leaf,) in view.each("SELECT hash FROM leaf WHERE seq < ? ORDER BY seq", size))
    if tree.size != size:
        raise ArchiveError("the log is shorter than what was archived of it", code="ledger-truncated")
    return tree


def _values_path(index: int) -> str:
    return bundle_path(index).replace("tile/entries/", "values/") + ".jsonl"


def _overwrite(file: BinaryIO) -> None:
    """So that the blocks of a file that was replaced hold nothing, where the file system writes in place."""
    file.write(b"\0" * os.fstat(file.fileno()).st_size)
    file.flush()
    os.fsync(file.fileno())


def _read(folder: Path, name: str, most: int = WIDTH * (2 + 65_535) * 2) -> bytes:
    try:
        with (folder / name).open("rb") as file:
            data = file.read(most + 1)
    except OSError as error:
        raise ArchiveError(f"{folder / name} can't be read: {error.strerror or error}") from None
    if len(data) > most:
        raise ArchiveError(f"{folder / name} is too long")
    return data


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode()
