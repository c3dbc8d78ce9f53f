"""What a SQL text was found to do: its statements, the tables that each uses, and what reaches beyond tables."""

from typing import NamedTuple

from remit.model.pattern import compile_later

DIALECTS = ("sqlite", "postgres", "mysql", "duckdb", "snowflake")
VERBS = ("select", "insert", "update", "delete", "merge", "ddl", "pragma", "transaction")
"""The verbs that a scope can name. A statement with another verb (`attach`, `copy`) is admitted by no scope."""

_LOOKS = compile_later(
    r"(table_x?info|table_list|index_x?info|index_list|foreign_key_(list|check)|database_list|integrity_check"
    r"|quick_check|compile_options|function_list|module_list|collation_list|pragma_list|busy_timeout)"
)
"""Pragmas that change nothing, whatever their argument."""
_ACTING = frozenset(("incremental_vacuum", "optimize", "shrink_memory", "wal_checkpoint"))
"""Pragmas that do something without an argument."""
_LOOKING = frozenset(("show", "describe", "desc"))
"""Other verbs that change nothing."""


class Use(NamedTuple):
    """One table that a statement touches, and how."""

    verb: str
    """`select`, `insert`, `update`, `delete`, `merge` or `ddl`. TRUNCATE deletes."""
    table: str
    """Folded as the database folds it, unquoted, with its schema (`aux.t`) unless that is the default one: main of
    sqlite, public of postgres. `*` stands for any table."""
    columns: frozenset[str] | None = None
    """Columns read or set, folded; None: all of them, or not told by the text."""
    via: str = ""
    """The view or trigger of the schema through which it is touched; empty where the statement itself says so."""
    shown: bool = False
    """A view that the statement names shows it: the verb on the view is one on the table."""
    own: bool = False
    """A read of the table that the statement changes, only to choose its rows and compute their values: WHERE, SET."""
    rows: tuple[frozenset[tuple[str, frozenset[int | str]]], ...] = ()
    """Each time the table is used, or each row that is inserted: the columns that can only have these values there."""


class Reach(NamedTuple):
    """Something beyond tables that a statement reads, writes or runs."""

    effect: str
    """`read`, `write`, `execute`, `network` or `system`."""
    kind: str
    """`path`, `program`, `url`, `host` or `server` (the database server as a whole)."""
    value: str
    """As the text says it; empty where the text doesn't tell."""
    by: str
    """What does it, for people: `VACUUM INTO`, `readfile`, `COPY … PROGRAM`."""


class SqlStatement(NamedTuple):
    """One statement, understood as far as it can be."""

    text: str
    """As it stands in the text."""
    verb: str
    """Its main verb: one of VERBS, or another word in lower case: `attach`, `vacuum`, `copy`, `do`, `set`, `grant`…"""
    verbs: frozenset[str] = frozenset()
    """Every verb in it, those of CTEs included; `EXPLAIN` counts as the statement that it explains."""
    uses: tuple[Use, ...] = ()
    ddl: frozenset[str] = frozenset()
    """What it creates, alters or drops: `table`, `index`, `view`, `trigger`, `function`, `schema`…"""
    drops: bool = False
    """It drops or truncates: what was there is gone."""
    whole: frozenset[str] = frozenset()
    """Tables all of whose rows it deletes or changes: TRUNCATE, and no WHERE, or one that names no column."""
    source: str = ""
    """Of an INSERT: `values` (rows of literals: no WITH, subquery, function or column), `select` (anything else)."""
    conflict: str = ""
    """Of an INSERT: `none`, `ignore` (OR IGNORE, DO NOTHING), or `replace`, `update`, `abort`, `fail`, `rollback`."""
    returning: bool = False
    """It hands rows of what it changed back."""
    pragmas: tuple[str, ...] = ()
    """Names of pragmas, folded, without their schema; `SET x` of postgres counts as the verb `set`."""
    functions: frozenset[str] = frozenset()
    """Every function called, folded, with its schema if it was given."""
    reaches: tuple[Reach, ...] = ()
    unknown: tuple[str, ...] = ()
    """What could not be followed; each makes the statement not understood."""
    explains: bool = False
    """It is an EXPLAIN of what the rest says."""
    strange: tuple[str, ...] = ()
    """Functions that are not known to be harmless, folded: a scope may name them under `functions`."""
    attributes: frozenset[tuple[str, str]] = frozenset()
    """Of postgres, table and name in `t.name`: a column, or a function that is called with the row."""

    @property
    def effects(self) -> frozenset[str]:
        """What it does, in the words of the vocabulary."""
        found = {reach.effect for reach in self.reaches}
        verbs = {use.verb for use in self.uses if not use.own} | self.verbs
        found.update(effect for verb, effect in EFFECTS.items() if verb in verbs)
        if self.drops or (self.verb == "insert" and self.conflict == "replace"):
            found.add("delete")
        if self._sets:
            found.add("write")
        return frozenset(found)

    @property
    def _sets(self) -> bool:
        """It is of another kind (VACUUM, ATTACH), or a pragma that could set something."""
        if self.verb and self.verb not in VERBS and self.verb not in _LOOKING:
            return True
        if all(_LOOKS.fullmatch(name) for name in self.pragmas):
            return False
        return "=" in self.text or "(" in self.text or any(name in _ACTING for name in self.pragmas)


EFFECTS = {
    "select": "read",
    "insert": "write",
    "update": "write",
    "merge": "write",
    "delete": "delete",
    "ddl": "migrate",
}


class SqlUnderstanding(NamedTuple):
    """All statements of a text, or why there are none."""

    text: str
    dialect: str
    statements: tuple[SqlStatement, ...]
    problem: str | None = None
    """Why the text as a whole can't be read; then there are no statements."""
