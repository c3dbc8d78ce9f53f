"""SQL and dot-commands of sqlite3 in a shell text: what a SQL scope admits there, and facts about the real shell."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from remit.languages.bash.reader import read_script
from remit.languages.programs.outputs import output_of
from remit.languages.programs.sqlite import dot_command, sqlite_input
from remit.languages.programs.understand import Act, understand
from remit.model.terms import PROJECT, UNDERSTOOD, UNKNOWN
from remit.scopes.shell.scope import ShellMatcher
from remit.scopes.shell.units import shell_units

LEDGER: dict[str, Any] = {
    "run": [
        {
            "sqlite3": {
                "db": "ledger.db",
                "sql": {"select": "any", "insert": ["updates"], "pragma": ["busy_timeout"]},
            }
        }
    ],
    "joined_by": ["pipe"],
}
PLAIN: dict[str, Any] = {"run": ["sqlite3", "timeout", "bash", "env"]}
METAS: dict[str, Any] = {
    "run": [{"sqlite3": {"sql": {"select": "any"}, "meta": ["tables", "schema", "dump", "shell"]}}]
}
NARROW: dict[str, Any] = {"run": [{"sqlite3": {"sql": {"select": ["t"]}, "meta": ["dump"]}}]}


def refused(scope: dict[str, Any], text: str, cwd: str | None = None) -> str | None:
    """Why a scope refuses some command of the text; None if it admits all."""
    matcher = ShellMatcher(scope)
    reasons = [matcher.refuses(unit) for unit in shell_units("c", text, cwd, "/workspace/proj") if unit.kind == "shell"]
    return next((reason for reason in reasons if reason is not None), None)


def act(text: str) -> Act:
    (found,) = understand(text).acts
    return found


@pytest.mark.parametrize(
    "text",
    [
        "sqlite3 ledger.db 'SELECT 1'",
        "sqlite3 ./ledger.db 'SELECT 1'",
        "sqlite3 /workspace/proj/ledger.db 'SELECT 1'",
        "sqlite3 src/../ledger.db 'SELECT 1'",
        "sqlite3 'ledger.db' 'SELECT 1;' 'SELECT 2;'",
        "sqlite3 -header -column ledger.db 'SELECT * FROM checks'",
        "sqlite3 --header --csv ledger.db 'SELECT * FROM checks'",
        "sqlite3 ledger.db -json 'SELECT * FROM checks' -readonly",
        "sqlite3 -separator '|' -nullvalue NULL ledger.db 'SELECT 1'",
        "sqlite3 -nullvalue - ledger.db 'SELECT 1'",
        "sqlite3 -cmd 'PRAGMA busy_timeout=5000' ledger.db 'SELECT 1'",
        "sqlite3 ledger.db 'PRAGMA busy_timeout=5000; SELECT 1'",
        "sqlite3 ledger.db \"INSERT INTO updates(file) VALUES ('a')\"",
        "sqlite3 ledger.db \"SELECT '.shell id'\"",
        "sqlite3 ledger.db \"SELECT 'a; DELETE FROM checks'\"",
        "sqlite3 ledger.db 'SELECT 1 -- DELETE FROM checks'",
        "sqlite3 ledger.db \"SELECT count(*), date('now') FROM checks WHERE note LIKE '%drop%'\"",
        "sqlite3 ledger.db 'SELECT 1' 2>/dev/null",
        "sqlite3 ledger.db 'SELECT 1' < /dev/null",
        "echo 'SELECT 1' | sqlite3 ledger.db",
        "echo -n 'SELECT 1;' | sqlite3 -csv ledger.db",
        "echo -e 'SELECT 1;\\nSELECT 2;' | sqlite3 ledger.db",
        "sqlite3 ledger.db <<'SQL'\nSELECT 1;\n\n-- a comment\nSELECT\n  2;\nSQL",
        "sqlite3 ledger.db <<'SQL'\n# a comment of the shell\nSELECT 1;\nSQL",
        "sqlite3 ledger.db <<'SQL'\nINSERT INTO updates(file, reason) VALUES ('a', 'two\nlines');\nSQL",
        "sqlite3 ledger.db ''  'SELECT 1'",
    ],
)
def test_admitted(text):
    assert refused(LEDGER, text) is None


@pytest.mark.parametrize(
    "text",
    [
        # what the SQL does
        "sqlite3 ledger.db 'DELETE FROM checks'",
        "sqlite3 ledger.db 'SELECT 1' 'DELETE FROM checks'",
        "sqlite3 ledger.db 'SELECT 1; DELETE FROM checks'",
        "sqlite3 ledger.db 'SELECT 1 /*' 'DELETE FROM checks' '*/'",
        'sqlite3 ledger.db "INSERT INTO checks VALUES (1)"',
        'sqlite3 ledger.db "INSERT OR REPLACE INTO updates VALUES (1)"',
        "sqlite3 ledger.db \"ATTACH 'other.db' AS o\"",
        "sqlite3 ledger.db \"VACUUM INTO 'x.db'\"",
        "sqlite3 ledger.db \"SELECT readfile('/etc/passwd')\"",
        "sqlite3 ledger.db 'PRAGMA writable_schema=ON'",
        "sqlite3 ledger.db 'SELECT 1; garbage here'",
        # which database
        "sqlite3 other.db 'SELECT 1'",
        "sqlite3 sub/ledger.db 'SELECT 1'",
        "sqlite3 ../proj/../ledger.db 'SELECT 1'",
        "sqlite3 ~/ledger.db 'SELECT 1'",
        "sqlite3 :memory: 'SELECT 1'",
        "sqlite3 '' 'SELECT 1'",
        "sqlite3 'SELECT 1'",
        "sqlite3 $DB 'SELECT 1'",
        "sqlite3 l*.db 'SELECT 1'",
        "sqlite3 file:ledger.db 'SELECT 1'",
        "sqlite3 'file:ledger.db?mode=ro' 'SELECT 1'",
        "sqlite3 LEDGER.DB 'SELECT 1'",
        "cd sub && sqlite3 ledger.db 'SELECT 1'",
        # dot-commands
        "sqlite3 ledger.db .tables",
        "sqlite3 ledger.db .dump",
        "sqlite3 ledger.db '.sh id'",
        "sqlite3 ledger.db '. shell id'",
        "sqlite3 ledger.db '.\"shell\" id'",
        "sqlite3 ledger.db '.she\\154l id'",
        "sqlite3 ledger.db 'SELECT 1' '.system id'",
        "sqlite3 ledger.db '.read x.sql'",
        "sqlite3 ledger.db '.read |id'",
        "sqlite3 ledger.db '.once |id' 'SELECT 1'",
        "sqlite3 ledger.db '.output x' 'SELECT 1'",
        "sqlite3 ledger.db '.import |id t'",
        "sqlite3 ledger.db '.import x.csv updates'",
        "sqlite3 ledger.db '.open other.db' 'SELECT 1'",
        "sqlite3 ledger.db '.restore other.db'",
        "sqlite3 ledger.db '.backup x.db'",
        "sqlite3 ledger.db '.cd /' 'SELECT 1'",
        "sqlite3 ledger.db '.parameter set @x load_extension(1)'",
        "sqlite3 ledger.db $'.print a\\n.shell id'",
        "sqlite3 ledger.db $'SELECT 1;\\n.shell id'",
        "sqlite3 -cmd '.shell id' ledger.db 'SELECT 1'",
        "sqlite3 ledger.db 'SELECT 1' --cmd '.shell id'",
        "sqlite3 -separator -cmd '.shell id' ledger.db",
        # standard input
        "printf 'SELECT 1;\\n.shell id\\n' | sqlite3 ledger.db",
        "printf '%s\\n' 'SELECT 1;' '.shell id' | sqlite3 ledger.db",
        "echo -e 'SELECT 1;\\n.shell id' | sqlite3 ledger.db",
        "echo -e 'SELECT 1;\\x0a.shell id' | sqlite3 ledger.db",
        "printf 'SELECT 1;%b' '\\n.shell id' | sqlite3 ledger.db",
        "printf 'SELECT 1;\\12.shell id' | sqlite3 ledger.db",
        "sqlite3 ledger.db <<-'SQL'\n\tSELECT 1;\n\t.shell id\n\tSQL",
        "sqlite3 ledger.db <<'SQL'\n-- comment\n.shell id\nSQL",
        "sqlite3 ledger.db <<'SQL'\n/* comment */\n.shell id\nSQL",
        "sqlite3 ledger.db <<'SQL'\nSELECT 1; -- end\n.shell id\nSQL",
        "sqlite3 ledger.db <<'SQL'\nSELECT 1\n/\n.shell id\nSQL",
        "sqlite3 ledger.db <<'SQL'\nSELECT 1\nGO\n.shell id\nSQL",
        "sqlite3 ledger.db <<'SQL'\nSELECT 1 FROM main\n.checks;\nSQL",
        "sqlite3 ledger.db <<'SQL'\n#\n.shell id\nSQL",
        "sqlite3 ledger.db <<'SQL'\nSELECT bad;\nDELETE FROM checks;\nSQL",
        "sqlite3 ledger.db <<SQL\nSELECT $(id);\nSQL",
        'sqlite3 ledger.db <<< "$X"',
        "sqlite3 ledger.db < q.sql",
        "cat q.sql | sqlite3 ledger.db",
        "echo 'SELECT 1' | sqlite3 ledger.db < q.sql",
        "echo '.shell id' | sqlite3 ledger.db 3<<< 'SELECT 1;'",
        "echo 'SELECT 1' | tee x | sqlite3 ledger.db",
        'echo "$SQL" | sqlite3 ledger.db',
        "echo SELECT * FROM t | sqlite3 ledger.db",
        "sqlite3 ledger.db",
        "sqlite3 -header ledger.db",
        "sqlite3",
        # options and places
        "sqlite3 -init x.sql ledger.db 'SELECT 1'",
        "sqlite3 -A ledger.db",
        "sqlite3 -vfs x ledger.db 'SELECT 1'",
        "sqlite3 -interactive ledger.db 'SELECT 1'",
        "sqlite3 -unknown ledger.db 'SELECT 1'",
        "sqlite3 -- ledger.db 'SELECT 1'",
        "sqlite3 ledger.db - 'SELECT 1'",
        'sqlite3 ledger.db "$(cat q.sql)"',
        "sqlite3 ledger.db 'SELECT 1' > out.txt",
        "sqlite3 ledger.db 'SELECT 1' | sh",
        "sqlite3 ledger.db 'SELECT 1'; id",
        "./sqlite3 ledger.db 'SELECT 1'",
        "HOME=/tmp sqlite3 ledger.db 'SELECT 1'",
    ],
)
def test_refused(text):
    assert refused(LEDGER, text) is not None


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("sqlite3 ledger.db '.shell id'", "the dot-command .shell is not admitted"),
        ("sqlite3 ledger.db '.sy id'", "the dot-command .system is not admitted"),
        ("sqlite3 other.db 'SELECT 1'", "the database other.db is not ledger.db"),
        ("sqlite3 ledger.db", "no SQL is in the text; sqlite3 may only run SQL that it shows"),
        ("sqlite3 ledger.db < q.sql", "the SQL of q.sql is not in the text"),
        ("echo 'SELECT 1' | sqlite3", "no database is named; only ledger.db"),
    ],
)
def test_reasons(text, reason):
    assert refused(LEDGER, text) == reason


def test_a_relative_database_counts_from_the_working_directory():
    assert refused(LEDGER, "sqlite3 ledger.db 'SELECT 1'", "/workspace/proj/sub") is not None
    assert refused(LEDGER, "sqlite3 ../ledger.db 'SELECT 1'", "/workspace/proj/sub") is None


@pytest.mark.parametrize(
    ("text", "admitted"),
    [
        ("sqlite3 a.db 'SELECT 1'", True),
        ("sqlite3 a.db .tables", True),
        ("sqlite3 a.db '.schema t' '.mode csv' '.he'", True),
        ("sqlite3 a.db .dump", True),
        ("sqlite3 a.db 'PRAGMA table_info(t)' 'PRAGMA journal_mode'", True),
        ("sqlite3 a.db", True),
        ("sqlite3 -version", True),
        ("timeout 5 sqlite3 a.db 'SELECT 1'", True),
        ("sqlite3 a.db 'INSERT INTO t VALUES (1)'", False),
        ("sqlite3 a.db 'DELETE FROM t'", False),
        ("sqlite3 a.db 'VACUUM'", False),
        ("sqlite3 a.db 'PRAGMA journal_mode=WAL'", False),
        ("sqlite3 a.db 'SELECT strange(1)'", False),
        ("sqlite3 a.db '.shell ls'", False),
        ("sqlite3 a.db '.output x'", False),
        ("sqlite3 a.db '.save x.db'", False),
        ("sqlite3 a.db '.import x.csv t'", False),
        ("sqlite3 a.db .s", False),
        ("sqlite3 a.db .nosuch", False),
        ("sqlite3 a.db .TABLES", False),
        ("timeout 5 sqlite3 a.db 'DELETE FROM t'", False),
        ("echo 'DELETE FROM t' | timeout 5 sqlite3 a.db", False),
        ("timeout 5 sqlite3 a.db <<'X'\nDELETE FROM t;\nX", False),
        ("echo 'DELETE FROM t' | bash -c 'sqlite3 a.db'", False),
        ("bash -c 'read x; sqlite3 a.db' <<'X'\n/*\nDELETE FROM t; --*/\nX", False),
        ("sqlite3 /etc/a.db 'SELECT 1'", False),
    ],
)
def test_without_a_sql_scope_only_reading(text, admitted):
    assert (refused(PLAIN, text) is None) is admitted


@pytest.mark.parametrize(
    ("scope", "text", "admitted"),
    [
        (METAS, "sqlite3 a.db .tables", True),
        (METAS, "sqlite3 a.db .ta 'SELECT 1'", True),
        (METAS, "sqlite3 a.db .dump", True),
        (METAS, "sqlite3 a.db <<'X'\n.tables\nSELECT 1;\nX", True),
        (METAS, "sqlite3 a.db '.schema t' 'DELETE FROM t'", False),
        (METAS, "sqlite3 a.db .databases", False),
        (METAS, "sqlite3 a.db '.shell id'", False),  # named, but more than showing
        (NARROW, "sqlite3 a.db 'SELECT * FROM t'", True),
        (NARROW, "sqlite3 a.db .dump", False),  # it reads other tables too
    ],
)
def test_named_dot_commands(scope, text, admitted):
    assert (refused(scope, text) is None) is admitted


def test_what_an_act_says():
    found = act("sqlite3 a.db .tables 'SELECT x FROM t' 'DELETE FROM u'")
    assert found.metas == (".tables",)
    assert [statement.verb for statement in found.statements] == ["select", "delete"]
    assert {"read", "write", "delete"} == found.own == found.effects
    assert [(touch.effect, touch.path.text) for touch in found.touches] == [("read", "a.db"), ("write", "a.db")]
    assert [t.effect for t in act("sqlite3 a.db 'SELECT 1'").touches] == ["read"]
    assert act("sqlite3 :memory: 'SELECT 1'").touches == ()
    assert ("read", "x") in [(t.effect, t.path.text) for t in act("sqlite3 a.db '.import x t'").touches]


def test_grades():
    assert act("sqlite3 a.db 'SELECT 1'").grade == UNDERSTOOD
    assert act("sqlite3 a.db < schema.sql").grade == PROJECT
    assert act("sqlite3 a.db '.read schema.sql'").grade == PROJECT
    assert act("sqlite3 -init schema.sql a.db 'SELECT 1'").grade == PROJECT
    assert act("sqlite3 a.db < /tmp/schema.sql").grade == UNKNOWN
    assert act("sqlite3 a.db '.read ../x.sql'").grade == UNKNOWN
    assert understand("cat schema.sql | sqlite3 a.db").acts[1].grade == UNKNOWN


def test_tables_are_units():
    text = "sqlite3 a.db 'INSERT INTO t SELECT * FROM u' .dump"
    units = [unit for unit in shell_units("c", text, None, "/r") if unit.kind == "table"]
    found = {(unit.value, effect, unit.wide) for unit in units for effect in unit.effects}
    assert found == {("t", "write", False), ("u", "read", False), ("*", "read", True)}
    dump = [unit for unit in shell_units("c", "pg_dump app", None, "/r") if unit.kind == "table"]
    assert [(unit.value, unit.wide, unit.derived) for unit in dump] == [("*", True, True)]


def test_a_dot_shell_is_judged_as_a_command():
    assert [found.program for found in understand("sqlite3 a.db '.shell rm -rf src'").acts] == ["sqlite3", "rm"]


def test_long_input_is_not_understood():
    assert sqlite_input("SELECT 1;\n" * 6000)[1] is not None
    assert sqlite_input("SELECT 1;\0\n")[1] is not None
    assert understand("sqlite3 a.db '" + "(" * 5000 + "'").grade == UNKNOWN


# --- facts about the real shell ---

sqlite3 = pytest.mark.skipif(shutil.which("sqlite3") is None, reason="no sqlite3 here")


def run(*words: str, given: str = "") -> str:
    done = subprocess.run(["sqlite3", *words], input=given, capture_output=True, text=True, check=False, timeout=20)
    return done.stdout


@sqlite3
@pytest.mark.parametrize(
    ("words", "given", "output"),
    [
        ([":memory:", " .print x"], "", ""),  # an argument is SQL unless it begins with the dot
        ([":memory:", ". print x"], "", "x\n"),
        ([":memory:", '."print" x'], "", "x\n"),
        ([":memory:", ".pri x"], "", "x\n"),
        ([":memory:", ".PRINT x"], "", ""),
        ([":memory:", "select 1"], "select 2;", "1\n"),  # standard input only without SQL
        (["-cmd", "select 1", ":memory:"], "select 2;", "1\n2\n"),
        ([":memory:", "select 1", "-cmd", "select 2"], "", "2\n1\n"),
        ([":memory:"], "select 1\n.print x\n;", ""),  # within a statement a dot is SQL
        ([":memory:"], " .print x\n", ""),
        ([":memory:"], "-- c\n.print x\n", "x\n"),
        ([":memory:"], "/* c */\n.print x\n", "x\n"),
        ([":memory:"], "select 1; -- c\n.print x\n", "1\nx\n"),
        ([":memory:"], "#select 1;\n.print x\n", "x\n"),
        ([":memory:"], "select 1\n/\nselect 2\ngo\n.print x\n", "1\n2\nx\n"),
        ([":memory:"], "select bad;\nselect 1;\n", "1\n"),  # it goes on after an error
        ([":memory:"], "select 1;\r\n.print x\r\n", "1\nx\n"),
        ([], "select 1;", "1\n"),
    ],
)
def test_how_the_shell_reads(words, given, output):
    assert run(*words, given=given) == output


@sqlite3
@pytest.mark.parametrize("words", ["echo a b", "echo 'a b' c", 'echo "a b" c', "echo x y  z"])
def test_the_text_of_a_dot_shell(words):
    done = subprocess.run(
        ["sh", "-c", dot_command(f".shell {words}").shell], capture_output=True, text=True, check=True
    )
    assert run(":memory:", f".shell {words}") == done.stdout


@sqlite3
def test_every_dot_command_of_this_version_is_known():
    from remit.languages.programs.profiles import programs

    names = {line.split()[0][1:] for line in run(":memory:", ".help -all").splitlines() if line.startswith(".")}
    assert names
    assert names <= set(programs().metas["sqlite3"])


@pytest.mark.parametrize(
    "text",
    [
        "echo a  b",
        "echo -n a",
        "echo -e 'a\\nb\\tc\\\\d'",
        "echo -nE 'a\\nb'",
        "echo 'a\\nb'",
        "printf a",
        "printf 'a\\nb%%'",
        "printf '%s' a",
        "printf '%s,%s\\n' a b c",
        "printf '%s\\n' 'x\\ny' z",
        "printf -- '%s' a",
        "printf '%s'",
        "cat <<'X'\na\\n$b\nX",
        "echo -x a",
        "echo - a",
    ],
)
def test_output_is_what_bash_prints(text, tmp_path: Path):
    (command,) = read_script(text).commands
    done = subprocess.run(["bash", "-c", text], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert output_of(command) == done.stdout


@pytest.mark.parametrize(
    "text",
    [
        "echo $x",
        "echo *",
        "printf '%d' 1",
        "printf '%b' 'a'",
        "printf '\\101'",
        "printf -v x a",
        "echo -e '\\x41'",
        "echo a > f",
        "cat f",
        "printf a b",
        "printf '%s\\c' a",
        "printf '%' a",
        "echo -e 'a\\cb'",
    ],
)
def test_output_that_is_not_certain(text):
    (command,) = read_script(text).commands
    assert output_of(command) is None


def test_other_shells_may_read_backslashes_in_echo():
    (command,) = read_script("echo 'a\\nb'").commands
    assert output_of(command, posix=True) is None


@pytest.mark.parametrize(
    "feed",
    [
        "printf 'SELECT 1;\\nSELECT 2;\\n' |",
        "printf '%s' 'SELECT 1' |",
        "printf '%s\\n' 'SELECT 1;' 'SELECT 2;' |",
        "echo 'SELECT 1' |",
        "cat <<'SQL' |",
    ],
)
def test_what_is_printed_to_the_letter_is_judged_where_it_is_read(feed):
    end = "\n{}\nSQL" if "<<" in feed else ""
    text = f"{feed} sqlite3 ledger.db{end}".replace("{}", "SELECT 1;")
    assert refused(LEDGER, text) is None
    assert refused(LEDGER, text.replace("SELECT 1", "DROP TABLE t")) is not None
    assert refused(LEDGER, text.replace("SELECT 1", ".shell id")) is not None


@pytest.mark.parametrize(
    "text",
    [
        "sqlite3 ledger.db <<SQL\nSELECT 1;\nSQL",
        "sqlite3 ledger.db <<< 'SELECT 1'",
        "printf '%b' 'SELECT 1' | sqlite3 ledger.db",
        "printf '%d' 1 | sqlite3 ledger.db",
        "printf -v x 'SELECT 1' | sqlite3 ledger.db",
        "printf '%s' $x | sqlite3 ledger.db",
        "printf '%s' SELECT* | sqlite3 ledger.db",
        "printf '%s' 'SELECT 1' > f | sqlite3 ledger.db",
        "x=1 printf '%s' 'SELECT 1' | sqlite3 ledger.db",
        "printf '%s' 'SELECT 1' | cat | sqlite3 ledger.db",
        "cat f | sqlite3 ledger.db",
        "cat <<SQL | sqlite3 ledger.db\nSELECT $(id);\nSQL",
    ],
)
def test_other_input_could_be_expanded_or_is_not_in_the_text(text):
    assert refused(LEDGER, text) is not None


def test_only_these_options():
    entry = {"db": "ledger.db", "options": ["-csv", "-header"], "sql": {"select": "any"}}
    scope = {"run": [{"sqlite3": entry}]}
    for options in ("", "-csv", "--csv -header"):
        assert refused(scope, f"sqlite3 {options} ledger.db 'SELECT 1'") is None
    for options in ("-echo", "-cmd 'SELECT 1'", "-separator ,"):
        assert "option" in str(refused(scope, f"sqlite3 {options} ledger.db 'SELECT 1'"))
