"""Entries that somebody appends, rewrites or hides who can write only the database: they give no authority.

Each forgery is whole: the entry has its hash, the head has the entry, the row says the same as the entry, and the
triggers are in place again.
"""

from __future__ import annotations

import base64
import shutil
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from remit.decide.questions import call_digest
from remit.grant import asks, credential
from remit.grant.activation import newest_activation
from remit.grant.credential import set_passphrase, unlock
from remit.grant.errors import GrantError
from remit.model.errors import RemitError
from remit.model.facts import Facts
from remit.model.moments import moment
from remit.model.rulebook import Rulebook
from remit.record.append import append
from remit.record.audit import state_faults
from remit.record.entry import event_entry
from remit.record.errors import LedgerError
from remit.record.faults import trigger_faults
from remit.record.people import UNSIGNED, people_of
from remit.record.state import FORGED, State, StateForged, _digest, message_of
from remit.store import Store
from tests.attacks.ledger.forger import Forger, forging, new_process
from tests.grant.people_world import QUICK, ROOT, activate, asked, named_rules, project_sign, settle, sign_of
from tests.grant.world import Wall, authority, call, judge, rules, task

PLAIN, NAMED = rules(), named_rules()
LATER = "9000-01-01T00:00:00.000Z"
APPROVED = "UPDATE ask SET state = 'approved', expires = ? WHERE seq = ?"


def _all_people(store: Store, folder: Path) -> None:
    """Questions 1 to 3: open, approved and used. Two tasks, of which one has ended."""
    sign, one = settle(store), authority(store, folder)
    for name in ("T", "E"):
        one.issue(NAMED, task(NAMED, name, "boss", by="cy"), sign=sign["cy"])
    one.end("E", by="cy")
    for to in ("open", "approved", "used"):
        name = asked(one, NAMED, "T", to)
        for who in ("ann", "bob") if to != "open" else ():
            one.answer(name, "approve", by=who, sign=sign[who])
    _ran(store, folder, NAMED, "used", "T")


def _project_only(store: Store, folder: Path) -> None:
    """The same with the project's passphrase."""
    set_passphrase(store, ROOT)
    sign, one = project_sign(store), authority(store, folder)
    activate(store, PLAIN, sign, "ann")
    for name in ("T", "E"):
        one.issue(PLAIN, task(PLAIN, name, "boss", by="ann"), sign=sign)
    one.end("E", by="ann")
    for to in ("open", "approved", "used"):
        name = asked(one, PLAIN, None, to)
        if to != "open":
            one.answer(name, "approve", by="ann", sign=sign)
    _ran(store, folder, PLAIN, "used", None)


def _ran(store: Store, folder: Path, rulebook: Rulebook, to: str, capsule: str | None) -> str:
    """What becomes of a call: `ran`, the verdict, or the code that it is denied with."""
    one, made = authority(store, folder), call("boss", "push", {"to": to}, capsule)
    try:
        decision, facts = judge(one, rulebook, made)
        if decision.allowed:
            one.begin(made, decision, rulebook, facts)
            return "ran"
    except RemitError as error:
        return error.code
    return decision.verdict.word


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("lived")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(credential, "NOW", QUICK)
        for name, live in (("named", _all_people), ("plain", _project_only)):
            with new_process(folder / name) as store:
                live(store, folder / name)
        yield folder


@pytest.fixture
def plain(lived: Path, tmp_path: Path) -> Path:
    """A state directory whose policy names nobody."""
    shutil.copytree(lived / "plain", tmp_path / "plain")
    return tmp_path / "plain"


@pytest.fixture
def named(lived: Path, tmp_path: Path) -> Path:
    """A state directory whose policy names people."""
    shutil.copytree(lived / "named", tmp_path / "named")
    return tmp_path / "named"


def tried(folder: Path, to: str) -> str:
    """What a new process says to a call."""
    with new_process(folder) as store:
        rulebook, capsule = (NAMED, "T") if folder.name == "named" else (PLAIN, None)
        return _ran(store, folder, rulebook, to, capsule)


def verified(folder: Path) -> set[str]:
    with new_process(folder) as store, store.read() as view:
        return {fault.code for fault in state_faults(view)}


