"""Archives: verified alone, the log provable as before, and nothing lost whenever it is interrupted."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from remit.model.policy import Stream
from remit.record import archive as module
from remit.record.archive import (
    ArchiveError,
    archived_entry,
    archived_values,
    end_for,
    erase_archived,
    interrupted,
    prune,
    read_manifest,
    verify_archive,
    verify_archives,
    write_archive,
)
from remit.record.audit import audit
from remit.record.erase import Which, erase
from remit.record.errors import LedgerError
from remit.record.log import consistency, prove, root_of
from remit.record.open import OpenLog
from remit.record.proof import Proof, verify_proof
from remit.record.reader import Stored, entries, entry_at, values_of
from remit.record.tree import verify_consistency
from remit.store.errors import StoreError
from tests.postgres import Postgres
from tests.record.project import Project, allow, deny

HERE = Path(__file__).parents[2]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    return Project(tmp_path, monkeypatch)


@pytest.fixture(params=["sqlite", "postgres"])
def either(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """On both kinds of store."""
    project = Project(tmp_path, monkeypatch)
    if request.param == "postgres":
        postgres: Postgres = request.getfixturevalue("postgres")
        monkeypatch.setenv("REMIT_STORE", postgres.uri_of(postgres.new_database()))
    return project


def archive(opened: OpenLog, to: Path, *, keep: int = 0) -> Path:
    opened.checkpoint()
    with opened.store.read() as view:
        folder = write_archive(view, opened.log, to, end_for(view, keep=keep))
    prune(opened.store, opened.log, folder, "tester")
    return folder


def fill(project: Project, count: int) -> None:
    """Signed now and then, with an event among the calls."""
    with project.open() as opened:
        for number in range(count):
            deny(opened, args={"file": f"findable-{number}.md"})
            if number % 100 == 50:
                opened.checkpoint()
        opened.ledger.event("grant", {"who": "bob"}, {"why": "reason"})
        opened.checkpoint()


def fine(opened: OpenLog) -> None:
    found = audit(opened.log, opened.signer)
    assert found.problems == ()


@pytest.mark.sample(1)
def test_from_end_to_end(either: Project, tmp_path: Path):
    fill(either, 700)
    with either.log() as opened:
        with opened.store.read() as view:
            roots = {size: root_of(view, size) for size in (1, 255, 256, 300, 512, 701)}
            bodies = [stored.body for stored in entries(view)]
        folder = archive(opened, tmp_path / "old", keep=100)
        found = audit(opened.log, opened.signer)
        assert (found.problems, found.archived) == ((), 512)
        assert [(one.first, one.end, one.where) for one in found.archives] == [(0, 512, str(folder))]
        with opened.store.read() as view:
            assert {size: root_of(view, size) for size in roots} == roots, "every root as before"
            assert [stored.body for stored in entries(view)][:-1] == bodies[512:]
            proof = consistency(view, 300, 701)
            assert verify_consistency(300, 701, proof, roots[300], roots[701])
            with pytest.raises(LedgerError, match="archived in") as caught:
                entry_at(view, 7)
            assert caught.value.code == "archived"
            with pytest.raises(LedgerError, match="archived in"):
                prove(view, opened.log, 7)
            old = archived_entry(view, tmp_path / "old", 7)
            assert old.body == bodies[7]
            assert verify_proof(Proof.parse(prove(view, opened.log, 7, old).text), opened.log.verifiers).size >= 701
            assert verify_proof(Proof.parse(prove(view, opened.log, 600).text), opened.log.verifiers).size >= 701
            assert archived_values(tmp_path / "old", 7) == {"args.file": "findable-7.md"}
            assert view.row("SELECT count(*) FROM secret WHERE seq < 512") == (0,)
            assert view.row("SELECT count(*) FROM checkpoint WHERE size < 512") == (0,)
        assert verify_archive(folder).end == 512
    with either.open() as again:
        deny(again)
        again.checkpoint()
        fine(again)
        for _ in range(400):
            deny(again)
        second = archive(again, tmp_path / "old")
        fine(again)
    assert [(one.first, one.end) for one in verify_archives(tmp_path / "old")] == [(0, 512), (512, 1024)]
    assert second.name == "000000000512-000000001023"


def test_what_something_rests_on_stays(project: Project, tmp_path: Path):
    with project.open() as opened:
        opened.ledger.event("activation", {"policy": "x"}, {"why": "reason"})
        running = allow(opened, args={"file": "running"}, tier=1)
        lost = allow(opened, args={"file": "lost"}, tier=1)
        opened.ledger.outcome(lost.call, "unknown")
        done = allow(opened, args={"file": "done"}, tier=1)
        opened.ledger.outcome(done.call, "done")
        for _ in range(300):
            deny(opened)
        archive(opened, tmp_path / "old")
        with opened.store.read() as view:
            left = [stored.data["type"] for stored in entries(view, 0, 256)]
            assert left == ["activation", "intent", "intent", "outcome"], "those of the calls that run or were lost"
            assert entry_at(view, 1).data["call"] == running.call
            assert [entry_at(view, seq).data["call"] for seq in (2, 3)] == [lost.call] * 2
            assert values_of(view, entry_at(view, 2)) == {"args.file": "lost"}
        opened.ledger.outcome(running.call, "done")
        opened.checkpoint()
        fine(opened)


def test_nothing_unsigned_is_archived(project: Project, tmp_path: Path):
    project.fill(600, sign=False)
    project.harm("DELETE FROM checkpoint WHERE size > 10")
    with project.log() as opened, opened.store.read() as view, pytest.raises(ArchiveError, match="signed"):
        write_archive(view, opened.log, tmp_path / "old", 512)
    assert not list((tmp_path / "old").glob("*-*[0-9]"))


def test_before_a_moment(project: Project):
    fill(project, 600)
    with project.log() as opened, opened.store.read() as view:
        at = entry_at(view, 520).data["at"]
        assert end_for(view, before=at) in (256, 512)
        assert end_for(view, before="2000-01-01T00:00:00.000Z") == 0
        assert end_for(view, before="2999-01-01T00:00:00.000Z") == 512
        assert end_for(view, keep=10**9) == 0


HARM: dict[str, Callable[[Path], object]] = {
    "an entry": lambda folder: _flip(folder / "tile/entries/001", 900),
    "a hash": lambda folder: _flip(folder / "tile/0/001", 40),
    "a signed head": lambda folder: _flip(next((folder / "checkpoints").iterdir()), 20),
    "the head": lambda folder: _flip(folder / "checkpoint", 30),
    "a value": lambda folder: _values(folder, lambda line: {**line, "value": "ImEi"}),
    "a value of another entry": lambda folder: _values(folder, lambda line: {**line, "seq": line["seq"] + 1}),
    "a file that is gone": lambda folder: (folder / "tile/0/000").unlink(),
    "a bundle that is gone": lambda folder: (folder / "tile/entries/000").unlink(),
    "no manifest": lambda folder: (folder / "manifest.json").unlink(),
    "the range": lambda folder: _manifest(folder, end=256),
    "the left edge": lambda folder: _manifest(folder, first=256, left=["A" * 43 + "="]),
    "another log": lambda folder: _manifest(folder, origin="remit.local/other"),
    "half a manifest": lambda folder: (folder / "manifest.json").write_bytes(b'{"remit_archive": 1'),
}


def _flip(path: Path, at: int) -> None:
    data = bytearray(path.read_bytes())
    data[at] ^= 1
    path.write_bytes(data)


def _manifest(folder: Path, **more: object) -> None:
    data = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").write_text(json.dumps({**data, **more}))


def _values(folder: Path, change: Callable[[dict[str, Any]], object]) -> None:
    path = folder / "values/000.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    path.write_text("".join(json.dumps(line) + "\n" for line in [change(lines[0]), *lines[1:]]))


@pytest.mark.sample(5)
@pytest.mark.parametrize("what", HARM)
def test_whatever_is_changed_in_an_archive_is_found(project: Project, tmp_path: Path, what: str):
    fill(project, 600)
    with project.log() as opened:
        folder = archive(opened, tmp_path / "old")
        verify_archive(folder, opened.log.verifiers)
        HARM[what](folder)
        with pytest.raises(ArchiveError):
            verify_archive(folder, opened.log.verifiers)


def test_a_manifest_that_was_made_up_does_not_hold(project: Project, tmp_path: Path):
    """All hashes right, but the entries are not those that were signed."""
    fill(project, 600)
    with project.log() as opened:
        folder = archive(opened, tmp_path / "old")
        bundle = folder / "tile/entries/000"
        data = bundle.read_bytes().replace(b'"deny"', b'"dany"', 1)
        bundle.write_bytes(data)
        from hashlib import sha256

        from remit.record.tiles import decode_bundle
        from remit.record.tree import leaf_hash

        tile = b"".join(map(leaf_hash, decode_bundle(data, 256)))
        (folder / "tile/0/000").write_bytes(tile)
        files = read_manifest(folder).files | {
            "tile/entries/000": sha256(data).hexdigest(),
            "tile/0/000": sha256(tile).hexdigest(),
        }
        _manifest(folder, files=files, checkpoints=[])
        with pytest.raises(ArchiveError, match="not those under the signed head"):
            verify_archive(folder, opened.log.verifiers)


def test_a_body_that_vanished_without_an_archive_is_found(project: Project):
    project.fill(300)
    project.harm(("UPDATE leaf SET body = ? WHERE seq BETWEEN 7 AND 9", b""))
    with project.log() as opened:
        problem, *_ = audit(opened.log, opened.signer).problems
        assert (problem.code, problem.first, problem.last) == ("body-missing", 7, 9)


def test_the_triggers_let_only_an_archive_through(either: Project):
    either.fill(10)
    with either.log() as opened:
        for sql in (
            "UPDATE leaf SET body = 'x' WHERE seq = 1",
            "UPDATE leaf SET hash = body WHERE seq = 1",
            "UPDATE leaf SET seq = 99 WHERE seq = 1",
            "DELETE FROM leaf WHERE seq = 1",
            "DELETE FROM checkpoint",
        ):
            with pytest.raises(StoreError), opened.store.write() as change:
                change.run(sql)
        fine(opened)


STEPS = (
    "write_whole 1 before",  # the first entries
    "write_whole 4 after",
    "write_whole 9 before",
    "sync 1 before",  # the manifest is written, and not on the disk
    "verify_archive 1 before",
    "rename 1 before",
    "rename 1 after",  # complete, and no entry names it
    "append 1 before",
    "append 1 after",  # not committed
    "_keep 2 after",  # the same, with all of it written
    "run_many 1 before",  # committed: the bodies of the first 128 are to go
    "run_many 1 after",
    "run_many 2 after",  # not committed: bodies and values are gone
    "run 2 before",  # the first 128 are committed
    "run_many 3 after",
    "run_many 5 before",
)
"""In order. Each goes on from what the one before it left."""


@pytest.mark.sample(1)
def test_killed_at_each_step_nothing_is_lost(either: Project, tmp_path: Path):
    fill(either, 600)
    with either.log() as opened, opened.store.read() as view:
        bodies = {stored.seq: stored.body for stored in entries(view)}
        held = {seq: values_of(view, Stored(seq, b"", body)) for seq, body in bodies.items()}
    command = [sys.executable, "-m", "tests.record.archive_steps", str(either.root), str(tmp_path / "old")]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1, cwd=HERE, env=dict(os.environ)
    )
    with process:
        assert process.stdin is not None
        assert process.stdout is not None
        for step in (*STEPS, "none 0 before"):
            process.stdin.write(step + "\n")
            killed = -signal.SIGKILL if step in STEPS else 0
            assert (step, int(process.stdout.readline())) == (step, killed)
            with either.log() as opened:
                fine(opened)
                with opened.store.read() as view:
                    here = {stored.seq: stored.body for stored in entries(view)}
                    for seq, body in bodies.items():
                        if seq in here:
                            assert (here[seq], values_of(view, Stored(seq, b"", body))) == (body, held[seq])
                        else:
                            assert archived_entry(view, tmp_path / "old", seq).body == body
                            assert archived_values(tmp_path / "old", seq) == held[seq]
        process.stdin.close()
    with either.log() as opened, opened.store.read() as view:
        assert interrupted(view) is None
        assert view.row("SELECT count(*) FROM leaf WHERE length(body) = 0") == (512,)
    assert [one.end for one in verify_archives(tmp_path / "old")] == [512]


def test_what_was_erased_before_an_archive_has_its_entry_is_in_none(project: Project, tmp_path: Path):
    fill(project, 600)
    with project.log() as opened:
        with opened.store.read() as view:
            folder = write_archive(view, opened.log, tmp_path / "old", 512)
        assert archived_values(folder, 7) == {"args.file": "findable-7.md"}
        erase(opened.store, Which(seqs=(7,)), "tester")
        prune(opened.store, opened.log, folder, "tester")
        assert archived_values(folder, 7) == {}
        assert archived_values(folder, 8) == {"args.file": "findable-8.md"}


def test_a_call_that_ran_through_one_archive_ends_in_the_next(project: Project, tmp_path: Path):
    with project.open() as opened:
        running = allow(opened, args={"file": "running.md"}, tier=1)
        for _ in range(300):
            deny(opened)
        archive(opened, tmp_path / "old")
        opened.ledger.outcome(running.call, "done")
        for _ in range(300):
            deny(opened)
        archive(opened, tmp_path / "old")
        with opened.store.read() as view:
            left = [stored.data["call"] for stored in entries(view, 0, 512) if stored.data["type"] != "archive"]
            assert left == [running.call] * 2
        fine(opened)


def test_a_call_that_ends_while_it_is_archived_keeps_its_values(project: Project, tmp_path: Path):
    with project.open() as opened:
        running = allow(opened, args={"file": "running.md"}, tier=1)
        for _ in range(300):
            deny(opened)
        opened.checkpoint()
        with opened.store.read() as view:
            folder = write_archive(view, opened.log, tmp_path / "old", 256)
        opened.ledger.outcome(running.call, "done")
        opened.ledger.flush()
        prune(opened.store, opened.log, folder, "tester")
        with opened.store.read() as view, pytest.raises(LedgerError, match="archived in"):
            entry_at(view, 0)
        assert archived_values(folder, 0) == {"args.file": "running.md"}


def test_a_full_disk_leaves_the_log_as_it_is(project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    fill(project, 600)

    def full(*args: object, **more: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module, "write_whole", full)
    with project.log() as opened:
        with pytest.raises(ArchiveError, match="No space left"):
            archive(opened, tmp_path / "old")
        fine(opened)
        assert audit(opened.log, opened.signer).archived == 0


def test_a_value_is_erased_in_an_archive_too(project: Project, tmp_path: Path):
    fill(project, 600)
    with project.log() as opened:
        folder = archive(opened, tmp_path / "old")
        assert erase_archived(tmp_path / "old", [7, 300]) == 2
        assert erase_archived(tmp_path / "old", [7]) == 0
        assert verify_archive(folder, opened.log.verifiers).values == 510
        assert archived_values(tmp_path / "old", 7) == {}
    held = b"".join(path.read_bytes() for path in (tmp_path / "old").rglob("*") if path.is_file())
    text = held.decode("latin-1")
    import base64

    assert base64.b64encode(b'"findable-7.md"').decode() not in text
    assert base64.b64encode(b'"findable-8.md"').decode() in text


def test_an_archive_that_moved_is_found_where_one_says(project: Project, tmp_path: Path):
    fill(project, 600)
    with project.log() as opened:
        folder = archive(opened, tmp_path / "old")
        shutil.move(folder, tmp_path / "elsewhere")
        with opened.store.read() as view:
            assert archived_entry(view, tmp_path / "elsewhere", 3).data["type"] == "intent"
            with pytest.raises(ArchiveError):
                archived_entry(view, tmp_path / "old", 3)
        fine(opened)


def test_the_file_shrinks_and_holds_nothing_of_it(project: Project, tmp_path: Path):
    fill(project, 2000)
    with project.log() as opened:
        opened.store.settle(shrink=True)
        before = os.path.getsize(project.state / "remit.db")
        archive(opened, tmp_path / "old")
        assert opened.store.settle(shrink=True) == []
        after = os.path.getsize(project.state / "remit.db")
        assert after < before / 3
        data = b"".join(path.read_bytes() for path in project.state.glob("remit.db*"))
        assert b"findable-100.md" not in data
        assert b"findable-1950.md" in data
        fine(opened)
    assert sqlite3.connect(project.state / "remit.db").execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_streams_say_what_never_came_their_way(project: Project, tmp_path: Path):
    import threading

    from remit.record.stream import Delivery, backlogs
    from remit.record.streams import open_destination

    fill(project, 600)
    stream = Stream("late", f"file:{tmp_path}/e")
    with project.log() as opened:
        archive(opened, tmp_path / "old")
        Delivery(opened.store, opened.origin, project.state, open_destination).drain(stream, threading.Event())
        with opened.store.read() as view:
            [found] = backlogs(view, [stream])
    assert (found.waiting, found.archived) == (0, 512)
