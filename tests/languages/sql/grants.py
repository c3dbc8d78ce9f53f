"""Random scopes as column privileges, and random statements: whatever a scope admits, the database must permit.

`python -m tests.languages.sql.grants --count 20000 --seed 1 [--sqlite | --mariadb]`
"""

# ruff: noqa: S311, S608

from __future__ import annotations

import argparse
import random
import sqlite3
import sys
from typing import Any, NamedTuple, Protocol

import psycopg

from remit.languages.sql.understand import understand_sql
from remit.scopes.sql.scope import SqlMatcher
from tests import mariadb
from tests.postgres import Postgres, running

TABLES = {
    "users": ("id", "name", "password", "age"),
    "orders": ("id", "customer", "total", "note"),
    "log": ("id", "line", "password"),
}
SCHEMA = "\n".join(
    f"CREATE TABLE {table} ({' integer, '.join(columns)} integer, UNIQUE (id));" for table, columns in TABLES.items()
)
ALIASES = ("u", "o", "x", "users", "orders", "log", "id", "password")


class Privileges(NamedTuple):
    """What a role may do, by verb and table: the columns."""

    select: dict[str, tuple[str, ...]]
    insert: dict[str, tuple[str, ...]]
    update: dict[str, tuple[str, ...]]
    delete: tuple[str, ...]
    conflict: str

    def scope(self) -> dict[str, Any]:
        """The same as a `sql:` scope."""
        found: dict[str, Any] = {"explain": True, "transaction": True}
        for verb, columns in (("select", self.select), ("insert", self.insert), ("update", self.update)):
            if columns:
                limits = {table: list(names) for table, names in columns.items()}
                found[verb] = {"tables": list(columns), "columns": limits}
        if "insert" in found:
            found["insert"]["conflict"] = self.conflict
        if self.delete:
            found["delete"] = list(self.delete)
        return found


def privileges(draw: random.Random) -> Privileges:
    """Random ones."""

    def some(share: float) -> dict[str, tuple[str, ...]]:
        chosen = {}
        for table, columns in TABLES.items():
            names = tuple(name for name in columns if draw.random() < 0.6)
            if names and draw.random() < share:
                chosen[table] = names
        return chosen

    delete = tuple(table for table in TABLES if draw.random() < 0.4)
    return Privileges(some(0.8), some(0.5), some(0.6), delete, draw.choice(("none", "ignore", "update")))


