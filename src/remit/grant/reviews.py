"""Reviews: that a person looks at what an agent may do, and at every standing grant, again and again.

    for one in reviews(book, now, signed):
        print(one.who, one.state)                # fine, due, overdue

When somebody last reviewed something stands in the policy (`reviewed`) or in the ledger, whichever is newer. A change
of a role makes every agent of that role due at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Literal

import msgspec

from remit.grant.clock import Clock
from remit.grant.errors import GrantError
from remit.grant.notes import Scribe
from remit.model.decoding import Decoding
from remit.model.moments import duration, moment, seconds_of
from remit.model.policy import Caller, Grant
from remit.model.rulebook import Book
from remit.model.text import shown, suggestion
from remit.record.people import Trust, check_person
from remit.record.state import REVIEW, newest_under
from remit.store.interface import Transaction

EVERY, WARN = "90d", "100d"
DAY = 86_400


class Signed(msgspec.Struct, frozen=True, omit_defaults=True):
    """What the ledger says last of one review: it was signed, or it became due."""

    state: Literal["signed", "due"]
    at: str
    by: str
    because: str = ""
    ref: str | None = None


class Review(msgspec.Struct, frozen=True, omit_defaults=True):
    """How one review stands."""

    who: str
    """An agent, or a standing grant: `grant ADR-7 of coder`."""
    state: Literal["fine", "due", "overdue"]
    agent: str
    on: str | None
    """When it was last reviewed; None: never."""
    by: str | None
    next: str | None
    """When it is due; None: now."""
    why: str = ""
    """Why it is due before its time."""
    days: int | None = None
    """Since it was last reviewed."""


_SIGNED = Decoding(Signed)


def signed(view: Transaction, trust: Trust) -> dict[str, Signed]:
    """What the ledger says of reviews, by what was reviewed. Raises StateForged."""
    found = {}
    for said in newest_under(view, REVIEW):
        check_person(view, REVIEW, said.row, said, trust)
        found[str(said.state.of[1])] = _SIGNED.convert(said.row)
    return found


def reviews(book: Book, now: str, signed: Mapping[str, Signed]) -> list[Review]:
    """How all reviews stand that the policy demands: where it says `review`, or `reviewed`; the worst first."""
    found = [
        _standing(caller.name, caller, caller.reviewed, now, signed.get(caller.name))
        for caller in book.callers.values()
        if caller.kind != "role" and (caller.review is not None or caller.reviewed is not None)
    ]
    for grant in book.grants:
        owner = book.callers.get(grant.agent)
        if owner is not None and (grant.reviewed is not None or owner.review is not None) and grant.until > now:
            name = grant_name(grant)
            found.append(_standing(name, owner, grant.reviewed, now, signed.get(name)))
    order = {"overdue": 0, "due": 1, "fine": 2}
    return sorted(found, key=lambda one: (order[one.state], one.on or "", one.who))


def grant_name(grant: Grant) -> str:
    """How a review names a standing grant."""
    return f"grant {grant.adr or f'until {grant.until}'} of {grant.agent}"


def _standing(who: str, owner: Caller, reviewed: Mapping[str, str] | None, now: str, said: Signed | None) -> Review:
    on, by = (reviewed["on"], reviewed["by"]) if reviewed is not None else (None, None)
    if said is not None and said.state == "signed" and (on is None or said.at > on):
        on, by = said.at, said.by
    made_due = said is not None and said.state == "due" and (on is None or said.at >= on)
    why = f"{said.because} ({said.ref})" if made_due and said is not None and said.ref else ""
    if on is None:
        return Review(who, "due", owner.name, None, None, None, why or "it was never reviewed")
    terms = owner.review or {}
    age = seconds_of(now) - seconds_of(on)
    every, warn = duration(terms.get("every", EVERY)), duration(terms.get("warn", WARN))
    days = int(age // DAY)
    if age >= warn:
        return Review(who, "overdue", owner.name, on, by, None, why, days)
    if made_due or age >= every:
        why = why or (said.because if made_due and said is not None else "")
        return Review(who, "due", owner.name, on, by, None, why, days)
    return Review(who, "fine", owner.name, on, by, moment(seconds_of(on) + every), "", days)


def sign_review(
    change: Transaction, book: Book, who: str, *, by: str, because: str, clock: Clock, scribe: Scribe, ref: str | None
) -> Signed:
    """Records that a person reviewed it. Raises GrantError if the policy demands no such review."""
    now = clock.tick(change)
    known = [one.who for one in reviews(book, now, {})]
    if who not in known:
        what = f"nothing in the policy that needs a review is named `{shown(who)}`{suggestion(who, known)}"
        raise GrantError(what, code="unknown-review", help="`remit review` lists what is")
    made = Signed("signed", now, by, because, ref)
    _put(change, who, made, scribe)
    return made


def of_role(book: Book, role: str) -> Iterator[str]:
    """The agents of a role that are reviewed."""
    for caller in book.callers.values():
        reviewed = caller.review is not None or caller.reviewed is not None
        if caller.kind != "role" and role in caller.roles and reviewed:
            yield caller.name


def make_due(
    change: Transaction, book: Book, roles: Iterable[str], *, by: str, ref: str, now: str, scribe: Scribe
) -> tuple[str, ...]:
    """Every agent of these roles is to be reviewed now; returns whom that concerns. Raises StoreError."""
    found: dict[str, str] = {}
    for role in roles:
        for agent in of_role(book, role):
            found.setdefault(agent, role)
    for agent, role in found.items():
        _put(change, agent, Signed("due", now, by, f"the role {role} was changed", ref), scribe)
    return tuple(found)


def _put(change: Transaction, who: str, made: Signed, scribe: Scribe) -> None:
    row = {"state": made.state, "at": made.at, "by": made.by, "because": made.because, "ref": made.ref}
    about = {"what": made.state, "of": who, "by": made.by, "ref": made.ref}
    scribe.put(change, REVIEW, (who,), row, "review", about)
