"""Activations: which rulebook a person put in force. Only ever added to; the newest one counts.

A rulebook file whose SHA-256 is not the digest of the newest activation is not in force, whatever it says.
"""

from __future__ import annotations

from typing import NamedTuple

from remit.store.interface import Transaction


class Activation(NamedTuple):
    """One activation: the policy's hash, the SHA-256 (hex) of the rulebook file's bytes, when, and by whom."""

    seq: int
    policy: str
    digest: str
    at: str
    by: str


def newest_activation(view: Transaction) -> Activation | None:
    """The activation that counts; None before the first. Raises StoreError."""
    row = view.row("SELECT seq, policy, digest, at, person FROM activation ORDER BY seq DESC LIMIT 1")
    return Activation(*row) if row is not None else None


def add_activation(change: Transaction, after: Activation | None, *, policy: str, digest: str, at: str, by: str) -> int:
    """Adds the one that follows `after`, and gives its number.

    Raises StoreRefused if somebody else has added one meanwhile: what was shown to the person is then not what
    would be replaced.
    """
    seq = 1 if after is None else after.seq + 1
    values = (seq, policy, digest, at, by)
    change.run("INSERT INTO activation (seq, policy, digest, at, person) VALUES (?, ?, ?, ?, ?)", *values)
    return seq
