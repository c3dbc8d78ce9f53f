"""Disks that are full, read-only or gone: calls are denied quickly, the process lives, and nothing told is lost."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from remit.record.audit import audit
from remit.record.errors import LedgerUnavailable
from remit.record.open import Opened
from remit.record.writer import Ledger
from remit.store import StoreError
from remit.store.sqlite import SETTINGS
from tests.record.project import Project, allow, deny
from tests.record.stores import FaultyStore, allowed, call, denied, new_store, said

HERE = Path(__file__).parents[2]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    return Project(tmp_path, monkeypatch)


def refused(act: Callable[[], object]) -> None:
    with pytest.raises(LedgerUnavailable) as caught:
        act()
    assert caught.value.code == "ledger-unavailable"


def fill_up(opened: Opened) -> list[str]:
    """Writes until nothing fits; gives what was acknowledged."""
    told: list[str] = []
    for number in range(3000):
        try:
            told.append(deny(opened, args={"text": f"{number} " * 500}).call)
        except LedgerUnavailable:
            return told
    raise AssertionError("it is not full")


def test_a_full_database(project: Project, monkeypatch: pytest.MonkeyPatch):
    """SQLite's own limit, on each of its connections: it fails as it does on a full disk."""
    with project.open() as opened:
        first = deny(opened).call
    with monkeypatch.context() as patch:
        patch.setitem(SETTINGS, "max_page_count", "60")
        opened = project.open()
        told = fill_up(opened)
        assert told
        refused(lambda: deny(opened, args={"text": "some text " * 10_000}))
        refused(lambda: allow(opened, tier=0, args={"text": "some text " * 10_000}))
    last = deny(opened, args={"text": "some text " * 10_000}).call
    opened.checkpoint()
    assert audit(opened.log, opened.signer).verified
    assert [entry["call"] for entry in said(opened.store)] == [first, *told, last]
    opened.close()


QUOTA = """
import resource, signal, sys
from pathlib import Path
from remit.record.errors import LedgerUnavailable
from remit.record.open import open_ledger
from tests.record.project import allow, deny
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
opened = open_ledger(Path(sys.argv[1]), point="x")
told = [deny(opened).call]
soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, hard))
failed = 0
while failed < 3 and len(told) < 5000:
    try:
        told.append(deny(opened, args={"text": "x" * 3000}).call)
    except LedgerUnavailable as error:
        failed += 1
try:
    allow(opened, tier=0)
    opened.ledger.flush()
    print("queued")
except LedgerUnavailable:
    print("refused")
resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
told.append(deny(opened).call)
opened.close()
print(failed, *told)
"""


def test_files_that_may_not_grow(project: Project):
    """The kernel refuses each write beyond a size (EFBIG), as it does with a quota; then it lets them through again."""
    command = [sys.executable, "-c", QUOTA, str(project.root)]
    ran = subprocess.run(command, cwd=HERE, capture_output=True, text=True, timeout=60)
    assert ran.returncode == 0, ran.stderr
    queued, line = ran.stdout.splitlines()
    failed, *told = line.split()
    assert (queued, int(failed)) == ("refused", 3)
    with project.open() as opened:
        found = [entry["call"] for entry in said(opened.store) if entry["type"] == "intent"]
        assert [call for call in found if call in told] == told
        assert len(found) == len(set(found))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[FaultyStore]:
    found = FaultyStore(new_store(tmp_path))
    yield found
    found.fault = None
    found.release.set()
    found.close()


@pytest.mark.sample(1)
@pytest.mark.sample(2)
@pytest.mark.parametrize("fault", ["begin", "end", "lost", "kept"])
def test_faults_that_come_and_go_under_load(store: FaultyStore, fault: str):
    """Eight threads, and a store that fails every now and then: what was told is there, and nothing is there twice."""
    ledger = Ledger(store, point="test", deadline=5)
    told: list[tuple[str, int | None]] = []
    told_not: list[str] = []
    queued: list[str] = []
    end = threading.Event()

    def work(name: int) -> None:
        number = 0
        while not end.is_set():
            number += 1
            try:
                if number % 3:
                    receipt = ledger.intent(call(), denied(), call_id=f"{name}-{number}")
                    told.append((receipt.call, receipt.seq))
                else:
                    receipt = ledger.intent(call(), allowed(), call_id=f"{name}-{number}")
                    queued.append(receipt.call)
            except LedgerUnavailable:
                told_not.append(f"{name}-{number}")

    threads = [threading.Thread(target=work, args=(name,)) for name in range(8)]
    for thread in threads:
        thread.start()
    for _ in range(12):
        time.sleep(0.06)
        store.fault = fault
        time.sleep(0.02)
        store.fault = None
    end.set()
    for thread in threads:
        thread.join()
    ledger.intent(call(), denied(), call_id="last")
    ledger.close()
    found = said(store)
    places = {entry["call"]: seq for seq, entry in enumerate(found) if entry["type"] == "intent"}
    assert len(places) == sum(entry["type"] == "intent" for entry in found), "nothing twice"
    assert [one for one in told if places.get(one[0]) != one[1]] == []
    assert [one for one in queued if one not in places] == [], "what was only queued was kept for later"
    not_run = {entry["call"] for entry in found if entry.get("result") == "not-run"}
    assert not_run == set(told_not) & set(places), "and what was denied, and is there, did not run"
    assert store.failed
    assert told_not
    print(f"{fault}: {store.failed} failures, {len(found)} entries, {len(told)} told, {len(told_not)} denied, 0 lost")


def test_a_database_that_is_replaced_while_it_is_used(project: Project):
    with project.open() as opened:
        deny(opened)
        path = project.state / "remit.db"
        copy = path.read_bytes()
        os.rename(path, project.folder / "away")
        path.write_bytes(copy)
        path.chmod(0o600)
        refused(lambda: deny(opened))
        refused(lambda: allow(opened, tier=0))
        path.unlink()
        os.rename(project.folder / "away", path)
        assert deny(opened).seq == 1


def test_a_database_that_somebody_else_holds(tmp_path: Path):
    store = new_store(tmp_path, timeout=1)
    ledger = Ledger(store, point="test", deadline=3)
    ledger.intent(call(), denied())
    holder = sqlite3.connect(tmp_path / "state" / "remit.db", isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    refused(lambda: ledger.intent(call(), denied()))
    refused(lambda: ledger.intent(call(), allowed()))
    holder.execute("ROLLBACK")
    holder.close()
    assert ledger.intent(call(), denied()).seq == 1
    ledger.close()
    store.close()


def test_a_read_only_folder(project: Project):
    with project.open() as opened:
        deny(opened)
    project.state.chmod(0o500)
    try:
        with pytest.raises(StoreError) as caught:
            project.open()
        assert caught.value.code == "store-unsafe"
    finally:
        project.state.chmod(0o700)
    with project.open() as opened:
        assert deny(opened).seq == 1
