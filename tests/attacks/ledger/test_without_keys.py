"""Somebody who can write only the database, and has not even the keys folder: nothing that they write counts.

It gives nothing, and it takes nothing away: whatever is appended, everybody goes on as if it were not there. What is
changed in place is missed.
"""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest

from remit.grant import credential
from remit.grant.activation import newest_activation
from remit.grant.authority import Authority
from remit.grant.credential import set_passphrase
from remit.model.policy import Stream
from remit.record.append import append, tree_of
from remit.record.archive import Unsettled, end_for
from remit.record.audit import audit
from remit.record.canonical import encode
from remit.record.continuity import check_extends
from remit.record.entry import event_entry
from remit.record.erase import Which, erase
from remit.record.errors import LedgerError
from remit.record.export import jsonl, ocsf
from remit.record.faults import check_newest
from remit.record.listed import STATES
from remit.record.open import open_log
from remit.record.past import past_calls
from remit.record.people import people_of
from remit.record.reader import FOREIGN, UNREADABLE, Filter, all_said, archives, entry_at, said
from remit.record.resume import _forget, resume
from remit.record.stamp import FILE, Stamps, make_stamps, read_stamps
from remit.record.state import KINDS, StateForged, newest
from remit.record.state_memory import StateMemory
from remit.record.stats import count
from remit.record.stream import Place, _batch, backlogs, keep_place, place_of
from remit.record.timeline import timeline
from remit.record.tree import leaf_hash
from remit.record.upgrade import stamp_all
from remit.service.status.ledger import ledger_state
from remit.store import Store
from remit.store.interface import Transaction
from tests.attacks.ledger.forger import Forger, forging, new_process
from tests.attacks.ledger.test_forged_entries import (
    PLAIN,
    _ran,
    lived,
    named,
    plain,
    tried,
    verified,
)
from tests.grant.people_world import QUICK, ROOT, activate, asked, project_sign
from tests.grant.world import authority, open_world, task
from tests.record.project import Project

__all__ = ["lived", "named", "plain"]  # fixtures
LATER = "9000-01-01T00:00:00.000Z"
EXPECTED = {"open": "ask", "approved": "ran", "used": "ask"}
OTHERS: dict[str, dict[str, Any]] = {
    "halt": {"halted": False},
    "ask": {"state": "approved", "answerer_kind": "agent", "expires": LATER},
    "capsule": {"ended": None, "expires": LATER},
    "activation": {"policy": "x"},
}
"""What a forger would rather have."""


def _subjects(forger: Forger) -> list[list[Any]]:
    rows = forger.rows("SELECT DISTINCT subject FROM leaf WHERE subject IS NOT NULL ORDER BY subject")
    return [msgspec.json.decode(subject) for (subject,) in rows]


def _append_wish(forger: Forger) -> None:
    """An entry that goes on from the newest one of every subject, and says what a forger would rather have."""
    for of in _subjects(forger):
        forger.follow(forger.said(*of)[-1], **OTHERS.get(str(of[0]), {}))


def _append_nonsense(forger: Forger) -> None:
    """An entry about every subject that does not go on from anything, with a row that is none."""
    for of in _subjects(forger):
        entry = forger.said(*of)[-1]
        forger.append({**entry, "state": {"of": of, "after": 0, "row": {"halted": "perhaps", "state": 7}}})


def _append_new(forger: Forger) -> None:
    """Entries about things that are not there, of every kind."""
    [entry] = [forger.entry(0)]
    for name, kind in KINDS.items():
        for key in ([], ["zzz"], [99], [1, "zzz"]):
            state = {"of": [name, *key], "after": None, "row": {"halted": True}}
            forger.append({**entry, "type": kind.events[0], "state": state})


def _append_unread(forger: Forger) -> None:
    """An entry whose hash is not its own."""
    for of in _subjects(forger):
        place = forger.follow(forger.said(*of)[-1])
        forger.run("UPDATE leaf SET body = ? WHERE seq = ?", b"{", place)


