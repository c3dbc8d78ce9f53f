"""The closed vocabularies: effects, verdicts, grades."""

from __future__ import annotations

from enum import IntEnum
from typing import Literal

EFFECTS = (
    "read",
    "write",
    "delete",
    "execute",
    "network",
    "install",
    "migrate",
    "publish",
    "deploy",
    "system",
    "pay",
    "message",
    "delegate",
)
"""What a unit does."""

FILES = frozenset({"read", "write", "delete"})
"""Effects on files, unless the tool says that it works on records."""

PARTICULAR = FILES | {"network", "delegate"}
"""Effects that can be judged only on arguments of the kinds that name them; any other may be on any argument."""

UNDERSTOOD, PROJECT, UNKNOWN = "understood", "project code", "not understood"
"""Grades: how well it is known what a command does."""

Taken = Literal["", "argument", "workplace", "file", "new_folder"]
"""What a path of a command is taken for, if for no plain one: an argument of code of the project, which may name it,
and nobody knows what becomes of it; a place that such code is told, where it works, and wherever else it likes; a file,
by its name, and nobody has looked; a folder that was not there before, and nothing below it is written."""

CHANGING = frozenset({"write", "delete"})
"""Effects that locks and protected paths bind."""

RISKS = ("low", "medium", "high", "critical")
INTERACTIONS = ("autonomous", "confirmation", "interactive")
LABELS = ("data", "production", "security", "ci", "dependencies", "migrations")
CONTEXT_KEYS = {
    "mode": "whether a person is there: interactive or autonomous, as hosts say; a program may say others",
    "environment": "where it runs, such as staging",
    "session": "the session of the host",
    "capsule": "the task of the call",
    "cwd": "the working directory",
}
"""What `when:` may look at."""

MODES = ("interactive", "autonomous")
"""What the hosts say as `mode`: whether a person could answer. A program that has a guard may say others."""

MAX_CHAIN = 16
"""How many hand-overs a chain may hold."""


class Verdict(IntEnum):
    """Ordered, so that combining is `max`."""

    ALLOW = 0
    ASK = 1
    DENY = 2

    @property
    def word(self) -> str:
        """`allow`, `ask` or `deny`."""
        return self.name.lower()


ALLOW, ASK, DENY = Verdict.ALLOW, Verdict.ASK, Verdict.DENY

HUMAN = "human"
"""Of whom a question is asked, if it is not of an agent."""
