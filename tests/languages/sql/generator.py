"""SQL texts at random, most of them valid for the schema of the fuzz: everything that a reader could get wrong."""

from __future__ import annotations

import re
from collections.abc import Callable

from tests.languages.sql.generator_parts import GAP, Parts, Source, j, separated, split
from tests.languages.sql.generator_shapes import BOTH, POSTGRES, SQLITE
from tests.languages.sql.generator_words import GAPS, POSTGRES_GAPS, RELATIONS, SQLITE_GAPS, TABLES, Columns


class Generator(Parts):
    """Makes one text after the other from a seed."""

    def text(self) -> str:
        """One to three statements."""
        pieces = [self.statement() for _ in range(self.pick(1, 1, 1, 1, 2, 3))]
        between = [piece + self.pick(";", " ;", ";\n", "; ;", ";--;\n") for piece in pieces[:-1]]
        before = self.pick("", "", "", "\n", "/* x */", "-- y\n", ";")
        return before + "".join(between) + pieces[-1] + self.pick("", "", ";", ";\n", " -- z", "; /* q */")

    def statement(self) -> str:
        self.ctes, self.depth, self.aliases = {}, 0, 0
        self.exotic = self.chance(0.4)
        makers: list[Callable[[], str]] = [self.top_query] * 8 + [self.insert] * 4 + [self.update, self.delete] * 3
        makers += [self.ddl] * 2 + [self.odd] + [self.shape] * 5
        made = self.pick(*makers)() if self.sqlite or self.chance(15) else self.merge()
        if self.chance(0.6):
            made = j(self.pick("EXPLAIN", "explain", "EXPLAIN QUERY PLAN" if self.sqlite else "EXPLAIN"), made)
        rare = (SQLITE_GAPS if self.sqlite else POSTGRES_GAPS) if self.exotic else ()
        gaps = (*GAPS, *rare)
        plain = self.chance(5)
        return "".join(
            self.pick(*gaps) if part == GAP and not plain and self.chance(1) else " " if part == GAP else part
            for part in split(made)
        )

    # changes

    def change(self) -> str:
        return self.pick(self.insert, self.update, self.delete)(bare=True)

    def insert(self, bare: bool = False) -> str:
        head = "" if bare else self.with_()
        table, columns = self.table()
        chosen = self.random.sample(sorted(columns), self.random.randint(1, len(columns)))
        verb = self.pick(
            "INSERT", "INSERT", "insert", *(("REPLACE", "INSERT OR IGNORE", "INSERT OR REPLACE") if self.sqlite else ())
        )
        listed = j("(", *separated([self.name(name) for name in chosen]), ")")
        if self.chance(4):
            body = self.select(kinds="".join(columns[name] for name in chosen))[0]
            if self.sqlite:
                body = j(body, "LIMIT 2") if "WHERE" in body else j(body, "WHERE true" if "HAVING" not in body else "")
        elif self.chance(1):
            listed, body = "", "DEFAULT VALUES"
        else:
            rows = [
                j("(", *separated([self.expression(columns[name], []) for name in chosen]), ")")
                for _ in range(self.pick(1, 1, 2))
            ]
            body = j("VALUES", *separated(rows))
        return j(
            head,
            verb,
            "INTO",
            self.qualified(table),
            listed,
            body,
            self.upsert(table, chosen, verb),
            "" if bare else self.returning(columns),
        )

    def upsert(self, table: str, columns: list[str], verb: str) -> str:
        if verb.upper() != "INSERT" or not self.chance(2):
            return ""
        if table in ("people", "orders") and self.chance(6):
            found = [("", "excluded", TABLES[table])]
            column = columns[0]
            where = j("WHERE", self.condition(found)) if self.chance(3) else ""
            value = self.expression(TABLES[table][column], found)
            return j("ON CONFLICT (id) DO UPDATE SET", self.name(column), "=", value, where)
        return "ON CONFLICT DO NOTHING"

    def returning(self, columns: Columns) -> str:
        if not self.chance(2):
            return ""
        return j("RETURNING", self.pick("*", self.name(self.pick(*columns)), self.expression("i", [("", "", columns)])))

    def update(self, bare: bool = False) -> str:
        head = "" if bare else self.with_()
        table, columns = self.table()
        column = self.pick(*columns)
        alias = self.alias()
        own: Source = ("", alias, columns)
        found = [own]
        extra = ""
        if self.chance(3):
            text, more = self.sources()
            found += more
            extra = j("FROM", text)
        where = j("WHERE", self.condition(found)) if self.chance(6) else ""
        value = self.expression(columns[column], found)
        kind = self.pick("", "OR IGNORE", "OR REPLACE") if self.sqlite and self.chance(1) else ""
        target = j("UPDATE", kind, self.qualified(table), "AS", alias, "SET", self.name(column), "=", value)
        return j(head, target, extra, where, "" if bare or extra else self.returning(columns))

    def delete(self, bare: bool = False) -> str:
        head = "" if bare else self.with_()
        table, columns = self.table()
        alias = self.alias()
        found: list[Source] = [("", alias, columns)]
        extra = ""
        if not self.sqlite and self.chance(3):
            text, more = self.sources()
            found += more
            extra = j("USING", text)
        where = j("WHERE", self.condition(found)) if self.chance(7) else ""
        returning = "" if bare or extra else self.returning(columns)
        return j(head, "DELETE FROM", self.qualified(table), "AS", alias, extra, where, returning)

    def merge(self) -> str:
        table, columns = self.table()
        source = self.source()
        own: Source = ("", "m", columns)
        column = self.pick(*columns)
        value = self.expression(columns[column], [own, source])
        matched = self.pick("DELETE", "DO NOTHING", j("UPDATE SET", self.name(column), "=", value))
        inserted = self.pick(
            "DO NOTHING", j("INSERT (", self.name(column), ") VALUES (", self.literal(columns[column]), ")")
        )
        test = self.condition([own, source])
        head = j("MERGE INTO", self.qualified(table), "AS m USING", source[0], "ON", test)
        return j(head, "WHEN MATCHED THEN", matched, "WHEN NOT MATCHED THEN", inserted)

    # the rest

    def ddl(self) -> str:
        table, columns = self.table()
        column = self.name(self.pick(*columns))
        name = self.qualified(table)
        query = self.select()[0]
        temp = self.pick("", "", "TEMP", "TEMPORARY")
        choices = [
            j(
                "CREATE",
                temp,
                "TABLE",
                self.pick("", "IF NOT EXISTS"),
                "fresh ( a",
                self.pick("integer", "text"),
                "DEFAULT 1 , b text )",
            ),
            j("CREATE", temp, "TABLE fresh AS", query),
            j("CREATE", temp, "VIEW fresh AS", query),
            j("CREATE", self.pick("", "UNIQUE"), "INDEX fresh ON", self.name("people"), "( name , lower(secret) )"),
            j("DROP TABLE", self.pick("", "IF EXISTS"), name, "" if self.sqlite else self.pick("", "CASCADE")),
            j("ALTER TABLE", name, "ADD COLUMN fresh text DEFAULT", self.string()),
            j("ALTER TABLE", name, "RENAME", self.pick("", "COLUMN"), column, "TO fresh"),
            j("ALTER TABLE", name, "RENAME TO fresh"),
            j("DROP VIEW", self.name(self.pick("names", "totals"))),
        ]
        if self.sqlite:
            body = self.change()
            body = body if " AS " not in body.replace(GAP, " ") and "." not in body else "DELETE FROM log"
            choices.append(j("CREATE TRIGGER fresh AFTER UPDATE ON people BEGIN", body, "; SELECT 1 ; END"))
            choices.append("CREATE VIRTUAL TABLE fresh USING fts5(a, b)")
        else:
            choices += [j("TRUNCATE", self.pick("", "TABLE"), name), "CREATE SCHEMA fresh", "CREATE SEQUENCE fresh"]
            choices.append(j("CREATE MATERIALIZED VIEW fresh AS", query))
        return self.pick(*choices)

    def shape(self) -> str:
        """A statement of a rare shape, its blanks filled in."""
        made = self.pick(*BOTH, *(SQLITE if self.sqlite else POSTGRES)).replace(" ", GAP)
        while "{" in made:
            blank = re.search(r"\{(t|r|q|one|e|s|c)\}", made)
            if blank is None:
                break
            filled = {
                "t": lambda: self.qualified(self.table()[0]),
                "r": lambda: self.qualified(self.pick(*RELATIONS)),
                "q": lambda: self.select()[0],
                "one": lambda: self.select(kinds="i")[0],
                "e": lambda: self.expression("i", []),
                "s": self.string,
                "c": lambda: self.condition([]),
            }[blank[1]]()
            made = made[: blank.start()] + filled.replace("{", "\x02") + made[blank.end() :]
        return made.replace("\x02", "{")

    def odd(self) -> str:
        """What has a grammar of its own."""
        if self.sqlite:
            values = j("VALUES (", self.expression("i", []), ") , (", self.expression("t", []), ")")
            name = self.name(self.pick("log", "people"))
            return self.pick(
                values, values, "BEGIN", "COMMIT", "SAVEPOINT x", "PRAGMA table_info(log)", "PRAGMA user_version",
                "PRAGMA main.cache_size = 10", "ANALYZE", f"REINDEX{GAP}{name}", "VACUUM", "ATTACH ':memory:' AS more",
                j("SELECT 1 WHERE 1 IN", name), j("SELECT", "name", "FROM sqlite_schema"), "DETACH aux",
            )  # fmt: skip
        text, found = self.sources()
        value = self.expression("i", found)
        return self.pick(
            j("TABLE", self.qualified(self.pick(*RELATIONS))),
            j("SELECT", value, "AS k INTO", self.pick("", "TEMP", "TABLE"), "fresh FROM", text),
            j("SELECT", value, "AS k INTO fresh FROM", text),
            j("VALUES (", self.expression("i", []), ") , (", self.expression("i", []), ")"),
            j("SELECT", value, "FROM", text, "FOR UPDATE" if " AS a" not in text.replace(GAP, " ") else ""),
            j("SELECT * FROM", self.qualified(self.pick(*TABLES)), self.pick("FOR UPDATE", "FOR SHARE")),
            j("(", self.query(), ")"),
            j("SELECT relname FROM", self.pick("pg_class", "pg_catalog.pg_class", "pg_stat_activity AS x(relname)")),
            j("LOCK TABLE", self.qualified(self.pick(*TABLES))),
            "SET search_path = aux", "SHOW work_mem", "NOTIFY x", "SAVEPOINT y",
            j("DECLARE cur CURSOR FOR", self.query()),
            j("PREPARE plan AS", self.query()),
            j("COMMENT ON TABLE", self.name("log"), "IS", self.string()),
        )  # fmt: skip
