"""Receipts: made from an export, verified without it, and hostile ones."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.record.proof import MAX_PROOF, Proof, ProofError, verify_proof
from remit.record.tiles import read_tiles
from remit.record.tree import inclusion_proof
from remit.record.verify import parse_keys
from remit.record.verify import verify_proof as verify_apart
from tests.record.logs import OTHER, SIGNER, VKEY, entries, export, note_at

KEYS = parse_keys([VKEY])


def receipt(index: int, size: int, folder: Path) -> Proof:
    opened = read_tiles(export(folder, size))
    hashes = inclusion_proof(index, size, opened.hash_at)
    return Proof(index, tuple(hashes), opened.note, entries(size)[index])


@pytest.mark.parametrize(("index", "size"), [(0, 1), (0, 2), (6, 7), (255, 256), (256, 257), (300, 700), (699, 700)])
def test_a_receipt_is_verified_by_both_verifiers(index: int, size: int, tmp_path: Path):
    proof = receipt(index, size, tmp_path)
    assert Proof.parse(proof.text) == proof
    assert Proof.parse(proof.text.encode()) == proof
    assert verify_proof(proof, [SIGNER.verifier]).size == size
    assert verify_apart(proof.text.encode(), KEYS, entries=True).ok


def test_the_form_is_the_specification_s(tmp_path: Path):
    lines = receipt(2, 3, tmp_path).text.split("\n")
    assert lines[0] == "c2sp.org/tlog-proof@v1"
    assert base64.b64decode(lines[1].removeprefix("extra ")) == entries(3)[2]
    assert lines[2] == "index 2"
    assert len(base64.b64decode(lines[3])) == 32
    assert lines[4] == ""
    assert "\n".join(lines[5:]) == note_at(3)


def test_the_entry_may_come_apart_from_it(tmp_path: Path):
    whole = receipt(2, 3, tmp_path)
    bare = Proof.parse(Proof(whole.index, whole.hashes, whole.note).text)
    assert bare.entry is None
    assert verify_proof(bare, [SIGNER.verifier], entries(3)[2]).size == 3
    with pytest.raises(ProofError, match="does not contain"):
        verify_proof(bare, [SIGNER.verifier])
    with pytest.raises(ProofError, match="lead"):
        verify_proof(bare, [SIGNER.verifier], entries(3)[1])
    with pytest.raises(ProofError, match="another entry"):
        verify_proof(whole, [SIGNER.verifier], entries(3)[1])
    assert not verify_apart(bare.text.encode(), KEYS).ok


def test_it_needs_the_log_s_signature(tmp_path: Path):
    proof = receipt(2, 3, tmp_path)
    with pytest.raises(ProofError, match="checkpoint"):
        verify_proof(proof, [OTHER.verifier])
    report = verify_apart(proof.text.encode(), parse_keys([OTHER.verifier.vkey]))
    assert report.problem is not None
    assert report.problem.kind == "checkpoint-signature"


def test_every_single_bit_counts(tmp_path: Path):
    """Of a small receipt, each bit: nothing but the same entry in the same place is ever accepted."""
    proof = receipt(1, 3, tmp_path)
    raw = proof.text.encode()
    for place in range(len(raw)):
        for bit in range(8):
            changed = raw[:place] + bytes([raw[place] ^ 1 << bit]) + raw[place + 1 :]
            with pytest.raises(ProofError):
                verify_proof(Proof.parse(changed), [SIGNER.verifier])
            assert not verify_apart(changed, KEYS).ok


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("c2sp.org/tlog-proof@v1\n", ""),
        ("@v1", "@v2"),
        ("index 2", "index 02"),
        ("index 2", "index -2"),
        ("index 2", "index"),
        ("index 2\n", ""),
        ("index 2", "index 2\nindex 2"),
        ("extra ", "extra  "),
        ("extra ", "Extra "),
        ("\n\n", "\n"),
        ("\n\n", "\n\n\n"),
        ("index 2\n", "index 2\n" + "A" * 43 + "=\n"),
        ("index 2\n", "index 2\n" + ("A" * 43 + "=\n") * 64),
        ("extra ", "extra " + "A" * MAX_PROOF),
        ("extra ", "extra \nextra "),
    ],
)
def test_malformed(old: str, new: str, tmp_path: Path):
    text = receipt(2, 3, tmp_path).text
    changed = text.replace(old, new, 1)
    assert changed != text
    with pytest.raises(ProofError):
        verify_proof(Proof.parse(changed), [SIGNER.verifier])
    assert not verify_apart(changed.encode(), KEYS).ok


@given(st.binary(max_size=300) | st.text(max_size=200))
def test_random_texts_are_refused(text: bytes | str):
    with pytest.raises(ProofError):
        Proof.parse(text)
    raw = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
    assert not verify_apart(raw, KEYS).ok


SMALL = "c2sp.org/tlog-proof@v1\nextra e30=\nindex 0\n" + base64.b64encode(bytes(32)).decode() + "\n\n" + note_at(2)


@given(st.data())
def test_changed_receipts_raise_nothing_else(data: st.DataObject):
    text = SMALL
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(text)))
        piece = data.draw(
            st.sampled_from(["\n", "\n\n", "=", "index ", "extra ", "\ud800", "9" * 30]) | st.text(max_size=3)
        )
        text = text[:at] + piece + text[at + data.draw(st.integers(0, 40)) :]
    with pytest.raises(ProofError):
        verify_proof(Proof.parse(text), [SIGNER.verifier])
    assert not verify_apart(text.encode("utf-8", "surrogatepass"), KEYS).ok
