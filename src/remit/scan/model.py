"""What a scan finds: what each place says of each agent, and where two places disagree."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import msgspec


class Mark(StrEnum):
    """What a place says of one tool."""

    YES = "yes"
    SCOPED = "scoped"
    UNCLEAR = "unclear"
    NO = "no"


class Extent(StrEnum):
    """What a place says of all tools. INVARIANT: what can't be read is `UNCLEAR`, never an empty list."""

    LIST = "list"
    EVERYTHING = "everything"
    UNCLEAR = "unclear"


class Kind(StrEnum):
    """What sort of place it is."""

    DEFINITION = "definition"
    SETTINGS = "settings"
    MATRIX = "matrix"
    SECTION = "section"
    ROSTER = "roster"
    """A table that names agents and not their tools."""
    POLICY = "policy"
    RECORD = "record"
    CODE = "code"


class Weight(StrEnum):
    """How much a finding matters."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


class Place(msgspec.Struct, frozen=True, order=True):
    """A line of a file, by its path below the root."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


class Entry(msgspec.Struct, frozen=True):
    """What a place says of one tool, as it is written there."""

    tool: str
    mark: Mark
    place: Place
    scope: str | None = None
    asked: bool = False
    """Whether a person is asked each time, whatever the scope says."""


class Claim(msgspec.Struct, frozen=True):
    """A sentence about the whole agent, such as "read-only" or "full tool access"."""

    text: str
    place: Place
    edits_only: bool = False
    """Whether it rules out editing alone, and not a shell."""


class Right(msgspec.Struct, frozen=True):
    """A kind of tool that an agent has or lacks altogether, in the words of a text: "Write access: none"."""

    kind: str
    """`write`, `shell`, `network`, `changes` for writing and running commands together, or a mode of its host."""
    granted: bool
    text: str
    place: Place


class Command(msgspec.Struct, frozen=True):
    """A pattern of commands in a definition, and what its host does with them: `allow`, `ask` or `deny`."""

    pattern: str
    answer: str
    place: Place


class Account(msgspec.Struct, frozen=True, kw_only=True):
    """What one place says of one agent."""

    agent: str
    kind: Kind
    place: Place
    extent: Extent = Extent.LIST
    entries: tuple[Entry, ...] = ()
    closed: bool = True
    """Whether a tool, or an agent that work may be handed to, is denied if it is not named."""
    limits: bool = True
    """Whether it means its lists as limits, and not as what is typical."""
    host: str | None = None
    """The program that reads the place, if one does."""
    read_only: Claim | None = None
    all_tools: Claim | None = None
    reports: bool = False
    """Whether it tells the agent to write reports, so that a tool that creates files is meant."""
    terms: dict[str, Any] = {}
    """What a permission record says besides of the agent: its data tiers, locks and APIs, by their keys there."""
    marks: bool = False
    """Whether it is of a table of marks: of a tool or a kind that has no row or column there, it says nothing."""
    most: bool = False
    """Whether its list is the most that the agent may have, as a level's is, and not what it has."""
    gated: bool = False
    """Whether the host asks before the agent changes anything, whatever its tools."""
    counted: tuple[int, Place] | None = None
    """How many tools the place says that it lists."""
    reviewed: tuple[str, Place] | None = None
    taken: tuple[str, ...] = ()
    """Tools of its list that it takes away again."""
    hands_to: tuple[tuple[str, Place], ...] = ()
    """The agents that it names as those it hands work to."""
    lists: tuple[tuple[str, Place], ...] = ()
    """The agents that its text lists, under a heading that says that it hands work to them."""
    offers: tuple[tuple[str, Place], ...] = ()
    """The agents that it offers a person to go on with."""
    rights: tuple[Right, ...] = ()
    """Kinds of tools that it gives or denies, without naming the tools."""
    commands: tuple[Command, ...] = ()
    """The commands that it allows and denies by patterns, in the order in which they hold."""
    mode: str | None = None
    """Whether a person or another agent starts it, where its host has such modes."""
    recovered: str | None = None
    """Why its YAML could not be read, if lines were read instead."""

    @property
    def names(self) -> tuple[str, ...]:
        """What others may call the agent: its name, and for a definition the name of its file."""
        stem = self.place.file.rpartition("/")[2].partition(".")[0]
        return (self.agent, stem) if self.kind is Kind.DEFINITION and stem else (self.agent,)

    def allowed(self) -> list[Entry]:
        """The tools that it grants, scoped or not."""
        return [entry for entry in self.entries if entry.mark in (Mark.YES, Mark.SCOPED)]


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """Something that a person should look at."""

    code: str
    weight: Weight
    agent: str | None
    text: str
    places: tuple[Place, ...]
    why: str
    fix: str


class Agent(msgspec.Struct, frozen=True):
    """One agent, with all that is said of it. `names` has every spelling that was joined."""

    name: str
    names: tuple[str, ...]
    accounts: tuple[Account, ...]
    team: str = ""
    """The folder that its definitions lie below; empty for the repository itself."""


class Survey(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a scan."""

    root: str
    agents: tuple[Agent, ...]
    findings: tuple[Finding, ...]
    files: int
    read: int
    skipped: tuple[tuple[str, str], ...] = ()
    """Files that were not read, and why."""
    enforced: tuple[tuple[str, int, int], ...] = ()
    """What holds which statements today: who, how many, of how many."""
