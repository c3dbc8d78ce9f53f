"""The files that git sees changed since a commit, compared with what the ledger explains.

A file that no allowed call explains was changed by a person, or by something that went around Remit.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

import msgspec

from remit.confine.process import Bounds, Finished, run_process
from remit.model.errors import InputError
from remit.model.moments import moment
from remit.model.rulebook import Rulebook
from remit.model.text import shown
from remit.record.past import PastCall
from remit.runners.git import plain_revision
from remit.runners.repository import check_repository
from remit.runners.runner import find_program, plain_environment
from remit.runners.settings import git_variables
from remit.service.touched import Changes, changes_of, explains

_BOUNDS = Bounds(seconds=60.0, bytes=32_000_000)
_KINDS: dict[str, Literal["created", "deleted"]] = {"A": "created", "D": "deleted"}


class Changed(msgspec.Struct, frozen=True):
    """A file that differs from the base."""

    path: str
    how: Literal["created", "changed", "deleted"]


class Explained(msgspec.Struct, frozen=True, omit_defaults=True):
    """A changed file, and what explains it."""

    path: str
    how: str
    by: Literal["task", "others", "perhaps", "nothing"]
    """Calls of this task; of other tasks or agents; only calls that ran code, which may have changed it; no call."""
    calls: tuple[int, ...] = ()
    """Where these stand in the ledger."""
    agents: tuple[str, ...] = ()


def changed_since(root: Path, base: str) -> tuple[str, list[Changed]]:
    """When the base was committed, and what differs from it below the root, new files included. Raises RemitError."""
    program = find_program("git", (), root=None)
    env = {**plain_environment("/nonexistent", ()), **git_variables(())}
    check_repository(program, root, env)

    def git(*words: str) -> Finished:
        found = run_process(("git", *words), program=program, directory=root, environment=env, bounds=_BOUNDS)
        if not found.ok or found.truncated:
            said = shown(found.err.strip().partition("\n")[0], 200) or "its answer is too long"
            raise InputError(f"git can't compare with `{shown(base)}`: {said}", code="no-comparison")
        return found

    revision = plain_revision(base)
    commit = git("rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}").out.strip()
    when = moment(int(git("show", "--no-patch", "--format=%ct", commit).out.strip()))
    words = ("--no-ext-diff", "--no-textconv", "--no-renames", "--name-status", "-z", "--relative", commit, "--")
    parts = git("diff", *words).out.split("\0")
    pairs = zip(parts[:-1:2], parts[1::2], strict=True)
    found = {path: Changed(path, _KINDS.get(status, "changed")) for status, path in pairs}
    for path in git("ls-files", "--others", "--exclude-standard", "-z").out.split("\0"):
        if path:
            found.setdefault(path, Changed(path, "created"))
    return when, sorted(found.values(), key=lambda one: one.path)


def explained(
    rulebook: Rulebook, changed: Iterable[Changed], calls: Iterable[PastCall], capsules: frozenset[str], root: str
) -> list[Explained]:
    """What explains each change: what nothing explains first."""
    ran = [(past, changes_of(rulebook, past, root)) for past in calls if past.ran]
    found = [_explained(one, ran, capsules) for one in changed]
    order = ("nothing", "perhaps", "others", "task")
    return sorted(found, key=lambda one: (order.index(one.by), one.path))


def _explained(changed: Changed, ran: list[tuple[PastCall, Changes]], capsules: frozenset[str]) -> Explained:
    path = os.path.normpath(changed.path)
    sure = [past for past, changes in ran if any(explains(touched, path) for touched in changes.files)]
    mine = [past for past in sure if past.call.context.capsule in capsules]
    if sure:
        return _by("task" if mine else "others", changed, mine or sure)
    perhaps = [past for past, changes in ran if changes.anything]
    return _by("perhaps", changed, perhaps) if perhaps else Explained(changed.path, changed.how, "nothing")


def _by(by: Literal["task", "others", "perhaps"], changed: Changed, calls: list[PastCall]) -> Explained:
    agents = tuple(sorted({past.call.agent for past in calls}))
    return Explained(changed.path, changed.how, by, tuple(past.seq for past in calls)[-20:], agents)
