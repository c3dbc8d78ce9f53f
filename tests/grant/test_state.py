"""Whoever can write to the store gets nothing by it: what the ledger does not say is named by verify, and never used.

A history of real operations, then one row changed at a time: each column of each table of authority, rows that are
added, and rows that are gone.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest

from remit.decide.questions import call_digest
from remit.grant import asks, capsules, credential, tickets
from remit.grant.activation import add_activation, newest_activation
from remit.grant.authority import Authority
from remit.grant.credential import Parameters, set_passphrase, unlock
from remit.grant.launches import add_launch, launches
from remit.grant.notes import Scribe
from remit.model.call import Call
from remit.model.errors import RemitError
from remit.model.facts import Facts
from remit.record.append import append
from remit.record.audit import state_faults
from remit.record.entry import Entry
from remit.record.fault import Fault
from remit.record.people import UNSIGNED, Trust, public_keys
from remit.record.state import ASK, FORGED, KINDS, OTHER_TABLES, Kind, Sign, StateForged, newest, put
from remit.store import Store
from remit.store.errors import StoreError
from remit.store.interface import Transaction
from tests.grant.world import Wall, authority, call, judge, open_world, rules, task
from tests.postgres import Postgres

RULES = rules()
SECRET = "correct horse battery"
TRIGGERS = (
    "ask_fixed",
    "ask_delete",
    "ask_kept",
    "capsule_fixed",
    "capsule_delete",
    "capsule_kept",
    "activation_update",
    "activation_delete",
    "activation_only_add",
)


class Lived(NamedTuple):
    """A store with a history."""

    store: Store
    one: Authority
    other: Authority
    """Another process, which vouches for nothing."""
    wall: Wall
    sign: Sign
    calls: list[Call]
    """Every call that was asked about."""
    tickets: list[str]


@pytest.fixture(params=["sqlite", "postgres"])
def lived(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Lived]:
    monkeypatch.setattr(credential, "NOW", Parameters(n=2**8, r=8, p=1, length=32))
    url = None
    if request.param == "postgres":
        server: Postgres = request.getfixturevalue("postgres")
        url = server.uri_of(server.new_database())
    store, wall = open_world(url, tmp_path / "state"), Wall(time.time())
    one, other = (authority(store, tmp_path / "state", wall) for _ in range(2))
    set_passphrase(store, SECRET)
    sign = unlock(store, SECRET)
    assert sign is not None
    found = Lived(store, one, other, wall, sign, [], [])
    _live(found)
    yield found
    store.close()


def _live(lived: Lived) -> None:
    """Something of everything."""
    store, one, sign = lived.store, lived.one, lived.sign
    with store.write() as change:
        first = add_activation(change, None, policy="sha256:1", digest="1" * 64, at=1, by="ann", sign=sign)
        add_activation(change, first, policy="sha256:2", digest="2" * 64, at=2, by="ann", sign=sign)
    plan: dict[str, Any] = {
        "plan": [{"make": {"path": "a/**"}}],
        "budget": {"calls": 5},
        "grants": ("x",),
    }
    one.issue(RULES, task(RULES, "T", "boss", by="ann", gates=["demo"], **plan), sign=sign)
    one.pass_gate("T", "plan", by="ann", sign=sign)
    one.pass_gate("T", "demo", by="ann", sign=sign)
    one.issue(RULES, task(RULES, "C", "lead", parent="T", by="boss", issuer="agent", grants=("x",)))
    one.issue(RULES, task(RULES, "E", "aide", by="ann"), sign=sign)
    one.end("E", by="ann")
    lived.tickets.extend((one.ticket("T"), one.ticket("C"), one.ticket("C")))
    one.enter(lived.tickets[0])
    for path in ("a", "b"):
        look = call("boss", "look", {"path": path}, "T")
        decision, facts = judge(one, RULES, look)
        one.begin(look, decision, RULES, facts)
    add_launch(store, one.scribe, "s", "hand", ("boss",))
    add_launch(store, one.scribe, "s", "hand", ("lead",))
    for place, what in enumerate(("open", "approved", "refused", "used", "cancelled", "other")):
        push = call("boss", "push", {"to": what}, "T" if place % 2 else None)
        lived.calls.append(push)
        decision, facts = judge(one, RULES, push)
        asked = one.ask(push, decision, RULES, facts, point="test")
        if what in ("approved", "used"):
            one.answer(asked.id, "approve", by="ann", because="fine", sign=sign)
        elif what == "refused":
            one.answer(asked.id, "refuse", by="ann", sign=sign)
        elif what == "cancelled":
            one.cancel(asked.id, by="boss")
        if what == "used":
            decision, facts = judge(one, RULES, push)
            assert decision.allowed
            one.begin(push, decision, RULES, facts)


# What uses look at


def _said(look: Callable[..., Any], *args: Any) -> Any:
    try:
        return look(*args)
    except RemitError as error:
        return error


def looked(lived: Lived, view: Transaction) -> dict[str, Any]:
    """What every use of authority would find."""
    now, trust = lived.wall.clock().now(), Trust()
    found: dict[str, Any] = {
        "activation": _said(newest_activation, view),
        "credential": _said(credential._row, view),
        "keys": _said(public_keys, view),
        **{f"living {agent}": _said(capsules.living, view, agent, now) for agent in RULES.book.callers},
        **{f"capsule {name}": _said(capsules.line, view, name, now, trust) for name in ("T", "C", "E")},
        **{f"ticket {text}": _said(tickets._row, view, tickets._digest(text)) for text in lived.tickets},
    }
    for made in lived.calls:
        digest = call_digest(made, RULES.hash, Facts(store=True))
        found[f"call {made.args}"] = _said(asks.answers, view, digest, now, trust)
    return found


def harmless(before: dict[str, Any], after: dict[str, Any]) -> bool:
    """No use finds more than it found before: the same, nothing, or that it was forged."""
    for name, is_ in after.items():
        was = before[name]
        if isinstance(is_, RemitError) or is_ in (was, None, ()) or (name.startswith("living") and is_ == was):
            continue
        return False
    return True


# What somebody does who can write to the store


class Change(NamedTuple):
    """One statement."""

    sql: str
    values: tuple[Any, ...] = ()


WORDS = (
    "x",
    "",
    "open",
    "approved",
    "refused",
    "used",
    "human",
    "agent",
    "2099-01-01T00:00:00Z",
    "T",
    "boss",
    "9" * 64,
)


def changes(view: Transaction, kind: Kind) -> Iterator[Change]:
    """Every column of every row gets other values; rows are copied under another key; rows are gone."""
    names = [*kind.columns, *(name for name in ("seq",) if kind.history and name not in kind.columns)]
    rows = [dict(zip(names, row, strict=True)) for row in view.rows(f"SELECT {', '.join(names)} FROM {kind.name}")]  # noqa: S608
    key = kind.key or (str(kind.history),)
    where = " AND ".join(f"{name} = ?" for name in key)
    for row in rows:
        at = tuple(row[name] for name in key)
        for column in names:
            others = [one[column] for one in rows if one[column] != row[column]][:2]
            for value in [*others, *_others(row[column])]:
                if value != row[column]:
                    yield Change(f"UPDATE {kind.name} SET {column} = ? WHERE {where}", (value, *at))  # noqa: S608
        yield Change(f"DELETE FROM {kind.name} WHERE {where}", at)  # noqa: S608
        copy = {**row, key[0]: at[0] + 100 if isinstance(at[0], int) else f"{at[0]}x"}
        states = [{}] if kind is not ASK else [{}, {"state": "approved", "answerer": "x", "answerer_kind": "human"}]
        for more in states:
            new = {**copy, **more}
            sql = f"INSERT INTO {kind.name} ({', '.join(new)}) VALUES ({', '.join('?' * len(new))})"  # noqa: S608
            yield Change(sql, tuple(new.values()))


def _others(value: Any) -> list[Any]:
    if isinstance(value, int):
        return [value + 1, None]
    if isinstance(value, bytes):
        return [value + b" ", None]
    return [*WORDS, None]


class _Undone(Exception):
    pass


def tried(lived: Lived, change: Change, before: dict[str, Any]) -> tuple[list[Fault], bool] | None:
    """What verify says, and whether every use is harmless; None if the store refused the statement."""
    found: tuple[list[Fault], bool] | None = None
    try:
        with lived.store.write() as transaction:
            if transaction.run(change.sql, *change.values) == 0:
                raise _Undone
            found = state_faults(transaction), harmless(before, looked(lived, transaction))
            raise _Undone
    except (_Undone, StoreError):
        return found


def drop_triggers(store: Store) -> None:
    """Somebody who owns the tables removes what keeps them."""
    with store.migration() as change:  # type: ignore[attr-defined]
        for name in TRIGGERS:
            table = name.split("_")[0]
            on = "" if store.kind == "sqlite" else f" ON {table}"
            change.script(f"DROP TRIGGER IF EXISTS {name}{on};")


def test_what_was_really_done_is_verified(lived: Lived) -> None:
    with lived.store.read() as view:
        assert state_faults(view) == []
        found = looked(lived, view)
    assert [name for name, one in found.items() if isinstance(one, RemitError)] == ["capsule E"]
    assert [len(found[f"call {made.args}"]) for made in lived.calls] == [0, 1, 1, 0, 0, 0]


TABLED = [kind for kind in KINDS.values() if kind.tabled]


def check_changes(lived: Lived, kind: Kind, most: int | None) -> list[tuple[Change, list[Fault], bool]]:
    """What became of so many changes, each alone, of those that the store did not refuse; all are named by verify."""
    with lived.store.read() as view:
        before, every = looked(lived, view), list(changes(view, kind))
    most = most if most is None or lived.store.kind == "sqlite" else most // 4
    if most is not None and len(every) > most:
        every = random.Random(kind.name).sample(every, most)  # noqa: S311  the same ones each time
    told = [(change, tried(lived, change, before)) for change in every]
    done = [(change, *found) for change, found in told if found is not None]
    assert [change for change, faults, _ in done if not faults] == [], "not named"
    with lived.store.read() as view:
        assert state_faults(view) == [], "and nothing of it was kept"
    return done


@pytest.mark.sample(6)
@pytest.mark.parametrize("kind", TABLED, ids=lambda kind: kind.name)
def test_one_changed_row_is_named_and_gives_nothing(lived: Lived, kind: Kind) -> None:
    assert [change for change, _, safe in check_changes(lived, kind, 60) if not safe] == []


@pytest.mark.long
@pytest.mark.parametrize("kind", TABLED, ids=lambda kind: kind.name)
def test_any_changed_row_is_named_and_gives_nothing(lived: Lived, kind: Kind) -> None:
    assert [change for change, _, safe in check_changes(lived, kind, None) if not safe] == []


@pytest.mark.sample(4)
@pytest.mark.parametrize("kind", TABLED, ids=lambda kind: kind.name)
def test_without_triggers_it_is_named_too(lived: Lived, kind: Kind) -> None:
    """Only a task that is hidden from its agent could then free it: the agent's name changed, or the row gone."""
    drop_triggers(lived.store)
    done = check_changes(lived, kind, 60)
    assert len(done) >= 6
    hidden = ("UPDATE capsule SET agent", "UPDATE capsule SET id", "DELETE FROM capsule")
    assert [change for change, _, safe in done if not safe and not change.sql.startswith(hidden)] == []


