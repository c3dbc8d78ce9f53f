"""State: what authority rests on, as the ledger says it. The newest entry of a subject says how it stands.

Every change of authority is an entry that says what came of it: `"state":{"after":1204,"of":["ask",17],"row":{…}}`.
`after` is the entry before it of the same subject, so that no entry can be repeated later. Tables only help to find
things: a row counts if the newest entry of its subject says exactly this row, and `check_row` is asked at every use.
Anybody who can write to the store can append an entry. So only those count that have Remit's stamp; and where a state
has a course (a question is open, approved, used), all entries of the subject are gone through, and each must be a step
that can follow the one before it.

Each kind of state is declared once, in `KINDS`; checking it at use and verifying it is the same for all of them.
"""

from __future__ import annotations

import base64
import os
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any, NamedTuple

import msgspec

from remit.model.decoding import Decoding
from remit.model.digest import sha256
from remit.model.errors import RemitError
from remit.model.people import APPROVER, AUDITOR, OPERATOR, OWNER
from remit.record.append import add, settle, subject_in
from remit.record.canonical import MAX_INT, encode
from remit.record.entry import event_entry
from remit.record.lease import ELSEWHERE
from remit.record.listed import STATES, list_of, listed_places, note_listed
from remit.record.stamp import fitting, stamps_of
from remit.record.tree import leaf_hash
from remit.store.interface import Transaction, Value

FORGED = "state-forged"
Key = str | int
Row = Mapping[str, Any]
_MESSAGE = b"remit state v1\n"


PEOPLE = "people"
"""Of an ask, who answered it where the policy names people: their own answers say who."""


class Sign(NamedTuple):
    """What signs for a person, and who that is; None: whoever has the project's passphrase."""

    make: Callable[[bytes], bytes]
    person: str | None = None

    def __call__(self, message: bytes) -> bytes:
        return self.make(message)


class StateForged(RemitError):
    """Something in the store is not what the ledger says."""

    code = FORGED


def _nobody(row: Row) -> bool:
    return False


Course = Callable[[Row | None, Row], bool]
"""Whether a row can follow another one; None: whether it can be the first."""


class Kind(msgspec.Struct, frozen=True, kw_only=True):
    """How one kind of state follows from the entries."""

    name: str
    """The first part of its subjects, and its table where it has one."""
    events: tuple[str, ...]
    """Which types of entries make it."""
    key: tuple[str, ...] = ()
    """The columns that tell one from another."""
    plain: tuple[str, ...] = ()
    """Columns that the entry repeats."""
    digested: tuple[str, ...] = ()
    """Columns of which it has a digest, salted with the column `salt`."""
    fixed: tuple[str, ...] = ()
    """Columns that are written once; triggers keep them from being changed."""
    ignored: Mapping[str, str] = {}
    """Columns that no entry says, and why changing them gives nobody anything."""
    tabled: bool = True
    """False: the entries alone hold it."""
    history: str | None = None
    """The column by which all rows of the one subject are kept; the newest counts."""
    by_person: Callable[[Row], bool] = _nobody
    """Whether only a person can have brought this row about."""
    roles: frozenset[str] = OWNER
    """Where the policy names people: the roles that let somebody do so."""
    grows: bool = False
    """Its numbers never become less."""
    course: Course | None = None
    """How it goes on. Then every entry of a subject counts, and none changes what is `fixed`."""
    gives: Course | None = None
    """Of these, the step that gives authority: that is the one that a person has to have signed."""

    @property
    def columns(self) -> tuple[str, ...]:
        """All that are compared, and the salt."""
        salt = ("salt",) if self.digested else ()
        return tuple(dict.fromkeys((*self.key, *self.plain, *self.digested, *salt)))


def _approved(row: Row) -> bool:
    """Approved, and neither by an agent nor by people whose own answers say so."""
    return bool(row["state"] == "approved" and row["answerer_kind"] not in ("agent", PEOPLE))