def other_call(folder: Path, to: str) -> str:
    """The digest of a call that nobody was asked about."""
    rulebook, capsule = (NAMED, "T") if folder.name == "named" else (PLAIN, None)
    with new_process(folder) as store:
        made = call("boss", "push", {"to": to}, capsule)
        facts = authority(store, folder).facts(capsule, Facts(store=True))
        return call_digest(made, rulebook.hash, facts)


@pytest.mark.parametrize("kind", ["plain", "named"])
def test_without_forgery_everything_counts_as_it_was_given(kind: str, plain: Path, named: Path):
    folder = {"plain": plain, "named": named}[kind]
    assert [tried(folder, to) for to in ("open", "approved", "approved", "used")] == ["ask", "ran", "ask", "ask"]
    assert verified(folder) == set()


# Answers that nobody gave


@pytest.mark.parametrize("kind", ["human", "program", "anything", "people", None])
def test_an_unsigned_approval_does_not_count(plain: Path, kind: str | None):
    with forging(plain) as forger:
        [first] = forger.said("ask", 1)
        answer = {"state": "approved", "answerer": "ann", "answerer_kind": kind, "answered": first["at"]}
        forger.follow({**first, "what": "approved", "by": "ann", "kind": kind}, **answer)
        sets = "state = 'approved', answerer = 'ann', answerer_kind = ?, answered = ?"
        forger.run(f"UPDATE ask SET {sets} WHERE seq = 1", kind, first["at"])  # noqa: S608
    assert tried(plain, "open") == ("ask" if kind == "people" else UNSIGNED)


# Questions that are about another call


def _ask_another_call(forger: Forger, digest: str) -> None:
    [first] = forger.said("ask", 1)
    forger.follow({**first, "digest": digest}, digest=digest)
    forger.run("UPDATE ask SET digest = ? WHERE seq = 1", digest)


@pytest.mark.parametrize("kind", ["plain", "named"])
def test_a_question_keeps_its_call(kind: str, plain: Path, named: Path):
    folder = {"plain": plain, "named": named}[kind]
    digest = other_call(folder, "evil")
    with forging(folder) as forger:
        _ask_another_call(forger, digest)
    _check_not_answered(folder, "another entry|never changes")
    assert tried(folder, "evil") == "ask"
    assert FORGED in verified(folder)


@pytest.mark.parametrize("kind", ["plain", "named"])
def test_a_question_whose_entry_was_rewritten_is_not_what_was_sealed(kind: str, plain: Path, named: Path):
    folder = {"plain": plain, "named": named}[kind]
    digest = other_call(folder, "evil")
    with forging(folder) as forger:
        [place], [first] = forger.places("ask", 1), forger.said("ask", 1)
        first["digest"] = first["state"]["row"]["digest"] = digest
        forger.rewrite(place, first)
        forger.run("UPDATE ask SET digest = ? WHERE seq = 1", digest)
    _check_not_answered(folder, "is about another call")
    assert tried(folder, "evil") == "ask"


def _check_not_answered(folder: Path, message: str) -> None:
    """Neither shown nor approved, by whoever may."""
    with new_process(folder) as store:
        one = authority(store, folder)
        with pytest.raises(StateForged, match=message):
            one.arguments("A-1")
        people = ("ann", "bob") if folder.name == "named" else ("root",)
        for who in people:
            sign = sign_of(store, who) if folder.name == "named" else project_sign(store)
            with pytest.raises(StateForged, match=message):
                one.answer("A-1", "approve", by=who, sign=sign)


def test_an_approval_is_not_for_another_call(named: Path):
    """Also after people have answered it."""
    digest = other_call(named, "evil")
    with forging(named) as forger:
        newest = forger.said("ask", 2)[-1]
        forger.follow({**newest, "digest": digest}, digest=digest)
        forger.run("UPDATE ask SET digest = ? WHERE seq = 2", digest)
    assert tried(named, "evil") == FORGED


# Approvals that were used, or have ended


def test_a_used_approval_stays_used(named: Path):
    with forging(named) as forger:
        _, approved, used = forger.said("ask", 3)
        assert (approved["state"]["row"]["state"], used["state"]["row"]["state"]) == ("approved", "used")
        assert "signed" not in approved, "it rests on the answers of people, which are signed"
        forger.follow(approved, expires=LATER)
        forger.run(APPROVED, LATER, 3)
    assert tried(named, "used") == FORGED
    assert FORGED in verified(named)


