"""Queries and values that both kinds of store take, checked the same way for both."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, NamedTuple

from remit.model.pattern import compile_later
from remit.store.errors import StoreMisused

_PIECE = compile_later(
    r"""
    (?P<quoted>'(?:[^']|'')*'|"(?:[^"]|"")*")
  | (?P<comment>--[^\n]*|/\*.*?\*/)
  | (?P<value>\?(?![0-9]))
  | (?P<end>;\s*\Z)
  | (?P<plain>[^'"?;/$@:\\-]+|-(?!-)|/(?!\*))
    """,
    re.VERBOSE | re.DOTALL,
)
_WORDS = frozenset({"SELECT", "INSERT", "UPDATE", "DELETE", "WITH", "VALUES"})
_MAX_INTEGER = 2**63 - 1


class Query(NamedTuple):
    """One statement: the text as written, the text with `$1` for `?`, and how many values it takes."""

    text: str
    numbered: str
    values: int


@lru_cache(maxsize=512)
def read_query(sql: str) -> Query:
    """Reads one; raises StoreMisused for what is not one statement of the common subset."""
    numbered: list[str] = []
    values = at = 0
    word = ""
    while at < len(sql):
        piece = _PIECE.match(sql, at)
        if piece is None:
            raise StoreMisused(f"not in the common subset of SQL, from `{sql[at : at + 20]}`")
        at = piece.end()
        if piece.lastgroup == "value":
            values += 1
            numbered.append(f"${values}")
        elif piece.lastgroup != "comment":
            numbered.append(piece[0])
            word = word or (piece[0].split() or [""])[0].partition("(")[0].upper()
        else:
            numbered.append(" ")
    if word not in _WORDS:
        raise StoreMisused(f"`{word}` is not a statement of the common subset of SQL")
    return Query(sql, "".join(numbered), values)


def checked(query: Query, values: tuple[Any, ...]) -> tuple[Any, ...]:
    """The values, if every kind of store can keep them as they are; raises StoreMisused otherwise."""
    if len(values) != query.values:
        raise StoreMisused(f"{len(values)} values for {query.values} places")
    for place in _to_check(*map(type, values)):
        value = values[place]
        if type(value) is str:
            if value.isascii() and "\0" not in value:
                continue
        elif type(value) is int and -_MAX_INTEGER <= value <= _MAX_INTEGER:
            continue
        return tuple(map(_value, values))  # something that needs a closer look
    return values


@lru_cache(maxsize=512)
def _to_check(*kinds: type) -> tuple[int, ...]:
    """The places of values that not every store could keep, by what they are; of the others all can be kept."""
    return tuple(place for place, kind in enumerate(kinds) if kind is not bytes and kind is not type(None))


def _value(value: Any) -> Any:
    kind = type(value)
    if value is None or kind is bytes:
        return value
    if kind is bool:
        return int(value)
    if kind is int:
        if not -_MAX_INTEGER - 1 <= value <= _MAX_INTEGER:
            raise StoreMisused("an integer of more than 64 bits")
        return value
    if kind is str:
        if "\0" in value:
            raise StoreMisused("a text with a NUL")
        try:
            value.encode()
        except UnicodeEncodeError:
            raise StoreMisused("a text with half of a surrogate pair") from None
        return value
    raise StoreMisused(f"a value of type `{kind.__name__}`")
