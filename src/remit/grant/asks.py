"""Asks: calls that wait for an answer, and the answers. Each ends once, whoever is quicker; refusing beats approving.

Where the policy names people, each answers for themselves, and an ask is approved once enough of them have.

open ──approve──▶ approved ──the call runs──▶ used
  │                  │
  └──refuse──────────┴──▶ refused        expired, cancelled: nobody answered, or the task ended
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

import msgspec

from remit.grant.clock import Clock
from remit.grant.errors import GrantError
from remit.grant.notes import Scribe
from remit.model.decoding import Decoding
from remit.model.digest import sha256
from remit.model.facts import Approval
from remit.model.people import APPROVER
from remit.model.policy import Caller
from remit.model.rulebook import OPEN_QUESTIONS, Book
from remit.model.task import Ask
from remit.model.text import shown
from remit.record.people import UNSIGNED, Trust, check_person, is_signed, people_of
from remit.record.state import (
    ANSWER,
    ASK,
    PEOPLE,
    Row,
    StateForged,
    check_row,
    is_explained,
    new_salt,
    newest,
    newest_under,
)
from remit.record.vault import forget
from remit.store.interface import Transaction

ANSWER_WITHIN = 24 * 3600.0
USE_WITHIN = 3600.0
"""Seconds: an answer is for a call that is about to be made."""
_ASK = Decoding(Ask)
COLUMNS = ", ".join(ASK.columns)


class AskState(NamedTuple):
    """An ask with its state: what became of it."""

    seq: int
    digest: str
    ask: Ask
    state: str
    expires: str
    answered: str | None
    by: str | None
    by_kind: str | None
    because: str | None
    row: Row = MappingProxyType({})
    """As it is stored."""
    approved: tuple[str, ...] = ()
    """The people who approved it, where the policy names people."""

    @property
    def id(self) -> str:
        """`A-17`."""
        return f"A-{self.seq}"


def open_ask(
    change: Transaction,
    digest: str,
    ask: Ask,
    *,
    now: str,
    clock: Clock,
    scribe: Scribe,
    seal: Callable[[str], None],
    within: float = ANSWER_WITHIN,
    most: int = OPEN_QUESTIONS,
) -> AskState:
    """The open ask for exactly this call; made if there is none yet, its arguments sealed. Raises RemitError."""
    found = find_open(change, digest, now)
    if found is not None:
        return found
    for column, name in (("agent", ask.agent), ("capsule", ask.capsule)):
        _check_open(change, column, name, now, most)
    seq = _next_number(change)
    ask = msgspec.structs.replace(ask, asked=now)
    made = dict.fromkeys(ASK.columns) | {
        "seq": seq,
        "digest": digest,
        "body": msgspec.json.encode(ask),
        "agent": ask.agent,
        "capsule": ask.capsule,
        "asked_of": ask.of,
        "state": "open",
        "expires": clock.after(now, within),
        "salt": new_salt(),
    }
    about = {
        "what": "asked",
        "approval": f"A-{seq}",
        "agent": ask.agent,
        "tool": ask.tool,
        "of": ask.of,
        "tier": ask.tier,
        "capsule": ask.capsule,
        "code": ask.code,
        "digest": digest,
    }
    scribe.put(change, ASK, (seq,), made, "approval", about)
    seal(f"A-{seq}")
    return ask_state(tuple(made.values()))


def _next_number(change: Transaction) -> int:
    """The number of a new question: the first one after the newest that an entry explains, and that nothing has.

    Rows that somebody added are passed over, whatever their numbers are.
    """
    number = 1
    for (seq,) in change.each("SELECT seq FROM ask ORDER BY seq DESC"):
        if is_explained(change, ASK, (int(seq),)):
            number = int(seq) + 1
            break
    while change.row("SELECT 1 FROM ask WHERE seq = ?", number) is not None or is_explained(change, ASK, (number,)):
        number += 1
    return number


def find_open(view: Transaction, digest: str, now: str) -> AskState | None:
    """The ask for exactly this call that can still be answered. Raises StateForged."""
    row = view.row(f"SELECT {COLUMNS} FROM ask WHERE digest = ? AND state = 'open' AND expires > ?", digest, now)  # noqa: S608
    return _checked(view, row) if row is not None else None


def _check_open(view: Transaction, column: str, name: str | None, now: str, most: int) -> None:
    """Raises GrantError if an agent or a task has as many open questions as it may have."""
    query = f"SELECT count(*) FROM ask WHERE {column} = ? AND state = 'open' AND expires > ?"  # noqa: S608
    row = view.row(query, name, now) if name is not None else None
    if row is not None and row[0] >= most:
        raise GrantError(
            f"{name} has {row[0]} open questions already, which is the limit: wait for answers, or withdraw some",
            code="too-many-questions",
        )


def find(view: Transaction, name: str) -> AskState:
    """The ask of an id. Raises GrantError and StateForged."""
    seq = int(name[2:]) if name.startswith("A-") and name[2:].isdecimal() and len(name) < 20 else 0
    row = view.row(f"SELECT {COLUMNS} FROM ask WHERE seq = ?", seq)  # noqa: S608
    if row is None:
        what = f"there is no question `{shown(name, 40)}`"
        raise GrantError(what, code="unknown-approval", help="`remit approvals` lists what waits")
    return _checked(view, row)


def _checked(view: Transaction, row: tuple[object, ...], trust: Trust | None = None) -> AskState:
    """The ask of a row, if the ledger says the same; with `trust`, an approval by a person only if one gave it.

    Raises StateForged.
    """
    found = ask_state(row)
    [said] = newest(view, (ASK, (found.seq,)))
    said = check_row(ASK, (found.seq,), found.row, said)
    if trust is not None:
        check_person(view, ASK, found.row, said, trust)
    return found


def seal_of(digest: str, ask: Ask) -> str:
    """What is sealed beside the arguments: which call it is, and all that people are shown of it."""
    return sha256(digest.encode() + msgspec.json.encode(msgspec.structs.replace(ask, asked=""))).hexdigest()


def check_sealed(found: AskState, seal: str | None) -> None:
    """That what was sealed for an ask, and what people are shown, is the call that it is about: nobody who can only
    write to the store can seal others. Raises StateForged."""
    if seal != seal_of(found.digest, found.ask):
        raise StateForged(f"{found.id} is about another call than the one whose arguments were kept for it")


def waiting(view: Transaction, now: str) -> list[AskState]:
    """Every ask that can still be answered, the oldest first; not one that is another than the ledger says."""
    rows = view.rows(f"SELECT {COLUMNS} FROM ask WHERE state = 'open' AND expires > ? ORDER BY seq", now)  # noqa: S608
    found = []
    for row in rows:
        with suppress(StateForged):
            found.append(with_answers(view, _checked(view, row)))
    return found


def with_answers(view: Transaction, found: AskState) -> AskState:
    """The ask with those who have approved it so far. Raises StateForged."""
    if found.ask.people is None:
        return found
    said = answers_to(view, found)
    return found._replace(approved=tuple(sorted(name for name, answer in said.items() if answer == "approve")))


def answers(view: Transaction, digest: str, now: str, trust: Trust, *, named: bool = False) -> tuple[Approval, ...]:
    """The answers that a decision on exactly this call may count. Raises StateForged.

    `named`: the policy names people, so that only answers count that one of them signed.
    """
    query = f"SELECT {COLUMNS} FROM ask WHERE digest = ? AND state IN ('approved', 'refused') AND expires > ?"  # noqa: S608
    found = [_checked(view, row, trust) for row in view.rows(query, digest, now)]
    if named:
        theirs = [(one, name, said) for one in found for name, said in answers_to(view, one).items()]
        people = tuple(Approval(one.id, digest, name, "human", said, one.expires) for one, name, said in theirs)
        found = [one for one in found if one.by_kind == "agent" or one.state == "refused"]
    else:
        people = ()
        # What people approved under a policy that named them rests on their answers; under another it is asked again.
        found = [one for one in found if one.by_kind != PEOPLE or one.state == "refused"]
    return people + tuple(
        Approval(
            id=one.id,
            digest=one.digest,
            by=one.by or "",
            of="agent" if one.by_kind == "agent" else "human",
            answer="approve" if one.state == "approved" else "refuse",
            expires=one.expires,
        )
        for one in found
    )


def answers_to(view: Transaction, found: AskState) -> dict[str, Literal["approve", "refuse"]]:
    """What each person answered to exactly this ask, signed by them. Raises StateForged."""
    answered: dict[str, Literal["approve", "refuse"]] = {}
    for said in newest_under(view, ANSWER, found.seq):
        if said.row.get("digest") != found.digest or not is_signed(view, said):
            what = f"entry {said.seq} answers {found.id}, and the person whom it names did not sign it"
            raise StateForged(what, code=UNSIGNED)
        answered[str(said.state.of[2])] = "approve" if said.row.get("answer") == "approve" else "refuse"
    return answered


def answer_row(found: AskState, verdict: str, at: str, seen: str | None) -> dict[str, Any]:
    """What a person signs: the verdict on the call of this digest, when, and the digest of what they saw elsewhere."""
    return {"answer": verdict, "digest": found.digest, "at": at, "seen": seen}


def _answer_by_name(
    change: Transaction,
    found: AskState,
    verdict: Literal["approve", "refuse"],
    by: str,
    now: str,
    clock: Clock,
    scribe: Scribe,
    because: str | None,
    signed: tuple[str, str | None] | None,
) -> AskState:
    """One person's answer. The ask is refused with the first refusal, and approved with the last approval it needs."""
    if scribe.sign is None or scribe.sign.person != by:
        what = "the policy names people: an answer is given by one of them, with their own passphrase"
        raise GrantError(what, code="not-a-person", help="`remit approve`, or `remit answer` on another machine")
    able = found.ask.people or ()
    if verdict == "approve" and by not in able:
        who = f"{', '.join(able)} may" if able else "nobody may"
        raise GrantError(f"{by} may not approve {found.id}: {who}", code="may-not-approve")
    _check_role(change, by)  # by the policy in force, which may be another than the one that it was asked under
    before = answers_to(change, found)
    if before.get(by) != verdict:
        at, seen = signed if signed is not None else (now, None)
        about = {"what": "answered", "approval": found.id, "by": by, "answer": verdict, "agent": found.ask.agent}
        private = {"because": because} if because else {}
        row = answer_row(found, verdict, at, seen)
        scribe.put(change, ANSWER, (found.seq, by), row, "approval", about, private)
    approved = sorted(name for name, said in {**before, by: verdict}.items() if said == "approve")
    if verdict == "approve" and len(approved) < found.ask.approvals:
        return found._replace(approved=tuple(approved))
    state = "approved" if verdict == "approve" else "refused"
    expires = min(found.expires, clock.after(now, USE_WITHIN)) if verdict == "approve" else found.expires
    who = ", ".join(approved) if verdict == "approve" else by
    columns = {"state": state, "answered": now, "answerer": who, "answerer_kind": PEOPLE, "because": because}
    about = {"what": state, "approval": found.id, "by": who, "kind": PEOPLE, "agent": found.ask.agent}
    about["digest"] = found.digest
    unsigned = scribe._replace(sign=None)  # it follows from the answers, and those are signed
    changed = _change(change, found, {**columns, "expires": expires}, about, unsigned)
    forget(change, found.id)
    return changed._replace(approved=tuple(approved))


