"""That a person is here, not a program: whoever acts gives a passphrase, unless the policy in force needs none.

Where the policy names people, it is their own, and they must have a role for what they do.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from remit.model.errors import RemitError
from remit.model.people import ROLES
from remit.model.rulebook import Book
from remit.model.text import shown, suggestion
from remit.record.people import Roles, people_of
from remit.record.state import Sign
from remit.store.interface import Store

NONE_NEEDED = "unsafe_no_credential"
"""What a policy calls unsafe when people need no passphrase."""


class PersonError(RemitError):
    """Nobody is there to ask, or nothing that they could prove themselves with."""

    code = "no-person"


class Signatory(NamedTuple):
    """Somebody who acts: how entries name them, and what signs for them, which only their passphrase makes."""

    name: str
    sign: Sign | None = None


def named_people(store: Store) -> Roles | None:
    """Whom the policy in force names, with their roles; None: nobody. Raises StoreError and StateForged."""
    with store.read() as view:
        return people_of(view).now


def prove_person(
    store: Store,
    book: Book | None,
    *,
    name: str,
    doing: str,
    read: Callable[[str], str],
    may: frozenset[str],
    who: str | None = None,
) -> Signatory:
    """Who does it, once they have given the passphrase. Raises PersonError, CredentialError and StoreError.

    `book` is the activated one, or None where there is none that can be trusted: a policy that isn't in force can't
    say that no passphrase is needed. `read` asks for the passphrase. `may` are the roles that let somebody do it, `who`
    says who they are; else it is `name`, their login.
    """
    people = named_people(store)
    if people is not None:
        return _prove(store, _with_role(people, who or name, may, doing), doing, read)
    if who is not None:
        raise PersonError("the policy in force names no people", help="leave out --as")
    if needs_none(book):
        return without_credential(name)
    from remit.grant.credential import CredentialError, is_set, unlock  # here: it hashes, and most processes ask nobody

    if not is_set(store):
        raise PersonError(
            f"to {doing}, a person has to prove who they are, and no passphrase is set",
            code="no-credential",
            help="run `remit credential set` in a terminal",
        )
    sign = unlock(store, read(f"passphrase, to {doing}: "), who=name, doing=doing)
    if sign is None:
        raise CredentialError("wrong passphrase", code="wrong-passphrase")
    return Signatory(f"{name} (passphrase)", sign)


def _with_role(people: Roles, who: str, may: frozenset[str], doing: str) -> str:
    known_person(people, who)
    if may.isdisjoint(people[who]):
        needed = " or ".join(role for role in ROLES if role in may)
        raise PersonError(f"{who} may not {doing}: that needs the role {needed}", code="not-your-role")
    return who


def known_person(people: Roles, who: str) -> None:
    """Raises PersonError for somebody whom the policy in force does not name."""
    if who not in people:
        hint = suggestion(who, people)
        what = f"the policy in force names no person `{shown(who)}`{hint}"
        raise PersonError(what, code="unknown-person", help="say who you are: --as NAME")


def _prove(store: Store, who: str, doing: str, read: Callable[[str], str]) -> Signatory:
    from remit.grant.credential import CredentialError, is_set, unlock

    if not is_set(store, who):
        what = f"to {doing}, {who} has to set a passphrase first"
        help_ = f"an owner runs `remit people invite {who}`, and {who} then `remit credential set --as {who}`"
        raise PersonError(what, code="no-credential", help=help_)
    sign = unlock(store, read(f"passphrase of {who}, to {doing}: "), who=who, doing=doing, name=who)
    if sign is None:
        raise CredentialError("wrong passphrase", code="wrong-passphrase")
    return Signatory(who, sign)


def prove_project(store: Store, *, name: str, doing: str, read: Callable[[str], str]) -> Signatory:
    """Who has the project's own passphrase, whatever people the policy names. Raises PersonError, CredentialError."""
    from remit.grant.credential import CredentialError, is_set, unlock

    if not is_set(store):
        what = f"to {doing} needs the project's passphrase, and none is set"
        raise PersonError(what, code="no-credential", help="run `remit credential set` in a terminal")
    sign = unlock(store, read(f"the project's passphrase, to {doing}: "), who=name, doing=doing)
    if sign is None:
        raise CredentialError("wrong passphrase", code="wrong-passphrase")
    return Signatory(f"{name} (passphrase)", sign)


def needs_none(book: Book | None) -> bool:
    """Whether an activated policy says that people need no credential."""
    return book is not None and NONE_NEEDED in book.unsafe


def without_credential(name: str) -> Signatory:
    """Somebody who proved nothing."""
    return Signatory(f"{name} (no credential)")