class Writer:
    """Writes random statements."""

    def __init__(self, draw: random.Random, dialect: str) -> None:
        self.draw = draw
        self.postgres = dialect == "postgres"
        self.mysql = dialect == "mysql"
        self.ctes: list[str] = []

    def maybe(self, share: float, text: str) -> str:
        return text if self.draw.random() < share else ""

    def statement(self) -> str:
        kind = self.draw.random()
        if kind < 0.4:
            text = self.query(2)
        elif kind < 0.5:
            text = self.common()
        else:
            text = self.change()
        prefix = self.draw.random()
        if prefix < 0.06:
            return f"EXPLAIN {text}"
        if self.postgres and prefix < 0.1:
            return f"DECLARE c CURSOR FOR {text}"
        if self.postgres and prefix < 0.12:
            return f"PREPARE p AS {text}"
        return text

    def common(self) -> str:
        body = self.query(1)
        if self.postgres and self.draw.random() < 0.5:
            body = self.change()
        name = self.draw.choice(("c", "users", "log"))
        main = self.change() if self.draw.random() < 0.3 else self.query(1, name)
        return f"WITH {name} AS ({body}) {main}"

    def change(self) -> str:
        table = self.draw.choice(list(TABLES))
        columns = TABLES[table]
        alias = self.draw.choice(ALIASES) if self.draw.random() < 0.4 else ""
        named = f"{table} AS {alias}" if alias else table
        inside = [(alias or table, columns)]
        kind = self.draw.choice(("insert", "update", "update", "delete"))
        if kind == "insert":
            names = self.draw.sample(columns, self.draw.randint(1, len(columns)))
            source = f"VALUES ({', '.join(str(self.draw.randint(1, 9)) for _ in names)})"
            if self.draw.random() < 0.4:
                source = self.query(1, width=len(names)) + self.maybe(0.5, " WHERE true" if self.postgres else "")
            text = f"INSERT INTO {table} ({', '.join(names)}) {source}"
            conflicts = self.draw.random() < 0.4 and "SELECT" not in source
            if conflicts and self.mysql:
                if self.draw.random() < 0.4:
                    text = text.replace("INSERT", "INSERT IGNORE", 1)
                else:
                    text += (
                        f" ON DUPLICATE KEY UPDATE {self.draw.choice(columns)} = {self.value([(table, columns)], 0)}"
                    )
            elif conflicts:
                text += " ON CONFLICT (id) " + (
                    "DO NOTHING"
                    if self.draw.random() < 0.4
                    else f"DO UPDATE SET {self.draw.choice(columns)} = {self.value([(table, columns)], 0)}"
                    + self.maybe(0.4, f" WHERE {self.condition([(table, columns)], 0)}")
                )
            inside = [(table, columns)]
        else:
            others = ""
            joined: list[tuple[str, tuple[str, ...]]] = []
            if self.draw.random() < 0.4 and not self.mysql and (self.postgres or kind == "update"):
                # what is joined in an UPDATE's FROM is a subquery to SQLite, which reads all of its columns
                others, joined = self.tables(most=2 if self.postgres else 1)
            word = "FROM" if kind == "update" else "USING"
            inside = inside + joined
            head = f"DELETE FROM {named}"
            if kind == "update":
                sets = [
                    f"{self.draw.choice(columns)} = {self.value(inside, 1)}" for _ in range(self.draw.choice((1, 1, 2)))
                ]
                head = f"UPDATE {named} SET {', '.join(sets)}"
            text = head + (f" {word} {others}" if others else "")
            text += self.maybe(0.6, f" WHERE {self.condition(inside, 1)}")
        if self.draw.random() < 0.3:
            text += f" RETURNING {self.outputs(inside, self.draw.randint(1, 2))}"
        return text

    def tables(self, cte: str = "", most: int = 2) -> tuple[str, list[tuple[str, tuple[str, ...]]]]:
        """What stands in FROM, and its aliases with their columns."""
        found: list[tuple[str, tuple[str, ...]]] = []
        text = ""
        for place in range(min(most, self.draw.choice((1, 1, 2)))):
            name = cte if cte and place == 0 else self.draw.choice(list(TABLES))
            columns = TABLES.get(name, ("id", "password"))
            alias = self.draw.choice(ALIASES) if self.draw.random() < 0.5 else ""
            item = f"{name} AS {alias}" if alias else name
            if self.draw.random() < 0.15:
                alias = alias or "s"
                item = f"({self.query(0)}) AS {alias}"
                columns = ("id", "password", "name")
            here = (alias or name, columns)
            if place == 0:
                text = item
            else:
                joined = [*found, here]
                text += self.draw.choice(
                    (f", {item}", f" JOIN {item} ON {self.condition(joined, 0)}", f" JOIN {item} USING (id)")
                    + ((f" NATURAL JOIN {item}",) if self.draw.random() < 0.3 else ())
                )
            found.append(here)
        return text, found

    def query(self, depth: int, cte: str = "", width: int = 0) -> str:
        source, inside = self.tables(cte)
        text = f"SELECT {self.outputs(inside, width or self.draw.randint(1, 3), width == 0)} FROM {source}"
        text += self.maybe(0.5, f" WHERE {self.condition(inside, depth)}")
        if not width:
            text += self.maybe(0.3, f" ORDER BY {self.draw.choice(('', '+', '-'))}{self.column(inside)}")
            text += self.maybe(0.12, " LIMIT 3")
            if self.postgres:
                text += self.maybe(0.15, self.draw.choice((" FOR UPDATE", " FOR SHARE")))
            if self.mysql:
                text += self.maybe(0.15, self.draw.choice((" FOR UPDATE", " LOCK IN SHARE MODE")))
        return text

    def outputs(self, inside: list[tuple[str, tuple[str, ...]]], width: int, free: bool = True) -> str:
        items = []
        for _ in range(width):
            item = self.value(inside, 1)
            if free and self.draw.random() < 0.3:
                alias, columns = self.draw.choice(inside)
                item = self.draw.choice(("*", f"{alias}.*", "count(*)", f"{item} AS password", f"{item} AS id"))
                if self.postgres and self.draw.random() < 0.4:
                    column = self.draw.choice(columns)
                    item = self.draw.choice(
                        (
                            f"({alias}).{column}",
                            f"{alias}.to_json",
                            f"({alias}).row_to_json",
                            f"to_json({alias})",
                            alias,
                        )
                    )
            items.append(item)
        return ", ".join(items)

    def column(self, inside: list[tuple[str, tuple[str, ...]]]) -> str:
        alias, columns = self.draw.choice(inside)
        if self.draw.random() < 0.15:
            columns = self.draw.choice(list(TABLES.values()))
        name = self.draw.choice(columns)
        return f"{alias}.{name}" if self.draw.random() < 0.6 else name

    def value(self, inside: list[tuple[str, tuple[str, ...]]], depth: int) -> str:
        kind = self.draw.random()
        if kind < 0.2:
            return str(self.draw.randint(0, 9))
        if kind < 0.7 or depth < 1:
            return self.column(inside)
        if kind < 0.85:
            return f"({self.column(inside)} + {self.draw.choice(('+', ''))}{self.column(inside)})"
        source, own = self.tables()
        item = self.value([*own, *inside], depth - 1)
        return f"(SELECT max({item}) FROM {source}{self.maybe(0.5, f' WHERE {self.condition([*own, *inside], 0)}')})"

    def condition(self, inside: list[tuple[str, tuple[str, ...]]], depth: int) -> str:
        left, right = self.column(inside), self.value(inside, depth)
        if depth and self.draw.random() < 0.2:
            source, own = self.tables()
            return f"EXISTS (SELECT 1 FROM {source} WHERE {self.condition([*own, *inside], 0)})"
        return f"{left} {self.draw.choice(('=', '<', 'IS NOT DISTINCT FROM' if self.postgres else '>'))} {right}"


