"""Verifies a ledger, as a function and as a program: `python -m remit.record.verify EXPORT --key VKEY --anchor FILE`.

Apart from all that writes: this file needs Python and `cryptography` and nothing else of this project, so it can be
copied, read in one sitting, and run elsewhere. docs/formats/ledger.md shows the formats (C2SP, RFC 6962) byte by byte.

What holds when an export is verified: the key signed a checkpoint of exactly these entries in this order, and each
anchor, a checkpoint that somebody kept elsewhere, is of an unchanged beginning of them. Without an anchor nobody can
see that entries were cut off the end together with the checkpoints over them.
"""

from __future__ import annotations

import argparse
import base64
import json
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from heapq import merge
from itertools import islice, pairwise
from os.path import isfile
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

WIDTH = 256
MAX_NOTE, MAX_PROOF, MAX_BUNDLE = 256 * 1024, 512 * 1024, WIDTH * (2 + 65_535)
NUMBER = re.compile(r"0|[1-9][0-9]{0,18}")
SIGNATURE = re.compile(r"— ([^\s+]+) ([A-Za-z0-9+/]+={0,2})")

Text = str | bytes
Notes = Iterable[Text]
Keys = Mapping[tuple[str, bytes], Ed25519PublicKey]
Rows = Iterable[tuple[int, bytes, bytes]]


class Unusable(Exception):
    """What was handed over can't be used to verify anything: no such file, not a key."""


class Problem(Exception):
    """The first thing that is wrong: its kind, and the entries among which it lies, where that is known."""

    def __init__(self, kind: str, message: str, first: int | None = None, last: int | None = None) -> None:
        super().__init__(message)
        self.kind, self.message, self.first, self.last = kind, message, first, first if last is None else last


class Report(NamedTuple):
    """The outcome: verified if there is no problem. `unsigned` entries at the end are under no checkpoint yet."""

    size: int
    checkpoints: int = 0
    anchors: int = 0
    origin: str = ""
    root: bytes = b""
    unsigned: int = 0
    problem: Problem | None = None

    @property
    def ok(self) -> bool:
        return self.problem is None


class Signed(NamedTuple):
    """A checkpoint: at this size, this was the root. An anchor is one that was kept elsewhere."""

    size: int
    root: bytes
    origin: str
    what: str  # "checkpoint" or "anchor"


def parse_keys(vkeys: Iterable[str]) -> Keys:
    """Reads keys as `name+id+base64(0x01 ‖ public key)`. Raises Unusable."""
    keys = {}
    for vkey in vkeys:
        name, key_id, encoded, *_ = [*vkey.split("+", 2), "", ""]
        data = decode_base64(encoded) or b""
        expected = sha256(name.encode("utf-8", "replace") + b"\n" + data).digest()[:4]
        if not name or key_id != expected.hex() or len(data) != 33 or data[0] != 0x01:
            raise Unusable("not the key of a log, or not copied whole: name+id+base64, for Ed25519")
        keys[name, expected] = Ed25519PublicKey.from_public_bytes(data[1:])
    return keys


def open_checkpoint(note: Text, keys: Keys, what: str = "checkpoint") -> Signed:
    """What the note says, if a key signed it that is named as its first line. Raises Problem."""
    try:
        whole = (note if isinstance(note, bytes) else note.encode()).decode()
        body, blank, rest = whole.rpartition("\n\n")
        origin, size, encoded = body.split("\n")
        lines = [SIGNATURE.fullmatch(line) for line in rest.removesuffix("\n").split("\n")]
        found = [(line[1], decode_base64(line[2]) or b"") for line in lines if line]
        root = decode_base64(encoded) or b""
        plain = not any(sign < " " for sign in origin) and rest.endswith("\n") and len(whole) <= MAX_NOTE
        if not (blank and origin and plain and NUMBER.fullmatch(size) and len(root) == 32 and len(found) == len(lines)):
            raise ValueError
    except ValueError:
        raise Problem(f"{what}-malformed", f"the {what} is malformed") from None
    ours = [(name, data) for name, data in found[:100] if name == origin and (name, data[:4]) in keys]
    if not ours:
        raise Problem(f"{what}-signature", f"the {what} at size {size} is not signed by the key that was given")
    for name, data in ours:
        try:
            keys[name, data[:4]].verify(data[4:], (body + "\n").encode())
        except InvalidSignature:
            raise Problem(f"{what}-signature", f"the {what} at size {size} has a wrong signature") from None
    return Signed(int(size), root, origin, what)


