"""Rows 4 and 5, at every way in: a log that was cut, forked or put back is refused by Guard, daemon, hook and commands.

What one of them has found, all of them obey, until a person lifts the mark.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import psycopg
import pytest

from remit import Guard
from remit.enforce.errors import CallDenied
from remit.model.errors import RemitError
from remit.record.errors import LedgerStopped, LedgerUnavailable
from remit.record.open import open_ledger
from remit.record.stop_mark import FILE
from remit.record.tree import CompactRange, leaf_hash
from tests.adapters.hooks.project import Project, stop
from tests.postgres import Postgres

READ = {"file_path": "README.md"}
DIRECT = {"remit": 1, "name": "direct", "agents": {"a": {"may": ["ping"]}}}


class OnPostgres(Project):
    """The same, with its entries on a server."""

    url: str
    then = 0
    """How many entries there were when the copy was made."""

    def activate(self) -> None:
        self.url = os.environ["REMIT_STORE"]
        super().activate()

    def install(self, **more: Any) -> None:
        super().install(**{**more, "store": self.url})

    def entries(self) -> list[dict[str, Any]]:
        with psycopg.connect(self.url) as link:
            return [json.loads(bytes(row[0])) for row in link.execute("SELECT body FROM remit.leaf ORDER BY seq")]


class Link:
    """A connection of somebody who has the database, and no key."""

    def __init__(self, project: Project) -> None:
        self._server = psycopg.connect(project.url) if isinstance(project, OnPostgres) else None
        if self._server is not None:
            self._server.execute("SET search_path TO remit; SET session_replication_role = replica")  # no triggers
            return
        self._file = sqlite3.connect(project.state / "remit.db", isolation_level=None, timeout=10)
        self._file.execute("BEGIN IMMEDIATE")
        for (name,) in self._file.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            self._file.execute(f"DROP TRIGGER {name}")

    def execute(self, sql: str, values: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
        if self._server is None:
            return self._file.execute(sql, values).fetchall()
        done = self._server.execute(sql.replace("?", "%s").encode(), values)
        return done.fetchall() if done.description is not None else []

    def close(self) -> None:
        if self._server is None:
            self._file.execute("COMMIT")
            self._file.close()
        else:
            self._server.commit()
            self._server.close()


on_both = pytest.mark.parametrize("project", ["sqlite", "postgres"], indirect=True)


@pytest.fixture
def project(tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Project:
    """Six calls, by hooks without a daemon: nobody has signed what they wrote."""
    if getattr(request, "param", "sqlite") == "postgres":
        server: Postgres = request.getfixturevalue("postgres")
        monkeypatch.setenv("REMIT_STORE", server.uri_of(server.new_database()))
        found: Project = OnPostgres(tmp_path)
    else:
        found = Project(tmp_path)
    for _ in range(3):
        question = found.question("Read", READ)
        assert found.run(question).decision == "allow"
        found.run(found.report(question, {})).nothing()
    return found


@pytest.fixture
def copy(project: Project) -> Path:
    """An old copy of the database; two more calls were made since then."""
    place = project.folder / "copy.db"
    if isinstance(project, OnPostgres):
        project.then = size(project)
    else:
        _settle(project)
        shutil.copy(project.state / "remit.db", place)
    for _ in range(2):
        assert project.ask("Read", READ).decision == "allow"
    return place


def _settle(project: Project) -> None:
    """Everything is in the one file."""
    link = sqlite3.connect(project.state / "remit.db", isolation_level=None)
    link.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    link.close()


def _change(project: Project, act: Callable[[Link], None]) -> None:
    """What somebody does who has the database, and no key."""
    link = Link(project)
    act(link)
    leaves = [bytes(row[0]) for row in link.execute("SELECT hash FROM leaf ORDER BY seq")]
    tree = CompactRange()
    tree.extend(leaves)
    link.execute("UPDATE head SET size = ?, range = ?", (tree.size, tree.to_bytes()))
    link.close()


def cut(project: Project, copy: Path) -> None:
    """The last entry is gone, and the head fits what is left."""

    _cut(project, size(project) - 1)


def _cut(project: Project, left: int) -> None:
    def act(link: Link) -> None:
        link.execute("DELETE FROM leaf WHERE seq >= ?", (left,))
        link.execute("DELETE FROM secret WHERE seq >= (SELECT count(*) FROM leaf)")
        link.execute("DELETE FROM checkpoint WHERE size > (SELECT count(*) FROM leaf)")

    _change(project, act)


def fork(project: Project, copy: Path) -> None:
    """The newest entry, which nobody has signed, says something else."""

    def act(link: Link) -> None:
        [(seq, body)] = link.execute("SELECT seq, body FROM leaf ORDER BY seq DESC LIMIT 1")
        changed = bytes(body).replace(b'"v":1', b'"v":2')
        assert changed != bytes(body)
        link.execute("UPDATE leaf SET body = ?, hash = ? WHERE seq = ?", (changed, leaf_hash(changed), seq))

    _change(project, act)


def rollback(project: Project, copy: Path) -> None:
    """An old copy is put back."""
    if isinstance(project, OnPostgres):
        _cut(project, project.then)
        return
    for path in project.state.glob("remit.db*"):
        if not path.name.endswith("-lock"):
            path.unlink()
    shutil.copy(copy, project.state / "remit.db")


def forget(project: Project, copy: Path) -> None:
    """The signer's memory is deleted."""
    (project.state / "keys" / "signed").unlink()


