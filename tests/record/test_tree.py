"""The Merkle tree: RFC 6962's known answers, two other implementations, and what flipped bits do to proofs."""

from __future__ import annotations

from functools import cache
from hashlib import sha256
from types import SimpleNamespace
from typing import Any

import pymerkle  # type: ignore[import-untyped]
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sigstore._internal.merkle import verify_merkle_inclusion
from sigstore.errors import VerificationError

from remit.record.tree import (
    EMPTY_ROOT,
    MAX_SIZE,
    CompactRange,
    HashSource,
    TreeError,
    combine,
    consistency_proof,
    inclusion_proof,
    leaf_hash,
    node_hash,
    root_at,
    verify_consistency,
    verify_inclusion,
)

# The inputs and roots that the certificate-transparency projects publish for RFC 6962.
# fmt: off
KNOWN_ENTRIES = [bytes.fromhex(text) for text in (
    "", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f",
)]
# fmt: on
KNOWN_ROOTS = [
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
]

SIZES = [*range(1, 131), 255, 256, 257, 511, 512, 513, 1000, 4097, 65_535, 65_536, 65_537, 70_000]


def entry(index: int) -> bytes:
    return b"entry %d" % index


LEAVES = [leaf_hash(entry(index)) for index in range(70_001)]
source = HashSource(lambda start, count: LEAVES[start : start + count])


@cache
def other() -> Any:
    tree = pymerkle.InmemoryTree(algorithm="sha256")
    for index in range(1100):
        tree.append_entry(entry(index))
    return tree


def test_known_answers():
    tree = CompactRange()
    assert tree.root() == EMPTY_ROOT == sha256(b"").digest()
    for data, root in zip(KNOWN_ENTRIES, KNOWN_ROOTS, strict=True):
        tree.append(leaf_hash(data))
        assert tree.root().hex() == root


def test_known_paths():
    """PATH and PROOF of RFC 6962, 2.1.3, with seven entries."""
    a, b, c, d, e, f, j = LEAVES[:7]
    g, h, i = node_hash(a, b), node_hash(c, d), node_hash(e, f)
    k, m = node_hash(g, h), node_hash(i, j)
    assert root_at(7, source.hash_at) == node_hash(k, m)
    assert inclusion_proof(0, 7, source.hash_at) == [b, h, m]
    assert inclusion_proof(3, 7, source.hash_at) == [c, g, m]
    assert inclusion_proof(4, 7, source.hash_at) == [f, j, k]
    assert inclusion_proof(6, 7, source.hash_at) == [i, k]
    assert consistency_proof(3, 7, source.hash_at) == [c, d, g, m]
    assert consistency_proof(4, 7, source.hash_at) == [m]
    assert consistency_proof(6, 7, source.hash_at) == [i, j, k]


def test_the_compact_range_and_the_subtrees_agree_at_every_size():
    tree = CompactRange()
    done = 0
    for size in SIZES:
        tree.extend(LEAVES[done:size])
        done = size
        assert tree.root() == root_at(size, source.hash_at)
        assert CompactRange.from_bytes(size, tree.to_bytes()).root() == tree.root()
        assert len(tree.to_bytes()) == 32 * size.bit_count()


