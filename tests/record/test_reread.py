"""Entries are read again while a process runs: whichever was edited is named, without anybody verifying the log."""

from __future__ import annotations

import time

import pytest

from remit.record import keeper
from remit.record.errors import LedgerError
from remit.record.faults import faults
from remit.record.open import OpenLog
from remit.record.reread import Reread
from tests.record.project import Project

EDIT = "UPDATE leaf SET body = CAST(replace(body, 'deny', 'DENY') AS BLOB) WHERE seq = 11"


@pytest.fixture
def project(tmp_path, monkeypatch: pytest.MonkeyPatch) -> Project:
    found = Project(tmp_path, monkeypatch)
    found.fill(20)
    return found


def _runs(project: Project, count: int = 7) -> int:
    with project.log() as opened:
        reread = Reread(opened.store, opened.memory)
        for _ in range(50):
            reread.step(count)
        return reread.runs


def test_a_log_as_it_was_written(project: Project):
    assert _runs(project) >= 2
    assert _runs(project, 1000) == 50


def test_an_empty_log(tmp_path, monkeypatch: pytest.MonkeyPatch):
    found = Project(tmp_path, monkeypatch)
    with found.open():
        pass
    assert _runs(found) in (0, 50)


@pytest.mark.parametrize(
    ("sql", "code"),
    [
        (EDIT, "entry-edited"),
        ("UPDATE leaf SET body = x'' WHERE seq = 11", "entry-edited"),
        ("UPDATE leaf SET hash = zeroblob(32) WHERE seq = 11", "entry-edited"),
        ("DELETE FROM leaf WHERE seq = 11", "entry-missing"),
        ("DELETE FROM leaf WHERE seq >= 18", "entry-missing"),
    ],
)
def test_what_was_edited_is_named(project: Project, sql: str, code: str):
    project.harm(
        sql.replace("body = replace(body, 'deny', 'DENY')", "body = CAST(replace(body, 'deny', 'DENY') AS BLOB)")
    )
    with pytest.raises(LedgerError) as caught:
        _runs(project)
    assert caught.value.code == code
    assert " 11 " in str(caught.value) or "18" in sql


def test_two_entries_that_changed_places(project: Project):
    project.harm(
        "UPDATE leaf SET seq = -1 WHERE seq = 11",
        "UPDATE leaf SET seq = 11 WHERE seq = 12",
        "UPDATE leaf SET seq = 12 WHERE seq = -1",
    )
    with pytest.raises(LedgerError) as caught:
        _runs(project)
    assert caught.value.code == "entry-edited"


def test_the_keeper_says_it_once(project: Project, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(keeper, "SIGN_EVERY", 0.02)
    monkeypatch.setattr(keeper, "REREAD_EVERY", 0.05)
    said: list[str] = []
    with project.open(on_fault=said.append):
        project.harm(EDIT)
        end = time.monotonic() + 20
        while not said and time.monotonic() < end:
            time.sleep(0.02)
        time.sleep(0.3)
    assert said == ["entry 11 was edited: it is not what was hashed"]


def test_the_next_process_goes_on_where_one_stopped(project: Project):
    with project.log() as opened:
        first = Reread(opened.store, opened.memory, opened.state)
        first.step(15)
        first._save()
        second = Reread(opened.store, opened.memory, opened.state)
        second.step(5)
        assert second.runs == 1, "twenty entries in all"
        (opened.state / "reread").write_bytes(b"rubbish")
        third = Reread(opened.store, opened.memory, opened.state)
        third.step(5)
        assert third.runs == 0


def test_what_was_found_is_a_fault_until_a_run_finds_nothing(project: Project):
    with project.log() as opened:
        [(body,)] = _bodies(opened)
        project.harm(EDIT)
        reread = Reread(opened.store, opened.memory, opened.state)
        with pytest.raises(LedgerError):
            reread.step()
        assert Reread(opened.store, opened.memory, opened.state).found == str(reread.found)
        assert "entry-edited" in [one.code for one in faults(opened, anchors=False)]
        project.harm(("UPDATE leaf SET body = ? WHERE seq = 11", body))
        reread.step()
        assert (reread.runs, reread.found) == (1, None)
        assert "entry-edited" not in [one.code for one in faults(opened, anchors=False)]


def _bodies(opened: OpenLog) -> list[tuple[bytes]]:
    with opened.store.read() as view:
        return [(bytes(body),) for (body,) in view.rows("SELECT body FROM leaf WHERE seq = 11")]
