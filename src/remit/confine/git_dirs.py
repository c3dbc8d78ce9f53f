"""Where git keeps what belongs to a root: in its `.git`, or, for a worktree, in that of the main checkout."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

import msgspec

from remit.confine.bounds import GIT_NEVER
from remit.model.system_programs import SYSTEM_PATH, find_program

SHARED = ("objects", "refs", "logs")
"""What worktrees share and a commit writes."""


class GitDirs(msgspec.Struct, frozen=True):
    """Absolute paths: the shared folder, what of it may be written, and what inside of that may not."""

    common: str
    writable: tuple[str, ...]
    kept: tuple[str, ...]


def git_dirs(root: Path) -> GitDirs | None:
    """None if the root is no repository, or if its `.git` leads to something that does not lead back."""
    own = f"{root}/.git"
    if os.path.islink(own):
        return None
    if os.path.isdir(own):
        return GitDirs(own, (), ())
    gitdir = _line(own, prefix="gitdir: ")
    if gitdir is None:
        return None
    gitdir = os.path.realpath(os.path.join(root, gitdir))
    back, common = _line(f"{gitdir}/gitdir"), _line(f"{gitdir}/commondir")
    if back is None or common is None or os.path.realpath(os.path.join(gitdir, back)) != own:
        return None
    common = os.path.realpath(os.path.join(gitdir, common))
    if os.path.dirname(gitdir) != f"{common}/worktrees":
        return None
    writable = [path for path in (gitdir, *(f"{common}/{name}" for name in SHARED)) if os.path.isdir(path)]
    kept = [path for path in (common, *(f"{gitdir}/{name}" for name in GIT_NEVER)) if os.path.exists(path)]
    return GitDirs(common, tuple(writable), tuple(kept))


def has_worktree_configuration(gitdir: str) -> bool:
    """Whether git would read a file `config.worktree` there."""
    try:
        with open(f"{gitdir}/config", "rb") as file:
            return b"worktreeconfig" in file.read(1 << 20).lower()
    except OSError:
        return True


def tracked(root: Path, paths: Sequence[str]) -> frozenset[str]:
    """Those that git tracks: hidden, they would look emptied, and their content is in git's objects anyway."""
    if not paths or not os.path.lexists(f"{root}/.git"):
        return frozenset()
    program = find_program("git")
    if program is None:
        return frozenset()
    command = (program, "-C", str(root), "-c", "core.fsmonitor=false", "ls-files", "-z", "--", *map(_literal, paths))
    plain = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    plain["PATH"] = SYSTEM_PATH
    try:
        output = subprocess.run(command, env=plain, capture_output=True, timeout=60, check=False).stdout  # noqa: S603
    except (OSError, subprocess.TimeoutExpired):
        return frozenset()
    return frozenset(os.fsdecode(output).split("\0"))


def _literal(path: str) -> str:
    return f":(literal){path}"


def _line(path: str, prefix: str = "") -> str | None:
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            text = file.read(4096)
    except OSError:
        return None
    return text.removeprefix(prefix).strip() if text.startswith(prefix) else None
