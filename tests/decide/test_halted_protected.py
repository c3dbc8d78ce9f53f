"""Step 2: who is halted, what can't be judged yet, and what no agent may change."""

import pytest

from remit.model import Facts
from tests.decide.kit import book, facts, may, outcome

CHAINED = book(agents={"a": {"may": ["think"]}, "b": {"may": [], "delegates_to": ["a"]}})


@pytest.mark.parametrize(
    ("halts", "expected"),
    [
        ([], "allow"),
        (["c"], "allow"),
        (["A"], "allow"),
        (["capsule:other"], "allow"),
        (["a"], "deny halted"),
        (["b"], "deny halted"),
        (["system"], "deny halted"),
        (["capsule:C"], "deny halted"),
    ],
)
def test_halts(halts, expected):
    known = facts(CHAINED, capsules={"C": {"agent": "a"}}, halts=halts)
    assert outcome(CHAINED, "think", facts=known, chain=("b",), capsule="C") == expected


def test_a_halt_comes_before_what_is_prohibited():
    assert outcome(may("think", may_not=["think"]), "think", facts=Facts(halts=frozenset({"a"}))) == "deny halted"


SQLITE = {"run": {"shell": {"run": ["ls", {"sqlite3": {"db": "x.db", "sql": {"select": "any"}}}]}}}


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("ls", "allow"),
        ("sqlite3 x.db 'SELECT 1'", "allow"),
        ("ls; sqlite3 x.db 'SELECT 1'", "allow"),
        ("sqlite3 x.db 'SELECT 1; DELETE FROM t'", "deny not-permitted"),
        ("sqlite3 y.db 'SELECT 1'", "deny not-permitted"),
        ("psql -c 'SELECT 1'", "deny not-permitted"),
        ("rm x", "deny not-permitted"),
    ],
)
def test_sql_in_a_terminal(command, expected):
    assert outcome(may(SQLITE), "run", {"command": command}) == expected


@pytest.mark.parametrize(
    ("kind", "text", "expected"),
    [
        ("sql", "", "allow"),
        ("sql", "SELECT 1", "allow"),
        ("sql", "SELECT (", "ask tier-asks"),
        ("shell", "", "allow"),
        ("shell", "ls", "allow"),
        ("shell", "some-program", "ask tier-asks"),
    ],
)
def test_an_optional_text_that_is_absent(kind, text, expected):
    dialect = {"dialect": "sqlite"} if kind == "sql" else {}
    tools = {"maybe": {"args": {"text": kind}, "optional": ["text"], "does": "nothing", **dialect}}
    rulebook = book(tools=tools, agents={"a": {"may": ["maybe"]}})
    assert outcome(rulebook, "maybe") == "allow"
    assert outcome(rulebook, "maybe", {"text": text}) == expected


# --- protected ---

ALL = may("read", "write", "delete", "sweep", "copy", "find")


@pytest.mark.parametrize(
    "path",
    [
        ".remit/rulebook",
        ".remit",
        "sub/.remit/x",
        ".claude/settings.json",
        ".claude",
        "deep/er/.claude/agents/x.md",
        ".codex/config.toml",
        ".gemini/settings.json",
        ".cursor/rules/x",
        ".git/hooks/pre-commit",
        ".git/config",
        ".git",
        "vendor/lib/.git/config",
        ".mcp.json",
        "sub/.mcp.json",
        ".github/hooks/x.sh",
        ".github/hooks",
        ".github/agents/x.md",
        ".vscode/settings.json",
        ".vscode/mcp.json",
        ".Claude/settings.json",
        ".GIT/config",
        ".VSCODE/Settings.JSON",
        "．git/config",
        "docs/../.git/config",
    ],
)
def test_protected_paths_are_not_written(path):
    assert outcome(ALL, "write", {"path": path}) == "deny protected"
    assert outcome(ALL, "delete", {"path": path}) == "deny protected"
    assert outcome(ALL, "copy", {"from": "x", "to": path}) == "deny protected"


@pytest.mark.parametrize(
    "command",
    [
        "touch .git/config",
        "echo x > .claude/settings.json",
        "ls && rm -r .git",
        "cat .remit/rulebook",
        "bash -c 'tee .mcp.json'",
        "remit check",
        "env /usr/bin/remit approve",
        "python -m remit check",
    ],
)
def test_nor_by_a_command(command):
    assert outcome(may("run"), "run", {"command": command}) == "deny protected"


MADE = [".vscode", ".github", ".VSCODE/", "-p .vscode/x .github/workflows", "-m 700 src/.vscode"]


@pytest.mark.parametrize("folders", MADE)
def test_an_empty_folder_replaces_nothing_that_is_protected(folders):
    assert outcome(may("run"), "run", {"command": f"mkdir {folders}"}) == "allow"


@pytest.mark.parametrize(
    "command",
    [
        "mkdir .claude",
        "mkdir -p .git/hooks",
        "mkdir .github/hooks",
        "mkdir -p .github/agents/x",
        "mkdir .vscode/settings.json",
        "mkdir remit.yaml",
        "mkdir CLAUDE.md",
        "mkdir .vscode && cp -r x .vscode",
        "mkdir .vscode; mv x .vscode/",
        "mkdir .vscode; echo x > .vscode/settings.json",
        "mkdir .vscode && touch .vscode",
        "rmdir .vscode",
        "cp -r x .vscode",
        "tsc --outDir .vscode",
    ],
)
def test_what_is_more_than_an_empty_folder_may(command):
    assert outcome(may("run"), "run", {"command": command}) == "deny protected"


