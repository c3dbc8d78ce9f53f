"""A look before a run that was written down finds the same as one that was not."""

from __future__ import annotations

import os
from pathlib import Path

from remit.confine.kept import read, written
from remit.confine.sweep import Before
from tests.confine.populated import git, place, populate, profile


def test_what_was_written_down_is_what_was_seen(tmp_path: Path):
    root = populate(tmp_path / "project")
    os.symlink("nowhere", os.fsencode(root) + b"/odd-\xff-link")
    before = Before.take(profile(), place(root))
    again = read(profile(), place(root), written(before))
    for name in ("profile", "place", "root", "modes", "took", "contents", "above", "work_trees"):
        assert getattr(again, name) == getattr(before, name), name
    assert vars(again.seen) == vars(before.seen)
    assert [vars(one) for one in again.states] == [vars(one) for one in before.states]
    assert vars(again).keys() == vars(before).keys()
    assert before.states


def test_both_find_the_same(tmp_path: Path):
    root = populate(tmp_path / "project")
    again = read(profile(), place(root), written(Before.take(profile(), place(root))))
    (root / "lib/.claude").mkdir(parents=True)
    (root / "lib/.claude/settings.json").write_text("{}")
    (root / "README.md").write_text("changed")
    git(
        root,
        "update-index",
        "--add",
        "--cacheinfo",
        f"100644,{git(root, 'hash-object', '-w', 'README.md').strip()},.claude/settings.json",
    )
    assert again.alarm() is not None
    found = {one.code for one in again.sweep().findings}
    assert found == {"protected-made", "git-index"}
    assert not (root / "lib/.claude").exists()
