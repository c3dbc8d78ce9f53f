"""An option moves a program to another folder, so that a path seems to lie where it doesn't.

`git -C src log > remit.yaml`: bash opens the file where the shell stands, before git goes anywhere.
`cmake -S src -B docs` never goes to `src` at all.
"""

from __future__ import annotations

import pytest

from remit import Call, Facts, decide_call
from tests.drawn import rulebook_of

POLICY = {
    "remit": 1,
    "tools": {"run": {"args": {"command": "shell"}, "tier": 2}},
    "agents": {
        "locked": {"may": ["run"], "locks": {"may": ["src/**"]}},
        "barred": {"may": ["run"], "may_not": [{"path": "private/**"}]},
        "any": {"may": ["run"]},
    },
}
RULEBOOK = rulebook_of(POLICY)
MOVED = [
    "git -C src log",
    "make -C src",
    "env -C src ls",
    "env --chdir=src git log",
    "ninja -C src",
    "fd -C src x",
    "cd src",
]
STAYING = [
    "cmake -S src -B {}",
    "clang-tidy -p src --fix {}/a.c",
    "sphinx-build -c src src {}",
    "uv export --project src -o {}/r.txt",
    "poetry export -P src -o {}/r.txt",
    "tox --root src --result-json {}/x",
]
READ = [
    "git stash show -p",
    "git stash show -u stash@{1}",
    "git stash show --binary",
    "git stash show -U9",
    "git stash show --word-diff",
    "java private/X.java",
    "python -m unittest private/x.py",
    "env -C src cat < private/x",
]


def decided(agent: str, command: str) -> str:
    decision = decide_call(RULEBOOK, Call(agent, "run", {"command": command}), Facts(root="/w"))
    return decision.code if decision.verdict.word == "deny" else decision.verdict.word


@pytest.mark.parametrize("command", MOVED)
def test_a_redirection_counts_from_where_the_shell_stands(command: str):
    assert decided("locked", f"{command} > src/x") == decided("locked", f"{command}")
    assert decided("locked", f"{command} > docs/x") == "locked"
    assert decided("locked", f"{command} 2>> docs/x") == "locked"
    assert decided("any", f"{command} > remit.yaml") == "protected"
    assert decided("any", f"{command} > .git/../.claude/settings.json") == "protected"
    assert decided("barred", f"{command} < private/x") == "may-not"
    assert decided("barred", f"{command} < src/../private/x") == "may-not"


@pytest.mark.parametrize("command", STAYING)
def test_words_count_from_there_too_where_a_program_does_not_go_to_its_folder(command: str):
    assert decided("locked", command.format("docs")) == "locked"
    assert decided("locked", command.format("src/b")) != "locked"


@pytest.mark.parametrize("command", READ)
def test_what_it_reads_by_name_or_could_read_is_read(command: str):
    assert decided("barred", command) == "may-not"
    assert decided("any", command) == "allow"