def test_every_table_and_column_is_declared(lived: Lived) -> None:
    """Whoever adds a table of authority declares how it follows from the entries, or why it matters to nobody."""
    sqlite = "SELECT m.name, c.name FROM sqlite_master m, pragma_table_info(m.name) c WHERE m.type = 'table'"
    postgres = "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'remit'"
    with lived.store.read() as view:
        rows = view.rows(sqlite if lived.store.kind == "sqlite" else postgres)
    tables: dict[str, set[str]] = {}
    for table, column in rows:
        if not str(table).startswith("sqlite_"):
            tables.setdefault(str(table), set()).add(str(column))
    declared = {kind.name: kind for kind in KINDS.values() if kind.tabled}
    assert set(tables) - {"writer"} == {*declared, *OTHER_TABLES} - {"writer"}
    for name, kind in declared.items():
        assert tables[name] == {*kind.columns, *kind.ignored}, name


# Entries of one's own


def forged_answer(lived: Lived, sign: Sign | None = None) -> Call:
    """The first question, answered by somebody who can write entries and rows, but has no passphrase."""
    made = lived.calls[0]
    with lived.store.write() as change:
        found = asks.find(change, "A-1")
        asks.answer(
            change, found.id, "approve", by="ann (passphrase)", kind="human", clock=lived.wall.clock(),
            scribe=Scribe("x", set(), sign),
        )  # fmt: skip
    return made


