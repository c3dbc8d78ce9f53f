"""The content hash of a book: what it says, not how or where it was written."""

from __future__ import annotations

import hashlib
from typing import Any

import msgspec

from remit.model.rulebook import Book

_PLACES = frozenset({"at", "sources", "root", "notices", "examples", "about", "pack", "packs"})
_ORDERED = frozenset({"gates"})


def content_hash(book: Book) -> str:
    """`sha256:…` over the book without positions, in an order of its own."""
    data = msgspec.to_builtins(book, str_keys=True)
    return "sha256:" + hashlib.sha256(_encode(_canonical(data))).hexdigest()


def _encode(value: Any) -> bytes:
    return msgspec.json.encode(value, order="deterministic")


def _canonical(value: Any, key: str = "") -> Any:
    if isinstance(value, dict):
        return {k: _canonical(v, k) for k, v in value.items() if k not in _PLACES}
    if isinstance(value, (list, tuple)):
        items = [_canonical(item) for item in value]
        return items if key in _ORDERED else sorted(items, key=_encode)
    return value
