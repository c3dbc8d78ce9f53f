"""Tokens as SQLite makes them."""

from __future__ import annotations

import re

from remit.languages.sql.lexer import (
    NAME,
    NUMBER,
    OP,
    PARAM,
    STRING,
    WORD,
    Token,
    ascii_lower,
    plain_word,
    refuse,
    scan,
)
from remit.model.pattern import compile_later

_ID = r"A-Za-z0-9_$\x80-\U0010ffff"
_TOKEN = compile_later(
    rf"""
      (?P<space>[ \t\n\f\r]+ | --[^\n]* | /\*.*?\*/)
    | (?P<number>(?:[xX]'(?:[0-9a-fA-F]{{2}})*'
        | 0[xX][0-9a-fA-F][0-9a-fA-F_]*+(?![{_ID}])
        | (?>(?:[0-9][0-9_]*(?:\.[0-9_]*)?|\.[0-9][0-9_]*)(?:[eE][+-]?[0-9][0-9_]*)?)(?![{_ID}])))
    | (?P<word>(?![xX]')[A-Za-z_\x80-\U0010ffff][{_ID}]*)
    | (?P<string>'(?:[^']|'')*')
    | (?P<name>"(?:[^"]|"")*" | `(?:[^`]|``)*` | \[[^\]]*\])
    | (?P<param>\?[0-9]* | [$@:](?:::)*[{_ID}](?:[{_ID}]|::)*)
    | (?P<op>->>|->|\|\||==|<=|<>|<<|>=|>>|!=|[-+*/%&|~(),;.=<>])
    """,
    re.VERBOSE | re.DOTALL,
)


def tokens(text: str) -> list[Token]:
    """The tokens of a text. Raises NotUnderstood."""
    return scan(text, _TOKEN, _read)


def _read(text: str, found: list[Token], kind: str, at: int, stop: int) -> int:
    """Adds the token at a place; where the next begins. Raises NotUnderstood."""
    value = text[at:stop]
    if kind == WORD:
        if not value.isascii():
            plain_word(value)
        found.append(Token(WORD, ascii_lower(value), at, stop))
    elif kind == "op":
        if value == "/" and text.startswith("*", stop):
            raise refuse("a comment that doesn't end")
        found.append(Token(OP, value, at, stop))
    elif kind == "string":
        found.append(Token(STRING, value[1:-1].replace("''", "'"), at, stop))
    elif kind == "name":
        quote = value[0]
        inner = value[1:-1] if quote == "[" else value[1:-1].replace(quote * 2, quote)
        found.append(Token(NAME, ascii_lower(inner), at, stop))
    elif kind == "number":
        found.append(Token(NUMBER, value, at, stop))
    elif kind == "param":
        if text.startswith("(", stop) and value[0] != "?":
            raise refuse("a parameter with brackets")
        plain_word(value)
        found.append(Token(PARAM, value, at, stop))
    return stop