class Database(Protocol):
    """A database that can say whether a role may do something."""

    dialect: str

    def grant(self, given: Privileges) -> None: ...

    def look(self, text: str) -> str:
        """`permitted`, `denied: why`, or `wrong: why` for a text that is none of its statements."""


class PgGrants:
    """A PostgreSQL with a role that has the privileges."""

    dialect = "postgres"

    def __init__(self, server: Postgres) -> None:
        database = server.new_database()
        self.role = f"granted_{database}"
        self.connection = server.connect(database, autocommit=True)
        self.connection.execute(SCHEMA.encode())
        self.connection.execute(f"CREATE ROLE {self.role}".encode())

    def close(self) -> None:
        self.connection.close()

    def grant(self, given: Privileges) -> None:
        run = self.connection.execute
        run(f"REVOKE ALL ON {', '.join(TABLES)} FROM {self.role}".encode())
        for table, columns in TABLES.items():
            for verb in ("select", "insert", "update"):
                run(f"REVOKE {verb} ({', '.join(columns)}) ON {table} FROM {self.role}".encode())
        for verb, tables in (("select", given.select), ("insert", given.insert), ("update", given.update)):
            for table, names in tables.items():
                run(f"GRANT {verb} ({', '.join(names)}) ON {table} TO {self.role}".encode())
        if given.conflict == "update":
            for table, names in given.insert.items():  # `conflict: update` says so for what may be inserted
                run(f"GRANT update ({', '.join(names)}) ON {table} TO {self.role}".encode())
        for table in given.delete:
            run(f"GRANT delete ON {table} TO {self.role}".encode())

    def look(self, text: str) -> str:
        run = self.connection.execute
        run(b"BEGIN")
        try:
            run(f"SET LOCAL ROLE {self.role}".encode())
            run(text.encode())
            return "permitted"
        except psycopg.errors.InsufficientPrivilege as problem:
            return f"denied: {problem.diag.message_primary}"
        except psycopg.errors.DataError:
            return "permitted"
        except psycopg.Error as problem:
            return f"wrong: {problem.diag.message_primary}"
        finally:
            run(b"ROLLBACK")


class SqliteGrants:
    """SQLite with an authorizer that has the privileges."""

    dialect = "sqlite"

    def __init__(self) -> None:
        self.connection = sqlite3.connect(":memory:", isolation_level=None)
        self.connection.executescript(SCHEMA)
        self.given = Privileges({}, {}, {}, (), "none")

    def close(self) -> None:
        self.connection.close()

    def grant(self, given: Privileges) -> None:
        self.given = given

    def look(self, text: str) -> str:
        denied: list[str] = []
        given = self.given

        def ask(code: int, first: str | None, second: str | None, database: str | None, within: str | None) -> int:
            table, column = first or "", second or ""
            allowed = True
            if code == sqlite3.SQLITE_READ and table in TABLES:
                allowed = column in given.select.get(table, ()) if column else table in given.select
                if not column and (table in given.update or table in given.delete or table in given.insert):
                    allowed = True  # it is named, and nothing of it is read
            elif code == sqlite3.SQLITE_UPDATE:
                allowed = column in given.update.get(table, ())
                if given.conflict == "update" and column in given.insert.get(table, ()):
                    allowed = True
            elif code == sqlite3.SQLITE_INSERT:
                allowed = table in given.insert
            elif code == sqlite3.SQLITE_DELETE:
                allowed = table in given.delete
            if not allowed:
                denied.append(f"{code} {table}.{column}")
            return sqlite3.SQLITE_OK

        self.connection.set_authorizer(ask)
        try:
            self.connection.execute(f"EXPLAIN {text.removeprefix('EXPLAIN ')}").close()
        except sqlite3.Error as problem:
            return f"wrong: {problem}"
        finally:
            self.connection.set_authorizer(None)
        return f"denied: {denied[0]}" if denied else "permitted"