def decode_base64(text: str) -> bytes | None:
    """Base64 in its one canonical spelling, else None."""
    try:
        data = base64.b64decode(text, validate=True)
    except ValueError:
        return None
    return data if base64.b64encode(data).decode() == text else None


def row_root(row: Sequence[bytes]) -> bytes:
    """The root over 1, 2, 4, … 256 hashes."""
    while len(row) > 1:
        pairs = iter(row)
        row = [sha256(b"\x01" + left + right).digest() for left, right in zip(pairs, pairs, strict=True)]
    return row[0]


class Tree:
    """Grows by leaf hashes, and is compared with every checkpoint when it has that checkpoint's size."""

    def __init__(self, notes: Notes, keys: Keys, anchors: Notes) -> None:
        kept = sorted((open_checkpoint(note, keys, "anchor") for note in anchors), key=lambda anchor: anchor.size)
        self.checkpoints = merge((open_checkpoint(note, keys) for note in notes), kept, key=lambda signed: signed.size)
        self.next = next(self.checkpoints, None)
        self.origin = self.next.origin if self.next else ""
        self.parts: list[bytes] = []  # the roots of the complete subtrees that make up the tree, the largest first
        self.size = self.confirmed = 0
        self.passed = {"checkpoint": 0, "anchor": 0}
        self.compare()

    def extend(self, leaves: list[bytes]) -> bytes:
        """Appends up to one tile of leaf hashes, and gives the root over a whole tile."""
        root = b""
        while self.next and self.next.size < self.size + len(leaves):
            cut = self.next.size - self.size
            self.push(leaves[:cut], 1)
            leaves = leaves[cut:]
            self.compare()
        if len(leaves) == WIDTH and not self.size % WIDTH:
            root = row_root(leaves)
            self.push([root], WIDTH)
        else:
            self.push(leaves, 1)
        self.compare()
        return root

    def push(self, hashes: list[bytes], width: int) -> None:
        for part in hashes:
            complete = self.size // width
            while complete & 1:
                part = sha256(b"\x01" + self.parts.pop() + part).digest()
                complete >>= 1
            self.parts.append(part)
            self.size += width

    def root(self) -> bytes:
        root = self.parts[-1] if self.parts else sha256(b"").digest()
        for part in reversed(self.parts[:-1]):
            root = sha256(b"\x01" + part + root).digest()
        return root

    def compare(self) -> None:
        while self.next and self.next.size <= self.size:
            size, root, origin, what = self.next
            if origin != self.origin:
                raise Problem("other-log", f"the {what} at size {size} is of another log: {origin!a}")
            if size < self.size:
                raise Problem("not-an-extension", f"a checkpoint of size {size} follows one of size {self.confirmed}")
            if root != self.root():
                kind = "not-an-extension" if what == "anchor" else "checkpoint-root"
                since = f"the first change is in the entries {self.confirmed} to {size - 1}"
                raise Problem(kind, f"the {what} at size {size} has another root; {since}", self.confirmed, size - 1)
            self.confirmed = size
            self.passed[what] += 1
            self.next = next(self.checkpoints, None)

    def finish(self) -> Report:
        if self.next:
            size, what = self.next.size, self.next.what
            message = f"{self.size} entries, but the {what} is over {size}: the end was cut off"
            raise Problem(f"shorter-than-{what}", message, self.size, size - 1)
        if self.size and not self.confirmed:
            raise Problem("checkpoint-missing", f"no checkpoint covers any of the {self.size} entries")
        unsigned, (checkpoints, anchors) = self.size - self.confirmed, self.passed.values()
        return Report(self.size, checkpoints, anchors, self.origin, self.root(), unsigned)


def _whole(text: str) -> int:
    if len(text) > 17 or abs(int(text)) >= 2**53:  # int() itself refuses fractions, exponents and NaN
        raise ValueError
    return int(text)


def _in_order(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if any(one >= other for one, other in pairwise([key.encode("utf-16-be") for key, _ in pairs])):
        raise ValueError
    return dict(pairs)


reader = json.JSONDecoder(object_pairs_hook=_in_order, parse_int=_whole, parse_float=_whole, parse_constant=_whole)
writer = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), check_circular=False)


def check_canonical(bodies: Iterable[bytes], start: int) -> None:
    """That each is a JSON object in canonical form (RFC 8785), with whole numbers only. Raises Problem."""
    for index, body in enumerate(bodies, start):
        try:
            value = reader.decode(body.decode())
            same = isinstance(value, dict) and writer.encode(value).encode() == body
        except (ValueError, RecursionError):
            same = False
        if not same:
            raise Problem("not-canonical", f"entry {index} is not a JSON object in canonical form", index)


