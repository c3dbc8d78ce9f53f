"""The streams that the policy in force has."""

from __future__ import annotations

from pathlib import Path

from remit.cli.common import InputError
from remit.enforce.in_force import read_in_force
from remit.model.policy import Stream
from remit.model.text import shown
from remit.store import Store


def streams_in_force(root: Path, store: Store) -> list[Stream] | None:
    """The streams of the policy in force; None if none is. Raises InputError if it can't be read, and StoreError."""
    force = read_in_force(root, store)
    if force.rulebook is None and force.activation is not None:
        fault = shown(force.fault or "", 300)
        raise InputError(f"the policy in force can't be read, so nobody knows its streams: {fault}")
    if force.rulebook is None:
        return None
    settings = force.rulebook.book.ledger
    return list(settings.streams) if settings is not None else []