@pytest.mark.parametrize("between", ["cancelled", "expired", "refused", "open"])
def test_nor_by_a_detour(named: Path, between: str):
    with forging(named) as forger:
        _, approved, used = forger.said("ask", 3)
        forger.follow(used, state=between)
        forger.follow(approved)
        forger.run("UPDATE ask SET state = 'approved' WHERE seq = 3")
    assert tried(named, "used") == FORGED


def test_an_approval_ends_no_later(named: Path):
    with forging(named) as forger:
        forger.follow(forger.said("ask", 2)[-1], expires=LATER)
        forger.run(APPROVED, LATER, 2)
    assert tried(named, "approved") == FORGED


# Tasks and tickets


def _other_task(forger: Forger, name: str) -> None:
    """A task without limits, which an agent issued, in the place of a person's."""
    first = forger.said("capsule", name)[0]
    body = msgspec.json.encode({"capsule": {"id": name, "agent": "boss"}, "goal": "g", "by": "lead", "issuer": "agent"})
    salt = b"s" * 16
    row = {"body": _digest("body", salt, body), "expires": None, "ended": None, "ended_by": None}
    forger.follow({**first, "issuer": "agent", "by": "lead"}, **row)
    sets = "body = ?, salt = ?, expires = NULL, ended = NULL, ended_by = NULL"
    forger.run(f"UPDATE capsule SET {sets} WHERE id = ?", body, salt, name)  # noqa: S608


def _task(folder: Path, name: str) -> str:
    with new_process(folder) as store:
        try:
            found = authority(store, folder).facts(name, Facts(store=True)).capsules[name]
        except RemitError as error:
            return error.code
        return "ended" if found.ended else "lives"


@pytest.mark.parametrize("name", ["T", "E"])
def test_a_task_is_not_replaced_by_another_one(plain: Path, name: str):
    assert _task(plain, name) == {"T": "lives", "E": "ended"}[name]
    with forging(plain) as forger:
        _other_task(forger, name)
    assert _task(plain, name) == FORGED
    assert FORGED in verified(plain)


def test_an_ended_task_stays_ended(plain: Path):
    """Its own entry, whose signature is of another place, and an unsigned one."""
    for keep in (True, False):
        with forging(plain) as forger:
            first = forger.said("capsule", "E")[0]
            if keep:
                state = {**first["state"], "after": forger.places("capsule", "E")[-1]}
                forger.append({**first, "state": state})
            else:
                forger.follow(first)
            forger.run("UPDATE capsule SET ended = NULL, ended_by = NULL WHERE id = 'E'")
        assert _task(plain, "E") == FORGED


def test_a_ticket_is_used_once(plain: Path):
    with new_process(plain) as store:
        text = authority(store, plain).ticket("T")
        authority(store, plain).enter(text)
    with forging(plain) as forger:
        [(digest,)] = forger._link.execute("SELECT digest FROM ticket").fetchall()
        forger.follow(forger.said("ticket", digest)[0])
        forger.run("UPDATE ticket SET used = NULL")
    with new_process(plain) as store, pytest.raises(StateForged):
        authority(store, plain).enter(text)


# Entries that are hidden


def _hide_use(forger: Forger) -> None:
    """The entry that says that the approval was used is hidden; another one follows the approval in its place."""
    _, approved, used = forger.places("ask", 3)
    forger.hide(used)
    entry = forger.entry(approved)
    forger.follow(entry)
    forger.run("UPDATE ask SET state = 'approved' WHERE seq = 3")


def test_a_hidden_use_is_missed(named: Path):
    with forging(named) as forger:
        _hide_use(forger)
    assert tried(named, "used") == FORGED


def test_also_by_a_process_that_ran_meanwhile(named: Path):
    """It has read what was appended, and knows what was there before."""
    with new_process(named) as store:
        assert _ran(store, named, NAMED, "other", "T") == "ask"
        _write(store)
        with forging(named) as forger:
            _hide_use(forger)
        _write(store)
        assert _ran(store, named, NAMED, "used", "T") == FORGED
    assert tried(named, "used") == FORGED, "and nobody has forgotten it"


