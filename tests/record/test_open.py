"""Opening: made once, private, and refused with one clear error when something is wrong with it."""

from __future__ import annotations

import stat
import subprocess
import sys
from pathlib import Path

import pytest

from remit.model.errors import RemitError
from remit.record.errors import LedgerError
from remit.record.open import open_ledger
from remit.record.reader import entries
from tests.record.project import Project, allow, deny


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    return Project(tmp_path, monkeypatch)


def test_it_is_made_once_and_private(project: Project):
    with project.open() as opened:
        first = opened.origin
        assert first.startswith("remit.local/project-")
        deny(opened)
    with project.open() as opened:
        assert opened.origin == first
        assert deny(opened).seq == 1
    assert stat.S_IMODE(project.state.stat().st_mode) == 0o700
    assert stat.S_IMODE((project.state / "keys").stat().st_mode) == 0o700
    assert stat.S_IMODE((project.state / "keys" / "ledger-0001.key").stat().st_mode) == 0o600


def test_there_is_none_yet(project: Project):
    for act in (project.log, lambda: project.open(create=False)):
        with pytest.raises(LedgerError) as caught:
            act()
        assert caught.value.code == "no-ledger"
    assert not list(project.folder.rglob("remit.db"))


def test_many_processes_begin_one_log(project: Project):
    program = "import sys; from pathlib import Path; from remit.record.open import open_ledger\n"
    program += "with open_ledger(Path(sys.argv[1]), point='x') as opened:\n"
    program += "    opened.ledger.event('start', {'point': 'x'}); print(opened.origin)"
    command = [sys.executable, "-c", program, str(project.root)]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(6)]
    said = {process.communicate(timeout=60)[0] for process in running}
    assert len(said) == 1
    assert [process.returncode for process in running] == [0] * 6
    with project.log() as opened, opened.store.read() as view:
        assert [entry.data["type"] for entry in entries(view)] == ["start"] * 6


def test_a_name_that_is_hard_to_write(project: Project):
    root = project.folder / "Ünsere Küche + 1\n"
    root.mkdir()
    with open_ledger(root, point="x") as opened:
        assert opened.origin.isascii()
        deny(opened)
        opened.checkpoint()


def key(project: Project) -> Path:
    return project.state / "keys" / "ledger-0001.key"


HARMS = {
    "keys gone": (lambda p: [path.unlink() for path in (p.state / "keys").iterdir()], "key-missing"),
    "private key gone": (lambda p: key(p).unlink(), "key-missing"),
    "readable by others": (lambda p: key(p).chmod(0o644), "key-unsafe"),
    "a key of nonsense": (lambda p: key(p).write_text("rubbish"), "key-malformed"),
    "a key of bytes": (lambda p: key(p).write_bytes(b"\xff\x00"), "key-unreadable"),
    "an empty key": (lambda p: key(p).write_text(""), "key-malformed"),
    "a public key of nonsense": (lambda p: key(p).with_suffix(".vkey").write_text("a+b"), "key-malformed"),
    "the signer's memory": (lambda p: (p.state / "keys" / "signed").write_text("{"), "signer-unreadable"),
    "memory of nonsense": (
        lambda p: (p.state / "keys" / "signed").write_text('{"size":3,"range":""}'),
        "signer-unreadable",
    ),
    "a name of nonsense": (lambda p: p.harm("UPDATE meta SET value = x'ff' WHERE name = 'origin'"), "ledger-corrupt"),
    "a name of lines": (lambda p: p.harm("UPDATE meta SET value = x'0a0a' WHERE name = 'origin'"), "ledger-corrupt"),
    "no database": (lambda p: (p.state / "remit.db").write_bytes(b"rubbish" * 1000), "store-corrupt"),
    "an open folder": (lambda p: p.state.chmod(0o755), "store-unsafe"),
}


@pytest.mark.parametrize("harm", HARMS)
def test_what_is_wrong_is_one_error(project: Project, harm: str):
    project.fill(3)
    act, code = HARMS[harm]
    act(project)
    with pytest.raises(RemitError) as caught:
        project.fill(1)
    assert caught.value.code == code
    assert "\n" not in str(caught.value)


def test_the_calls_of_a_process_that_is_gone_are_closed(project: Project):
    program = "import os, sys; from pathlib import Path; from remit.record.open import open_ledger\n"
    program += "from tests.record.project import allow\n"
    program += "opened = open_ledger(Path(sys.argv[1]), point='x'); allow(opened, tier=2); os._exit(1)"
    ran = subprocess.run([sys.executable, "-c", program, str(project.root)], cwd=Path(__file__).parents[2], timeout=60)
    assert ran.returncode == 1
    with project.open() as opened:
        assert opened.recovered == 1
        mine = allow(opened)
        with opened.store.read() as view:
            found = [entry.data for entry in entries(view)]
        assert [(one["type"], one.get("result")) for one in found[:2]] == [("intent", None), ("outcome", "unknown")]
        opened.ledger.outcome(mine.call, "done")
    with project.open() as opened:
        assert opened.recovered == 0


def test_a_state_directory_that_is_a_file(project: Project, monkeypatch: pytest.MonkeyPatch):
    (project.folder / "file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(project.folder / "file"))
    with pytest.raises(RemitError):
        project.open()


def test_names_of_arguments_that_no_store_keeps_hold_nobody_up(project: Project):
    from remit.record.audit import audit
    from remit.record.reader import entry_at, values_of

    with project.open() as opened:
        allow(opened, args={"a\0b": 1, "$c": 2}, tier=0)  # batched: a failure would be tried again for ever
        opened.ledger.flush()
        assert deny(opened, args={"a\0b": 1}).seq == 1
        assert deny(opened, args={"$c": {"$c": "x"}}).seq == 2
        opened.checkpoint()
        with opened.store.read() as view:
            assert values_of(view, entry_at(view, 0))["args"] == {"a\0b": 1, "$c": 2}
            assert values_of(view, entry_at(view, 2))["args.$c"] == {"$c": "x"}
        assert audit(opened.log, opened.signer).verified
