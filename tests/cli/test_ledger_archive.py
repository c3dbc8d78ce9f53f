"""`remit ledger archive`, and what the other commands say of archived entries; what erasing leaves behind."""

from __future__ import annotations

from pathlib import Path

import pytest

from remit.record.anchor import configure
from tests.cli.kit import Remit
from tests.record.project import Project, deny


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    found = Project(tmp_path, monkeypatch)
    monkeypatch.chdir(found.root)
    with found.open() as opened:
        for number in range(600):
            deny(opened, args={"file": f"findable-{number}.md"})
        opened.checkpoint()
    return found


@pytest.fixture
def remit(project: Project, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Remit:
    return Remit(project.root, capsys, monkeypatch)


def held(project: Project) -> bytes:
    return b"".join(path.read_bytes() for path in project.state.rglob("*") if path.is_file())


def test_from_end_to_end(remit: Remit, tmp_path: Path):
    to = str(tmp_path / "old")
    assert "512 entries would be archived" in remit("ledger", "archive", "--keep", "50", "--to", to, "--dry-run").out
    ran = remit("ledger", "archive", "--keep", "50", "--to", to, "--compact")
    assert (ran.code, "archived entries 0 to 511" in ran.out) == (0, True)
    ran = remit("ledger", "verify")
    assert ran.code == 0
    assert "512 of them archived in" in ran.out
    assert "root checked" in ran.out
    assert remit("ledger", "verify", "--json").json["archived"] == 512
    key = remit("ledger", "keys", "show").out.strip()
    for folder in (to, f"{to}/000000000000-000000000511"):
        assert remit("ledger", "verify", folder, "--key", key).code == 0
        assert "keys that are stored beside it" in remit("ledger", "verify", folder).out
    ran = remit("ledger", "prove", "7")
    assert (ran.code, "archived in" in ran.err, "--archive" in ran.err) == (2, True, True)
    receipt = str(tmp_path / "receipt")
    assert remit("ledger", "prove", "7", "--archive", to, "--to", receipt).code == 0
    assert remit("ledger", "check-proof", receipt, "--key", key).code == 0
    assert "findable-7.md" in remit("ledger", "show", "7", "--archive", to, "--values").out
    assert remit("ledger", "stats", "--json").json["archived"] == 512
    assert "archives" in remit("ledger", "stats").out
    assert "nothing to archive" in remit("ledger", "archive", "--keep", "50", "--to", to).out
    assert remit("ledger", "export", "tiles", str(tmp_path / "tiles")).code == 2
    assert remit("ledger", "export", "jsonl", str(tmp_path / "lines")).code == 0


def test_a_changed_archive_is_not_verified(remit: Remit, tmp_path: Path):
    to = tmp_path / "old"
    remit("ledger", "archive", "--keep", "50", "--to", str(to))
    (to / "000000000000-000000000511/tile/0/001").write_bytes(b"x")
    ran = remit("ledger", "verify", str(to))
    assert (ran.code, "NOT VERIFIED" in ran.out) == (1, True)
    assert remit("ledger", "verify", str(tmp_path / "none")).code == 2


def test_an_export_is_verified_too(remit: Remit, tmp_path: Path):
    to = str(tmp_path / "tiles")
    remit("ledger", "export", "tiles", to)
    key = remit("ledger", "keys", "show").out.strip()
    assert remit("ledger", "verify", to).code == 2
    assert remit("ledger", "verify", to, "--key", key).code == 0


def test_nothing_is_archived_that_is_not_anchored(remit: Remit, project: Project, tmp_path: Path):
    with project.log() as opened:
        configure(opened.store, [f"file:{project.state / 'keys' / 'no' / 'kept'}"])
    ran = remit("ledger", "archive", "--keep", "50", "--to", str(tmp_path / "old"))
    assert (ran.code, "not anchored" in ran.err) == (1, True)
    assert not (tmp_path / "old").exists()


def test_bad_usage(remit: Remit, tmp_path: Path):
    for words in ((), ("--keep", "1", "--before", "2026-01-01")):
        assert remit("ledger", "archive", "--to", str(tmp_path), *words).code == 2


def test_erased_values_are_in_no_file_of_the_store(remit: Remit, project: Project):
    with project.log() as other:  # somebody else has it open, so that closing moves nothing
        with other.store.read() as view:
            view.row("SELECT 1 FROM meta")
        assert b"findable-17.md" in held(project)
        found = remit("ledger", "erase", "--seq", "17", "--yes", "--json").json
        assert found["values"] == 1
        assert b"findable-17.md" not in held(project)
        assert b"findable-18.md" in held(project)
    assert any("backups" in one for one in found["may_still_hold"])


def test_erasing_can_write_the_store_anew(remit: Remit, project: Project):
    assert remit("ledger", "erase", "--seq", "17", "--yes", "--compact").code == 0
    assert b"findable-17.md" not in held(project)
    assert b"findable-18.md" in held(project)
    assert remit("ledger", "verify").code == 0


def test_a_log_that_somebody_reads_from_is_named(remit: Remit, project: Project):
    with project.log() as other, other.store.read() as view:
        view.row("SELECT 1 FROM meta")
        found = remit("ledger", "erase", "--seq", "17", "--yes", "--json").json
        assert any("remit.db-wal" in one for one in found["may_still_hold"])


def test_without_a_checkpoint_that_is_said(remit: Remit):
    found = remit("ledger", "erase", "--seq", "17", "--yes", "--no-checkpoint", "--json").json
    assert any("write-ahead log" in one for one in found["may_still_hold"])


def test_erasing_reaches_an_archive(remit: Remit, tmp_path: Path):
    to = str(tmp_path / "old")
    remit("ledger", "archive", "--keep", "50", "--to", to)
    found = remit("ledger", "erase", "--seq", "7", "--yes", "--json").json
    assert found["values"] == 0
    found = remit("ledger", "erase", "--seq", "7", "--archive", to, "--yes", "--json").json
    assert (found["entries"], found["values"]) == (1, 1)
    assert "findable-7.md" not in remit("ledger", "show", "7", "--archive", to, "--values").out
    assert remit("ledger", "verify", to).code == 0
    assert remit("ledger", "erase", "--agent", "writer", "--archive", to, "--yes").code == 2