_ANSWERS = {
    "open": frozenset(("open", "approved", "refused", "cancelled", "expired")),
    "approved": frozenset(("approved", "used", "refused", "cancelled", "expired")),
    "refused": frozenset(("refused",)),
}
"""What can become of a question. What stays as it is has only an earlier end: the clock was repaired."""


def _ask_course(before: Row | None, row: Row) -> bool:
    if before is None:
        return bool(row.get("state") == "open")
    if row.get("state") not in _ANSWERS.get(str(before.get("state")), ()):
        return False
    if row["state"] == before["state"] and _changed(before, row) - {"expires"}:
        return False
    return row["state"] not in _ANSWERS or _ends_no_later(before, row)


def _capsule_course(before: Row | None, row: Row) -> bool:
    if before is None:
        return row.get("ended") is None
    return before.get("ended") is None and (row.get("ended") is not None or _ends_no_later(before, row))


def _ticket_course(before: Row | None, row: Row) -> bool:
    if before is None:
        return row.get("used") is None and row.get("expired") is None
    unused = before.get("used") is None and before.get("expired") is None
    return unused and before.get("capsule") == row.get("capsule") and _ends_no_later(before, row)


def _changed(before: Row, row: Row) -> set[str]:
    return {name for name in {**before, **row} if before.get(name) != row.get(name)}


def _ends_no_later(before: Row, row: Row) -> bool:
    was, is_ = before.get("expires"), row.get("expires")
    return was is None or (isinstance(is_, str) and is_ <= str(was))


def _issued(row: Row) -> bool:
    """A living capsule that no agent issued."""
    try:
        return bool(row["ended"] is None and _ISSUED.decode(bytes(row["body"])).issuer == "human")
    except msgspec.MsgspecError:
        return True


class _Issued(msgspec.Struct):
    issuer: str = "human"


_ISSUED = Decoding(_Issued)

ASK = Kind(
    name="ask",
    events=("approval",),
    key=("seq",),
    plain=("digest", "agent", "capsule", "asked_of", "state", "expires", "answered", "answerer", "answerer_kind"),
    digested=("body", "because"),
    fixed=("digest", "agent", "capsule", "asked_of", "body", "salt"),
    by_person=_approved,
    roles=APPROVER,
    course=_ask_course,
    gives=lambda before, row: row.get("state") == "approved" and (before or {}).get("state") != "approved",
)
ANSWER = Kind(name="answer", events=("approval",), tabled=False, by_person=lambda row: True, roles=APPROVER)
"""Of one person, to one ask: `["answer",17,"ann"]`."""
CAPSULE = Kind(
    name="capsule",
    events=("capsule",),
    key=("id",),
    plain=("agent", "parent", "expires", "ended", "ended_by"),
    digested=("body",),
    fixed=("agent", "parent", "body", "salt"),
    by_person=_issued,
    roles=OPERATOR,
    course=_capsule_course,
    gives=lambda before, row: before is None,
)
TICKET = Kind(
    name="ticket",
    events=("capsule",),
    key=("digest",),
    plain=("capsule", "expires", "used", "expired"),
    course=_ticket_course,
)
ACTIVATION = Kind(
    name="activation",
    events=("activation",),
    plain=("seq", "policy", "digest", "at", "person"),
    history="seq",
    by_person=lambda row: True,
)
CREDENTIAL = Kind(
    name="credential",
    events=("credential",),
    key=("name",),
    plain=("kind", "set_at", "key"),
    digested=("parameters", "hash"),
    ignored={
        "failures": "it only slows guessing through Remit; whoever reads the table guesses without",
        "failed_at": "as `failures`",
    },
)
INVITATION = Kind(name="invitation", events=("credential",), tabled=False, by_person=lambda row: True)
"""Of somebody who sets a passphrase of their own with it."""
STANDING = Kind(name="standing", events=("grant",), tabled=False, by_person=lambda row: True, roles=APPROVER)
"""The approval of a standing grant, by the digest of what it says."""
GATES = Kind(name="gates", events=("gate",), tabled=False, by_person=lambda row: True, roles=APPROVER)
SPENT = Kind(name="spent", events=("budget",), tabled=False, grows=True)
DAILY = Kind(name="daily", events=("budget",), tabled=False, grows=True)
LAUNCH = Kind(name="launch", events=("handover",), tabled=False)
CHOICE = Kind(name="choice", events=("handover",), tabled=False)
HALT = Kind(
    name="halt",
    events=("halt",),
    tabled=False,
    by_person=lambda row: not row.get("halted"),
    roles=OPERATOR,
)
INCIDENT = Kind(
    name="incident",
    events=("incident",),
    tabled=False,
    by_person=lambda row: row.get("state") == "closed",
    roles=OPERATOR,
)
REVIEW = Kind(
    name="review",
    events=("review",),
    tabled=False,
    by_person=lambda row: row.get("state") == "signed",
    roles=AUDITOR,
)
VIOLATIONS = Kind(name="violations", events=("violation",), tabled=False)
KINDS = {
    kind.name: kind
    for kind in (
        *(ASK, CAPSULE, TICKET, ACTIVATION, CREDENTIAL, GATES, SPENT, DAILY, LAUNCH, CHOICE),
        *(HALT, INCIDENT, VIOLATIONS, REVIEW, ANSWER, INVITATION, STANDING),
    )
}

