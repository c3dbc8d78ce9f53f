"""The closed vocabularies: kinds of arguments, effects, verdicts, grades."""

from __future__ import annotations

from enum import IntEnum

KINDS = ("path", "glob", "shell", "sql", "url", "agent", "skill", "text", "number", "flag", "json")
"""What an argument can be."""

DANGEROUS = frozenset({"path", "glob", "shell", "sql", "url", "agent"})
"""Kinds that a `may` with a scope on arguments must mention to cover."""

HARMLESS = frozenset({"text", "number", "flag", "json"})
"""Kinds that no rule must mention: nothing in them is taken for a path, a URL, a command or a name."""

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
    "delegate",
)
"""What a unit does."""

FILES = frozenset({"read", "write", "delete"})
"""Effects on files, unless the tool says that it works on records."""

JUDGED_ON: dict[str, frozenset[str]] = {
    **dict.fromkeys(FILES, frozenset({"path", "glob"})),
    "network": frozenset({"url", "shell", "sql"}),
    "delegate": frozenset({"agent"}),
}
"""The kinds of argument on which an effect can be judged; an effect that is not here may be on any argument."""

UNDERSTOOD, PROJECT, UNKNOWN = "understood", "project code", "not understood"
"""Grades: how well it is known what a command does."""

CHANGING = frozenset({"write", "delete"})
"""Effects that locks and protected paths bind."""

RISKS = ("low", "medium", "high", "critical")
INTERACTIONS = ("autonomous", "confirmation", "interactive")
LABELS = ("data", "production", "security", "ci", "dependencies", "migrations")
CONTEXT_KEYS = ("mode", "environment", "session", "capsule", "cwd")
"""What `when:` may look at."""

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
