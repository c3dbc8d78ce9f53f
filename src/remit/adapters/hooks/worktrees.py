"""Linked worktrees of git: other places where the same project lies, judged by the same rules.

A session or an agent that works in a worktree of an installed project is under its policy. Paths count from the
worktree, so `src/**` means the worktree's own `src`; nothing else of the project can be changed from there.
"""

from __future__ import annotations

import os
from contextlib import suppress

_LONGEST = 4096


def place_in_worktree(root: str, cwd: str) -> str | None:
    """Where the project with this root lies in the worktree that `cwd` is in; None if that is no worktree of it.

    Git knows of a worktree on both sides: a file in it names the repository, and one there names the worktree. Who
    writes only the first has made none.
    """
    here = os.path.realpath(cwd)
    while not os.path.isdir(own := os.path.join(here, ".git")):
        if os.path.isfile(own):
            return _place(root, here, own)
        above = os.path.dirname(here)
        if above == here:
            return None
        here = above
    return None


def _place(root: str, worktree: str, own: str) -> str | None:
    with suppress(OSError, ValueError):
        said = _line(own)
        if not said.startswith("gitdir: "):
            return None
        known = os.path.realpath(os.path.join(worktree, said.removeprefix("gitdir: ")))
        folder, worktrees = os.path.split(os.path.dirname(known))
        main, git = os.path.split(folder)
        if (git, worktrees) != (".git", "worktrees") or os.path.commonpath((main, root)) != main:
            return None
        back = os.path.realpath(os.path.join(known, _line(os.path.join(known, "gitdir"))))
        if back != os.path.realpath(own):
            return None
        return os.path.normpath(os.path.join(worktree, os.path.relpath(root, main)))
    return None


def _line(path: str) -> str:
    """The one line of a small file. Raises OSError, and ValueError for anything else."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        data = os.read(descriptor, _LONGEST + 1)
    finally:
        os.close(descriptor)
    text = os.fsdecode(data).removesuffix("\n")
    if len(data) > _LONGEST or "\n" in text or "\0" in text:
        raise ValueError
    return text
