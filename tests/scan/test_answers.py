"""What OpenCode answers for a tool: a word, or a table of patterns of which the last that matches counts."""

from __future__ import annotations

from typing import Any

import pytest

from remit.scan.answers import answers
from remit.scan.definitions import is_headless, read_definition
from remit.scan.files import Text
from remit.scan.model import Entry, Extent, Mark, Place

PLACE = Place("opencode.json", 3)


def yes(scope: str | None = None, *, asked: bool = False) -> Entry:
    return Entry("bash", Mark.YES if scope is None else Mark.SCOPED, PLACE, scope, asked)


def no(scope: str | None = None) -> Entry:
    return Entry("bash", Mark.NO, PLACE, scope)


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        (True, [yes()]),
        (False, [no()]),
        ("allow", [yes()]),
        ("deny", [no()]),
        ("ask", [yes("ask", asked=True)]),
        ("always", [yes("ask", asked=True)]),
        ({"git diff*": "allow", "npm test": "allow"}, [yes("git diff*"), yes("npm test")]),
        ({"*": "deny", "git diff*": "allow", "git push*": "ask"}, [yes("git diff*"), yes("git push*", asked=True)]),
        ({"*": "ask", "git diff*": "allow", "rm *": "deny"}, [yes("ask", asked=True), no("rm *")]),
        ({"*": "allow", "git push*": "ask", "rm *": "deny"}, [yes(), yes("git push*", asked=True), no("rm *")]),
        ({"git push*": "ask"}, [yes("git push*", asked=True)]),
        ({"rm *": "deny"}, [no()]),
        ({"*": "deny"}, [no()]),
        ({"git diff*": "allow", "*": "deny"}, [no()]),
        ({"git push*": "deny", "*": "allow"}, [yes()]),
        ({}, [no()]),
    ],
)
def test_what_an_answer_says(setting: Any, said: list[Entry]) -> None:
    assert list(answers("bash", setting, PLACE)) == said


def test_a_definition_of_opencode_needs_no_head() -> None:
    """Its name is that of the file, and it has everything; a page for people is none."""
    found = read_definition(Text(".opencode/agents/DEV.md", "# DEV\n\nDevelops.\n"))
    assert found is not None
    assert (found.agent, found.extent, found.host) == ("DEV", Extent.EVERYTHING, "opencode")
    assert read_definition(Text(".opencode/agents/README.md", "# Agents\n")) is None
    assert read_definition(Text(".claude/agents/dev.md", "# DEV\n\nDevelops.\n")) is None
    assert not is_headless(Text(".opencode/agents/DEV.md", "# DEV\n"))
    assert is_headless(Text(".claude/agents/dev.md", "# DEV\n"))
