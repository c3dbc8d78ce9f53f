"""Facts: everything beside the rulebook and the call that a decision may depend on.

`decide` reads no clock, disk or network; whoever calls it looks these up and hands them in.
Moments are text in one form, `2026-11-15T12:00:00Z`, so that they compare as text.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from remit.model.policy import Grant, Rule, Scalar


class Capsule(msgspec.Struct, frozen=True, omit_defaults=True):
    """One task handed to an agent, as far as a decision needs it."""

    id: str
    agent: str
    parent: str | None = None
    expires: str | None = None
    ended: bool = False
    may: tuple[Rule, ...] | None = None
    may_not: tuple[Rule, ...] = ()
    must_ask: tuple[Rule, ...] = ()
    scope: tuple[str, ...] | None = None
    plan: tuple[Rule, ...] = ()
    grants: tuple[Rule, ...] = ()
    data_tiers: tuple[int, ...] = ()
    gates: tuple[str, ...] = ()
    parameters: dict[str, Scalar] = {}
    """What the task is about, as its issuer said: `{customer: C-17}`."""
    issued_by: str | None = None
    """The person who issued it; None: an agent did."""

    def __post_init__(self) -> None:
        # What decisions are remembered by must not change under them.
        if not all(type(getattr(self, name)) in (tuple, type(None)) for name in _TUPLES):
            raise TypeError(f"{', '.join(_TUPLES)} are tuples")


_TUPLES = ("may", "may_not", "must_ask", "scope", "plan", "grants", "data_tiers", "gates")


PLAIN_NAMES = "…"
"""Among `changes`: of all files that the text finds, none has blanks, quotes or a leading dash in its name."""


HOME = "~/"
"""Among `links`: where `~` is, for patterns that begin there."""


class Approval(msgspec.Struct, frozen=True, omit_defaults=True):
    """An answer to one ask, bound by `digest` to exactly one call."""

    id: str
    digest: str
    by: str
    of: Literal["human", "agent"] = "human"
    answer: Literal["approve", "refuse"] = "approve"
    expires: str | None = None


class Facts(msgspec.Struct, frozen=True, omit_defaults=True):
    """What is known at the moment of the call. The empty facts know nothing, and grant nothing."""

    now: str | None = None
    root: str | None = None
    resolved: dict[str, str] | None = None
    """Argument text → absolute path with symlinks followed; None: paths are judged by their text."""
    links: dict[str, str] = {}
    """Normal path in a command, or one that a pattern in it matches → the normal path that it leads to by symlinks,
    where that is another one. A pattern that matches too much to look at → nothing. Of a path that leaves the root, or
    begins with `~`, the literal part."""
    changes: dict[str, tuple[str, ...]] = {}
    """The one command of the call whose text doesn't tell it → the paths that it would change, normal, where whoever
    enforces has looked: `git switch main`. For what a search finds (`find . -name '*.pyc' -delete`), its pattern → the
    paths that match, and `…` if their names are plain. `git add -A` and the like → what they
    would put into the index."""
    stands: dict[str, tuple[str, ...]] = {}
    """Pattern in a command that changes or deletes what is there (`rm src/*.py`) → all that it stands for."""
    there: dict[str, tuple[str, ...]] = {}
    """Pattern in a command, or all below a folder, that it reads, deletes or changes in place → all that is there."""
    installed: frozenset[str] = frozenset()
    """Of the programs that a command would take from the project, those that are there: `node_modules/.bin/tsc`. And
    the `HEAD` of each directory where git would find a repository that is not called `.git`."""
    files: frozenset[str] = frozenset()
    """Of the paths that a command names, and those that they lead to: where something stands that is no folder. It
    counts only beside `resolved`, without which nobody has looked."""
    objects: frozenset[str] = frozenset()
    """Of the words that git takes for commits (`git show main -- src`), those that are other things in its store: a
    file or a folder, in whatever place."""
    halts: frozenset[str] = frozenset()
    """`system`, agent names, and `capsule:ID`."""
    capsules: dict[str, Capsule] = {}
    grants: tuple[Grant, ...] = ()
    approvals: tuple[Approval, ...] = ()
    registry: frozenset[str] | None = None
    """Agents that exist right now, where something outside the policy knows; None: all declared ones."""
    store: bool = False
    """True where a store is configured: then grants in the context do not count."""
    schema: dict[str, str] | None = None
    """By tool or database file: its DDL, for a second look by SQLite itself; no decision opens a database."""
    guarded: tuple[str, ...] = ()
    """Directories outside the root that no agent may read or change, absolute: Remit's own state."""
    sealed: tuple[str, ...] = ()
    """Directories and files that no agent may change, absolute: the program that enforces."""
    confined: frozenset[str] = frozenset()
    """What is held by the kernel if the call's command is run confined, of `HOLDS`; empty: it can't be confined."""
    notes: tuple[str, ...] = ()
    """What the caller wants said in every decision's detail, such as a root that does not exist."""

    def __post_init__(self) -> None:
        # What decisions are remembered by must not change under them.
        sets = (self.halts, self.installed, self.files, self.objects, self.confined)
        if any(type(one) is not frozenset for one in sets) or type(self.registry) not in (frozenset, type(None)):
            raise TypeError("halts, installed, files, objects, confined and registry are frozen sets")
        for values in (self.grants, self.approvals, self.guarded, self.sealed, self.notes):
            if type(values) is not tuple:
                raise TypeError("grants, approvals, guarded, sealed and notes are tuples")


NO_FACTS = Facts()
