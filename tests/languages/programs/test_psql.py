"""SQL and backslash commands of psql, and SQL of mysql, in a shell text."""

from __future__ import annotations

from typing import Any

import pytest

from remit.languages.programs.meta import MetaCall
from remit.languages.programs.psql import psql_input
from remit.languages.programs.understand import Act, understand
from remit.model.terms import PROJECT, UNDERSTOOD, UNKNOWN
from remit.scopes.shell.scope import ShellMatcher
from remit.scopes.shell.units import shell_units

SQL = {"select": "any", "insert": ["notes"]}
SCOPE: dict[str, Any] = {
    "run": [{"psql": {"sql": SQL, "meta": ["d", "dt", "x", "pset", "set", "copy"]}}, {"mysql": {"sql": SQL}}]
}
NAMED: dict[str, Any] = {"run": [{"psql": {"db": ["app", "app_*"], "host": ["db.example"], "sql": SQL}}]}
PLAIN: dict[str, Any] = {"run": ["psql", "mysql", "mariadb", "pg_dump"]}


def refused(scope: dict[str, Any], text: str) -> str | None:
    matcher = ShellMatcher(scope)
    reasons = [
        matcher.refuses(unit) for unit in shell_units("c", text, None, "/workspace/proj") if unit.kind == "shell"
    ]
    return next((reason for reason in reasons if reason is not None), None)


def act(text: str) -> Act:
    return understand(text).acts[0]


@pytest.mark.parametrize(
    "text",
    [
        "psql -c 'SELECT 1'",
        "psql app -c 'SELECT 1;' -c 'SELECT 2;'",
        'psql -d app -U me -h localhost -XAt -c "SELECT id::text FROM t"',
        "psql -X -v ON_ERROR_STOP=1 -P pager=off -c 'SELECT now()'",
        "psql --csv --command='SELECT * FROM t'",
        "psql -c '\\d+ t'",
        "psql -c '\\dt public.*' -c 'SELECT 1'",
        "psql -c \"INSERT INTO notes(a) VALUES ('it''s; DELETE')\"",
        "psql <<'X'\n\\x on\n\\d t\nSELECT 1;\nX",
        "psql <<'X'\n\\set ON_ERROR_STOP on\n\\pset format csv\nSELECT $$ \\! id $$;\nX",
        "psql <<'X'\nSELECT ':a', \":b\", '\\x41';\n-- \\! id\n/* \\! id /* nested */ */\nX",
        "echo 'SELECT a[1] FROM t' | psql app",
        "psql postgresql://me@db.example/app -c 'SELECT 1'",
        "psql 'host=db.example dbname=app sslmode=require' -c 'SELECT 1'",
        "mysql -e 'SELECT 1'",
        "mysql -u root -h db -D app --execute='SELECT * FROM t'",
        "mysql app <<'X'\nSELECT 1;\nX",
    ],
)
def test_admitted(text):
    assert refused(SCOPE, text) is None


@pytest.mark.parametrize(
    "text",
    [
        "psql",
        "psql app",
        "psql -c 'DELETE FROM t'",
        "psql -c 'SELECT 1' -c 'DROP TABLE t'",
        "psql -c 'SELECT 1; DELETE FROM t'",
        "psql -c \"COPY t TO PROGRAM 'id'\"",
        "psql -c \"COPY t TO '/tmp/x'\"",
        "psql -c \"SELECT pg_read_file('/etc/passwd')\"",
        "psql -c 'DO $$ BEGIN DELETE FROM t; END $$'",
        "psql -f x.sql",
        "psql -f - <<'X'\n\\! id\nX",
        "psql < x.sql",
        "cat x.sql | psql",
        "psql -c '\\! id'",
        "psql -c '\\o |id'",
        "psql -c '\\o out.txt' -c 'SELECT 1'",
        "psql -c '\\i x.sql'",
        "psql -c \"\\copy t to program 'id'\"",
        "psql -c \"\\copy t to '/tmp/x'\"",
        "psql -c '\\copy t to x.csv'",
        "psql -c '\\copy notes from x.csv'",
        "psql -c '\\c other' -c 'SELECT 1'",
        "psql -c '\\e'",
        "psql -c '\\echo `id`'",
        "psql -c '\\d `id`'",
        "psql -c '\\x \\! id'",
        "psql -c '\\setenv PAGER id'",
        "psql -c '\\pset pager_min_lines 1'",
        "psql -c '\\set PROMPT1 x'",
        "psql -c '\\l'",
        "psql <<'X'\nSELECT 1 \\! id\nX",
        "psql <<'X'\nSELECT 1; \\! id\nX",
        "psql <<'X'\nSELECT 1 \\g |id\nX",
        "psql <<'X'\nSELECT 1 \\g out.txt\nX",
        "psql <<'X'\nSELECT 'DELETE FROM t' \\gexec\nX",
        "psql <<'X'\nSELECT 1 AS x \\gset\nX",
        "psql <<'X'\nSELECT 1; \\watch\nX",
        "psql <<'X'\nSELECT E'a\\'' \\! id '\nX",
        "psql <<'X'\nSELECT 'a\\' \\! id '\nX",
        "psql <<'X'\nSELECT 1; \\\\ DELETE FROM t;\nX",
        "psql <<'X'\nDELETE FROM \\r\nSELECT 1;\nX",
        "psql <<'X'\nSELECT 1 \\; DELETE FROM t;\nX",
        "psql <<'X'\nSELECT 'a\nX",
        "psql <<'X'\nSELECT $a$ $b$ ;\nX",
        "psql <<'X'\n/* /* */ \\! id\nX",
        "psql -v t='x; DELETE FROM y' <<'X'\nSELECT :t;\nX",
        "psql -v t=x <<'X'\nSELECT :'t', :\"t\";\nX",
        "psql -v t=x <<'X'\nSELECT 1 \\if :t\nX",
        "psql -o out.txt -c 'SELECT 1'",
        "psql -P pager=id -c 'SELECT 1'",
        "psql -S -c 'SELECT 1'",
        "psql -L log -c 'SELECT 1'",
        "psql service=x -c 'SELECT 1'",
        "psql 'host=db passfile=/tmp/x' -c 'SELECT 1'",
        "psql 'postgresql://db/app?options=-c%20x' -c 'SELECT 1'",
        "psql 'postgresql://a,b/app' -c 'SELECT 1'",
        "PGHOST=evil psql -c 'SELECT 1'",
        'psql -c "$SQL"',
        "mysql -e 'DELETE FROM t'",
        "mysql -e 'system id'",
        "mysql -e '\\! id'",
        "mysql -e 'SELECT 1; source x.sql'",
        "mysql -e 'SELECT /*!50000 1 INTO OUTFILE \"x\" */'",
        "mysql -e 'tee /tmp/x'",
        "mysql -e 'USE other; SELECT 1'",
        "mysql -e \"SELECT 1 INTO OUTFILE '/tmp/x'\"",
        "mysql --delimiter=// -e 'SELECT 1'",
        "mysql < x.sql",
        "mysql",
    ],
)
def test_refused(text):
    assert refused(SCOPE, text) is not None