def _append_again(forger: Forger) -> None:
    """Every entry a second time, with the stamp of the first."""
    for of in _subjects(forger):
        for place in forger.places(*of):
            [(stamp,)] = forger.rows(f"SELECT stamp FROM leaf WHERE seq = {place}")  # noqa: S608
            forger.run("UPDATE leaf SET stamp = ? WHERE seq = ?", stamp, forger.append(forger.entry(place)))


def _append_unreadable(forger: Forger) -> None:
    """Subjects that are none, states that nobody finds, and bodies that break those who read them."""
    for subject in ('["halt",zzz', '["halt",{}]', '["incident",', '["ask",[[', "x"):
        place = forger.append({**forger.entry(0), "type": "halt", "state": {"of": ["halt", "x"], "after": None}})
        forger.run("UPDATE leaf SET subject = ? WHERE seq = ?", subject, place)
    forger.hide(forger.append({**forger.entry(0), "type": "halt", "state": {"of": ["halt", "*"], "after": None}}))
    for body in (b"[" * 2000, b"zz", b'{"type":"rotation","old":[],"new":[]}', b'{"type":"erasure","entries":5}'):
        forger.append_bytes(body)


def _put_before(forger: Forger) -> None:
    """Entries before the first place."""
    for number, of in enumerate(_subjects(forger), 1):
        body = encode({**forger.said(*of)[-1], "signed": None})
        row = (-number, leaf_hash(body), body, msgspec.json.encode(of).decode())
        forger.run("INSERT INTO leaf (seq, hash, body, subject) VALUES (?, ?, ?, ?)", *row)


APPENDED = [_append_unreadable, _put_before, _append_wish, _append_nonsense, _append_new, _append_unread, _append_again]


def _all_newest(folder: Path, of: list[list[Any]]) -> list[Any]:
    with new_process(folder) as store, store.read() as view:
        found = [newest(view, (KINDS[str(one[0])], tuple(one[1:])))[0] for one in of]
        return [said and (said.seq, said.state) for said in found]


@pytest.mark.parametrize("kind", ["plain", "named"])
@pytest.mark.parametrize("forge", APPENDED)
def test_what_is_appended_counts_as_not_there(kind: str, forge: Callable[[Forger], None], plain: Path, named: Path):
    folder = {"plain": plain, "named": named}[kind]
    with forging(folder, has_keys=False) as forger:
        of = _subjects(forger)
    before = _all_newest(folder, of)
    with forging(folder, has_keys=False) as forger:
        forge(forger)
    assert _all_newest(folder, of) == before
    assert verified(folder) & {"state-forged", "subject-wrong"}, "but it is named"
    assert {to: tried(folder, to) for to in EXPECTED} == EXPECTED


@pytest.mark.parametrize("forge", APPENDED)
def test_everybody_goes_on(forge: Callable[[Forger], None], plain: Path):
    """Questions, tasks, halts, passphrases and policies, over entries that count for nothing."""
    with forging(plain, has_keys=False) as forger:
        forge(forger)
    with new_process(plain) as store:
        one, sign = authority(store, plain), project_sign(store)
        one.halt("boss", by="ann", because="x")
        assert set(one.halts(PLAIN)) == {"boss"}
        one.resume("boss", by="ann", because="x", sign=sign)
        assert not one.halts(PLAIN)
        one.issue(PLAIN, task(PLAIN, "N", "boss", by="ann"), sign=sign)
        one.answer(asked(one, PLAIN, None, "new"), "approve", by="ann", sign=sign)
        assert _ran(store, plain, PLAIN, "new", None) == "ran"
        activate(store, PLAIN, sign, "ann")
        with store.read() as view:
            assert newest_activation(view) is not None


def _look(view: Transaction, of: list[Any]) -> None:
    newest(view, (KINDS[str(of[0])], tuple(of[1:])))
    people_of(view)


