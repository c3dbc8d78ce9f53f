"""The id of a call in the ledger: the host's own, made unique by its session."""

from __future__ import annotations

from remit.model.digest import sha256
from remit.record.ids import is_id


def call_id(session: str, use: str) -> str:
    """The id of the use of a tool in a session."""
    text = f"{session}/{use}"
    return text if is_id(text) else f"hook-{sha256(text.encode('utf-8', 'replace')).hexdigest()}"
