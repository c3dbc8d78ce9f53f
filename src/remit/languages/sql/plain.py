"""Statements that are no queries, read from their tokens: PRAGMA, ATTACH, COPY, transactions and the rest."""

from __future__ import annotations

from collections.abc import Callable

from remit.languages.sql import ddl
from remit.languages.sql.draft import Cursor, Draft
from remit.languages.sql.keywords import word_list
from remit.languages.sql.lexer import NAME, NUMBER, STRING, WORD, refuse
from remit.languages.sql.query import STARTS, read_query
from remit.languages.sql.statement import Reach


def read_plain(cursor: Cursor, draft: Draft) -> None:
    """Adds what the statement does to the draft. Raises NotUnderstood."""
    first = cursor.word()
    if not first.isalpha() or cursor.kind() != WORD:
        raise refuse("a statement that doesn't begin with a word")
    cursor.at += 1
    reader = _READERS.get(first)
    if first in ("create", "alter", "drop", "truncate"):
        draft.verb = "ddl"
    elif first in ("begin", "start", "commit", "end", "rollback", "abort", "savepoint", "release"):
        draft.verb = "transaction"
        reader = _transaction
    else:
        draft.verb = first
    if reader is None or first in _VALUED:
        _look_within(cursor, draft, first)
    if reader is not None:
        reader(cursor, draft)
        return
    if first not in word_list("verbs"):
        draft.unknown.append(f"the verb {first} isn't known")
    if first in word_list("server"):
        draft.reaches.append(Reach("system", "server", "", first.upper()))
    if first in ("do", "call", "execute"):
        draft.unknown.append(f"what {first.upper()} runs isn't followed")


_VALUED = frozenset(("set", "reset", "show", "kill", "use", "desc", "describe", "rename"))
"""These may take a value that is computed, and have no other brackets."""


def _look_within(cursor: Cursor, draft: Draft, verb: str) -> None:
    """A query, a statement or a call within a statement of another kind: `SET @a = (SELECT …)`."""
    within = [token.value for token in cursor.tokens[1:] if token.kind == WORD and token.value in STARTS - {"table"}]
    computes = verb in _VALUED and any(
        token.value == "(" and token.kind not in (NAME, STRING) for token in cursor.tokens
    )
    if computes or "select" in within or (verb in _VALUED and within):
        draft.unknown.append(f"what {verb.upper()} computes isn't followed")


def _rename(cursor: Cursor, draft: Draft) -> None:
    """RENAME TABLE of MySQL: both names are tables that are altered."""
    if not cursor.take_any("table", "tables"):
        raise refuse("a RENAME that isn't followed")
    draft.verb = "ddl"
    draft.ddl.add("table")
    while not cursor.done:
        draft.use("ddl", cursor.name())
        if not (cursor.take("to") or cursor.take(",") or cursor.done):
            raise refuse("a RENAME that isn't followed")


def _pragma(cursor: Cursor, draft: Draft) -> None:
    if cursor.dialect != "sqlite":
        draft.unknown.append("PRAGMA isn't followed here")
        return
    name = cursor.part()
    if cursor.take("."):
        name = cursor.part()
    draft.pragmas.append(name)
    if cursor.take("="):
        _pragma_value(cursor)
    elif cursor.take("("):
        _pragma_value(cursor)
        if not cursor.take(")"):
            raise refuse("a PRAGMA that isn't followed")
    if not cursor.done:
        raise refuse("a PRAGMA that isn't followed")


def _pragma_value(cursor: Cursor) -> None:
    signed = cursor.take_any("+", "-")
    kind = cursor.kind()
    if kind not in ((NUMBER,) if signed else (NUMBER, WORD, NAME, STRING)):
        raise refuse("a PRAGMA that isn't followed")
    cursor.at += 1


def _attach(cursor: Cursor, draft: Draft) -> None:
    cursor.take("database")
    path = cursor.string()
    value = path if path is not None and cursor.word() == "as" else ""
    draft.reaches.extend(Reach(effect, "path", value, "ATTACH") for effect in ("read", "write"))


def _vacuum(cursor: Cursor, draft: Draft) -> None:
    if cursor.dialect != "sqlite":
        draft.reaches.append(Reach("system", "server", "", "VACUUM"))
        return
    if cursor.word() != "into" and not cursor.done:
        cursor.part()
    if cursor.take("into"):
        path = cursor.string()
        draft.reaches.append(Reach("write", "path", path if path is not None and cursor.done else "", "VACUUM INTO"))


