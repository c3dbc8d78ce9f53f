"""A statement while it is being read, and a cursor over its tokens."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from remit.languages.sql.functions import is_harmless, reaches
from remit.languages.sql.lexer import NAME, NUMBER, OP, STRING, WORD, Token, ascii_lower, plain, refuse
from remit.languages.sql.statement import Reach, SqlStatement, Use
from remit.model.pattern import compile_later

DEFAULT_SCHEMA = {"sqlite": "main", "postgres": "public"}


_CATALOG_SCHEMAS = frozenset(("pg_catalog", "information_schema", "mysql", "performance_schema", "sys"))


def is_catalog(dialect: str, table: str) -> bool:
    """True for a table in which the database keeps its own roles, settings and objects."""
    schema, _, name = table.rpartition(".")
    if schema:
        return schema in _CATALOG_SCHEMAS
    return dialect == "postgres" and name.startswith("pg_")


_TELLING = compile_later(
    r"(pg_catalog\.)?(pg_stats|pg_stats_ext|pg_stats_ext_exprs|pg_statistic|pg_statistic_ext_data|pg_largeobject"
    r"|pg_stat_activity|pg_stat_statements)|(\w+\.)?sqlite_stat[34]|mysql\.(column_stats|general_log|slow_log)"
    r"|information_schema\.(column_statistics|processlist)|performance_schema\.\w+|sys\.\w+",
    re.IGNORECASE,
)
"""Tables in which a database keeps values of other tables, or statements with such values in them."""


def tells_of_others(table: str) -> bool:
    """True for a table of the database's own that shows what is in other tables."""
    return _TELLING.fullmatch(table) is not None


@dataclass
class Draft:
    """What has been found of one statement."""

    dialect: str
    verb: str = ""
    verbs: set[str] = field(default_factory=set)
    uses: list[Use] = field(default_factory=list)
    ddl: set[str] = field(default_factory=set)
    drops: bool = False
    whole: set[str] = field(default_factory=set)
    source: str = ""
    conflict: str = ""
    returning: bool = False
    pragmas: list[str] = field(default_factory=list)
    functions: set[str] = field(default_factory=set)
    reaches: list[Reach] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    explains: bool = False
    strange: set[str] = field(default_factory=set)
    attributes: set[tuple[str, str]] = field(default_factory=set)

    def call(self, name: str, argument: str = "") -> None:
        """Notes a function that is called."""
        name = name.lower() if self.dialect == "mysql" else name
        self.functions.add(name)
        if not is_harmless(self.dialect, name):
            self.strange.add(name)
        self.reaches.extend(reaches(self.dialect, name, argument))

    def use(self, verb: str, table: str) -> None:
        """Notes a table that is used as a whole."""
        if self.dialect == "sqlite" and verb != "select" and table.rpartition(".")[2].startswith("sqlite_"):
            raise refuse(f"a change of {table}, which is SQLite's own")
        self.uses.append(Use(verb, table))

    def done(self, text: str) -> SqlStatement:
        """The statement."""
        told: list[Use] = []
        for use in self.uses:
            if use.verb != "select" and is_catalog(self.dialect, use.table):
                self.reaches.append(Reach("system", "server", "", f"a change of {use.table}"))
            if tells_of_others(use.table):
                told.append(Use("select", "*", via=use.table, shown=True))
        return SqlStatement(
            text,
            self.verb,
            frozenset(self.verbs | {self.verb}),
            tuple(dict.fromkeys(self.uses + told)),
            frozenset(self.ddl),
            self.drops,
            frozenset(self.whole),
            self.source,
            self.conflict,
            self.returning,
            tuple(dict.fromkeys(self.pragmas)),
            frozenset(self.functions),
            tuple(dict.fromkeys(self.reaches)),
            tuple(dict.fromkeys(self.unknown)),
            self.explains,
            tuple(sorted(self.strange)),
            frozenset(self.attributes),
        )


class Cursor:
    """Reads the tokens of a statement one after the other."""

    def __init__(self, tokens: list[Token], text: str, dialect: str, at: int = 0) -> None:
        self.tokens = tokens
        self.text = text
        self.dialect = dialect
        self.at = at

    @property
    def done(self) -> bool:
        return self.at >= len(self.tokens)

    def word(self, ahead: int = 0) -> str:
        """The word or operator at the cursor; empty for all else."""
        at = self.at + ahead
        token = self.tokens[at] if at < len(self.tokens) else None
        return token.value if token is not None and token.kind in (WORD, OP) else ""

    def kind(self) -> str:
        return "" if self.done else self.tokens[self.at].kind

    def take(self, *words: str) -> bool:
        """Steps over these words, if they stand here."""
        if any(self.word(ahead) != word for ahead, word in enumerate(words)):
            return False
        self.at += len(words)
        return True

    def take_any(self, *words: str) -> str:
        """Steps over one of these words; which it was."""
        found = self.word()
        if found not in words or not found:
            return ""
        self.at += 1
        return found

    def string(self) -> str | None:
        """Steps over a string."""
        if self.kind() != STRING:
            return None
        self.at += 1
        return self.tokens[self.at - 1].value

    def number(self) -> bool:
        if self.kind() != NUMBER:
            return False
        self.at += 1
        return True

    def part(self) -> str:
        """Steps over one name. Raises NotUnderstood."""
        kinds = (WORD, NAME, STRING) if self.dialect == "sqlite" else (WORD, NAME)
        if self.kind() not in kinds:
            raise refuse("a name is missing")
        token = self.tokens[self.at]
        self.at += 1
        if token.kind == WORD and self.dialect == "mysql":
            return self.text[token.start : token.end]
        return plain(ascii_lower(token.value) if token.kind == STRING else token.value)

    def name(self, temporary: bool = False) -> str:
        """Steps over a name with its schema, which is left out if it is the default one. Raises NotUnderstood."""
        first = self.part()
        if not self.take("."):
            if temporary:
                return f"{'temp' if self.dialect == 'sqlite' else 'pg_temp'}.{first}"
            return first
        second = self.part()
        if self.word() == ".":
            raise refuse("a name of three parts")
        if first == DEFAULT_SCHEMA.get(self.dialect):
            return second
        return f"{first}.{second}"