def _write(store: Store) -> None:
    """Something else is written: the process reads what came since."""
    with store.write() as change:
        append(change, [event_entry("clock", 1, "x", {"what": "x"}, {})], "x")


@pytest.mark.parametrize("running", [False, True])
def test_a_task_s_first_entry_is_not_replaced(plain: Path, running: bool):
    def forge() -> None:
        with forging(plain) as forger:
            first = forger.said("capsule", "E")[0]
            forger.hide(*forger.places("capsule", "E"))
            forger.append({name: value for name, value in first.items() if name != "signed"})
            forger.run("UPDATE capsule SET ended = NULL, ended_by = NULL WHERE id = 'E'")

    with new_process(plain) as store:
        _write(store)
        if running:
            forge()
            _write(store)
    if not running:
        forge()
    assert _task(plain, "E") == FORGED


def _halt(folder: Path, *names: str) -> None:
    with new_process(folder) as store:
        for name in names:
            authority(store, folder).halt(name, by="ann", because="x")


def _halted(folder: Path) -> set[str] | str:
    with new_process(folder) as store:
        try:
            return set(authority(store, folder).halts(PLAIN))
        except RemitError as error:
            return error.code


def test_a_hidden_halt_is_missed(plain: Path):
    _halt(plain, "boss")
    assert _halted(plain) == {"boss"}
    with forging(plain) as forger:
        forger.hide(*forger.places("halt", "boss"))
    assert _halted(plain) == FORGED


def test_also_if_others_take_its_place(plain: Path):
    """Halts of agents that don't exist, before and after it; those before are hidden too."""
    with forging(plain) as forger:
        _halt_nobody(forger, "nobody 1")
        _halt_nobody(forger, "nobody 2")
    _halt(plain, "boss")
    assert _halted(plain) == {"boss", "nobody 1", "nobody 2"}
    shutil.copytree(plain, plain.with_name("second"))
    with forging(plain) as forger:
        forger.hide(*forger.places("halt", "boss"))
        _halt_nobody(forger, "nobody 3")
    assert _halted(plain) == FORGED
    with forging(plain.with_name("second")) as forger:
        for name in ("boss", "nobody 1", "nobody 2"):
            forger.hide(*forger.places("halt", name))
    assert _halted(plain.with_name("second")) == FORGED


def test_also_if_another_one_follows(plain: Path):
    """Nobody looked meanwhile: the next halt does not take its number."""
    _halt(plain, "boss")
    with forging(plain) as forger:
        forger.hide(*forger.places("halt", "boss"))
    _halt(plain, "lead")
    assert _halted(plain) == FORGED


def test_also_if_it_is_found_as_another_one_s(plain: Path):
    _halt(plain, "boss")
    with forging(plain) as forger:
        [place] = forger.places("halt", "boss")
        entry = forger.entry(place)
        forger.append({**entry, "state": {**entry["state"], "of": ["halt", "nobody"], "after": place}})
        forger.run("""UPDATE leaf SET subject = '["halt","nobody"]' WHERE seq = ?""", place)
    assert _halted(plain) == FORGED


def _halt_nobody(forger: Forger, who: str) -> None:
    row = {"halted": True, "at": "2026-01-01T00:00:00.000Z", "by": "x", "because": "x", "incident": None}
    state = {"of": ["halt", who], "after": None, "row": row}
    forger.append({**forger.entry(0), "type": "halt", "state": state})


def test_a_halt_that_was_lifted_before_is_not_lifted_by_the_same_entry(plain: Path):
    """The person's signed entry is copied to follow the first halt again; what came between is hidden."""
    with new_process(plain) as store:
        one = authority(store, plain)
        one.halt("boss", by="ann", because="x")
        one.resume("boss", by="ann", because="x", sign=project_sign(store))
        one.halt("boss", by="ann", because="x")
        _write(store)
        with forging(plain) as forger:
            _, lifted, again = forger.places("halt", "boss")
            entry = forger.entry(lifted)
            forger.hide(lifted, again)
            forger.append(entry)
        _write(store)
    assert _halted(plain) == FORGED


