"""Names, literals, expressions and queries at random: the parts of random SQL texts."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TypeVar

from tests.languages.sql.generator_words import (
    INTEGER_CALLS,
    NAMES,
    RELATIONS,
    TABLES,
    TEXT_CALLS,
    TRICKY,
    Columns,
)

T = TypeVar("T")
GAP = "\x01"
"""Between two tokens, until the statement is whole."""
Source = tuple[str, str, Columns]
"""The text in FROM, the alias, the columns and their types: `i` or `t`."""


def j(*parts: str) -> str:
    return GAP.join(part for part in parts if part)


def separated(items: list[str]) -> list[str]:
    found: list[str] = []
    for item in items:
        found += [",", item] if found else [item]
    return found


def split(text: str) -> list[str]:
    """At gaps, which stay."""
    found: list[str] = []
    for piece in text.split(GAP):
        found += [GAP, piece] if found else [piece]
    return found


class Parts:
    """Makes parts of statements from a seed."""

    def __init__(self, seed: int, dialect: str) -> None:
        self.random = random.Random(seed)  # noqa: S311
        self.sqlite = dialect == "sqlite"
        self.ctes: dict[str, Columns] = {}
        self.depth = 0
        self.aliases = 0
        self.exotic = False
        """It may be written in ways that are rarely seen."""

    def change(self) -> str:
        """An INSERT, UPDATE or DELETE that may stand in a CTE."""
        raise NotImplementedError

    # chance

    def pick(self, *choices: T) -> T:
        return self.random.choice(choices)

    def chance(self, tenths: float) -> bool:
        return self.random.random() * 10 < tenths

    # names

    def name(self, name: str) -> str:
        """A name in one of the ways to write it."""
        if "." in name:
            return self.pick(".", f"{GAP}.", f".{GAP}").join(self.name(part) for part in name.split("."))
        if not name.isidentifier() or name in ("select", "Mixed"):
            return f'"{name}"' if not self.sqlite else self.pick(f'"{name}"', f"`{name}`", f"[{name}]")
        varied = self.pick(name, name, name, name.upper(), name.capitalize())
        if self.sqlite:
            return self.pick(varied, varied, varied, f'"{varied}"', f"[{varied}]", f"`{varied}`")
        escaped = "".join(f"\\{ord(char):04x}" if self.chance(3) else char for char in name)
        return self.pick(varied, varied, varied, f'"{name}"', f'U&"{escaped}"' if self.exotic else varied)

    def alias(self) -> str:
        self.aliases += 1
        return f"{self.pick('a', 'a', 'A') if self.sqlite else 'a'}{self.aliases}"

    def table(self) -> tuple[str, Columns]:
        found = self.pick(*TABLES)
        return found, TABLES[found]

    def qualified(self, table: str) -> str:
        if "." not in table and self.chance(1):
            return f"{self.name('main' if self.sqlite else 'public')}.{self.name(table)}"
        return self.name(table)

    # literals and expressions

    def string(self) -> str:
        inner = "".join(self.pick("a", "b", " ", *TRICKY) for _ in range(self.pick(0, 1, 1, 2, 4)))
        quoted = "'" + inner.replace("'", "''") + "'"
        if self.sqlite or self.chance(6):
            return quoted
        tag = self.pick("", "a", "tag_1", "É")
        if f"${tag}$" not in inner + "$" and "$" not in inner and self.chance(5):
            return f"${tag}${inner}${tag}$"
        return "E'" + inner.replace("\\", "\\\\").replace("'", self.pick("\\'", "''")) + "'"

    def literal(self, kind: str) -> str:
        if kind == "t":
            return self.string()
        return self.pick("1", "0", "-3", "42", "(2)", *(("0x1F", "1e1") if self.sqlite else ("1_000", "0b11")))

    def expression(self, kind: str, sources: Sequence[Source]) -> str:
        self.depth += 1
        try:
            return self._expression(kind, sources)
        finally:
            self.depth -= 1

    def _expression(self, kind: str, sources: Sequence[Source]) -> str:
        columns = [(alias, name) for _, alias, found in sources for name, type_ in found.items() if type_ == kind]
        simple = self.depth > 3 or self.chance(6)
        if columns and simple and self.chance(8):
            alias, name = self.pick(*columns)
            return f"{self.name(alias)}.{self.name(name)}" if alias else self.name(name)
        if simple:
            return self.literal(kind)
        made = self.pick(0, 1, 2, 3, 4, 5, 6, 7)
        if made == 0:
            return j("(", self.scalar(kind, sources), ")")
        if made == 1:
            test, yes, no = self.condition(sources), self.expression(kind, sources), self.expression(kind, sources)
            return j("CASE WHEN", test, "THEN", yes, "ELSE", no, "END")
        if made == 2:
            return f"{self.pick('coalesce', 'COALESCE', 'nullif')}({j(self.expression(kind, sources), ',', self.expression(kind, sources))})"  # noqa: E501
        if made == 3:
            type_ = {"i": "integer", "t": "text"}[kind]
            if not self.sqlite and self.chance(5):
                return f"({self.expression(kind, sources)})::{type_}"
            return f"CAST({j(self.expression(self.pick('i', kind), sources), 'AS', type_)})"
        if made == 4 and kind == "i":
            return j(self.expression("i", sources), self.pick("+", "-", "*", "%"), self.expression("i", sources))
        if made == 5 and kind == "t":
            return j(self.expression("t", sources), "||", self.expression("t", sources))
        if made == 6 and not self.sqlite and kind == "i":
            return j("(ARRAY[", self.expression("i", sources), ",", self.literal("i"), "]::integer[])[1]")
        calls = [call for call in (TEXT_CALLS if kind == "t" else INTEGER_CALLS) if self.sqlite or call[0] != "~"]
        call, _, inner = self.pick(*calls).lstrip("~").partition("|")
        arguments = [self.expression(one, sources) for one in inner]
        return f"{self.pick(call, call.upper(), f'{call} ')}({j(*separated(arguments))})"

    def scalar(self, kind: str, outer: Sequence[Source]) -> str:
        source = self.source()
        return j("SELECT", self.expression(kind, [source, *outer]), "FROM", source[0], "LIMIT 1")

    def condition(self, sources: Sequence[Source]) -> str:
        kind = self.pick("i", "t")
        left = self.expression(kind, sources)
        made = self.pick(0, 0, 1, 2, 3, 4, 5) if self.depth < 3 else 0
        if made == 1:
            source = self.source()
            negated = self.pick("", "NOT")
            return j(left, negated, "IN (SELECT", self.expression(kind, [source]), "FROM", source[0], ")")
        if made == 2:
            source = self.source()
            test = self.expression("i", [source, *sources])
            return j("EXISTS (SELECT", self.pick("1", "*"), "FROM", source[0], "WHERE", test, "> 0 )")
        if made == 3:
            return j(left, self.pick("IS NULL", "IS NOT NULL", "IS DISTINCT FROM " + self.literal(kind)))
        if made == 4:
            return j("(", self.condition(sources), self.pick("AND", "OR"), self.condition(sources), ")")
        if made == 5:
            return j(self.expression("t", sources), self.pick("LIKE", "NOT LIKE"), self.string())
        return j(left, self.pick("=", "<>", "<", ">="), self.expression(kind, sources))

    # queries

    def source(self) -> Source:
        """One thing in FROM."""
        self.depth += 1
        try:
            alias = self.alias()
            if self.ctes and self.chance(4):
                name = self.pick(*self.ctes)
                return j(self.name(name), self.pick("AS", ""), alias), alias, self.ctes[name]
            if self.depth < 3 and self.chance(2):
                text, columns = self.select(1)
                return j("(", text, ")", "AS", alias), alias, columns
            if self.chance(0.7):
                if self.sqlite:
                    call = self.pick("json_each('[1]')", "json_tree('{}')", "pragma_table_info('log')")
                    return j(call, alias), alias, {}
                call = self.pick("generate_series(1, 3)", "unnest(ARRAY[1, 2])")
                return j(call, "AS", f"{alias}(n)"), alias, {"n": "i"}
            if self.chance(0.4) and not self.sqlite:
                return j("( VALUES (1, 'x'), (2, 'y') )", f"AS {alias}(id, v)"), alias, {"id": "i", "v": "t"}
            choices = [name for name in RELATIONS if name not in self.ctes]
            table = self.pick(*choices)
            only = "ONLY" if not self.sqlite and self.chance(0.5) else ""
            if self.sqlite and self.chance(0.5):
                return j(self.qualified(table), "AS", alias, "NOT INDEXED"), alias, RELATIONS[table]
            if self.chance(2) and "." not in table and " " not in table:
                return self.name(table), table, RELATIONS[table]
            return j(only, self.qualified(table), self.pick("AS", ""), alias), alias, RELATIONS[table]
        finally:
            self.depth -= 1

    def sources(self) -> tuple[str, list[Source]]:
        """FROM with its joins."""
        found = [self.source()]
        text = found[0][0]
        for _ in range(self.pick(0, 0, 0, 1, 1, 2)):
            made = self.source()
            if any(made[1].lower() == other[1].lower() for other in found):
                continue
            found.append(made)
            join = self.pick(",", "JOIN", "LEFT JOIN", "CROSS JOIN", "INNER JOIN", "NATURAL JOIN", "LATERAL")
            if join == "LATERAL" and not self.sqlite:
                inner = self.scalar("i", [found[0]])
                alias = self.alias()
                found[-1] = ("", alias, {"l": "i"})
                text = j(text, self.pick("CROSS JOIN", ","), "LATERAL (", inner, ")", f"AS {alias}(l)")
            elif join in (",", "CROSS JOIN") or (join == "NATURAL JOIN" and self.sqlite):
                text = j(text, join, made[0])
            else:
                join = "JOIN" if join in ("LATERAL", "NATURAL JOIN") else join
                text = j(text, join, made[0], "ON", self.condition(found))
        return text, found

    def select(self, least: int = 1, kinds: str = "") -> tuple[str, Columns]:
        """A SELECT without WITH, and the columns that it gives."""
        text, found = self.sources()
        fixed = bool(kinds)
        kinds = kinds or "".join(self.pick("i", "t") for _ in range(max(least, self.pick(1, 1, 2, 3))))
        columns = {f"k{number}": kind for number, kind in enumerate(kinds)}
        items = [j(self.expression(kind, found), self.pick("AS", "AS"), name) for name, kind in columns.items()]
        group = ""
        where = j("WHERE", self.condition(found)) if self.chance(5) else ""
        if self.chance(1) and self.depth < 2 and not fixed:
            call = self.pick("row_number()", "count(*)", "rank()")
            over = j(
                call, "OVER ( PARTITION BY", self.expression("i", found), "ORDER BY", self.expression("t", found), ")"
            )
            items.append(j(over, "AS", "w"))
            columns["w"] = "i"
        elif self.chance(1) and len(kinds) == 1 and kinds == "i":
            items = [j(self.pick("count(*)", "max(1)", "count(DISTINCT 2)"), "AS k0")]
            group = self.pick("", "HAVING count(*) > 0")
        return j(
            "SELECT", self.pick("", "", "", "DISTINCT", "ALL"), *separated(items), "FROM", text, where, group
        ), columns

    def top_query(self) -> str:
        return j(self.with_(), self.query())

    def query(self) -> str:
        if self.chance(0.7):
            return j("SELECT", self.pick("*", "*", f"{self.pick('count', 'COUNT')}(*)"), "FROM", self.source()[0])
        text, columns = self.select()
        if self.chance(1.5):
            operator = self.pick("UNION", "UNION ALL", "EXCEPT", "INTERSECT")
            text = j(text, operator, self.select(kinds="".join(columns.values()))[0])
        if "w" in columns or self.chance(2):
            text = j(text, "ORDER BY 1")
        if self.chance(2):
            text = j(text, "LIMIT", self.pick("1", "3 OFFSET 1"))
        elif not self.sqlite and self.chance(0.6) and not {"UNION", "EXCEPT", "INTERSECT"} & set(text.split(GAP)):
            text = j(text, self.pick("FETCH FIRST 2 ROWS ONLY", "OFFSET 1"))
        return text

    def with_(self, writes: bool = True) -> str:
        """WITH and its CTEs, or nothing; names of tables among them."""
        if not self.chance(3):
            return ""
        items: list[str] = []
        for name in self.random.sample(NAMES, self.pick(1, 1, 2, 3)):
            if not self.sqlite and writes and self.chance(2):
                text, columns = j(self.change(), "RETURNING 1 AS k0"), {"k0": "i"}
            else:
                text, columns = self.select()
            listed = ""
            if self.chance(2):
                columns = {f"z{number}": kind for number, kind in enumerate(columns.values())}
                listed = j("(", *separated(list(columns)), ")")
            items.append(
                j(self.name(name), listed, "AS", self.pick("", "", "MATERIALIZED", "NOT MATERIALIZED"), "(", text, ")")
            )
            self.ctes[name] = columns
        return j("WITH", self.pick("", "", "RECURSIVE"), *separated(items))