HARMS: dict[Callable[[Project, Path], None], str] = {
    cut: "ledger-truncated",
    fork: "ledger-forked",
    rollback: "ledger-truncated",
    forget: "signer-memory-missing",
}


def by_hook(project: Project, code: str) -> None:
    project.ask("Read", READ).denied(code)


def by_daemon(project: Project, code: str) -> None:
    env = {**os.environ, "XDG_STATE_HOME": str(project.folder / "state")}
    words = [sys.executable, "-m", "remit", "serve", "--policy", str(project.root / "remit.yaml")]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, env=env, check=False)
    assert done.returncode == 2
    assert code in done.stderr or WORDS[code] in done.stderr, done.stderr


def by_guard(project: Project, code: str) -> None:
    guard = _guard(project)
    with pytest.raises(RemitError) as caught:
        guard.start()
    assert caught.value.code == code


def by_command(project: Project, code: str) -> None:
    with pytest.raises(RemitError) as caught:
        open_ledger(project.root, point="remit", state=project.state)
    assert caught.value.code == code


WORDS = {
    "ledger-truncated": "shorter",
    "ledger-forked": "not the one that was signed",
    "signer-memory-missing": "is missing",
}
POINTS = (by_hook, by_daemon, by_guard, by_command)


def _guard(project: Project) -> Guard:
    (project.folder / "elsewhere").mkdir(exist_ok=True)
    guard = Guard(DIRECT, root=project.folder / "elsewhere", state=project.state)
    guard.tool("ping", does={"network": "https://a.example/**"}, tier=1)(_ping)
    return guard


def _ping() -> str:
    return "pong"


def size(project: Project) -> int:
    return len(project.entries())


@pytest.mark.sample(6)
@on_both
@pytest.mark.parametrize("point", POINTS)
@pytest.mark.parametrize("harm", HARMS)
def test_nobody_writes_to_it(
    project: Project, copy: Path, harm: Callable[[Project, Path], None], point: Callable[[Project, str], None]
):
    harm(project, copy)
    before = size(project)
    point(project, HARMS[harm])
    assert size(project) == before
    for other in POINTS:
        other(project, HARMS[harm])
    assert size(project) == before, "nor does anybody else"


@pytest.mark.sample(1)
@on_both
@pytest.mark.parametrize("harm", [cut, fork])
def test_a_daemon_that_runs_notices(project: Project, copy: Path, harm: Callable[[Project, Path], None]):
    process = project.serve()
    try:
        assert project.ask("Read", READ).decision == "allow"
        harm(project, copy)
        end = time.monotonic() + 20
        while project.ask("Read", READ).decision == "allow":
            assert time.monotonic() < end
        project.ask("Read", READ).denied("ledger-unavailable")
        assert (project.state / FILE).exists()
    finally:
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=60)
    said_of_it = ("shorter", "not the one", "not what it was", "does not know", "was changed while")
    assert any(word in said.decode() for word in said_of_it), said
    project.ask("Read", READ).denied("the ledger is stopped since")  # cut while it wrote, a log counts as forked


@pytest.mark.sample(2)
@on_both
@pytest.mark.filterwarnings("ignore::remit.record.errors.LedgerWarning")
@pytest.mark.parametrize("harm", [cut, fork])
def test_a_guard_that_runs_notices(project: Project, copy: Path, harm: Callable[[Project, Path], None]):
    ran = []
    (project.folder / "elsewhere").mkdir()
    guard = Guard(DIRECT, root=project.folder / "elsewhere", state=project.state)

    @guard.tool("ping", does={"network": "https://a.example/**"}, tier=1)
    def count() -> None:
        ran.append(1)

    with guard.start().agent("a"):
        count()
        harm(project, copy)
        with pytest.raises(CallDenied) as caught:
            count()
        assert caught.value.decision.code == "ledger-unavailable"
        assert ran == [1]
    with suppress(LedgerUnavailable):  # that it was refused could not be recorded either
        guard.close()
    by_hook(project, "(ledger-")  # beside one who writes meanwhile, a cut may look like a fork


