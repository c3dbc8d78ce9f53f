"""What people may do, by their roles."""

from __future__ import annotations

ROLES = {
    "owner": "activates policies, invites people, and may do all that the others do",
    "approver": "answers questions, passes gates and approves standing grants",
    "operator": "issues and ends tasks, resumes what is halted and the ledger, closes incidents, repairs the clock",
    "auditor": "signs reviews",
}
OWNER = frozenset(("owner",))
APPROVER = frozenset(("owner", "approver"))
OPERATOR = frozenset(("owner", "operator"))
AUDITOR = frozenset(("owner", "auditor"))
"""Which roles let somebody do what."""
RESERVED = frozenset(("person", "human", "chain", "remit"))
"""Names that no person can have, since they mean something else where people are named."""
