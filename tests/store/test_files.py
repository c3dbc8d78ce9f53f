"""Whole files: the old one or the new one, whatever stops the write, and never through a link."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from remit.store.files import put_in_place, stage, sweep, whole_file, write_whole


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_it_is_written_for_its_owner(tmp_path: Path):
    path = tmp_path / "a"
    write_whole(path, b"one")
    write_whole(path, b"two")
    assert (path.read_bytes(), mode_of(path), os.listdir(tmp_path)) == (b"two", 0o600, ["a"])


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o755])
def test_the_mode_that_was_there_stays(tmp_path: Path, mode: int):
    path = tmp_path / "a"
    path.touch()
    path.chmod(mode)
    write_whole(path, b"one", mode=None)
    assert (path.read_bytes(), mode_of(path)) == (b"one", mode)


def test_a_private_file_takes_no_mode_from_the_one_before(tmp_path: Path):
    path = tmp_path / "a"
    path.touch()
    path.chmod(0o644)
    write_whole(path, b"one")
    assert mode_of(path) == 0o600


@pytest.mark.parametrize("durable", [True, False])
@pytest.mark.parametrize("step", ["open", "fsync", "replace", "fdopen"])
def test_a_write_that_fails_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str, durable: bool
):
    path = tmp_path / "a"
    write_whole(path, b"old")
    if step == "fsync" and not durable:
        return

    def fail(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, step, fail)
    with pytest.raises(OSError, match="No space"):
        write_whole(path, b"new", durable=durable)
    monkeypatch.undo()
    assert (path.read_bytes(), os.listdir(tmp_path)) == (b"old", ["a"])


def test_a_block_that_fails_leaves_the_old_file(tmp_path: Path):
    path = tmp_path / "a"
    write_whole(path, b"old")
    with pytest.raises(TypeError), whole_file(path) as file:
        file.writelines([b"half", "no bytes"])  # type: ignore[list-item]
    assert (path.read_bytes(), os.listdir(tmp_path)) == (b"old", ["a"])


def _link(path: Path) -> None:
    path.symlink_to(path.with_name("target"))


def _loose_end(path: Path) -> None:
    path.symlink_to(path.with_name("nowhere"))


@pytest.mark.parametrize("make", [_link, _loose_end, Path.mkdir, os.mkfifo])
@pytest.mark.parametrize("write", [write_whole, stage])
def test_only_a_plain_file_has_an_owner_and_mode_to_keep(
    tmp_path: Path, make: Callable[[Path], None], write: Callable[..., object]
):
    (tmp_path / "target").write_bytes(b"target")
    make(tmp_path / "a")
    before = os.lstat(tmp_path / "a")
    with pytest.raises(OSError, match=r"symlink|not a plain file"):
        write(tmp_path / "a", b"new", mode=None)
    assert os.lstat(tmp_path / "a") == before
    assert (tmp_path / "target").read_bytes() == b"target"
    assert sorted(os.listdir(tmp_path)) == ["a", "target"]


@pytest.mark.parametrize("make", [_link, _loose_end])
def test_a_link_is_replaced_and_not_followed(tmp_path: Path, make: Callable[[Path], None]):
    (tmp_path / "target").write_bytes(b"target")
    make(tmp_path / "a")
    write_whole(tmp_path / "a", b"new")
    assert not (tmp_path / "a").is_symlink()
    assert ((tmp_path / "a").read_bytes(), (tmp_path / "target").read_bytes()) == (b"new", b"target")
    assert sorted(os.listdir(tmp_path)) == ["a", "target"]


def test_a_directory_is_left_alone(tmp_path: Path):
    (tmp_path / "a").mkdir()
    with pytest.raises(OSError, match="directory"):
        write_whole(tmp_path / "a", b"new")
    assert os.listdir(tmp_path) == ["a"]


def test_in_two_steps(tmp_path: Path):
    path = tmp_path / "a"
    write_whole(path, b"old")
    staged = stage(path, b"new")
    assert (path.read_bytes(), staged.read_bytes(), staged.parent) == (b"old", b"new", tmp_path)
    put_in_place(staged, path)
    assert (path.read_bytes(), os.listdir(tmp_path)) == (b"new", ["a"])


def test_what_a_killed_write_left_is_swept_and_nothing_else(tmp_path: Path):
    path = tmp_path / "a"
    left = stage(path, b"left")
    others = [tmp_path / name for name in ("a", "b", ".a-notes", ".b-0123456789abcdef", "a-0123456789abcdef")]
    for other in others:
        other.touch()
    sweep(path)
    assert not left.exists()
    assert all(other.exists() for other in others)
    sweep(tmp_path / "missing" / "a")


def test_the_longest_name_in_bytes(tmp_path):
    path = tmp_path / ("é" * 127)
    write_whole(path, b"x")
    assert path.read_bytes() == b"x"


@pytest.mark.parametrize("mode", [None, 0o600])
@pytest.mark.parametrize("write", [write_whole, stage])
def test_what_is_no_file_is_not_replaced(tmp_path: Path, write: Callable[..., object], mode: int | None):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="not a plain file"):
        write(tmp_path / "pipe", b"x", mode=mode)
    assert os.listdir(tmp_path) == ["pipe"]
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)
