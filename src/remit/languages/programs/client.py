"""Database clients: the SQL and the meta-commands that a command runs, and what they do."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

from remit.languages.bash.reading import Names, Reading, Word
from remit.languages.bash.script import Command
from remit.languages.programs.meta import MetaCall, everything, hidden, run_meta
from remit.languages.programs.psql import psql_argument, psql_input, psql_meta, read_address
from remit.languages.programs.sqlite import sqlite_argument, sqlite_input
from remit.languages.sql.statement import Reach, SqlStatement
from remit.model.pattern import compile_later

Pieces = tuple[list[str | MetaCall], str | None]
MEMORY = ("", ":memory:")
"""Databases that are no file."""
FILED = frozenset(("sqlite3", None))
"""Clients whose databases are files; the others name one of a server."""
_CHANGES = frozenset(("write", "delete", "migrate"))
_ALONE = frozenset(("-V", "--version", "-version", "-l", "--list", "-?", "--help", "-help"))
_MYSQL = compile_later(
    r"\s*(clear|connect|delimiter|edit|ego|exit|go|help|nopager|notee|pager|print|prompt|quit|rehash|resetconnection"
    r"|query_attributes|source|ssl_session_data_print|status|system|tee|use|warnings|nowarning|charset|\?)(?!\w)",
    re.IGNORECASE,
)
"""Commands of the mysql client itself."""


class Input(NamedTuple):
    """What is on a program's standard input."""

    text: str | None = None
    """To the letter, where the text shows it."""
    present: bool = False
    """Something is there: a pipe, a file or a here-document."""
    file: Word | None = None
    """The file that it comes from."""
    names: Names | None = None
    """The names of files that it has, where the text shows whose."""


def read_client(special: str | None, out: Reading, seen: set[str], command: Command, given: Input) -> frozenset[str]:
    """Adds what the SQL and the meta-commands do; returns the effects that are the SQL's alone."""
    if special in ("psql", "pg_dump"):
        named = [read_address(word, out) for word in out.databases]
        out.databases[:] = [word for word in named if word is not None]
    if special not in _CLIENTS:
        if special in ("pg_dump", "mysqldump"):
            out.statements.append(everything(command.raw))
        _databases(special, out)
        return frozenset()
    client = _CLIENTS[special]
    if special == "sqlite3" and _is_ended(command):
        out.unknown.append("`--` is the end of options in some versions, and an error in others")
    for word in out.sqls:
        if word.glob:
            out.unknown.append(f"`{word.raw}` is a pattern")
        if word.text is not None:
            _run(special, client.argument(word.text), out)
    if given.text is not None:
        _run(special, client.given(given.text), out)
    elif given.present and client.reads(seen, command, len(out.sqls)):
        hidden(out, given.file)
    if not seen.isdisjoint(("-f", "--file", "-init", "--init")):
        out.statements.append(SqlStatement(command.raw, "", unknown=("the SQL of a file is not in the text",)))
    before = frozenset(out.effects)
    for statement in out.statements:
        _join(statement, out)
    _databases(special, out)
    return frozenset(out.effects) - before


def _is_ended(command: Command) -> bool:
    """A word says that the options end, as far as the value of an option can be told."""
    words = [word.text or "" for word in command.words]
    return any(word in ("-", "--") and not before.startswith("-") for before, word in pairwise(words))


def _run(special: str | None, pieces: Pieces, out: Reading) -> None:
    """Adds the SQL and the meta-commands of a text, in their order."""
    found, reason = pieces
    if reason is not None:
        out.unknown.append(reason)
    for piece in found:
        query: str | None = None
        if isinstance(piece, str):
            query = piece
        elif special == "psql":
            query = psql_meta(piece, out)
        else:
            run_meta("sqlite3", piece, out)
        if query is not None and special is not None:
            _understand(query, _CLIENTS[special].dialect, out)


def _understand(text: str, dialect: str, out: Reading) -> None:
    from remit.languages.sql.understand import understand_sql  # here: it brings sqlglot along

    found = understand_sql(text, dialect)
    if found.problem is not None:
        out.statements.append(SqlStatement(text, "", unknown=(found.problem,)))
        out.unknown.append(found.problem)
    for statement in found.statements:
        out.statements.append(statement)
        out.unknown.extend(statement.unknown)


def _join(statement: SqlStatement, out: Reading) -> None:
    """The effects and reaches of a statement become the command's."""
    out.effects |= statement.effects
    for reach in statement.reaches:
        _reach(reach, out)


def _reach(reach: Reach, out: Reading) -> None:
    if reach.kind == "path" and reach.value:
        out.touch("write" if reach.effect == "write" else "read", Word(reach.value, reach.value))
    elif reach.kind == "url" and reach.value:
        out.url(Word(reach.value, reach.value))
    elif reach.kind == "host" and reach.value:
        out.host(Word(reach.value, reach.value))
    elif reach.kind != "server":
        out.unknown.append(f"{reach.by} would {reach.effect} {reach.value or 'what the text does not tell'}")


def _databases(special: str | None, out: Reading) -> None:
    """A database file is read, and written where the SQL changes something."""
    changed = special is not None and any(not _CHANGES.isdisjoint(s.effects) for s in out.statements)
    for word in out.databases if special in FILED else ():
        if (word.text or "").startswith("file:"):
            out.unknown.append(f"`{word.text}` is a URI of a database")
        if word.glob:
            out.unknown.append(f"`{word.raw}` could be more than one word")
        if word.text in MEMORY:
            continue
        out.touch("read", word)
        if changed:
            out.touch("write", word)


def _mysql_input(text: str) -> Pieces:
    """SQL for mysql, unless something in it is or could be a command of the client itself."""
    if "\\" in text or "/*!" in text or "/*M!" in text:
        return [], "a backslash or a conditional comment"
    for part in re.split(r"[;\n]", text):
        if first := _MYSQL.match(part):
            return [], f"`{first[1]}` is a command of the client"
    return ([text] if text.strip() else []), None


class _Client(NamedTuple):
    """How one client reads what it is given."""

    dialect: str
    argument: Callable[[str], Pieces]
    given: Callable[[str], Pieces]
    reads: Callable[[set[str], Command, int], bool]
    """True if it reads standard input: (its options, the command, how many texts it was given)."""


def _sqlite_reads(seen: set[str], command: Command, count: int) -> bool:
    before = sum(word.text in ("-cmd", "--cmd") for word in command.words)
    return count <= before and seen.isdisjoint(_ALONE)


_CLIENTS = {
    "sqlite3": _Client("sqlite", sqlite_argument, sqlite_input, _sqlite_reads),
    "psql": _Client(
        "postgres",
        psql_argument,
        psql_input,
        lambda seen, _, count: count == 0 and seen.isdisjoint((*_ALONE, "-f", "--file")),
    ),
    "mysql": _Client(
        "mysql",
        _mysql_input,
        _mysql_input,
        lambda seen, _, count: seen.isdisjoint((*_ALONE, "-e", "--execute")),
    ),
}
