"""People's acts: what a person brings about is signed by the key that belongs to their passphrase.

Where the policy names nobody, there is one passphrase, the project's. Its public key stands in the ledger since it was
set, and one that replaces it is signed by the one before. Where the policy in force names people, each has a
passphrase; the first one is signed by the key of an invitation, which an owner or the project's passphrase signed. An
activation says whom its policy names, with which roles; an act counts if the policy that was in force then lets the
person do it.

So an approval, an activation, a task or a gate that nobody who may gave counts for nothing, whoever can write to the
store.
"""

from __future__ import annotations

import base64
from collections.abc import Container, Iterable, Mapping
from typing import NamedTuple

from remit.model.people import OWNER
from remit.model.rulebook import Book
from remit.record.append import settle
from remit.record.reader import Stored
from remit.record.stamp import fitting
from remit.record.state import (
    ACTIVATION,
    ANSWER,
    CREDENTIAL,
    INVITATION,
    KINDS,
    Key,
    Kind,
    Row,
    Said,
    StateForged,
    name_of,
    newest,
    read_state,
    subject_of,
)
from remit.store.interface import Transaction

PERSON = "person"
"""The name of the project's own credential."""
NONE = "none"
UNSIGNED = "state-unsigned"
Roles = Mapping[str, tuple[str, ...]]
"""By person."""


class PublicKey(NamedTuple):
    """A person's key, and the first entry that it can have signed."""

    since: int
    key: bytes


class Trust(NamedTuple):
    """What is accepted of a person without a signature."""

    made: Container[int] = ()
    """Entries that this very process made. Nothing of the kind where the policy names people."""
    none_needed: bool = False
    """The policy in force says that people need no credential."""
    book: Book | None = None
    """That policy."""


class People:
    """Everybody's keys, and who was named when, as the entries have it."""

    def __init__(self) -> None:
        self.subjects: dict[tuple[Key, ...], int] = {}
        """With the newest entry of each."""
        self.keys: dict[str, list[PublicKey]] = {}
        self.invitations: dict[str, PublicKey] = {}
        """Those that nobody has used yet."""
        self._named: list[tuple[int, Roles | None]] = []
        self._activations: list[Said] = []
        """All of them; who signed one is looked at if it matters."""

    def at(self, seq: int) -> Roles | None:
        """Whom the policy named that was in force when an entry was written; None: nobody."""
        return next((roles for since, roles in reversed(self._named) if since <= seq), None)

    @property
    def now(self) -> Roles | None:
        """Whom the policy in force names."""
        return self._named[-1][1] if self._named else None

    def may(self, name: str | None, roles: frozenset[str], seq: int) -> bool:
        """Whether somebody had one of these roles when an entry was written."""
        named = self.at(seq)
        return named is not None and name is not None and not roles.isdisjoint(named.get(name, ()))

    def signed(self, said: Said, name: str) -> bool:
        """Whether the key that somebody had then signed the entry."""
        key = next((key for key in reversed(self.keys.get(name, ())) if key.since <= said.seq), None)
        return key is not None and said.signed is not None and verifies(key.key, said.signed, said.message)

    def add(self, said: Said) -> None:
        """Takes an entry in; the one after the other. Raises StateForged for a credential that nobody may set."""
        kind = said.state.of[0]
        if said.state.after != self.subjects.get(said.state.of):
            raise StateForged(f"entry {said.seq}, about who people are, does not follow the one before it")
        self.subjects[said.state.of] = said.seq
        if kind == ACTIVATION.name:
            self._activated(said)
        elif kind == INVITATION.name:
            self._invited(said)
        else:
            self._set(said, str(said.state.of[1]))

    def _activated(self, said: Said) -> None:
        """One that nobody who may activated names nobody."""
        named = self.at(said.seq) is not None
        if (said.people or named) and self.counts(said):
            self._named.append((said.seq + 1, said.people or None))
        self._activations.append(said)

    def counts(self, one: Said) -> bool:
        """Whether somebody activated it who might, or who needed no credential under the policy before."""
        before = [activation for activation in self._activations if activation.seq < one.seq]
        keys = self.keys.get(PERSON, ())
        while self.at(one.seq) is None:
            if not keys or one.seq < keys[0].since or (one.person is None and self.signed(one, PERSON)):
                return True
            if not before or before[-1].credential != NONE:
                return False
            one = before.pop()
        return self.may(one.person, OWNER, one.seq) and self.signed(one, str(one.person))

    def none_needed(self, seq: int) -> bool:
        """Whether people needed no credential under the policy that was in force when an entry was written."""
        one = next((activation for activation in reversed(self._activations) if activation.seq < seq), None)
        return one is not None and one.credential == NONE and self.counts(one)

    def _invited(self, said: Said) -> None:
        by = said.person if said.person is not None else PERSON
        if (by != PERSON and not self.may(by, OWNER, said.seq)) or not self.signed(said, by):
            raise StateForged(f"entry {said.seq} invites somebody, and who wrote it may not")
        self.invitations[str(said.state.of[1])] = PublicKey(said.seq + 1, _key_in(said))

    def _set(self, said: Said, name: str) -> None:
        keys, invited = self.keys.setdefault(name, []), self.invitations.get(name)
        fine = self.signed(said, name) if keys else name == PERSON
        if not fine and invited is not None and said.signed is not None:
            fine = verifies(invited.key, said.signed, said.message)
            del self.invitations[name]
        if not fine:
            raise StateForged(f"entry {said.seq} sets a passphrase, and who wrote it did not know the one before")
        keys.append(PublicKey(said.seq + 1, _key_in(said)))


def _key_in(said: Said) -> bytes:
    return base64.b64decode(str(said.row.get("key")))


