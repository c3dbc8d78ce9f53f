"""CREATE, ALTER, DROP and TRUNCATE, read from their tokens."""

from __future__ import annotations

from remit.languages.sql.draft import Cursor, Draft
from remit.languages.sql.keywords import word_list
from remit.languages.sql.lexer import NAME, NUMBER, OP, STRING, WORD, Token, plain, refuse
from remit.languages.sql.query import read_query
from remit.languages.sql.statement import Reach

_TABLES = frozenset(("table", "view", "materialized view", "foreign table"))
_FOLLOWED = frozenset(("table", "view", "materialized view", "index", "sequence", "schema", "type", "domain"))
_BEFORE_COLUMN = frozenset(("add", "column", "exists", "modify", "change"))
_OPTIONS = frozenset(
    ("engine", "default", "charset", "character", "set", "collate", "comment", "auto_increment", "row_format", "=")
)
"""Of a table in mysql, those that only say how it is kept."""
_TAILS = (
    ("with", "no", "data"),
    ("with", "data"),
    ("with", "cascaded", "check", "option"),
    ("with", "local", "check", "option"),
    ("with", "check", "option"),
)
_MODIFIERS = frozenset(("or", "temp", "temporary", "local", "global", "unlogged", "unique", "recursive", "foreign"))


def create(cursor: Cursor, draft: Draft) -> None:
    """CREATE … Raises NotUnderstood."""
    temporary = False
    if cursor.take("or", "replace"):
        draft.drops = True
    while (cursor.word() in _MODIFIERS and cursor.word(1) != "table") or cursor.word() in ("temp", "temporary"):
        temporary = temporary or cursor.word() in ("temp", "temporary")
        cursor.at += 1
    while cursor.word() in ("unlogged", "foreign", "local", "global"):
        cursor.at += 1
    kind = _kind(cursor, draft)
    if kind == "trigger":
        _trigger(cursor, draft, temporary)
        return
    if kind == "virtual table":
        _virtual(cursor, draft)
        return
    if kind not in _FOLLOWED:
        draft.unknown.append(f"what a {kind} does isn't followed")
        return
    cursor.take("concurrently")
    cursor.take("if", "not", "exists")
    if kind == "index":
        _index(cursor, draft)
        return
    if kind in ("schema", "type", "domain", "sequence"):
        draft.use("ddl", "*")
        _calls(cursor, draft, 0)
        return
    draft.use("ddl", cursor.name(temporary))
    if kind == "table":
        _table(cursor, draft)
    else:
        _view(cursor, draft)


def alter(cursor: Cursor, draft: Draft) -> None:
    """ALTER … Raises NotUnderstood."""
    kind = _kind(cursor, draft)
    cursor.take("if", "exists")
    cursor.take("only")
    if kind not in _TABLES:
        draft.use("ddl", "*")
        if kind not in _FOLLOWED:
            draft.unknown.append(f"what ALTER {kind.upper()} does isn't followed")
        return
    draft.use("ddl", cursor.name())
    if cursor.take("rename", "to"):
        draft.use("ddl", cursor.name())
    while not cursor.done:
        if cursor.take("drop"):
            draft.drops = True
        elif cursor.word() in ("inherit", "attach", "detach", "owner", "schema", "tablespace", "rule", "swap"):
            draft.unknown.append(f"ALTER TABLE … {cursor.word().upper()} isn't followed")
            return
        elif cursor.take("references"):
            draft.use("ddl", cursor.name())
        else:
            if cursor.word() == "cascade" and cursor.word(-1) not in ("delete", "update"):
                draft.use("ddl", "*")
            if not _is_type(cursor):
                _maybe_call(cursor, draft, 1)
            cursor.at += 1


def _is_type(cursor: Cursor) -> bool:
    """True for the `varchar` of `ADD COLUMN c varchar(32)`: words from the column on, then numbers in brackets."""
    if cursor.word(1) != "(":
        return False
    inside = cursor.at + 2
    while inside < len(cursor.tokens) and (cursor.tokens[inside].kind == NUMBER or cursor.tokens[inside].value == ","):
        inside += 1
    if inside >= len(cursor.tokens) or cursor.tokens[inside].value != ")":
        return False
    back = cursor.at - 1
    while back > 0 and cursor.tokens[back].kind in (WORD, NAME):
        word = cursor.tokens[back].value if cursor.tokens[back].kind == WORD else ""
        if word in _BEFORE_COLUMN:
            return back < cursor.at - 1
        if word in word_list("not_called"):
            return False
        back -= 1
    return False


def drop(cursor: Cursor, draft: Draft) -> None:
    """DROP … Raises NotUnderstood."""
    draft.drops = True
    kind = _kind(cursor, draft)
    cursor.take("concurrently")
    cursor.take("if", "exists")
    if kind not in _TABLES:
        draft.use("ddl", "*")
        if kind not in _FOLLOWED | {"trigger"}:
            draft.unknown.append(f"what DROP {kind.upper()} does isn't followed")
        return
    draft.use("ddl", cursor.name())
    while cursor.take(","):
        draft.use("ddl", cursor.name())
    _cascade(cursor, draft, "ddl")


def truncate(cursor: Cursor, draft: Draft) -> None:
    """TRUNCATE … Raises NotUnderstood."""
    draft.verb, draft.drops = "delete", True
    cursor.take("table")
    while True:
        cursor.take("only")
        table = cursor.name()
        draft.use("delete", table)
        draft.whole.add(table)
        cursor.take("*")
        if not cursor.take(","):
            break
    cursor.take("restart", "identity") or cursor.take("continue", "identity")
    _cascade(cursor, draft, "delete")


