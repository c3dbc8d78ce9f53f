"""PostgreSQL as the oracle: `python -m tests.languages.sql.fuzz_postgres --count 20000 --seed 1`."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from typing import Any

import psycopg
from psycopg.pq import TransactionStatus

from tests.languages.sql.fuzz import Touch, Truth, main
from tests.languages.sql.generator_words import POSTGRES_SCHEMA, RELATIONS
from tests.postgres import Postgres, running

_BASES = {"names": "people", "totals": "orders"}
_LOCKS = b"""
SELECT n.nspname, c.relname, c.relkind, l.mode FROM pg_locks l JOIN pg_class c ON c.oid = l.relation
JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE l.pid = %s AND c.relkind IN ('r', 'v', 'm', 'p', 'S', 'f') AND n.nspname <> 'pg_toast'
"""
_NAME_OF_NEW = re.compile(r"pg_temp(?:_\d+)?")
_COUNTS = b"SELECT schemaname, relname, n_tup_ins, n_tup_upd, n_tup_del FROM pg_stat_xact_user_tables"
_READ = frozenset(("AccessShareLock", "RowShareLock"))
_QUERY_TAGS = frozenset(("SELECT", "INSERT", "UPDATE", "DELETE", "MERGE"))
Counts = dict[str, tuple[int, int, int]]


class Pg:
    """A database with the schema of the fuzz. Each text runs in a transaction that is rolled back."""

    dialect = "postgres"

    def __init__(self, server: Postgres) -> None:
        self._server = server
        self._open()

    def _open(self) -> None:
        database = self._server.new_database()
        role = f"role_{database}"
        self._monitor = self._server.connect(database, autocommit=True)
        self._monitor.execute(f"CREATE ROLE {role}".encode())
        self._monitor.execute(f"GRANT ALL ON SCHEMA public TO {role}".encode())
        self._monitor.execute(f"GRANT ALL ON DATABASE {database} TO {role}".encode())
        self._connection = self._server.connect(database, autocommit=True)
        for text in (f"SET ROLE {role}", "SET statement_timeout = 500", "SET max_parallel_workers_per_gather = 0"):
            self._connection.execute(text.encode())
        self._connection.execute(POSTGRES_SCHEMA.encode())
        self._connection.execute(f"SET SESSION AUTHORIZATION {role}".encode())
        self._pid = self._connection.info.backend_pid

    def close(self) -> None:
        self._connection.close()
        self._monitor.close()

    def look(self, text: str) -> Truth:
        try:
            written = text.encode()
        except UnicodeEncodeError as problem:
            return Truth(error=str(problem))
        if b"\0" in written:
            return Truth(error="a NUL")
        truth = self._run(written)
        if truth.error and not truth.error.startswith("42601"):  # the grammar is well: it may fail at run time only
            explained = self._run(b"EXPLAIN " + written)
            if explained.valid and explained.statements == 1:
                return Truth(explained.pieces)
        if truth.valid and truth.statements == 1:
            return truth._replace(pieces=(truth.pieces[0] | frozenset(self._operations(written)),))
        return truth

    def _run(self, text: bytes) -> Truth:
        self._connection.execute(b"BEGIN")
        try:
            before = self._counts()
            cursor = self._connection.cursor()
            cursor.execute(text)
            tags = [(cursor.statusmessage or "").split(" ")[0]]
            while cursor.nextset():
                tags.append((cursor.statusmessage or "").split(" ")[0])
            tags = [tag for tag in tags if tag]
            if self._connection.info.transaction_status != TransactionStatus.INTRANS:
                self._start_over()
                return Truth(error="it ended the transaction")
            touches = frozenset(self._touches(before, tags))
            return Truth((touches,), valid=True, statements=len(tags))
        except psycopg.Error as problem:
            return Truth(error=f"{problem.sqlstate} {problem}".splitlines()[0])
        finally:
            self._roll_back()

    def _roll_back(self) -> None:
        try:
            self._connection.execute(b"ROLLBACK")
        except psycopg.Error:  # in the middle of a COPY, or gone
            self._start_over()

    def _start_over(self) -> None:
        """A text that ends the transaction may have changed anything."""
        self.close()
        self._open()

    def _counts(self) -> Counts:
        rows = self._connection.execute(_COUNTS).fetchall()
        return {_name(row[0], row[1]): (row[2], row[3], row[4]) for row in rows}

    def _touches(self, before: Counts, tags: list[str]) -> Iterator[Touch]:
        found: set[Touch] = set()
        queries_only = set(tags) <= _QUERY_TAGS
        for schema, relation, kind, mode in self._monitor.execute(_LOCKS, (self._pid,)).fetchall():
            if schema in ("pg_catalog", "information_schema"):
                if queries_only and mode in _READ and relation not in _OWN_CATALOGS:
                    found.add(Touch("catalog", f"{schema}.{relation}"))
                continue
            name = _name(schema, relation)
            if mode in _READ:
                found.add(Touch("select", name))
            elif mode == "RowExclusiveLock" and kind != "S":
                found.add(Touch("write", name))
            elif kind != "S" or mode == "AccessExclusiveLock":
                found.add(Touch("ddl", name))
        if queries_only or "TRUNCATE" in tags:
            for name, counts in self._counts().items():
                for verb, now, then in zip(
                    ("insert", "update", "delete"), counts, before.get(name, (0, 0, 0)), strict=True
                ):
                    if now > then and name in RELATIONS:
                        found.add(Touch(verb, name))
        yield from _without_indirect(found)

    def _operations(self, text: bytes) -> Iterator[Touch]:
        """What EXPLAIN says that is changed."""
        self._connection.execute(b"BEGIN")
        try:
            row = self._connection.execute(b"EXPLAIN (VERBOSE, FORMAT JSON) " + text).fetchone()
            plan = row[0] if row else None
            yield from _modified(json.loads(plan) if isinstance(plan, str) else plan)
        except psycopg.Error:
            return
        finally:
            self._roll_back()


_OWN_CATALOGS = frozenset(
    ("pg_stat_xact_user_tables", "pg_stat_xact_all_tables", "pg_class", "pg_namespace", "pg_index")
)
"""Locked by the question about counts itself."""


def _name(schema: str, relation: str) -> str:
    return relation if schema == "public" or _NAME_OF_NEW.fullmatch(schema) else f"{schema}.{relation}"


def _modified(node: Any) -> Iterator[Touch]:
    if isinstance(node, list):
        for item in node:
            yield from _modified(item)
    elif isinstance(node, dict):
        if node.get("Node Type") == "ModifyTable" and "Relation Name" in node:
            verb = node["Operation"].lower()
            name = _name(node.get("Schema", "public"), node["Relation Name"])
            yield Touch("write" if verb == "merge" else verb, name)
        for value in node.values():
            yield from _modified(value)


def _without_indirect(found: set[Touch]) -> Iterator[Touch]:
    """Without what views and the trigger touch; what a statement names besides can't be told from that."""
    names = {touch.name for touch in found}
    hidden = {base for view, base in _BASES.items() if view in names}
    inserts = any(touch.name == "orders" and touch.verb in ("insert", "write") for touch in found)
    for touch in found:
        if touch.name in hidden and touch.verb == "select":
            continue
        if touch.name == "log" and inserts and touch.verb in ("insert", "write"):
            continue
        yield touch


if __name__ == "__main__":
    with running() as server:
        sys.exit(main(Pg(server)))
