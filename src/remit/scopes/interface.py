"""The interface of scopes: a unit, and what a scope says about it.

A scope answers two questions about a unit. `covers`: does it certainly lie within? (for `may`).
`touches`: might it lie within? (for `may_not` and `must_ask`). Where a unit stands for many things, a glob or
a fixed reach, the first means all of them and the second any of them.
"""

from __future__ import annotations

from typing import Any, Protocol

import msgspec

FOR_LABELS = frozenset(("table", "host", "branch", "context"))
"""Kinds of derived units that only labels look at; rules look at the command or statement itself."""


class Unit(msgspec.Struct, frozen=True):
    """What a call falls into: one path, one URL, one name, one reach, or the call itself."""

    kind: str
    """`path`, `url`, `agent`, `skill`, `records`, `shell` (one command), `sql` (one statement), what only labels look
    at (`table`, `host`, `branch`, `context`), or `call` where nothing else is there."""
    arg: str
    """The argument that it comes from; empty for a fixed reach and for the call itself."""
    value: Any
    """A normalised path, a Glob, a Url, a UrlPattern, or a name."""
    effects: frozenset[str] = frozenset()
    wide: bool = False
    """True when `value` is a pattern that stands for all it could match."""
    also: tuple[str, ...] = ()
    """Other spellings of the same path that a prohibition must look at: as given, before symlinks."""
    text: str = ""
    """As given, for messages."""
    real: str = ""
    """The resolved path that must be used, where that is not what the text says."""
    grade: str = "understood"
    """How well a command is known; everything but a command is understood."""
    derived: bool = False
    """True for what a command touches: the command's own rule covers it, prohibitions look at its paths and URLs."""
    dubious: bool = False
    """True for a command that touches paths which the text doesn't tell."""


class Matcher(Protocol):
    """What one part of a scope, such as `path:`, says about a unit of its kind."""

    def covers(self, unit: Unit) -> bool:
        """True only if the unit certainly lies within."""

    def touches(self, unit: Unit) -> bool:
        """False only if the unit certainly lies outside."""

    def describe(self) -> str:
        """For people: `research/*.yaml`."""