@pytest.mark.parametrize(
    ("text", "admitted"),
    [
        ("psql -h db.example app -c 'SELECT 1'", True),
        ("psql -h db.example -d app_test -c 'SELECT 1'", True),
        ("psql postgresql://me:pw@db.example:5432/app -c 'SELECT 1'", True),
        ("psql 'host=db.example dbname=app' -c 'SELECT 1'", True),
        ("psql -h db.example -c 'SELECT 1'", False),
        ("psql -h db.example other -c 'SELECT 1'", False),
        ("psql app -c 'SELECT 1'", False),
        ("psql -h evil.example app -c 'SELECT 1'", False),
        ("psql postgresql://evil.example/app -c 'SELECT 1'", False),
        ("psql -h db.example 'host=evil.example dbname=app' -c 'SELECT 1'", False),
        ("psql 'host=db.example hostaddr=10.0.0.1 dbname=app' -c 'SELECT 1'", False),
        ("psql 'host=db.example,evil.example dbname=app' -c 'SELECT 1'", False),
    ],
)
def test_databases_and_hosts(text, admitted):
    assert (refused(NAMED, text) is None) is admitted


@pytest.mark.parametrize(
    ("text", "admitted"),
    [
        ("psql -c 'SELECT 1'", True),
        ("psql -c '\\l'", True),
        ("psql -l", True),
        ("pg_dump app", True),
        ("mysql -e 'SELECT 1'", True),
        ("mariadb -e 'SELECT 1'", True),
        ("psql -c 'DELETE FROM t'", False),
        ("psql -c 'CREATE TABLE t(a int)'", False),
        ("psql -c '\\! id'", False),
        ("psql -c '\\copy t to x.csv'", False),
        ("mysql -e 'DROP TABLE t'", False),
        ("mariadb -e 'UPDATE t SET a=1'", False),
    ],
)
def test_without_a_sql_scope_only_reading(text, admitted):
    assert (refused(PLAIN, text) is None) is admitted


def test_what_an_act_says():
    found = act("psql -c '\\dt' -c 'DELETE FROM t'")
    assert found.metas == ("\\dt",)
    assert [statement.verb for statement in found.statements] == ["delete"]
    assert found.effects == {"network", "read", "delete"}
    assert found.touches == ()
    copied = act("psql -c '\\copy t (a, b) to x.csv csv header'")
    assert [(touch.effect, touch.path.text) for touch in copied.touches] == [("write", "x.csv")]
    assert [use.table for statement in copied.statements for use in statement.uses] == ["t"]
    query = act("psql -c '\\copy (SELECT * FROM u) to stdout'")
    assert [use.table for statement in query.statements for use in statement.uses] == ["u"]
    assert understand("psql -c '\\! rm x'").acts[1].program == "rm"


def test_grades():
    assert act("psql -c 'SELECT 1'").grade == UNDERSTOOD
    assert act("psql -f schema.sql").grade == PROJECT
    assert act("psql < schema.sql").grade == PROJECT
    assert act("psql -c '\\i schema.sql'").grade == PROJECT
    assert [word.text for word in act("psql -f /tmp/schema.sql").code] == [".", "/tmp/schema.sql"]
    assert understand("cat x.sql | psql").acts[1].grade == UNKNOWN


def test_pieces_in_their_order():
    pieces, reason = psql_input("\\x\nSELECT 1 \\g\nSELECT 2;\n\\dt+ a*\n")
    assert reason is None
    assert [piece.name if isinstance(piece, MetaCall) else piece.strip() for piece in pieces] == [
        "x",
        "SELECT 1 ;",
        "g",
        "SELECT 2;",
        "dt",
    ]


def test_long_texts_end():
    assert psql_input("/*" * 50_000)[1] is not None
    assert psql_input("'" + "a" * 200_000)[1] is not None
    assert understand("psql -c '" + "(" * 5000 + "'").grade == UNKNOWN