@pytest.mark.parametrize("kind", ["plain", "named"])
def test_no_entry_is_changed_in_place(kind: str, plain: Path, named: Path, tmp_path: Path):
    """Each in turn, with its hash: it is missed where it was the newest, and those that follow it hold on to it."""
    folder = {"plain": plain, "named": named}[kind]
    with forging(folder, has_keys=False) as forger:
        places = {place: of for of in _subjects(forger) for place in forger.places(*of)}
        entries = {place: forger.entry(place) for place in places}
    for place, of in places.items():
        with forging(folder, has_keys=False) as forger:
            entry = entries[place]
            row = {**(entry["state"]["row"] or {}), **OTHERS.get(str(of[0]), {"x": 1})}
            forger.rewrite(place, {**entry, "state": {**entry["state"], "row": row}})
        with new_process(folder) as store, store.read() as view, pytest.raises(StateForged):
            _look(view, of)
        with forging(folder, has_keys=False) as forger:
            forger.rewrite(place, entry)
    assert verified(folder) == set(), "all is as it was"


def test_a_stamp_is_of_one_place(plain: Path):
    stamps, other = read_stamps(plain / "keys"), Stamps(b"k" * 32)
    assert stamps is not None
    leaf = b"l" * 32
    stamp = stamps.make(7, leaf)
    assert stamps.fits(7, leaf, stamp)
    for wrong in ((8, leaf, stamp), (7, b"m" * 32, stamp), (7, leaf, None), (7, leaf, b""), (7, leaf, stamp[:8])):
        assert not stamps.fits(*wrong)
    assert not other.fits(7, leaf, stamp)


# The key


def test_without_its_key_a_stamped_log_is_refused(plain: Path):
    (plain / "keys" / FILE).unlink()
    with pytest.raises(LedgerError, match=r"stamp\.key is missing") as refused, new_process(plain):
        pass
    assert refused.value.code == "key-missing"
    assert not (plain / "keys" / FILE).exists(), "none is made in its place"


@pytest.mark.parametrize(("mode", "data", "code"), [(0o644, b"x" * 32, "key-unsafe"), (0o600, b"x", "key-malformed")])
def test_a_key_must_be_in_order(plain: Path, mode: int, data: bytes, code: str):
    (plain / "keys" / FILE).write_bytes(data)
    (plain / "keys" / FILE).chmod(mode)
    with pytest.raises(LedgerError) as refused, new_process(plain):
        pass
    assert refused.value.code == code


def test_a_log_from_before_stamps_gets_them_once(plain: Path):
    with forging(plain) as forger:
        forger.run("UPDATE leaf SET stamp = NULL")
    (plain / "keys" / FILE).unlink()
    assert tried(plain, "approved") == "ran"
    assert verified(plain) == set()
    with forging(plain, has_keys=False) as forger:
        forger.follow(forger.said("ask", 1)[-1], state="approved", answerer_kind="agent")
        forger.run("UPDATE leaf SET stamp = NULL WHERE subject = '[\"activation\"]'")
    assert tried(plain, "open") != "ran"
    assert tried(plain, "used") != "ran", "nothing is stamped a second time"


def test_a_log_that_was_forged_before_is_not_stamped(plain: Path):
    with new_process(plain) as store, store.read() as view:
        signed = tree_of(view)
    with forging(plain) as forger:
        forger.run("UPDATE leaf SET stamp = NULL")
        [place] = forger.places("credential", "person")
        forger.rewrite(place, {**forger.entry(place), "at": LATER})
    refused = pytest.raises(LedgerError, match="not the one that was signed")
    with closing(open_world(None, plain)) as store, refused, store.write() as change:
        stamp_all(change, Stamps(b"k" * 32), signed)


def test_whoever_is_killed_while_stamping_leaves_a_key_that_fits(plain: Path):
    (plain / "keys" / FILE).rename(plain / "keys" / f"{FILE}.new")
    assert tried(plain, "approved") == "ran"
    assert (plain / "keys" / FILE).exists()