def _check_role(view: Transaction, name: str) -> None:
    """Raises GrantError for somebody who may answer nothing."""
    named = people_of(view).now
    if named is not None and APPROVER.isdisjoint(named.get(name, ())):
        raise GrantError(f"{name} may not answer", code="not-your-role")


def answer(
    change: Transaction,
    name: str,
    verdict: Literal["approve", "refuse"],
    *,
    by: str,
    kind: Literal["human", "agent"],
    clock: Clock,
    scribe: Scribe,
    because: str | None = None,
    signed: tuple[str, str | None] | None = None,
) -> AskState:
    """Records an answer. Raises StateForged, and GrantError: too late, answered otherwise, or not theirs to answer.

    `signed`, of an answer from another machine: when it was given, and the digest of what was seen there.
    """
    now = clock.tick(change)
    found = find(change, name)
    if kind == "agent" and by == found.ask.agent:
        raise GrantError("nobody answers for itself", code="self-approval")
    if found.state in ("open", "approved") and found.expires <= now:
        raise GrantError(f"{name} expired at {found.expires}", code="approval-expired")
    if found.state == "approved" and verdict == "approve":
        return found
    if found.state == "refused" and verdict == "refuse":
        return found
    if found.state != "open" and not (found.state == "approved" and verdict == "refuse"):
        raise GrantError(f"{name} is {found.state} already", code="approval-closed")
    if verdict == "approve":
        clock.sure(change)
    if kind == "human" and found.ask.people is not None:
        return _answer_by_name(change, found, verdict, by, now, clock, scribe, because, signed)
    state = "approved" if verdict == "approve" else "refused"
    expires = min(found.expires, clock.after(now, USE_WITHIN)) if verdict == "approve" else found.expires
    said = {"state": state, "answered": now, "answerer": by, "answerer_kind": kind, "because": because}
    about = {
        "what": state,
        "approval": found.id,
        "by": by,
        "kind": kind,
        "agent": found.ask.agent,
        "digest": found.digest,
    }
    private = {"because": because} if because else {}
    changed = _change(change, found, {**said, "expires": expires}, about, scribe, private)
    forget(change, found.id)
    return changed


