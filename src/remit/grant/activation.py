"""Activations: which rulebook a person put in force. Only ever added to; the newest one counts.

A rulebook file whose SHA-256 is not the digest of the newest activation is not in force, whatever it says.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from remit.model.moments import exact_moment
from remit.record.people import NONE, check_activation
from remit.record.state import ACTIVATION, Sign, check_row, newest, put
from remit.store.interface import Transaction


class Activation(NamedTuple):
    """One activation: the policy's hash, the SHA-256 (hex) of the rulebook file's bytes, when, and by whom."""

    seq: int
    policy: str
    digest: str
    at: str
    by: str


def newest_activation(view: Transaction) -> Activation | None:
    """The activation that counts; None before the first.

    Raises StoreError, and StateForged if the ledger says something else or no person activated it.
    """
    found = last_activation(view)
    [said] = newest(view, (ACTIVATION, ()))
    if found is None and said is None:
        return None
    row = (found if found is not None else Activation(0, "", "", "", ""))._asdict()
    row["person"] = row.pop("by")
    check_activation(view, check_row(ACTIVATION, (), row, said))
    return found


def last_activation(view: Transaction) -> Activation | None:
    """The last one in the store, whatever the ledger says of it."""
    row = view.row("SELECT seq, policy, digest, at, person FROM activation ORDER BY seq DESC LIMIT 1")
    return Activation(*row) if row is not None else None


def add_activation(
    change: Transaction,
    after: Activation | None,
    *,
    policy: str,
    digest: str,
    at: int,
    by: str,
    name: str = "",
    writer: str = "activate",
    none_needed: bool = False,
    people: Mapping[str, tuple[str, ...]] | None = None,
    sign: Sign | None = None,
) -> Activation:
    """Adds the one that follows `after`, and its entry.

    `none_needed`: under this policy people need no credential. `people`, with their roles, are those whom it names:
    from now on they act under their own names. Raises StoreRefused if somebody else has added one
    meanwhile: what was shown to the person is then not what would be replaced.
    """
    made = Activation(1 if after is None else after.seq + 1, policy, digest, exact_moment(at), by)
    row = {"seq": made.seq, "policy": policy, "digest": digest, "at": made.at, "person": by}
    about: dict[str, Any] = {"policy": policy, "name": name, "by": by}
    about |= {"credential": NONE} if none_needed else {}
    about |= {"people": {who: list(roles) for who, roles in people.items()}} if people else {}
    put(change, ACTIVATION, (), row, event="activation", at=at, writer=writer, about=about, sign=sign)
    return made