OTHER_TABLES = {
    "leaf": "the log itself",
    "head": "the log itself: compared with the entries",
    "checkpoint": "the log itself: signed",
    "secret": "compared with what the entries commit to, and with the erasures",
    "sealed": "compared with the open questions",
    "running": "compared with intents and outcomes",
    "writer_process": "who writes: decides only when a call counts as lost",
    "meta": "the log's name, its anchors, and what witnesses cosigned; compared with the keys and with the anchors",
    "migration": "compared with the scripts of this version",
    "writer": "a lock",
    "moment": "no earlier than any clock: set back, the wall clock and the steady one count; set forward, all ends",
    "boot": "as `moment`",
}
"""Tables that say nothing of who may do what, and why."""


class State(msgspec.Struct, frozen=True):
    """What an entry says came of it."""

    of: tuple[Key, ...]
    after: int | None
    row: dict[str, Any] | None
    """None: there is none any more."""


class _Body(msgspec.Struct, frozen=True):
    type: str
    state: State | None = None
    signed: str | None = None
    """By a person, over the type, the state, and what else it says of people."""
    credential: str | None = None
    """Of an activation, `none`: under its policy people need no credential."""
    person: str | None = None
    """Who signed; absent: whoever has the project's passphrase."""
    people: dict[str, tuple[str, ...]] | None = None
    """Of an activation: the people whom its policy names, with their roles."""


class Said(NamedTuple):
    """The newest entry of a subject."""

    seq: int
    hash: bytes
    type: str
    state: State
    signed: str | None
    credential: str | None
    person: str | None
    people: dict[str, tuple[str, ...]] | None
    given: Said | None = None
    """The entry that gave the authority, where another one went on from there; None: this one."""

    @property
    def row(self) -> dict[str, Any]:
        return self.state.row or {}

    @property
    def message(self) -> bytes:
        """The bytes that a person signs."""
        return message_of(self.type, self.state, {"credential": self.credential, "people": self.people})


_BODY = Decoding(_Body)


def message_of(event: str, state: State, about: Mapping[str, Any] = MappingProxyType({})) -> bytes:
    """What a person signs who brings a state about: all that authority reads from the entry."""
    more = {name: msgspec.to_builtins(about[name]) for name in ("credential", "people") if about.get(name) is not None}
    return _MESSAGE + encode({"type": event, "state": msgspec.to_builtins(state), **more})


def subject_of(kind: Kind, *key: Key) -> str:
    """How the leaf's column names it: `["ask",17]`."""
    return msgspec.json.encode((kind.name, *key)).decode()


