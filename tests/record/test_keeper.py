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

EXPECTED = {"loose": "ledger-0001.key", "gone": "ledger-0001.key is missing"}


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
    with project.open(on_fault=print) as opened:

        def signed() -> int:
            with opened.store.read() as view:
                return (newest_checkpoint(view) or (0, b""))[0]

        for size in (1, 2):
            deny(opened)
            until(lambda size=size: signed() == size)  # type: ignore[misc]
        with opened.store.read() as view:
            assert view.rows("SELECT count(*) FROM checkpoint") == [(2,)]


def test_the_last_head_is_signed_and_pushed_when_it_closes(project: Project, tmp_path: Path):
    with project.open(on_fault=print) as opened:
        configure(opened.store, [f"file:{tmp_path}/kept"])
        for _ in range(7):
            allow(opened, tier=0)
    assert "\n7\n" in (tmp_path / "kept").read_text()


def test_a_log_that_was_cut_meanwhile_stops_the_ledger(project: Project):
    with project.open(on_fault=print) as opened:
        for _ in range(5):
            deny(opened)
        keeper = opened.keeper
        assert keeper is not None
        opened.checkpoint()
        project.cut(2)
        with pytest.raises(LedgerUnavailable):
            deny(opened)
        until(lambda: opened.ledger.stopped is not None)
        for tier in (0, 2):
            with pytest.raises(LedgerUnavailable):
                allow(opened, tier=tier)
        until(lambda: keeper.problem is not None)
        assert "was cut" in str(keeper.problem)


@pytest.mark.parametrize("harm", ["loose", "gone"])
def test_a_key_that_can_not_be_used_stops_the_ledger_until_it_can(project: Project, harm: str):
    said: list[str] = []
    with project.open(on_fault=said.append) as opened:
        key = project.state / "keys" / "ledger-0001.key"
        deny(opened)
        if harm == "loose":
            key.chmod(0o644)
        else:
            key.rename(key.with_suffix(".away"))
        until(lambda: opened.ledger.stopped is not None)
        for tier in (0, 2):
            with pytest.raises(LedgerUnavailable):
                allow(opened, tier=tier)
        if harm == "loose":
            key.chmod(0o600)
        else:
            key.with_suffix(".away").rename(key)
        until(lambda: opened.ledger.stopped is None)
        assert deny(opened).seq == 1
    assert said == [{"loose": "others can read the key ", "gone": "the key "}[harm] + EXPECTED[harm]]
