"""That a person is here, not a program: whoever acts gives the passphrase, unless the policy in force needs none."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from remit.model.errors import RemitError
from remit.model.rulebook import Book
from remit.record.state import Sign
from remit.store.interface import Store

NONE_NEEDED = "unsafe_no_credential"
"""What a policy calls unsafe when people need no passphrase."""


class PersonError(RemitError):
    """Nobody is there to ask, or nothing that they could prove themselves with."""

    code = "no-person"


class Person(NamedTuple):
    """Somebody who acts: how entries name them, and what signs for them, which only their passphrase makes."""

    name: str
    sign: Sign | None = None


def prove_person(store: Store, book: Book | None, *, name: str, doing: str, read: Callable[[str], str]) -> Person:
    """Who does it, once they have given the passphrase. Raises PersonError, CredentialError and StoreError.

    `book` is the activated one, or None where there is none that can be trusted: a policy that isn't in force can't
    say that no passphrase is needed. `read` asks for the passphrase.
    """
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
    return Person(f"{name} (passphrase)", sign)


def needs_none(book: Book | None) -> bool:
    """Whether an activated policy says that people need no credential."""
    return book is not None and NONE_NEEDED in book.unsafe


def without_credential(name: str) -> Person:
    """Somebody who proved nothing."""
    return Person(f"{name} (no credential)")
