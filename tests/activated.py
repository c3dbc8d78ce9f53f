"""A policy put in force as `remit activate` does it, without a person to ask."""

from __future__ import annotations

from pathlib import Path

from remit.compile import load_rulebook
from remit.enforce.in_force import put_in_force, read_in_force
from remit.grant.person import Signatory
from remit.record.open import open_ledger


def activate(policy: Path, *, state: Path | None = None, by: str = "me") -> None:
    """The policy, as it is now, is in force for its folder."""
    root = policy.absolute().parent
    with open_ledger(root, point="activate", state=state) as opened:
        before = read_in_force(root, opened.store).activation
        put_in_force(opened, root, load_rulebook(policy), after=before, by=Signatory(by))