def _change(
    change: Transaction,
    found: AskState,
    columns: Row,
    about: dict[str, Any],
    scribe: Scribe,
    private: dict[str, Any] | None = None,
) -> AskState:
    row = {**found.row, **columns}
    scribe.put(change, ASK, (found.seq,), row, "approval", about, private)
    return ask_state(tuple(row[name] for name in ASK.columns))


def may_answer(book: Book, found: AskState, agent: str) -> None:
    """Raises GrantError unless the agent is the one that was asked."""
    caller: Caller | None = book.callers.get(agent)
    if caller is None or not caller.enabled or not (found.ask.of == agent or found.ask.of in caller.roles):
        raise GrantError(f"{found.id} was not asked of {agent}", code="not-asked")


def use(
    change: Transaction, digest: str, counted: frozenset[str], *, now: str, scribe: Scribe, trust: Trust
) -> tuple[str, ...]:
    """Uses up every approval of exactly this call; returns their ids.

    `counted` are those that the decision rests on. Raises GrantError if one of these is not there any more, and
    StateForged.
    """
    query = f"SELECT {COLUMNS} FROM ask WHERE digest = ? AND state IN ('approved', 'refused') AND expires > ?"  # noqa: S608
    found = [_checked(change, row, trust) for row in change.rows(query, digest, now)]
    refused = next((one for one in found if one.state == "refused"), None)
    if refused is not None:
        raise GrantError(f"{refused.by} refused this call", code="refused")
    if not found or not counted.issubset(one.id for one in found):
        raise GrantError("the approval was used, withdrawn or has expired", code="approval-used")
    for one in found:
        about = {"what": "used", "approval": one.id, "agent": one.ask.agent, "digest": digest}
        _change(change, one, {"state": "used"}, about, scribe)
    return tuple(one.id for one in found)