@lru_cache(256)
def read_state(seq: int, kept: bytes, body: bytes) -> Said | None:
    """What an entry says about a state; None if it says nothing. Raises StateForged for an entry that was changed."""
    if leaf_hash(body) != kept:
        raise StateForged(f"entry {seq} was changed after it was written")
    try:
        found = _BODY.decode(body)
    except (msgspec.MsgspecError, UnicodeError):
        return None
    if found.state is None:
        return None
    return Said(seq, kept, found.type, found.state, found.signed, found.credential, found.person, found.people)


_MOST = 1000
"""More entries than any course has: it goes on with each repair of the clock."""


@lru_cache(64)
def _newest_query(limits: tuple[int, ...], empty: str = "") -> str:
    """So many of the newest entries of each subject. `empty` stands for columns that they don't have."""
    one = "SELECT seq, hash, body, subject, stamp FROM leaf WHERE subject = ? ORDER BY seq DESC LIMIT"
    every = (f"({one} {limit}) AS s{place}" for place, limit in enumerate(limits))
    return " UNION ALL ".join(f"SELECT seq, hash, body, subject, stamp{empty} FROM {each}" for each in every)  # noqa: S608


def _limits(wanted: Iterable[tuple[Kind, tuple[Key, ...]]]) -> tuple[int, ...]:
    """How many entries of each are looked at: the newest, and the one before it."""
    return tuple(2 if kind.course is None else _MOST for kind, _ in wanted)


def newest(view: Transaction, *wanted: tuple[Kind, tuple[Key, ...]]) -> list[Said | None]:
    """The newest entry of each subject, all in one statement; None where there is none.

    Raises StateForged for entries that don't follow one another, or are of another kind.
    """
    settle(view)
    subjects = [subject_of(kind, *key) for kind, key in wanted]
    return _last_of(view, wanted, subjects, view.rows(_newest_query(_limits(wanted)), *subjects))


def stored(
    view: Transaction, kind: Kind, key: tuple[Key, ...], *others: tuple[Kind, tuple[Key, ...]]
) -> tuple[dict[str, Any] | None, list[Said | None]]:
    """A row, and the newest entries of its subject and of the others, all in one statement.

    Raises StateForged as `newest` does.
    """
    settle(view)
    wanted = ((kind, key), *others)
    subjects = [subject_of(one, *its) for one, its in wanted]
    row, entries = None, []
    for found in view.rows(_stored_query(kind.name, kind.key, kind.columns, _limits(wanted)), *key, *subjects):
        if found[0] is None:
            row = dict(zip(kind.columns, found[5:], strict=True))
        else:
            entries.append(found[:5])
    return row, _last_of(view, wanted, subjects, entries)


@lru_cache(16)
def _stored_query(table: str, key: tuple[str, ...], columns: tuple[str, ...], limits: tuple[int, ...]) -> str:
    """The row first: by it PostgreSQL knows the types of the columns that are empty for entries."""
    where = " AND ".join(f"{name} = ?" for name in key)
    row = f"SELECT NULL, NULL, NULL, NULL, NULL, {', '.join(columns)} FROM {table} WHERE {where}"  # noqa: S608
    return f"{row} UNION ALL {_newest_query(limits, ', NULL' * len(columns))}"


