"""Valid texts made strange: tokens deleted, doubled, swapped and put in, characters changed."""

from __future__ import annotations

import random
import re

_TOKEN = re.compile(r"\s+|--[^\n]*\n?|/\*.*?\*/|'(?:[^']|'')*'|\"[^\"]*\"|`[^`]*`|\[[^\]]*\]|[\w$]+|.", re.DOTALL)
_INSERTED = (
    ";", "--", "/*", "*/", "'", '"', "`", "[", "]", "$$", "$a$", "E", "x", "U&", "(", ")", ",", ".", "\\", "*", "::",
    "SELECT", "FROM", "FROM people", ", people", "JOIN log", "UNION", "UNION SELECT * FROM log", "INTO", "INTO fresh",
    "WITH", "RECURSIVE", "AS", "VALUES", "RETURNING *", "DELETE FROM log", "; DELETE FROM log", "TABLE", "TABLE people",
    "NOT", "IN", "IN people", "ON", "USING (id)", "USING", "SET", "WHERE", "OR", "ONLY", "LATERAL", "LIMIT", "OFFSET",
    "FOR UPDATE", "INDEXED BY", "COLLATE", "WINDOW", "OVER", "FILTER", "ESCAPE", "IS", "NULL", "EXPLAIN", "ANALYZE",
    "DEFAULT", "EXISTS", "CASE", "END", "BEGIN", "CAST", "main.", "public.", "aux.", "temp.", "log", "people", "orders",
    "names", '"people"', "sqlite_schema", "pg_class", "length", "lower(", "random()", "@x", ":y", "?", "?1", "$1", "#",
    "-", "->", "->>", "||", "=", "\f", "\v", "\ufeff", "\u00a0", "\u200b", "\u2028", "\r", "é", "1", "'x'", "ALL",
)  # fmt: skip
_CHARACTERS = "'\"`[]();,.-*/\\$#@:?! \n\r\tabEexU&0_=%|\u00a0\ufeffé"


def mutated(text: str, chance: random.Random) -> str:
    """The text with one to three changes."""
    for _ in range(chance.choice((1, 1, 2, 3))):
        text = _characters(text, chance) if chance.random() < 0.3 else _tokens(text, chance)
    return text


def _tokens(text: str, chance: random.Random) -> str:
    tokens = _TOKEN.findall(text)
    if not tokens:
        return chance.choice(_INSERTED)
    spot = chance.randrange(len(tokens))
    made = chance.randrange(5)
    if made == 0:
        del tokens[spot]
    elif made == 1:
        tokens.insert(spot, tokens[spot])
    elif made == 2:
        other = chance.randrange(len(tokens))
        tokens[spot], tokens[other] = tokens[other], tokens[spot]
    else:
        blank = chance.choice(("", " "))
        tokens.insert(spot, blank + chance.choice(_INSERTED) + blank)
    return "".join(tokens)


def _characters(text: str, chance: random.Random) -> str:
    if not text:
        return text
    spot = chance.randrange(len(text))
    made = chance.randrange(3)
    middle = "" if made == 0 else chance.choice(_CHARACTERS)
    return text[:spot] + middle + text[spot + (made != 1) :]
