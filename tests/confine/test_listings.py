"""A walk that remembers finds what one finds that remembers nothing, whatever happened in between."""

from __future__ import annotations

import os
import random
import shutil
import time
from pathlib import Path
from typing import Any

import pytest

from remit.confine import listings
from remit.confine.bounds import Bounds
from remit.confine.inventory import inventory
from remit.confine.look import look
from remit.confine.protected import Protected
from tests.confine.populated import populate, profile

NAMES = ("a", "b", "HEAD", "refs", "objects", ".claude", "AGENTS.md", ".git", "x.lock")


def found(root: Path) -> tuple[dict[str, Any], Any]:
    chosen = profile()
    seen = look(Bounds(chosen), root)
    for each in (seen.write, seen.keep, seen.hide):
        each.sort()
    return vars(inventory(str(root), Protected(chosen))), seen


def change(root: Path, chance: random.Random) -> None:
    """One thing that a command or a person does."""
    folders = [Path(here) for here, _, _ in os.walk(root / "docs")]
    folder, other = chance.choice(folders), chance.choice(folders)
    at, to = folder / chance.choice(NAMES), other / chance.choice(NAMES)
    try:
        match chance.randrange(7):
            case 0:
                at.mkdir()
            case 1:
                at.write_text("x")
            case 2:
                at.symlink_to(chance.choice(("../.claude", "nowhere", "/etc")))
            case 3:
                at.rename(to)
            case 4:
                shutil.rmtree(at)
            case 5:
                at.unlink()
            case _:
                os.utime(folder, (1, 1))
    except OSError:
        pass  # it can't be done here


@pytest.mark.parametrize("seed", range(3))
def test_nothing_is_missed(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(listings, "SLACK", 50_000_000)
    chance = random.Random(seed)  # noqa: S311 (nothing secret)
    root = populate(tmp_path / "project")
    for number in range(12):
        for _ in range(chance.randrange(4)):
            change(root, chance)
        if number % 4 == 3:
            time.sleep(0.07)  # so that something is remembered
        remembered = found(root)
        listings._kept.clear()
        assert remembered == found(root)


def test_what_has_just_changed_is_not_remembered(tmp_path: Path):
    """Within one tick a directory changes without any sign."""
    (tmp_path / "new").mkdir()
    walk: listings.Walk[str] = listings.Walk(("test", str(tmp_path)))
    walk.keep("new", os.stat(tmp_path / "new"), "empty")
    walk.keep("/", os.stat("/"), "old")
    walk.done()
    again: listings.Walk[str] = listings.Walk(("test", str(tmp_path)))
    assert again.known("new", os.stat(tmp_path / "new")) is None
    assert again.known("/", os.stat("/")) == "old"


def test_files_are_not_listed_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(listings, "SLACK", 0)
    root = populate(tmp_path / "project")
    time.sleep(0.05)
    found(root)
    listed: list[str] = []
    scandir = os.scandir

    def noted(path: str) -> Any:
        listed.append(path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", noted)
    found(root)
    assert not [path for path in listed if "/src" in path or "/docs" in path]


def test_only_the_last_walks_are_kept():
    for number in range(listings.MOST + 3):
        listings.Walk(("test", number)).done()
    assert len(listings._kept) <= listings.MOST
