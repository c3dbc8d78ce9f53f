"""SELECT, VALUES, INSERT, UPDATE, DELETE and MERGE: parsed in their normal form."""

from __future__ import annotations

import logging
import threading
from bisect import bisect_right
from typing import Any

from remit.languages.sql.draft import Draft
from remit.languages.sql.lexer import WORD, Token, refuse
from remit.languages.sql.normal import Normaliser
from remit.model.text import shown

STARTS = frozenset(("select", "values", "with", "insert", "replace", "update", "delete", "merge", "table"))
_MAIN = {"select": "select", "values": "select", "table": "select", "replace": "insert", "(": "select"}
_MAINS = STARTS - {"with"}
_reading = threading.local()


class _Quiet(logging.Filter):
    """Keeps the parser's warnings out of the log while it works for us, and only then."""

    def filter(self, record: logging.LogRecord) -> bool:
        return not getattr(_reading, "on", False)


def read_query(tokens: list[Token], text: str, dialect: str, draft: Draft) -> None:
    """Adds what a query does to the draft. Raises NotUnderstood."""
    verb = _verb(tokens)
    if not draft.verb:
        draft.verb = verb
    normal = Normaliser(tokens, text, dialect).write()
    from remit.languages.sql.tree import Walker  # here, as below: it brings sqlglot along

    try:
        root = _parse(normal.text, dialect)
    except _Unparsed as problem:
        raise refuse(f"the parser doesn't follow it{_place(tokens, text, normal.starts, problem.at)}") from None
    walker = Walker(normal, dialect)
    walker.walk(root)
    if verb not in walker.verbs:
        raise refuse("the tree doesn't agree with the text")
    draft.verbs |= walker.verbs
    draft.uses.extend(walker.uses)
    draft.ddl |= walker.ddl
    draft.functions |= walker.functions
    draft.strange |= walker.strange
    draft.attributes |= walker.attributes
    draft.whole |= walker.whole
    draft.reaches.extend(walker.reaches)
    draft.pragmas.extend(walker.pragmas)
    draft.returning = draft.returning or walker.returning
    if "insert" in walker.verbs:
        draft.source = walker.source
        draft.conflict = normal.conflict
    elif "update" in walker.verbs and normal.conflict != "none":
        draft.conflict = normal.conflict


def _verb(tokens: list[Token]) -> str:
    """The main verb: the first word, or the one behind the CTEs of WITH."""
    first = tokens[0].value
    if first != "with" or tokens[0].kind != WORD:
        return _MAIN.get(first, first)
    depth = 0
    for place, token in enumerate(tokens):
        if token.kind == "op":
            depth += (token.value == "(") - (token.value == ")")
        elif (
            depth == 0 and token.kind == WORD and token.value in _MAINS and place > 1 and tokens[place - 1].value == ")"
        ):
            return _MAIN.get(token.value, token.value)
        if depth == 0 and token.value == ")" and tokens[place + 1 : place + 2] and tokens[place + 1].value == "(":
            return "select"
    raise refuse("a WITH without a statement")


class _Unparsed(Exception):
    """The parser gave up, at this offset of the normal form; -1 where it doesn't tell."""

    def __init__(self, at: int) -> None:
        self.at = at


def _place(tokens: list[Token], text: str, starts: list[int], at: int) -> str:
    """Where in the text that is, in words."""
    if at < 0:
        return ""
    token = tokens[max(0, bisect_right(starts, at) - 1)]
    line = text.count("\n", 0, token.start) + 1
    column = token.start - text.rfind("\n", 0, token.start)
    return f" at line {line}, column {column}: `{shown(text[token.start : token.start + 30])}`"


def _parse(text: str, dialect: str) -> Any:
    import sqlglot
    from sqlglot.errors import ErrorLevel, ParseError, SqlglotError

    logger = logging.getLogger("sqlglot")
    if not any(isinstance(each, _Quiet) for each in logger.filters):
        logger.addFilter(_Quiet())
    _reading.on = True
    try:
        found = sqlglot.parse(text, read=dialect, error_level=ErrorLevel.IMMEDIATE)
    except ParseError as problem:
        column = problem.errors[0].get("col") if problem.errors else None
        raise _Unparsed(column - 1 if isinstance(column, int) else -1) from None
    except SqlglotError:
        raise _Unparsed(-1) from None
    finally:
        _reading.on = False
    if len(found) != 1 or found[0] is None:
        raise _Unparsed(-1)
    return found[0]
