"""Small logs for the tests of the ledger's formats, the same on every run."""

from __future__ import annotations

import base64
from functools import cache
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from remit.record.canonical import encode
from remit.record.checkpoint import Checkpoint
from remit.record.note import KeyKind, Signer
from remit.record.tiles import write_tiles
from remit.record.tree import CompactRange, leaf_hash

ORIGIN = "ledger.example/main"
SIGNER = Signer(ORIGIN, Ed25519PrivateKey.from_private_bytes(bytes(range(32))))
OTHER = Signer(ORIGIN, Ed25519PrivateKey.from_private_bytes(b"o" * 32))
WITNESS = Signer("witness.example/w1", Ed25519PrivateKey.from_private_bytes(b"w" * 32), KeyKind.COSIGNATURE)
VKEY = SIGNER.verifier.vkey


def entry(index: int) -> bytes:
    return encode({"agent": "CodeReviewer", "kind": "intent", "n": index, "tool": "read_file", "verdict": "allow"})


@cache
def entries(size: int) -> tuple[bytes, ...]:
    return tuple(entry(index) for index in range(size))


def root(bodies: tuple[bytes, ...]) -> bytes:
    tree = CompactRange()
    tree.extend(map(leaf_hash, bodies))
    return tree.root()


def note_over(bodies: tuple[bytes, ...], signer: Signer = SIGNER) -> str:
    return Checkpoint(ORIGIN, len(bodies), root(bodies)).sign(signer)


@cache
def note_at(size: int) -> str:
    return note_over(entries(size))


def export(folder: Path, size: int) -> Path:
    write_tiles(folder, entries(size), note_at(size), durable=False)
    return folder


def b64(data: bytes) -> str:
    return base64.b64encode(data).decode()
