"""The keeper: signs what is new, pushes now and then, and stops a ledger whose log is not the one that was signed."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from remit.record import keeper as module
from remit.record.anchor import configure
from remit.record.errors import LedgerUnavailable
from remit.record.log import newest_checkpoint
from tests.record.project import Project, allow, deny


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.setattr(module, "SIGN_EVERY", 0.05)
    return Project(tmp_path, monkeypatch)


def until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_what_is_new_is_signed(project: Project):
    with project.open(keep=True) as opened:

        def signed() -> int:
            with opened.store.read() as view:
                return (newest_checkpoint(view) or (0, b""))[0]

        for size in (1, 2):
            deny(opened)
            until(lambda size=size: signed() == size)  # type: ignore[misc]
        with opened.store.read() as view:
            assert view.rows("SELECT count(*) FROM checkpoint") == [(2,)]


def test_the_last_head_is_signed_and_pushed_when_it_closes(project: Project, tmp_path: Path):
    with project.open(keep=True) as opened:
        configure(opened.store, [f"file:{tmp_path}/kept"])
        for _ in range(7):
            allow(opened, tier=0)
    assert "\n7\n" in (tmp_path / "kept").read_text()


def test_a_log_that_was_cut_meanwhile_stops_the_ledger(project: Project):
    with project.open(keep=True) as opened:
        for _ in range(5):
            deny(opened)
        keeper = opened.keeper
        assert keeper is not None
        opened.checkpoint()
        project.cut(2)
        deny(opened)
        until(lambda: opened.ledger.stopped is not None)
        for tier in (0, 2):
            with pytest.raises(LedgerUnavailable):
                allow(opened, tier=tier)
        assert keeper.problem is not None
        assert "shorter" in keeper.problem


def test_a_key_that_can_not_be_read_is_a_problem_that_passes(project: Project):
    with project.open(keep=True) as opened:
        key = project.state / "keys" / "ledger-0001.key"
        key.chmod(0o644)
        deny(opened)
        keeper = opened.keeper
        assert keeper is not None
        until(lambda: keeper.problem is not None)
        assert deny(opened).seq == 1, "it is not signed, and it is recorded"
        key.chmod(0o600)
        until(lambda: keeper.problem is None)
        assert opened.ledger.stopped is None
