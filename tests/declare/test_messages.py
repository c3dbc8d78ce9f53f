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


def said(path: Path) -> str:
    """What is said about a policy file."""
    with pytest.raises(PolicyError) as caught:
        load_rulebook(path)
    return "".join(f"[{problem.code}] {problem}\n" for problem in caught.value.problems)


@pytest.mark.parametrize("name", list(FILES))
def test_the_message_is_as_written(name):
    assert said(FILES[name]) == (BAD / f"{name}.txt").read_text()


def test_every_fault_has_its_text_and_every_text_its_fault():
    texts = {path.stem for path in BAD.glob("*.txt")}
    assert texts == set(FILES)


@pytest.mark.parametrize("name", list(FILES))
def test_every_problem_has_a_position_in_the_file(name):
    problems = [line for line in said(FILES[name]).splitlines() if line.startswith("[")]
    assert problems
    for line in problems:
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
    assert said(path).startswith(f"[bad-name] remit.yaml:3:3: `{shown}` can't be the name of ")
