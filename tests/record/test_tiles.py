"""Exports: read by a reader that knows only the specification, interrupted, repeated, continued, and damaged."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.record import tiles
from remit.record.tiles import (
    MAX_ENTRY,
    TilesError,
    bundle_path,
    decode_bundle,
    encode_bundle,
    read_tiles,
    tile_path,
    write_tiles,
)
from remit.record.tree import HashSource, inclusion_proof, leaf_hash, root_at, verify_inclusion
from remit.store.files import write_whole
from tests.record.logs import VKEY, entries, export, note_at, note_over
from tests.record.spec_reader import Wrong, check_export


def test_paths():
    assert tile_path(0, 0) == "tile/0/000"
    assert tile_path(0, 1234067) == "tile/0/x001/x234/067"
    assert tile_path(2, 0, 1) == "tile/2/000.p/1"
    assert tile_path(63, 999, 255) == "tile/63/999.p/255"
    assert bundle_path(1000) == "tile/entries/x001/000"
    assert bundle_path(273, 112) == "tile/entries/273.p/112"
    for level, index, width in ((-1, 0, 1), (64, 0, 1), (0, -1, 1), (0, 0, 0), (0, 0, 257)):
        with pytest.raises(TilesError):
            tile_path(level, index, width)


@pytest.mark.parametrize("size", [0, 1, 2, 255, 256, 257, 511, 512, 513, 1000])
def test_a_stranger_reads_an_export(size: int, tmp_path: Path):
    assert check_export(export(tmp_path, size), VKEY) == list(entries(size))
    opened = read_tiles(tmp_path)
    assert list(opened.entries()) == list(entries(size))
    assert list(opened.entries(size // 2)) == list(entries(size)[size // 2 :])
    assert opened.note == note_at(size)


def test_seventy_thousand_entries_are_the_specification_s_example(tmp_path: Path):
    size = 70_000
    bodies = tuple(b"%d" % index for index in range(size))
    progress: list[int] = []
    write_tiles(tmp_path, iter(bodies), note_over(bodies), progress=progress.append, durable=False)
    files = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()}
    full = {f"tile/0/{index:03}" for index in range(273)} | {f"tile/entries/{index:03}" for index in range(273)}
    rest = {"tile/0/273.p/112", "tile/entries/273.p/112", "tile/1/000", "tile/1/001.p/17", "tile/2/000.p/1"}
    assert files == full | rest | {"checkpoint"}
    assert progress == [*range(256, size, 256), size]
    assert check_export(tmp_path, VKEY) == list(bodies)
    opened = read_tiles(tmp_path)
    leaves = [leaf_hash(body) for body in bodies]
    source = HashSource(lambda start, count: leaves[start : start + count])
    for part in (1, 256, 65_536, 69_999, size):
        assert root_at(part, opened.hash_at) == root_at(part, source.hash_at)
    for index in (0, 12_345, 65_535, 65_536, 69_999):
        proof = inclusion_proof(index, size, opened.hash_at)
        assert verify_inclusion(leaves[index], index, size, proof, opened.checkpoint.root)


def test_the_stranger_finds_what_is_wrong(tmp_path: Path):
    export(tmp_path, 300)
    bundle = tmp_path / "tile/entries/000"
    bundle.write_bytes(bundle.read_bytes().replace(b"allow", b"ALLOW", 1))
    with pytest.raises(Wrong):
        check_export(tmp_path, VKEY)


def test_an_export_goes_on_where_an_older_one_ended(tmp_path: Path):
    export(tmp_path, 300)
    before = {path: path.stat().st_ino for path in tmp_path.rglob("*") if path.is_file()}
    export(tmp_path, 300)
    after = {path: path.stat().st_ino for path in tmp_path.rglob("*") if path.is_file()}
    assert {path for path in before if before[path] != after[path]} == {tmp_path / "checkpoint"}
    export(tmp_path, 600)
    assert (tmp_path / "tile/0/001.p/44").exists()
    for partial in ("tile/0/001.p/44", "tile/entries/001.p/44", "tile/1/000.p/1"):
        (tmp_path / partial).unlink()
    assert check_export(tmp_path, VKEY) == list(entries(600))


@pytest.mark.parametrize("stop", [0, 1, 2, 3, 5, 7, 8])
def test_interrupted_anywhere_it_leaves_whole_files_and_is_repeated(
    stop: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """The disk is full at the n-th file: no checkpoint, no half file; the next run completes it."""
    written = 0
    whole = {path.relative_to(tmp_path / "whole"): path.read_bytes() for path in files(export(tmp_path / "whole", 800))}

    def write(path: Path, data: bytes, *, mode: int | None, durable: bool) -> None:
        nonlocal written
        if written == stop:
            raise OSError(28, "No space left on device")
        written += 1
        write_whole(path, data, mode=mode, durable=durable)

    monkeypatch.setattr(tiles, "write_whole", write)
    with pytest.raises(TilesError, match="No space"):
        export(tmp_path / "part", 800)
    monkeypatch.undo()
    for path in files(tmp_path / "part"):
        assert path.read_bytes() == whole[path.relative_to(tmp_path / "part")]
    assert not (tmp_path / "part/checkpoint").exists()
    export(tmp_path / "part", 800)
    assert check_export(tmp_path / "part", VKEY) == list(entries(800))


def files(folder: Path) -> Iterator[Path]:
    return (path for path in folder.rglob("*") if path.is_file())


def test_a_write_that_fails_leaves_nothing_beside(tmp_path: Path):
    (tmp_path / "tile").write_text("in the way")
    with pytest.raises(TilesError, match="can't write"):
        export(tmp_path, 3)
    assert [path.name for path in tmp_path.iterdir()] == ["tile"]


def test_an_unfinished_export_is_repaired_and_a_finished_one_is_left_alone(tmp_path: Path):
    export(tmp_path, 300)
    bundle = tmp_path / "tile/entries/000"
    good = bundle.read_bytes()
    bundle.write_bytes(b"")
    with pytest.raises(TilesError, match="another log, or was changed"):
        export(tmp_path, 300)
    (tmp_path / "checkpoint").unlink()
    export(tmp_path, 300)
    assert bundle.read_bytes() == good


def test_another_log_is_not_written_over(tmp_path: Path):
    export(tmp_path, 300)
    with pytest.raises(TilesError, match="with 300 entries"):
        export(tmp_path, 200)
    changed = (b"{}", *entries(300)[1:])
    with pytest.raises(TilesError, match="another log"):
        write_tiles(tmp_path, changed, note_over(changed), durable=False)
    longer = (*changed, b"{}")
    with pytest.raises(TilesError, match="another log"):
        write_tiles(tmp_path, longer, note_over(longer), durable=False)
    assert check_export(tmp_path, VKEY) == list(entries(300))


@pytest.mark.parametrize("given", [entries(9), entries(11), (*entries(9), b"{}")])
def test_entries_that_were_not_signed_for_get_no_checkpoint(given: tuple[bytes, ...], tmp_path: Path):
    with pytest.raises(TilesError):
        write_tiles(tmp_path, given, note_at(10), durable=False)
    assert not (tmp_path / "checkpoint").exists()


def test_an_entry_has_a_largest_size(tmp_path: Path):
    big = (b"x" * MAX_ENTRY,)
    write_tiles(tmp_path, big, note_over(big).encode())
    assert check_export(tmp_path, VKEY) == list(big)
    with pytest.raises(TilesError, match="65535 is the most"):
        encode_bundle([b"x" * (MAX_ENTRY + 1)])


@pytest.mark.parametrize("note", ["", "not a note", "a\nb\nc\n\n— x AAAAAAAA\n"])
def test_a_checkpoint_that_is_none(note: str, tmp_path: Path):
    with pytest.raises(TilesError):
        write_tiles(tmp_path, [], note, durable=False)
    (tmp_path / "checkpoint").write_text(note)
    with pytest.raises(TilesError):
        read_tiles(tmp_path)


def test_what_is_not_there_is_said(tmp_path: Path):
    with pytest.raises(TilesError, match="no checkpoint"):
        read_tiles(tmp_path)
    opened = read_tiles(export(tmp_path, 300))
    for level, index in ((0, 2), (1, 1), (2, 0), (0, -1)):
        with pytest.raises(TilesError):
            opened.tile(level, index)
    with pytest.raises(TilesError):
        opened.hash_at(0, 300)
    with pytest.raises(TilesError):
        opened.hash_at(8, 1)
    (tmp_path / "tile/0/000").write_bytes(b"short")
    with pytest.raises(TilesError, match="exactly 256"):
        opened.tile(0, 0)
    (tmp_path / "tile/entries/001.p/44").unlink()
    with pytest.raises(TilesError, match="can't read"):
        list(opened.entries())


@given(st.lists(st.binary(max_size=40), min_size=1, max_size=8), st.data())
def test_changed_bundles_are_refused_or_come_back(bodies: list[bytes], data: st.DataObject):
    whole = encode_bundle(bodies)
    assert decode_bundle(whole, len(bodies)) == bodies
    at = data.draw(st.integers(0, len(whole)))
    changed = whole[:at] + data.draw(st.binary(max_size=4)) + whole[at + data.draw(st.integers(0, 4)) :]
    try:
        found = decode_bundle(changed, len(bodies))
    except TilesError:
        return
    assert len(found) == len(bodies)
    assert encode_bundle(found) == changed


def test_a_bundle_is_on_disk_before_the_next_entry_is_asked_for(tmp_path: Path):
    """So no more than one bundle is ever held, however long the log."""

    def watched() -> Iterator[bytes]:
        for index, body in enumerate(entries(2000)):
            if index and index % 256 == 0:
                assert (tmp_path / bundle_path(index // 256 - 1)).exists()
                assert (tmp_path / tile_path(0, index // 256 - 1)).exists()
            yield body

    write_tiles(tmp_path, watched(), note_at(2000), durable=False)
    assert check_export(tmp_path, VKEY) == list(entries(2000))