@pytest.mark.filterwarnings("ignore::DeprecationWarning:pymerkle")
@pytest.mark.parametrize("size", [size for size in SIZES if size <= 1100])
def test_pymerkle_agrees(size: int):
    tree = other()
    root = root_at(size, source.hash_at)
    assert root == tree.get_root(size)
    for index in {0, size // 3, size // 2, size - 1}:
        theirs = tree.prove_inclusion(index + 1, size)
        ours = inclusion_proof(index, size, source.hash_at)
        assert [bytes.fromhex(text) for text in theirs.serialize()["path"]][1:] == ours
        assert verify_inclusion(LEAVES[index], index, size, ours, root)
    for old in {1, size // 3, size // 2, size - 1, size} - {0}:
        theirs = tree.prove_consistency(old, size)
        pymerkle.verify_consistency(tree.get_root(old), root, theirs)
        ours = consistency_proof(old, size, source.hash_at)
        assert verify_consistency(old, size, ours, tree.get_root(old), root)


def sigstore_accepts(index: int, size: int, proof: list[bytes], root: bytes) -> bool:
    claim = SimpleNamespace(log_index=index, tree_size=size, hashes=proof, root_hash=root)
    shell: Any = SimpleNamespace(_inner=SimpleNamespace(inclusion_proof=claim, canonicalized_body=entry(index)))
    try:
        verify_merkle_inclusion(shell)
    except VerificationError:
        return False
    return True


@pytest.mark.parametrize("size", SIZES)
def test_sigstore_accepts_our_inclusion_proofs(size: int):
    root = root_at(size, source.hash_at)
    for index in range(size) if size <= 130 else {0, 1, size // 3, size // 2, size - 2, size - 1}:
        proof = inclusion_proof(index, size, source.hash_at)
        assert sigstore_accepts(index, size, proof, root)
        assert verify_inclusion(LEAVES[index], index, size, proof, root)


def test_all_small_consistency_proofs():
    roots = [root_at(size, source.hash_at) for size in range(131)]
    for new in range(131):
        for old in range(new + 1):
            proof = consistency_proof(old, new, source.hash_at)
            assert verify_consistency(old, new, proof, roots[old], roots[new])
            if 0 < old < new:
                assert not verify_consistency(old, new, proof, roots[old - 1], roots[new])
                assert not verify_consistency(old, new, proof, roots[old], roots[new - 1])


sizes = st.integers(1, 600) | st.integers(1, 70_000)


@given(sizes, st.data())
@settings(max_examples=300)
def test_a_flipped_bit_or_another_place_breaks_an_inclusion_proof(size: int, data: st.DataObject):
    index = data.draw(st.integers(0, size - 1))
    root, proof = root_at(size, source.hash_at), inclusion_proof(index, size, source.hash_at)
    assert verify_inclusion(LEAVES[index], index, size, proof, root)
    parts = [LEAVES[index], root, *proof]
    which = data.draw(st.integers(0, len(parts) - 1))
    parts[which] = flip(parts[which], data.draw(st.integers(0, 255)))
    assert not verify_inclusion(parts[0], index, size, parts[2:], parts[1])
    elsewhere = data.draw(st.integers(0, size + 2).filter(lambda place: place != index))
    assert not verify_inclusion(LEAVES[index], elsewhere, size, proof, root)
    longer, shorter = [*proof, LEAVES[0]], proof[:-1]
    assert not verify_inclusion(LEAVES[index], index, size, longer, root)
    assert not proof or not verify_inclusion(LEAVES[index], index, size, shorter, root)


@given(sizes, st.data())
@settings(max_examples=300)
def test_a_flipped_bit_breaks_a_consistency_proof(new: int, data: st.DataObject):
    old = data.draw(st.integers(1, new))
    proof = consistency_proof(old, new, source.hash_at)
    parts = [root_at(old, source.hash_at), root_at(new, source.hash_at), *proof]
    assert verify_consistency(old, new, proof, parts[0], parts[1])
    which = data.draw(st.integers(0, len(parts) - 1))
    parts[which] = flip(parts[which], data.draw(st.integers(0, 255)))
    assert not verify_consistency(old, new, parts[2:], parts[0], parts[1])
    assert not verify_consistency(old, new, [*proof, LEAVES[0]], root_at(old, source.hash_at), parts[1])


def flip(data: bytes, bit: int) -> bytes:
    return bytes(byte ^ (1 << bit % 8 if place == bit // 8 else 0) for place, byte in enumerate(data))


numbers = st.integers(-2, 2**65)


@given(numbers, numbers, st.lists(st.binary(max_size=33), max_size=80), st.binary(max_size=33), st.binary(max_size=33))
def test_nonsense_is_no_proof(one: int, two: int, proof: list[bytes], first: bytes, second: bytes):
    assert not verify_inclusion(first, one, two, proof, second)
    assert not verify_consistency(one, two, proof, first, second) or (one == two and not proof and first == second)


def test_an_empty_tree_is_the_beginning_of_any():
    root = root_at(5, source.hash_at)
    assert verify_consistency(0, 5, [], EMPTY_ROOT, root)
    assert not verify_consistency(0, 5, [], root, root)
    assert not verify_consistency(0, 5, [root], EMPTY_ROOT, root)
    assert not verify_consistency(0, 0, [], root, root)
    assert not verify_consistency(5, 4, [], root, root)


def test_proofs_with_known_tiles_read_little():
    """10⁶ leaves: the first proof reads them all once, the following ones a few hundred each."""
    size = 1_000_000
    read = 0

    def leaves(start: int, count: int) -> list[bytes]:
        nonlocal read
        read += count
        return [sha256(b"%d" % index).digest() for index in range(start, start + count)]

    known: dict[tuple[int, int], bytes] = {}
    many = HashSource(leaves, known)
    root = root_at(size, many.hash_at)
    assert read == size
    assert len(known) == size // 256 + size // 256**2
    read = 0
    for index in (0, 255, 256, 345_678, 999_999):
        proof = inclusion_proof(index, size, many.hash_at)
        assert verify_inclusion(sha256(b"%d" % index).digest(), index, size, proof, root)
        old_root = root_at(index + 1, many.hash_at)
        assert verify_consistency(index + 1, size, consistency_proof(index + 1, size, many.hash_at), old_root, root)
    assert read < 5 * 3 * 512


@pytest.mark.parametrize(("size", "data"), [(1, b""), (0, b"x" * 32), (3, b"x" * 32), (1, b"x" * 33), (-1, b"")])
def test_a_stored_range_that_does_not_fit_is_refused(size: int, data: bytes):
    with pytest.raises(TreeError):
        CompactRange.from_bytes(size, data)


def test_questions_outside_the_tree_are_refused():
    for index, size in ((0, 0), (5, 5), (-1, 5), (0, MAX_SIZE + 1)):
        with pytest.raises(TreeError):
            inclusion_proof(index, size, source.hash_at)
    for old, new in ((2, 1), (-1, 1), (1, MAX_SIZE + 1)):
        with pytest.raises(TreeError):
            consistency_proof(old, new, source.hash_at)
    with pytest.raises(TreeError):
        root_at(len(LEAVES) + 1, source.hash_at)
    for count in (0, 3):
        with pytest.raises(TreeError):
            combine(LEAVES[:count])


def test_a_copy_grows_apart():
    tree = CompactRange()
    tree.extend(LEAVES[:3])
    copy = tree.copy()
    copy.append(LEAVES[3])
    assert (tree.size, copy.size) == (3, 4)
    assert tree.root() == root_at(3, source.hash_at)


def test_a_proof_is_for_one_size():
    """A path that ends below the root of the size that is claimed shows nothing, though its hashes are right."""
    two, three = root_at(2, source.hash_at), root_at(3, source.hash_at)
    assert verify_inclusion(LEAVES[0], 0, 2, [LEAVES[1]], two)
    for claimed in (3, 4, 5, 100):
        assert not verify_inclusion(LEAVES[0], 0, claimed, [LEAVES[1]], two)
    assert verify_consistency(2, 3, [LEAVES[2]], two, three)
    for claimed in (5, 8, 100):
        assert not verify_consistency(2, claimed, [LEAVES[2]], two, three)
