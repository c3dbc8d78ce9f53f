"""The content hash of a book: what it says, not how or where it was written."""

from __future__ import annotations

from typing import Any

import msgspec

from remit.model.digest import sha256
from remit.model.policy import Grant
from remit.model.rulebook import Book

_PLACES = frozenset(
    {
        "at",
        "places",
        "sources",
        "root",
        "notices",
        "examples",
        "about",
        "pack",
        "packs",
        "tier_words",
        "reviewed",
        "contact",
    }
)
"""Fields of the nouns that say where something stands or are for people only. A review changes no decision: approvals
that were given before it count on."""
_ORDERED = frozenset({"gates"})


def content_hash(book: Book) -> str:
    """`sha256:…` over the book without positions, in an order of its own."""
    return "sha256:" + sha256(_encode(_canonical(book))).hexdigest()


def grant_digest(grant: Grant) -> str:
    """What the approval of a standing grant is bound to: all that it says, and no position."""
    return sha256(_encode(_canonical(grant))).hexdigest()


def _encode(value: Any) -> bytes:
    return msgspec.json.encode(value, order="deterministic")


def _canonical(value: Any, field: str = "") -> Any:
    if isinstance(value, msgspec.Struct):
        fields = [name for name in value.__struct_fields__ if name not in _PLACES]
        return {name: _canonical(found, name) for name in fields if (found := getattr(value, name)) is not None}
    if isinstance(value, dict):
        return {str(key): _canonical(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        items = [_canonical(item) for item in value]
        return items if field in _ORDERED else sorted(items, key=_encode)
    return value
