"""Tokens of Snowflake, the dialect without a lexer of its own: only what all tokenizers read alike."""

from __future__ import annotations

import re

from remit.languages.sql.lexer import NAME, NUMBER, OP, PARAM, STRING, WORD, Token, refuse, strange_character
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


def tokens_of(text: str, dialect: str) -> list[Token]:
    """The tokens of a text. Raises NotUnderstood."""
    if _TEMPLATE.search(text):
        raise refuse("a template")
    found: list[Token] = []
    at, end = 0, len(text)
    while at < end:
        match = _TOKEN.match(text, at)
        if match is None:
            raise strange_character(text, at)
        kind, value, stop = match.lastgroup, match[0], match.end()
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
            found.append(Token(NAME, _name(value, dialect), at, stop))
        elif kind == "number":
            found.append(Token(NUMBER, value, at, stop))
        elif kind == "param":
            found.append(Token(PARAM, value, at, stop))
        at = stop
    return found


def _name(quoted: str, dialect: str) -> str:
    inner = quoted[1:-1]
    if quoted[0] == "`":
        raise refuse("a ` that databases read differently")
    if not inner.isascii():
        raise refuse("a name beyond ASCII")
    inner = inner.replace('""', '"')
    # a name with small letters is another than the one without quotes; `tree` refuses it for a table
    return inner.lower() if inner == inner.upper() else f'"{inner}"'
