"""Tokens of Snowflake, the dialect without a lexer of its own: only what all tokenizers read alike."""

from __future__ import annotations

import re

from remit.languages.sql.lexer import NAME, NUMBER, OP, PARAM, STRING, WORD, Token, refuse, scan
from remit.model.pattern import compile_later

_TOKEN = compile_later(
    r"""
      (?P<space>[ \t\n\r]+ | --(?=[ \t\n]|$)[^\n\r]*(?=\n|$))
    | (?P<comment>/\*(?![!+]|M!).*?\*/)
    | (?P<number>(?>(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)(?![A-Za-z0-9_.$]))
    | (?P<word>[A-Za-z_][A-Za-z0-9_]*+(?!['"$@#\x80-\U0010ffff]))
    | (?P<string>'(?:[^'\\]|'')*')
    | (?P<name>"(?:[^"\\]|"")+" | `[^`\\]+`)
    | (?P<param>\?)
    | (?P<op>::|\|\||<=|<>|>=|!=|--|[-+*/%(),;.=<>])
    """,
    re.VERBOSE | re.DOTALL,
)
_TEMPLATE = compile_later(r"\{[{%#]")


def tokens(text: str) -> list[Token]:
    """The tokens of a text. Raises NotUnderstood."""
    if _TEMPLATE.search(text):
        raise refuse("a template")
    return scan(text, _TOKEN, _read)


def _read(text: str, found: list[Token], kind: str, at: int, stop: int) -> int:
    """Adds the token at a place; where the next begins. Raises NotUnderstood."""
    value = text[at:stop]
    if kind == WORD:
        found.append(Token(WORD, value.lower(), at, stop))
    elif kind == "op":
        if value == "--" or (value == "/" and text.startswith("*", stop)):
            raise refuse("a comment that databases read differently")
        found.append(Token(OP, value, at, stop))
    elif kind == "comment":
        if "/*" in value[2:-2] or "/*" in value[3:]:
            raise refuse("a comment inside a comment")
    elif kind == "string":
        if found and found[-1].kind == STRING:
            raise refuse("a string that goes on in another")
        found.append(Token(STRING, value[1:-1].replace("''", "'"), at, stop))
    elif kind == "name":
        found.append(Token(NAME, _name(value), at, stop))
    elif kind == "number":
        found.append(Token(NUMBER, value, at, stop))
    elif kind == "param":
        found.append(Token(PARAM, value, at, stop))
    return stop


def _name(quoted: str) -> str:
    inner = quoted[1:-1]
    if quoted[0] == "`":
        raise refuse("a ` that databases read differently")
    if not inner.isascii():
        raise refuse("a name beyond ASCII")
    inner = inner.replace('""', '"')
    # a name with small letters is another than the one without quotes; `tree` refuses it for a table
    return inner.lower() if inner == inner.upper() else f'"{inner}"'
