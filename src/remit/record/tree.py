"""The ledger's Merkle tree (RFC 6962, SHA-256): its root, and short proofs that an entry or an older tree is in it.

A subtree is named `(level, index)`: the complete tree over the leaves from `index · 2^level` up to, not including,
`(index + 1) · 2^level`. Level 0 is the leaves' own hashes. Proofs are made from such hashes, wherever they are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, MutableMapping, Sequence

from remit.model.digest import lean_sha256, quickest, sha256
from remit.record.errors import LedgerError

HASH_SIZE = 32
MAX_SIZE = 2**63 - 1
EMPTY_ROOT = sha256(b"").digest()

HashAt = Callable[[int, int], bytes]
"""Gives the hash of the complete subtree `(level, index)`."""


class TreeError(LedgerError):
    """A question that the tree can't answer: an index outside it, or stored hashes that don't fit its size."""

    code = "bad-tree"


def leaf_hash(entry: bytes) -> bytes:
    return sha256(b"\x00" + entry).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    return lean_sha256(b"\x01" + left + right).digest()


def combine(hashes: Sequence[bytes]) -> bytes:
    """The root over a complete row: 1, 2, 4, 8, … hashes."""
    row = list(hashes)
    if not row or len(row) & (len(row) - 1):
        raise TreeError(f"{len(row)} hashes are not a complete row")
    while len(row) > 1:
        pairs = iter(row)
        row = [lean_sha256(b"\x01" + left + right).digest() for left, right in zip(pairs, pairs, strict=True)]
    return row[0]


class CompactRange:
    """All that is needed to go on appending: the roots of the complete subtrees that make up the tree, left to right.

    As many as `size` has ones in binary, the largest first: for 10⁶ leaves, 7 hashes.
    """

    __slots__ = ("hashes", "size")

    def __init__(self, size: int = 0, hashes: Iterable[bytes] = ()) -> None:
        self.size = size
        self.hashes = list(hashes)
        if not 0 <= size <= MAX_SIZE:
            raise TreeError(f"no tree has the size {size}")
        if len(self.hashes) != size.bit_count() or any(len(part) != HASH_SIZE for part in self.hashes):
            raise TreeError(f"a tree of size {size} rests on {size.bit_count()} hashes of {HASH_SIZE} bytes")

    def append(self, leaf: bytes) -> None:
        self.extend((leaf,))

    def extend(self, leaves: Iterable[bytes]) -> None:
        """Appends leaf hashes in order."""
        hashes, size, new = self.hashes, self.size, quickest()
        for part in leaves:
            full = size
            while full & 1:
                part = new(b"\x01" + hashes.pop() + part).digest()
                full >>= 1
            hashes.append(part)
            size += 1
        self.size = size

    def root(self) -> bytes:
        if not self.hashes:
            return EMPTY_ROOT
        return _fold(self.hashes)

    def copy(self) -> CompactRange:
        found = CompactRange.__new__(CompactRange)  # it was checked when it was made
        found.size, found.hashes = self.size, self.hashes.copy()
        return found

    def to_bytes(self) -> bytes:
        return b"".join(self.hashes)

    @classmethod
    def from_bytes(cls, size: int, data: bytes) -> CompactRange:
        """Raises TreeError unless `data` is what a tree of that size is stored as."""
        if len(data) % HASH_SIZE:
            raise TreeError("not a whole number of hashes")
        return cls(size, (data[at : at + HASH_SIZE] for at in range(0, len(data), HASH_SIZE)))


class HashSource:
    """Subtree hashes from leaf hashes, which `read_leaves(start, count)` gives.

    `known` remembers the roots of whole tiles (256, 256², … leaves). While it is empty, the first proof reads every
    leaf; with it, a proof reads a few hundred. A ledger of 10⁶ entries fills it with 3,921 hashes. It may be a mapping
    that keeps them on disk.
    """

    def __init__(
        self,
        read_leaves: Callable[[int, int], Sequence[bytes]],
        known: MutableMapping[tuple[int, int], bytes] | None = None,
    ) -> None:
        self._read_leaves = read_leaves
        self._known = {} if known is None else known

    def hash_at(self, level: int, index: int) -> bytes:
        rows, within = divmod(level, 8)
        return combine(self._row(rows, index << within, 1 << within))

    def _row(self, rows: int, start: int, count: int) -> Sequence[bytes]:
        if rows:
            return [self._tile_root(rows, index) for index in range(start, start + count)]
        leaves = self._read_leaves(start, count)
        if len(leaves) != count:
            raise TreeError(f"leaves {start} to {start + count - 1} are not all there")
        return leaves

    def _tile_root(self, rows: int, index: int) -> bytes:
        found = self._known.get((8 * rows, index))
        if found is None:
            found = combine(self._row(rows - 1, index << 8, 256))
            self._known[8 * rows, index] = found
        return found


def root_at(size: int, hash_at: HashAt) -> bytes:
    """The root that the tree had at an earlier size, or has now."""
    return _range_hash(0, size, hash_at) if size else EMPTY_ROOT


def inclusion_proof(index: int, size: int, hash_at: HashAt) -> list[bytes]:
    """The hashes that lead from leaf `index` to the root of the tree of that size, from the bottom up."""
    if not 0 <= index < size <= MAX_SIZE:
        raise TreeError(f"no entry {index} in a tree of size {size}")
    proof: list[bytes] = []
    start, end = 0, size
    while end - start > 1:
        middle = start + _split(end - start)
        if index < middle:
            proof.append(_range_hash(middle, end, hash_at))
            end = middle
        else:
            proof.append(_range_hash(start, middle, hash_at))
            start = middle
    proof.reverse()
    return proof


def consistency_proof(old: int, new: int, hash_at: HashAt) -> list[bytes]:
    """The hashes that show that the tree of size `new` goes on from the one of size `old`."""
    if not 0 <= old <= new <= MAX_SIZE:
        raise TreeError(f"a tree of size {new} does not go on from one of size {old}")
    if old in {0, new}:
        return []
    proof: list[bytes] = []
    start, end = 0, new
    while old < end:
        middle = start + _split(end - start)
        if old <= middle:
            proof.append(_range_hash(middle, end, hash_at))
            end = middle
        else:
            proof.append(_range_hash(start, middle, hash_at))
            start = middle
    if start:  # with start 0 this is the old tree itself, whose root the verifier has
        proof.append(_range_hash(start, end, hash_at))
    proof.reverse()
    return proof


def verify_inclusion(leaf: bytes, index: int, size: int, proof: Sequence[bytes], root: bytes) -> bool:
    """Whether the proof shows that `leaf` (a leaf hash) is number `index` below `root`."""
    if not 0 <= index < size <= MAX_SIZE or not _are_hashes([leaf, root, *proof]):
        return False
    at, last, found = index, size - 1, leaf
    for sibling in proof:
        if not last:
            return False
        if at & 1 or at == last:
            found = node_hash(sibling, found)
            while at and not at & 1:
                at, last = at >> 1, last >> 1
        else:
            found = node_hash(found, sibling)
        at, last = at >> 1, last >> 1
    return not last and found == root


def verify_consistency(old: int, new: int, proof: Sequence[bytes], old_root: bytes, new_root: bytes) -> bool:
    """Whether the proof shows that all below `old_root` is, unchanged, the beginning of what is below `new_root`."""
    if not 0 <= old <= new <= MAX_SIZE or not _are_hashes([old_root, new_root, *proof]):
        return False
    if old == new:
        return not proof and old_root == new_root and (old > 0 or old_root == EMPTY_ROOT)
    if not old:
        return not proof and old_root == EMPTY_ROOT
    path = [old_root, *proof] if old & (old - 1) == 0 else list(proof)
    if not path:
        return False
    at, last = old - 1, new - 1
    while at & 1:
        at, last = at >> 1, last >> 1
    older = newer = path[0]
    for sibling in path[1:]:
        if not last:
            return False
        if at & 1 or at == last:
            older, newer = node_hash(sibling, older), node_hash(sibling, newer)
            while at and not at & 1:
                at, last = at >> 1, last >> 1
        else:
            newer = node_hash(newer, sibling)
        at, last = at >> 1, last >> 1
    return not last and older == old_root and newer == new_root


def _are_hashes(values: Sequence[bytes]) -> bool:
    return len(values) <= 2 + 64 and all(len(value) == HASH_SIZE for value in values)


def _split(count: int) -> int:
    """The largest power of two below `count`: where RFC 6962 parts a tree."""
    return 1 << (count - 1).bit_length() - 1


def _range_hash(start: int, end: int, hash_at: HashAt) -> bytes:
    parts: list[bytes] = []
    while start < end:
        level = (end - start).bit_length() - 1
        parts.append(hash_at(level, start >> level))
        start += 1 << level
    return _fold(parts)


def _fold(parts: Sequence[bytes]) -> bytes:
    found = parts[-1]
    for at in range(len(parts) - 2, -1, -1):
        found = lean_sha256(b"\x01" + parts[at] + found).digest()
    return found
