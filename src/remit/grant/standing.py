"""Standing grants on the word of people: each is approved by the person whom the policy names for it.

The approval is of exactly what the grant says: to whom, what, until when, on which document, and by whom. Without it, a
policy with the grant is not activated.
"""

from __future__ import annotations

from collections.abc import Iterator

from remit.grant.errors import GrantError
from remit.grant.notes import Scribe
from remit.model.policy import Grant
from remit.model.rulebook import Book
from remit.record.people import Trust, check_person
from remit.record.state import STANDING, newest
from remit.store.interface import Transaction


def approve_grant(change: Transaction, grant: Grant, digest: str, *, by: str, now: str, scribe: Scribe) -> None:
    """Records that a person approved a standing grant. Raises GrantError if it names somebody else."""
    if grant.approved_by != by or scribe.sign is None or scribe.sign.person != by:
        raise GrantError(f"the grant names {grant.approved_by} as its approver, not {by}", code="may-not-approve")
    row = {"by": by, "at": now, "agent": grant.agent, "adr": grant.adr, "until": grant.until}
    about = {"what": "approved", "by": by, "agent": grant.agent, "adr": grant.adr, "until": grant.until}
    scribe.put(change, STANDING, (digest,), row, "grant", about)


def unapproved(view: Transaction, book: Book, digests: dict[str, Grant]) -> Iterator[Grant]:
    """The grants, by their digests, that the people whom they name have not approved. Raises StateForged.

    Where the policy names nobody, whoever activates it approves its grants.
    """
    if not book.people:
        return
    for digest, grant in digests.items():
        [said] = newest(view, (STANDING, (digest,)))
        if said is not None:
            check_person(view, STANDING, said.row, said, Trust())
        if said is None or said.person != grant.approved_by:
            yield grant
