"""`remit ledger verify` on what this user may only read: nothing is written beside it, and what is wrong is found."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests.cli.kit import Remit
from tests.record.project import Project, deny

NOBODY = 65_534


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    found = Project(tmp_path, monkeypatch)
    found.fill(5)
    monkeypatch.chdir(found.root)
    return found


@pytest.fixture
def remit(project: Project, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Remit:
    return Remit(project.root, capsys, monkeypatch)


def read_only(folder: Path) -> None:
    """`chmod -R a-w`, and everybody may read."""
    for path in (*folder.rglob("*"), folder):
        path.chmod(0o555 if path.is_dir() else 0o444)


def files(folder: Path) -> dict[str, tuple[int, int]]:
    return {str(path): (path.stat().st_size, path.stat().st_mtime_ns) for path in sorted(folder.rglob("*"))}


def copies(tmp_path: Path) -> list[Path]:
    return list(tmp_path.glob("remit-copy-*"))


def test_a_read_only_copy(remit: Remit, project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    place = project.copy("copy")
    read_only(place)
    before = files(place)
    ran = remit("ledger", "verify", "--state", str(place))
    assert (ran.code, ran.out.startswith("verified")) == (0, True), ran
    assert remit("ledger", "show", "--state", str(place)).code == 0
    assert files(place) == before
    assert not copies(tmp_path), "the private copy is gone"


def test_a_copy_with_the_modes_of_a_plain_copy(remit: Remit, project: Project):
    place = project.copy("copy")
    place.chmod(0o755)
    (place / "remit.db").chmod(0o644)
    before = files(place)
    assert remit("ledger", "verify", "--state", str(place)).code == 0
    assert files(place) == before


def test_with_a_log_that_was_left_behind(remit: Remit, project: Project, tmp_path: Path):
    """What was committed last stands only in the write-ahead log."""
    with project.open() as opened:
        deny(opened)
        opened.ledger.flush()
        opened.checkpoint()
        place = project.copy("copy")
    assert (place / "remit.db-wal").stat().st_size
    read_only(place)
    before = files(place)
    assert remit("ledger", "verify", "--state", str(place), "--json").json["size"] == 6
    assert files(place) == before


def test_what_was_cut_is_found_and_no_mark_is_set(remit: Remit, project: Project):
    project.cut(3)
    place = project.copy("copy")
    read_only(place)
    ran = remit("ledger", "verify", "--state", str(place))
    assert (ran.code, "ledger-truncated" in ran.out) == (1, True)
    assert not (place / "stopped").exists()


def test_nobody_changes_a_read_only_log(remit: Remit, project: Project, tmp_path: Path):
    place = project.copy("copy")
    read_only(place)
    assert remit("ledger", "anchor", "add", f"file:{tmp_path}/kept", "--state", str(place)).code == 2


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be somebody else")
def test_as_another_user(project: Project):
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        place = Path(folder) / "elsewhere"
        shutil.copytree(project.state, place)
        read_only(place)
        before = files(place)
        code = (
            "import os, sys; from remit.cli.main import run; run(sys.argv[1:]);"  # all modules are loaded
            f"os.setgid({NOBODY}); os.setuid({NOBODY}); print('now', flush=True); sys.exit(run(sys.argv[1:]))"
        )
        words = [sys.executable, "-c", code, "ledger", "verify", "--state", str(place)]
        env = {**os.environ, "HOME": "/nonexistent"}
        done = subprocess.run(words, capture_output=True, text=True, timeout=60, env=env, cwd="/", check=False)
        assert done.returncode == 0, done
        assert done.stdout.partition("now\n")[2].startswith("verified"), done
        assert files(place) == before