def _last_of(
    view: Transaction,
    wanted: tuple[tuple[Kind, tuple[Key, ...]], ...],
    subjects: list[str],
    rows: Iterable[tuple[Any, ...]],
) -> list[Said | None]:
    places: dict[str, list[_Place]] = {}
    try:
        for seq, kept, body, subject, stamp in rows:
            places.setdefault(subject, []).append((int(seq), bytes(kept), bytes(body), stamp))
        stamps = stamps_of(view)
        for subject, found in places.items():
            if stamps is not None and not all(stamps.fits(seq, kept, stamp) for seq, kept, _, stamp in found):
                counting = _counting(view, subject)
                places[subject] = [(int(row[0]), bytes(row[1]), bytes(row[2]), row[3]) for row in counting]
    except (TypeError, ValueError, OverflowError):  # the table was made anew, with columns of other types
        what = ", ".join(name_of(kind, key) for kind, key in wanted)
        raise StateForged(f"an entry about {what} can't be read", help=_HELP) from None
    for (kind, key), subject in zip(wanted, subjects, strict=True):
        _check_seen(view, kind, key, [one[0] for one in places.get(subject, ())])
    return [_last(kind, key, places.get(subject)) for (kind, key), subject in zip(wanted, subjects, strict=True)]


_Place = tuple[int, bytes, bytes, bytes | None]


def _counting(view: Transaction, subject: str) -> list[tuple[Any, ...]]:
    """All entries about a subject that Remit wrote; the others count as not there."""
    return fitting(view, view.rows("SELECT seq, hash, body, stamp FROM leaf WHERE subject = ? ORDER BY seq", subject))


def _check_seen(view: Transaction, kind: Kind, key: tuple[Key, ...], found: list[int]) -> None:
    """That the newest entry that this machine has seen is still found. Raises StateForged.

    The column that it is found by is under no hash: without it, the one before it would count, or one in its place.
    """
    subject = subject_of(kind, *key)
    seen = view.noted(STATES, subject)
    if seen is None or seen in found or not is_past(view, seen):
        return
    there = view.row("SELECT subject FROM leaf WHERE seq = ?", seen) if seen < max(found, default=-1) else None
    if there is None or there[0] != subject:
        raise StateForged(f"entry {seen} about {name_of(kind, key)} was hidden", help=_HELP)


def is_past(view: Transaction, place: int) -> bool:
    """Whether an entry was written before the moment that this view shows, whatever somebody made of the head."""
    row = view.row("SELECT (SELECT size FROM head WHERE one = 1), (SELECT max(seq) FROM leaf)")
    return row is None or type(row[0]) is not int or place < max(row[0], (row[1] if type(row[1]) is int else place) + 1)


def newest_under(view: Transaction, kind: Kind, *first: Key) -> list[Said]:
    """The newest entries of all subjects whose key begins so, in the order of their subjects. Raises StateForged."""
    settle(view)
    subjects = [str(row[0]) for row in view.rows(_UNDER, *_between(kind, first))]
    check_listed(view, (kind.name, *first), subjects)
    keys = [key for subject in subjects if (key := _key_in(subject)) is not None]
    found = [newest(view, (kind, key))[0] for key in keys]
    return [said for said in found if said is not None]


def _key_in(subject: str) -> tuple[Key, ...] | None:
    """The key of a subject; None for one that Remit can't have written."""
    try:
        return tuple(_SUBJECT.decode(subject)[1:])
    except (msgspec.MsgspecError, UnicodeError):
        return None


_UNDER = "SELECT DISTINCT subject FROM leaf WHERE subject >= ? AND subject < ? ORDER BY subject"


def _between(kind: Kind, first: tuple[Key, ...]) -> tuple[str, str]:
    start = subject_of(kind, *first)[:-1] + ","
    return start, start + "\U0010ffff"


def check_listed(view: Transaction, names: tuple[Key, ...], subjects: Collection[str]) -> None:
    """That a list has every subject that was noted, whatever else it has. Raises StateForged."""
    places = listed_places(view, names)
    there, known = set(), frozenset(subjects)
    for start in range(0, len(places), _MOST):
        some = places[start : start + _MOST]
        query = f"SELECT seq, subject, body FROM leaf WHERE seq IN ({', '.join('?' * len(some))})"  # noqa: S608
        for seq, subject, body in view.rows(query, *some):
            if subject in known and subject_in(bytes(body)) == subject:
                there.add(int(seq))
    gone = next((place for place in places if place not in there and is_past(view, place)), None)
    if gone is not None:
        what = " ".join(str(name)[:100] for name in names)
        raise StateForged(f"entry {gone}, the first about one ({what}), was hidden", help=_HELP)