def test_a_forged_entry_approves_nothing(lived: Lived) -> None:
    made = forged_answer(lived)
    with pytest.raises(StateForged) as caught:
        judge(lived.one, RULES, made)
    assert caught.value.code == UNSIGNED
    with lived.store.read() as view:
        assert [(fault.code, fault.table, fault.key) for fault in state_faults(view)] == [(UNSIGNED, "ask", (1,))]


def test_a_key_of_one_s_own_approves_nothing(lived: Lived) -> None:
    made = forged_answer(lived, credential.signer(b"k" * 32))
    with pytest.raises(StateForged):
        judge(lived.one, RULES, made)


def test_what_the_person_signs_counts_in_every_process(lived: Lived) -> None:
    made = forged_answer(lived, lived.sign)
    for one in (lived.one, lived.other):
        assert judge(one, RULES, made)[0].allowed


def test_what_a_program_answers_counts_in_that_process_alone(lived: Lived) -> None:
    made = lived.calls[0]
    lived.one.answer("A-1", "approve", by="guard (program)")
    assert judge(lived.one, RULES, made)[0].allowed
    with pytest.raises(StateForged):
        judge(lived.other, RULES, made)
    with lived.store.read() as view:
        assert state_faults(view) == []


def test_a_policy_that_needs_no_credential_needs_none(lived: Lived) -> None:
    made = forged_answer(lived)
    lifted = msgspec.structs.replace(RULES.book, unsafe=("unsafe_no_credential",))
    facts = lived.other.answered(made, msgspec.structs.replace(RULES, book=lifted), Facts(store=True))
    assert [one.by for one in facts.approvals] == ["ann (passphrase)"]


