"""Options that name a file write it, whatever else the program does; a link is another name for its target."""

from posixpath import normpath

import pytest

from remit.compile import build_rulebook
from remit.decide import decide
from remit.languages.programs.understand import understand
from remit.model import Call
from remit.model.terms import UNKNOWN
from remit.scopes.shell.units import shell_units

PATHS = {"read": ["src/**", "sub/**", "pp/**"], "write": ["**"]}
READER = {
    "remit": 1,
    "name": "links",
    "tools": {"Bash": {"args": {"command": "shell"}, "tier": 1}},
    "agents": {"agent": {"may": [{"Bash": {"shell": {"run": "any", "path": PATHS}}}]}},
}


def touched(text: str, effect: str) -> list[str | None]:
    return [touch.path.text for act in understand(text).acts for touch in act.touches if touch.effect == effect]


@pytest.mark.parametrize(
    "text",
    [
        "pytest --cov-report=xml:named",
        "pytest --cov-report html:named",
        "mocha --reporter-options output=named",
        "golangci-lint run --out-format json:named",
        "flake8 --tee --output-file named",
        "tox --result-json named",
        "bundle lock --lockfile named",
        "hyperfine --output named ls",
        "python -m fileinput -i named",
        "docker buildx history export -o named",
    ],
)
def test_an_option_that_names_a_file_writes_it(text):
    assert "named" in touched(text, "write")


@pytest.mark.parametrize("text", ["pytest --cov-report=term-missing", "pytest --cov-report xml"])
def test_a_report_without_a_file(text):
    assert touched(text, "write") == []


@pytest.mark.parametrize(
    "text",
    [
        "zstdcat -o x a",
        "gpgv --output x a",
        "license-checker --out x",
        "dive build .",
        "blkid -w x",
        "docker buildx history open",
    ],
)
def test_what_was_called_harmless_and_is_not(text):
    assert understand(text).grade == UNKNOWN


def test_git_extras_can_install():
    assert understand("git extras update").acts[0].effects >= {"install", "network"}


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("ln -s private pp", "private"),
        ("ln -s ../private sub/pp", "private"),
        ("ln -s -t sub ../private", "private"),
        ("ln private/x pp", "private/x"),
        ("ln -s private", "private"),
    ],
)
def test_a_link_counts_as_reading_its_target(text, path):
    assert path in {normpath(found or "") for found in touched(text, "read")}


@pytest.mark.parametrize("text", ["ln -s private pp && cat pp/x", "ln -s ../private sub/pp; cat sub/pp/x"])
def test_a_link_does_not_lead_out_of_a_scope(text):
    rulebook = build_rulebook(READER)
    assert decide(rulebook, Call("agent", "Bash", {"command": text})).verdict.name == "DENY"
    inside = "ln -s src pp && cat pp/x"
    assert decide(rulebook, Call("agent", "Bash", {"command": inside})).verdict.name == "ALLOW"


def test_a_name_without_a_file_is_no_link_to_others():
    """That nothing lies there is known for git's sake; what another command writes to goes by the same name."""
    units = shell_units("command", "go mod tidy; git diff go.mod; rm go.mod", None, "/r", None, {"go.mod": ""})
    assert {unit.value for unit in units if unit.kind == "path" and "write" in unit.effects} >= {"go.mod", "go.sum"}
    assert [unit.value for unit in units if unit.kind == "path" and "delete" in unit.effects] == ["go.mod"]
