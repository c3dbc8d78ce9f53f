"""What is changed about authority stands in the ledger, in the same transaction: neither is there without the other."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from remit.record.append import append
from remit.record.entry import event_entry
from remit.record.processes import ELSEWHERE
from remit.store.interface import Transaction


def note(
    change: Transaction, writer: str, kind: str, about: Mapping[str, Any], private: Mapping[str, Any] | None = None
) -> None:
    """Writes an event. Raises StoreError and LedgerError."""
    append(change, [event_entry(kind, time.time_ns(), writer, about, private or {})], ELSEWHERE)
