"""How a policy file stands to what is in force, and what activating it would change.

Difference.between(read_in_force(root, store), rulebook).changes
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal, Self

import msgspec

from remit.analyze.changes import Change, compare
from remit.enforce.in_force import InForce, look_up_in_force
from remit.grant.reviews import of_role
from remit.model.rulebook import Rulebook
from remit.record.policy import weakenings
from remit.testing.check import Checked, examine


class Difference(msgspec.Struct, frozen=True):
    """Between what is in force and a rulebook."""

    force: InForce
    new: Rulebook
    changes: tuple[Change, ...]

    @classmethod
    def between(cls, force: InForce, new: Rulebook) -> Self:
        """Compares them; without anything usable in force, all of the new one is a change."""
        return cls(force, new, compare(force.rulebook.book if force.rulebook is not None else None, new.book))

    @property
    def same(self) -> bool:
        """True if the rulebook says what is in force."""
        active = self.force.rulebook
        return active is not None and active.hash == self.new.hash and not self.changes

    @property
    def roles(self) -> tuple[str, ...]:
        """The roles that it changes, of those whose agents are reviewed: these are then due at once."""
        if self.force.rulebook is None:
            return ()
        names = {change.name for change in self.changes if change.section == "roles" and change.key}
        return tuple(sorted(name for name in names if any(of_role(self.new.book, name))))

    def as_json(self) -> dict[str, Any]:
        """The difference for programs."""
        activation = self.force.activation
        return {
            "policy": self.new.hash,
            "was": activation.policy if activation is not None else None,
            "first": activation is None,
            "fault": self.force.fault,
            "weakens": [{**one, "new": fresh} for one, fresh in self.weakens()],
            "changes": self.changes,
            "roles": self.roles,
        }

    def weakens(self) -> list[tuple[dict[str, Any], bool]]:
        """What weakens enforcement in the new book, and whether that is new."""
        active = self.force.rulebook
        before = [{"kind": kind, **about} for kind, about in weakenings(active.book)] if active is not None else []
        found = [{"kind": kind, **about} for kind, about in weakenings(self.new.book)]
        return [(one, one not in before) for one in found]


State = Literal["same", "pending", "broken", "none", "unusable"]


class Standing(msgspec.Struct, frozen=True):
    """How a policy file stands to what is in force."""

    state: State
    """`none`: nothing was ever activated; `broken`: the file does not load, or its tests fail; `unusable`: nothing is
    in force, although something was activated."""
    checked: Checked
    """The file as it is."""
    force: InForce
    """What is in force."""


def pending(path: Path) -> Standing:
    """How the policy file stands to what is in force for its folder. Raises InputError, LedgerError and StoreError."""
    return standing(examine(path), look_up_in_force(path.absolute().parent))


def standing(checked: Checked, force: InForce) -> Standing:
    """The same, of what was looked up already."""
    return Standing(_state(checked, force), checked, force)


def _state(checked: Checked, force: InForce) -> State:
    if force.fault is not None:
        return "unusable"
    if force.activation is None:
        return "none"
    if checked.rulebook is None or not checked.fine:
        return "broken"
    if force.activation.policy != checked.rulebook.hash:
        return "pending"
    if force.rulebook is not None and compare(force.rulebook.book, checked.rulebook.book):
        return "pending"
    return "same"
