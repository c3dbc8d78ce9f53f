"""Checks an exported ledger as a stranger would who has only the C2SP specifications: imports nothing of Remit.

Written apart from the code it judges, in the plainest way: the whole tree by RFC 6962's recursive definition, every
tile by tlog-tiles' formula, every file of the folder accounted for. Slow, and for small logs.
"""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey


class Wrong(Exception):
    """The export is not what the specifications say."""


def check_export(folder: Path, vkey: str) -> list[bytes]:
    """The entries, if everything in the folder is as specified for the size in the checkpoint."""
    _, size, root = read_checkpoint((folder / "checkpoint").read_bytes(), vkey)
    expected = {"checkpoint"}
    entries: list[bytes] = []
    for name, width in resources("entries", 0, size):
        entries += read_bundle((folder / name).read_bytes(), width)
        expected.add(name)
    if len(entries) != size:
        raise Wrong("as many entries as the checkpoint says")
    mth = merkle(entries)
    if mth(0, size) != root:
        raise Wrong("the root")
    for level in range(8):
        for number, (name, width) in enumerate(resources(str(level), level, size)):
            span = 256**level
            hashes = [mth((number * 256 + i) * span, (number * 256 + i + 1) * span) for i in range(width)]
            if (folder / name).read_bytes() != b"".join(hashes):
                raise Wrong(name)
            expected.add(name)
    there = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    if there != expected:
        raise Wrong(f"other files: {sorted(there ^ expected)[:5]}")
    return entries


def read_checkpoint(note: bytes, vkey: str) -> tuple[str, int, bytes]:
    name, key_id, key = vkey.split("+", 2)
    public = base64.b64decode(key, validate=True)
    if hashlib.sha256(name.encode() + b"\x0a" + public).hexdigest()[:8] != key_id or public[0] != 1:
        raise Wrong("the key")
    separator = note.rindex(b"\n\n")
    text, signatures = note[: separator + 1], note[separator + 2 :]
    for line in signatures.splitlines():
        dash, by, encoded = line.split(b" ")
        signature = base64.b64decode(encoded, validate=True)
        if dash == b"\xe2\x80\x94" and by.decode() == name and signature[:4].hex() == key_id:
            Ed25519PublicKey.from_public_bytes(public[1:]).verify(signature[4:], text)
            origin, size, root = text.decode().splitlines()
            return origin, int(size), base64.b64decode(root, validate=True)
    raise Wrong("no signature by the key")


def resources(kind: str, level: int, size: int) -> list[tuple[str, int]]:
    """The files of one level: all the full ones, then the partial one if there is any."""
    hashes = size // 256**level
    found = [(f"tile/{kind}/{spell(number)}", 256) for number in range(hashes // 256)]
    if hashes % 256:
        found.append((f"tile/{kind}/{spell(hashes // 256)}.p/{hashes % 256}", hashes % 256))
    return found


def spell(number: int) -> str:
    digits = str(number)
    digits = "0" * (-len(digits) % 3) + digits
    groups = [digits[i : i + 3] for i in range(0, len(digits), 3)]
    return "/".join(["x" + group for group in groups[:-1]] + groups[-1:])


def read_bundle(data: bytes, width: int) -> list[bytes]:
    entries = []
    while data:
        length = 256 * data[0] + data[1]
        if len(data) < 2 + length:
            raise Wrong("a bundle that ends within an entry")
        entries.append(data[2 : 2 + length])
        data = data[2 + length :]
    if len(entries) != width:
        raise Wrong("the width of a bundle")
    return entries


def merkle(entries: list[bytes]):
    @cache
    def mth(start: int, end: int) -> bytes:
        count = end - start
        if count == 0:
            return hashlib.sha256().digest()
        if count == 1:
            return hashlib.sha256(b"\x00" + entries[start]).digest()
        k = 1
        while 2 * k < count:
            k *= 2
        return hashlib.sha256(b"\x01" + mth(start, start + k) + mth(start + k, end)).digest()

    return mth
