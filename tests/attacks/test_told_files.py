"""A prohibition of names anywhere (`**/.env`) stops what names or sweeps over such files, and no run of tests."""

import pytest

from remit.compile import build_rulebook
from remit.decide import decide
from remit.model import Call
from remit.model.facts import Facts

BOOK = build_rulebook(
    {
        "remit": 1,
        "tools": {"terminal": {"args": {"command": "shell"}, "tier": 2}},
        "agents": {"a": {"may": ["terminal"], "may_not": [{"path": ["**/.env", "private/**"]}]}},
    }
)


def code(command: str, links: dict[str, str] | None = None) -> str:
    facts = Facts(root="/work/project", links=links or {})
    return str(decide(BOOK, Call("a", "terminal", {"command": command}), facts).code)


@pytest.mark.parametrize(
    "command",
    [
        "pytest tests",
        "pytest tests/test_a.py",
        "pytest tests/test_a.py::test_b",
        "pytest tests/test_*.py",
        "python3 x.py",
        "python3 src/x.py src",
        "bash scripts/run.sh",
        "npm run lint -- src/a.ts",
        "rg x src/a.py",
        "ruff check src/a.py",
        "grep -n x src/a.py",
    ],
)
def test_everyday_work_beside_it(command):
    assert code(command) == "allowed"


@pytest.mark.parametrize(
    "command",
    [
        "cat .env",
        "pytest src/.env",
        "python3 .env",
        "python3 x.py src/.env",
        "pytest **/.env",
        "pytest tests/.e*",
        "pytest tests/*",
        "bash **/*",
        "pytest p*",
        "grep -r x src",
        "rg x src",
        "rg x conf.d",
        "rg x three.js/",
        "rm -r x.py",
        "mv x.py y",
        "cp -r x.py y",
        "pytest private",
        "pytest private/a.py",
        "pytest src private",
        "python3 private",
    ],
)
def test_what_names_it_or_sweeps_over_it(command):
    assert code(command) == "may-not"


@pytest.mark.parametrize("command", ["pytest src/l.py", "rg x src/l.py", "python3 src/l.py", "rg x src/l.py src/b.py"])
def test_a_link_with_the_name_of_a_file(command):
    assert code(command, {"src/l.py": "private"}) == "may-not"
    assert code(command, {"src/l.py": "src/a.py"}) == "allowed"
