"""SQL text → statements: what each does, and how well that is known.

for statement in understand_sql("SELECT a FROM t; DROP TABLE t", "sqlite").statements: ...
"""

from __future__ import annotations

from collections import OrderedDict

from remit.languages.sql.draft import Cursor, Draft
from remit.languages.sql.lexer import OP, WORD, Token, lex, refuse
from remit.languages.sql.plain import read_plain
from remit.languages.sql.query import STARTS, read_query
from remit.languages.sql.statement import DIALECTS, SqlStatement, SqlUnderstanding
from remit.model.errors import NotUnderstood

MAX_STATEMENTS = 200
CACHE = 512
_cache: OrderedDict[tuple[str, str], SqlUnderstanding] = OrderedDict()


def understand_sql(text: str, dialect: str) -> SqlUnderstanding:
    """What the text would do. Never raises; repeated texts are remembered, up to a bound."""
    key = (dialect, text)
    found = _cache.get(key)
    if found is not None:
        return found
    found = _understand(text, dialect)
    if len(text) <= 4096:
        _cache[key] = found
        while len(_cache) > CACHE:
            try:
                _cache.popitem(last=False)
            except KeyError:
                break  # another thread emptied it
    return found


def _understand(text: str, dialect: str) -> SqlUnderstanding:
    if dialect not in DIALECTS:
        return SqlUnderstanding(text, dialect, (), f"the dialect {dialect} isn't known")
    try:
        statements = _split(lex(text, dialect), dialect)
        return SqlUnderstanding(text, dialect, tuple(_statement(each, text, dialect) for each in statements))
    except NotUnderstood as error:
        return SqlUnderstanding(text, dialect, (), str(error))
    except RecursionError:
        return SqlUnderstanding(text, dialect, (), "nested too deeply")


def _statement(tokens: list[Token], text: str, dialect: str) -> SqlStatement:
    raw = text[tokens[0].start : tokens[-1].end]
    draft = Draft(dialect)
    try:
        inner = _explained(tokens, dialect)
        draft.explains, tokens = inner is not tokens, inner
        first = tokens[0].value
        is_query = tokens[0].kind == WORD and first in STARTS and (first != "table" or dialect == "postgres")
        if is_query or (tokens[0].kind == OP and first == "("):
            read_query(tokens, text, dialect, draft)
        else:
            read_plain(Cursor(tokens, text, dialect), draft)
    except NotUnderstood as error:
        draft.unknown.append(str(error))
    except RecursionError:
        draft.unknown.append("nested too deeply")
    if not draft.verb:
        draft.verb = tokens[0].value if tokens[0].kind == WORD else "?"
    return draft.done(raw)


def _explained(tokens: list[Token], dialect: str) -> list[Token]:
    """The statement that EXPLAIN explains; the tokens themselves where there is no EXPLAIN."""
    cursor = Cursor(tokens, "", dialect)
    if not cursor.take("explain"):
        return tokens
    if dialect == "sqlite":
        cursor.take("query", "plan")
    elif cursor.take("("):
        while not cursor.done and not cursor.take(")"):
            cursor.at += 1
    else:
        cursor.take("analyze")
        cursor.take("verbose")
    if cursor.done or cursor.word() == "explain":
        raise refuse("an EXPLAIN that isn't followed")
    return tokens[cursor.at :]


def _split(tokens: list[Token], dialect: str) -> list[list[Token]]:
    """The tokens of each statement. Raises NotUnderstood."""
    found: list[list[Token]] = []
    current: list[Token] = []
    depth = 0
    for token in tokens:
        if token.kind != OP or (token.value != ";" and token.value not in "()"):
            current.append(token)
            continue
        if token.value != ";":
            depth += 1 if token.value == "(" else -1
            current.append(token)
        elif (depth > 0 and dialect != "sqlite") or _in_body(current, dialect):
            current.append(token)
        else:
            found.append(current)
            current, depth = [], 0
    found.append(current)
    found = [each for each in found if each]
    if len(found) > MAX_STATEMENTS:
        raise refuse("too many statements")
    return found


def _in_body(tokens: list[Token], dialect: str) -> bool:
    """True if a semicolon after these tokens stands inside the body of a trigger, a function or a procedure."""
    start = 1 if tokens and tokens[0].value == "explain" and tokens[0].kind == WORD else 0
    if len(tokens) < 2 or tokens[start : start + 1] == [] or tokens[start].value != "create":
        return False
    words = [token.value for token in tokens[start : start + 7] if token.kind == WORD]
    if dialect == "sqlite":
        if "trigger" not in words[1:3] and words[:3] != ["explain", "query", "plan"]:
            return False
        last = tokens[-1]
        return not (last.kind == WORD and last.value == "end" and tokens[-2].value == ";")
    if "function" in words or "procedure" in words:
        return any(token.kind == WORD and token.value == "begin" for token in tokens)
    return False
