"""PostgreSQL: four processes on one log, and a server that is killed and comes back in the middle of their batches."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from remit.record.audit import audit
from remit.record.open import open_ledger
from tests.postgres import Postgres, running
from tests.record.project import Project
from tests.record.stores import said

PROGRAM = """
import os, sys, threading, time
from pathlib import Path
from remit.record.errors import LedgerUnavailable
from remit.record.open import open_ledger
from tests.record.project import allow, deny
opened = open_ledger(Path(sys.argv[1]), point="x", full=False)
opened.ledger.deadline = 20
os.write(1, b"ready\\n")
count, gate = int(sys.argv[2]), threading.Lock()
def work():
    left = count
    while left:
        try:
            got = deny(opened, args={"n": left})
            left -= 1
            with gate:
                print("ack", got.seq, got.call, flush=True)
        except LedgerUnavailable:
            with gate:
                print("refused", flush=True)
            time.sleep(0.05)
threads = [threading.Thread(target=work) for _ in range(8)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
opened.close()
"""


@pytest.fixture
def server() -> Iterator[Postgres]:
    with running(durable=True) as found:
        yield found


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, server: Postgres) -> Project:
    found = Project(tmp_path, monkeypatch)
    monkeypatch.setenv("REMIT_STORE", server.uri_of(server.new_database()))
    with found.open():
        pass
    return found


def start(project: Project, processes: int, count: int) -> list[subprocess.Popen[str]]:
    command = [sys.executable, "-c", PROGRAM, str(project.root), str(count)]
    here = Path(__file__).parents[2]
    started = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=here) for _ in range(processes)]
    for process in started:
        assert process.stdout is not None
        assert os.read(process.stdout.fileno(), 6) == b"ready\n", "not a line: what follows it must not be buffered"
    return started


def finish(project: Project, started: list[subprocess.Popen[str]]) -> tuple[dict[str, int], int, int]:
    """What was acknowledged, how often a call was refused, and how many entries there are; all of it looked after."""
    acknowledged: dict[str, int] = {}
    refused = 0
    for process in started:
        out, _ = process.communicate(timeout=300)
        assert process.returncode == 0
        lines = [line.split() for line in out.splitlines()]
        acknowledged |= {line[2]: int(line[1]) for line in lines if line[0] == "ack"}
        refused += sum(line[0] == "refused" for line in lines)
    with open_ledger(project.root, point="test") as opened:
        found = said(opened.store)
        places = {entry["call"]: seq for seq, entry in enumerate(found) if entry["type"] == "intent"}
        assert len(places) == sum(entry["type"] == "intent" for entry in found)
        assert {call: places.get(call) for call in acknowledged} == acknowledged
        opened.checkpoint()
        assert audit(opened.log, opened.signer, canonical=True).verified
    return acknowledged, refused, len(found)


@pytest.mark.long
def test_four_processes_leave_no_gap(project: Project):
    began = time.monotonic()
    acknowledged, refused, size = finish(project, start(project, 4, 250))
    assert (len(acknowledged), refused, size) == (8000, 0, 8000)
    print(f"{size} entries in {time.monotonic() - began:.1f} s, with starting and checking")


@pytest.mark.long
def test_a_server_that_is_killed_again_and_again(project: Project, server: Postgres):
    started = start(project, 3, 400)
    for _ in range(6):
        time.sleep(1.0)
        server.crash()
        time.sleep(0.3)
        server.restart()
    acknowledged, refused, size = finish(project, started)
    assert len(acknowledged) == 9600
    assert refused
    print(f"6 crashes, {size} entries, {len(acknowledged)} acknowledged, 0 lost, {refused} refused")


@pytest.mark.more
def test_a_server_that_is_killed_once(project: Project, server: Postgres):
    started = start(project, 2, 100)
    time.sleep(0.3)
    server.crash()
    server.restart()
    acknowledged, refused, _ = finish(project, started)
    assert len(acknowledged) == 1600
    assert refused
