"""What package managers write themselves counts for locks, whatever scripts of the project do besides."""

import pytest

from remit.compile import build_rulebook
from remit.decide import decide
from remit.model import Call
from remit.model.facts import Facts

BOOK = build_rulebook(
    {
        "remit": 1,
        "tiers": {3: "allow", 4: "allow"},
        "tools": {"terminal": {"args": {"command": "shell"}, "tier": 2}},
        "agents": {"a": {"may": ["terminal"], "locks": {"may": ["src/**"]}}},
    }
)


def code(command: str) -> str:
    return str(decide(BOOK, Call("a", "terminal", {"command": command}), Facts(root="/work/project")).code)


@pytest.mark.parametrize(
    "command",
    [
        "npm version patch --no-git-tag-version",
        "npm version minor",
        "yarn version --patch",
        "pnpm version patch",
        "npm config set ignore-scripts=false --location=project",
        "npm config delete x -L project",
        "npm config fix --location project",
        "yarn config set nodeLinker node-modules",
        "yarn set version berry",
        "yarn set resolution a@npm:1 2",
        "yarn plugin import workspace-tools",
        "yarn policies set-version 1.22",
        "yarn patch-commit -s x",
        "pnpm pkg set a=1",
        "pnpm approve-builds",
        "pnpm self-update",
        "bun pm version patch",
        "bun pm pkg set a=1",
        "bun pm trust x",
    ],
)
def test_the_file_is_not_theirs_to_write(command):
    assert code(command) == "locked"


@pytest.mark.parametrize(
    "command",
    [
        "npm test",
        "npm run build",
        "npm config get x --location=project",
        "yarn build",
        "yarn plugin list",
        "bun pm cache rm",
        "pnpm pkg get a",
        "bun pm ls",
    ],
)
def test_scripts_are_code_of_the_project(command):
    assert code(command) == "allowed"
