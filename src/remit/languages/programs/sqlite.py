"""The sqlite3 shell's language: SQL and dot-commands, on the command line and in standard input.

Standard input is read line by line: a line that starts with `.` is a dot-command and one that starts with `#` a
comment, but only where no statement has begun. An argument is one or the other as a whole, by its first character.
"""

from __future__ import annotations

import re

from remit.languages.programs.meta import MetaCall
from remit.model.pattern import compile_later

_BLANK = compile_later(r"(?:\s|--[^\n]*(?:\n|\Z)|/\*(?:[^*]|\*(?!/))*\*/)*")
"""White space and comments."""
_SPACE = " \t\n\v\f\r"
_ENDS = compile_later(r"\s*(?:/|go)\s*;?\s*", re.IGNORECASE)
"""Lines that end a statement as `;` does."""
MAX_LINES = 5000

Piece = str | MetaCall
"""SQL text, or a dot-command."""


def sqlite_argument(text: str) -> tuple[list[Piece], str | None]:
    """What an argument behind the file name, or the value of `-cmd`, runs; or why that isn't certain."""
    if any(line.startswith(".") for line in text.split("\n")[1:]):
        return [], "a line of an argument starts with a dot"  # SQL in some versions, a dot-command in others
    if text.startswith("."):
        return ([], "a dot-command of several lines") if "\n" in text else ([dot_command(text)], None)
    return ([text] if text.strip() else []), None


def sqlite_input(text: str) -> tuple[list[Piece], str | None]:
    """What standard input runs, in order; or why that isn't certain."""
    pieces: list[Piece] = []
    sql: list[str] = []
    lines = text.split("\n")
    if len(lines) > MAX_LINES or "\0" in text:
        return [], "standard input is too long or holds a NUL"
    for line in lines:
        if _ENDS.fullmatch(line):
            return [], f"the line `{line.strip()}` ends a statement"
        if line[:1] not in (".", "#"):
            sql.append(line)
            continue
        before = "\n".join(sql)
        if not _is_ended(before):
            return [], f"the line `{line[:40]}` stands within a statement"
        if before.strip():
            pieces.append(before)
        sql = []
        if line[0] == ".":
            pieces.append(dot_command(line))
    rest = "\n".join(sql)
    return ([*pieces, rest] if rest.strip() else pieces), None


def _is_ended(sql: str) -> bool:
    """No statement has begun and not ended."""
    if _BLANK.fullmatch(sql):
        return True
    from sqlite3 import complete_statement  # here: few texts need it

    return complete_statement(sql)


def dot_command(line: str) -> MetaCall:
    """A dot-command as the shell splits it: words by white space, in quotes with escapes in the double ones."""
    words: list[str] = []
    at, sure = 1, "\\" not in line
    while at < len(line):
        if line[at] in _SPACE:
            at += 1
            continue
        quote = line[at] if line[at] in "'\"" else ""
        start = at = at + len(quote)
        while at < len(line) and (line[at] != quote if quote else line[at] not in _SPACE):
            at += 2 if quote == '"' and line[at] == "\\" else 1
        words.append(line[start:at])
        at += len(quote)
    name = words[0] if words else ""
    shell = " ".join(f'"{word}"' if " " in word else word for word in words[1:])
    return MetaCall(name, tuple(words[1:]), line, shell, sure)
