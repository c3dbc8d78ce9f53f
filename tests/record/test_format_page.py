"""docs/formats/ledger.md and verify-by-hand.md show real bytes: they are made again here and compared."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from remit.record.canonical import encode
from remit.record.checkpoint import Checkpoint
from remit.record.note import KeyKind, Signer, Verifier, add_lines, cosign, open_note
from remit.record.proof import Proof, verify_proof
from remit.record.tiles import read_tiles, write_tiles
from remit.record.tree import CompactRange, inclusion_proof, leaf_hash
from remit.record.verify import parse_keys, verify_export

PAGES = Path(__file__).parents[2] / "docs" / "formats"
LOG = Signer("ledger.example/main", Ed25519PrivateKey.from_private_bytes(bytes(range(32))))
WITNESS = Signer("witness.example/w1", Ed25519PrivateKey.from_private_bytes(bytes(range(32, 64))), KeyKind.COSIGNATURE)
ENTRIES = tuple(
    encode({"agent": "researcher", "kind": kind, "n": number, "tool": "read_file"})
    for number, kind in enumerate(["intent", "outcome", "intent"])
)


def log(folder: Path) -> Path:
    tree = CompactRange()
    tree.extend(map(leaf_hash, ENTRIES))
    write_tiles(folder, ENTRIES, Checkpoint(LOG.name, 3, tree.root()).sign(LOG), durable=False)
    return folder


def dump(data: bytes) -> str:
    """As `xxd -g 1` prints it, without the text column."""
    lines = (data[at : at + 16] for at in range(0, len(data), 16))
    return "".join(f"{16 * row:08x}: {line.hex(' ')}\n" for row, line in enumerate(lines))


def examples(folder: Path) -> dict[str, str]:
    opened = read_tiles(log(folder))
    receipt = Proof(1, tuple(inclusion_proof(1, 3, opened.hash_at)), opened.note, ENTRIES[1])
    return {
        "files": "".join(sorted(f"{path.relative_to(folder)}\n" for path in folder.rglob("*") if path.is_file())),
        "entries": "".join(f"{body.decode()}\n" for body in ENTRIES),
        "bundle": dump((folder / "tile/entries/000.p/3").read_bytes()),
        "tile": dump((folder / "tile/0/000.p/3").read_bytes()),
        "key": f"{LOG.verifier.vkey}\n",
        "checkpoint": opened.note,
        "cosigned": add_lines(opened.note, [cosign(opened.note, WITNESS, 1767225600)]),
        "receipt": receipt.text,
    }


def shown(page: str) -> dict[str, str]:
    """The blocks of a page by the name that stands in a comment before each."""
    text = (PAGES / page).read_text("utf-8")
    return dict(re.findall(r"^<!-- (\w+) -->\n```\w+\n(.*?)^```$", text, re.MULTILINE | re.DOTALL))


def test_the_page_shows_what_is_written(tmp_path: Path):
    assert shown("ledger.md") == examples(tmp_path)


def test_what_the_page_shows_is_verified(tmp_path: Path):
    page = shown("ledger.md")
    key = page["key"].strip()
    assert verify_export(log(tmp_path), parse_keys([key]), entries=True).size == 3
    assert verify_proof(Proof.parse(page["receipt"]), [Verifier.parse(key)]).size == 3
    signatures = open_note(page["cosigned"], [Verifier.parse(key), WITNESS.verifier]).signatures
    assert [signature.time for signature in signatures] == [None, 1767225600]


@pytest.mark.skipif(not all(map(shutil.which, ["openssl", "sha256sum", "xxd"])), reason="needs openssl and xxd")
def test_the_steps_by_hand_are_run(tmp_path: Path):
    script = "".join(shown("verify-by-hand.md").values())
    ran = subprocess.run(["bash", "-euc", script], cwd=log(tmp_path), capture_output=True, text=True, timeout=60)
    assert ran.returncode == 0, ran.stderr
    root = (tmp_path / "checkpoint").read_text("utf-8").split("\n")[2]
    assert ran.stdout.split("\n")[-2] == root
    assert "Signature Verified Successfully" in ran.stdout + ran.stderr
