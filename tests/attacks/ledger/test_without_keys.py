"""Somebody who can write only the database, and has not even the keys folder: nothing that they write counts.

It gives nothing, and it takes nothing away: whatever is appended, everybody goes on as if it were not there. What is
changed in place is missed.
"""

from __future__ import annotations

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
from remit.record.audit import _Pass
from remit.record.canonical import encode
from remit.record.entry import event_entry
from remit.record.errors import LedgerError
from remit.record.faults import check_newest
from remit.record.open import open_log
from remit.record.people import people_of
from remit.record.reader import archives, entry_at
from remit.record.resume import _forget
from remit.record.stamp import FILE, Stamps, read_stamps
from remit.record.state import KINDS, StateForged, newest
from remit.record.stream import Place, _batch, backlogs, event, keep_place, place_of
from remit.record.tree import leaf_hash
from remit.record.upgrade import stamp_all
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


@pytest.mark.parametrize("within", [{}, {"x": {"type": "intent"}}, {"a": [{"type": "outcome"}, {"type": "intent"}]}])
@pytest.mark.parametrize(
    ("kind", "about"),
    [
        ("archive", {"first": 0, "end": 2, "where": "/x", "manifest": "x"}),
        ("erasure", {"entries": [[0, 2]]}),
        ("rotation", {"old": "x", "new": "y"}),
        ("grant", {}),
    ],
)
def test_verifying_names_what_nobody_wrote_whatever_it_has_within(plain: Path, kind: str, about: Any, within: Any):
    with forging(plain, has_keys=False) as forger:
        place = _event(forger, kind, **about, **within)
    with new_process(plain) as store, store.read() as view:
        run = _Pass(view, None)
        assert [row[0] for row in run.rows()][-1] == place
        assert [(fault.code, fault.first) for fault in run.forged] == [("state-forged", place)]
        assert (run.archives, run.erased, run.rotations) == ([], [], [])


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
        assert event(entry_at(view, place), "x").kind == "unreadable"


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
