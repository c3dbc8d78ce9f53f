"""The whole ledger on PostgreSQL: written, signed, verified, proved, exported, erased."""

from __future__ import annotations

from pathlib import Path

import pytest

from remit.record.audit import audit
from remit.record.log import prove
from remit.record.proof import Proof, verify_proof
from remit.record.reader import entry_at, values_of
from tests.postgres import Postgres
from tests.record.project import Project, allow, deny


def test_from_the_first_entry_to_a_receipt(postgres: Postgres, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = Project(tmp_path, monkeypatch)
    monkeypatch.setenv("REMIT_STORE", postgres.uri_of(postgres.new_database()))
    with project.open() as opened:
        receipt = allow(opened, args={"file": "a.md"}, tier=1)
        opened.ledger.outcome(receipt.call, "done")
        for number in range(20):
            deny(opened, args={"file": f"{number}.md"})
        opened.ledger.flush()
        opened.checkpoint()
        found = audit(opened.log, opened.signer)
        assert (found.verified, found.report.size, found.values) == (True, 22, 21)
        with opened.store.read() as view:
            assert values_of(view, entry_at(view, 0)) == {"args.file": "a.md"}
            text = prove(view, opened.log, 7).text
        assert verify_proof(Proof.parse(text), opened.log.verifiers).size == 22
    with project.open() as again:
        assert deny(again, args={}).seq == 22
        assert again.recovered == 0
