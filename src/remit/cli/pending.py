"""Is the policy as it is now the one in force? A changed file is pending until a person activates it."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import msgspec

from remit.analyze.changes import compare
from remit.cli.check import Checked, examine
from remit.enforce.in_force import InForce, look_up_in_force

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