_SUBJECT = Decoding(tuple[Key, ...])


def _last(kind: Kind, key: tuple[Key, ...], rows: list[_Place] | None) -> Said | None:
    if not rows:
        return None
    rows.sort()
    if kind.course is None:
        found = _said_by(kind, key, rows[-1])
        if found.state.after != (rows[-2][0] if len(rows) > 1 else None):
            raise StateForged(f"entry {found.seq} about {name_of(kind, key)} does not follow the one before it")
        return found
    before, given = None, None
    for row in rows:
        found = _said_by(kind, key, row)
        wrong = misstep(kind, before, found)
        if wrong is not None:
            raise StateForged(f"entry {found.seq} about {name_of(kind, key)} {wrong}", help=_HELP)
        given = found if gives(kind, before, found) else given
        before = found
    return before._replace(given=given) if before is not None and given is not before else before


def gives(kind: Kind, before: Said | None, said: Said) -> bool:
    """Whether an entry, as the one after another, gives what only a person can give."""
    return kind.gives is None or kind.gives(before.row if before is not None else None, said.row)


def _said_by(kind: Kind, key: tuple[Key, ...], row: _Place) -> Said:
    found = read_state(*row[:3])
    if found is None or found.state.of != (kind.name, *key) or found.type not in kind.events:
        raise StateForged(f"entry {row[0]} does not say what became of {name_of(kind, key)}")
    return found


def misstep(kind: Kind, before: Said | None, said: Said) -> str | None:
    """What is wrong with an entry of a subject as the one after another, or as the first; None: nothing."""
    if said.state.after != (before.seq if before is not None else None):
        return "does not follow the one before it"
    if kind.course is None:
        return None
    was = before.row if before is not None else None
    fixed = next((name for name in kind.fixed if was is not None and was.get(name) != said.row.get(name)), None)
    if fixed is not None:
        return f"changes `{fixed}`, which never changes"
    if said.state.row is None or not kind.course(was, said.row):
        return "can't follow the one before it" if before is not None else "can't be the first"
    return None


def name_of(kind: Kind, key: Iterable[Key]) -> str:
    """For people: `ask 17`."""
    return " ".join((kind.name, *(str(part)[:100] for part in key)))


def said_of(kind: Kind, row: Row) -> dict[str, Any]:
    """The row as entries say it."""
    if not kind.tabled:
        return {name: _said(value) for name, value in row.items()}
    said = {name: _said(row[name]) for name in kind.plain}
    for name in kind.digested:
        said[name] = _digest(name, row["salt"], row[name])
    return said


def _said(value: Any) -> Any:
    """Bytes, and numbers beyond what every reader of JSON agrees on, as text."""
    if type(value) is str or (type(value) is int and -MAX_INT <= value <= MAX_INT):
        return value
    if isinstance(value, tuple):
        return list(value)
    if isinstance(value, (bytes, memoryview)):
        return base64.b64encode(value).decode()
    return str(value) if type(value) is int and abs(value) > MAX_INT else value


def _digest(name: str, salt: bytes | None, value: str | bytes | None) -> str | None:
    if value is None or salt is None:
        return None
    data = value.encode() if isinstance(value, str) else bytes(value)
    return base64.b64encode(sha256(bytes(salt) + name.encode() + b"\0" + data).digest()).decode()


def differing(kind: Kind, row: Row, said: Said) -> list[tuple[str, Any]]:
    """The columns in which a row is not what the entry says, with what it says."""
    is_, must = said_of(kind, row), said.state.row
    if must is None:
        return [("", None)]
    return [(name, must.get(name)) for name in {**must, **is_} if is_.get(name) != must.get(name)]


