"""What code of the project is given as an argument: paths that a prohibition, a data tier or a label names."""

import pytest

from remit.compile import build_rulebook
from remit.decide import decide
from remit.model import Call
from remit.model.facts import Facts

ROOT = "/work/project"
BOOK = build_rulebook(
    {
        "remit": 1,
        "tools": {"terminal": {"args": {"command": "shell"}, "tier": 2}},
        "labels": {"crown": {"path": ["crown/**"]}, "data": {3: {"path": ["customers/**"]}}},
        "tiers": {"labels": {"crown": {"tier": 4, "effects": ["write"]}}},
        "agents": {
            "barred": {"may": ["terminal"], "may_not": [{"path": "private/**"}]},
            "reader": {"may": ["terminal"], "may_not": [{"path": "private/**", "effect": "write"}]},
            "excepted": {
                "may": ["terminal"],
                "may_not": [{"path": "private/**", "except": {"path": "private/open/**"}}],
            },
            "everywhere": {"may": ["terminal"], "may_not": [{"path": ["**"], "effect": "write"}]},
            "poor": {"may": ["terminal"], "data_tiers": [0, 1, 2]},
            "asking": {"may": ["terminal"], "must_ask": [{"path": "private/**"}]},
            "limited": {
                "may": [
                    {"terminal": {"shell": {"run": ["any", "project_code"], "path": {"read": ["**"], "write": ["**"]}}}}
                ]
            },
        },
    }
)


def ask(agent: str, command: str, links: dict[str, str] | None = None) -> str:
    call = Call(agent, "terminal", {"command": command})
    return str(decide(BOOK, call, Facts(root=ROOT, links=links or {})).code)


RUNS = [
    *("python3 src/run.py {}", "python3 -m mod {}", "node x.js {}", "bash x.sh {}", "./x {}", ". ./x.sh {}"),
    *("go run ./x {}", "cargo run -- {}", "ruby x.rb {}", "timeout 5 ./x {}"),
    *("python3 x.py --in {}", "python3 x.py --in={}", "python3 x.py -f{}", "python3 x.py src:{}", "./x a={},b=c"),
    *("sh -c './x {}'", "echo {} | xargs ./x", "F={} ./x", "uv run python x.py {}", "cd src && ./x ../{}"),
]
PLACES = ["private/p", "./private/p", "src/../private/p", f"{ROOT}/private/p", "PRIVATE/p"]


@pytest.mark.parametrize("agent", ["barred", "reader"])
@pytest.mark.parametrize("command", RUNS)
def test_a_path_that_is_prohibited(agent, command):
    for place in PLACES:
        if "../{}" in command and place[0] == "/":
            continue
        assert ask(agent, command.format(place)) == "may-not", place
    assert ask(agent, command.format("public/p")) == "allowed"


@pytest.mark.parametrize("command", ["npm run x -- private/p", "pytest private", "make F=private/p", "make private/p"])
def test_runners_whose_arguments_have_profiles(command):
    assert ask("barred", command) == "may-not"


@pytest.mark.parametrize("word", ["private", "private/", '"private/$x"', "file:///work/project/private/p"])
def test_its_folder_too(word):
    assert ask("barred", f"python3 x.py {word}") == "may-not"


def test_a_link_to_it():
    assert ask("barred", "python3 x.py link", links={"link": "private/p"}) == "may-not"


@pytest.mark.parametrize(
    "command",
    [
        *("python3 x.py https://h.example/private/p", "python3 x.py 'see private/p'", "pytest -k private"),
        *("npm run private", "make private", "python3 -m private_tools src", "./x privately", "./x src"),
    ],
)
def test_other_words(command):
    assert ask("barred", command) == "allowed"


def test_data_tiers_and_the_labels_of_the_policy():
    assert ask("poor", "python3 x.py customers/1.csv") == "data-tier"
    assert ask("poor", "python3 x.py customers") == "data-tier"
    assert ask("poor", "python3 x.py crown/1") == "tier-asks"
    assert ask("asking", "python3 x.py private/p") == "must-ask"
    assert ask("poor", "python3 x.py src/1.csv") == "allowed"


@pytest.mark.parametrize(
    "command",
    [
        *("pytest tests/test_a.py", "npm run build -- --outDir dist", "python3 x.py .github/workflows/ci.yml"),
        *("python3 x.py pyproject.toml", "python3 x.py .claude/settings.json", "./x /etc/hosts", "./x ../other/y"),
    ],
)
def test_nothing_else_asks_about_them(command):
    for agent in ("limited", "everywhere", "poor"):
        assert ask(agent, command) == "allowed", agent


def test_an_exception_holds():
    assert ask("excepted", "./x private/open/p") == "allowed"
    assert ask("excepted", "./x private/p") == "may-not"