@pytest.mark.parametrize("command", ["cat .git/config", "echo remit", "touch .gitignore"])
def test_a_command_that_only_comes_close(command):
    assert outcome(may("run"), "run", {"command": command}) == "allow"


@pytest.mark.parametrize(
    "path", [".gitignore", ".github/workflows/x.yml", ".vscode/launch.json", "git/config", ".claudes/x", "x.remit"]
)
def test_their_neighbours_are(path):
    assert outcome(ALL, "write", {"path": path}) != "deny protected"


@pytest.mark.parametrize("path", [".git/config", ".claude/settings.json", ".vscode/settings.json"])
def test_what_governs_may_be_read(path):
    assert outcome(ALL, "read", {"path": path}) == "allow"


@pytest.mark.parametrize("path", [".remit/rulebook", ".remit", "sub/.remit/x", ".REMIT/rulebook"])
def test_but_the_rulebook_may_not(path):
    assert outcome(ALL, "read", {"path": path}) == "deny protected"


@pytest.mark.parametrize(("path", "expected"), [(".", "allow"), ("docs", "allow"), (".remit", "deny protected")])
def test_a_search_sweeps_over_the_rulebook(path, expected):
    assert outcome(ALL, "sweep", {"path": path}) == expected


@pytest.mark.parametrize(
    ("glob", "expected"),
    [
        ("**", "allow"),
        ("*.py", "allow"),
        (".remit/*", "deny protected"),
        (".rem?t/x", "deny protected"),
        ("**/.r*", "deny protected"),
    ],
)
def test_a_glob_may_sweep_but_not_aim(glob, expected):
    assert outcome(ALL, "find", {"glob": glob}) == expected


@pytest.mark.parametrize("path", [".", ".github", ".vscode"])
def test_a_directory_above_something_protected_is_not_deleted(path):
    assert outcome(ALL, "delete", {"path": path}) == "deny protected"


def test_protected_counts_for_both_spellings():
    known = Facts(root="/p", resolved={"link": "/p/.git/config", ".claude/x": "/p/data/x", "free": "/p/data/y"})
    assert outcome(ALL, "write", {"path": "link"}, facts=known) == "deny protected"
    assert outcome(ALL, "write", {"path": ".claude/x"}, facts=known) == "deny protected"
    assert outcome(ALL, "write", {"path": "free"}, facts=known) == "allow"


def test_a_policy_adds_and_takes_away():
    rulebook = book(
        agents={"a": {"may": ["write"]}}, protect=["deploy/**", "*.odd"], unsafe_unprotect=[".vscode/settings.json"]
    )
    paths = ["deploy/x", "deploy", "a.odd", "sub/a.odd", ".vscode/settings.json", ".vscode/mcp.json"]
    assert [outcome(rulebook, "write", {"path": path}) for path in paths] == [
        "deny protected",
        "deny protected",
        "deny protected",
        "allow",
        "allow",
        "deny protected",
    ]
    assert rulebook.book.unsafe == ("unsafe_unprotect: .vscode/settings.json",)


def test_a_tool_that_might_write_anywhere():
    tools = {"format": {"args": {}, "does": {"write": "**"}}, "docs": {"args": {}, "does": {"write": "docs/notes.md"}}}
    rulebook = book(tools=tools, agents={"a": {"may": ["format", "docs"]}})
    assert outcome(rulebook, "format") == "deny protected"
    assert outcome(rulebook, "docs") == "allow"


def policy_in(tmp_path, **files):
    from remit.compile import load_rulebook

    for name, text in files.items():
        (tmp_path / name.replace("__", "/").replace("_yaml", ".yaml")).write_text(text)
    return load_rulebook(tmp_path / "remit.yaml")


WRITER = "tools: {write: {args: {path: path}, does: {write: path}}}\nagents: {a: {may: [write: {path: %s}]}}\n"


def test_the_policy_its_includes_and_its_tests(tmp_path):
    (tmp_path / "team").mkdir()
    rulebook = policy_in(
        tmp_path, remit_yaml="remit: 1\ninclude: [team/x.yaml]\n" + WRITER % '"**"', team__x_yaml="remit: 1\n"
    )
    paths = ["remit.yaml", "REMIT.yaml", "team/x.yaml", "a.test.yaml", "team/b.test.yaml", "team/y.yaml", "other.yaml"]
    assert [outcome(rulebook, "write", {"path": path}) for path in paths] == [*["deny protected"] * 5, "allow", "allow"]


def test_a_policy_above_the_root(tmp_path):
    (tmp_path / "sub").mkdir()
    scope = '{allow: ["**"], outside: ["/**"]}'
    rulebook = policy_in(tmp_path, remit_yaml="remit: 1\nroot: sub\n" + WRITER % scope)
    known = Facts(root=str(tmp_path / "sub"))
    assert outcome(rulebook, "write", {"path": str(tmp_path / "remit.yaml")}, facts=known) == "deny protected"
