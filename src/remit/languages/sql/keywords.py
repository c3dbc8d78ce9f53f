"""Which words are keywords of a query, and where; from the catalog."""

from __future__ import annotations

from functools import cache

import msgspec

from remit.model.decoding import Decoding
from remit.model.shipped import shipped


class Place(msgspec.Struct, frozen=True):
    """Where a word is a keyword: after one of these, before one of those. Elsewhere it is a name."""

    after: frozenset[str] | None = None
    before: frozenset[str] | None = None
    """`#` stands for a number."""


class Keywords(msgspec.Struct, frozen=True):
    """The words of one dialect."""

    query: frozenset[str]
    """The keywords that queries are made of."""
    reserved: frozenset[str]
    """Words that are never names."""


class _Catalog(msgspec.Struct, frozen=True):
    soft: dict[str, Place]
    sqlite: Keywords
    postgres: Keywords
    mysql: Keywords
    duckdb: Keywords
    snowflake: Keywords
    operators: frozenset[str]
    """Of postgres, those that are built in."""
    kinds_of_server: frozenset[str]
    """What CREATE makes that is more than a part of a database."""
    not_called: frozenset[str]
    """Words before a bracket in DDL that are no functions."""
    transaction: frozenset[str]
    """Words of transaction statements."""
    server: frozenset[str]
    """Verbs that reach the server as a whole, or run what the text doesn't show."""
    verbs: frozenset[str]
    """Other verbs that are known, though no scope admits them."""


_CATALOG = Decoding(_Catalog)


@cache
def _catalog() -> _Catalog:
    return _CATALOG.decode(shipped("catalog/sql/words.json"))


@cache
def keywords_of(dialect: str) -> Keywords:
    """The words of a dialect."""
    found: Keywords = getattr(_catalog(), dialect)
    return found


def places() -> dict[str, Place]:
    """The words that are keywords only at some places."""
    return _catalog().soft


@cache
def word_list(name: str) -> frozenset[str]:
    """One list of words, by its name."""
    found: frozenset[str] = getattr(_catalog(), name)
    return found