def test_an_approval_that_was_used_is_not_used_again(lived: Lived) -> None:
    """Its own signed entry is written once more, and the row set back."""
    made = lived.calls[3]
    with lived.store.write() as change:
        bodies = change.rows("SELECT body FROM leaf WHERE subject = '[\"ask\",4]' ORDER BY seq")
        [said] = newest(change, (ASK, (4,)))
        assert said is not None
        assert said.row["state"] == "used"
        append(change, [Entry(bytes(bodies[1][0]), subject='["ask",4]')], "x")
        change.run("UPDATE ask SET state = 'approved' WHERE seq = 4")
    with pytest.raises(StateForged) as caught:
        judge(lived.other, RULES, made)
    assert caught.value.code == FORGED
    with lived.store.read() as view:
        assert FORGED in {fault.code for fault in state_faults(view)}


def test_a_budget_is_not_given_back(lived: Lived) -> None:
    """An entry of one's own takes effect, since programs count; verifying names it."""
    with lived.store.write() as change:
        put(change, KINDS["spent"], ("T",), {"calls": 0}, event="budget", at=0, writer="x", about={})
    with lived.store.read() as view:
        assert "became less" in state_faults(view)[0].message


def test_an_agent_s_task_grants_only_what_it_was_granted(lived: Lived) -> None:
    """A forged task of an agent needs no passphrase, and can give nothing that a person did not give."""
    wide = task(RULES, "W", "hand", parent="C", by="lead", issuer="agent", grants=("y",))
    row = dict.fromkeys(KINDS["capsule"].columns) | {"id": "W", "agent": "hand", "parent": "C", "salt": b"s" * 16}
    with lived.store.write() as change:
        row["body"] = msgspec.json.encode(wide)
        put(change, KINDS["capsule"], ("W",), row, event="capsule", at=0, writer="x", about={"what": "issued"})
    with pytest.raises(StateForged, match="grants what no agent could"):
        lived.other.facts("W", Facts(store=True))


def test_a_task_of_a_person_is_not_forged(lived: Lived) -> None:
    lived.one.issue(RULES, task(RULES, "W", "hand", by="ann", grants=("y",)))
    assert lived.one.facts("W", Facts(store=True)).capsules["W"].grants, "the program that issued it vouches for it"
    with pytest.raises(StateForged) as caught:
        lived.other.facts("W", Facts(store=True))
    assert caught.value.code == UNSIGNED


def test_a_forged_activation_is_in_force_for_nobody(lived: Lived) -> None:
    with lived.store.write() as change:
        before = newest_activation(change)
        add_activation(change, before, policy="sha256:3", digest="3" * 64, at=3, by="ann (passphrase)")
    with lived.store.read() as view, pytest.raises(StateForged) as caught:
        newest_activation(view)
    assert caught.value.code == UNSIGNED


def test_launches_are_what_the_entries_say(lived: Lived) -> None:
    assert launches(lived.store, "s", "hand") == [("boss",), ("lead",)]


@pytest.mark.parametrize(
    ("sql", "code"),
    [
        ("DELETE FROM sealed WHERE id = 'A-1'", "value-missing"),
        ("UPDATE sealed SET id = 'A-2' WHERE id = 'A-1'", "value-missing"),
        ("DELETE FROM secret WHERE seq IN (SELECT max(seq) FROM secret)", "value-missing"),
        ("UPDATE secret SET value = NULL WHERE seq IN (SELECT max(seq) FROM secret)", "value-missing"),
        ("INSERT INTO running (seq, call, writer) VALUES (0, 'x', 'x')", "running-wrong"),
    ],
)
def test_values_and_calls_that_run(lived: Lived, sql: str, code: str) -> None:
    with lived.store.read() as view:
        before = looked(lived, view)
    found = tried(lived, Change(sql), before)
    assert found is not None
    assert code in {fault.code for fault in found[0]}
