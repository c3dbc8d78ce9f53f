"""Where the limits of a profile lie on a disk: what is kept, hidden and made, beside the policy's matcher."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from remit.confine.bounds import Bounds
from remit.confine.interface import Place
from remit.confine.look import Seen, look
from remit.confine.mounts import plan
from tests.confine.places import profile

NAMES = st.sampled_from(["a", "docs", "src", ".claude", "x.md", "y.lock", ".Claude", "remit.yaml"])
PATHS = st.lists(NAMES, min_size=1, max_size=3).map("/".join)
GLOBS = st.sampled_from(["**", "docs/**", "src/a/**", "docs/*.md", "{docs,src}/**", "*/a/**", "**/x.md"])
AVOID = st.sampled_from([(), ("docs/a/**",), ("src/x.md",), ("**/*.lock",)])


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sets(PATHS, max_size=8), GLOBS, AVOID)
def test_what_mounts_let_be_written_the_matcher_lets_be_written(
    tmp_path_factory: pytest.TempPathFactory, files: set[str], may: str, avoid: tuple[str, ...]
) -> None:
    root = tmp_path_factory.mktemp("root")
    for path in sorted(files):
        if not any((root / above).is_file() for above in Path(path).parents) and not (root / path).exists():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text("x")
    chosen = profile(may, avoid=avoid, git=False)
    bounds = Bounds(chosen)
    seen = look(bounds, root)
    for folder, _, names in os.walk(root):
        for name in names:
            path = os.path.relpath(f"{folder}/{name}", root)
            assert not mounted(seen, path) or bounds.writes(path), (path, seen)


def mounted(seen: Seen, path: str) -> bool:
    """Whether the innermost mount above a path is one for writing."""
    found = [(len(one), True) for one in (*seen.write, *seen.make) if within(path, one)]
    found += [(len(one), False) for one in (*seen.keep, *seen.hide, *seen.absent) if within(path, one)]
    return bool(found) and max(found, key=lambda one: (one[0], not one[1]))[1]


def within(path: str, folder: str) -> bool:
    return folder == "." or path == folder or path.startswith(folder + "/")


def test_every_folder_on_the_way_to_something_kept_is_pinned(tmp_path: Path) -> None:
    root = tmp_path / "root"
    (root / "a/b/.claude").mkdir(parents=True)
    found = plan(profile(git=False), Place(root, root, tmp_path), {"HOME": "/nonexistent", "PATH": "/usr/bin"})
    hows = {mount.path: mount.how for mount in found.mounts}
    assert [hows[str(root / path)] for path in (".", "a", "a/b", "a/b/.claude")] == ["rw", "rw", "rw", "ro"]


def test_a_link_as_a_base_is_not_followed(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (tmp_path / "outside").mkdir()
    (root / "docs").symlink_to(tmp_path / "outside")
    found = plan(profile("docs/**"), Place(root, root, tmp_path), {"HOME": "/nonexistent", "PATH": "/usr/bin"})
    assert not any(mount.how == "rw" for mount in found.mounts)