def _name_bad(
    start: int, numbers: Iterable[Any], stored: Iterable[Any], bodies: Iterable[Any], *, archived: bool = False
) -> NoReturn:
    for index, (number, kept, body) in enumerate(zip(numbers, stored, bodies, strict=True), start):
        if number != index:
            raise Problem("sequence-gap", f"where entry {index} should be, there is {number!a:.40}", index)
        if archived and body == b"" and type(kept) is bytes and len(kept) == 32:
            continue
        if type(body) is not bytes or kept != sha256(b"\x00" + body).digest():
            raise Problem("entry-hash", f"entry {index} does not have the hash that is stored for it", index)
    raise Problem("entry-hash", f"an entry from {start} on is not as it should be", start)


def verify_stream(
    rows: Rows, notes: Notes, keys: Keys, anchors: Notes = (), *, entries: bool = False, archived: bool = False
) -> Report:
    """Verifies rows (number from 0 on, stored leaf hash, body), with their checkpoints in the order of their sizes.

    With `archived`, an empty body lies elsewhere, and its hash counts.
    """
    size, remaining = 0, iter(rows)
    try:
        tree = Tree(notes, keys, anchors)
        while batch := list(islice(remaining, WIDTH)):
            numbers, stored, bodies = zip(*batch, strict=True)
            leaves = [sha256(b"\x00" + body).digest() for body in bodies if type(body) is bytes]
            if archived and b"" in bodies and len(leaves) == len(bodies):
                leaves = [leaf if body else kept for leaf, body, kept in zip(leaves, bodies, stored, strict=True)]
            if list(stored) != leaves or numbers != tuple(range(size, size + len(leaves))):
                _name_bad(size, numbers, stored, bodies, archived=archived)
            for place, body in enumerate(bodies if entries else (), size):
                check_canonical([body] if body or not archived else (), place)
            tree.extend(leaves)
            size = tree.size
        return tree.finish()
    except Problem as problem:
        return Report(size, problem=problem)