def test_there_is_one_key_whoever_opens_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Somebody else opens the log between the commit of the stamps and the moment when the key has its name."""
    (tmp_path / "keys").mkdir()
    stores, found, replace = [open_world(None, tmp_path) for _ in "ab"], dict[int, Stamps](), os.replace

    def open_it(number: int) -> None:
        found[number] = make_stamps(stores[number], tmp_path / "keys", lambda change, stamps: None)

    other = threading.Thread(target=open_it, args=(1,))

    def late(one: Path, to: Path) -> None:
        if threading.current_thread() is not other:
            other.start()
            other.join(0.5)
        replace(one, to)

    monkeypatch.setattr(os, "replace", late)
    open_it(0)
    other.join()
    assert found[0] == found[1] == read_stamps(tmp_path / "keys")
    for store in stores:
        store.close()


# What a lifted credential left behind


def test_a_halt_that_was_lifted_without_a_credential_stays_lifted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The policy that was in force then asked for none; the one that came later takes nothing back."""
    monkeypatch.setattr(credential, "NOW", QUICK)
    folder = tmp_path / "plain"
    lifted = msgspec.structs.replace(PLAIN, book=msgspec.structs.replace(PLAIN.book, unsafe=("unsafe_no_credential",)))
    with new_process(folder) as store:
        set_passphrase(store, ROOT)
        sign = project_sign(store)
        activate(store, lifted, sign, "ann")
        one = authority(store, folder)
        one.halt("boss", by="ann", because="x")
        one.resume("boss", by="ann", because="x")
        activate(store, PLAIN, sign, "ann")
    with new_process(folder) as store:
        assert not authority(store, folder).halts(PLAIN)
    assert tried(folder, "other") == "ask"
    assert verified(folder) == set()


# Another host


def test_a_halt_of_another_host_is_missed_where_it_was_read(plain: Path, tmp_path: Path):
    """A second machine with the same store and a copy of the keys: it remembers what it has read of others."""
    shutil.copytree(plain / "keys", tmp_path / "keys")
    with new_process(plain) as store:
        with store.read() as view:
            before = tree_of(view)
        authority(store, plain).halt("boss", by="ann", because="x")
        with store.read() as view:
            store.keep_notes(STATES, StateMemory(tmp_path / "keys"))
            check_extends(view, before)
    with forging(plain, has_keys=False) as forger:
        forger.hide(*forger.places("halt", "boss"))
    with new_process(plain) as store:
        store.keep_notes(STATES, StateMemory(tmp_path / "keys"))
        with pytest.raises(StateForged, match="was hidden"):
            authority(store, tmp_path).halts(PLAIN)


# The rest of the log


def _event(forger: Forger, kind: str, **about: Any) -> int:
    entry = {name: forger.entry(0)[name] for name in ("v", "at", "writer")}
    return forger.append({**entry, "type": kind, **about, "state": {"of": ["x"]}})


def test_an_archive_that_nobody_made_is_none(plain: Path):
    with forging(plain, has_keys=False) as forger:
        place = _event(forger, "archive", first=0, end=256, where="/x", manifest="x")
        forger.run("INSERT INTO meta (name, value) VALUES ('archives', ?)", f"[{place}]".encode())
    with new_process(plain) as store, store.read() as view:
        assert archives(view) == []


def _stream(store: Store, name: str = "siem") -> Place:
    with store.read() as view:
        return place_of(view, name)


def test_a_stream_s_place_is_moved_by_nobody_else(plain: Path):
    with new_process(plain) as store:
        keep_place(store, "siem", Place(2, "file:x"))
        assert _stream(store).next == 2
    with forging(plain, has_keys=False) as forger:
        [(kept,)] = forger.rows("SELECT value FROM meta WHERE name = 'stream:siem'")
        moved = bytes(kept).replace(b'"next":2', b'"next":9')
        assert moved != kept
        forger.run("UPDATE meta SET value = ? WHERE name = 'stream:siem'", moved)
        forger.run("INSERT INTO meta (name, value) VALUES ('stream:other', ?)", kept)
    with new_process(plain) as store, store.read() as view:
        assert place_of(view, "siem").next == place_of(view, "other").next == 0, "all is sent again"
        [one] = backlogs(view, [Stream(name="siem", to="file:x")])
        assert "something other than Remit" in str(one.error)


def test_entries_of_others_are_stamped_too(plain: Path):
    """Whoever writes with the keys: a hook, a command, recovery."""
    with new_process(plain) as store:
        with store.write() as change:
            place = append(change, [event_entry("clock", 1, "x", {"what": "x"}, {})], "x").first
        with store.read() as view:
            [(stamp,)] = view.rows("SELECT stamp FROM leaf WHERE seq = ?", place)
    assert len(stamp) == 16


