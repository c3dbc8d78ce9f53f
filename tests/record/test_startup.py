"""A log that was cut, replaced or changed is found out when it is opened, and by the audit."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from remit.record.anchor import configure, configured
from remit.record.append import head_of
from remit.record.audit import audit
from remit.record.errors import LedgerError
from remit.record.open import open_ledger
from remit.record.witness import Witness
from remit.record.witness_server import WitnessServer
from tests.record.project import Project, deny


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    return Project(tmp_path, monkeypatch)


@pytest.fixture
def witness(tmp_path: Path) -> Iterator[tuple[Witness, str]]:
    found = Witness(tmp_path / "witness", "w.example/one")
    server = WitnessServer(("127.0.0.1", 0), found)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    yield found, f"witness:http://127.0.0.1:{server.server_port}+{found.vkey}"
    server.shutdown()
    server.server_close()
    found.close()


@pytest.fixture(params=["file", "git", "witness"])
def anchored(request: pytest.FixtureRequest, project: Project, witness: tuple[Witness, str], tmp_path: Path) -> Project:
    """A log of 20 entries, with an anchor that keeps its head."""
    names = {"file": f"file:{tmp_path}/kept", "git": f"git:{tmp_path}/repo.git#a", "witness": witness[1]}
    subprocess.run(["git", "init", "-q", "--bare", str(tmp_path / "repo.git")], check=True)
    with project.open() as opened:
        witness[0].watch([verifier.vkey for verifier in opened.log.verifiers])
        configure(opened.store, [names[request.param]])
        for _ in range(10):
            deny(opened)
        assert [asked.error for asked in opened.push()] == [None]
        project.copy("backup")
        for _ in range(10):
            deny(opened)
        assert [asked.error for asked in opened.push()] == [None]
    return project


def refused(project: Project) -> str:
    with pytest.raises(LedgerError) as caught:
        project.open()
    with project.log() as opened:
        assert not audit(opened.log, opened.signer).verified
    assert "\n" not in str(caught.value)
    return caught.value.code


def test_an_unharmed_log_opens(anchored: Project):
    with anchored.open() as opened:
        assert opened.warnings == []
        assert deny(opened).seq == 20
    with anchored.open(full=False) as opened, opened.store.read() as view:
        assert head_of(view).size == 21
    with anchored.log() as found:
        assert audit(found.log, found.signer).problems == ()


def test_a_cut_is_found_by_the_signers_memory(project: Project):
    project.fill(20)
    project.cut(10)
    assert refused(project) == "ledger-truncated"


def test_a_cut_is_found_by_an_anchor_alone(anchored: Project):
    """Whoever has the state directory can make it forget."""
    anchored.cut(10)
    anchored.forget()
    assert refused(anchored) == "ledger-truncated"


def test_a_deleted_memory_is_no_way_around(project: Project):
    project.fill(20)
    (project.state / "keys" / "signed").unlink()
    assert refused(project) == "signer-memory-missing"
    with project.log() as opened, pytest.raises(LedgerError) as caught:
        opened.checkpoint()
    assert caught.value.code == "signer-memory-missing"


def test_a_restored_backup_is_found(anchored: Project):
    anchored.restore(anchored.folder / "backup", keys=True)
    assert refused(anchored) == "ledger-truncated"


def test_a_restored_backup_that_went_on_is_found(anchored: Project):
    """As long as the anchored one, and consistent with its own keys and memory: only the anchor knows better."""
    anchored.restore(anchored.folder / "backup", keys=True)
    with anchored.log() as opened:
        with opened.store.read() as view:
            specs = configured(view)
        configure(opened.store, [])
    with anchored.open() as opened:
        for _ in range(15):
            deny(opened, agent="forger")
        opened.checkpoint()
    with anchored.log() as opened:
        configure(opened.store, specs)
    assert refused(anchored) == "ledger-forked"


def test_an_emptied_store_is_found(project: Project):
    project.fill(5)
    (project.state / "remit.db").unlink()
    with pytest.raises(LedgerError) as caught:
        project.open()
    assert caught.value.code == "ledger-truncated"


def test_a_replaced_head_is_found_by_the_signers_memory(project: Project):
    from remit.record.tree import CompactRange, leaf_hash

    project.fill(4)
    tree = CompactRange()
    bodies = [b'{"forged":%d}' % number for number in range(5)]
    tree.extend(leaf_hash(body) for body in bodies)
    project.harm(
        "DELETE FROM leaf",
        "DELETE FROM secret",
        *(
            ("INSERT INTO leaf (seq, hash, body) VALUES (?, ?, ?)", seq, leaf_hash(body), body)
            for seq, body in enumerate(bodies)
        ),
        ("UPDATE head SET size = 5, range = ?", tree.to_bytes()),
    )
    assert refused(project) == "ledger-forked"


def test_an_anchor_that_is_not_reached_is_a_warning_that_names_it(project: Project, tmp_path: Path):
    project.fill(3)
    with project.log() as opened:
        configure(opened.store, ["file:/no/such/place/kept", f"file:{tmp_path}/kept"])
    with project.open() as opened:
        [warning] = opened.warnings
        assert "/no/such/place/kept" in warning
        deny(opened)
        first, second = opened.push()
        assert (first.error is not None, second.error) == (True, None), "the other one still gets it"
    with project.log() as found:
        assert audit(found.log, found.signer).verified


def test_an_anchor_with_something_else_in_it_refuses(project: Project, tmp_path: Path):
    project.fill(3)
    with project.log() as opened:
        configure(opened.store, [f"file:{tmp_path}/kept"])
    (tmp_path / "kept").write_text("nothing of the kind\n\n\u2014 x AAAA\n")
    assert refused(project) == "anchor-malformed"


def test_the_signer_does_not_sign_what_was_cut(project: Project):
    project.fill(8)
    project.cut(3)
    with project.log() as opened, pytest.raises(LedgerError) as caught:
        opened.checkpoint()
    assert caught.value.code == "ledger-truncated"


def test_a_witness_of_another_size_says_so(project: Project, witness: tuple[Witness, str], tmp_path: Path):
    """Two copies of one log with the same key: the one that comes second is refused, and nobody is cosigned wrongly."""
    with project.open() as opened:
        witness[0].watch([verifier.vkey for verifier in opened.log.verifiers])
        configure(opened.store, [witness[1]])
        for _ in range(4):
            deny(opened)
        opened.push()
    copy = project.copy("twin")
    with project.open() as opened:
        deny(opened)
        assert [asked.error for asked in opened.push()] == [None]
    with pytest.raises(LedgerError) as caught:
        open_ledger(project.root, point="twin", state=copy)
    assert caught.value.code == "ledger-truncated"


HARMS = {
    "a body": ("UPDATE leaf SET body = CAST(replace(CAST(body AS TEXT), 'writer', 'nobody') AS BLOB) WHERE seq = 7",),
    "a hash": ("UPDATE leaf SET hash = zeroblob(32) WHERE seq = 7",),
    "a missing entry": ("DELETE FROM leaf WHERE seq = 7",),
    "entries swapped": (
        "UPDATE leaf SET seq = 1000 WHERE seq = 7",
        "UPDATE leaf SET seq = 7 WHERE seq = 8",
        "UPDATE leaf SET seq = 8 WHERE seq = 1000",
    ),
    "a value": ("UPDATE secret SET value = CAST('\"else\"' AS BLOB) WHERE seq = 7",),
    "a value of nothing": ("INSERT INTO secret VALUES (900, 'args.x', x'00', x'31')",),
    "a value that nobody committed to": ("INSERT INTO secret VALUES (7, 'args.y', x'00', x'31')",),
    "a checkpoint": ("UPDATE checkpoint SET note = CAST('nonsense' AS BLOB)",),
    "a checkpoint too many": ("INSERT INTO checkpoint SELECT 999, note FROM checkpoint LIMIT 1",),
    "no checkpoint": ("DELETE FROM checkpoint",),
    "the head": ("UPDATE head SET range = zeroblob(64)",),
}


@pytest.mark.parametrize("harm", HARMS)
def test_the_audit_finds(project: Project, harm: str):
    project.fill(20)
    with project.log() as opened:
        assert audit(opened.log, opened.signer).verified
    project.harm(*HARMS[harm])
    with project.log() as opened:
        found = audit(opened.log, opened.signer)
    assert not found.verified
    if harm in ("a body", "a hash", "a missing entry", "a value", "a value that nobody committed to"):
        assert found.problems[0].first == 7, "the entry is named"


def test_another_key_is_not_trusted(project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    from remit.record.keys import Keys

    project.fill(3)
    with project.log() as opened:
        mine = [verifier.vkey for verifier in opened.log.verifiers]
        theirs = Keys(tmp_path / "keys", opened.origin).make().vkey
        assert audit(opened.log, opened.signer, keys=mine).verified
        [problem, *_] = audit(opened.log, opened.signer, keys=[theirs]).problems
    assert "sign" in problem.message


def test_a_checkpoint_that_somebody_kept_is_compared(project: Project):
    with project.open() as opened:
        for _ in range(6):
            deny(opened)
        kept = opened.checkpoint()
    with project.log() as opened:
        assert audit(opened.log, opened.signer, anchors=[kept]).verified
    project.cut(4)
    project.forget()
    with project.log() as opened:
        opened.checkpoint()
        assert audit(opened.log, opened.signer).verified, "nothing inside the log shows that it was cut"
        found = audit(opened.log, opened.signer, anchors=[kept])
    assert [problem.first for problem in found.problems] == [4]
