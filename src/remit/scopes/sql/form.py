"""The format of a `sql:` scope: verbs with their tables, pragmas, functions."""

from __future__ import annotations

import re
from typing import Any

from remit.forms.bound import bound_value
from remit.forms.nodes import Node
from remit.forms.shapes import Choice, Either, Field, Flag, ListOf, MapOf, Reader, Record, Ref, Scalar, Text
from remit.model.text import shown

_NAME = re.compile(r"[^\s'\"`\[\];(),]+(?: [^\s'\"`\[\];(),]+)*")
KINDS = ("table", "index", "view", "trigger", "schema", "sequence", "type", "function", "virtual table")


class _Name(Text):
    """A table, column, pragma or function as the database folds it, without quotes; `*` stands for any characters."""

    def read(self, node: Node, reader: Reader) -> Any:
        text = super().read(node, reader)
        if isinstance(text, str) and not _NAME.fullmatch(text):
            return reader.fail(node.at, "bad-value", f"expected a name without quotes, got `{shown(text)}`")
        return text


class _Value(Scalar):
    """A whole number or a text that a column is compared with."""

    def read(self, node: Node, reader: Reader) -> Any:
        value = super().read(node, reader)
        if type(value) in (bool, float) or value is None:
            return reader.fail(node.at, "bad-value", "expected a whole number or a text")
        return value


_name = _Name()
_names = ListOf(_name, single=True, some=True)
_tables = Either(scalar=_name, list=ListOf(_name, some=True))
_columns = Field(MapOf(_names, what="table"), "by table the only columns that it may touch")
_long = Record({"tables": Field(_tables, "any, or names"), "columns": _columns}, what="a verb")
_insert = Record(
    {
        "tables": Field(_tables, "any, or names"),
        "columns": _columns,
        "from": Field(Choice("values", "select"), "values: literals alone; select: any source"),
        "conflict": Field(
            ListOf(Choice("none", "ignore", "update", "replace", "any"), single=True),
            "none by default: a plain INSERT; or what may happen to rows that are there",
        ),
    },
    lambda values, node, reader: {key: _plain(value) if key == "conflict" else value for key, value in values.items()},
    what="insert",
)
_kinds = ListOf(Choice(*KINDS), single=True, some=True)
_ddl = Either(
    scalar=Choice("any", *KINDS),
    list=ListOf(Choice(*KINDS), some=True),
    map=Record(
        {
            "kinds": Field(_kinds, "kinds: table, index, view, trigger …"),
            "tables": Field(_tables, "any, or names"),
        },
        what="ddl",
    ),
)


def _plain(words: list[str]) -> str | list[str]:
    return "any" if "any" in words else words


_values = Either(scalar=_Value(), list=ListOf(_Value(), some=True), map=bound_value)
_verb = Either(scalar=_name, list=ListOf(_name, some=True), map=_long)
_scope = Record(
    {
        "select": Field(_verb, "tables that it may read"),
        "insert": Field(Either(scalar=_name, list=ListOf(_name, some=True), map=_insert), "tables it may insert into"),
        "update": Field(_verb, "tables that it may update"),
        "delete": Field(_verb, "tables that it may delete from"),
        "merge": Field(_verb, "tables that it may merge into"),
        "ddl": Field(_ddl, "what it may create, alter and drop"),
        "pragma": Field(_tables, "pragmas that it may use"),
        "transaction": Field(Flag(), "BEGIN, COMMIT, ROLLBACK, SAVEPOINT"),
        "explain": Field(Flag(), "EXPLAIN of what it may do"),
        "functions": Field(_names, "functions beyond those known to be harmless"),
        "rows": Field(
            MapOf(MapOf(_values, what="column"), what="table"),
            "by table the only rows that it may reach: a column and its value, or values, or {task: NAME}",
        ),
    },
    what="a sql scope",
)
sql_scope = Ref("sql-scope", lambda: _scope)
