"""Answers from another machine, which has neither the store nor any key of it.

    request = make_request(authority, "A-17", "bob")            # on the project's machine
    answer = sign_answer(request, "approve", passphrase, …)     # on bob's
    take_answer(authority, answer)                              # on the project's again

What is signed is the entry that the ledger will have, and with it the digest of all that was shown: if somebody changes
the request or the answer on its way, nothing is recorded. Whoever carries the files learns what the call is, and
nothing by which they could answer.
"""

from __future__ import annotations

import base64
from typing import Any, Literal, TypeVar

import msgspec

from remit.grant import asks
from remit.grant.asks import AskState
from remit.grant.authority import Authority
from remit.grant.credential import derive, kept_with
from remit.grant.errors import GrantError
from remit.model.decoding import Decoding
from remit.model.digest import sha256
from remit.model.task import Ask
from remit.record.people import people_of, verifies
from remit.record.state import ANSWER, Sign, State, message_of, newest

EVENT = "approval"
MOST = 16 << 20
"""Bytes of a request or an answer."""


class Request(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="request", tag_field="remit"):
    """One call that waits, for one person to answer elsewhere."""

    id: str
    seq: int
    digest: str
    expires: str
    person: str
    after: int | None
    """The entry of this person's last answer to it."""
    salt: bytes
    parameters: str
    """What makes a key of the passphrase."""
    ask: Ask
    sealed: dict[str, Any]
    """`args`, `statement` and `cwd`."""

    @property
    def asked(self) -> AskState:
        """The question, to be shown."""
        return AskState(self.seq, self.digest, self.ask, "open", self.expires, None, None, None, None)


class Answer(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="answer", tag_field="remit"):
    """What a person answered to a request, signed."""

    id: str
    person: str
    answer: Literal["approve", "refuse"]
    at: str
    seen: str
    """The digest of what was shown, and of the reason."""
    signature: str
    because: str | None = None


_REQUEST, _ANSWER = Decoding(Request), Decoding(Answer)


def make_request(authority: Authority, name: str, person: str) -> Request:
    """What a person needs to answer a question elsewhere. Raises GrantError, LedgerError and StateForged."""
    found = authority.asked(name)
    if found.state != "open":
        raise GrantError(f"{found.id} is {found.state} already", code="approval-closed")
    if found.ask.people is None:
        what = "the policy names no people, and only people whom it names can answer elsewhere"
        raise GrantError(what, code="no-people", help="name them under `people:`")
    salt, parameters = kept_with(authority.store, person)
    with authority.store.read() as view:
        [said] = newest(view, (ANSWER, (found.seq, person)))
    return Request(
        id=found.id,
        seq=found.seq,
        digest=found.digest,
        expires=found.expires,
        person=person,
        after=said.seq if said is not None else None,
        salt=salt,
        parameters=parameters,
        ask=found.ask,
        sealed=authority.arguments(found.id),
    )


def read_request(data: bytes) -> Request:
    """A request from a file. Raises GrantError."""
    return _read(_REQUEST, data, "request")


def read_answer(data: bytes) -> Answer:
    """An answer from a file. Raises GrantError."""
    return _read(_ANSWER, data, "answer")


T = TypeVar("T")


def _read(form: Decoding[T], data: bytes, what: str) -> T:
    try:
        return form.decode(data[:MOST])
    except (msgspec.MsgspecError, UnicodeError):
        raise GrantError(f"this is not a {what} of Remit", code=f"bad-{what}") from None


def sign_answer(
    request: Request, verdict: Literal["approve", "refuse"], passphrase: str, *, at: str, because: str | None = None
) -> Answer:
    """The answer, signed with the key of the passphrase, whether or not it is the right one. Raises CredentialError."""
    seen = _seen(request.ask, request.sealed, because)
    row = asks.answer_row(request.asked, verdict, at, seen)
    state = State((ANSWER.name, request.seq, request.person), request.after, row)
    sign = derive(passphrase, request.salt, request.parameters, request.person)
    signature = base64.b64encode(sign(message_of(EVENT, state))).decode()
    return Answer(request.id, request.person, verdict, at, seen, signature, because)


def take_answer(authority: Authority, answer: Answer) -> AskState:
    """Records an answer that was given elsewhere, if that person gave it to this very call.

    Raises GrantError, LedgerError and StateForged.
    """
    found = authority.asked(answer.id)
    if found.state == "open" and answer.seen != _seen(found.ask, authority.arguments(found.id), answer.because):
        raise GrantError(f"{answer.person} was shown something other than {found.id}", code="not-what-was-seen")

    with authority.store.write() as change:
        keys = people_of(change).keys.get(answer.person)

        def signature(message: bytes) -> bytes:
            if not keys or not verifies(keys[-1].key, answer.signature, message):
                what = f"this is not signed by {answer.person}, or not for {found.id} as it is now"
                raise GrantError(what, code="bad-answer", help="hand out a new request")
            return base64.b64decode(answer.signature)

        return asks.answer(
            change,
            found.id,
            answer.answer,
            by=answer.person,
            kind="human",
            clock=authority.clock,
            scribe=authority.scribe._replace(sign=Sign(signature, answer.person)),
            because=answer.because,
            signed=(answer.at, answer.seen),
        )


def _seen(ask: Ask, sealed: dict[str, Any], because: str | None) -> str:
    """The digest of all that somebody is shown, and of why they answered so."""
    shown = {"ask": msgspec.to_builtins(ask), "sealed": sealed, "because": because}
    return sha256(msgspec.json.encode(shown, order="deterministic")).hexdigest()
