"""SQL text → tokens, exactly as the database's own tokenizer makes them; what is not certain is refused.

A parser that is fooled by a comment or a quote sees other statements than the database. So each dialect has a lexer
of its own (`sqlite_lexer`, `postgres_lexer`, `mysql_lexer`, `duckdb_lexer`); that of Snowflake is a strict one, which
refuses all that databases read differently.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from typing import NamedTuple

from remit.model.errors import NotUnderstood

MAX_TEXT = 64 * 1024
MAX_TOKENS = 20_000
WORD, NAME, STRING, NUMBER, PARAM, OP = "word", "name", "string", "number", "param", "op"
QUOTED = "quoted"
"""A string of mysql in double quotes, which the server may be told to take for a name."""


class Token(NamedTuple):
    """One token. A comment is none."""

    kind: str
    """`word` (a keyword or a plain name), `name` (quoted), `string`, `number` (and other literals), `param`, `op`."""
    value: str
    """Words and names folded as the database does, quotes taken off; the rest as written."""
    start: int
    end: int


Reader = Callable[[str, list[Token], str, int, int], int]
"""Adds the token of a kind that stands in a text from one place to another; it says where the next begins."""


def refuse(reason: str) -> NotUnderstood:
    """The error that says why a text can't be read."""
    return NotUnderstood("sql", reason)


def lex(text: str, dialect: str) -> list[Token]:
    """The tokens of a text. Raises NotUnderstood."""
    if len(text) > MAX_TEXT or len(text.encode("utf-8", "surrogatepass")) > MAX_TEXT:
        raise refuse("the text is too long")
    if "\0" in text:
        raise refuse("a NUL in the text")
    if not text.isascii() and any("\ud800" <= char <= "\udfff" for char in text):
        raise refuse("half a character in the text")
    if dialect == "sqlite":
        from remit.languages.sql.sqlite_lexer import tokens  # here, as below: one of them for each dialect
    elif dialect == "postgres":
        from remit.languages.sql.postgres_lexer import tokens
    elif dialect == "duckdb":
        from remit.languages.sql.duckdb_lexer import tokens
    elif dialect == "mysql":
        from remit.languages.sql.mysql_lexer import tokens
    else:
        from remit.languages.sql.strict_lexer import tokens
    found = tokens(text)
    if len(found) > MAX_TOKENS:
        raise refuse("too many tokens")
    return found


def scan(text: str, pattern: re.Pattern[str], read: Reader) -> list[Token]:
    """The tokens of a text, match by match. Raises NotUnderstood where the pattern doesn't fit."""
    found: list[Token] = []
    at, end = 0, len(text)
    while at < end:
        match = pattern.match(text, at)
        if match is None:
            raise strange_character(text, at)
        kind, stop = match.lastgroup, match.end()
        at = stop if kind == "space" or kind is None else read(text, found, kind, at, stop)
    return found


def ascii_lower(text: str) -> str:
    """Lower case of the ASCII letters alone, as databases fold names."""
    return text.lower() if text.isascii() else "".join(c.lower() if c.isascii() else c for c in text)


def strange_character(text: str, at: int) -> NotUnderstood:
    """The refusal of a character that no token begins with."""
    char = text[at]
    if char in "'\"`[":
        return refuse(f"a {char} that doesn't end")
    if not char.isprintable() or char.isspace():
        return refuse(f"a character that isn't followed: U+{ord(char):04X}")
    return refuse(f"a character that isn't followed: {char}")


def plain(name: str) -> str:
    """Refuses a name that would look like several, or like all."""
    if "." in name or "/" in name or name in ("", "*"):
        raise refuse("a name that could be taken for another")
    return name


def plain_word(word: str) -> None:
    """Refuses a name outside quotes that contains blanks or invisible characters of Unicode."""
    for char in word:
        if not char.isascii() and unicodedata.category(char)[0] in "CZ":
            raise refuse(f"an invisible character in a name: U+{ord(char):04X}")