def test_a_hidden_incident_is_missed(plain: Path):
    with new_process(plain) as store:
        one = authority(store, plain)
        about = {"code": "protected", "reason": "x", "agent": "boss", "tool": "push", "point": "x", "policy": "x"}
        name = one.found_incident(**about).id
    with forging(plain) as forger:
        forger.hide(*forger.places("incident", name))
    with new_process(plain) as store, pytest.raises(StateForged):
        authority(store, plain).incidents(PLAIN)


def test_a_person_s_hidden_refusal_is_missed(named: Path):
    """Two have approved it; a third refuses, and that is hidden, with the state that came of it."""
    with new_process(named) as store:
        authority(store, named).answer("A-2", "refuse", by="ann", sign=sign_of(store, "ann"))
    with forging(named) as forger:
        forger.hide(forger.places("answer", 2, "ann")[-1], forger.places("ask", 2)[-1])
        forger.run("UPDATE ask SET state = 'approved', answerer = 'ann, bob', because = NULL WHERE seq = 2")
    assert tried(named, "approved") == FORGED


def test_a_person_s_hidden_answer_is_missed(named: Path):
    with forging(named) as forger:
        forger.hide(*forger.places("answer", 2, "ann"))
    assert tried(named, "approved") == FORGED


def test_a_hidden_passphrase_is_missed(plain: Path):
    """Without one, nobody could have signed, and everything would count."""
    with forging(plain) as forger:
        forger.hide(*forger.places("credential", "person"))
        [first] = forger.said("ask", 1)
        answer = {"state": "approved", "answerer": "ann", "answerer_kind": "human", "answered": first["at"]}
        forger.follow({**first, "what": "approved", "by": "ann", "kind": "human"}, **answer)
        sets = "state = 'approved', answerer = 'ann', answerer_kind = 'human', answered = ?"
        forger.run(f"UPDATE ask SET {sets} WHERE seq = 1", first["at"])  # noqa: S608
        forger.run("DELETE FROM credential")
    assert tried(plain, "open") == FORGED


def test_a_task_that_is_gone_is_missed_if_another_takes_its_place(plain: Path):
    """Else its agent would work without the limits of the task."""
    with forging(plain) as forger:
        first = forger.said("capsule", "T")[0]
        body = msgspec.json.encode({"capsule": {"id": "Z", "agent": "boss"}, "goal": "g", "by": "x", "issuer": "agent"})
        salt = b"s" * 16
        row = {"agent": "boss", "parent": None, "expires": None, "ended": None, "ended_by": None}
        entry = {name: value for name, value in first.items() if name != "signed"}
        entry["state"] = {"of": ["capsule", "Z"], "after": None, "row": {**row, "body": _digest("body", salt, body)}}
        forger.append(entry)
        forger.follow(entry, ended="2026-01-01T00:00:00.000Z", ended_by="x")
        forger.run("DELETE FROM capsule WHERE id = 'T'")
        forger.run(
            "INSERT INTO capsule (id, agent, body, salt, ended, ended_by) VALUES ('Z', 'boss', ?, ?, ?, 'x')",
            *(body, salt, "2026-01-01T00:00:00.000Z"),
        )
    with new_process(plain) as store, pytest.raises(StateForged):
        authority(store, plain).living("boss")


# Who people are


def _take_over(folder: Path, other: Path) -> None:
    """The first passphrase becomes the attacker's, with the hash of its entry; the activation is signed again."""
    with new_process(other) as store:
        set_passphrase(store, "of the attacker")
        sign = unlock(store, "of the attacker")
        assert sign is not None
    with forging(other) as theirs:
        [own] = theirs.said("credential", "person")
        names = ("name", "kind", "set_at", "key", "parameters", "hash", "salt")
        [row] = theirs._link.execute(f"SELECT {', '.join(names)} FROM credential").fetchall()  # noqa: S608
    with forging(folder, has_keys=False) as forger:
        [place] = forger.places("credential", "person")
        forger.rewrite(place, {**forger.entry(place), "state": own["state"]})
        sets = ", ".join(f"{name} = ?" for name in names)
        forger.run(f"UPDATE credential SET {sets} WHERE name = 'person'", *row)  # noqa: S608
        for at in forger.places("activation"):
            entry = forger.entry(at)
            state = msgspec.convert(entry["state"], State)
            message = message_of(entry["type"], state, entry)
            forger.rewrite(at, {**entry, "signed": base64.b64encode(sign(message)).decode()})


