"""A log that somebody harmed: `remit ledger verify` says so and names the first bad entry, or start-up refuses."""

from __future__ import annotations

import json
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from remit.model.errors import RemitError
from remit.record.anchor import configure
from remit.record.audit import audit
from remit.record.rotate import rotate
from remit.record.tree import CompactRange, leaf_hash
from remit.record.writer import Ledger
from remit.store import StoreTooNew, open_store
from remit.store.migrate import migrate, shipped
from remit.store.sqlite import SqliteStore
from tests.cli.kit import Ran, Remit
from tests.record.project import Project, deny
from tests.record.stores import call, denied, new_store, said


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    found = Project(tmp_path, monkeypatch)
    monkeypatch.chdir(found.root)
    return found


@pytest.fixture
def remit(project: Project, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Remit:
    return Remit(project.root, capsys, monkeypatch)


def not_verified(remit: Remit, *, first: int | None = None) -> Ran:
    ran = remit("ledger", "verify", "--json")
    assert ran.code == 1, ran
    assert ran.json["verified"] is False
    if first is not None:
        assert ran.json["problems"][0]["first"] == first
    assert remit("ledger", "verify").code == 1
    return ran


def refused(project: Project) -> str:
    with pytest.raises(RemitError) as caught:
        project.open()
    return caught.value.code


def test_a_flipped_byte_in_the_file(remit: Remit, project: Project):
    """No SQL: one bit of one body, where it lies on the disk."""
    project.fill(30)
    project.harm()
    path = project.state / "remit.db"
    data = bytearray(path.read_bytes())
    with sqlite3.connect(path) as connection:
        [(body,)] = connection.execute("SELECT body FROM leaf WHERE seq = 17").fetchall()
    connection.close()
    assert data.count(body) == 1
    at = data.index(body) + body.index(b"writer") + 2
    for bit in (0, 3, 7):
        changed = bytearray(data)
        changed[at] ^= 1 << bit
        path.write_bytes(changed)
        not_verified(remit, first=17)
    path.write_bytes(data)
    assert remit("ledger", "verify").code == 0


def test_every_byte_of_a_body_counts(remit: Remit, project: Project):
    project.fill(3)
    project.harm()
    path = project.state / "remit.db"
    with sqlite3.connect(path) as connection:
        [(body,)] = connection.execute("SELECT body FROM leaf WHERE seq = 1").fetchall()
    connection.close()
    with project.log() as opened:
        for at in range(0, len(body), 7):
            changed = bytearray(body)
            changed[at] ^= 1
            project.harm(("UPDATE leaf SET body = ? WHERE seq = 1", bytes(changed)))
            found = audit(opened.log, opened.signer)
            assert found.problems[0].first == 1, at
        project.harm(("UPDATE leaf SET body = ? WHERE seq = 1", body))
        assert audit(opened.log, opened.signer).verified


HARMS: dict[str, tuple[int, tuple[str, ...]]] = {
    "an edited body": (7, ("UPDATE leaf SET body = CAST('{}' AS BLOB) WHERE seq = 7",)),
    "an edited hash": (7, ("UPDATE leaf SET hash = randomblob(32) WHERE seq = 7",)),
    "a deleted row": (7, ("DELETE FROM leaf WHERE seq = 7",)),
    "the first row": (0, ("DELETE FROM leaf WHERE seq = 0",)),
    "two of them": (4, ("DELETE FROM leaf WHERE seq = 12", "UPDATE leaf SET hash = zeroblob(32) WHERE seq = 4")),
}


@pytest.mark.parametrize("harm", HARMS)
def test_rows_that_were_changed(remit: Remit, project: Project, harm: str):
    project.fill(20)
    first, statements = HARMS[harm]
    project.harm(*statements)
    not_verified(remit, first=first)


def test_an_entry_with_its_hash_and_the_head(remit: Remit, project: Project):
    """All of it is consistent in itself: the signature is not."""
    project.fill(12)
    with project.log() as opened, opened.store.read() as view:
        bodies = [bytes(body) for (body,) in view.rows("SELECT body FROM leaf ORDER BY seq")]
    bodies[5] = bodies[5].replace(b'"deny"', b'"allow"')
    tree = CompactRange()
    tree.extend(leaf_hash(body) for body in bodies)
    project.harm(
        ("UPDATE leaf SET body = ?, hash = ? WHERE seq = 5", bodies[5], leaf_hash(bodies[5])),
        ("UPDATE head SET range = ?", tree.to_bytes()),
    )
    not_verified(remit)
    assert refused(project) == "ledger-forked"


def test_a_head_that_is_no_head(remit: Remit, project: Project):
    project.fill(5)
    for harm, code in {
        "UPDATE head SET range = zeroblob(10)": "ledger-corrupt",
        "UPDATE head SET size = 3": "ledger-truncated",
        "UPDATE head SET size = 9000000000": "ledger-corrupt",
        "UPDATE head SET size = -1": "ledger-corrupt",
        "DELETE FROM head": "ledger-corrupt",
    }.items():
        copy = project.copy("copy")
        project.harm(harm)
        assert refused(project) == code, harm
        not_verified(remit)
        project.restore(copy, keys=True)
        (project.state / "stopped").unlink(missing_ok=True)  # as a person does who puts the copy back
        shutil.rmtree(copy)
    assert remit("ledger", "verify").code == 0


def test_a_swapped_database(remit: Remit, project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """That of another log, with other keys and another name: nothing of it is believed."""
    project.fill(9)
    (tmp_path / "other").mkdir()
    with monkeypatch.context() as patch:
        other = Project(tmp_path / "other", patch)
        other.fill(20)
        theirs = other.copy("theirs")
    project.restore(theirs, keys=False)
    assert refused(project) == "origin-changed"
    not_verified(remit)


def test_an_old_backup(remit: Remit, project: Project):
    project.fill(5)
    copy = project.copy("old")
    project.fill(5)
    project.restore(copy, keys=False)
    assert refused(project) == "ledger-truncated"
    not_verified(remit)


def test_an_old_backup_with_its_keys_needs_an_anchor(remit: Remit, project: Project, tmp_path: Path):
    with project.open() as opened:
        configure(opened.store, [f"file:{tmp_path}/kept"])
    project.fill(5)
    copy = project.copy("old")
    with project.open() as opened:
        deny(opened)
        opened.push()
    project.restore(copy, keys=True)
    assert refused(project) == "ledger-truncated"
    not_verified(remit)


def test_a_cut_with_its_checkpoints(remit: Remit, project: Project):
    project.fill(10)
    project.cut(6)
    assert refused(project) == "ledger-truncated"
    not_verified(remit)


def test_without_the_signers_memory_nobody_knows_how_long_the_log_was(remit: Remit, project: Project):
    project.fill(10)
    copy = project.copy("copy")
    (project.state / "keys" / "signed").unlink()
    assert refused(project) == "signer-memory-missing"
    not_verified(remit)
    project.restore(copy, keys=True)
    project.fill(1)
    assert remit("ledger", "verify").code == 0


def test_a_log_that_went_on_twice(remit: Remit, project: Project):
    """The same beginning with two ends, each signed: the signer's memory is of the other one."""
    project.fill(4)
    copy = project.copy("fork")
    project.fill(4)
    memory = (project.state / "keys" / "signed").read_bytes()
    project.restore(copy, keys=True)
    project.fill(6, agent="other")
    (project.state / "keys" / "signed").write_bytes(memory)
    assert refused(project) == "ledger-forked"
    not_verified(remit)


def sign_of(project: Project) -> Path:
    return project.state / "keys" / "signed"


MEMORIES: dict[str, bytes] = {
    "empty": b"",
    "half": b'{"size": 4, "ran',
    "no object": b"[]",
    "negative": json.dumps({"size": -1, "range": ""}).encode(),
    "huge": json.dumps({"size": 10**30, "range": ""}).encode(),
    "a range of another size": json.dumps({"size": 5, "range": "AAAA"}).encode(),
    "bytes": b"\xff\xfe",
    "deep": b"[" * 100_000,
}


@pytest.mark.parametrize("memory", MEMORIES)
def test_a_signers_memory_that_is_malformed(remit: Remit, project: Project, memory: str):
    project.fill(4)
    sign_of(project).write_bytes(MEMORIES[memory])
    assert refused(project) == "signer-unreadable"
    not_verified(remit)


def test_keys_that_were_rotated_and_then_lost(remit: Remit, project: Project):
    project.fill(2)
    with project.log() as opened:
        rotate(opened.store, opened.keys, days=1, who="x")
    project.fill(2)
    assert remit("ledger", "verify").code == 0
    new = project.state / "keys" / "ledger-0002.key"
    text = new.read_text()
    new.chmod(0o644)
    assert refused(project) == "key-unsafe"
    new.unlink()
    assert refused(project) == "key-missing"
    new.write_text(text)
    new.chmod(0o600)
    project.fill(1)
    assert remit("ledger", "verify").code == 0


def test_a_clock_that_goes_backwards(remit: Remit, project: Project):
    with project.open() as opened:
        now = 1_800_000_000_000_000_000
        for step in range(20):
            opened.ledger.clock = lambda step=step: now - step * 3_600_000_000_000  # type: ignore[misc]
            deny(opened)
        opened.checkpoint()
        moments = [entry["at"] for entry in said(opened.store)]
    assert moments == sorted(moments, reverse=True)
    assert remit("ledger", "verify", "--entries").code == 0


def test_a_newer_version_of_the_tables_on_a_full_log(tmp_path: Path):
    folder = tmp_path / "migrations"
    folder.mkdir()
    for step in shipped().iterdir():
        (folder / step.name).write_text(step.read_text("utf-8"), "utf-8")
    number = len(list(folder.glob("*.sqlite.sql")))
    script = "ALTER TABLE leaf ADD COLUMN note TEXT;\nCREATE INDEX leaf_hash ON leaf (hash);\n"
    (folder / f"{number:04d}-made-up.sqlite.sql").write_text(script)
    store = new_store(tmp_path)
    ledger = Ledger(store, point="test")
    for _ in range(300):
        ledger.intent(call({"a": 1}), denied())
    ledger.close()
    before = said(store)
    store.close()
    newer: Any = SqliteStore(tmp_path / "state" / "remit.db")
    assert migrate(newer, folder) == number
    assert said(newer) == before
    ledger = Ledger(newer, point="test")
    assert ledger.intent(call(), denied()).seq == 300
    ledger.close()
    newer.close()
    with pytest.raises(StoreTooNew):
        open_store(None, tmp_path / "state")
