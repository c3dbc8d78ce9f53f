"""Rotation: the old key names the new one, both sign for a while, and nobody else can introduce a key."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from remit.model.moments import exact_moment
from remit.record.audit import audit
from remit.record.errors import LedgerError
from remit.record.keys import Keys
from remit.record.note import open_note
from remit.record.rotate import DAY, rotate
from tests.record.project import Project, deny


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    return Project(tmp_path, monkeypatch)


def signed_by(project: Project) -> list[bytes]:
    with project.open() as opened:
        deny(opened)
        return [s.by.key_id for s in open_note(opened.checkpoint(), opened.log.verifiers).signatures]


def test_both_sign_and_then_the_new_one_alone(project: Project):
    project.fill(3)
    with project.log() as opened:
        [old] = opened.log.verifiers
        new = rotate(opened.store, opened.keys, days=7, who="x")
    assert set(signed_by(project)) == {old.key_id, new.key_id}
    with project.log() as opened:
        assert list(opened.log.verifiers) == [old, new]
        assert audit(opened.log, opened.signer).verified
        later = exact_moment(time.time_ns() + 8 * DAY)
        assert [signer.verifier for signer in opened.keys.signers(later)] == [new]


def test_without_overlap(project: Project):
    project.fill(1)
    with project.log() as opened:
        new = rotate(opened.store, opened.keys, days=0, who="x")
    assert signed_by(project) == [new.key_id]


def test_three_times(project: Project):
    project.fill(1)
    for _ in range(3):
        with project.log() as opened:
            rotate(opened.store, opened.keys, days=1, who="x")
        signed_by(project)
    with project.log() as opened:
        assert len(opened.log.verifiers) == 4
        assert audit(opened.log, opened.signer).verified


def test_a_key_that_the_old_one_did_not_name_is_found(project: Project):
    project.fill(1)
    with project.log() as opened:
        opened.keys.make()
    with project.open() as opened:
        deny(opened)
        opened.checkpoint()
    with project.log() as opened:
        assert [problem.code for problem in audit(opened.log, opened.signer).problems] == ["key-not-introduced"]


def test_a_rotation_signed_by_somebody_else_is_found(project: Project, tmp_path: Path):
    project.fill(1)
    with project.log() as opened:
        stranger = Keys(tmp_path / "stranger", opened.origin)
        stranger.make()
        stranger.retire("2999")
        old = opened.log.verifiers[0]
        rotate(opened.store, stranger, days=7, who="x")
        name = "ledger-0002"
        for suffix in (".key", ".vkey"):
            (opened.keys.folder / f"{name}{suffix}").write_bytes(
                (tmp_path / "stranger" / f"{name}{suffix}").read_bytes()
            )
        (opened.keys.folder / f"{name}.key").chmod(0o600)
    with project.open() as opened:
        assert opened.log.verifiers[0] == old
        deny(opened)
        opened.checkpoint()
    with project.log() as opened:
        assert [problem.code for problem in audit(opened.log, opened.signer).problems] == ["key-not-introduced"]


def test_a_rotation_that_was_interrupted_is_done_again(project: Project, monkeypatch: pytest.MonkeyPatch):
    project.fill(1)
    with project.log() as opened:

        def crash(self: Keys, verifier: object) -> None:
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr(Keys, "adopt", crash)
            with pytest.raises(KeyboardInterrupt):
                rotate(opened.store, opened.keys, who="x")
    signed_by(project)
    with project.log() as opened:
        assert len(opened.log.verifiers) == 1
        rotate(opened.store, opened.keys, who="x")
    assert len(signed_by(project)) == 2
    with project.log() as opened:
        assert audit(opened.log, opened.signer).verified


def test_nonsense_is_refused(project: Project):
    project.fill(1)
    with project.log() as opened, pytest.raises(LedgerError):
        rotate(opened.store, opened.keys, days=-1, who="x")


def test_a_signature_under_the_old_keys_name_must_be_its_own(project: Project):
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    from remit.record.note import Signer
    from remit.record.rotate import statement

    project.fill(1)
    with project.open() as opened:
        [old] = opened.log.verifiers
        new = opened.keys.prepare()
        text = statement(opened.origin, old.vkey, new.vkey, "2999")
        forged = Signer(opened.origin, Ed25519PrivateKey.generate()).line(text)
        about = {"old": old.vkey, "new": new.vkey, "until": "2999", "who": "x", "signature": forged}
        opened.ledger.event("rotation", about)
        opened.keys.adopt(new)
        opened.checkpoint()
    with project.log() as opened:
        assert [problem.code for problem in audit(opened.log, opened.signer).problems] == ["key-not-introduced"]
