"""The ledger as a folder of files (C2SP tlog-tiles): entries in bundles of 256, hashes in tiles of 256, a checkpoint.

A full bundle or tile never changes again, so an export can be interrupted, repeated and continued. Every file is
written beside its place and then renamed; the checkpoint comes last, so a folder without one is not finished.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from itertools import islice
from pathlib import Path

from remit.record.checkpoint import Checkpoint
from remit.record.errors import LedgerError
from remit.record.note import MAX_NOTE, NoteError, split_note
from remit.record.tree import HASH_SIZE, CompactRange, combine, leaf_hash
from remit.store.files import write_whole

WIDTH = 256
MAX_ENTRY = 65_535
MAX_LEVEL = 63

_MAX_BUNDLE = WIDTH * (2 + MAX_ENTRY)


class TilesError(LedgerError):
    """An export that can't be written or read."""

    code = "bad-tiles"


def tile_path(level: int, index: int, width: int = WIDTH) -> str:
    """Where a tile of hashes lies: `tile/0/x001/x234/067`, with `.p/<width>` behind it while it is not full."""
    if not 0 <= level <= MAX_LEVEL:
        raise TilesError(f"no tile has the level {level}")
    return f"tile/{level}/{_index_path(index, width)}"


def bundle_path(index: int, width: int = WIDTH) -> str:
    """Where a bundle of entries lies: `tile/entries/x001/x234/067`."""
    return f"tile/entries/{_index_path(index, width)}"


def _index_path(index: int, width: int) -> str:
    if index < 0 or not 1 <= width <= WIDTH:
        raise TilesError(f"no tile has the index {index} and the width {width}")
    path = f"{index % 1000:03}"
    while index := index // 1000:
        path = f"x{index % 1000:03}/{path}"
    return path if width == WIDTH else f"{path}.p/{width}"


def encode_bundle(entries: Iterable[bytes]) -> bytes:
    """Entries one behind the other, each with its length in two bytes before it."""
    parts: list[bytes] = []
    for entry in entries:
        if len(entry) > MAX_ENTRY:
            raise TilesError(f"an entry of {len(entry)} bytes; {MAX_ENTRY} is the most")
        parts += (len(entry).to_bytes(2), entry)
    return b"".join(parts)


def decode_bundle(data: bytes, width: int) -> list[bytes]:
    """The entries of a bundle that holds exactly `width`. Raises TilesError."""
    entries: list[bytes] = []
    at, end = 0, len(data)
    while at + 2 <= end and len(entries) < width:
        start = at + 2
        at = start + (data[at] << 8 | data[at + 1])
        entries.append(data[start:at])
    if at != end or len(entries) != width:
        raise TilesError(f"a bundle that does not hold exactly {width} entries")
    return entries


def write_tiles(
    directory: Path,
    entries: Iterable[bytes],
    note: str | bytes,
    *,
    progress: Callable[[int], object] | None = None,
    durable: bool = True,
) -> Checkpoint:
    """Writes the log that the checkpoint `note` describes: `entries` are all of its entries, from the first on.

    Into a folder with an older export it adds what is new. A folder that holds another log, or more of this one, is
    left alone. `progress` is told how many entries are done. Raises TilesError, also when the entries are not those
    that were signed for; the folder then has no new checkpoint.
    """
    try:
        checkpoint = Checkpoint.parse(split_note(note)[0])
        _Export(directory, checkpoint).write(entries, progress)
        if durable:
            os.sync()
        signed = note if isinstance(note, bytes) else note.encode()
        write_whole(directory / "checkpoint", signed, mode=None, durable=durable)
    except OSError as error:
        raise TilesError(f"can't write to {directory}: {error.strerror or error}") from error
    except NoteError as error:
        raise TilesError(f"the checkpoint for the export is malformed: {error}") from error
    return checkpoint


