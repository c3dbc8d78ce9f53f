"""The messages that an author meets first, compared whole: `bad/NAME.yaml` gives exactly `bad/NAME.txt`.

Each problem is one entry: `[code] file:line:column: message`, and the help indented below it. A file is named for
its fault.
"""

import re
from pathlib import Path

import pytest

from remit.compile import load_rulebook
from remit.model import PolicyError

BAD = Path(__file__).parent / "bad"
FILES = {path.stem: path for path in sorted(BAD.glob("*.yaml"))}

# What is not as it should be yet; the text beside the file is right.
WRONG = {
    "unquoted-braces": "`{a,b}/**` gets libyaml's own words",
    "unquoted-braces-in-list": "`{a,b}/**` in a list gets libyaml's own words",
    "unknown-tool-in-toolset": "problems in toolsets have no position",
    "toolset-cycle": "problems in toolsets have no position",
    "toolset-is-a-tool": "problems in toolsets have no position",
    "unknown-pack": "an unknown pack has no position and no suggestion",
    "unknown-asked": "an unknown name in tiers has no position",
    "misspelt-kind": "an argument with a bad kind is then called undeclared",
}
# Faults whose exact words are still open: what the message must say, by a pattern.
MUST_SAY = {
    "unquoted-commit-in-examples": r'quote.*"git commit -m feat: x"',
    "unquoted-colon-in-because": r'quote.*"see: the matrix"',
    "tag": r"!!str(?!.*tag:yaml)",
    "python-tag": r"!!python/object/apply:os\.system(?!.*tag:yaml)",
    "homoglyph-name": r"rese\\u0430rcher",
    "flag-quoted": r"without (the )?quotes|unquoted",
}


def said(path: Path) -> str:
    """What is said about a policy file."""
    with pytest.raises(PolicyError) as caught:
        load_rulebook(path)
    return "".join(f"[{problem.code}] {problem}\n" for problem in caught.value.problems)


def marked(name: str):
    reason = WRONG.get(name)
    return pytest.param(name) if reason else name


@pytest.mark.parametrize("name", [marked(name) for name in FILES if name not in MUST_SAY])
def test_the_message_is_as_written(name):
    assert said(FILES[name]) == (BAD / f"{name}.txt").read_text()


@pytest.mark.parametrize("name", MUST_SAY)
def test_the_message_says_what_matters(name):
    assert re.search(MUST_SAY[name], said(FILES[name]), re.DOTALL)


def test_every_fault_has_its_text_and_every_text_its_fault():
    texts = {path.stem for path in BAD.glob("*.txt")}
    assert texts == set(FILES) - set(MUST_SAY)
    assert set(WRONG) | set(MUST_SAY) <= set(FILES)


@pytest.mark.parametrize("name", [name for name in FILES if name not in WRONG and name != "include-missing"])
def test_every_problem_has_a_position_in_the_file(name):
    for line in said(FILES[name]).splitlines():
        if line.startswith("["):
            assert re.match(rf"\[[a-z0-9-]+\] {re.escape(name)}\.yaml:\d+(:\d+)?: ", line), line


@pytest.mark.parametrize("name", FILES)
def test_a_message_is_one_line_without_a_final_period(name):
    for line in said(FILES[name]).splitlines():
        assert line.isprintable()
        if line.startswith("["):
            assert not line.endswith(".")


def test_problems_come_in_the_order_of_the_file():
    lines = [line for line in said(FILES["several-at-once"]).splitlines() if line.startswith("[")]
    found = [re.search(r":(\d+):(\d+): ", line) for line in lines]
    positions = [tuple(map(int, match.groups())) for match in found if match]
    assert len(positions) == 10
    assert positions == sorted(positions)


def test_no_and_on_are_text(tmp_path):
    """YAML 1.2: the words that YAML 1.1 took for booleans are words."""
    path = tmp_path / "remit.yaml"
    path.write_text(
        "remit: 1\nname: no\nagents: {on: {may: [yes]}, off: {may: []}}\n"
        "tools: {yes: {args: {y: text}, does: nothing, about: off}}\n"
    )
    book = load_rulebook(path).book
    assert (book.name, sorted(book.callers), book.tools["yes"].about) == ("no", ["off", "on"], "off")


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ('"\\e[31mred"', "\\x1b[31mred"),
        ('"a\\nb"', "a\\nb"),
        ('"a\\u202Eb"', "a\\u202eb"),
        ('"' + "x" * 300 + '"', "x" * 80 + "…"),
    ],
    ids=["ansi", "newline", "bidi", "long"],
)
def test_text_from_the_file_is_escaped_and_bounded(tmp_path, written, shown):
    path = tmp_path / "remit.yaml"
    path.write_text(f"remit: 1\nagents:\n  {written}: {{may: []}}\n")
    assert said(path).startswith(f"[bad-name] remit.yaml:3:3: `{shown}` is not ")
