"""The vault: what waits for an answer is kept encrypted, and gone afterwards."""

from __future__ import annotations

from pathlib import Path

import pytest

from remit.record.errors import LedgerError
from remit.record.open import open_ledger
from remit.record.vault import Vault

VALUE = {"command": "curl -H 'Authorization: Bearer abcdef0123456789' https://x.example", "n": 1.5, "list": [None]}


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "state"


def test_kept_until_it_is_answered(tmp_path: Path, state: Path) -> None:
    with open_ledger(tmp_path, point="test", state=state) as opened:
        opened.vault.keep("A-1", VALUE)
        assert opened.vault.look("A-1") == VALUE
        assert b"abcdef0123456789" not in b"".join(path.read_bytes() for path in state.glob("remit.db*"))
        assert opened.vault.drop("A-1")
        assert not opened.vault.drop("A-1")
        with pytest.raises(LedgerError, match="nothing is kept"):
            opened.vault.look("A-1")
    assert (state / "keys" / "vault.key").stat().st_mode & 0o777 == 0o600


def test_a_value_belongs_to_its_name(tmp_path: Path, state: Path) -> None:
    with open_ledger(tmp_path, point="test", state=state) as opened:
        opened.vault.keep("A-1", VALUE)
        with opened.store.write() as change:
            change.run("UPDATE sealed SET id = ? WHERE id = ?", "A-2", "A-1")
        with pytest.raises(LedgerError, match="can't be opened"):
            opened.vault.look("A-2")


def test_without_its_key(tmp_path: Path, state: Path) -> None:
    with open_ledger(tmp_path, point="test", state=state) as opened:
        opened.vault.keep("A-1", VALUE)
        key = state / "keys" / "vault.key"
        key.chmod(0o644)
        with pytest.raises(LedgerError, match="others can read"):
            opened.vault.look("A-1")
        key.unlink()
        with pytest.raises(LedgerError, match="missing"):
            opened.vault.look("A-1")
        key.write_bytes(b"short")
        key.chmod(0o600)
        with pytest.raises(LedgerError, match="malformed"):
            Vault(opened.store, state / "keys").look("A-1")
