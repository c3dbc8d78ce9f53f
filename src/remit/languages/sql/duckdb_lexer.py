"""Tokens as DuckDB makes them: those of PostgreSQL, with more operators, and names without case even in quotes."""

from __future__ import annotations

from remit.languages.sql.keywords import word_list
from remit.languages.sql.lexer import NAME, Token, ascii_lower, plain_word, refuse
from remit.languages.sql.postgres_lexer import tokens as postgres_tokens

_MORE = frozenset(("//", "**", "<=>", "~~~", "!~~~", "^@"))


def tokens(text: str) -> list[Token]:
    """The tokens of a text. Raises NotUnderstood."""
    return [_folded(token) if token.kind == NAME else token for token in postgres_tokens(text, operators())]


def operators() -> frozenset[str]:
    """Those of PostgreSQL, and its own; but `#1` is the first column of a table."""
    return frozenset(each for each in word_list("operators") | _MORE if "#" not in each)


def _folded(token: Token) -> Token:
    name = token.value
    if not name.isascii():
        plain_word(name)
        if name.lower() != ascii_lower(name):
            raise refuse("a capital letter beyond ASCII in a name")
    return token._replace(value=ascii_lower(name))
