"""Leases: a process that was killed is found by whoever opens next, wherever it ran; one that lives never is."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from remit.record import lease as module
from remit.record import writer
from remit.record.lease import Lease, recover
from remit.record.open import open_for_hook, open_ledger
from remit.record.writer import Ledger
from tests.postgres import Postgres
from tests.record.project import Project
from tests.record.stores import FaultyStore, allowed, call, said

HERE = Path(__file__).parents[2]
PROGRAM = """
import os, sys, time
from pathlib import Path
from remit.record import lease, writer
from remit.record.open import open_ledger
from tests.record.project import allow
lease.RENEW = writer.RENEW = float(sys.argv[3])
opened = open_ledger(Path(sys.argv[1]), point="x", state=Path(sys.argv[2]))
allow(opened, tier=2)
os.write(1, b"ready\\n")
time.sleep(600)
"""


class Other:
    """A process with a call that runs."""

    def __init__(self, project: Project, state: Path, renew: float = 10.0, *words: str) -> None:
        command = [*words, sys.executable, "-c", PROGRAM, str(project.root), str(state), str(renew)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, cwd=HERE, env=dict(os.environ))
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == b"ready\n"

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.communicate(timeout=30)


@pytest.fixture(params=["sqlite", "postgres"])
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Project:
    found = Project(tmp_path, monkeypatch)
    if request.param == "postgres":
        server: Postgres = request.getfixturevalue("postgres")
        monkeypatch.setenv("REMIT_STORE", server.uri_of(server.new_database()))
    found.open().close()
    return found


@pytest.fixture
def others() -> Iterator[list[Other]]:
    found: list[Other] = []
    yield found
    for one in found:
        one.kill()


def results(project: Project) -> list[Any]:
    with project.log() as opened:
        return [entry["result"] for entry in said(opened.store) if entry["type"] == "outcome"]


CAN_RENAME = subprocess.run(["unshare", "-u", "true"], capture_output=True, check=False).returncode == 0
RENAMED = ("unshare", "-u", "sh", "-c", 'hostname another-container && exec "$@"', "sh")


@pytest.mark.sample(3)
@pytest.mark.parametrize("where", ["here", "in a container with another host name"])
@pytest.mark.parametrize("opener", ["ledger", "hook"])
def test_a_killed_process_is_found_at_once(project: Project, others: list[Other], where: str, opener: str):
    if where != "here" and not CAN_RENAME:
        pytest.skip("no namespaces for host names")
    others.append(Other(project, project.state, 10.0, *(() if where == "here" else RENAMED)))
    with project.open() as opened:
        assert opened.recovered == 0, "it lives"
    others[0].kill()
    if opener == "hook":
        with open_for_hook(project.state, point="h", url=os.environ.get("REMIT_STORE")) as hook:
            assert hook.recovered == 1
    else:
        with project.open() as opened:
            assert opened.recovered == 1
    with project.open() as opened:
        assert opened.recovered == 0
    assert results(project) == ["unknown"]


def test_a_process_of_another_machine_is_gone_when_its_lease_is(
    project: Project, others: list[Other], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    """Another state directory: no lock can be seen from here, and the row alone counts."""
    there = tmp_path / "there"
    shutil.copytree(project.state, there)
    if "REMIT_STORE" not in os.environ:
        monkeypatch.setenv("REMIT_STORE", f"sqlite://{project.state / 'remit.db'}")
    others.append(Other(project, there, 0.3))
    seen, end = set[tuple[Any, ...]](), time.monotonic() + 60
    with project.open() as opened:
        while len(seen) < 4 and time.monotonic() < end:
            with opened.store.read() as view:
                seen.update(view.rows("SELECT seen FROM writer_process WHERE since IS NOT NULL"))
            assert opened.ledger.recover() == 0
            time.sleep(0.1)
        assert len(seen) == 4, "it renews its lease, for as long as it lives"
        others[0].kill()
        assert opened.ledger.recover() == 0, "it can't be known yet"
        monkeypatch.setattr(module, "LEASE", 0.5)
        while opened.ledger.recover() == 0:
            assert time.monotonic() < end
            time.sleep(0.1)
    assert results(project) == ["unknown"]


def test_a_stopped_process_that_holds_its_lock_is_not_gone(
    project: Project, others: list[Other], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(module, "LEASE", 0.2)
    others.append(Other(project, project.state, 0.1))
    others[0].process.send_signal(signal.SIGSTOP)
    time.sleep(0.6)
    with project.open() as opened:
        assert opened.recovered == 0
    others[0].process.send_signal(signal.SIGCONT)


def test_a_child_keeps_no_lock_of_its_parent(project: Project):
    program = PROGRAM.replace("time.sleep(600)", "os.write(1, b'%d\\n' % (os.fork() or os.getpid()))\ntime.sleep(600)")
    command = [sys.executable, "-c", program, str(project.root), str(project.state), "10"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, cwd=HERE, env=dict(os.environ))
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    child, same = (int(process.stdout.readline()) for _ in range(2))  # both say it, each in one piece
    assert child == same
    try:
        process.kill()
        process.wait(30)
        with project.open() as opened:
            assert opened.recovered == 1
    finally:
        process.stdout.close()
        os.kill(child, signal.SIGKILL)


def test_only_a_process_with_running_calls_renews(store: FaultyStore, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "RENEW", 0.0)
    lease = Lease("w", None)
    assert not lease.due
    ledger = Ledger(store, point="test")
    receipt = ledger.intent(call(), allowed(tier=1))
    assert ledger._lease.running
    ledger.outcome(receipt.call, "failed")
    assert not ledger._lease.running
    ledger._lease.renew(store)
    assert not ledger._lease.is_held, "once more, to say that none runs"
    assert not ledger._lease.due
    ledger.close()
    with store.read() as view:
        assert view.rows("SELECT * FROM writer_process") == []


def test_a_call_that_begins_while_the_thread_rests_keeps_its_lease(store: FaultyStore, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "RENEW", 0.05)
    monkeypatch.setattr(writer, "RENEW", 0.05)
    ledger = Ledger(store, point="test")
    seen, end = set[tuple[Any, ...]](), time.monotonic() + 60
    while not ledger._resting:
        time.sleep(0.01)
    ledger.intent(call(), allowed(tier=1))
    while len(seen) < 3:
        assert time.monotonic() < end, "it renews its lease for as long as the call runs"
        with store.read() as view:
            seen.update(view.rows("SELECT seen FROM writer_process"))
    ledger.close()


SEEN = {
    "fresh": ("{wall} {steady}", False),
    "the wall clock jumped": ("0 {steady}", False),
    "long ago": ("{wall} 0", True),
    "in the future": ("{wall} {later}", True),
    "nonsense": ("yesterday", True),
}


@pytest.mark.parametrize("case", SEEN)
def test_a_lease_on_this_machine_goes_by_the_clock_that_nobody_sets(store: FaultyStore, case: str):
    text, gone = SEEN[case]
    steady = int(module._steady() * 1000)
    if case == "long ago" and steady < 100_000:
        pytest.skip("the machine has just started")
    seen = text.format(wall=time.time_ns() // 1_000_000, steady=steady, later=steady + 10_000_000)
    ledger = Ledger(store, point="test")
    ledger.intent(call(), allowed(tier=1))
    with store.write() as change:
        change.run("UPDATE writer_process SET seen = ?", seen)
    assert recover(store, None, "me") == int(gone)
    ledger.close()


def test_another_start_of_the_machine_goes_by_the_wall_clock(store: FaultyStore):
    ledger = Ledger(store, point="test")
    ledger.intent(call(), allowed(tier=1))
    for wall, gone in ((time.time_ns() // 1_000_000, 0), (1, 1)):
        with store.write() as change:
            change.run("UPDATE writer_process SET boot = 'another', seen = ?", f"{wall} 0")
        assert recover(store, None, "me") == gone
    ledger.close()


def test_the_state_directory_keeps_no_locks_of_those_that_ended(project: Project):
    with open_ledger(project.root, point="x") as opened:
        opened.ledger.event("start", {"point": "x"})
        assert len(list((project.state / "writers").iterdir())) == 1
    assert list((project.state / "writers").iterdir()) == []
