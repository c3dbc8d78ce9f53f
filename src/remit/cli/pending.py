"""Is the policy as it is now the one in force? A changed file is pending until a person activates it."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import msgspec

from remit.cli.check import Checked, examine
from remit.cli.in_force import InForce, in_force

State = Literal["same", "pending", "broken", "none"]


class Standing(msgspec.Struct, frozen=True):
    """How a policy file stands to what is in force."""

    state: State
    """`none`: nothing was ever activated; `broken`: the file does not load, or its tests fail."""
    checked: Checked
    """The file as it is."""
    force: InForce
    """What is in force; look at its `fault`, too."""


def pending(path: Path) -> Standing:
    """How the policy file stands to what is in force for its folder. Raises InputError, LedgerError and StoreError."""
    return standing(examine(path), look(path.absolute().parent))


def standing(checked: Checked, force: InForce) -> Standing:
    """The same, of what was looked up already."""
    return Standing(_state(checked, force), checked, force)


def look(root: Path) -> InForce:
    """What is in force for a project, without writing anything. Raises LedgerError and StoreError."""
    from remit.record.errors import LedgerError
    from remit.record.open import open_log

    try:
        with open_log(root) as opened:
            return in_force(root, opened.store)
    except LedgerError as error:
        if error.code != "no-ledger":
            raise
        return InForce()


def _state(checked: Checked, force: InForce) -> State:
    from remit.analyze.changes import compare

    if force.activation is None:
        return "none"
    if checked.rulebook is None or not checked.fine:
        return "broken"
    if force.activation.policy != checked.rulebook.hash:
        return "pending"
    if force.rulebook is not None and compare(force.rulebook.book, checked.rulebook.book):
        return "pending"
    return "same"
