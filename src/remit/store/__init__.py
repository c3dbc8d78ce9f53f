"""Where all state lives: one interface, SQLite for one machine and PostgreSQL for several.

```python
store = open_store(store_url(), state_directory(root))
with store.write() as transaction:
    transaction.run("INSERT INTO meta (name, value) VALUES (?, ?)", "colour", b"green")
with store.read() as transaction:
    print(transaction.row("SELECT value FROM meta WHERE name = ?", "colour"))
```
"""

from remit.store.errors import (
    StoreBusy,
    StoreCorrupt,
    StoreError,
    StoreFull,
    StoreMisconfigured,
    StoreMisused,
    StoreRefused,
    StoreTooNew,
    StoreUnavailable,
    StoreUnsafe,
)
from remit.store.interface import Store, Transaction, Value
from remit.store.open import open_store, store_url
from remit.store.place import check_private, state_directory

__all__ = [
    "Store",
    "StoreBusy",
    "StoreCorrupt",
    "StoreError",
    "StoreFull",
    "StoreMisconfigured",
    "StoreMisused",
    "StoreRefused",
    "StoreTooNew",
    "StoreUnavailable",
    "StoreUnsafe",
    "Transaction",
    "Value",
    "check_private",
    "open_store",
    "state_directory",
    "store_url",
]
