"""Processes that are killed while they append: what they were told is kept, and what they left is closed once."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from remit.record.audit import audit
from remit.record.open import Opened
from remit.record.reader import entries
from remit.record.running import running_calls
from tests.record.project import Project
from tests.record.stores import said

APPENDER = Path(__file__).with_name("appender.py")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    return Project(tmp_path, monkeypatch)


class Killing:
    """Rounds of processes that are started and killed, and what they were told."""

    def __init__(self, project: Project, seed: int) -> None:
        self.project, self.seed = project, seed
        self.chance = random.Random(seed)  # noqa: S311
        self.acknowledged: dict[str, int] = {}
        self.closed: set[str] = set()
        self.kills = 0

    def round(self, processes: int) -> None:
        started = [self._start(number) for number in range(processes)]
        time.sleep(self.chance.uniform(0.0, 0.1))
        for process in started:
            if self.chance.random() < 0.5:
                time.sleep(self.chance.uniform(0.0, 0.02))
            process.send_signal(signal.SIGKILL)
            self.kills += 1
        for process in started:
            out, _ = process.communicate()
            self._heard(out)

    def _start(self, number: int) -> subprocess.Popen[bytes]:
        command = [sys.executable, str(APPENDER), str(self.project.root), f"{self.seed}-{self.kills}-{number}"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE)
        assert process.stdout is not None
        assert os.read(process.stdout.fileno(), 6) == b"ready\n"
        return process

    def _heard(self, out: bytes) -> None:
        for line in out.splitlines(keepends=True):
            match line.decode().split():
                case ["ack", seq, call] if line.endswith(b"\n"):
                    self.acknowledged[call] = int(seq)
                case ["done", call] if line.endswith(b"\n"):
                    self.closed.add(call)

    def check(self, opened: Opened) -> Counter[str]:
        """Everything that was acknowledged is there, once, at its place; every call that ran has one outcome."""
        found = said(opened.store)
        places = {entry["call"]: seq for seq, entry in enumerate(found) if entry["type"] == "intent"}
        assert len(places) == sum(entry["type"] == "intent" for entry in found)
        lost = [call for call, seq in self.acknowledged.items() if places.get(call) != seq]
        assert lost == []
        outcomes = [entry for entry in found if entry["type"] == "outcome"]
        answered = Counter(entry["intent"] for entry in outcomes)
        ran = {seq for seq, entry in enumerate(found) if entry["type"] == "intent" and entry["decision"] == "allow"}
        assert set(answered) == ran
        assert set(answered.values()) <= {1}
        results = {entry["call"]: entry["result"] for entry in outcomes}
        assert all(results[call] == "failed" for call in self.closed)
        with opened.store.read() as view:
            assert running_calls(view) == []
        return Counter(entry["result"] for entry in outcomes)


def run(project: Project, rounds: int, processes: int) -> None:
    killing = Killing(project, seed=rounds)
    with project.open():
        pass
    for _ in range(rounds):
        killing.round(processes)
    with project.open() as opened:
        assert opened.ledger.recover() == 0, "once is enough"
        results = killing.check(opened)
        opened.checkpoint()
        report = audit(opened.log, opened.signer, canonical=True)
        assert report.problems == ()
        size = report.report.size
    assert killing.acknowledged
    assert results["unknown"]
    print(f"{killing.kills} kills, {size} entries, {len(killing.acknowledged)} acknowledged, 0 lost, {dict(results)}")


def test_killed_at_any_moment(project: Project):
    run(project, rounds=3, processes=3)


@pytest.mark.more
def test_killed_again_and_again(project: Project):
    run(project, rounds=12, processes=3)


@pytest.mark.long
def test_killed_a_thousand_times(project: Project):
    run(project, rounds=334, processes=3)


def test_killed_while_it_signs(project: Project):
    """Between what the signer remembers and the checkpoint in the store."""
    program = "import os, sys; from pathlib import Path; from remit.record.open import open_ledger\n"
    program += "from tests.record.project import deny\n"
    program += "opened = open_ledger(Path(sys.argv[1]), point='x'); deny(opened)\n"
    program += "keep = opened.signer.memory.keep_signed\n"
    program += "def die(tree):\n    if sys.argv[2] == 'after': keep(tree)\n    os._exit(9)\n"
    program += "opened.signer.memory.keep_signed = die; opened.checkpoint()"
    for when in ("before", "after"):
        command = [sys.executable, "-c", program, str(project.root), when]
        ran = subprocess.run(command, cwd=Path(__file__).parents[2], timeout=60)
        assert ran.returncode == 9
        with project.open() as opened:
            opened.checkpoint()
            assert audit(opened.log, opened.signer).verified


def test_two_processes_see_the_log_grow(project: Project):
    program = "import sys; from pathlib import Path; from remit.record.open import open_ledger\n"
    program += "from tests.record.project import deny\n"
    program += "with open_ledger(Path(sys.argv[1]), point='x') as opened:\n"
    program += "    for _ in range(100):\n"
    program += "        got = deny(opened); print(got.seq, got.head.size, got.head.root.hex())"
    command = [sys.executable, "-c", program, str(project.root)]
    here = Path(__file__).parents[2]
    started = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=here) for _ in range(2)]
    told: list[list[tuple[Any, ...]]] = []
    for process in started:
        out, _ = process.communicate(timeout=60)
        assert process.returncode == 0
        told.append([tuple(line.split()) for line in out.splitlines()])
    assert sorted(int(seq) for lines in told for seq, _, _ in lines) == list(range(200))
    for lines in told:
        sizes = [int(size) for _, size, _ in lines]
        assert sizes == sorted(set(sizes))
    from remit.record.tree import CompactRange

    with project.log() as opened, opened.store.read() as view:
        tree, roots = CompactRange(), {}
        for entry in entries(view):
            tree.extend([entry.hash])
            roots[tree.size] = tree.root().hex()
    assert all(roots[int(size)] == root for lines in told for _, size, root in lines)