class MariaGrants:
    """A MariaDB with a user that has the privileges."""

    dialect = "mysql"
    denied = ("ERROR 1142 ", "ERROR 1143 ", "ERROR 1044 ")
    of_data = ("ERROR 1242 ", "ERROR 1264 ", "ERROR 1364 ", "ERROR 1062 ", "ERROR 1690 ")
    """About values, after the privileges were looked at."""

    def __init__(self, server: mariadb.MariaDB) -> None:
        self.server = server
        server.must(f"CREATE DATABASE granted; USE granted; {SCHEMA}")

    def grant(self, given: Privileges) -> None:
        who = "granted@localhost"
        lines = [f"CREATE OR REPLACE USER {who}", f"GRANT CREATE TEMPORARY TABLES ON granted.* TO {who}"]
        update = given.insert if given.conflict == "update" else {}  # it says so for what may be inserted
        for verb, tables in (
            ("select", given.select),
            ("insert", given.insert),
            ("update", given.update),
            ("update", update),
        ):
            for table, names in tables.items():
                lines.append(f"GRANT {verb} ({', '.join(names)}) ON granted.{table} TO {who}")
        lines += [f"GRANT delete ON granted.{table} TO {who}" for table in given.delete]
        self.server.must(";\n".join(lines))

    def look(self, text: str) -> str:
        problem = self.server.run(f"START TRANSACTION; {text}; ROLLBACK", user="granted", database="granted")
        if not problem or problem.startswith(self.of_data):
            return "permitted"
        return f"denied: {problem}" if problem.startswith(self.denied) else f"wrong: {problem}"


class Count(NamedTuple):
    """How many statements came out how."""

    compared: int
    """Statements that the database takes."""
    admitted: int
    permitted: int
    findings: list[str]

    def report(self) -> str:
        lines = [
            f"{self.compared} statements that the database takes: {self.permitted} permitted, {self.admitted} admitted",
            f"{len(self.findings)} admitted and not permitted",
        ]
        return "\n".join([*lines, *self.findings[:20]])


def compare(database: Database, seed: int, count: int) -> Count:
    """Random statements under random privileges."""
    draw = random.Random(seed)
    compared = admitted = permitted = 0
    findings = []
    for _ in range(max(1, count // 25)):
        given = privileges(draw)
        database.grant(given)
        matcher = SqlMatcher(given.scope())
        for _ in range(25):
            text = Writer(draw, database.dialect).statement()
            said = database.look(text)
            if said.startswith("wrong"):
                continue
            compared += 1
            permitted += said == "permitted"
            if not admits(matcher, text, database.dialect, given):
                continue
            admitted += 1
            if said != "permitted":
                findings.append(f"{text}\n    {said}\n    {given.scope()}")
    return Count(compared, admitted, permitted, findings)


def admits(matcher: SqlMatcher, text: str, dialect: str, given: Privileges) -> bool:
    """The scope admits the text, for what privileges can say: conditions on a table that may be changed and that
    `select` doesn't name are admitted by the scope, and not by a database."""
    found = understand_sql(text, dialect)
    if found.problem is not None:
        return False
    if any(use.own and use.table not in given.select for each in found.statements for use in each.uses):
        return False
    return all(matcher.refuses_statement(statement) is None for statement in found.statements)


def main() -> int:
    options = argparse.ArgumentParser()
    options.add_argument("--count", type=int, default=5000)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--sqlite", action="store_true")
    options.add_argument("--mariadb", action="store_true")
    given = options.parse_args()
    if given.sqlite:
        result = compare(SqliteGrants(), given.seed, given.count)
    elif given.mariadb:
        with mariadb.running() as maria:
            result = compare(MariaGrants(maria), given.seed, given.count)
    else:
        with running() as server:
            result = compare(PgGrants(server), given.seed, given.count)
    print(result.report())
    return 1 if result.findings else 0


if __name__ == "__main__":
    sys.exit(main())
