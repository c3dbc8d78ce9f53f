"""Verifying the state: what the entries say of it, compared with the tables, kind by kind as `KINDS` declares them.

It streams: entries by subject, each compared with the one before it, and the newest with its row.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

from remit.record.append import subject_in
from remit.record.fault import Fault
from remit.record.people import People, is_signed, people_of
from remit.record.stamp import fitting, stamps_of
from remit.record.state import (
    ANSWER,
    ASK,
    KINDS,
    PEOPLE,
    Key,
    Kind,
    Row,
    Said,
    StateForged,
    differing,
    gives,
    misstep,
    name_of,
    read_state,
    subject_of,
)
from remit.record.tree import leaf_hash
from remit.store.interface import Transaction

PROGRAM = "(program)"
"""How an answer ends its name that a program gave to a question of its own: it counts in that process alone."""


class StateAudit:
    """One run over the entries that say a state."""

    def __init__(self, view: Transaction) -> None:
        self.view = view
        self.subjects = 0
        """Entries that have a subject."""
        self._rows: dict[str, int] = {}
        """Rows that the entries explain, by table."""
        self.people = People()

    def faults(self) -> Iterator[Fault]:
        """Everything that is wrong, in the order of the subjects."""
        try:
            self.people = people_of(self.view)
        except StateForged as error:
            yield Fault(error.code, str(error), table="credential")
            return  # whatever people signed can't be told from anything else any more
        subject, group = None, _Group(None, (), None, None)
        query = "SELECT seq, hash, body, subject, stamp FROM leaf WHERE subject IS NOT NULL ORDER BY subject, seq"
        stamps = stamps_of(self.view)
        for seq, kept, body, name, stamp in self.view.each(query):
            self.subjects += 1
            try:
                said = read_state(int(seq), bytes(kept), bytes(body))
            except StateForged as error:
                yield Fault(error.code, str(error), seq, seq)
                continue
            if said is None or subject_of_said(said) != name:
                yield Fault("subject-wrong", f"entry {seq} is not about {name}", seq, seq)
                continue
            if stamps is not None and not stamps.fits(int(seq), bytes(kept), stamp):
                yield Fault("state-forged", f"entry {seq} is not one that Remit wrote: it counts for nothing", seq, seq)
                continue
            if name != subject:
                yield from self._end(group)
                subject, group = name, self._begin(said)
            yield from self._entry(group, said)
            group = group._replace(last=said)
        yield from self._end(group)
        yield from self._unexplained()

    # One subject

    def _begin(self, said: Said) -> _Group:
        kind, key = KINDS[str(said.state.of[0])], said.state.of[1:]
        row = self._row(kind, key) if kind.tabled and kind.history is None else None
        return _Group(kind, key, row, None)

    def _entry(self, group: _Group, said: Said) -> Iterator[Fault]:
        kind, before = group.kind, group.last
        if kind is None:
            return
        what, at = name_of(kind, group.key), (said.seq, said.seq)
        if said.type not in kind.events:
            yield Fault("state-forged", f"entry {said.seq} is of no kind that changes {what}", *at)
        wrong = misstep(kind, before, said)
        if wrong is not None:
            yield Fault("state-forged", f"entry {said.seq} about {what} {wrong}", *at)
        if kind.grows and before is not None:
            for name, number in before.row.items():
                if int(said.row.get(name, 0)) < int(number):
                    yield Fault("state-forged", f"{name} of {what} became less in entry {said.seq}", *at)
        if kind.history is not None:
            yield from self._compare(kind, group.key, self._historic(kind, said), said)
        yield from self._signature(group, said)

    def _signature(self, group: _Group, said: Said) -> Iterator[Fault]:
        """That a person brought it about, where only a person can."""
        kind = group.kind
        if kind is None:
            return
        told = {name: value for name, value in said.row.items() if name not in kind.digested}
        row: Row = {**(group.row or {}), **told}
        if kind is ASK and row.get("state") == "approved" and row.get("answerer_kind") == PEOPLE:
            yield from self._answers(said)
        if not _by_person(kind, row) or not gives(kind, group.last, said) or is_signed(self.view, said):
            return
        alone = self.people.at(said.seq) is None
        if alone and (str(row.get("answerer", "")).endswith(PROGRAM) or self.people.none_needed(said.seq)):
            return
        what = f"nobody who may brought about {name_of(kind, group.key)}"
        yield Fault("state-unsigned", f"{what} as entry {said.seq} says it", said.seq, said.seq, kind.name, group.key)

    def _answers(self, said: Said) -> Iterator[Fault]:
        """That those approved it who, by its own word, did; their answers are checked as what they are."""
        number = said.state.of[1]
        for name in str(said.row.get("answerer")).split(", "):
            answers = [one for one in self._said(subject_of(ANSWER, number, name)) if one.seq < said.seq]
            if not any(one.row.get("answer") == "approve" for one in answers):
                what = f"{name} approved nothing of what entry {said.seq} says"
                yield Fault("state-unsigned", what, said.seq, said.seq, ASK.name, (number,))

    def _end(self, group: _Group) -> Iterator[Fault]:
        kind, last = group.kind, group.last
        if kind is None or last is None or not kind.tabled or kind.history is not None:
            return
        yield from self._compare(kind, group.key, group.row, last)

    def _compare(self, kind: Kind, key: tuple[Key, ...], row: Row | None, said: Said) -> Iterator[Fault]:
        what = name_of(kind, key)
        if row is None:
            if said.state.row is not None:
                message = f"{what} is gone from the store, and entry {said.seq} says that it is there"
                yield Fault("state-missing", message, said.seq, said.seq, kind.name, key)
            return
        self._rows[kind.name] = self._rows.get(kind.name, 0) + 1
        for column, must in differing(kind, row, said):
            told = f"`{must}`" if column not in kind.digested else "another"
            message = f"{column or 'the row'} of {what} is not what entry {said.seq} says: {told}"
            yield Fault("state-forged", message, said.seq, said.seq, kind.name, key, column or None)

    # Tables

    def _row(self, kind: Kind, key: tuple[Key, ...]) -> Row | None:
        where = " AND ".join(f"{name} = ?" for name in kind.key)
        found = self.view.row(f"SELECT {', '.join(kind.columns)} FROM {kind.name} WHERE {where}", *key)  # noqa: S608
        return dict(zip(kind.columns, found, strict=True)) if found is not None else None

    def _historic(self, kind: Kind, said: Said) -> Row | None:
        number = said.row.get(str(kind.history))
        query = f"SELECT {', '.join(kind.columns)} FROM {kind.name} WHERE {kind.history} = ?"  # noqa: S608
        found = self.view.row(query, number if isinstance(number, int) else -1)
        return dict(zip(kind.columns, found, strict=True)) if found is not None else None

    def _unexplained(self) -> Iterator[Fault]:
        """Rows that no entry explains; looked for one by one only if there are more than the entries explain."""
        for kind in KINDS.values():
            if not kind.tabled:
                continue
            found = self.view.row(f"SELECT count(*) FROM {kind.name}")  # noqa: S608
            if found is None or found[0] == self._rows.get(kind.name, 0):
                continue
            names = kind.key or (str(kind.history),)
            for values in self.view.each(f"SELECT {', '.join(names)} FROM {kind.name}"):  # noqa: S608
                if not self._explained(kind, values):
                    message = f"no entry explains {name_of(kind, values)}"
                    yield Fault("state-unexplained", message, table=kind.name, key=tuple(values))

    def _explained(self, kind: Kind, values: tuple[Key, ...]) -> bool:
        said = self._said(subject_of(kind, *(() if kind.history is not None else values)))
        return any(kind.history is None or one.row.get(kind.history) == values[0] for one in said)

    def _said(self, subject: str) -> Iterator[Said]:
        """What the entries about a subject say that count and were not changed."""
        query = "SELECT seq, hash, body, stamp FROM leaf WHERE subject = ? ORDER BY seq"
        for seq, kept, body, _ in fitting(self.view, self.view.rows(query, subject)):
            with suppress(StateForged):
                said = read_state(int(seq), bytes(kept), bytes(body))
                if said is not None:
                    yield said


class _Group(NamedTuple):
    """The entries of one subject."""

    kind: Kind | None
    key: tuple[Key, ...]
    row: Row | None
    last: Said | None


def is_hidden(kept: bytes, body: bytes, subject: str | None) -> bool:
    """Whether an entry is not found by what it says the state of: then an older one would count in its place."""
    return leaf_hash(body) == kept and subject_in(body) != subject


def _by_person(kind: Kind, row: Row) -> bool:
    try:
        return kind.by_person(row)
    except KeyError:
        return True  # the row is gone, which is a fault of its own


def subject_of_said(said: Said) -> str | None:
    """The subject that an entry says it has; None for a kind that is not declared."""
    kind = KINDS.get(str(said.state.of[0])) if said.state.of else None
    return subject_of(kind, *said.state.of[1:]) if kind is not None else None
