"""A quorum of witnesses, and their time: real witnesses over loopback, with clocks that their test sets."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from remit.compile import build_rulebook
from remit.model.errors import RemitError
from remit.model.policy import LedgerSettings, Witnesses
from remit.record.audit import audit
from remit.record.cosigned import check_witnesses
from remit.record.faults import faults
from remit.record.open import open_log
from remit.record.witness import Witness
from remit.record.witness_server import WitnessServer
from tests.record.project import Project, deny

COUNT, QUORUM = 3, 2


class Running:
    """One witness that runs, and whose clock can be set."""

    def __init__(self, folder: Path, name: str, vkey: str) -> None:
        self.off = 0.0
        self.witness = Witness(folder, name, clock=lambda: time.time() + self.off)
        self.witness.watch([vkey])
        self.server = WitnessServer(("127.0.0.1", 0), self.witness)
        self._thread = threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()
        self.runs = True

    @property
    def spec(self) -> str:
        return f"witness:http://127.0.0.1:{self.server.server_port}+{self.witness.vkey}"

    def stop(self) -> None:
        if self.runs:
            self.server.shutdown()
            self.server.server_close()
            self.witness.close()
            self._thread.join(10)
        self.runs = False


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    found = Project(tmp_path, monkeypatch)
    found.fill(4)
    return found


@pytest.fixture
def running(project: Project, tmp_path: Path) -> Iterator[list[Running]]:
    with project.log() as opened:
        vkey = opened.log.verifiers[-1].vkey
    found = [Running(tmp_path / f"w{number}", f"w/{number}", vkey) for number in range(COUNT)]
    yield found
    for one in found:
        one.stop()


def settings(running: list[Running], **more: int) -> LedgerSettings:
    return LedgerSettings(anchors=tuple(one.spec for one in running), witnesses=Witnesses(QUORUM, **more))


def push(project: Project, wanted: LedgerSettings) -> None:
    with project.open(settings=lambda store: wanted) as opened:
        opened.push()


def codes(project: Project, wanted: LedgerSettings, later: float = 3600) -> list[str]:
    """What is wrong, by a look an hour later."""
    with project.log() as opened, opened.store.read() as view:
        return [one.code for one in check_witnesses(view, opened.log, wanted, time.time() + later)]


def test_a_quorum_is_enough(project: Project, running: list[Running]):
    wanted = settings(running)
    push(project, wanted)
    assert codes(project, wanted) == []
    running[0].stop()
    project.fill(2)
    push(project, wanted)
    assert codes(project, wanted) == []


def test_fewer_than_the_quorum_are_missed_after_the_grace(project: Project, running: list[Running]):
    wanted = settings(running)
    push(project, wanted)
    for one in running[:2]:
        one.stop()
    project.fill(2)
    push(project, wanted)
    assert codes(project, wanted, later=0) == [], "they still have time"
    assert codes(project, wanted) == ["quorum-missing"]
    with project.log() as opened, opened.store.read() as view:
        [said] = check_witnesses(view, opened.log, wanted, time.time() + 3600)
    assert str(said) == "of 3 witnesses, 1 have cosigned entry 4, and 2 must within 10 minutes"


def test_a_log_that_no_witness_ever_saw(project: Project, running: list[Running]):
    assert codes(project, settings(running)) == ["quorum-missing"]


def test_cosignatures_of_others_do_not_count(project: Project, running: list[Running], tmp_path: Path):
    push(project, settings(running[:2]))
    with project.log() as opened, opened.store.write() as change:
        [(value,)] = change.rows("SELECT value FROM meta WHERE name = ?", f"cosigned by {running[0].witness.vkey}")
        name = f"cosigned by {running[2].witness.vkey}"
        change.run("INSERT INTO meta (name, value) VALUES (?, ?)", name, value)
    assert codes(project, settings(running[1:])) == ["quorum-missing"]


def test_a_forked_log_is_not_what_they_saw(project: Project, running: list[Running]):
    wanted = settings(running)
    push(project, wanted)
    project.cut(2)
    assert codes(project, wanted) == ["ledger-truncated"]


def test_a_clock_that_differs_from_theirs(project: Project, running: list[Running]):
    wanted = settings(running)
    running[0].off = 3600
    push(project, wanted)
    assert codes(project, wanted) == [], "one of three is wrong"
    running[1].off = 3600
    project.fill(1)
    push(project, wanted)
    with project.log() as opened, opened.store.read() as view:
        [said] = check_witnesses(view, opened.log, wanted)
    assert (said.code, str(said)) == ("clock-differs", "the clock here is 60 minutes behind that of the witnesses")


def test_an_entry_of_later_than_its_cosignature(project: Project, running: list[Running]):
    wanted = settings(running)
    with project.open() as opened:
        opened.ledger.clock = lambda: time.time_ns() + 3600 * 10**9
        deny(opened)
    push(project, wanted)
    assert "clock-ahead" in codes(project, wanted)


def test_it_is_said_by_the_list_of_faults_and_by_verify(project: Project, running: list[Running]):
    wanted = LedgerSettings(settings(running).streams, settings(running).anchors, Witnesses(QUORUM, clock=5))
    for one in running:
        one.off = -7200
    push(project, wanted)
    with open_log(project.root, settings=lambda store: wanted) as opened:
        assert "clock-differs" in [one.code for one in faults(opened)]
        assert "clock-differs" in [one.code for one in audit(opened.log, opened.signer, settings=wanted).problems]
    with project.open(settings=lambda store: wanted) as opened:
        assert any("(clock-differs)" in one for one in opened.warnings)


def test_a_policy_names_them(running: list[Running]):
    anchors = [one.spec for one in running]
    policy = {"remit": 1, "name": "p", "agents": {}, "ledger": {"anchors": anchors, "witnesses": {"quorum": 2}}}
    found = build_rulebook(policy).book.ledger
    assert found == LedgerSettings((), tuple(anchors), Witnesses(2, 10, 5))
    with pytest.raises(RemitError, match="a quorum of 4 needs"):
        build_rulebook({**policy, "ledger": {"anchors": anchors, "witnesses": {"quorum": 4}}})