def _transaction(cursor: Cursor, draft: Draft) -> None:
    first = cursor.tokens[0].value
    named = first in ("savepoint", "release")
    while not cursor.done:
        word = cursor.word()
        if word in word_list("transaction"):
            cursor.at += 1
        elif named or cursor.tokens[cursor.at - 1].value in ("to", "savepoint"):
            cursor.part()
            named = False
        elif cursor.dialect == "sqlite" and cursor.tokens[cursor.at - 1].value == "transaction":
            cursor.part()
        else:
            raise refuse("a transaction statement that isn't followed")


def _copy(cursor: Cursor, draft: Draft) -> None:
    if cursor.dialect != "postgres":
        draft.reaches.append(Reach("system", "server", "", "COPY"))
        return
    if cursor.word() == "(":
        depth, start = 0, cursor.at
        while not cursor.done:
            depth += (cursor.word() == "(") - (cursor.word() == ")")
            cursor.at += 1
            if depth == 0:
                break
        table = None
        read_query(cursor.tokens[start + 1 : cursor.at - 1], cursor.text, cursor.dialect, draft)
    else:
        cursor.take("binary")
        table = cursor.name()
        while not cursor.done and cursor.word() not in ("to", "from"):
            cursor.at += 1
    way = cursor.take_any("to", "from")
    if not way:
        raise refuse("a COPY that isn't followed")
    if table is not None:
        draft.use("select" if way == "to" else "insert", table)
    if cursor.take("program"):
        draft.reaches.append(Reach("execute", "program", cursor.string() or "", "COPY … PROGRAM"))
    elif not cursor.take_any("stdin", "stdout"):
        effect = "write" if way == "to" else "read"
        draft.reaches.append(Reach(effect, "path", cursor.string() or "", f"COPY … {way.upper()}"))


def _declare(cursor: Cursor, draft: Draft) -> None:
    """A cursor reads what its query reads."""
    cursor.part()
    while cursor.word() in ("binary", "asensitive", "insensitive", "no", "scroll"):
        cursor.at += 1
    if not cursor.take("cursor"):
        raise refuse("a DECLARE that isn't followed")
    if cursor.take("with", "hold") or cursor.take("without", "hold"):
        pass
    if not cursor.take("for") or cursor.done:
        raise refuse("a DECLARE that isn't followed")
    read_query(cursor.tokens[cursor.at :], cursor.text, cursor.dialect, draft)


def _prepare(cursor: Cursor, draft: Draft) -> None:
    """A prepared statement does nothing by itself; what it will do is looked into all the same."""
    draft.unknown.append("what PREPARE runs isn't followed")
    draft.reaches.append(Reach("system", "server", "", "PREPARE"))
    while not cursor.done and not cursor.take("as"):
        cursor.at += 1
    if not cursor.done and cursor.dialect == "postgres":
        read_query(cursor.tokens[cursor.at :], cursor.text, cursor.dialect, draft)


def _set(cursor: Cursor, draft: Draft) -> None:
    """Whoever takes another role has what that may do."""
    cursor.take_any("session", "local", "global")
    if cursor.word() in ("role", "authorization", "session_authorization", "password", "session") or cursor.take(
        "default", "role"
    ):
        draft.reaches.append(Reach("system", "server", "", "SET ROLE"))
    elif cursor.tokens[1:2] and (
        cursor.tokens[1].value in ("persist", "persist_only")
        or any(token.kind == WORD and token.value == "global" for token in cursor.tokens)
    ):
        draft.reaches.append(Reach("system", "server", "", "SET GLOBAL"))


def _explain(cursor: Cursor, draft: Draft) -> None:
    raise refuse("an EXPLAIN that isn't followed")


_READERS: dict[str, Callable[[Cursor, Draft], None]] = {
    "pragma": _pragma,
    "attach": _attach,
    "vacuum": _vacuum,
    "copy": _copy,
    "declare": _declare,
    "prepare": _prepare,
    "set": _set,
    "reset": _set,
    "rename": _rename,
    "explain": _explain,
    "create": ddl.create,
    "alter": ddl.alter,
    "drop": ddl.drop,
    "truncate": ddl.truncate,
}