def verify_export(folder: Path, keys: Keys, anchors: Notes = (), *, entries: bool = False) -> Report:
    """Verifies a folder of tiles: every entry, every tile, the checkpoint. Raises Unusable if it has no checkpoint."""
    if not (folder / "checkpoint").is_file():
        raise Unusable(f"{folder} has no checkpoint: not an export, or one that was not finished")
    done, above = 0, [list[bytes]() for _ in range(9)]  # for each level, the hashes of the tile that is not full yet
    try:
        head = _file(folder, "checkpoint", MAX_NOTE)
        size = open_checkpoint(head, keys).size
        tree = Tree([head], keys, anchors)
        while done < size:
            index, width = done // WIDTH, min(WIDTH, size - done)
            bodies, tile = _bundle(folder, index, width), _tile(folder, 0, index, width)
            leaves = [sha256(b"\x00" + body).digest() for body in bodies if body is not None]
            if b"".join(leaves) != tile:
                stored = [tile[at : at + 32] for at in range(0, len(tile), 32)]
                _name_bad(done, range(done, done + width), stored, bodies)
            check_canonical(bodies if entries else (), done)
            root = tree.extend(leaves)
            done, level = tree.size, 1
            if width == WIDTH:
                above[1].append(root or row_root(leaves))
            while len(above[level]) == WIDTH:
                index //= WIDTH
                _tile(folder, level, index, WIDTH, above[level])
                above[level + 1].append(row_root(above[level]))
                above[level] = []
                level += 1
        for level in range(1, 9):
            if above[level]:
                _tile(folder, level, size // WIDTH ** (level + 1), len(above[level]), above[level])
        return tree.finish()
    except Problem as problem:
        return Report(done, problem=problem)


def _bundle(folder: Path, index: int, width: int) -> list[Any]:
    """The entries of a bundle, each behind its length in two bytes. Where one can't be read there is None."""
    data, at, bodies = _file(folder, _path("entries", index, width), MAX_BUNDLE), 0, list[Any]()
    try:
        for _ in range(width):
            start = at + 2
            at = start + (data[at] << 8 | data[at + 1])
            bodies.append(data[start:at])
    except IndexError:
        bodies += [None] * (width - len(bodies))
    if at != len(data):
        bodies[-1] = None
    return bodies


def _tile(folder: Path, level: int, index: int, width: int, expected: Sequence[bytes] = ()) -> bytes:
    """The hashes of a tile, which must be as many as it should have, and the expected ones if there are any."""
    name, each, start = _path(level, index, width), WIDTH**level, index * WIDTH
    data = _file(folder, name, WIDTH * 32)
    if len(data) != width * 32:
        raise Problem("tile", f"{name} does not hold exactly {width} hashes", start * each, (start + width) * each - 1)
    for place, right in enumerate(expected):
        if right != data[32 * place : 32 * place + 32]:
            first, last = (start + place) * each, (start + place + 1) * each - 1
            raise Problem("tile", f"{name} has another hash for the entries {first} to {last}", first, last)
    return data


def _path(kind: int | str, index: int, width: int) -> str:
    path = f"{index % 1000:03}"
    while index := index // 1000:
        path = f"x{index % 1000:03}/{path}"
    return f"tile/{kind}/{path}" if width == WIDTH else f"tile/{kind}/{path}.p/{width}"


def _file(folder: Path, name: str, most: int) -> bytes:
    path = f"{folder}/{name}"
    try:
        if isfile(path):
            with open(path, "rb", buffering=0) as file:
                return file.read(most + 1)
    except OSError as error:
        raise Problem("missing", f"{name} can't be read: {error.strerror or error}") from error
    raise Problem("missing", f"{name} is missing")


def verify_proof(text: bytes, keys: Keys, *, entries: bool = False) -> Report:
    """Verifies a receipt: that its entry is where it says in the log whose checkpoint is in it."""
    try:
        head, _, note = (text if len(text) <= MAX_PROOF else b"").decode("utf-8", "replace").partition("\n\n")
        header, extra, number, *path = [*head.split("\n"), "", ""]
        entry, index = decode_base64(extra.removeprefix("extra ")) or b"", number.removeprefix("index ")
        hashes = [decode_base64(line) or b"" for line in path[:-2]]
        named = extra.startswith("extra ") and number.startswith("index ") and header == "c2sp.org/tlog-proof@v1"
        if not (named and entry and NUMBER.fullmatch(index)) or {len(part) for part in hashes} - {32}:
            raise Problem("proof-malformed", "not a receipt with an entry (tlog-proof@v1)")
        signed = open_checkpoint(note, keys)
        if _climb(sha256(b"\x00" + entry).digest(), int(index), signed.size, hashes) != signed.root:
            raise Problem("proof", f"the receipt does not lead from its entry, as number {index}, to the root")
        check_canonical([entry] if entries else (), int(index))
        return Report(signed.size, 1, 0, signed.origin, signed.root)
    except Problem as problem:
        return Report(0, problem=problem)


def _climb(found: bytes, index: int, size: int, path: list[bytes]) -> bytes | None:
    """The root that a leaf and its path lead to; None if the path has the wrong length."""
    # Below where the ways to this leaf and to the last one part, the index's bits tell the sibling's side.
    # Above that the leaf is on the right edge, and all siblings are on its left.
    inner = (index ^ (size - 1)).bit_length()
    if index >= size or len(path) != inner + (index >> inner).bit_count():
        return None
    for level, sibling in enumerate(path):
        left = level >= inner or index >> level & 1
        found = sha256(b"\x01" + (sibling + found if left else found + sibling)).digest()
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """0: verified. 1: not what was signed. 2: nothing that could be verified."""
    parser = argparse.ArgumentParser(prog="verify", description="Verifies an exported ledger, or a receipt.")
    parser.add_argument("path", type=Path, metavar="EXPORT", help="a folder of tiles, or the file of a receipt")
    parser.add_argument("--key", action="append", required=True, metavar="VKEY", help="the log's key; may be repeated")
    parser.add_argument("--anchor", action="append", default=[], type=Path, help="a checkpoint kept elsewhere (a file)")
    parser.add_argument("--entries", action="store_true", help="also check that each entry is canonical JSON; slower")
    given = parser.parse_args(arguments)
    try:
        keys = parse_keys(given.key)
        anchors = [_file(path.parent, path.name, MAX_NOTE) for path in given.anchor]
        if given.path.is_dir():
            report = verify_export(given.path, keys, anchors, entries=given.entries)
        elif anchors:
            raise Unusable("an anchor says nothing about a receipt; give the export too")
        else:
            report = verify_proof(_file(given.path.parent, given.path.name, MAX_PROOF), keys, entries=given.entries)
    except (Unusable, Problem) as error:
        print(f"can't verify: {error}", file=sys.stderr)
        return 2
    if report.problem:
        print(f"NOT VERIFIED ({report.problem.kind}): {report.problem}")
        return 1
    print(f"verified: {report.origin}, {report.size} entries, root {base64.b64encode(report.root).decode()}")
    if given.path.is_dir() and not anchors:
        print("no anchor was given: nobody would notice if entries were cut off the end")
    return 0


if __name__ == "__main__":
    sys.exit(main())
