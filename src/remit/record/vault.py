"""The vault: the full arguments of calls that wait for an answer, encrypted, until the answer is there.

Who is asked must see everything, secrets included; the ledger's own values have these blotted out. The key lies beside
the ledger's keys, so that a copy of the store alone shows nothing.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import msgspec

from remit.record.errors import LedgerError
from remit.record.secret_file import make_secret, read_secret
from remit.store.interface import Store, Transaction

_FILE = "vault.key"
_LENGTH = 32
_WHAT = "the key of the vault"


def forget(change: Transaction, name: str) -> bool:
    """Forgets what is kept under a name, within a change; whether there was something. Raises StoreError."""
    return change.run("DELETE FROM sealed WHERE id = ?", name) > 0


class Vault:
    """Keeps sealed values by name."""

    def __init__(self, store: Store, folder: Path) -> None:
        self.store, self.path = store, folder / _FILE

    def keep(self, name: str, value: Any) -> None:
        """Seals a JSON value under a name that is not used yet. Raises LedgerError and StoreError."""
        with self.store.write() as change:
            self.seal(change, name, value)

    def seal(self, change: Transaction, name: str, value: Any) -> None:
        """The same, within a change: it is kept if that is. Raises LedgerError and StoreError."""
        nonce = os.urandom(12)
        body = self._cipher(create=True).encrypt(nonce, msgspec.json.encode(value), name.encode())
        change.run("INSERT INTO sealed (id, nonce, body) VALUES (?, ?, ?)", name, nonce, body)

    def has(self, name: str) -> bool:
        """Whether something is kept under a name. Raises StoreError."""
        with self.store.read() as view:
            return view.row("SELECT 1 FROM sealed WHERE id = ?", name) is not None

    def look(self, name: str) -> Any:
        """The value. Raises LedgerError if there is none, or it can't be opened."""
        from cryptography.exceptions import InvalidTag  # here, as below: it takes long, and few calls wait

        with self.store.read() as view:
            row = view.row("SELECT nonce, body FROM sealed WHERE id = ?", name)
        if row is None:
            raise LedgerError("nothing is kept under this name", code="not-sealed")
        try:
            data = self._cipher(create=False).decrypt(bytes(row[0]), bytes(row[1]), name.encode())
            return msgspec.json.decode(data)
        except (InvalidTag, ValueError):
            raise LedgerError("what is kept under this name can't be opened", code="ledger-corrupt") from None

    def drop(self, name: str) -> bool:
        """Forgets it, once the answer is there; whether there was something. Raises StoreError."""
        with self.store.write() as change:
            return forget(change, name)

    def _cipher(self, *, create: bool) -> Any:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        return AESGCM(self._key(create=create))

    def _key(self, *, create: bool) -> bytes:
        found = read_secret(self.path, _LENGTH, _WHAT)
        if found is None and not create:
            raise LedgerError(f"{_WHAT} is missing", code="key-missing")
        return found if found is not None else make_secret(self.path, os.urandom(_LENGTH), _WHAT)
