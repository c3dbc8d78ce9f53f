"""Tokens as PostgreSQL makes them, with `standard_conforming_strings` on."""

from __future__ import annotations

import re
from functools import partial

from remit.languages.sql.keywords import word_list
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
      (?P<space>[ \t\n\r\f]+ | --[^\n\r]*)
    | (?P<comment>/\*)
    | (?P<unicode>[uU]&['"])
    | (?P<escaped>[eE]'(?:[^'\\]|''|\\.)*')
    | (?P<literal>[bBxX]'[^']*')
    | (?P<string>[nN]?'(?:[^']|'')*')
    | (?P<word>(?![eEbBxXnN]')[A-Za-z_\x80-\U0010ffff][{_ID}]*)
    | (?P<name>"(?:[^"]|"")+")
    | (?P<dollar>\$(?:[A-Za-z_\x80-\U0010ffff][A-Za-z0-9_\x80-\U0010ffff]*)?\$)
    | (?P<param>\$[0-9]+(?![{_ID}]))
    | (?P<number>(?>0[xX](?:_?[0-9a-fA-F])+|0[oO](?:_?[0-7])+|0[bB](?:_?[01])+
        |(?:[0-9](?:_?[0-9])*(?:\.(?!\.)(?:[0-9](?:_?[0-9])*)?)?|\.[0-9](?:_?[0-9])*)(?:[eE][+-]?[0-9](?:_?[0-9])*)?)
        (?![{_ID}]))
    | (?P<punctuation>::|:=|=>|[(),;.\[\]:])
    | (?P<op>[-+*/<>=~!@\#%^&|?]+)
    """,
    re.VERBOSE | re.DOTALL,
)
_COMMENT = compile_later(r"/\*|\*/")
_KEEPS_SIGN = compile_later(r"[~!@#%^&|?]")


def tokens(text: str, operators: frozenset[str] | None = None) -> list[Token]:
    """The tokens of a text. Raises NotUnderstood."""
    known = operators or word_list("operators")
    found = scan(text, _TOKEN, partial(_read, known=known))
    return [Token(NUMBER, *token[1:]) if token.kind == "bits" else token for token in found]


def _read(text: str, found: list[Token], kind: str, at: int, stop: int, *, known: frozenset[str]) -> int:
    """Adds the token at a place; where the next begins. Raises NotUnderstood."""
    value = text[at:stop]
    if kind == WORD:
        found.append(Token(WORD, _folded(value), at, stop))
    elif kind == "punctuation":
        found.append(Token(OP, value, at, stop))
    elif kind == "op":
        value = _operator(value, known)
        stop = at + len(value)
        found.append(Token(OP, value, at, stop))
    elif kind == "comment":
        stop = _comment(text, stop)
    elif kind in ("string", "escaped", "dollar", "literal"):
        if found and found[-1].kind in (STRING, "bits"):
            raise refuse("a string that goes on in another")
        if kind == "dollar":
            close = text.find(value, stop)
            if close < 0:
                raise refuse(f"a {value} that doesn't end")
            found.append(Token(STRING, text[stop:close], at, close + len(value)))
            stop = close + len(value)
        elif kind == "literal":
            found.append(Token("bits", value, at, stop))
        else:
            inner = value[value.index("'") + 1 : -1].replace("''", "'")
            found.append(Token(STRING, inner, at, stop))
    elif kind == "name":
        found.append(Token(NAME, _short(value[1:-1].replace('""', '"')), at, stop))
    elif kind == "number":
        if text.startswith(".", stop):
            raise refuse("a number with two dots")
        found.append(Token(NUMBER, value, at, stop))
    elif kind == "param":
        found.append(Token(PARAM, value, at, stop))
    elif kind == "unicode":
        raise refuse("a string with Unicode escapes")
    return stop


def _folded(word: str) -> str:
    if not word.isascii():
        plain_word(word)
        if word.lower() != ascii_lower(word):
            raise refuse("a capital letter beyond ASCII outside quotes")
    return _short(ascii_lower(word))


def _short(name: str) -> str:
    if len(name.encode()) > 63:
        raise refuse("a name of more than 63 bytes, which would be cut")
    return name


def _operator(run: str, known: frozenset[str]) -> str:
    """The operator at the start of a run of operator characters."""
    cut = min((at for at in (run.find("--"), run.find("/*")) if at >= 0), default=len(run))
    run = run[:cut]
    if len(run) > 1 and run[-1] in "+-" and not _KEEPS_SIGN.search(run):
        run = run.rstrip("+-") or run[0]
    if run not in known:
        raise refuse(f"the operator {run} isn't known")
    return run


def _comment(text: str, at: int) -> int:
    """Where a comment that began before `at` ends; comments nest."""
    depth = 1
    while depth:
        match = _COMMENT.search(text, at)
        if match is None:
            raise refuse("a comment that doesn't end")
        depth += 1 if match[0] == "/*" else -1
        at = match.end()
    return at
