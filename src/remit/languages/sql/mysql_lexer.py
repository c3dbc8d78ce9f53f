"""Tokens as MySQL and MariaDB make them, whatever their `sql_mode` says about quotes and backslashes.

A text that ends its strings elsewhere in another mode is refused. A text in double quotes is a string, or with
ANSI_QUOTES a column: it counts as both.
"""

from __future__ import annotations

import re

from remit.languages.sql.lexer import (
    NAME,
    NUMBER,
    OP,
    PARAM,
    QUOTED,
    STRING,
    WORD,
    Token,
    ascii_lower,
    plain_word,
    refuse,
    scan,
)
from remit.model.pattern import compile_later

_ID = r"A-Za-z0-9_$\x80-\uffff"
_TOKEN = compile_later(
    rf"""
      (?P<space>[ \t\n\r\f\v]+ | --(?=[ \t\n\r\f\v]|$)[^\n\r]*(?=\n|$) | \#[^\n\r]*(?=\n|$))
    | (?P<comment>/\*(?![!+]|M!).*?\*/)
    | (?P<number>(?:[xXbB]'[0-9a-fA-F]*' | 0[xX][0-9a-fA-F]+(?![{_ID}]) | 0b[01]+(?![{_ID}])
        | (?>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)(?![{_ID}.])))
    | (?P<word>[A-Za-z_\x80-\uffff][{_ID}]*+(?!['"]))
    | (?P<string>'(?:[^'\\]|''|\\[^'])*')
    | (?P<quoted>"(?:[^"\\]|""|\\[^"])*")
    | (?P<name>`(?:[^`]|``)+`)
    | (?P<param>\? | @@?(?:(?:global|session|local)\.)?[{_ID}]+(?!['"`]))
    | (?P<op>->>|->|<=>|\|\||&&|<=|<>|<<|>=|>>|!=|--|[-+*/%&|^~!(),;.=<>])
    """,
    re.VERBOSE | re.DOTALL | re.IGNORECASE,
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
        if value == "--" or (value == "/" and text.startswith("*", stop)):
            raise refuse("a comment that databases read differently")
        found.append(Token(OP, value, at, stop))
    elif kind == "comment":
        if "/*" in value[2:]:
            raise refuse("a comment inside a comment")
    elif kind in ("string", "quoted"):
        if found and found[-1].kind in (STRING, QUOTED):
            raise refuse("a string that goes on in another")
        inner = value[1:-1].replace(value[0] * 2, value[0])
        found.append(Token(STRING if kind == "string" else QUOTED, inner, at, stop))
    elif kind == "name":
        found.append(Token(NAME, value[1:-1].replace("``", "`"), at, stop))
    elif kind == "number":
        found.append(Token(NUMBER, value, at, stop))
    elif kind == "param":
        found.append(Token(PARAM, value, at, stop))
    return stop
