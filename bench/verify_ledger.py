"""What verifying an exported ledger costs, in multiples of bare SHA-256 passes over the same entries.

    python -m bench.verify_ledger [ENTRIES] [BYTES]

Two floors: one hash over all entries as one text, and one hash for each entry (what any Merkle log needs at least,
before its tree). CPU time; each the best of three, one after the other. Memory is the highest that was resident.
"""

from __future__ import annotations

import os
import resource
import sys
import tempfile
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from time import process_time

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from remit.record.canonical import encode
from remit.record.checkpoint import Checkpoint
from remit.record.note import Signer
from remit.record.tiles import read_tiles, write_tiles
from remit.record.tree import CompactRange, leaf_hash
from remit.record.verify import parse_keys, verify_export, verify_stream


def entries(count: int, size: int) -> Iterator[bytes]:
    """Canonical JSON objects of about that many bytes, each another one."""
    frame = len(encode({"args": "", "kind": "intent", "seq": count, "tool": "read_file"}))
    for seq in range(count):
        args = sha256(seq.to_bytes(8)).hexdigest() * (size // 64 + 1)
        yield encode({"args": args[: max(size - frame, 0)], "kind": "intent", "seq": seq, "tool": "read_file"})


def best(run: Callable[[], object]) -> float:
    times = []
    for _ in range(3):
        start = process_time()
        run()
        times.append(process_time() - start)
    return min(times)


def rows(folder: Path) -> Iterator[tuple[int, bytes, bytes]]:
    tiles = read_tiles(folder)
    seq = 0
    for index in range(-(-tiles.size // 256)):
        row = tiles.tile(0, index)
        for place, body in enumerate(tiles.bundle(index)):
            yield seq, row[32 * place : 32 * place + 32], body
            seq += 1


def memory() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main(count: int = 1_000_000, size: int = 300) -> None:
    signer = Signer("bench.example/ledger", Ed25519PrivateKey.generate())
    keys = parse_keys([signer.verifier.vkey])
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "export"
        tree = CompactRange()
        tree.extend(map(leaf_hash, entries(count, size)))
        note = Checkpoint(signer.name, count, tree.root()).sign(signer)
        before = memory()
        start = process_time()
        write_tiles(folder, entries(count, size), note, durable=False)
        print(f"export of {count} entries of {size} bytes: {process_time() - start:.2f} s, +{memory() - before:.0f} MB")
        before = memory()

        def export(check: bool = False) -> None:
            report = verify_export(folder, keys, entries=check)
            assert report.ok, report
            assert report.size == count

        def stream() -> None:
            assert verify_stream(rows(folder), [note], keys).ok

        costs = {"export": best(export), "export with --entries": best(lambda: export(True)), "stream": best(stream)}
        costs["reading the rows that the stream is given"] = best(lambda: [None for _ in rows(folder)])
        grown = memory() - before
        bodies = list(read_tiles(folder).entries())
    joined = b"".join(bodies)
    whole = best(lambda: sha256(joined).digest())
    each = best(lambda: [sha256(body).digest() for body in bodies])
    print(
        f"floors: one hash over all {whole:.2f} s, one hash for each {each:.2f} s; memory of verifying +{grown:.0f} MB"
    )
    for what, cost in costs.items():
        print(f"{what}: {cost:.2f} s = {cost / whole:.1f} × one hash over all, {cost / each:.1f} × one for each")
    print(f"load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