def check_row(kind: Kind, key: tuple[Key, ...], row: Row, said: Said | None) -> Said:
    """That the newest entry says this very row. Raises StateForged."""
    if said is None:
        raise StateForged(f"no entry of the ledger explains {name_of(kind, key)}", help=_HELP)
    same = (kind.name, *row.values(), said.hash)
    if same in _compared:
        return said
    wrong = differing(kind, row, said)
    if wrong:
        what = wrong[0][0] or "its row"
        raise StateForged(f"{what} of {name_of(kind, key)} is not what entry {said.seq} says", help=_HELP)
    if len(_compared) > 1_000:
        _compared.clear()
    _compared.add(same)
    return said


_compared: set[tuple[Any, ...]] = set()
"""Rows that were found to be what an entry says, with its hash, which says what it says."""
LOOK_UP = -1


_HELP = "somebody changed the store, or an older Remit wrote it: look at `remit ledger verify`, and give it again"


def put(
    change: Transaction,
    kind: Kind,
    key: tuple[Key, ...],
    row: Row | None,
    *,
    event: str,
    at: int,
    writer: str,
    about: Mapping[str, Any],
    private: Mapping[str, Any] | None = None,
    sign: Sign | None = None,
    after: int | None = LOOK_UP,
) -> int:
    """Appends the entry that says the new state, and brings the table along; the place of the entry.

    `after` is the place of the newest entry of the subject, if that was looked up in this transaction. Raises
    StoreError and LedgerError.
    """
    subject = subject_of(kind, *key)
    if after == LOOK_UP:
        settle(change)
        after = _newest_place(change, subject)
        _check_seen(change, kind, key, [after] if after is not None else [])
    said = said_of(kind, row) if row is not None else None
    more: dict[str, Any] = {**about, "state": {"of": [kind.name, *key], "after": after, "row": said}}
    if sign is not None:
        state = State((kind.name, *key), after, said)
        more["signed"] = base64.b64encode(sign(message_of(event, state, about))).decode()
        more |= {"person": sign.person} if sign.person is not None else {}
    entry = event_entry(event, at, writer, more, private or {})
    place = add(change, entry._replace(subject=subject), ELSEWHERE)
    names = list_of((kind.name, *key), row) if after is None else None
    if names is not None:
        note_listed(change, names, place)
    if kind.tabled and row is not None:
        _write(change, kind, row, is_new=after is None or kind.history is not None)
    return place


def is_explained(view: Transaction, kind: Kind, key: tuple[Key, ...]) -> bool:
    """Whether any entry about it counts. Raises StoreError."""
    settle(view)
    return _newest_place(view, subject_of(kind, *key)) is not None


def _newest_place(view: Transaction, subject: str) -> int | None:
    """Where the newest entry about a subject is that counts."""
    query = "SELECT seq, hash, stamp FROM leaf WHERE subject = ? ORDER BY seq DESC LIMIT 1"
    rows = view.rows(query, subject)
    if rows and not fitting(view, rows):
        rows = _counting(view, subject)[-1:]
    return int(rows[0][0]) if rows else None


def _write(change: Transaction, kind: Kind, row: Row, *, is_new: bool) -> None:
    if is_new:
        names = tuple(row)
        values: tuple[Value, ...] = tuple(row[name] for name in names)
        marks = ", ".join("?" * len(names))
        change.run(f"INSERT INTO {kind.name} ({', '.join(names)}) VALUES ({marks})", *values)  # noqa: S608
        return
    names = tuple(name for name in row if name not in kind.key and name not in kind.fixed)
    sets, where = ", ".join(f"{name} = ?" for name in names), " AND ".join(f"{name} = ?" for name in kind.key)
    values = tuple(row[name] for name in (*names, *kind.key))
    if change.run(f"UPDATE {kind.name} SET {sets} WHERE {where}", *values) != 1:  # noqa: S608
        raise StateForged(f"{name_of(kind, [row[name] for name in kind.key])} is gone from the store")


def new_salt() -> bytes:
    """For the digests of a new row."""
    return os.urandom(16)