@pytest.fixture
def stopped(project: Project, copy: Path) -> Project:
    """A log that was cut, was found out, and is whole again: only the mark still stops it."""
    whole = project.folder / "whole.db"
    _settle(project)
    shutil.copy(project.state / "remit.db", whole)
    cut(project, copy)
    by_hook(project, "ledger-truncated")
    rollback(project, whole)
    return project


def test_it_stays_stopped_when_the_log_is_whole_again(stopped: Project):
    for point in POINTS:
        point(stopped, "ledger-truncated")


@pytest.mark.parametrize("taken", ["the store", "the state directory"])
def test_taking_one_mark_away_changes_nothing(project: Project, copy: Path, taken: str):
    cut(project, copy)
    by_guard(project, "ledger-truncated")
    if taken == "the store":
        _change(project, _unmark)
    else:
        (project.state / FILE).unlink()
    for point in POINTS:
        point(project, "ledger-truncated")


def _unmark(link: Link) -> None:
    link.execute("DELETE FROM meta WHERE name = 'stopped'")


def test_taking_both_marks_away_changes_nothing_as_long_as_it_is_cut(project: Project, copy: Path):
    cut(project, copy)
    by_hook(project, "ledger-truncated")
    _change(project, _unmark)
    (project.state / FILE).unlink()
    for point in POINTS:
        point(project, "ledger-truncated")


def _resume(project: Project, *more: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "XDG_STATE_HOME": str(project.folder / "state")}
    words = [sys.executable, "-m", "remit", "ledger", "resume", "--policy", str(project.root / "remit.yaml"), *more]
    return subprocess.run(words, capture_output=True, text=True, timeout=60, env=env, check=False)


def test_nobody_lifts_it_without_a_reason_or_a_credential(stopped: Project):
    assert "--because" in _resume(stopped).stderr
    done = _resume(stopped, "--because", "I say so", "--yes")
    assert done.returncode == 2
    assert "passphrase" in done.stderr
    by_hook(stopped, "ledger-truncated")


def test_a_person_lifts_it_with_a_reason(tmp_path: Path):
    from tests.adapters.hooks.project import POLICY

    project = Project(tmp_path, {**POLICY, "unsafe_no_credential": True})
    assert project.ask("Read", READ).decision == "allow"
    cut(project, tmp_path)
    by_hook(project, "ledger-truncated")
    done = _resume(project, "--because", "tried", "--yes")
    assert done.returncode == 2, "it is still cut"
    assert "--accept-loss" in done.stderr
    by_hook(project, "ledger-truncated")
    done = _resume(project, "--because", "the disk was lost", "--accept-loss", "--yes")
    assert done.returncode == 0, done.stderr
    [said] = [entry for entry in project.entries() if entry["type"] == "resume"]
    assert (said["what"], said["because"], said["code"]) == ("ledger", "the disk was lost", "ledger-truncated")
    assert said["lost"]["fault"]
    assert project.ask("Read", READ).decision == "allow"
    assert not (project.state / FILE).exists()
    project.verify()
    assert "not stopped" in _resume(project, "--because", "again", "--yes").stderr


def test_the_error_says_what_to_do(stopped: Project):
    with pytest.raises(LedgerStopped) as caught:
        open_ledger(stopped.root, point="x", state=stopped.state)
    assert "remit ledger resume" in str(caught.value.help)
    assert "is stopped since" in str(caught.value)


def test_what_a_hook_wrote_is_signed_when_the_session_ends(project: Project):
    assert _signed(project) < size(project)
    over = {"hook_event_name": "SessionEnd", "session_id": "s", "cwd": str(project.root), "reason": "other"}
    project.run(over).nothing()
    assert _signed(project) == size(project)
    stop_ = project.serve()
    try:
        project.ask("Read", READ)
        end = time.monotonic() + 20
        while _signed(project) < size(project):
            assert time.monotonic() < end, "the daemon signs what its hooks wrote"
            time.sleep(0.1)
    finally:
        stop(stop_)


def _signed(project: Project) -> int:
    return int(json.loads((project.state / "keys" / "signed").read_text())["size"])


def test_what_has_been_unsigned_for_long_is_signed_by_the_next_report(
    project: Project, monkeypatch: pytest.MonkeyPatch
):
    from remit.adapters.hooks import local
    from remit.record import open as module

    question = project.question("Read", READ)
    data, report = (json.dumps(one).encode() for one in (question, project.report(question, {})))
    local.answer_alone("claude-code", str(project.state), data)
    local.answer_alone("claude-code", str(project.state), report)
    assert _signed(project) < size(project)
    monkeypatch.setattr(module, "LONG_UNSIGNED", 0.0)
    local.answer_alone("claude-code", str(project.state), report)
    assert _signed(project) >= size(project) - 1