def _under(kind: Kind) -> tuple[str, str]:
    """Between these lie the subjects of a kind."""
    start = subject_of(kind)[:-1] + ","
    return start, start + "\U0010ffff"


_SUBJECTS = (subject_of(ACTIVATION), *_under(CREDENTIAL), *_under(INVITATION))
_WITHIN = " UNION ALL ".join(["SELECT {} FROM leaf WHERE subject >= ? AND subject < ?"] * 2)
_PLACE = "seq, hash, stamp"
_NEWEST = f"SELECT {_PLACE} FROM (SELECT {_PLACE} FROM leaf WHERE subject = ? ORDER BY seq DESC LIMIT 1) AS newest"  # noqa: S608
_LAST = " UNION ALL ".join((_NEWEST, _WITHIN.format(*[_PLACE] * 2)))
_ALL = " UNION ALL ".join(
    ("SELECT seq, hash, body, stamp FROM leaf WHERE subject = ?", _WITHIN.format(*["seq, hash, body, stamp"] * 2))
)
_FIRST: tuple[tuple[Key, ...], ...] = ((CREDENTIAL.name, PERSON), (ACTIVATION.name,))
"""What is looked for even if nothing is found: without them, no signature would be needed."""
_known: dict[tuple[int, bytes], People] = {}


def people_of(view: Transaction) -> People:
    """Everybody, as the ledger has it. Raises StateForged if somebody's key replaced another without its signature."""
    settle(view)
    rows = view.rows(_LAST, *_SUBJECTS)
    if len(fitting(view, rows)) < len(rows):
        rows = fitting(view, view.rows(_ALL, *_SUBJECTS))
    last = max(((int(row[0]), bytes(row[1])) for row in rows), default=None)
    if last is None:
        _check_there(view, ())
        return People()
    if last not in _known:
        if len(_known) > 100:
            _known.clear()
        found = People()
        for seq, kept, body, _ in sorted(fitting(view, view.rows(_ALL, *_SUBJECTS))):
            found.add(_read(Stored(int(seq), bytes(kept), bytes(body))))
        _known[last] = found
    _check_there(view, _known[last].subjects)
    return _known[last]


def _check_there(view: Transaction, subjects: Iterable[tuple[Key, ...]]) -> None:
    """That the newest entry of each is found, as this machine remembers it. Raises StateForged."""
    newest(view, *((KINDS[str(of[0])], of[1:]) for of in dict.fromkeys((*_FIRST, *subjects))))


def _read(entry: Stored) -> Said:
    said = read_state(*entry)
    if said is None or said.state.of[0] not in (CREDENTIAL.name, INVITATION.name, ACTIVATION.name):
        raise StateForged(f"entry {entry.seq} about the passphrase does not follow the one before it")
    return said


def public_keys(view: Transaction, name: str = PERSON) -> list[PublicKey]:
    """The keys of a person, or of the project, the newest last. Raises StateForged."""
    return people_of(view).keys.get(name, [])


def check_person(view: Transaction, kind: Kind, row: Row, said: Said, trust: Trust) -> None:
    """That a person brought it about who may, if only a person can. Raises StateForged (`state-unsigned`).

    The step counts that gave the authority: whoever repairs a clock later gives none.
    """
    said = said.given or said
    if not kind.by_person(row) or is_signed(view, said):
        return
    people = people_of(view)
    none_needed = trust.none_needed or people.none_needed(said.seq)
    if people.at(said.seq) is None and (said.seq in trust.made or none_needed):
        return
    what = f"nobody who may brought about {name_of(kind, said.state.of[1:])} (entry {said.seq})"
    raise StateForged(what, code=UNSIGNED, help="a person gives it again, with the passphrase")


def check_activation(view: Transaction, said: Said) -> None:
    """That a person activated it who may, or needed no credential under the policy before. Raises StateForged."""
    if not people_of(view).counts(said):
        what = f"nobody who may activated the policy of entry {said.seq}"
        raise StateForged(what, code=UNSIGNED, help="run `remit activate` again")


def is_signed(view: Transaction, said: Said) -> bool:
    """Whether somebody who could then bring the state about signed it; also true if nobody could sign then.

    Raises StateForged.
    """
    if said.signed is not None and (said.hash, said.signed) in _verified:
        return True
    people, kind = people_of(view), KINDS[str(said.state.of[0])]
    if kind is ANSWER:  # always of the one person whom it names
        fine = said.person == said.state.of[2] and people.signed(said, str(said.person))
        fine = fine and (people.at(said.seq) is None or people.may(said.person, kind.roles, said.seq))
    elif kind is INVITATION:
        return True  # or `people_of` would have said so
    elif people.at(said.seq) is not None:
        fine = people.may(said.person, kind.roles, said.seq) and people.signed(said, str(said.person))
    else:
        keys = people.keys.get(PERSON, ())
        if not keys or said.seq < keys[0].since:
            return True
        fine = said.person is None and people.signed(said, PERSON)
    if fine and said.signed is not None:
        if len(_verified) > 10_000:
            _verified.clear()
        _verified.add((said.hash, said.signed))
    return fine


_verified: set[tuple[bytes, str]] = set()
"""Signatures that were verified, by the hash of their entry, which never changes."""


def verifies(key: bytes, signature: str, message: bytes) -> bool:
    """Whether the signature is of this key over this message."""
    from cryptography.exceptions import InvalidSignature  # here: it takes long, and few processes check signatures
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        Ed25519PublicKey.from_public_bytes(key).verify(base64.b64decode(signature, validate=True), message)
    except (InvalidSignature, ValueError):
        return False
    return True