def _cascade(cursor: Cursor, draft: Draft, verb: str) -> None:
    if cursor.take("cascade"):
        draft.use(verb, "*")
    else:
        cursor.take("restrict")
    if not cursor.done:
        raise refuse("something behind the names that isn't followed")


def _kind(cursor: Cursor, draft: Draft) -> str:
    kind = cursor.word()
    if not kind.isalpha():
        raise refuse("a kind of thing that isn't known")
    cursor.at += 1
    if kind in ("virtual", "materialized", "foreign") and cursor.word() in ("table", "view", "data"):
        kind = f"{kind} {cursor.word()}"
        cursor.at += 1
    draft.ddl.add(kind)
    if kind in word_list("kinds_of_server"):
        draft.reaches.append(Reach("system", "server", "", kind))
    return kind


def _table(cursor: Cursor, draft: Draft) -> None:
    if cursor.word() in ("partition", "of", "like", "clone"):
        raise refuse("a table made after another")
    if cursor.word() == "(":
        _calls(cursor, draft, 1, stop=True)
    while not cursor.done:
        if cursor.word() in ("inherits", "like", "location", "server", "stage"):
            raise refuse("a table made after another")
        if cursor.take("as"):
            _rest_is_query(cursor, draft)
            return
        if cursor.dialect == "mysql" and (cursor.word() in _OPTIONS or cursor.word(-1) in ("=", *_OPTIONS)):
            cursor.at += 1
            continue
        if cursor.dialect not in ("sqlite", "postgres"):
            raise refuse("something behind the columns of a table that isn't followed")
        cursor.at += 1


def _view(cursor: Cursor, draft: Draft) -> None:
    while not cursor.done:
        if cursor.take("as"):
            _rest_is_query(cursor, draft)
            return
        cursor.at += 1
    raise refuse("a view without a query")


def _rest_is_query(cursor: Cursor, draft: Draft) -> None:
    rest = cursor.tokens[cursor.at :]
    if not rest:
        raise refuse("a query is missing")
    rest = view_query(rest)
    before = draft.source, draft.conflict
    read_query(rest, cursor.text, cursor.dialect, draft)
    draft.source, draft.conflict = before


def view_query(tokens: list[Token]) -> list[Token]:
    """The query of a view, without what is said behind it."""
    for tail in _TAILS:
        if tuple(token.value for token in tokens[-len(tail) :]) == tail:
            return tokens[: -len(tail)]
    return tokens


def _index(cursor: Cursor, draft: Draft) -> None:
    if cursor.word() != "on":
        cursor.name()
    if not cursor.take("on"):
        raise refuse("an index without a table")
    cursor.take("only")
    draft.use("ddl", cursor.name())
    if cursor.take("using"):
        cursor.part()
    _calls(cursor, draft, 0)


def _virtual(cursor: Cursor, draft: Draft) -> None:
    cursor.take("if", "not", "exists")
    draft.use("ddl", cursor.name())
    if not cursor.take("using"):
        raise refuse("a virtual table without a module")
    module = cursor.part()
    draft.call(module)
    draft.strange.add(module)


def _trigger(cursor: Cursor, draft: Draft, temporary: bool) -> None:
    cursor.take("if", "not", "exists")
    cursor.name(temporary)
    while not cursor.done and not cursor.take("on"):
        cursor.at += 1
    draft.use("ddl", cursor.name())
    draft.unknown.append("what a trigger does later isn't followed")


def _calls(cursor: Cursor, draft: Draft, level: int, stop: bool = False) -> None:
    """Functions in expressions, from the cursor on; `level` brackets are those of a list of columns."""
    depth = 0
    while not cursor.done:
        word = cursor.word()
        if word == "(":
            depth += 1
        elif word == ")":
            depth -= 1
            if depth == 0 and stop:
                cursor.at += 1
                return
        elif word == "select":
            raise refuse("a query where none is expected")
        elif word == "where" and depth == 0:
            level = -1  # what follows is an expression, within brackets or not
        elif word == "references":  # its rows can't go as freely from now on
            cursor.at += 1
            draft.use("ddl", cursor.name())
            continue
        elif word == "like" and depth == 1 and cursor.tokens[cursor.at - 1].value in ("(", ","):
            raise refuse("a table made after another")
        _maybe_call(cursor, draft, depth - level)
        cursor.at += 1


def _maybe_call(cursor: Cursor, draft: Draft, depth: int) -> None:
    """Notes the call of a function at the cursor."""
    token = cursor.tokens[cursor.at]
    if cursor.dialect == "postgres" and cursor.word() == "." and cursor.word(-1) in (")", "]"):
        draft.call(plain(cursor.tokens[cursor.at + 1].value) if cursor.at + 1 < len(cursor.tokens) else "?")
        return  # `(x).f` is f(x)
    if token.kind not in (WORD, NAME, STRING) or cursor.word(1) != "(":
        return
    if token.kind == WORD and token.value in word_list("not_called"):
        return
    before = cursor.tokens[cursor.at - 1]
    written = before.kind in (WORD, OP)
    if written and before.value in ("as", "::", "references", "constraint", "index", "key", "type"):
        return
    if depth < 1 and not (written and before.value in ("default", "using", "on")):
        return
    name = plain(token.value)
    if written and before.value == ".":
        name = f"{plain(cursor.tokens[cursor.at - 2].value)}.{name}"
    draft.call(name)