@pytest.mark.parametrize("body", [b"{", b"\xff", b'{"tool": 7}', b""])
def test_a_row_that_can_t_be_read_hides_no_other(plain: Path, body: bytes):
    with new_process(plain) as store:
        asked(authority(store, plain), PLAIN, None, "another")
    with forging(plain, has_keys=False) as forger:
        forger.run("UPDATE ask SET body = ? WHERE seq = 1", body)
        forger.run("UPDATE capsule SET body = ? WHERE id = 'T'", body)
    with new_process(plain) as store:
        one = authority(store, plain)
        assert [waiting.id for waiting in one.waiting()] == ["A-4"]
        for look in (lambda: one.answer("A-1", "refuse", by="ann"), lambda: one.state("T")):
            with pytest.raises(StateForged):
                look()


@pytest.mark.parametrize("body", [b"[" * 2000, b"zz", b"\xff", b"[]"])
def test_an_entry_that_nobody_can_read_stops_nobody(plain: Path, body: bytes):
    with forging(plain, has_keys=False) as forger:
        place = forger.append_bytes(body)
    with new_process(plain) as store, store.read() as view:
        check_newest(view)
        assert said(view, entry_at(view, place))["type"] in ("unreadable", "foreign")


def test_a_resume_that_nobody_gave_lifts_nothing(plain: Path):
    with forging(plain, has_keys=False) as forger:
        forger.run("UPDATE leaf SET body = ? WHERE seq = 1", b"{}")
        forger.append_bytes(b'{"type":"resume"}')
    with new_process(plain) as store, store.read() as view, pytest.raises(LedgerError, match="was changed"):
        check_newest(view)


def test_a_stream_passes_over_nothing(plain: Path):
    with forging(plain, has_keys=False) as forger:
        forger.run("UPDATE leaf SET body = ? WHERE seq = 2", b"")
    with new_process(plain) as store, store.read() as view:
        assert [one.seq for one in _batch(view, 0, 9)] == [0, 1]
        with pytest.raises(LedgerError, match="entry 2 is missing"):
            list(_batch(view, 2, 9))


def test_after_a_loss_was_accepted_nothing_is_forgotten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The newest entries about halts and approvals are remembered anew."""
    project = Project(tmp_path, monkeypatch)
    with project.open() as opened:
        Authority(opened.store, opened.vault).halt("boss", by="ann", because="x")
    with open_log(project.root, state=project.state) as opened:
        _forget(opened)
    with forging(project.state, has_keys=False) as forger:
        forger.run("UPDATE leaf SET stamp = NULL WHERE subject IS NOT NULL")
    with project.open() as opened, pytest.raises(StateForged):
        Authority(opened.store, opened.vault).halts()


def _found(project: Project) -> list[tuple[str, int | None]]:
    with open_log(project.root, state=project.state) as opened:
        return [(one.code, one.first) for one in audit(opened.log, opened.signer).problems]


@pytest.mark.parametrize(
    "disguise",
    [
        b'{"entries":[[0,9]],"type":"erasure","x":{"type":"intent"}}',
        b'{"entries":[[0,9]],"type":"outcome","type":"erasure"}',
        b'{"entries":[[0,9]],"typ\\u0065":"erasure","x":{"type":"outcome"}}',
        b'{"end":9,"first":0,"manifest":"x","type":"archive","where":"/x","x":{"type":"intent"}}',
        b'{"new":"x","old":"x","type":"rotation","x":[{"type":"outcome"}]}',
        b'{"x":{"type":"intent"}}',
        b'{"type":["intent"]}',
    ],
)
def test_an_entry_passes_for_no_call(disguise: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Entries of calls have no stamp. What only contains such a type is named, and explains nothing."""
    project = Project(tmp_path, monkeypatch)
    project.fill(9)
    with forging(project.state, has_keys=False) as forger:
        place = forger.append_bytes(disguise)
        forger.run("DELETE FROM secret WHERE seq IN (3, 4)")
        forger.run("UPDATE leaf SET body = x'' WHERE seq = 4")
    assert set(_found(project)) == {("state-forged", place), ("value-missing", 3), ("body-missing", 4)}