def test_the_first_passphrase_is_not_replaced(plain: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(credential, "NOW", QUICK)
    _take_over(plain, tmp_path / "theirs")
    assert tried(plain, "approved") == FORGED
    with new_process(plain) as store, store.read() as view:
        with pytest.raises(StateForged):
            people_of(view)
        with pytest.raises(StateForged):
            newest_activation(view)
    with new_process(plain) as store, pytest.raises(StateForged):
        unlock(store, "of the attacker")


def test_an_activation_between_others_is_missed(named: Path):
    """Else people would have kept the roles that it took from them."""
    with new_process(named) as store:
        for _ in range(3):
            activate(store, NAMED, sign_of(store, "ann"), "ann")
    with forging(named) as forger:
        forger.hide(forger.places("activation")[1])
    with new_process(named) as store, store.read() as view, pytest.raises(StateForged):
        people_of(view)


@pytest.mark.parametrize("field", ["people", "credential"])
def test_an_activation_is_signed_with_what_it_says_of_people(named: Path, field: str):
    """Without what this machine remembers, too: on another one, or from a copy."""
    (named / "keys" / "states").unlink()
    with forging(named) as forger:
        [place] = forger.places("activation")
        entry = forger.entry(place)
        assert entry["people"]["dan"] == ["operator"]
        entry[field] = {**entry["people"], "dan": ["owner"]} if field == "people" else "none"
        forger.rewrite(place, entry)
    with new_process(named) as store, store.read() as view, pytest.raises(StateForged):
        newest_activation(view)
    with new_process(named) as store, store.read() as view:
        assert people_of(view).now is None, "it names nobody"


# Triggers


def _add_trigger(folder: Path, when: str) -> None:
    link = sqlite3.connect(folder / "remit.db")
    link.execute(f"CREATE TRIGGER more BEFORE INSERT ON leaf {when} BEGIN SELECT RAISE(IGNORE); END")
    link.commit()
    link.close()


def test_a_trigger_of_somebody_else_is_reported(plain: Path):
    with new_process(plain) as store, store.read() as view:
        assert list(trigger_faults(view, "sqlite")) == []
    _add_trigger(plain, "WHEN NEW.subject = 'x'")
    with new_process(plain) as store, store.read() as view:
        assert [fault.code for fault in trigger_faults(view, "sqlite")] == ["trigger-added"]


@pytest.mark.parametrize("place", [0, 1, 2])
def test_an_entry_that_a_trigger_drops_is_not_taken_for_written(plain: Path, place: int):
    """Whichever of several that are written together."""
    _add_trigger(plain, """WHEN CAST(NEW.body AS TEXT) LIKE '%"what":"dropped"%'""")
    entries = [event_entry("clock", 1, "x", {"what": "kept"}, {})] * 2
    entries.insert(place, event_entry("clock", 1, "x", {"what": "dropped"}, {}))
    with new_process(plain) as store:
        with pytest.raises(LedgerError), store.write() as change:
            append(change, entries, "x")
        _write(store)
    assert verified(plain) == set()


# The everyday course


def test_what_really_happens_is_a_course(plain: Path, monkeypatch: pytest.MonkeyPatch):
    """Refused after it was approved, cancelled, expired, moved by a repaired clock; tasks, tickets and halts."""
    wall = Wall(time.time())
    with new_process(plain) as store:
        one, sign = authority(store, plain, wall), project_sign(store)
        names = {to: asked(one, PLAIN, None, to) for to in ("refused", "no", "cancelled", "expired", "moved", "late")}
        one.answer(names["refused"], "approve", by="ann", sign=sign)
        one.answer(names["refused"], "refuse", by="ann", sign=sign)
        one.answer(names["no"], "refuse", by="ann", sign=sign)
        one.answer(names["cancelled"], "approve", by="ann", sign=sign)
        one.cancel(names["cancelled"], by="boss")
        one.answer(names["expired"], "approve", by="ann", sign=sign)
        one.issue(PLAIN, task(PLAIN, "M", "boss", by="ann", expires=moment(wall.at + 7200)), sign=sign)
        tickets = [one.ticket("M") for _ in range(3)]
        one.enter(tickets[0])
        wall.goes_on(4000)
        assert one.asked(names["expired"]).state == "expired"
        one.answer(names["moved"], "approve", by="ann", sign=sign)
        tickets.append(one.ticket("M"))
        for back in (600, 1200):
            wall.jumps(-back)
            assert one.repair_clock(by="ann", sign=sign).moved > 0
        one.enter(tickets[-1])
        assert judge(one, PLAIN, call("boss", "push", {"to": "moved"}))[0].allowed
        assert judge(one, PLAIN, call("boss", "push", {"to": "no"}))[0].code == "refused"
        one.end("M", by="ann")
        for _ in range(30):
            one.halt("boss", by="ann", because="x")
            one.resume("boss", by="ann", because="x", sign=sign)
        for name in ("lead", "hand", "aide"):
            one.halt(name, by="ann", because="x")
        assert one.asked(names["late"]).state == "open"
    assert verified(plain) == set()
    assert _halted(plain) == {"lead", "hand", "aide"}
    assert (_task(plain, "M"), _task(plain, "T")) == ("ended", "lives")
    with new_process(plain) as store:
        other = authority(store, plain, wall)
        with pytest.raises(GrantError):
            other.enter(tickets[0])
        decision, facts = judge(other, PLAIN, made := call("boss", "push", {"to": "moved"}))
        other.begin(made, decision, PLAIN, facts)
        assert [one.task.capsule.id for one in other.living("boss")] == ["T"]
    assert verified(plain) == set()


# What people sign later


def test_nobody_signs_a_forged_approval_by_moving_it(plain: Path):
    """As `remit clock repair` does: the step counts that gave the authority."""
    with forging(plain) as forger:
        [first] = forger.said("ask", 1)
        answer = {"state": "approved", "answerer": "ann", "answerer_kind": "human", "answered": first["at"]}
        forger.follow({**first, "what": "approved", "by": "ann", "kind": "human"}, **answer)
        sets = "state = 'approved', answerer = 'ann', answerer_kind = 'human', answered = ?"
        forger.run(f"UPDATE ask SET {sets} WHERE seq = 1", first["at"])  # noqa: S608
    with new_process(plain) as store:
        one = authority(store, plain)
        scribe = one.scribe._replace(sign=project_sign(store))
        with store.write() as change:
            found = asks.find(change, "A-1")
            asks.move(change, 1, found.expires, scribe)
    assert tried(plain, "open") == UNSIGNED
    assert UNSIGNED in verified(plain)


def test_nobody_signs_a_forged_gate_by_passing_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(credential, "NOW", QUICK)
    with new_process(tmp_path / "plain") as store:
        set_passphrase(store, ROOT)
        sign, one = project_sign(store), authority(store, tmp_path / "plain")
        activate(store, PLAIN, sign, "ann")
        one.issue(PLAIN, task(PLAIN, "G", "boss", by="ann", gates=("plan", "demo")), sign=sign)
    with forging(tmp_path / "plain") as forger:
        [issued] = forger.said("capsule", "G")
        row = {"demo": ["ann", issued["at"]]}
        new = {name: value for name, value in issued.items() if name not in ("signed", "what")}
        forger.append({**new, "type": "gate", "state": {"of": ["gates", "G"], "after": None, "row": row}})
    with new_process(tmp_path / "plain") as store:
        one = authority(store, tmp_path / "plain")
        with pytest.raises(StateForged) as refused:
            one.pass_gate("G", "plan", by="ann", sign=project_sign(store))
    assert refused.value.code == UNSIGNED


def test_people_are_shown_what_was_sealed(plain: Path):
    """The question says another tool; its arguments and its call stay."""
    with forging(plain) as forger:
        [place], [first] = forger.places("ask", 1), forger.said("ask", 1)
        [(body, salt)] = forger.rows("SELECT body, salt FROM ask WHERE seq = 1")
        shown = msgspec.json.encode({**msgspec.json.decode(body), "tool": "peek", "effects": ["read"]})
        first["state"]["row"]["body"] = _digest("body", bytes(salt), shown)
        forger.rewrite(place, first)
        forger.run("UPDATE ask SET body = ? WHERE seq = 1", shown)
    _check_not_answered(plain, "is about another call")
