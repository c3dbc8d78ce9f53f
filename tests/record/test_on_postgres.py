"""The whole ledger on PostgreSQL: written, signed, verified, proved, exported, erased."""

from __future__ import annotations

from pathlib import Path

import pytest

from remit.record.audit import audit
from remit.record.erase import Which, erase
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


def holding(folder: Path, text: bytes) -> list[str]:
    """The files below a folder that hold a text."""
    return [str(path) for path in folder.rglob("*") if path.is_file() and text in path.read_bytes()]


@pytest.mark.more
def test_erased_values_are_in_no_table(postgres: Postgres, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the server's own log keeps of them is beyond Remit, and said."""
    project = Project(tmp_path, monkeypatch)
    monkeypatch.setenv("REMIT_STORE", postgres.uri_of(postgres.new_database()))
    with project.open() as opened:
        for number in range(300):
            deny(opened, args={"file": f"only-here-{number}.md"})
        opened.checkpoint()
    tables, past = postgres.folder / "base", postgres.folder / "pg_wal"
    with project.log() as opened:
        opened.store.settle()
        assert holding(tables, b"only-here-17.md")
        erase(opened.store, Which(seqs=(17,)), "tester")
        held = opened.store.settle(shrink=True)
        assert holding(tables, b"only-here-17.md") == []
        assert holding(tables, b"only-here-18.md")
        assert holding(past, b"only-here-17.md")
        assert [one.split(",")[0] for one in held] == ["the server's write-ahead log"]
        assert "free space" in opened.store.settle()[-1]


def test_a_role_that_may_not_write_the_tables_out_says_so(
    postgres: Postgres, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = postgres.new_database()
    with postgres.connect(autocommit=True) as connection:
        connection.execute(f"CREATE ROLE owner_of_{database} LOGIN".encode())
        connection.execute(f"ALTER DATABASE {database} OWNER TO owner_of_{database}".encode())
    project = Project(tmp_path, monkeypatch)
    monkeypatch.setenv("REMIT_STORE", postgres.uri_of(database).replace("//postgres:", f"//owner_of_{database}:"))
    with project.open() as opened:
        deny(opened)
    with project.log() as opened:
        assert any("next checkpoint" in one for one in opened.store.settle())
