"""Erasing: values are gone from the disk, and everything that was proved stays proved."""

from __future__ import annotations

from pathlib import Path

import pytest

from remit.record.audit import audit
from remit.record.erase import Erased, Which, erase
from remit.record.errors import LedgerError
from remit.record.log import prove
from remit.record.proof import Proof, verify_proof
from remit.record.reader import entries, entry_at, values_of
from tests.record.project import Project, allow, deny

PRIVATE = "the-private-diagnosis-of-someone"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    return Project(tmp_path, monkeypatch)


def on_disk(project: Project) -> bool:
    return any(PRIVATE.encode() in path.read_bytes() for path in project.state.rglob("*") if path.is_file())


def test_the_value_goes_and_the_proof_stays(project: Project):
    with project.open() as opened:
        for number in range(30):
            deny(opened, args={"text": PRIVATE if number == 12 else f"text {number}"})
        opened.checkpoint()
        with opened.store.read() as view:
            before = prove(view, opened.log, 12)
            assert values_of(view, entry_at(view, 12))["args.text"] == PRIVATE
    assert on_disk(project)
    with project.log() as opened:
        assert erase(opened.store, Which(seqs=(12,)), "officer") == Erased(1, 1)
    assert not on_disk(project), "overwritten, in the database and in its log"
    with project.log() as opened:
        opened.checkpoint()
        with opened.store.read() as view:
            assert values_of(view, entry_at(view, 12)) == {}
            assert "args.text" in values_of(view, entry_at(view, 13))
            after = prove(view, opened.log, 12)
            said = entry_at(view, 30).data
        assert audit(opened.log, opened.signer).verified
        for proof in (before, after):
            assert verify_proof(Proof.parse(proof.text), opened.log.verifiers).origin == opened.origin
    assert (said["type"], said["entries"], said["values"], said["who"]) == ("erasure", [[12, 12]], 1, "officer")


def test_by_call_and_by_agent_and_before_a_moment(project: Project):
    with project.open() as opened:
        receipt = allow(opened, args={"a": 1, "b": 2})
        opened.ledger.outcome(receipt.call, "done")
        deny(opened, agent="other", args={"a": 1})
        deny(opened, agent="writer", args={"a": 1})
        opened.ledger.flush()
        store = opened.store
        assert erase(store, Which(call=receipt.call), "x") == Erased(1, 2)
        assert erase(store, Which(call=receipt.call), "x") == Erased(0, 0), "nothing is left, and nothing is written"
        assert erase(store, Which(agent="writer", before="2020-01-01T00:00:00.000Z"), "x") == Erased(0, 0)
        assert erase(store, Which(agent="writer"), "x") == Erased(1, 1)
        with store.read() as view:
            assert [row[0] for row in view.rows("SELECT seq FROM secret")] == [2]
        assert erase(store, Which(before="2999-01-01T00:00:00.000Z"), "x") == Erased(1, 1)
        with store.read() as view:
            assert [entry.data["type"] for entry in entries(view, 4)] == ["erasure"] * 3


def test_many_runs_are_named_in_several_entries(project: Project, monkeypatch: pytest.MonkeyPatch):
    from remit.record import erase as module

    monkeypatch.setattr(module, "MAX_RANGES", 3)
    with project.open() as opened:
        for number in range(20):
            deny(opened, agent="odd" if number % 2 else "even", args={"a": number})
        assert erase(opened.store, Which(agent="odd"), "x") == Erased(10, 10)
        with opened.store.read() as view:
            named = [run for entry in entries(view, 20) for run in entry.data["entries"]]
        assert named == [[number, number] for number in range(1, 20, 2)]


def test_a_thousand_runs_fit_into_an_entry(project: Project):
    from remit.record.entry import MAX_ENTRY, event_entry
    from remit.record.erase import MAX_RANGES

    runs = [[10**12 + 2 * number, 10**12 + 2 * number] for number in range(MAX_RANGES)]
    assert len(event_entry("erasure", 0, "erase", {"entries": runs, "who": "x" * 200}, {}).body) <= MAX_ENTRY


def test_what_is_not_there_can_not_be_erased(project: Project):
    project.fill(2)
    with project.log() as opened:
        with pytest.raises(LedgerError, match="no entry 7"):
            erase(opened.store, Which(seqs=(7,)), "x")
        with pytest.raises(LedgerError, match="nothing is named"):
            erase(opened.store, Which(), "x")