class _Export:
    """One run over the entries, holding no more than a bundle and, for each level, the hashes of an unfinished tile."""

    def __init__(self, directory: Path, checkpoint: Checkpoint) -> None:
        self.directory = directory
        self.checkpoint = checkpoint
        self.rows: list[list[bytes]] = []
        directory.mkdir(parents=True, exist_ok=True)
        self.finished = (directory / "checkpoint").exists()
        if self.finished:
            old = Tiles(directory).checkpoint
            if old.origin != checkpoint.origin or old.size > checkpoint.size:
                raise TilesError(f"{directory} holds an export of {old.origin} with {old.size} entries")
            if old.size == checkpoint.size and old.root != checkpoint.root:
                raise TilesError(f"{directory} holds another log of the same name and size")

    def write(self, entries: Iterable[bytes], progress: Callable[[int], object] | None) -> None:
        remaining = iter(entries)
        size = self.checkpoint.size
        tiles = CompactRange()
        last: list[bytes] = []
        for start in range(0, size, WIDTH):
            bundle = list(islice(remaining, min(WIDTH, size - start)))
            if len(bundle) < min(WIDTH, size - start):
                raise TilesError(f"the checkpoint covers {size} entries, but there are {start + len(bundle)}")
            self._put(bundle_path(start // WIDTH, len(bundle)), encode_bundle(bundle))
            leaves = [leaf_hash(entry) for entry in bundle]
            if len(leaves) == WIDTH:
                tiles.append(self._full_tile(0, start // WIDTH, leaves))
            else:
                last = leaves
            if progress is not None:
                progress(start + len(bundle))
        if next(remaining, None) is not None:
            raise TilesError(f"the checkpoint covers {size} entries, but there are more")
        leaves_range = CompactRange()
        leaves_range.extend(last)
        if CompactRange(size, [*tiles.hashes, *leaves_range.hashes]).root() != self.checkpoint.root:
            raise TilesError("the entries are not those that the checkpoint was signed for")
        for level, row in enumerate([last, *self.rows]):
            if row:
                self._put(tile_path(level, size // WIDTH ** (level + 1), len(row)), b"".join(row))

    def _full_tile(self, level: int, index: int, hashes: list[bytes]) -> bytes:
        self._put(tile_path(level, index), b"".join(hashes))
        root = combine(hashes)
        if level == len(self.rows):
            self.rows.append([])
        self.rows[level].append(root)
        if len(self.rows[level]) == WIDTH:
            self._full_tile(level + 1, index // WIDTH, self.rows[level])
            self.rows[level] = []
        return root

    def _put(self, name: str, data: bytes) -> None:
        path = self.directory / name
        try:
            there = _read(path, len(data))
        except FileNotFoundError:
            path.parent.mkdir(parents=True, exist_ok=True)
        else:
            if there == data:
                return
            if self.finished:
                raise TilesError(f"{path} belongs to another log, or was changed")
        write_whole(path, data, mode=None, durable=False)


class Tiles:
    """An export that is read. Its form is checked, but nothing is verified: that is what `verify` is for."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        try:
            note = _read(directory / "checkpoint", MAX_NOTE)
            self.checkpoint = Checkpoint.parse(split_note(note)[0])
        except OSError as error:
            raise TilesError(f"{directory} has no checkpoint that can be read: {error.strerror or error}") from error
        except NoteError as error:
            raise TilesError(f"the checkpoint in {directory} is malformed: {error}") from error
        self.note = note.decode()
        self.tile = lru_cache(maxsize=64)(self._tile)

    @property
    def size(self) -> int:
        return self.checkpoint.size

    def entries(self, start: int = 0) -> Iterator[bytes]:
        """The entries in order, from number `start` on."""
        for index in range(start // WIDTH, -(-self.size // WIDTH)):
            yield from self.bundle(index)[max(0, start - index * WIDTH) :]

    def bundle(self, index: int) -> list[bytes]:
        width = self._width(0, index)
        return decode_bundle(self._file(bundle_path(index, width), _MAX_BUNDLE), width)

    def hash_at(self, level: int, index: int) -> bytes:
        """The hash of a complete subtree, for making proofs."""
        rows, within = divmod(level, 8)
        at, count = index << within, 1 << within
        data = self.tile(rows, at // WIDTH)
        parts = [data[place : place + HASH_SIZE] for place in range(0, len(data), HASH_SIZE)]
        found = parts[at % WIDTH :][:count]
        if len(found) != count:
            raise TilesError(f"the log is too short for a subtree ({level}, {index})")
        return combine(found)

    def _tile(self, level: int, index: int) -> bytes:
        width = self._width(level, index)
        data = self._file(tile_path(level, index, width), WIDTH * HASH_SIZE)
        if len(data) != width * HASH_SIZE:
            raise TilesError(f"{tile_path(level, index, width)} does not hold exactly {width} hashes")
        return data

    def _width(self, level: int, index: int) -> int:
        width = min(WIDTH, (self.size >> 8 * level) - index * WIDTH)
        if width < 1 or index < 0:
            raise TilesError(f"a log of {self.size} entries has no tile {index} at level {level}")
        return width

    def _file(self, name: str, most: int) -> bytes:
        try:
            data = _read(self.directory / name, most)
        except OSError as error:
            raise TilesError(f"can't read {name}: {error.strerror or error}") from error
        if len(data) > most:
            raise TilesError(f"{name} is longer than {most} bytes")
        return data


def read_tiles(directory: Path) -> Tiles:
    """Opens an export. Raises TilesError."""
    return Tiles(directory)


def _read(path: Path, most: int) -> bytes:
    """The file's bytes, or its first `most + 1`, which shows that it is longer."""
    with path.open("rb") as file:
        return file.read(most + 1)
