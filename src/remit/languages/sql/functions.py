"""What is known about functions: which are harmless, and which reach beyond the tables of a query."""

from __future__ import annotations

from functools import cache

import msgspec

from remit.languages.sql.statement import Reach
from remit.model.decoding import Decoding
from remit.model.shipped import shipped


class Functions(msgspec.Struct, frozen=True):
    """The functions of one dialect; one that is in neither list is not known."""

    harmless: frozenset[str]
    reaching: dict[str, tuple[tuple[str, str], ...]]
    """Effect and kind of each thing that a function reaches. Its first argument says which."""
    tables: frozenset[str] = frozenset()
    """Tables that are functions in disguise: their arguments may stand in WHERE."""
    of_rows: frozenset[str] = frozenset()
    """Functions that take a whole row, which `alias.name` hands them in postgres; of those that tell what is in it."""
    columns: frozenset[str] = frozenset()
    """Columns of functions that stand in the place of tables."""


_FUNCTIONS = Decoding(Functions)


@cache
def functions_of(dialect: str) -> Functions:
    """The functions of a dialect: its own list, with those of the dialects that it takes after."""
    if dialect in ("sqlite", "postgres"):
        return _read(dialect)
    own, common = _read(dialect), _read("common")
    harmless = own.harmless | common.harmless
    if dialect == "duckdb":
        harmless |= _read("postgres").harmless
    reaching = {**common.reaching, **own.reaching}
    return Functions(harmless - reaching.keys(), reaching, own.tables)


def _read(name: str) -> Functions:
    return _FUNCTIONS.decode(shipped(f"catalog/sql/{name}.json"))


def reaches(dialect: str, name: str, argument: str) -> tuple[Reach, ...]:
    """What a function reaches beyond tables."""
    bare = name.removeprefix("pg_catalog.") if dialect == "postgres" else name
    found = functions_of(dialect).reaching.get(bare, ())
    return tuple(Reach(effect, kind, argument if kind != "server" else "", name) for effect, kind in found)


def is_harmless(dialect: str, name: str) -> bool:
    """True for a function that only computes."""
    bare = name.removeprefix("pg_catalog.") if dialect == "postgres" else name
    return bare in functions_of(dialect).harmless
