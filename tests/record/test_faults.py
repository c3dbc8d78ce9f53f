"""Faults are said: each by its code, when the log is opened, and in what `remit status` shows."""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path

import pytest

from remit.record import keeper as keeper_module
from remit.record.anchor import configure
from remit.record.errors import LedgerError
from remit.record.faults import faults
from remit.record.keys import Keys
from remit.record.resume import resume
from remit.record.rotate import rotate
from remit.record.stop_mark import set_mark
from tests.record.project import Project, deny

CHANGED = "UPDATE leaf SET body = CAST(replace(CAST(body AS TEXT), 'writer', 'nobody') AS BLOB) WHERE seq = 3"
HARMS = {
    "dropped triggers": ((), {"trigger-missing"}),
    "an edited body": ((CHANGED,), {"trigger-missing", "entry-changed"}),
    "deleted values": (("DELETE FROM secret WHERE seq = 3",), {"trigger-missing", "value-missing"}),
    "a renamed log": (("UPDATE meta SET value = CAST('x' AS BLOB) WHERE name = 'origin'",), {"origin-changed"}),
}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    found = Project(tmp_path, monkeypatch)
    found.fill(5)
    return found


def codes(project: Project) -> set[str]:
    with project.log() as opened:
        return {one.code for one in faults(opened)}


def test_nothing_is_wrong_with_an_unharmed_log(project: Project):
    assert codes(project) == set()
    with project.open() as opened:
        assert opened.warnings == []


@pytest.mark.parametrize("harm", HARMS)
def test_what_was_done_to_the_store_is_said(project: Project, harm: str):
    statements, wanted = HARMS[harm]
    project.harm(*statements)
    assert codes(project) >= wanted


def test_it_is_said_when_it_is_opened(project: Project):
    project.harm()
    with project.open() as opened:
        [said] = opened.warnings
    assert "(trigger-missing)" in said


def test_an_anchor_that_was_emptied_is_said(project: Project, tmp_path: Path):
    with project.open() as opened:
        configure(opened.store, [f"file:{tmp_path}/kept"])
        opened.push()
    assert codes(project) == set()
    (tmp_path / "kept").write_text("")
    assert codes(project) == {"anchor"}
    with project.open() as opened:
        assert any("keeps none" in one for one in opened.warnings)


@pytest.mark.parametrize("harm", ["loose", "gone", "memory"])
def test_keys_that_are_not_in_order_are_said(project: Project, harm: str):
    keys = project.state / "keys"
    if harm == "loose":
        (keys / "ledger-0001.key").chmod(0o644)
    else:
        (keys / {"gone": "ledger-0001.key", "memory": "signed"}[harm]).unlink()
    assert codes(project) == {{"loose": "key-unsafe", "gone": "key-missing", "memory": "signer-memory-missing"}[harm]}


def test_a_key_that_nobody_introduced_is_said(project: Project):
    Keys(project.state / "keys", _origin(project)).make()
    assert "key-not-introduced" in codes(project)
    with project.open() as opened:
        assert any("(key-not-introduced)" in one for one in opened.warnings)


def test_a_key_that_was_rotated_is_fine(project: Project):
    with project.open() as opened:
        rotate(opened.store, opened.keys, who="me")
    assert codes(project) == set()


def _origin(project: Project) -> str:
    with project.log() as opened:
        return opened.origin


def test_a_log_whose_newest_entries_were_edited_is_refused_until_a_person_accepts_it(project: Project):
    project.harm(CHANGED)
    with pytest.raises(LedgerError, match="entry 3 was changed") as caught:
        project.open()
    assert caught.value.code == "entry-changed"
    with project.log() as opened:
        with pytest.raises(LedgerError, match="still not what it was"):
            resume(opened, because="x", who="me", accept_loss=False)
        resume(opened, because="no copy is left", who="me", accept_loss=True)
    with project.open() as opened:
        assert any("(entry-changed)" in one for one in opened.warnings), "it is still said"
        deny(opened)
    project.harm("UPDATE leaf SET body = CAST('{}' AS BLOB) WHERE seq = 6")
    with pytest.raises(LedgerError, match="entry 6 was changed"):
        project.open()


def test_a_clock_that_was_set_back_is_said(project: Project):
    now = time.time_ns()
    with project.open() as opened:
        opened.ledger.clock = lambda: now + 3600 * 10**9
        deny(opened)
        opened.ledger.flush()
        assert "clock-backwards" in codes(project), "the newest entry is of the future"
        opened.ledger.clock = lambda: now
        deny(opened)
    with project.log() as opened:
        [said] = {one.message for one in faults(opened) if "older than those before" in one.message}
    assert "entry 6" in said
    with project.open() as opened:
        assert any("(clock-backwards)" in one for one in opened.warnings)


@pytest.mark.parametrize("taken", ["the store", "the state directory"])
def test_a_stop_mark_that_somebody_removed_is_said(project: Project, taken: str):
    with project.log() as opened:
        set_mark(opened.store, opened.state, LedgerError("it was cut", code="ledger-truncated"), "test")
    assert codes(project) == {"ledger-truncated"}
    if taken == "the store":
        project.harm("DELETE FROM meta WHERE name = 'stopped'")
    else:
        (project.state / "stopped").unlink()
    with project.log() as opened:
        found = [one for one in faults(opened) if one.code == "stop-mark-removed"]
    assert [one.message for one in found] == [f"the stop mark is missing in {taken}"]


def test_what_goes_wrong_later_is_said_once(project: Project, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(keeper_module, "SIGN_EVERY", 0.02)
    monkeypatch.setattr(keeper_module, "LOOK_EVERY", 0.02)
    said: list[str] = []
    with project.open(on_fault=said.append) as opened:
        assert opened.warnings == []
        link = sqlite3.connect(project.state / "remit.db", isolation_level=None, timeout=30)
        link.execute("DROP TRIGGER leaf_update")
        link.close()
        end = time.monotonic() + 60
        while not said:
            assert time.monotonic() < end
            time.sleep(0.05)
        time.sleep(0.5)
    assert len([one for one in said if "(trigger-missing)" in one]) == 1
