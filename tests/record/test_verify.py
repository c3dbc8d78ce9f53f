"""The verifier: what it accepts, and that it names the first thing that is wrong, for every kind of wrong."""

from __future__ import annotations

import ast
import random
import shutil
import subprocess
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.record import verify
from remit.record.canonical import CanonicalError, decode, encode
from remit.record.checkpoint import Checkpoint
from remit.record.note import Signer, sign
from remit.record.tiles import write_tiles
from remit.record.tree import leaf_hash
from remit.record.verify import Report, Unusable, check_canonical, parse_keys, verify_export, verify_stream
from tests.record.logs import ORIGIN, OTHER, SIGNER, VKEY, WITNESS, b64, entries, export, note_at, note_over, root

KEYS = parse_keys([VKEY])
Row = tuple[Any, Any, Any]


def rows(size: int) -> list[Row]:
    return [(index, leaf_hash(body), body) for index, body in enumerate(entries(size))]


def found(report: Report) -> tuple[str, int | None, int | None]:
    assert report.problem is not None
    return report.problem.kind, report.problem.first, report.problem.last


# ── what is as it should be ──


@pytest.mark.parametrize("size", [0, 1, 2, 255, 256, 257, 512, 700])
def test_an_export_is_verified(size: int, tmp_path: Path):
    anchors = [note_at(part) for part in (0, 1, size // 2, size) if part <= size]
    report = verify_export(export(tmp_path, size), KEYS, anchors, entries=True)
    assert report == Report(size, 1, len(anchors), ORIGIN, root(entries(size)))


def test_a_long_export_is_verified_to_the_top_of_its_tiles(tmp_path: Path):
    bodies = tuple(b"%d" % index for index in range(66_000))
    write_tiles(tmp_path, bodies, note_over(bodies), durable=False)
    assert verify_export(tmp_path, KEYS, [note_over(bodies[:65_537])]).ok
    top = tmp_path / "tile/2/000.p/1"
    top.write_bytes(bytes(32))
    assert found(verify_export(tmp_path, KEYS)) == ("tile", 0, 65_535)
    top.write_bytes(bytes(64))
    assert found(verify_export(tmp_path, KEYS)) == ("tile", 0, 65_535)


@pytest.mark.parametrize("size", [0, 1, 255, 256, 257, 700])
def test_a_stream_is_verified(size: int):
    notes = [note_at(part) for part in range(0, size, 37)] + [note_at(size)]
    report = verify_stream(rows(size), notes, KEYS, [note_at(size // 2)], entries=True)
    assert report == Report(size, len(notes), 1, ORIGIN, root(entries(size)))


def test_entries_behind_the_last_checkpoint_are_counted():
    assert verify_stream(rows(300), [note_at(290)], KEYS).unsigned == 10
    assert verify_stream(rows(300), [], KEYS, [note_at(290)]).unsigned == 10
    assert verify_stream([], [], KEYS).ok
    assert found(verify_stream(rows(3), [], KEYS))[0] == "checkpoint-missing"
    assert found(verify_stream(rows(3), [note_at(0)], KEYS))[0] == "checkpoint-missing"


@pytest.mark.parametrize("step", [1, 3])
def test_every_batch_may_have_its_checkpoint(step: int):
    notes = [note_at(part) for part in range(0, 521, step)]
    assert verify_stream(rows(520), notes, KEYS).checkpoints == len(notes)


def test_either_of_two_keys_is_enough():
    notes = [note_over(entries(2), OTHER), note_at(3)]
    both = parse_keys([VKEY, OTHER.verifier.vkey])
    assert verify_stream(rows(3), notes, both).ok
    assert found(verify_stream(rows(3), notes, KEYS))[0] == "checkpoint-signature"


# ── a changed stream ──


def change(at: int, row: Callable[[Row], Row]) -> list[Row]:
    changed = rows(600)
    changed[at] = row(changed[at])
    return changed


@pytest.mark.parametrize("at", [0, 17, 255, 256, 599])
@pytest.mark.parametrize(
    ("kind", "row"),
    [
        ("entry-hash", lambda row: (row[0], row[1], row[2].replace(b"allow", b"block"))),
        ("entry-hash", lambda row: (row[0], bytes(32), row[2])),
        ("entry-hash", lambda row: (row[0], None, row[2])),
        ("entry-hash", lambda row: (row[0], row[1], None)),
        ("entry-hash", lambda row: (row[0], row[1], row[2].decode())),
        ("sequence-gap", lambda row: (row[0] + 1, row[1], row[2])),
        ("sequence-gap", lambda row: (str(row[0]), row[1], row[2])),
        ("sequence-gap", lambda row: (None, row[1], row[2])),
    ],
)
def test_the_bad_row_is_named(kind: str, row: Callable[[Row], Row], at: int):
    assert found(verify_stream(change(at, row), [note_at(600)], KEYS)) == (kind, at, at)


@pytest.mark.parametrize("at", [0, 255, 256, 400])
def test_a_missing_row_and_a_row_twice_are_named(at: int):
    there = rows(600)
    assert found(verify_stream(there[:at] + there[at + 1 :], [note_at(600)], KEYS)) == ("sequence-gap", at, at)
    assert found(verify_stream(there[: at + 1] + there[at:], [note_at(600)], KEYS)) == ("sequence-gap", at + 1, at + 1)


@pytest.mark.parametrize(("at", "between"), [(0, (0, 99)), (150, (100, 199)), (599, (500, 599))])
def test_a_row_rewritten_with_its_hash_lies_between_two_checkpoints(at: int, between: tuple[int, int]):
    changed = change(at, lambda row: (row[0], leaf_hash(b"{}"), b"{}"))
    notes = [note_at(size) for size in range(100, 601, 100)]
    assert found(verify_stream(changed, notes, KEYS)) == ("checkpoint-root", *between)


def test_two_rows_swapped_with_their_hashes():
    changed = rows(600)
    changed[7], changed[8] = (7, *changed[8][1:]), (8, *changed[7][1:])
    assert found(verify_stream(changed, [note_at(600)], KEYS)) == ("checkpoint-root", 0, 599)


def test_a_log_that_was_cut_or_rewritten_with_its_checkpoints():
    """Consistent in itself and signed with the right key: only the anchor shows it."""
    cut = rows(500)
    assert verify_stream(cut, [note_at(500)], KEYS).ok
    assert found(verify_stream(cut, [note_at(500)], KEYS, [note_at(600)])) == ("shorter-than-anchor", 500, 599)
    other = (*entries(300), b"{}", *entries(600)[301:])
    rewritten = [(index, leaf_hash(body), body) for index, body in enumerate(other)]
    notes = [note_over(other)]
    assert verify_stream(rewritten, notes, KEYS).ok
    kept = [note_at(200), note_at(350)]
    assert found(verify_stream(rewritten, notes, KEYS, kept)) == ("not-an-extension", 200, 349)


def test_checkpoints_that_are_wrong():
    there = rows(600)
    assert found(verify_stream(there[:550], [note_at(500), note_at(600)], KEYS)) == (
        "shorter-than-checkpoint",
        550,
        599,
    )
    assert found(verify_stream(there, [note_at(500), note_at(400)], KEYS))[0] == "not-an-extension"
    assert found(verify_stream(there, ["nonsense"], KEYS))[0] == "checkpoint-malformed"
    assert found(verify_stream(there, [note_at(600).replace("600", "601")], KEYS))[0] == "checkpoint-signature"
    assert found(verify_stream(there, [note_over(entries(600), OTHER)], KEYS))[0] == "checkpoint-signature"
    assert found(verify_stream(there, [note_at(600)], KEYS, ["nonsense"]))[0] == "anchor-malformed"
    assert found(verify_stream(there, [note_at(600)], KEYS, [note_over(entries(9), OTHER)]))[0] == "anchor-signature"
    wrong = Checkpoint(ORIGIN, 600, bytes(32)).sign(SIGNER)
    assert found(verify_stream(there, [note_at(600), wrong], KEYS)) == ("checkpoint-root", 600, 599)


def test_a_checkpoint_of_another_log():
    other = Signer("other.example", SIGNER.private_key)
    note = Checkpoint(other.name, 3, root(entries(3))).sign(other)
    keys = parse_keys([VKEY, other.verifier.vkey])
    assert verify_stream(rows(3), [note], keys).ok
    borrowed = sign(Checkpoint(ORIGIN, 3, root(entries(3))).text, other)
    assert found(verify_stream(rows(3), [borrowed], keys))[0] == "checkpoint-signature"
    assert found(verify_stream(rows(5), [note, note_at(5)], keys))[0] == "other-log"


# ── a changed export ──


@pytest.mark.parametrize("at", [0, 100, 255, 256, 599])
def test_the_changed_entry_of_an_export_is_named(at: int, tmp_path: Path):
    export(tmp_path, 600)
    path = tmp_path / verify._path("entries", at // 256, min(256, 600 - at // 256 * 256))
    data = path.read_bytes()
    path.write_bytes(data.replace(entries(600)[at], entries(600)[at].replace(b"allow", b"block")))
    assert found(verify_export(tmp_path, KEYS)) == ("entry-hash", at, at)
    path.write_bytes(data)
    assert verify_export(tmp_path, KEYS).ok


def test_what_can_happen_to_a_bundle(tmp_path: Path):
    export(tmp_path, 600)
    path = tmp_path / "tile/entries/001"
    data = path.read_bytes()
    length = len(data) // 256
    for changed, first in (
        (data + b"\x00", 511),
        (data + b"\x00\x00", 511),
        (data[:-1], 511),
        (b"", 256),
        (b"\x00", 256),
        (b"\x00\x00" * 10_000, 256),
        (b"\xff\xff" + data[2:], 256),
        (data[: 3 * length] + data[4 * length :], 259),
    ):
        path.write_bytes(changed)
        assert found(verify_export(tmp_path, KEYS)) == ("entry-hash", first, first)
    path.unlink()
    assert found(verify_export(tmp_path, KEYS))[0] == "missing"
    path.mkdir()
    assert found(verify_export(tmp_path, KEYS))[0] == "missing"


def test_entries_rewritten_with_their_tiles(tmp_path: Path):
    """Whoever can write the folder but not sign: the checkpoint no longer fits."""
    changed = (*entries(300), b"{}", *entries(600)[301:])
    write_tiles(tmp_path, changed, note_over(changed), durable=False)
    (tmp_path / "checkpoint").write_text(note_at(600), "utf-8")
    assert found(verify_export(tmp_path, KEYS)) == ("checkpoint-root", 0, 599)
    assert found(verify_export(tmp_path, KEYS, [note_at(256)])) == ("checkpoint-root", 256, 599)


def test_an_export_that_was_cut(tmp_path: Path):
    export(tmp_path, 500)
    assert verify_export(tmp_path, KEYS).ok
    assert found(verify_export(tmp_path, KEYS, [note_at(600)])) == ("shorter-than-anchor", 500, 599)


def test_any_bit_of_any_file_counts(tmp_path: Path):
    """400 random bits of an export of 300 entries: each is found."""
    export(tmp_path, 300)
    files = sorted(path for path in tmp_path.rglob("*") if path.is_file())
    chance = random.Random(7)  # noqa: S311 - which bits is a matter of variety, not of secrecy
    for _ in range(400):
        path = chance.choice(files)
        data = path.read_bytes()
        place, bit = chance.randrange(len(data)), chance.randrange(8)
        path.write_bytes(data[:place] + bytes([data[place] ^ 1 << bit]) + data[place + 1 :])
        assert not verify_export(tmp_path, KEYS).ok, (path, place, bit)
        path.write_bytes(data)
    assert verify_export(tmp_path, KEYS).ok


# ── entries ──


@pytest.mark.parametrize(
    "body",
    [
        *[b"", b"[]", b"1", b'{"a":1.0}', b'{"a":1,"a":1}', b'{"b":1,"a":1}', b'{"a": 1}', b'{"a":NaN}', b'{"a":-0}'],
        *[
            b'{"a":9007199254740992}',
            b'{"a":"\\ud800"}',
            b'{"a":"\xff"}',
            b'{"a":' + b"[" * 60_000,
            b"{}\n",
            b'{"a":01}',
        ],
    ],
)
def test_entries_that_are_not_canonical_are_named_when_asked(body: bytes, tmp_path: Path):
    bodies = (*entries(300), body)
    write_tiles(tmp_path, bodies, note_over(bodies), durable=False)
    assert verify_export(tmp_path, KEYS).ok
    assert found(verify_export(tmp_path, KEYS, entries=True)) == ("not-canonical", 300, 300)
    stream = [(index, leaf_hash(one), one) for index, one in enumerate(bodies)]
    assert found(verify_stream(stream, [note_over(bodies)], KEYS, entries=True)) == ("not-canonical", 300, 300)


keys = st.text(st.sampled_from("ab\x00\x7fé\ue000\uffff\U00010000"), max_size=3)
values: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner) | st.dictionaries(keys, inner),
    max_leaves=6,
)


@given(st.dictionaries(keys, values), st.data())
def test_the_verifier_and_the_writer_agree_on_what_is_canonical(value: dict[str, Any], data: st.DataObject):
    body = encode(value)
    check_canonical([body], 0)
    at = data.draw(st.integers(0, len(body)))
    piece = data.draw(
        st.sampled_from([b"", b" ", b"0", b",", b'"', b"\\u0000", b"-", b"1.5", b"{}"]) | st.binary(max_size=2)
    )
    changed = body[:at] + piece + body[at + data.draw(st.integers(0, 2)) :]
    try:
        theirs = isinstance(decode(changed), dict)
    except CanonicalError:
        theirs = False
    try:
        check_canonical([changed], 0)
        ours = True
    except verify.Problem:
        ours = False
    assert ours == theirs


# ── hostile inputs ──


@given(st.binary(max_size=300) | st.text(max_size=200))
def test_a_random_checkpoint_is_a_problem_and_nothing_else(note: bytes | str):
    assert not verify_stream([], [note], KEYS).ok


@given(st.data())
def test_a_changed_checkpoint_is_a_problem_or_the_same(data: st.DataObject):
    note = note_at(3)
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(note)))
        piece = data.draw(st.sampled_from(["\n", "\n\n", "— ", "=", "\ud800", "9" * 30, " "]) | st.text(max_size=3))
        note = note[:at] + piece + note[at + data.draw(st.integers(0, 30)) :]
    report = verify_stream(rows(3), [note], KEYS)
    assert not report.ok or report.root == root(entries(3))


@pytest.mark.parametrize(
    "vkey",
    ["", "a", "a+b+c", VKEY[:-1], VKEY + "A", "x" + VKEY, VKEY.replace("+", "-"), WITNESS.verifier.vkey, "\ud800+a+b"],
)
def test_what_is_not_a_key(vkey: str):
    with pytest.raises(Unusable):
        parse_keys([vkey])


# ── cost and independence ──


def test_memory_does_not_grow_with_the_log():
    def endless(size: int) -> Iterator[Row]:
        for index in range(size):
            body = b'{"n":%d}' % index
            yield index, sha256(b"\x00" + body).digest(), body

    def peak(size: int) -> int:
        tracemalloc.start()
        report = verify_stream(endless(size), [], KEYS)
        assert report.problem is not None
        assert report.problem.kind == "checkpoint-missing"
        highest = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return highest

    peak(1000)
    assert peak(40_000) < peak(4_000) + 20_000


def test_it_stands_alone():
    source = Path(verify.__file__).read_text("utf-8")
    names = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            names.add(str(node.module).partition(".")[0])
    assert names - sys.stdlib_module_names == {"cryptography"}


def run(*arguments: str | Path, program: str | Path = "") -> tuple[int, str, str]:
    start = [program] if program else ["-m", "remit.record.verify"]
    ran = subprocess.run([sys.executable, *start, *arguments], capture_output=True, text=True, timeout=60)
    return ran.returncode, ran.stdout, ran.stderr


def test_the_program(tmp_path: Path):
    folder = export(tmp_path / "export", 300)
    anchor, receipt = tmp_path / "anchor", tmp_path / "receipt"
    anchor.write_text(note_at(200), "utf-8")
    receipt.write_text("nonsense")
    code, out, err = run(folder, "--key", VKEY, "--anchor", anchor, "--entries")
    assert (code, err) == (0, "")
    assert out == f"verified: {ORIGIN}, 300 entries, root {b64(root(entries(300)))}\n"
    code, out, _ = run(folder, "--key", VKEY)
    assert code == 0
    assert "no anchor" in out
    code, out, _ = run(receipt, "--key", VKEY)
    assert (code, out) == (1, "NOT VERIFIED (proof-malformed): not a receipt with an entry (tlog-proof@v1)\n")
    for arguments in (
        (folder, "--key", "nonsense"),
        (tmp_path / "nowhere", "--key", VKEY),
        (tmp_path, "--key", VKEY),
        (folder, "--key", VKEY, "--anchor", tmp_path / "nowhere"),
        (receipt, "--key", VKEY, "--anchor", anchor),
        (folder,),
    ):
        code, out, err = run(*arguments)
        assert (code, out) == (2, "")
        assert err
        assert "Traceback" not in err


def test_a_copy_of_the_one_file_is_enough(tmp_path: Path):
    folder = export(tmp_path / "export", 300)
    alone = shutil.copy(verify.__file__, tmp_path / "v.py")
    assert run(folder, "--key", VKEY, program=alone)[0] == 0
    (folder / "tile/0/000").write_bytes(bytes(8192))
    code, out, _ = run(folder, "--key", VKEY, program=alone)
    assert code == 1
    assert out == "NOT VERIFIED (entry-hash): entry 0 does not have the hash that is stored for it\n"