BAD = [
    *(b"[" * 2000, b"zz", b"\xff", b"[]", b"{}", b'{"type":[]}', b'{"type":"intent","call":7}', b'{"type":{}}'),
    *(b'{"args":{"x":5},"type":"intent"}', b'{"intent":{},"type":"outcome"}', b'{"tier":"x","type":"intent"}'),
    *(b'{"at":{},"type":"approval","what":7}', b'{"at":"x","type":"halt","what":"halted","who":"boss"}'),
    *(b'{"entries":5,"type":"erasure"}', b'{"args":{"x":5},"type":"halt"}', b'{"effects":5,"type":"intent"}'),
    *(b'{"effects":[{}],"type":"intent"}', b'{"chain":"x","type":"intent"}'),
]


def test_everybody_reads_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """What is no entry, or none of Remit's, is shown and counted as that, and nobody who reads the log stumbles."""
    project = Project(tmp_path, monkeypatch)
    project.fill(256)
    with forging(project.state, has_keys=False) as forger:
        places = [forger.append_bytes(body) for body in BAD]
    project.fill(3)
    with open_log(project.root, state=project.state) as opened, opened.store.read() as view:
        types = {stored.seq: data["type"] for stored, data in all_said(view)}
        assert {types[place] for place in places} == {FOREIGN, UNREADABLE}
        assert {types[seq] for seq in types if seq not in places} == {"intent"}
        assert count(view, Filter()).types["intent"] == len(list(past_calls(view))) == 259
        assert timeline(view, Filter()) is not None
        assert len(list(jsonl(view, 0, 999, values=True))) == len(list(ocsf(view, 0, 999, "x"))) == len(types)
        assert end_for(view, before="9") == 256
        stays = Unsettled(0)
        stays.read_on(view)
        assert all(stays.stays(view, entry_at(view, place)) for place in places)
        assert ledger_state(opened).reachable
    with project.open() as opened:
        assert erase(opened.store, Which(agent="writer"), "x").values > 0


@pytest.mark.parametrize("number", [5, 2**53 - 1, 2**53, 2**63 - 1])
def test_a_question_that_nobody_asked_keeps_nobody_from_asking(number: int, plain: Path):
    with forging(plain, has_keys=False) as forger:
        columns = "digest, body, agent, asked_of, state, expires"
        forger.run(f"INSERT INTO ask (seq, {columns}) SELECT ?, {columns} FROM ask WHERE seq = 1", number)  # noqa: S608
    with new_process(plain) as store:
        one = authority(store, plain)
        assert [asked(one, PLAIN, None, to) for to in ("x", "y")] == (["A-4", "A-6"] if number == 5 else ["A-4", "A-5"])


def test_a_question_that_is_gone_keeps_nobody_from_asking(plain: Path):
    with forging(plain, has_keys=False) as forger:
        forger.run("DELETE FROM ask WHERE seq = 3")
    with new_process(plain) as store:
        assert asked(authority(store, plain), PLAIN, None, "x") == "A-4"
    assert verified(plain) == {"state-missing"}


@pytest.mark.parametrize("spoil", [lambda key: key.unlink(), lambda key: key.chmod(0o644)])
def test_nobody_resumes_without_the_key(spoil: Callable[[Path], object], tmp_path: Path, monkeypatch):
    """Otherwise forged passphrases would count, and the entry that says who resumed would not."""
    project = Project(tmp_path, monkeypatch)
    with project.open() as opened:
        Authority(opened.store, opened.vault).halt("boss", by="ann", because="x")
    project.fill(3)
    project.cut(2)
    with pytest.raises(LedgerError), project.open():
        pass
    spoil(project.state / "keys" / FILE)
    with open_log(project.root, state=project.state) as opened, pytest.raises(LedgerError, match=r"stamp\.key"):
        resume(opened, because="x", who="ann", accept_loss=True)
