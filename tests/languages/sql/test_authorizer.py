# ruff: noqa: S608
"""SQLite's own word: what views, triggers and foreign keys add, and what does not fit."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from remit.languages.sql import replica as replicas
from remit.languages.sql.authorizer import cross_check
from remit.languages.sql.expansion import expansions
from remit.languages.sql.statement import SqlStatement, Use
from remit.languages.sql.understand import understand_sql

SCHEMA = """
CREATE TABLE people (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT DEFAULT (upper('x')), secret TEXT CHECK (length(secret) < 9));
CREATE TABLE sqlite_sequence(name,seq);
CREATE TABLE log (at, what);
CREATE TABLE log_copy (at, what);
CREATE TABLE notes (id, person REFERENCES people(id) ON DELETE CASCADE, body UNIQUE);
CREATE INDEX by_name ON people (lower(name)) WHERE abs(id) > 1;
CREATE VIEW public_people AS WITH inner_cte AS (SELECT id, name FROM people) SELECT * FROM inner_cte
/* public_people(id,name) */;
CREATE VIEW names AS SELECT name FROM public_people;
CREATE VIEW any_people AS SELECT 1 AS one FROM people;
CREATE TRIGGER noted AFTER INSERT ON notes BEGIN INSERT INTO log VALUES (random(), new.body); END;
CREATE TRIGGER renamed INSTEAD OF UPDATE ON names BEGIN UPDATE people SET name = new.name WHERE name = old.name; END;
CREATE VIRTUAL TABLE found USING fts5(body);
CREATE TABLE IF NOT EXISTS 'found_data'(id INTEGER PRIMARY KEY, block BLOB);
"""  # noqa: E501


def read(text: str, *uses: Use, functions: str = "", **more: object) -> SqlStatement:
    """A reading as another part would give it."""
    verb = str(more.pop("verb", text.split(" ")[0].lower()))
    base = SqlStatement(text, verb, frozenset({verb}), uses, functions=frozenset(functions.split()))
    return base._replace(**more)  # type: ignore[arg-type]


def checked(text: str, *uses: Use, **more: object) -> SqlStatement:
    return cross_check(read(text, *uses, **more), SCHEMA)  # type: ignore[arg-type]


def select(table: str, *columns: str) -> Use:
    return Use("select", table, frozenset(columns) if columns else None)


class TestColumns:
    def test_a_star_is_filled_in(self):
        found = checked("SELECT * FROM people", select("people"))
        assert found.unknown == ()
        assert found.uses == (select("people", "id", "name", "secret"),)

    def test_unqualified_columns_are_filled_in(self):
        found = checked("SELECT name, body FROM people, notes WHERE person = 1", select("people"), select("notes"))
        assert found.uses == (select("people", "name"), select("notes", "body", "person"))

    def test_columns_of_an_update(self):
        found = checked("UPDATE people SET name = secret", Use("update", "people"))
        assert found.uses == (Use("update", "people", frozenset({"name"})),)

    def test_a_count_reads_no_column(self):
        found = checked("SELECT count(*) FROM people", select("people"), functions="count")
        assert found.uses == (Use("select", "people", frozenset()),)

    @pytest.mark.parametrize("join", ["NATURAL JOIN notes", "JOIN notes USING (id)"])
    def test_joins_by_name_are_not_filled_in_since_sqlite_does_not_tell(self, join):
        found = checked(f"SELECT name FROM people {join}", select("people"), select("notes"))
        assert found.unknown == ()
        assert found.uses == (select("people"), select("notes"))

    def test_a_whole_copy_is_not_filled_in_since_sqlite_does_not_tell(self):
        text = "INSERT INTO log_copy SELECT * FROM log"
        uses = (Use("insert", "log_copy"), select("log"))
        assert checked(text, *uses).uses == uses

    def test_what_an_update_joins_is_read_whole(self):
        text = "UPDATE log SET what = name FROM people JOIN notes ON person = people.id"
        uses = (Use("update", "log"), select("people", "name", "id"), select("notes", "person"))
        found = checked(text, *uses)
        assert found.unknown == ()
        assert found.uses[1:] == (select("people", "id", "name", "secret"), select("notes", "id", "person", "body"))

    def test_the_rowid_has_several_names(self):
        assert checked("SELECT oid FROM people", select("people", "oid")).unknown == ()
        assert checked("SELECT _rowid_ FROM log", select("log", "_rowid_")).unknown == ()
        assert checked("SELECT oid, secret FROM people", select("people", "oid")).unknown


class TestThroughTheSchema:
    def test_a_view_over_a_view(self):
        found = checked("SELECT name FROM names", select("names", "name"))
        assert found.unknown == ()
        assert found.uses[0] == select("names", "name")
        added = {(use.verb, use.table, use.via) for use in found.uses[1:]}
        assert ("select", "people", "names") in added
        assert ("select", "public_people", "names") in added

    def test_a_view_that_reads_no_column(self):
        found = checked("SELECT count(*) FROM any_people", select("any_people"), functions="count")
        assert found.unknown == ()
        assert {use.table for use in found.uses} == {"any_people", "people"}

    def test_a_flattened_view_within_a_cte(self):
        text = "WITH c AS (SELECT 1 AS x FROM any_people) SELECT x FROM c"
        found = checked(text, select("any_people"))
        assert found.unknown == ()
        assert {(use.table, use.via) for use in found.uses} == {("any_people", ""), ("people", "any_people")}

    def test_a_trigger_that_writes_elsewhere(self):
        found = checked("INSERT INTO notes VALUES (1, 2, 'x')", Use("insert", "notes"))
        assert found.unknown == ()
        assert Use("insert", "log", None, "noted") in found.uses
        assert "random" in found.functions

    def test_instead_of(self):
        found = checked("UPDATE names SET name = 'x'", Use("update", "names"))
        assert found.unknown == ()
        assert Use("update", "people", frozenset({"name"}), "renamed") in found.uses

    def test_a_foreign_key_that_deletes(self):
        found = checked("DELETE FROM people", Use("delete", "people"))
        assert found.unknown == ()
        assert Use("delete", "notes", None, "foreign key") in found.uses

    def test_a_cte_with_the_name_of_a_view_hides_nothing(self):
        text = "WITH names AS (SELECT secret FROM people) SELECT * FROM names"
        assert checked(text).unknown == ("SQLite itself also sees a read of people.secret",)

    def test_a_cte_with_the_name_of_one_inside_a_view_hides_nothing(self):
        text = "WITH inner_cte AS (SELECT name FROM people) SELECT * FROM inner_cte"
        assert checked(text).unknown == ("SQLite itself also sees a read of people.name",)


class TestWhatWeMissed:
    @pytest.mark.parametrize(
        ("text", "uses", "reason"),
        [
            ("SELECT 1 FROM people", (), "a read of people"),
            ("SELECT name, secret FROM people", (select("people", "name"),), "a read of people.secret"),
            ("INSERT INTO log SELECT 1, secret FROM people", (Use("insert", "log"),), "a read of people.secret"),
            ("INSERT INTO people(name) SELECT secret FROM people", (Use("insert", "people"),), "a read of people"),
            ("DELETE FROM log", (select("log"),), "DELETE of log"),
            ("UPDATE people SET secret = 1", (Use("update", "people", frozenset({"name"})),), "people.secret"),
            ("SELECT upper(1)", (), "a call of upper"),
            ("DROP TABLE log", (), "DELETE of"),
            ("PRAGMA user_version = 7", (), "the pragma user_version"),
            ("ATTACH 'x' AS y", (), "ATTACH"),
            ("BEGIN", (), "TRANSACTION"),
            ("SELECT * FROM pragma_table_info('log')", (), "a read of pragma_table_info"),
            ("SELECT value FROM json_each('[1]')", (), "a read of json_each"),
        ],
    )
    def test_is_not_understood(self, text, uses, reason):
        (unknown,) = checked(text, *uses, verb="select").unknown
        assert unknown.startswith("SQLite itself also sees")
        assert reason in unknown

    @pytest.mark.parametrize(
        ("text", "reason"),
        [
            ("SELECT * FROM nowhere", "it does not fit the schema: no such table: nowhere"),
            ("SELECT missing FROM log", "it does not fit the schema: no such column: missing"),
            ("SELECT readfile('x')", "it does not fit the schema: no such function: readfile"),
            ("SELEKT 1", 'SQLite can\'t read it: near "SELEKT": syntax error'),
            ("SELECT 1; DROP TABLE log", "SQLite can't read it: You can only execute one statement at a time."),
            ("SELECT 1 \0", "SQLite can't read it"),
            ("SELECT '\ud800'", "SQLite can't read it"),
            ("", "SQLite can't read it"),
            ("SELECT load_extension('x')", "SQLite can't read it: not authorized"),
            ("SELECT " + "(" * 5000 + "1" + ")" * 5000, "SQLite can't read it"),
            ("SELECT '" + "x" * 300_000 + "'", "SQLite can't read it: it is too long"),
        ],
    )
    def test_what_sqlite_refuses_is_not_understood(self, text, reason):
        (unknown,) = checked(text, verb="select", functions="readfile load_extension").unknown
        assert unknown.startswith(reason)

    def test_ctes_that_double_are_refused_at_once(self):
        more = "".join(f", a{i} AS (SELECT p.x FROM a{i - 1} p, a{i - 1} q)" for i in range(1, 40))
        (unknown,) = checked(f"WITH a0 AS (SELECT 1 AS x){more} SELECT * FROM a39", verb="select").unknown
        assert "too often" in unknown


class TestWhatPasses:
    @pytest.mark.parametrize(
        ("text", "more"),
        [
            ("PRAGMA user_version = 7", {"verb": "pragma", "pragmas": ("user_version",)}),
            ("PRAGMA main.table_info(log)", {"verb": "pragma", "pragmas": ("table_info",)}),
            ("ATTACH '/nonexistent/x.db' AS y", {"verb": "attach"}),
            ("BEGIN IMMEDIATE", {"verb": "transaction"}),
            ("SAVEPOINT x", {"verb": "transaction"}),
            ("VACUUM INTO '/nonexistent/x.db'", {"verb": "vacuum"}),
            ("SELECT ?1, :name, @x, $y", {}),
            ("EXPLAIN QUERY PLAN SELECT 1", {"verb": "select"}),
            ("/* a */ explain SELECT 1 -- b", {"verb": "select"}),
            ("SELECT 'a' LIKE 'b', current_date", {}),
            ("SELECT value FROM json_each('[1]')", {"functions": "json_each"}),
            ("SELECT name FROM pragma_table_info('log')", {"functions": "pragma_table_info"}),
            ("SELECT name FROM pragma_table_info('log')", {"pragmas": ("table_info",)}),
            (
                "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT count(*) FROM r",
                {"functions": "count"},
            ),
        ],
    )
    def test_statements_without_tables(self, text, more):
        base = read(text, **more)
        assert cross_check(base, SCHEMA) == base

    @pytest.mark.parametrize(
        ("text", "kind", "use", "drops"),
        [
            ("CREATE TABLE z (a, b CHECK (b > 1))", "table", "z", False),
            ("CREATE TABLE z (a UNIQUE, b, PRIMARY KEY (b)) WITHOUT ROWID", "table", "z", False),
            ("CREATE TEMP TABLE z (a)", "table", "temp.z", False),
            ("DROP INDEX by_name", "index", "*", True),
            ("DROP TRIGGER noted", "trigger", "*", True),
            ("CREATE INDEX i ON log (what)", "index", "log", False),
            ("CREATE VIEW z AS SELECT 1", "view", "z", False),
            ("CREATE TRIGGER z AFTER DELETE ON log BEGIN SELECT 1; END", "trigger", "log", False),
            ("DROP TABLE notes", "table", "notes", True),
            ("DROP VIEW names", "view", "names", True),
            ("ALTER TABLE log ADD COLUMN z NOT NULL DEFAULT 1", "table", "log", False),
            ("ALTER TABLE people RENAME COLUMN secret TO s", "table", "people", False),
            ("ALTER TABLE log DROP COLUMN what", "table", "log", True),
        ],
    )
    def test_the_catalog_of_sqlite_is_its_own_affair(self, text, kind, use, drops):
        base = read(text, Use("ddl", use), verb="ddl", ddl=frozenset({kind}), drops=drops)
        assert cross_check(base, SCHEMA) == base

    def test_reading_the_catalog_is_not(self):
        assert checked("SELECT sql FROM sqlite_schema").unknown
        assert not checked("SELECT sql FROM sqlite_schema", select("sqlite_schema")).unknown

    def test_full_text_search(self):
        assert checked("SELECT body FROM found WHERE found MATCH 'x'", select("found")).unknown == ()

    def test_upsert_and_returning(self):
        text = "INSERT INTO notes(body) VALUES (1) ON CONFLICT (body) DO UPDATE SET id = excluded.id RETURNING person"
        found = checked(text, Use("insert", "notes"), conflict="update", returning=True)
        assert found.unknown == ()
        assert found.conflict == "update"

    def test_what_is_not_understood_already_stays(self):
        base = read("SELECT 1", unknown=("why",))
        assert cross_check(base, "nonsense") is base

    def test_nothing_is_left_behind(self):
        for text in ("CREATE TABLE left_behind (a)", "DROP TABLE log", "INSERT INTO log VALUES (1, 2)"):
            checked(text, Use("ddl", "left_behind"), Use("ddl", "log"), Use("insert", "log"), verb="ddl")
        assert checked("SELECT at FROM log", select("log")).unknown == ()
        assert "no such table" in checked("SELECT 1 FROM left_behind", select("left_behind")).unknown[0]


class TestSchemas:
    @pytest.mark.parametrize(
        "schema",
        [
            "nonsense",
            "CREATE TABLE t (a); ATTACH ':memory:' AS other",
            "CREATE TABLE t (a); INSERT INTO t VALUES (1)",
            "CREATE TABLE t (a); DROP TABLE t",
            "CREATE TABLE t AS SELECT 1",
            "CREATE TEMP TABLE t (a)",
            "PRAGMA writable_schema = 1",
            "BEGIN; CREATE TABLE t (a)",
            "SELECT load_extension('x')",
            "CREATE TABLE t (a CHECK (load_extension('x')))",
            "CREATE VIRTUAL TABLE t USING dbstat",
            "CREATE VIRTUAL TABLE t USING nothing(x)",
            "VACUUM INTO '/nonexistent/x.db'",
            "CREATE TABLE t (a); UPDATE sqlite_master SET sql = 'x'",
            "CREATE TABLE t (a)\0; CREATE TABLE u (a)",
            "CREATE TABLE t (a '\ud800')",
            "-- " + "x" * replicas.MAX_SCHEMA,
            "CREATE VIEW v0 AS SELECT 1 AS x;"
            + "".join(f"CREATE VIEW v{i + 1} AS SELECT p.x FROM v{i} p, v{i} q;" for i in range(40)),
            "".join(f"CREATE TABLE t{i} (a);" for i in range(replicas.MAX_OBJECTS + 1)),
        ],
    )
    def test_a_schema_that_cannot_be_used_admits_nothing(self, schema):
        (unknown,) = cross_check(read("SELECT 1"), schema).unknown
        assert unknown.startswith("the schema can't be used: ")

    def test_the_largest_schema(self):
        columns = ", ".join(f"column_{i}" for i in range(20))
        schema = "".join(f"CREATE TABLE t{i} ({columns});" for i in range(900))
        assert len(schema) > 200_000
        assert cross_check(read("SELECT column_3 FROM t77", select("t77")), schema).unknown == ()

    def test_only_a_few_are_remembered(self):
        for number in range(30):
            assert cross_check(read("SELECT 1"), f"CREATE TABLE t{number} (a)").unknown == ()
        assert len(replicas._replicas) <= 8

    def test_a_hundred_threads(self):
        def one(number: int) -> bool:
            schema = f"CREATE TABLE t{number % 12} (a, b); CREATE VIEW v AS SELECT a FROM t{number % 12};"
            good = cross_check(read("SELECT a FROM v", select("v")), schema)
            bad = cross_check(read("SELECT b FROM v", select("v")), schema)
            return f"t{number % 12}" in {use.table for use in good.uses} and bool(bad.unknown) and not good.unknown

        with ThreadPoolExecutor(100) as pool:
            assert all(pool.map(one, range(600)))


@pytest.mark.parametrize(
    ("text", "least"),
    [
        ("SELECT 1", 1),
        ("SELECT * FROM v, [V], \"v\", `v`, 'v'", 51),
        ("WITH a AS (SELECT 1), b (x) AS NOT MATERIALIZED (SELECT a, a, a) SELECT b, b", 6),
        ("WITH a AS -- )\n /* ( */ (SELECT 1) SELECT a a a", 3),
    ],
)
def test_expansions(text, least):
    assert expansions(text, {"v": 10}) >= least


@pytest.mark.parametrize(
    ("module", "text", "shown"),
    [
        ("fts5(secret, content='users', content_rowid='id')", "SELECT secret FROM words", {"users"}),
        ("fts5(secret, content=users)", "SELECT snippet(words, 0, '', '', '', 9) FROM words", {"users"}),
        ('fts4(content="Users", secret)', "SELECT secret FROM words", {"users"}),
        ("fts5(secret, content=[users])", "SELECT block FROM words_data", {"users", "words"}),
        ("fts5(secret, content=logins)", "SELECT secret FROM words", {"*"}),
        ("fts5(secret, content='')", "SELECT rowid FROM words", set()),
        ("fts5(secret)", "SELECT c0 FROM words_content", {"words"}),
        ("fts5(title, content)", "SELECT content FROM words", set()),
        ("rtree(id, low, high)", "SELECT low FROM words", set()),
    ],
)
def test_an_index_of_words_shows_the_table_whose_words_it_has(module: str, text: str, shown: set[str]) -> None:
    schema = (
        "CREATE TABLE users (id INTEGER PRIMARY KEY, secret); CREATE VIEW logins AS SELECT secret FROM users;"
        f"CREATE VIRTUAL TABLE words USING {module};"
    )
    [statement] = understand_sql(text, "sqlite").statements
    checked = cross_check(statement, schema)
    assert checked.unknown == ()
    assert {use.table for use in checked.uses if use.via and use.shown} == shown
