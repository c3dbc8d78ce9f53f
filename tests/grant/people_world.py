"""A team whose policy names people, on a store of either kind: activated, everybody invited, a passphrase each."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from remit.compile import build_rulebook
from remit.grant import credential
from remit.grant.activation import add_activation, newest_activation
from remit.grant.authority import Authority
from remit.grant.credential import Parameters, accept, invite, set_passphrase, unlock
from remit.grant.person import needs_none
from remit.model.rulebook import Rulebook
from remit.record.state import Sign
from remit.store import Store
from tests.grant.world import POLICY

QUICK = Parameters(n=2**4, r=8, p=1, length=32)
"""Passphrases in tests need not be slow to guess."""
ROOT = "the project's passphrase"
PEOPLE: dict[str, Any] = {
    "ann": {"roles": ["owner"]},
    "bob": {"roles": ["approver"]},
    "cy": {"roles": ["approver", "operator"]},
    "dan": {"roles": ["operator"]},
    "eve": {"roles": ["auditor"]},
    "fay": {"roles": ["approver"], "approves": {"agents": ["lead"]}},
}
NAMED: dict[str, Any] = {
    **POLICY,
    "people": PEOPLE,
    "tiers": {4: {"ask": "human", "approvals": 2, "separate": True}},
    "review": {"every": "90d"},
    "on_violation": {"halt": {"after": 1}},
}


@lru_cache(1)
def named_rules() -> Rulebook:
    return build_rulebook(NAMED)


def secret_of(name: str) -> str:
    return f"passphrase of {name}"


def activate(store: Store, rulebook: Rulebook, sign: Sign | None, by: str) -> None:
    """As `remit activate` records it."""
    roles = {person.name: person.roles for person in rulebook.book.people.values()}
    with store.write() as change:
        after = newest_activation(change)
        at = 1 + (after.seq if after is not None else 0)
        add_activation(
            change,
            after,
            policy=rulebook.hash,
            digest=f"{at:064x}",
            at=at,
            by=by,
            none_needed=needs_none(rulebook.book),
            people=roles or None,
            sign=sign,
        )


def project_sign(store: Store) -> Sign:
    sign = unlock(store, ROOT)
    assert sign is not None
    return sign


def sign_of(store: Store, name: str) -> Sign:
    sign = unlock(store, secret_of(name), name=name)
    assert sign is not None
    return sign


def settle(store: Store, rulebook: Rulebook | None = None) -> dict[str, Sign]:
    """The policy is in force, and everybody has set a passphrase; what signs for each."""
    assert credential.NOW == QUICK, "patched by the fixture"
    set_passphrase(store, ROOT)
    book = rulebook if rulebook is not None else named_rules()
    activate(store, book, project_sign(store), "root")
    for name in book.book.people:
        code = invite(store, name, by="root", sign=project_sign(store))
        accept(store, name, code, secret_of(name))
    return {name: sign_of(store, name) for name in book.book.people}


def asked(one: Authority, rulebook: Rulebook, capsule: str | None, to: str = "x") -> str:
    """The id of a question about a deployment."""
    from tests.grant.world import call, judge

    made = call("boss", "push", {"to": to}, capsule)
    decision, facts = judge(one, rulebook, made)
    return one.ask(made, decision, rulebook, facts, point="test").id
