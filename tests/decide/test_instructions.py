"""Files that hosts read to their models unasked: only a rule that names one lets it be changed."""

from __future__ import annotations

from typing import Any

import pytest

from remit.adapters.hosts import registry
from remit.compile import build_rulebook
from remit.decide import decide
from remit.model.call import Call

NAMES = ["CLAUDE.md", "sub/CLAUDE.md", "sub/deep/claude.MD", "AGENTS.md", "CLAUDE.local.md", "GEMINI.md"]


def code(may: list[Any], tool: str, **args: str) -> str:
    rulebook = build_rulebook({"remit": 1, "use": ["claude-code"], "agents": {"a": {"may": may}}})
    found = decide(rulebook, Call("a", tool, args))
    return f"{found.verdict.word} {found.code}"


def write(may: list[Any], path: str) -> str:
    return code(may, "Write", file_path=path, content="x")


@pytest.mark.parametrize("path", NAMES)
def test_no_wide_rule_covers_them(path: str) -> None:
    for may in (["Write"], [{"Write": {"path": "**"}}], [{"Write": {"path": ["sub/**", "*.md"]}}]):
        assert write(may, path) == "deny protected"


@pytest.mark.parametrize("path", NAMES)
def test_a_rule_that_names_one_does(path: str) -> None:
    name = path.rpartition("/")[2]
    assert write([{"Write": {"path": f"**/{name}"}}], path) == "allow allowed"
    assert write([{"Write": {"path": ["src/**", path]}}], path) == "allow allowed"
    assert write([{"Write": {"path": ["src/**", "other/README.md"]}}], path) == "deny protected"


def test_a_name_lets_in_only_where_it_stands() -> None:
    assert write([{"Write": {"path": "CLAUDE.md"}}], "sub/CLAUDE.md") == "deny not-permitted"
    assert write([{"Write": {"path": "CLAUDE.md"}}], "AGENTS.md") == "deny protected"


def test_reading_is_free() -> None:
    assert code(["Read"], "Read", file_path="CLAUDE.md") == "allow allowed"
    assert code(["Bash"], "Bash", command="cat CLAUDE.md sub/*.md") == "allow allowed"


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("echo '@../.env' > sub/CLAUDE.md", "deny protected"),
        ("mv notes/x.md sub/CLAUDE.md", "deny protected"),
        ("cp notes/CLAUDE.md sub/", "deny protected"),
        ("ln -s ../.env sub/CLAUDE.md", "deny protected"),
        ("tee sub/AGENTS.md < x", "deny protected"),
        ("rm CLAUDE.md", "deny protected"),
        ("sed -i s/a/b/ */CLAUDE.md", "deny protected"),
        ("echo x >> sub/CLAUDE.m?", "ask target-unknown"),
        ("rm docs/*.md", "ask target-unknown"),
        ("touch src/a.py src/claude.mdx", "allow allowed"),
    ],
)
def test_in_a_shell(command: str, expected: str) -> None:
    assert code(["Bash"], "Bash", command=command) == expected


def test_unprotecting_lifts_it() -> None:
    policy = {
        "remit": 1,
        "use": ["claude-code"],
        "unsafe_unprotect": ["**/CLAUDE.md"],
        "agents": {"a": {"may": ["Write"]}},
    }
    found = decide(build_rulebook(policy), Call("a", "Write", {"file_path": "CLAUDE.md", "content": "x"}))
    assert found.verdict.word == "allow"


@pytest.mark.parametrize("name", registry.names())
def test_what_a_host_reads_by_itself_is_protected(name: str) -> None:
    for path in registry.find(name).setup().catalog.reads:
        for place in (path, f"sub/{path}"):
            assert write(["Write"], place) == "deny protected", place


def test_claude_code_says_what_it_reads() -> None:
    assert len(registry.find("claude-code").setup().catalog.reads) > 10