def cancel(change: Transaction, name: str, *, by: str, scribe: Scribe) -> None:
    """Whoever asked waits no longer. Raises StateForged, and GrantError if it was used or refused."""
    found = find(change, name)
    if found.state not in ("open", "approved"):
        raise GrantError(f"{name} is {found.state} already", code="approval-closed")
    close(change, found.seq, "cancelled", {"by": by}, scribe)


def cancel_all(change: Transaction, capsule: str, *, by: str, scribe: Scribe) -> None:
    """The capsule has ended: nobody is asked for it any more."""
    rows = change.rows("SELECT seq FROM ask WHERE capsule = ? AND state IN ('open', 'approved') ORDER BY seq", capsule)
    for (seq,) in rows:
        with suppress(StateForged):  # what was forged counts for nothing, and verifying names it
            close(change, seq, "cancelled", {"by": by, "capsule": capsule}, scribe)


def close(
    change: Transaction, seq: int, state: Literal["cancelled", "expired"], about: dict[str, Any], scribe: Scribe
) -> None:
    """An ask that ends without an answer, or before its answer was used. Raises StateForged."""
    found = find(change, f"A-{seq}")
    _change(change, found, {"state": state}, {"what": state, "approval": found.id, **about}, scribe)
    forget(change, found.id)


def move(change: Transaction, seq: int, expires: str, scribe: Scribe) -> None:
    """It ends at another moment, since the clock was repaired. Raises StateForged."""
    found = find(change, f"A-{seq}")
    _change(change, found, {"expires": expires}, {"what": "moved", "approval": found.id}, scribe)


def ask_state(row: tuple[object, ...]) -> AskState:
    """As it is stored, whatever the ledger says. Raises StateForged if it can't be read."""
    found: dict[str, Any] = dict(zip(ASK.columns, row, strict=True))
    try:
        ask, by = _ASK.decode(bytes(found["body"])), found["answerer"]
    except (msgspec.MsgspecError, UnicodeError, TypeError):
        raise StateForged(f"what was asked as A-{found['seq']} can't be read") from None
    state, expires, answered = found["state"], found["expires"], found["answered"]
    kind, because = found["answerer_kind"], found["because"]
    return AskState(found["seq"], found["digest"], ask, state, expires, answered, by, kind, because, found)
